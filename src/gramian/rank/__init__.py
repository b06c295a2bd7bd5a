"""Which nodes of a graph matter: PageRank, hubs and authorities, certified.

>>> from gramian.rank import pagerank
>>> links = [("home", "news"), ("home", "shop"), ("news", "home"), ("shop", "home")]
>>> pagerank(links).top(1)[0][0]
'home'
"""

from gramian.rank.graphs import Graph, open_graph
from gramian.rank.hits import hits
from gramian.rank.pagerank import pagerank
from gramian.rank.ranking import HubsAndAuthorities, Ranking

__all__ = ["Graph", "HubsAndAuthorities", "Ranking", "hits", "open_graph", "pagerank"]

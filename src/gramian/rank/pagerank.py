"""PageRank: where a reader who follows links at random is found.

1. weights   P_ij = A_ij / sum_j A_ij: from i the reader goes to j; where there is no link out, to
             somewhere by ``dangling``
2. jump      with probability 1 - d anywhere, by ``personalization`` v
3. iterate   x <- d (P' x + (sum of x without links out) w) + (1 - d) v = G x,     from x = v;
             by rounds over blocks of nodes, each with what is new in those before it
4. certify   G contracts sums by d, so |x - x*| <= |G x - x| / (1 - d), both summed over all nodes

L. Page, S. Brin, R. Motwani & T. Winograd, The PageRank citation ranking: bringing order to the
web, Stanford InfoLab (1999).
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from gramian.errors import CertificateWarning, InputError
from gramian.loops.links import Links
from gramian.maps import Array
from gramian.rank.graphs import Graph, open_graph
from gramian.rank.ranking import Ranking


def pagerank(
    graph: Any,
    damping: float = 0.85,
    *,
    personalization: Any = None,
    dangling: Any = None,
    tol: float = 1e-10,
    max_iterations: int = 10_000,
    weight: str | None = "weight",
    nodes: Any = None,
) -> Ranking:
    """PageRank of the nodes of a graph.

    Parameters
    ----------
    graph : sparse matrix, square array, pairs, or networkx graph
        See ``gramian.rank.open_graph``: links lead from rows to columns.
    damping : float
        Probability of following a link, at least 0 and below 1.
    personalization : array of shape (n,) or mapping, optional
        Where jumps lead, in any unit; everywhere alike by default.
    dangling : array of shape (n,) or mapping, optional
        Where nodes without links lead; by default as jumps.
    tol : float
        Sum of all errors of scores that is allowed.
    max_iterations : int
        Then the best so far is returned, with a warning.
    weight, nodes
        See ``open_graph``.

    Returns
    -------
    Ranking

    Examples
    --------
    >>> from gramian.rank import pagerank
    >>> pagerank([(0, 1), (1, 2), (2, 0)]).scores.round(4)
    array([0.3333, 0.3333, 0.3333])
    """
    opened = open_graph(graph, weight, nodes)
    real = isinstance(damping, (int, float, np.number)) and not isinstance(damping, bool)
    if not real or not 0 <= damping < 1:
        raise InputError(f"damping={damping!r}: a number at least 0 and below 1 is needed")
    if not isinstance(tol, (int, float)) or not tol > 0:
        raise InputError(f"tol={tol!r}: a number above 0 is needed")
    A, n, d = opened.A, opened.A.shape[0], float(damping)
    v = _distribution(opened, personalization, "personalization")
    w = v if dangling is None else _distribution(opened, dangling, "dangling")
    out, weights = _outgoing(A)
    share = np.divide(d, out, out=np.zeros(n), where=out > 0)  # 1
    links = Links.of(A, weights)
    scores = links.scores(v, share)
    alike = v[:1] if personalization is None else v  # one number for all is read more quickly
    ends = alike if dangling is None else w
    bound, steps, plain = np.inf, 0, False
    while steps < max_iterations:  # 3, and 2 in its last two terms
        steps += 1
        moved, gained = links.sweep(scores, alike, ends, 1 - d, d, plain=plain)
        scores.scale, before = 1 / (1 + gained), bound
        # 4: G(y) - y for the y of this sweep is at most d |change|, and y's sum is not quite 1
        bound = (d * moved + (1 - d) * abs(gained)) * scores.scale
        if bound <= tol * (1 - d) or bound <= 4 * d * np.finfo(np.float64).eps:
            break
        plain = plain or bound > d * before  # sweeps that gain less than iterations surely do
    x = scores.x / scores.x.sum()
    error = bound / (1 - d) + 2 * np.finfo(np.float64).eps
    found = Ranking(x, opened.labels, bound, error, steps, max(tol, 1e-15))
    if not found.certified:
        warnings.warn(found.certificate, CertificateWarning, stacklevel=2)
    return found


def _outgoing(A: Any) -> tuple[Array, Array | None]:
    """Total weight of the links of each node, and the weights themselves unless all are 1."""
    links = A.data
    if np.all(links == 1):
        return np.diff(A.indptr).astype(np.float64), None
    links = links / links.max()  # sums of the largest weights stay finite
    totals = np.bincount(
        np.repeat(np.arange(A.shape[0]), np.diff(A.indptr)), links, minlength=A.shape[0]
    )
    return totals, links


def _distribution(graph: Graph, said: Any, what: str) -> Array:
    """Finite weights of at least 0 for every node, summing to 1."""
    n = graph.A.shape[0]
    if said is None:
        return np.full(n, 1 / n)
    given = graph.positions(what, dict(said)) if isinstance(said, Mapping) else np.asarray(said)
    if given.shape != (n,) or given.dtype.kind not in "fiub":
        raise InputError(
            f"{what} must be {n} numbers, one a node, or a mapping from nodes to numbers; got "
            f"shape {given.shape}, type {given.dtype}"
        )
    weights = given.astype(np.float64)
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(bad):
        raise InputError(
            f"{what} holds {weights[bad[0]]:g} at position {bad[0]}; weights are finite and at "
            "least 0"
        )
    if not weights.any():
        raise InputError(f"{what} is 0 everywhere; at least one node needs a weight above 0")
    weights = weights / weights.max()
    return np.asarray(weights / weights.sum())

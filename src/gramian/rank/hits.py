"""HITS: good hubs link to good authorities, good authorities are linked to by good hubs.

1. pairs     A'A a = s^2 a: the largest pair, and the next one to know whether it is alone
2. scores    authorities a, hubs A a / s, both at least 0 (Perron), each summing to 1
3. certify   angle between a and the true vector <= |A'A a - s^2 a| / (s_1^2 - s_2^2)

J. Kleinberg, Authoritative sources in a hyperlinked environment, J. ACM 46 (1999).
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from gramian.data.sparse import SparseRows
from gramian.errors import CertificateWarning, GramianWarning
from gramian.rank.graphs import open_graph
from gramian.rank.ranking import HubsAndAuthorities, Ranking
from gramian.spectral.krylov import BlockKrylov
from gramian.spectral.pairs import Eigenpairs
from gramian.spectral.principal import ColumnGram
from gramian.spectral.solvers import Dense

_small = 500  # nodes up to which LAPACK is quickest


def hits(
    graph: Any, *, tol: float = 1e-10, weight: str | None = "weight", nodes: Any = None
) -> HubsAndAuthorities:
    """Hubs and authorities of a graph.

    Parameters
    ----------
    graph : sparse matrix, square array, pairs, or networkx graph
        See ``gramian.rank.open_graph``: links lead from rows to columns.
    tol : float
        Sum of all errors of scores that is allowed.
    weight, nodes
        See ``open_graph``.

    Returns
    -------
    HubsAndAuthorities

    Examples
    --------
    >>> from gramian.rank import hits
    >>> found = hits([("a", "c"), ("b", "c"), ("b", "d")])
    >>> found.authorities.top(1)[0][0], found.hubs.top(1)[0][0]
    ('c', 'b')
    """
    opened = open_graph(graph, weight, nodes)
    n = opened.A.shape[0]
    A = SparseRows(opened.A.astype(np.float64) * (1 / float(opened.A.data.max())))
    pairs = _two(A, n)  # 1
    first, second = float(pairs.values[0]), float(pairs.values[-1]) if n > 1 else 0.0
    gap = max(1 - second / first, 0.0)
    a = np.abs(pairs.vectors[:, 0])
    hubs = np.abs((A @ np.ascontiguousarray(a[:, None]))[:, 0])
    image = A.adjoint(np.ascontiguousarray(hubs[:, None]))[:, 0]
    residual = float(np.linalg.norm(image - first * a)) / first
    if gap <= 1e-8:
        warnings.warn(
            "the two largest singular values of the graph are equal: its parts are equally "
            "strong, and hubs and authorities are not unique; rank each part alone",
            GramianWarning,
            stacklevel=2,
        )
    both = []
    for scores in (a, hubs):  # 2
        # 3: an angle e moves a unit vector by e, and its sum of sizes by at most sqrt(n) e
        angle = residual / max(gap, 1e-300)
        error = 2 * np.sqrt(np.count_nonzero(scores)) * angle * np.linalg.norm(scores)
        error /= float(scores.sum())
        both.append(Ranking(scores / scores.sum(), opened.labels, residual, error, A.passes, tol))
    found = HubsAndAuthorities(
        both[1], both[0], float(np.sqrt(first)) * float(opened.A.data.max()), gap
    )
    if not found.certified and gap > 1e-8:
        worst = max(both, key=lambda each: each.error)
        warnings.warn(worst.certificate, CertificateWarning, stacklevel=2)
    return found


def _two(A: SparseRows, n: int) -> Eigenpairs:
    gram = ColumnGram(A)
    if n <= _small:
        return Dense()(A.cross(), min(2, n))
    return BlockKrylov(tol=1e-13)(gram, 2)

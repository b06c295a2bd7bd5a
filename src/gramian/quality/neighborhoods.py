"""Do neighbors stay neighbors? Co-ranking, trustworthiness and continuity of a picture.

    r(i, j)   rank of j among the points by distance from i in the data, 1 for the nearest
    s(i, j)   the same in the picture
    Q(K)      share of the K nearest in the data that are among the K nearest in the picture
    LCMC(K)   Q(K) - K / (n - 1)                        above what a picture of noise keeps
    R(K)      ((n - 1) Q(K) - K) / (n - 1 - K)          the same as a share: 0 noise, 1 perfect
    AUC       sum_K R(K) / K  /  sum_K 1 / K            one number, small neighborhoods count most

    trustworthiness   1 - 1 / G sum_i sum_(j: s <= K < r) (r(i, j) - K)     G the largest such sum
    continuity        1 - 1 / G sum_i sum_(j: r <= K < s) (s(i, j) - K)

All come from one pass over blocks of rows, for every K at once: a point counts by max(r, s) and by
two running sums (``loops/ranks.py``), so that neither ranks nor counts of all pairs are held.

J. Venna & S. Kaski, Neural Networks 19 (2006); L. Chen & A. Buja, JASA 104 (2009); J. A. Lee, D. H.
Peluffo-Ordonez & M. Verleysen, Neurocomputing 169 (2015).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from gramian.errors import InputError
from gramian.gram.distances import row_blocks
from gramian.loops.threads import one_blas_thread, ordered_sum
from gramian.maps import Array
from gramian.progress import tick
from gramian.quality.stress import configuration, original, sampled

__all__ = [
    *("CoRanking", "Neighbors", "continuity", "coranking", "kept_neighbors", "trustworthiness")
]

_block = 200_000  # distances in a block


class Neighbors(NamedTuple):
    """How well neighbors are kept: 1 is perfect, about 0.5 is chance."""

    trustworthiness: float
    continuity: float


@dataclass(frozen=True)
class CoRanking:
    """Neighborhoods of every size K at once: item ``K - 1`` of each array is that of K.

    Attributes
    ----------
    q_nx : array of shape (n - 1,)
        Share of the K nearest that the picture keeps.
    trustworthiness, continuity : array of shape (n - 1,)
        Whether neighbors in the picture are neighbors in the data, and the other way round.
    n : int
        Points.
    """

    q_nx: Array = field(repr=False)
    trustworthiness: Array = field(repr=False)
    continuity: Array = field(repr=False)
    n: int

    @property
    def lcmc(self) -> Array:
        """Local continuity meta-criterion of shape (n - 1,): q_nx above that of noise."""
        return np.asarray(self.q_nx - np.arange(1, self.n) / (self.n - 1))

    @property
    def r_nx(self) -> Array:
        """Of shape (n - 2,): 1 is perfect, 0 is noise, whatever K."""
        K = np.arange(1, self.n - 1)
        return np.asarray(((self.n - 1) * self.q_nx[:-1] - K) / (self.n - 1 - K))

    @property
    def auc(self) -> float:
        """Area under r_nx over log K: 1 is perfect, 0 is noise."""
        weights = 1 / np.arange(1, self.n - 1)
        return float(np.sum(self.r_nx * weights) / np.sum(weights))

    @property
    def best_k(self) -> int:
        """The K of the largest lcmc: up to it the picture is local, beyond it global."""
        return int(np.argmax(self.lcmc)) + 1

    @property
    def q_local(self) -> float:
        """Mean of q_nx up to ``best_k``."""
        return float(self.q_nx[: self.best_k].mean())

    @property
    def q_global(self) -> float:
        """Mean of q_nx beyond ``best_k``."""
        beyond = self.q_nx[self.best_k :]
        return float(beyond.mean()) if len(beyond) else 1.0

    def at(self, n_neighbors: int) -> Neighbors:
        """Trustworthiness and continuity of one K."""
        k = n_neighbors - 1
        return Neighbors(float(self.trustworthiness[k]), float(self.continuity[k]))

    def __str__(self) -> str:
        return (
            f"neighborhoods are kept by {self.auc:.3f} of what is possible (area under R_NX over "
            f"log K; 1 is perfect, 0 is noise); best at {self.best_k} neighbors, of which "
            f"{100 * self.q_nx[self.best_k - 1]:.1f}% stay"
        )


def coranking(
    X: Any,
    Z: Any,
    *,
    metric: Any = "euclidean",
    rows: int | None = None,
    random_state: Any = None,
) -> CoRanking:
    """Neighborhoods of every size in the picture ``Z`` of the data ``X``.

    Parameters
    ----------
    X : array of shape (n, p)
        The data; distances (n, n) with ``metric="precomputed"``.
    Z : array of shape (n, k)
        The coordinates, compared by Euclidean distance.
    metric : str or callable
        As for ``gramian.ClassicalMDS``.
    rows : int, optional
        Ask so many points, drawn at random, for their neighbors among all: an unbiased estimate
        where n^2 distances would take too long. All by default.
    random_state : int or None
        Of that draw.

    Returns
    -------
    CoRanking
        Distances of the data that are equal, to rounding, are ordered by the picture, and the
        other way round: what cannot be told apart costs nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.quality import coranking
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> coranking(X, 2 * X + 1).auc
    1.0
    >>> round(coranking(X, X[:, :2]).auc, 2)
    0.51
    """
    X, Z = np.asarray(X), configuration(Z, len(X))
    n = len(Z)
    if n < 3:
        raise InputError(f"neighborhoods need at least 3 points, got {n}")
    asked = sampled(n, rows, random_state)
    data, shown = original(X, metric, asked), row_blocks(Z[asked], Z, "euclidean", {})
    step = max(1, _block // n)
    pieces = -(-len(asked) // step)
    done = itertools.count(1)
    slack = _slack(X), _slack(Z)

    def piece(i: int, counts: Array) -> None:
        from gramian.loops.ranks import compare_orders

        here = slice(i * step, min((i + 1) * step, len(asked)))
        itself = np.arange(here.stop - here.start), asked[here]
        D, E = data(here), shown(here)
        D[itself] = E[itself] = np.inf
        orders = np.argsort(D, axis=1), np.argsort(E, axis=1)
        compare_orders(D, E, slack, *orders, *counts)
        tick("neighbors", next(done), pieces)

    with one_blas_thread():
        counts = ordered_sum(piece, pieces, lambda: np.zeros((3, n), np.int64))
    return _curves(np.cumsum(counts, axis=1)[:, :-1], n, len(asked))


def kept_neighbors(X: Any, Z: Any, n_neighbors: int = 5, **how: Any) -> Neighbors:
    """Trustworthiness and continuity of the picture ``Z`` of the data ``X``.

    Parameters
    ----------
    X : array of shape (n, p)
        The data; distances (n, n) with ``metric="precomputed"``.
    Z : array of shape (n, k)
        The coordinates, compared by Euclidean distance.
    n_neighbors : int
        How many neighbors to ask for, less than n / 2.
    **how
        ``metric``, ``rows`` and ``random_state`` of ``coranking``, which asks for every number of
        neighbors in the same time.

    Returns
    -------
    Neighbors

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.quality import kept_neighbors
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> kept_neighbors(X, 2 * X + 1)
    Neighbors(trustworthiness=1.0, continuity=1.0)
    """
    n, k = len(X), n_neighbors
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or not 1 <= k < n / 2:
        raise InputError(
            f"n_neighbors={k!r}: a whole number from 1 to {(n - 1) // 2} for {n} points"
        )
    return coranking(X, Z, **how).at(int(k))


def trustworthiness(X: Any, Z: Any, n_neighbors: int = 5, **how: Any) -> float:
    """Whether neighbors in the picture are neighbors in the data; see ``kept_neighbors``."""
    return kept_neighbors(X, Z, n_neighbors, **how).trustworthiness


def continuity(X: Any, Z: Any, n_neighbors: int = 5, **how: Any) -> float:
    """Whether neighbors in the data are neighbors in the picture; see ``kept_neighbors``."""
    return kept_neighbors(X, Z, n_neighbors, **how).continuity


def _slack(X: Any) -> float:
    """How far equal distances may differ by rounding, as a share of them."""
    return 4 * float(np.finfo(np.float32 if np.asarray(X).dtype == np.float32 else float).eps)


def _curves(sums: Array, n: int, rows: int) -> CoRanking:
    """The measures from how many of the K nearest are shared, and the ranks of those that are not.

    As many enter a neighborhood as leave it, K rows - shared(K); each counts by its rank beyond K.
    """
    K, (shared, entering, leaving) = np.arange(1, n), sums
    beyond = K * (K * rows - shared)
    most = rows * np.where(n > 2 * K, K * (2 * n - 3 * K - 1), (n - K) * (n - K - 1)) / 2
    lost = np.array([entering - beyond, leaving - beyond]) / np.maximum(most, 1)
    return CoRanking(shared / (K * rows), 1 - lost[0], 1 - lost[1], n)

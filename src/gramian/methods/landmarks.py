"""Scale a few points, place the others by their distances to these: what landmark methods share.

The error is estimated from the landmarks themselves: placements by one half of them and by the
other, laid on each other. Half of the landmarks do worse than all, so it is a cautious estimate.

V. de Silva and J. B. Tenenbaum, Sparse multidimensional scaling using landmark points (2004).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gramian.errors import InputError
from gramian.gram.distances import from_distances
from gramian.maps import Array
from gramian.quality.procrustes import procrustes
from gramian.spectral.gram_embedding import GramEmbedding

_block = 25_000_000  # distances to landmarks held at a time
_judged = 500  # points whose two placements are compared


class Landmarked(NamedTuple):
    """Landmarks scaled and all points placed."""

    gram: GramEmbedding
    coordinates: Array
    error: float
    K: Array


def check_landmarks(m: Any, k: int, n: int) -> int:
    """How many landmarks, if that many will do."""
    if isinstance(m, bool) or not isinstance(m, (int, np.integer)) or not k + 2 <= m <= n:
        raise InputError(
            f"landmarks={m!r}: a whole number from n_components + 2 = {k + 2} to n = {n}"
        )
    return int(m)


def by_landmarks(
    between: Callable[[Any, Array], Array], landmarks: Array, n: int, k: int, how: dict[str, Any]
) -> Landmarked:
    """Classical scaling of the landmarks, and everybody placed by them.

    Parameters
    ----------
    between : function
        ``between(rows, chosen)``: distances of some points (a slice or numbers) to some landmarks
        (numbers).
    landmarks : array of int
    n, k : int
        Points, and axes.
    how : dict
        Solver, memory and generator, as ``GramEmbedding.of`` takes them.
    """
    m, rng = len(landmarks), how["rng"]

    def scaled(chosen: Array) -> tuple[GramEmbedding, Array]:
        D = between(chosen, chosen)
        if not D.any():
            raise InputError("all landmarks are equal points; use more of them")
        K = from_distances(D)
        return GramEmbedding.of(K, k, diagonal=np.zeros(len(chosen)), **how), K

    gram, K = scaled(landmarks)
    step = max(1, _block // m)
    placed = [
        gram.place(from_distances(between(slice(a, min(a + step, n)), landmarks)))
        for a in range(0, n, step)
    ]
    order = rng.permutation(landmarks)
    some = np.sort(rng.choice(n, min(n, _judged), replace=False))
    halves = [
        scaled(half)[0].place(from_distances(between(some, half)))
        for half in (order[: m // 2], order[m // 2 :])
        if len(half) > k + 1
    ]
    error = procrustes(*halves).rms if len(halves) == 2 else 1.0
    return Landmarked(gram, np.concatenate(placed), error, K)

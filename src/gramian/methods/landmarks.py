"""Scale a few points, place the others by their distances to these: what landmark methods share.

The error is estimated from the landmarks themselves: placements by one half of them and by the
other, laid on each other. Half of the landmarks do worse than all, so it is a cautious estimate.

V. de Silva and J. B. Tenenbaum, Sparse multidimensional scaling using landmark points (2004).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from gramian.data.moments import refuse_non_finite
from gramian.errors import InputError
from gramian.gram.distances import from_distances
from gramian.maps import Array
from gramian.memory import budget
from gramian.quality.procrustes import procrustes
from gramian.spectral.gram_embedding import GramEmbedding

_block = 1_000_000  # distances to landmarks held at a time
_judged = 500  # points whose two placements are compared


class FilePoints:
    """Points that stay in their file; those that are read are seen to be numbers."""

    def __init__(self, rows: Any) -> None:
        self.rows, self.shape, self.dtype = rows, rows.shape, rows.dtype
        self.row_blocks = rows.row_blocks

    def read_rows(self, rows: slice) -> Array:
        """One block of points."""
        return self._finite(self.rows.read_rows(rows))

    def take(self, which: Array) -> Array:
        """The points with these numbers."""
        return self._finite(self.rows.take(which))

    def map_rows(self, f: Callable[[Array], Array], columns: int, dtype: Any) -> Array:
        """``f(block)`` of all blocks, stacked; one pass."""
        return np.asarray(self.rows.map_rows(lambda X, _: f(self._finite(X)), columns, dtype))

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """One pass over all points, a block at a time."""
        return ((rows, self._finite(X)) for rows, X in self.rows.blocks())

    def __len__(self) -> int:
        return int(self.shape[0])

    def only(self, kept: Array) -> Iterator[tuple[slice, Array]]:
        """The same of the points with these numbers (ascending), which are counted anew."""
        for rows, X in self.blocks():
            a, b = np.searchsorted(kept, [rows.start, rows.stop]).tolist()
            if a < b:
                yield slice(a, b), X if b - a == len(X) else X[kept[a:b] - rows.start]

    def visit(self) -> Any:
        """Surround a pass: the file must be the same before and after."""
        return self.rows._visit()

    def _finite(self, X: Array) -> Array:
        if not np.isfinite(X).all():
            refuse_non_finite(self.rows)
        return X


def stay_in_file(opened: Any, memory: Any) -> bool:
    """Whether points are better left in their file: they would take a third of the budget."""
    return too_many(opened.rows, memory)


def too_many(rows: Any, memory: Any) -> bool:
    """The same of rows."""
    n, p = rows.shape
    return not rows.resident and 3 * n * p * rows.dtype.itemsize > budget(memory)


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


def placing_bytes(m: int, n: int) -> int:
    """What it takes to scale m landmarks and to place n points by them."""
    return 3 * 8 * m * m + 4 * 8 * min(m * n, _block)


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
    step = max(1, min(_block, budget(how["memory"]) // 64) // m)
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

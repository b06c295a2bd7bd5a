"""Distances between points, given or measured by a metric: whole, in blocks, or as half squares."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gramian.gram.distances import HalfSquares, checked_metric, half_squares, pairwise
from gramian.gram.kernel_map import KernelMap
from gramian.gram.tiles import SymmetricTiles
from gramian.maps import Array


@dataclass(frozen=True)
class Measured:
    """Points that can be asked how far apart they are.

    Attributes
    ----------
    known : array, or rows in a file
        Distances (n, n), or points (n, p) if there is a metric.
    metric : str, callable or None
        ``None``: the distances are known.
    settings : dict
        Parameters of the metric.
    """

    known: Any
    metric: Any = None
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def resident(self) -> bool:
        """Whether what is known is in memory."""
        return isinstance(self.known, np.ndarray)

    def whole(self) -> Any:
        """All distances."""
        return self.known if self.metric is None else self._between(self.known, None)

    def between(self, rows: Any, chosen: Array) -> Array:
        """Distances of some points (a slice, or numbers) to those of the numbers ``chosen``."""
        if self.metric is not None:
            return self._between(self.known[rows], self.known[chosen])
        if self.resident:
            return np.asarray(self.known[rows][:, chosen])
        # in a file: rows of the chosen are read, which are their columns
        lines = (self.known.read_rows(slice(i, i + 1))[0, rows] for i in chosen)
        return np.stack(list(lines), axis=1)

    def held(self, which: Array, points: Array) -> Measured:
        """The same points in a file, those of the numbers ``which`` (sorted) held in memory."""
        return _Held(self.known, self.metric, self.settings, which, points)

    def of_pairs(self, pairs: Array) -> Array:
        """Distances of pairs of points (m, 2), in memory."""
        i, j = pairs.T
        if self.metric is None:
            return np.asarray(self.known[i, j])
        some = np.array_split(np.arange(len(i)), max(1, len(i) // 50))
        found = [np.diagonal(self._between(self.known[i[s]], self.known[j[s]])) for s in some]
        return np.concatenate(found)

    def tiles(self, w: Array) -> SymmetricTiles | None:
        """Half of K = -1/2 D∘D in float32, with K w; ``None`` where float32 cannot hold it."""
        if self.metric is None:
            return SymmetricTiles.of_distances(self.known, w)
        return SymmetricTiles.of(
            len(self.known),
            lambda rows, columns: half_squares(
                self._between(self.known[rows], self.known[columns])
            ),
            w,
        )

    def half_squares(self) -> Any:
        """K = -1/2 D∘D as a map that is never stored."""
        if self.metric is None:
            return HalfSquares(self.known)
        return KernelMap(lambda A, B: half_squares(self._between(A, B)), self.known)

    def _between(self, X: Array, Y: Array | None) -> Array:
        return pairwise(X, Y, checked_metric(self.metric), **self.settings)


@dataclass(frozen=True)
class _Held(Measured):
    """Points in a file of which a few are in memory: every other one is read when it is asked."""

    which: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    points: Array = field(default_factory=lambda: np.zeros((0, 0)))

    def between(self, rows: Any, chosen: Array) -> Array:
        against = self._of(chosen)
        if not isinstance(rows, slice):
            return self._between(self._of(rows), against)
        step = max(self.known.row_blocks()[0].stop, 1)
        spans = range(rows.start, rows.stop, step)
        blocks = (self.known.read_rows(slice(a, min(a + step, rows.stop))) for a in spans)
        return np.concatenate([self._between(block, against) for block in blocks])

    def _of(self, numbers: Array) -> Array:
        at = np.minimum(np.searchsorted(self.which, numbers), len(self.which) - 1)
        if np.array_equal(self.which[at], numbers):
            return np.asarray(self.points[at])
        return np.asarray(self.known.take(numbers))

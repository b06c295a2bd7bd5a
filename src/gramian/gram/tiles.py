"""A symmetric matrix in float32, half of it: what a Krylov method reads again and again.

1. fill    blocks of the upper triangle, computed once, in the precision of the data
2. sums    A w on the way, from the blocks as they were computed
3. keep    A - shift in float32: a shift that centering takes away again costs nothing and leaves
           small differences their digits
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gramian.loops import symmetric
from gramian.loops.kept import keep
from gramian.loops.products import aligned
from gramian.loops.symmetric import TILE, WIDE, upper_tiles
from gramian.loops.threads import one_blas_thread, ordered_sum, pause
from gramian.maps import Array, ImplicitMap

Fill = Callable[[slice, slice], Array]
_panel = 2 * TILE  # columns computed at a time: the block is kept while it is in cache
_seen = 100  # rows and columns by which the shift is chosen
_SMALL, _LARGE = 2.0**-60, 2.0**60  # sizes whose squares float32 can hold


class SymmetricTiles(ImplicitMap):
    """A - shift, stored as float32 tiles on and above the diagonal.

    Attributes
    ----------
    sums : array of shape (n,)
        A w, in float64, for the weights w it was made with.
    """

    block = WIDE

    def __init__(self, n: int, tiles: Array, sums: Array) -> None:
        self.shape, self.dtype = (n, n), np.dtype(np.float32)
        self.tiles, self.sums = tiles, sums

    @staticmethod
    def bytes(n: int) -> int:
        """Memory they take."""
        return len(upper_tiles(n)[0]) * TILE * TILE * 4

    @staticmethod
    def of(n: int, fill: Fill, w: Array, *, center: bool = True) -> SymmetricTiles | None:
        """Compute and keep them.

        Parameters
        ----------
        n : int
        fill : function
            ``fill(rows, columns)`` is that block of A, two slices; the block is used up.
        w : array of shape (n,)
        center : bool
            Whether A will be centered: if so it is kept less a constant.

        Returns
        -------
        SymmetricTiles or None
            ``None`` where numbers are too large or too small for float32.
        """

        def block(rows: slice, columns: slice) -> tuple[Array, int, int]:
            found = fill(rows, columns)
            if rows.start == columns.start:
                own = found[:, : rows.stop - rows.start]
                own += own.T.copy()
                own *= 0.5
            return np.ascontiguousarray(found), 0, 0

        some = slice(None, None, max(1, n // _seen))
        return _kept(n, block, fill(some, some), w, center=center)

    @staticmethod
    def of_distances(D: Array, w: Array) -> SymmetricTiles | None:
        """-1/2 D∘D of a symmetric array, which is read once and not copied."""
        D = D.T if D.flags.f_contiguous else D
        some = slice(None, None, max(1, len(D) // _seen))
        sample = -0.5 * D[some, some].astype(np.float64) ** 2
        place = lambda rows, columns: (D, rows.start, columns.start)  # noqa: E731
        return _kept(len(D), place, sample, w, distances=True)

    def _times(self, V: Array) -> Array:
        return symmetric.times(self.tiles, V)

    def centered_times(self, V: Array, a: Array, root: Array | None) -> Array:
        """r H A H' r V, H = I - 1 a' and r the roots of the weights, in float64."""
        return symmetric.times(self.tiles, V, a, root)


def _kept(
    n: int,
    block: Callable[[slice, slice], tuple[Array, int, int]],
    sample: Array,
    w: Array,
    *,
    center: bool = True,
    distances: bool = False,
) -> SymmetricTiles | None:
    """The tiles, from blocks that are found in an array at a row and a column of it."""
    if not _SMALL < float(np.abs(sample).max()) < _LARGE:
        return None
    shift = float(sample.mean(dtype=np.float64)) if center else 0.0
    top, _ = upper_tiles(n)
    tiles = aligned(len(top) * TILE, TILE, np.float32).reshape(len(top), TILE, TILE)
    starts, weights = np.unique(top), w.astype(np.float64)

    def piece(i: int, sums: Array) -> None:
        a = int(starts[i])
        rows, first = (a, min(a + TILE, n)), int(np.searchsorted(top, a))
        for b in range(a, n, _panel):
            pause()
            columns = b, min(b + _panel, n)
            found = block(slice(*rows), slice(*columns))
            q = first + (b - a) // TILE
            some = tiles[q : q + -(-(columns[1] - b) // TILE)]
            keep(*found, rows, columns, distances, shift, weights, some, sums)

    with one_blas_thread():
        sums = ordered_sum(piece, len(starts), lambda: np.zeros(n))
    return SymmetricTiles(n, tiles, sums) if np.isfinite(sums).all() else None

"""How kernels of points are computed: block by block, from inner products or from distances.

    Products   a function of A B', in tiles that stay in cache
    Apart      a function of distances, taken from x - y where digits would cancel

``of_points`` makes a kernel of what says which of them it is, and sees to its arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

import numpy as np

from gramian.errors import InputError
from gramian.gram.distances import pairwise
from gramian.loops.threads import one_blas_thread, pause, run
from gramian.maps import Array

Kernel = Callable[..., Any]

_rows, _columns = 256, 512  # of a tile that stays in the second-level cache
_lost = 1e-8  # the most that a kernel may lose to cancellation in float64


@dataclass(frozen=True)
class Products:
    """A kernel that is a function of inner products: ``finish`` applied to A B', by blocks."""

    A: Array
    B: Array
    finish: Callable[[Array], Any]
    dtype: Any

    def block(self, rows: slice, columns: slice) -> Array:
        """Some rows and columns of it."""
        A, B = self.A[rows], self.B[columns]
        K = np.empty((len(A), len(B)), self.dtype)
        self._fill(K, A, B.T)
        return K

    def whole(self) -> Array:
        """All of it, on all threads."""
        K = np.empty((len(self.A), len(self.B)), self.dtype)

        def piece(i: int) -> None:
            rows = slice(i * _rows, (i + 1) * _rows)
            self._fill(K[rows], self.A[rows], self.B.T)

        with one_blas_thread():
            run(piece, -(-len(K) // _rows), "kernel")
        return K

    def _fill(self, K: Array, A: Array, Bt: Array) -> None:
        """Tile by tile in cache, so that each is written to memory once."""
        for i in range(0, len(K), _rows):
            for j in range(0, K.shape[1], _columns):
                pause()
                some, tile = A[i : i + _rows], K[i : i + _rows, j : j + _columns]
                inner = tile if K.dtype == A.dtype else np.empty(tile.shape, A.dtype)
                with np.errstate(over="ignore"):  # what is not finite is refused where it matters
                    np.matmul(some, Bt[:, j : j + _columns], out=inner)
                self.finish(inner)
                if inner is not tile:
                    tile[:] = inner


@dataclass(frozen=True)
class Apart:
    """A kernel that is a function of distances: ``finish`` applied to them, in place, by blocks.

    B is ``None`` where the distances are those of A to itself.
    """

    A: Array
    B: Array | None
    metric: str
    finish: Callable[[Array], Any]

    def block(self, rows: slice, columns: slice) -> Array:
        """Some rows and columns of it."""
        own = self.B is None and rows == columns
        others = self.A if self.B is None else self.B
        K = pairwise(self.A[rows], None if own else others[columns], self.metric)
        self.finish(K)
        return K

    def whole(self) -> Array:
        """All of it, on all threads."""
        K = pairwise(self.A, self.B, self.metric)
        step = max(1, 200_000 // max(K.shape[1], 1))
        run(lambda i: self.finish(K[i * step : (i + 1) * step]), -(-len(K) // step))
        return K


def of_points(function: Callable[..., Products | Apart]) -> Kernel:
    """Make a kernel of arrays of points of what says how it is computed.

    It takes two single points, too, and returns their similarity.
    """

    @wraps(function)
    def k(X: Any, Y: Any = None, **parameters: Any) -> Any:
        A, B, single = two_sets(X, Y)
        K = function(A, B, **parameters).whole()
        return float(K[0, 0]) if single else K

    return k


def two_sets(X: Any, Y: Any) -> tuple[Array, Array | None, bool]:
    """Two sets of points, checked (the second may be ``None``), and whether X was a single one."""
    A = _points(X)
    B = A if Y is X else None if Y is None else _points(Y)
    single = A.ndim == 1
    if B is not None and (A.ndim != B.ndim or A.shape[-1] != B.shape[-1]):
        raise InputError(
            "a kernel takes two arrays of points with the same number of coordinates, or two "
            f"points; got shapes {A.shape} and {B.shape}"
        )
    return (A[None], None if B is None else B[None], True) if single else (A, B, False)


def _points(X: Any) -> Array:
    A = np.asarray(X)
    if A.dtype.kind not in "fiub" or A.ndim not in (1, 2):
        raise InputError(
            "a kernel takes points as rows of an array of numbers; got "
            f"shape {A.shape}, type {A.dtype}"
        )
    if not np.isfinite(A).all():
        raise InputError("a kernel takes finite numbers; these points hold NaN or infinity")
    return A


def of_products(X: Array, Y: Array | None, finish: Callable[[Array], Any]) -> Products:
    """``finish`` applied to X Y'."""
    dtype = np.float32 if X.dtype == np.float32 else np.float64
    A = X.astype(dtype, copy=False)
    return Products(A, A if Y is None else Y.astype(dtype, copy=False), finish, dtype)


def of_squares(
    X: Array, Y: Array | None, scale: float, finish: Callable[[Array], Any]
) -> Products | Apart:
    """``finish`` applied to s |x - y|^2, s = ``scale``.

    s |x|^2 + s |y|^2 - 2 s x.y about the mean of X is one product, of rows (-2 s x, s |x|^2, s) and
    (y, 1, |y|^2). It loses at most eps s (|x|^2 + |y|^2); where float32 would lose more than five
    digits of 1 by that, float64 is used, and where that loses 1e-8 of 1, differences x - y.
    """
    dtype = np.float32 if X.dtype == np.float32 else np.float64
    middle = X.mean(axis=0, dtype=np.float64)
    for work in (dtype, np.float64):
        with np.errstate(over="ignore", invalid="ignore"):
            A = X.astype(work, copy=False) - middle.astype(work)
            B = A if Y is None else Y.astype(work, copy=False) - middle.astype(work)
            exact = (np.einsum("ij,ij->i", Z, Z, dtype=np.float64) for Z in (A, B))
            aa, bb = (z.astype(work)[:, None] for z in exact)
            longest = float(aa.max(initial=0.0)) + float(bb.max(initial=0.0))
        most = abs(scale) * longest
        if most * 6e-8 <= 1e-5 and abs(scale) < 1e30:  # what float32 holds with room to spare
            break
    if not most * np.finfo(np.float64).eps <= _lost:
        return _apart(X, Y, scale, longest, finish)
    A = np.concatenate([A * work(-2 * scale), aa * work(scale), np.full_like(aa, scale)], axis=1)
    B = np.concatenate([B, np.ones_like(bb), bb], axis=1)

    def squares(tile: Array) -> None:
        if scale > 0 and tile.min() < 0:  # by rounding; looking is quicker than writing
            np.maximum(tile, 0, out=tile)
        elif scale < 0 and tile.max() > 0:
            np.minimum(tile, 0, out=tile)
        finish(tile)

    return Products(A, B, squares, dtype)


def _apart(
    X: Array, Y: Array | None, scale: float, longest: float, finish: Callable[[Array], Any]
) -> Apart:
    """The same from differences, of points that are far from each other for this kernel."""
    dtype: Any = np.float32 if X.dtype == np.float32 else np.float64
    unit = float(np.ldexp(1.0, round(np.log2(abs(scale)) / 2)))  # a power of two loses no digit
    if not 4 * unit * unit * longest < np.finfo(dtype).max:
        raise InputError("such distances overflow in a kernel; divide the data, or lower gamma")
    A, B = (None if Z is None else Z.astype(dtype) * dtype(unit) for Z in (X, Y))
    assert A is not None
    rest = dtype(scale / unit / unit)

    def squares(block: Array) -> None:
        block *= rest
        finish(block)

    return Apart(A, B, "sqeuclidean", squares)

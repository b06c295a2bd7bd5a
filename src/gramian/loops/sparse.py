"""Products of a sparse matrix X, stored by rows (CSR), with thin blocks, on all threads.

    times(X, V)                  X V
    adjoint(X, U)                X' U                     in float64
    gram(X, V, shift, weight)    X' Z and 1' Z in float64, where Z = weight * (X V - 1 shift')

``gram`` reads X from memory once: each row is used twice while it is in cache. Pieces hold about
equally many stored values and depend on X alone, so the bits do not depend on the threads. Stored
zeros, empty rows and columns, unsorted and repeated columns are all as they should be. X is not
wrapped: anything with ``indptr``, ``indices``, ``data`` and ``shape`` will do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from gramian.loops.gather import (
    gathered_2,
    gathered_4,
    gathered_all,
    scattered_2,
    scattered_4,
    scattered_all,
)
from gramian.loops.products import aligned, lanes
from gramian.loops.threads import ordered_sum, run
from gramian.loops.tile import at, compiled
from gramian.maps import Array

_small = 100_000  # multiplications below which starting threads costs more than it saves


def times(X: Any, V: Array) -> Array:
    """``X @ V``, in X's own type."""
    n, m, dtype = X.shape[0], V.shape[1], X.data.dtype
    pieces = cut(X, 16, m)
    out = np.empty((n, m), dtype)
    for columns, block in _strips(V, dtype):
        strip = aligned(n, block.shape[1], dtype)

        def piece(i: int, block: Array = block, strip: Array = strip) -> None:
            _times(X.indptr, X.indices, X.data, *pieces[i], block, strip)

        run(piece, len(pieces))
        out[:, columns] = strip[:, : columns.stop - columns.start]
    return out


def adjoint(X: Any, U: Array) -> Array:
    """``X.T @ U``, summed in float64."""
    p, m, dtype = X.shape[1], U.shape[1], X.data.dtype
    pieces = cut(X, _totals(X), m)
    out = np.empty((p, m))
    for columns, block in _strips(U, dtype):

        def piece(i: int, total: Array, block: Array = block) -> None:
            _adjoint(X.indptr, X.indices, X.data, *pieces[i], block, total)

        total = ordered_sum(piece, len(pieces), _zeros(p, block))
        out[:, columns] = total[:, : columns.stop - columns.start]
    return out


def gram(
    X: Any, V: Array, shift: Array | None = None, weight: Array | None = None
) -> tuple[Array, Array]:
    """``X' Z`` and the sums of Z's columns, both in float64, for ``Z = weight * (X V - shift)``.

    Parameters
    ----------
    X : CSR matrix
    V : (p, m)
    shift : (m,), optional
        Taken from every row; 0 by default.
    weight : (n,) or (1,), optional
        Of the rows; 1 by default.
    """
    p, m, dtype = X.shape[1], V.shape[1], X.data.dtype
    pieces = cut(X, _totals(X), m)
    shift = np.zeros(m, dtype) if shift is None else shift.astype(dtype, copy=False)
    weight = np.ones(1, dtype) if weight is None else weight.astype(dtype, copy=False)
    out, sums = np.empty((p, m)), np.empty(m)
    for columns, block in _strips(V, dtype):
        own = np.zeros(block.shape[1], dtype)
        own[: columns.stop - columns.start] = shift[columns]

        def piece(i: int, total: Array, block: Array = block, own: Array = own) -> None:
            _gram(X.indptr, X.indices, X.data, *pieces[i], block, own, weight, total)

        total = ordered_sum(piece, len(pieces), _zeros(p + 1, block))
        out[:, columns] = total[:p, : columns.stop - columns.start]
        sums[columns] = total[p, : columns.stop - columns.start]
    return out, sums


def _strips(V: Array, dtype: Any) -> Iterator[tuple[slice, Array]]:
    """Columns of V, as many as fill a vector at a time; padded with zeros to 1, 2, 4 or all lanes.

    A row of a strip is one line of the cache: wider ones would only spread V over more of it.
    """
    wide, m = lanes(np.dtype(dtype)), V.shape[1]
    for c in range(0, m, wide):
        columns = slice(c, min(c + wide, m))
        width = next(w for w in (1, 2, 4, wide) if w >= columns.stop - c)
        whole = V.dtype == dtype and V.shape[1] == width and V.flags.c_contiguous
        if whole and V.ctypes.data % 64 == 0:
            yield columns, V
            continue
        block = aligned(len(V), width, dtype)
        block[:, : columns.stop - c] = V[:, columns]
        yield columns, block


def _zeros(rows: int, block: Array) -> Callable[[], Array]:
    return lambda: aligned(rows, block.shape[1], np.float64)


def cut(X: Any, parts: int, m: int) -> list[tuple[int, int]]:
    """Rows cut so that each piece has about as many values; one piece where there are few."""
    n, stored = X.shape[0], int(X.indptr[-1])
    if (stored + n) * m < _small:
        return [(0, n)]
    filled = X.indptr.astype(np.int64) + np.arange(n + 1)  # an empty row takes a moment as well
    ends = np.searchsorted(filled, np.arange(1, parts) * int(filled[-1]) // parts)
    bounds = [0, *map(int, np.unique(ends)), n]
    return [(a, b) for a, b in pairwise(bounds) if a < b]


def _totals(X: Any) -> int:
    """Pieces that sum up p rows each: fewer where adding them up would be most of the work."""
    most = int(X.indptr[-1]) // (2 * max(X.shape[1], 1))
    return 8 if most >= 8 else 4 if most >= 4 else 2 if most >= 1 else 1


@compiled
def _row_times(data, indices, first, stored, V, out, row):
    """out[row] = the values from ``first`` on times the rows of V that belong to their columns."""
    width = V.shape[1]
    x, j, o = at(data, first), at(indices, first), at(out, row * width)
    if width == 1:
        a = b = data[0] * 0
        whole = first + stored - stored % 2
        for t in range(first, whole, 2):
            a += data[t] * V[np.uint64(indices[t]), 0]
            b += data[t + 1] * V[np.uint64(indices[t + 1]), 0]
        if stored % 2:
            a += data[whole] * V[np.uint64(indices[whole]), 0]
        out[row, 0] = a + b
    elif width == 2:
        gathered_2(x, j, stored, at(V, 0), o)
    elif width == 4:
        gathered_4(x, j, stored, at(V, 0), o)
    else:
        gathered_all(x, j, stored, at(V, 0), o)


@compiled
def _row_adjoint(data, indices, first, stored, U, row, out):
    """The rows of ``out`` that belong to the values' columns += values times U[row]."""
    width = U.shape[1]
    x, j, u = at(data, first), at(indices, first), at(U, row * width)
    if width == 1:
        z = np.float64(U[row, 0])
        for t in range(first, first + stored):
            out[np.uint64(indices[t]), 0] += data[t] * z
    elif width == 2:
        scattered_2(x, j, stored, u, at(out, 0))
    elif width == 4:
        scattered_4(x, j, stored, u, at(out, 0))
    else:
        scattered_all(x, j, stored, u, at(out, 0))


@compiled
def _times(indptr, indices, data, start, stop, V, out):
    """out[start:stop] = X[start:stop] V; out comes as zeros."""
    for i in range(start, stop):
        first = np.intp(indptr[i])
        stored = np.intp(indptr[i + 1]) - first
        if stored:
            _row_times(data, indices, first, stored, V, out, i)


@compiled
def _adjoint(indptr, indices, data, start, stop, U, out):
    """out += X[start:stop]' U[start:stop]."""
    for i in range(start, stop):
        first = np.intp(indptr[i])
        _row_adjoint(data, indices, first, np.intp(indptr[i + 1]) - first, U, i, out)


@compiled
def _gram(indptr, indices, data, start, stop, V, shift, weight, out):
    """out[:p] += X[start:stop]' Z and out[p] += 1' Z, a row at a time."""
    width, p = V.shape[1], out.shape[0] - 1
    one = weight.size == 1
    z = np.zeros((1, width), V.dtype)
    for i in range(start, stop):
        first = np.intp(indptr[i])
        stored = np.intp(indptr[i + 1]) - first
        if stored:
            _row_times(data, indices, first, stored, V, z, 0)
        else:
            z[:] = 0
        w = weight[0] if one else weight[i]
        for l in range(width):
            z[0, l] = (z[0, l] - shift[l]) * w
            out[p, l] += z[0, l]
        _row_adjoint(data, indices, first, stored, z, 0, out)

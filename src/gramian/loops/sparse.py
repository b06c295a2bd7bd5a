"""Products of a sparse matrix X, stored by rows (CSR), with thin blocks, on all threads.

    times(X, V)                  X V
    adjoint(X, U)                X' U                     in float64
    gram(X, V, shift, weight)    X' Z and 1' Z in float64, where Z = weight * (X V - 1 shift')
    sums(X, weight, unit, about) of each column, over what is stored

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

from gramian.loops.gather import gathered, moved, scattered
from gramian.loops.products import aligned
from gramian.loops.threads import ordered_sum, run
from gramian.loops.tile import at, compiled
from gramian.maps import Array

_lines = 128  # bytes of a strip's rows: two lines of the cache; sums are in float64
_small = 100_000  # multiplications below which starting threads costs more than it saves


def times(X: Any, V: Array) -> Array:
    """``X @ V``, in X's own type."""
    n, m, dtype = X.shape[0], V.shape[1], X.data.dtype
    pieces = cut(X, 16, m)
    out = np.empty((n, m), dtype)
    for columns, lanes in _strips(m, dtype):
        block, at_once = _strip(V, columns, lanes, dtype), columns.stop - columns.start
        whole = at_once == len(lanes)  # else what is beyond the columns needs a place of its own
        into, first = (out, columns.start) if whole else (np.empty((n, len(lanes)), dtype), 0)

        def piece(i: int, given: Any = (block, lanes, into, first)) -> None:
            _times(X.indptr, X.indices, X.data, *pieces[i], *given)

        run(piece, len(pieces))
        if not whole:
            out[:, columns] = into[:, :at_once]
    return out


def adjoint(X: Any, U: Array) -> Array:
    """``X.T @ U``, summed in float64."""
    p, m, dtype = X.shape[1], U.shape[1], X.data.dtype
    pieces = cut(X, _totals(X), m)
    out = np.empty((p, m))
    for columns, lanes in _strips(m, np.float64):
        block = _strip(U, columns, lanes, dtype)

        def piece(i: int, total: Array, given: Any = (block, lanes)) -> None:
            _adjoint(X.indptr, X.indices, X.data, *pieces[i], *given, total)

        total = ordered_sum(piece, len(pieces), _zeros(p, lanes))
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
    for columns, lanes in _strips(m, np.float64):
        block, at_once = _strip(V, columns, lanes, dtype), columns.stop - columns.start
        own = np.zeros(len(lanes), dtype)
        own[:at_once] = shift[columns]

        def piece(i: int, total: Array, given: Any = (block, lanes, own, weight)) -> None:
            _gram(X.indptr, X.indices, X.data, *pieces[i], *given, total)

        total = ordered_sum(piece, len(pieces), _zeros(p + 1, lanes))
        out[:, columns] = total[:p, :at_once]
        sums[columns] = total[p, :at_once]
    return out, sums


def sums(X: Any, weight: Array, unit: float, about: Array) -> Array:
    """Sums of w, w t and w t^2 over what is stored of each column, (p, 3); t = unit x - about.

    Parameters
    ----------
    X : CSR matrix
    weight : (n,) or (1,)
        Of the rows.
    unit : float
    about : (p,)
    """
    pieces = cut(X, _totals(X), 3)

    def piece(i: int, total: Array) -> None:
        _sums(X.indptr, X.indices, X.data, *pieces[i], weight, unit, about, total)

    return np.asarray(ordered_sum(piece, len(pieces), lambda: np.zeros((X.shape[1], 3))))


def _strips(m: int, dtype: Any) -> Iterator[tuple[slice, tuple[int, ...]]]:
    """Columns multiplied at a time, and the lanes for them: as many as fill two lines of the cache.

    Wider rows would only spread V over more of it.
    """
    wide = _lines // np.dtype(dtype).itemsize
    for c in range(0, m, wide):
        at_once = min(wide, m - c)
        yield slice(c, c + at_once), (0,) * (1 << (at_once - 1).bit_length())


def _strip(V: Array, columns: slice, lanes: tuple[int, ...], dtype: Any) -> Array:
    """These columns of V, padded with zeros to as many as there are lanes."""
    whole = V.dtype == dtype and V.shape[1] == len(lanes) and V.flags.c_contiguous
    if whole and V.ctypes.data % 64 == 0:
        return V
    block: Array = aligned(len(V), len(lanes), dtype)
    block[:, : columns.stop - columns.start] = V[:, columns]
    return block


def _zeros(rows: int, lanes: tuple[int, ...]) -> Callable[[], Array]:
    return lambda: aligned(rows, len(lanes), np.float64)


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
def _times(indptr, indices, data, start, stop, V, lanes, out, column):
    """out[start:stop, column:] = X[start:stop] V."""
    across = out.shape[1]
    for i in range(start, stop):
        first = np.intp(indptr[i])
        stored = np.intp(indptr[i + 1]) - first
        o = at(out, i * across + column)
        gathered(at(data, first), at(indices, first), stored, at(V, 0), o, lanes)


@compiled
def _adjoint(indptr, indices, data, start, stop, U, lanes, out):
    """out += X[start:stop]' U[start:stop]."""
    for i in range(start, stop):
        first = np.intp(indptr[i])
        stored = np.intp(indptr[i + 1]) - first
        u = at(U, i * U.shape[1])
        scattered(at(data, first), at(indices, first), stored, u, at(out, 0), lanes)


@compiled
def _gram(indptr, indices, data, start, stop, V, lanes, shift, weight, out):
    """out[:p] += X[start:stop]' Z and out[p] += 1' Z, a row at a time."""
    z = np.empty(len(lanes), V.dtype)
    row, last = at(z, 0), (out.shape[0] - 1) * len(lanes)
    one = weight.size == 1
    for i in range(start, stop):
        first = np.intp(indptr[i])
        stored = np.intp(indptr[i + 1]) - first
        x, j = at(data, first), at(indices, first)
        gathered(x, j, stored, at(V, 0), row, lanes)
        moved(row, at(shift, 0), weight[0] if one else weight[i], at(out, last), lanes)
        scattered(x, j, stored, row, at(out, 0), lanes)


@compiled
def _sums(indptr, indices, data, start, stop, weight, unit, about, out):
    """out[j] += w, w t and w t^2 for what rows start:stop hold in column j."""
    one = weight.size == 1
    for i in range(start, stop):
        w = weight[0] if one else weight[i]
        for k in range(np.intp(indptr[i]), np.intp(indptr[i + 1])):
            j = np.uint64(indices[k])
            t = np.float64(data[k]) * unit - about[j]
            out[j, 0] += w
            out[j, 1] += w * t
            out[j, 2] += w * t * t

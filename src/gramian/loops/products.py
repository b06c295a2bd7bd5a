"""Products of a tall dense matrix with a thin block, centered in cache on the way.

Every function adds to its last argument, for one block M of rows (C order):

    times                     out += M V
    centered_times            out += Y V
    adjoint                   out += Y' U
    gram                      out += Y' (Y V)       M is read from memory once
    cross                     out += Y' Y           upper tiles only

with Y = (M - mean) * factor, weighted by row. The mean comes as a sum of two numbers, high + low,
so that nothing is lost where it dwarfs the spread. Columns of thin blocks are padded to whole
vectors (``padded``). Short sums run in the data's own precision and are added up in ``out``'s.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.loops.tile import at, compiled, prefetch, tile_1x1, tile_1x2, tile_8x1, tile_8x2

CHUNK = 512  # rows of a thin block that stay in the first-level cache
AHEAD = 32  # cache lines of the next block asked for with each tile of a cross product
DEPTH = 128  # rows summed in the data's own precision before they are added to a float64 total


def lanes(dtype: np.dtype[Any]) -> int:
    """Numbers in one vector of 64 bytes."""
    return 64 // dtype.itemsize


def depth_for(columns: int, dtype: np.dtype[Any]) -> int:
    """Rows centered at a time: two such blocks (this one and the next) fit the second-level cache."""
    rows = 320_000 // (max(columns, 1) * dtype.itemsize)
    return min(max(rows // 8 * 8, 8), DEPTH)


def padded(columns: int, dtype: np.dtype[Any]) -> int:
    """``columns`` rounded up to whole vectors."""
    wide = lanes(dtype)
    return -(-columns // wide) * wide


@compiled
def _add_AB(A, ra, rows, ca, columns, B, rb, out, ro):
    """out[ro + i] += sum over j < columns of A[ra + i, ca + j] B[rb + j], for i < rows."""
    la, lb, lo = A.shape[1], B.shape[1], out.shape[1]
    wide = 64 // A.itemsize
    for c in range(0, lb, 2 * wide):
        two = c + 2 * wide <= lb
        whole = rows - rows % 8
        for i in range(0, whole, 8):
            a, b, o = (ra + i) * la + ca, rb * lb + c, (ro + i) * lo + c
            if two:
                tile_8x2(at(A, a), la, 1, at(B, b), lb, columns, at(out, o), lo)
            else:
                tile_8x1(at(A, a), la, 1, at(B, b), lb, columns, at(out, o), lo)
        for i in range(whole, rows):
            a, b, o = (ra + i) * la + ca, rb * lb + c, (ro + i) * lo + c
            if two:
                tile_1x2(at(A, a), la, 1, at(B, b), lb, columns, at(out, o), lo)
            else:
                tile_1x1(at(A, a), la, 1, at(B, b), lb, columns, at(out, o), lo)


@compiled
def _add_AtB(A, rows, columns, B, rb, out, M, soon, later):
    """out[j] += sum over i < rows of A[i, j] B[rb + i]; meanwhile rows soon:later of M are fetched.

    Without the fetching the processor waits for memory while it centers and memory waits for the
    processor while it multiplies.
    """
    la, lb, lo, lm = A.shape[1], B.shape[1], out.shape[1], M.shape[1]
    wide = 64 // A.itemsize
    for j in range(0, columns, wide):
        for r in range(soon, later):
            prefetch(M, r * lm + j)
        for c in range(0, lb, 2 * wide):
            two = c + 2 * wide <= lb
            stop = min(j + wide, columns)
            whole = stop - (stop - j) % 8
            for k in range(j, whole, 8):
                if two:
                    tile_8x2(at(A, k), 1, la, at(B, rb * lb + c), lb, rows, at(out, k * lo + c), lo)
                else:
                    tile_8x1(at(A, k), 1, la, at(B, rb * lb + c), lb, rows, at(out, k * lo + c), lo)
            for k in range(whole, stop):
                if two:
                    tile_1x2(at(A, k), 1, la, at(B, rb * lb + c), lb, rows, at(out, k * lo + c), lo)
                else:
                    tile_1x1(at(A, k), 1, la, at(B, rb * lb + c), lb, rows, at(out, k * lo + c), lo)


@compiled
def _center(M, start, stop, high, low, factor, weight, flip, Y):
    """Y[i] = (M[start + i] - high - low) * factor * weight.

    ``high, low, factor`` belong to variables and ``weight`` to observations: variables are the
    columns of M, or its rows if ``flip``.
    """
    first = np.uint64(start)
    for i in range(first, np.uint64(stop)):
        row, into = M[i], Y[i - first]
        if flip:
            h, l, f = high[i], low[i], factor[i]
            for j in range(np.uint64(M.shape[1])):
                into[j] = ((row[j] - h) - l) * f * weight[j]
        else:
            w = weight[i]
            for j in range(np.uint64(M.shape[1])):
                into[j] = ((row[j] - high[j]) - low[j]) * factor[j] * w


@compiled
def center(M, high, low, factor, weight, flip, Y):
    """Y = M centered, scaled and weighted (see ``_center``), for whole blocks."""
    _center(M, 0, M.shape[0], high, low, factor, weight, flip, Y)


@compiled
def moments(M, unit, pivot, weight, sums, squares, peaks):
    """Weighted sums and sums of squares of M * unit - pivot per column, and its largest size."""
    for i in range(np.uint64(M.shape[0])):
        row, w = M[i], weight[i]
        for j in range(np.uint64(M.shape[1])):
            t = np.float64(row[j]) * unit - pivot[j]
            sums[j] += w * t
            squares[j] += w * t * t
            peaks[j] = max(peaks[j], abs(t))


@compiled
def times(M, start, stop, V, out):
    """out[start:stop] += M[start:stop] V, straight from memory."""
    p = M.shape[1]
    for i in range(start, stop, 8):
        rows = min(8, stop - i)
        for c in range(0, p, CHUNK):
            _add_AB(M, i, rows, c, min(CHUNK, p - c), V, c, out, i)


@compiled
def centered_times(M, high, low, factor, weight, flip, V, Y, out):
    """out += Y V."""
    n, p = M.shape
    depth = Y.shape[0]
    for i in range(0, n, depth):
        rows = min(depth, n - i)
        _center(M, i, i + rows, high, low, factor, weight, flip, Y)
        for c in range(0, p, CHUNK):
            _add_AB(Y, 0, rows, c, min(CHUNK, p - c), V, c, out, i)


@compiled
def adjoint(M, high, low, factor, weight, flip, U, Y, out):
    """out += Y' U."""
    n, p = M.shape
    depth = Y.shape[0]
    for i in range(0, n, depth):
        rows = min(depth, n - i)
        _center(M, i, i + rows, high, low, factor, weight, flip, Y)
        _add_AtB(Y, rows, p, U, i, out, M, i + rows, min(i + rows + depth, n))


@compiled
def gram(M, high, low, factor, weight, flip, V, Y, Z, out):
    """out += Y' (Y V), each block of rows used twice while it is in cache."""
    n, p = M.shape
    depth = Y.shape[0]
    for i in range(0, n, depth):
        rows = min(depth, n - i)
        _center(M, i, i + rows, high, low, factor, weight, flip, Y)
        Z[:] = 0
        for c in range(0, p, CHUNK):
            _add_AB(Y, 0, rows, c, min(CHUNK, p - c), V, c, Z, 0)
        _add_AtB(Y, rows, p, Z, 0, out, M, i + rows, min(i + rows + depth, n))


@compiled
def cross(M, high, low, factor, weight, flip, Y, out):
    """out += Y' Y on and above the diagonal tiles; Y's columns are padded with zeros."""
    n = M.shape[0]
    depth, wide = Y.shape
    vector = 64 // Y.itemsize
    for i in range(0, n, depth):
        rows = min(depth, n - i)
        _center(M, i, i + rows, high, low, factor, weight, flip, Y)
        ahead = (i + rows) * M.shape[1]
        end = min(i + rows + depth, n) * M.shape[1]
        for c in range(0, wide, 2 * vector):
            two = c + 2 * vector <= wide
            for j in range(0, min(c + 2 * vector, wide), 8):
                for line in range(ahead, min(ahead + AHEAD * vector, end), vector):
                    prefetch(M, line)
                ahead += AHEAD * vector
                y, o = at(Y, c), at(out, j * wide + c)
                if two:
                    tile_8x2(at(Y, j), 1, wide, y, wide, rows, o, wide)
                else:
                    tile_8x1(at(Y, j), 1, wide, y, wide, rows, o, wide)

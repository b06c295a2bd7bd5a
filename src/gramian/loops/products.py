"""Products of a tall dense matrix with a thin block, centered in cache on the way.

Every function adds to its last argument, for one block M of rows (C order):

    times                     out += M V
    centered_times            out += Y V
    adjoint                   out += Y' U
    turned_adjoint            out += U' Y
    gram                      out += Y' (Y V)       M is read from memory once
    cross                     out += Y' Y           upper tiles only, packed
    outer                     out += Y Y'           upper tiles only, packed

with Y = (M - mean) * factor, weighted by row. The mean comes as a sum of two numbers, high + low,
so that nothing is lost where it dwarfs the spread. Columns of thin blocks are padded to whole
vectors (``padded``). Short sums run in the data's own precision and are added up in ``out``'s.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.loops.tile import (
    at,
    compiled,
    dot,
    dots_4x4,
    tile_1x1,
    tile_1x2,
    tile_4x2,
    tile_8x1,
    tile_8x2,
)

PANEL = 2048  # columns treated at a time where rows are long
CHUNK = 512  # rows of a thin block that stay in the first-level cache
DEPTH = 128  # rows summed in the data's own precision before they are added to a float64 total


def lanes(dtype: np.dtype[Any]) -> int:
    """Numbers in one vector of 64 bytes."""
    return 64 // dtype.itemsize


def aligned(rows: int, columns: int, dtype: Any) -> Any:
    """Zeros that begin on a cache line: a vector across two lines costs twice."""
    dtype = np.dtype(dtype)
    raw = np.zeros(rows * columns * dtype.itemsize + 64, np.uint8)
    skip = -raw.ctypes.data % 64
    flat = raw[skip : skip + rows * columns * dtype.itemsize]
    return flat.view(dtype).reshape(rows, columns)


def depth_for(columns: int, dtype: np.dtype[Any]) -> int:
    """Rows centered at a time: such a block stays in the second-level cache."""
    rows = 640_000 // (max(columns, 1) * dtype.itemsize)
    return min(max(rows // 8 * 8, 8), DEPTH)


def shallow_depth(columns: int, dtype: np.dtype[Any]) -> int:
    """The same for products that are summed tile by tile: 30 kB do, of 32 to ``DEPTH`` rows."""
    return min(max(30_000 // (columns * dtype.itemsize) // 8 * 8, 32), DEPTH)


def odd_vectors(columns: int, dtype: np.dtype[Any]) -> int:
    """``columns`` as an odd number of vectors: rows an even number apart share cache sets."""
    return (-(-columns // lanes(dtype)) | 1) * lanes(dtype)


def packed_size(wide: int, dtype: np.dtype[Any]) -> int:
    """Numbers in the upper triangle of a square of side ``wide``, packed (see ``_add_cross``)."""
    across = 2 * lanes(dtype)
    panels, rest = divmod(wide, across)
    return panels * (panels + 1) // 2 * across**2 + wide * rest


def unpacked(
    packed: Any, side: int, wide: int, dtype: np.dtype[Any], into: Any = None
) -> tuple[Any, Any]:
    """A packed symmetric matrix: its first ``side`` rows and columns, and what is right of them.

    ``into`` may be an array of which ``packed`` is the second half: of the rows down to x the
    square takes x * side numbers, and no panel that is still to come begins before that.
    """
    across, first = 2 * lanes(dtype), 0
    into = np.empty(side * side) if into is None else into
    C, beside = into[: side * side].reshape(side, side), np.empty((side, wide - side))
    for c in range(0, wide, across):
        end = min(c + across, wide)
        panel = packed[first : first + end * (end - c)].reshape(end, end - c)[:side]
        first += end * (end - c)
        inside = max(min(end, side) - c, 0)
        C[:end, c : c + inside] = panel[:, :inside]
        left = max(c, side)
        beside[:end, left - side : max(end, left) - side] = panel[:, left - c :]
    for i in range(side - 1):
        C[i + 1 :, i] = C[i, i + 1 :]
    return C, beside


def padded(columns: int, dtype: np.dtype[Any]) -> int:
    """``columns`` rounded up to whole vectors."""
    wide = lanes(dtype)
    return -(-columns // wide) * wide


@compiled
def _add_AB(A, ra, rows, ca, columns, B, rb, out, ro, M, soon, cm):
    """out[ro + i] += sum over j < columns of A[ra + i, ca + j] B[rb + j], for i < rows.

    Meanwhile rows ``soon`` on of M, from column ``cm``, are fetched (none if there are not enough).
    """
    la, lb, lo, lm = A.shape[1], B.shape[1], out.shape[1], M.shape[1]
    wide = 64 // A.itemsize
    whole = rows - rows % 8
    step = 8 if soon + rows <= M.shape[0] else 0
    for c in range(0, lb, 2 * wide):
        b = at(B, rb * lb + c)
        if c + 2 * wide <= lb:
            for i in range(0, whole, 8):
                a, o = at(A, (ra + i) * la + ca), at(out, (ro + i) * lo + c)
                ahead = at(M, ((soon + i) * lm + cm) * (step // 8))
                tile_8x2(a, la, 1, b, lb, columns, o, lo, ahead, step)
            for i in range(whole, rows):
                a, o = at(A, (ra + i) * la + ca), at(out, (ro + i) * lo + c)
                tile_1x2(a, la, 1, b, lb, columns, o, lo, a, 0)
        else:
            for i in range(0, whole, 8):
                a, o = at(A, (ra + i) * la + ca), at(out, (ro + i) * lo + c)
                ahead = at(M, ((soon + i) * lm + cm) * (step // 8))
                tile_8x1(a, la, 1, b, lb, columns, o, lo, ahead, step)
            for i in range(whole, rows):
                a, o = at(A, (ra + i) * la + ca), at(out, (ro + i) * lo + c)
                tile_1x1(a, la, 1, b, lb, columns, o, lo, a, 0)


@compiled
def _add_AtB(A, ca, rows, columns, B, rb, out, first, M, soon):
    """out[first + j] += sum over i < rows of A[i, ca + j] B[rb + i], for j < columns.

    Meanwhile rows ``soon`` on of M are fetched, the same columns of out. Without the fetching the
    processor waits for memory while it centers, and memory for the processor while it multiplies.
    """
    la, lb, lo, lm = A.shape[1], B.shape[1], out.shape[1], M.shape[1]
    wide = 64 // A.itemsize
    whole = columns - columns % 8
    step = lm if soon + rows <= M.shape[0] else 0
    for c in range(0, lb, 2 * wide):
        b = at(B, rb * lb + c)
        if c + 2 * wide <= lb:
            for j in range(0, whole, 8):
                o, ahead = at(out, (first + j) * lo + c), at(M, soon * step + first + j)
                tile_8x2(at(A, ca + j), 1, la, b, lb, rows, o, lo, ahead, step)
            for j in range(whole, columns):
                o = at(out, (first + j) * lo + c)
                tile_1x2(at(A, ca + j), 1, la, b, lb, rows, o, lo, b, 0)
        else:
            for j in range(0, whole, 8):
                o, ahead = at(out, (first + j) * lo + c), at(M, soon * step + first + j)
                tile_8x1(at(A, ca + j), 1, la, b, lb, rows, o, lo, ahead, step)
            for j in range(whole, columns):
                o = at(out, (first + j) * lo + c)
                tile_1x1(at(A, ca + j), 1, la, b, lb, rows, o, lo, b, 0)


@compiled
def _center(M, start, stop, left, right, high, low, factor, weight, flip, Y):
    """Y[i, j] = (M[start + i, left + j] - high - low) * factor * weight, for j < right - left.

    ``high, low, factor`` belong to variables and ``weight`` to observations: variables are the
    columns of M, or its rows if ``flip``. A single weight counts for all.
    """
    first, c, columns = np.uint64(start), np.uint64(left), np.uint64(right - left)
    one = weight.size == 1
    for i in range(first, np.uint64(stop)):
        row, into = M[i], Y[i - first]
        if flip:
            h, l, f = high[i], low[i], factor[i]
            if one:
                f = f * weight[0]
                for j in range(columns):
                    into[j] = ((row[c + j] - h) - l) * f
            else:
                for j in range(columns):
                    into[j] = ((row[c + j] - h) - l) * f * weight[c + j]
        else:
            w = weight[0] if one else weight[i]
            for j in range(columns):
                into[j] = ((row[c + j] - high[c + j]) - low[c + j]) * factor[c + j] * w


@compiled
def center(M, high, low, factor, weight, flip, Y):
    """Y = M centered, scaled and weighted (see ``_center``), for whole blocks."""
    _center(M, 0, M.shape[0], 0, M.shape[1], high, low, factor, weight, flip, Y)


@compiled
def moments(M, begin, end, unit, pivot, weight, sums, squares, peaks):
    """Weighted sums and sums of squares of M * unit - pivot per column, and its largest size.

    For columns begin:end, so few at a time that their sums stay in the first-level cache.
    """
    n = M.shape[0]
    one = weight.size == 1
    for left in range(begin, end, CHUNK):
        c, columns = np.uint64(left), np.uint64(min(CHUNK, end - left))
        whole = n - n % 4
        for i in range(0, whole, 4):
            r0, r1, r2, r3 = M[i], M[i + 1], M[i + 2], M[i + 3]
            w0 = w1 = w2 = w3 = weight[0]
            if not one:
                w0, w1, w2, w3 = weight[i], weight[i + 1], weight[i + 2], weight[i + 3]
            for j in range(columns):
                a = pivot[c + j]
                t0 = np.float64(r0[c + j]) * unit - a
                t1 = np.float64(r1[c + j]) * unit - a
                t2 = np.float64(r2[c + j]) * unit - a
                t3 = np.float64(r3[c + j]) * unit - a
                sums[c + j] += (w0 * t0 + w1 * t1) + (w2 * t2 + w3 * t3)
                squares[c + j] += (w0 * t0 * t0 + w1 * t1 * t1) + (w2 * t2 * t2 + w3 * t3 * t3)
                largest = max(max(abs(t0), abs(t1)), max(abs(t2), abs(t3)))
                peaks[c + j] = max(peaks[c + j], largest)
        for i in range(whole, n):
            w = weight[0] if one else weight[i]
            for j in range(columns):
                t = np.float64(M[i, c + j]) * unit - pivot[c + j]
                sums[c + j] += w * t
                squares[c + j] += w * t * t
                peaks[c + j] = max(peaks[c + j], abs(t))


@compiled
def times(M, start, stop, V, out):
    """out[start:stop] += M[start:stop] V, straight from memory."""
    p = M.shape[1]
    for i in range(start, stop, 8):
        rows = min(8, stop - i)
        for c in range(0, p, CHUNK):
            _add_AB(M, i, rows, c, min(CHUNK, p - c), V, c, out, i, M, M.shape[0], 0)


@compiled
def add_times(Q, first, used, start, stop, h, X):
    """X[start:stop] += Q[start:stop, first:used] h."""
    for i in range(start, stop, 8):
        rows = min(8, stop - i)
        for c in range(first, used, CHUNK):
            many = min(CHUNK, used - c)
            _add_AB(Q, i, rows, c, many, h, c - first, X, i, Q, Q.shape[0], 0)


@compiled
def project(Q, start, stop, begin, end, X, out):
    """out[begin:end] += Q[start:stop, begin:end]' X[start:stop], a cacheful at a time."""
    for left in range(begin, end, PANEL):
        columns = min(PANEL, end - left)
        depth = max(min(DEPTH, 320_000 // (columns * Q.itemsize)), 8)
        for i in range(start, stop, depth):
            rows = min(depth, stop - i)
            _add_AtB(Q[i : i + rows], left, rows, columns, X, i, out, left, Q, i + rows)


@compiled
def add_times_4(Q, first, start, stop, h, X):
    """X[start:stop] += Q[start:stop, first:] h' for four columns; h is whole vectors long."""
    across, (_, columns) = Q.shape[1], h.shape
    vectors = columns * Q.itemsize // 64
    whole = stop - (stop - start) % 4
    for i in range(start, whole, 4):
        q = at(Q, i * across + first)
        dots_4x4(q, across, at(h, 0), columns, vectors, at(X, i * 4), q, 0)
    for i in range(whole, stop):
        for c in range(4):
            X[i, c] += dot(at(Q, i * across + first), at(h, c * columns), vectors)


@compiled
def project_4(Q, first, start, stop, X, out):
    """out += X[start:stop]' Q[start:stop, first:] for four columns; out is vector pairs long."""
    across, columns = Q.shape[1], out.shape[1]
    for i in range(start, stop, DEPTH):
        rows, x = min(DEPTH, stop - i), at(X, i * 4)
        for j in range(0, columns, 128 // Q.itemsize):
            q, o = at(Q, i * across + first + j), at(out, j)
            tile_4x2(x, 1, 4, q, across, rows, o, columns, x, 0)


@compiled
def centered_times(M, high, low, factor, weight, flip, V, Y, out):
    """out += Y V."""
    n, p = M.shape
    depth = Y.shape[0]
    for i in range(0, n, depth):
        rows = min(depth, n - i)
        for left in range(0, p, PANEL):
            right = min(left + PANEL, p)
            _center(M, i, i + rows, left, right, high, low, factor, weight, flip, Y)
            for c in range(left, right, CHUNK):
                many = min(CHUNK, right - c)
                _add_AB(Y, 0, rows, c - left, many, V, c, out, i, M, i + rows, c)


@compiled
def adjoint(M, begin, end, high, low, factor, weight, flip, U, Y, out):
    """out += Y' U, for columns begin:end of M."""
    n = M.shape[0]
    depth = Y.shape[0]
    for left in range(begin, end, PANEL):
        right = min(left + PANEL, end)
        for i in range(0, n, depth):
            rows = min(depth, n - i)
            _center(M, i, i + rows, left, right, high, low, factor, weight, flip, Y)
            _add_AtB(Y, 0, rows, right - left, U, i, out, left, M, i + rows)


@compiled
def turned_adjoint(M, begin, end, high, low, factor, weight, flip, U, Y, out):
    """out += U' Y, for columns begin:end of M: one row a column of U, four of them at a time.

    Rows of ``out`` go on for a pair of vectors beyond M's columns.
    """
    n = M.shape[0]
    depth, wide = Y.shape
    vector = 64 // Y.itemsize
    for i in range(0, n, depth):
        rows = min(depth, n - i)
        _center(M, i, i + rows, begin, end, high, low, factor, weight, flip, Y)
        step = M.shape[1] if i + depth + rows <= n else 0
        for j in range(0, end - begin, 2 * vector):
            for c in range(0, U.shape[1], 4):
                # the next rows of M are fetched meanwhile, a line of the pair at a time
                ahead = at(M, (i + depth) * step + begin + j + (c // 4 % 2) * vector)
                u, o = at(U, i * U.shape[1] + c), at(out, c * out.shape[1] + begin + j)
                tile_4x2(u, 1, U.shape[1], at(Y, j), wide, rows, o, out.shape[1], ahead, step)


@compiled
def gram(M, high, low, factor, weight, flip, V, Y, Z, out):
    """out += Y' (Y V), each block of rows used twice while it is in cache."""
    n, p = M.shape
    depth = Y.shape[0]
    for i in range(0, n, depth):
        rows = min(depth, n - i)
        _center(M, i, i + rows, 0, p, high, low, factor, weight, flip, Y)
        Z[:] = 0
        for c in range(0, p, CHUNK):
            _add_AB(Y, 0, rows, c, min(CHUNK, p - c), V, c, Z, 0, M, n, 0)
        _add_AtB(Y, 0, rows, p, Z, 0, out, 0, M, i + rows)


@compiled
def _add_cross(Y, rows, end, part, parts, out, M, top, left, height, width):
    """out += Y' Y for the first ``rows`` rows and ``end`` columns, tiles on and above the diagonal.

    ``out`` is packed: panels two vectors wide (the last may be one), each down to its diagonal.
    Of ``parts`` threads that share it, this one does every panel that is its ``part``.
    Meanwhile ``height`` rows of M from ``top`` on are fetched, ``width`` columns from ``left`` on.
    """
    wide, across = Y.shape[1], M.shape[1]
    vector = 64 // Y.itemsize
    down = lead = 0
    for panel in range(part, -(-end // (2 * vector)), parts):
        c = 2 * vector * panel
        y, start = at(Y, c), panel * (panel + 1) // 2 * (2 * vector) ** 2
        two = c + 2 * vector <= wide
        o_row = 2 * vector if two else vector
        for j in range(0, min(c + 2 * vector, end), 8):
            # each tile walks down the next rows of M, one cache line further right
            ahead, step = at(M, 0), 0
            if lead < width and top + down < M.shape[0]:
                ahead, step = at(M, (top + down) * across + left + lead), across
                down += rows
                if down >= height:
                    down, lead = 0, lead + vector
            o = at(out, start + j * o_row)
            if two and j < c + vector:
                tile_8x2(at(Y, j), 1, wide, y, wide, rows, o, o_row, ahead, step)
            elif two:  # below the diagonal on the left: only the right vector is wanted
                y2, o2 = at(Y, c + vector), at(out, start + j * o_row + vector)
                tile_8x1(at(Y, j), 1, wide, y2, wide, rows, o2, o_row, ahead, step)
            else:
                tile_8x1(at(Y, j), 1, wide, y, wide, rows, o, o_row, ahead, step)


@compiled
def cross(M, high, low, factor, weight, flip, probes, Y, part, parts, out):
    """out += Y' Y, packed, of it one part of so many; Y's columns are padded with zeros.

    With ``probes`` g (one a row, as long as Y's) more columns follow the data: the weights, whose
    products are the sums of Y, and each Y g, whose products are Y' (Y g), a check on the others.
    """
    n, p = M.shape
    depth, wide = Y.shape
    vectors = -(-p * Y.itemsize // 64)
    for i in range(0, n, depth):
        rows = min(depth, n - i)
        _center(M, i, i + rows, 0, p, high, low, factor, weight, flip, Y)
        if len(probes):
            for r in range(rows):
                Y[r, p] = weight[0] if weight.size == 1 else weight[i + r]
                for g in range(len(probes)):
                    Y[r, p + 1 + g] = dot(at(Y, r * wide), at(probes, g * wide), vectors)
        _add_cross(Y, rows, wide, part, parts, out, M, i + rows, 0, rows, p)


@compiled
def _turn(Y, rows, columns, P, first):
    """P[t, first + r] = Y[r, t]: eight rows at a time lie side by side."""
    if rows == 8:
        y0, y1, y2, y3, y4, y5, y6, y7 = Y[0], Y[1], Y[2], Y[3], Y[4], Y[5], Y[6], Y[7]
        for t in range(np.uint64(columns)):
            into = P[t, first : first + 8]
            into[0], into[1], into[2], into[3] = y0[t], y1[t], y2[t], y3[t]
            into[4], into[5], into[6], into[7] = y4[t], y5[t], y6[t], y7[t]
    else:
        for r in range(rows):
            for t in range(columns):
                P[t, first + r] = Y[r, t]


@compiled
def outer(M, left, right, high, low, factor, weight, flip, probes, W, Y, P, out):
    """out += Y Y', packed, over columns left:right of M, turned on their side a strip at a time.

    Beside the observations stand more columns: Y' g for each of ``probes`` (one a row, as long as
    P's), whose products are Y (Y' g), and those of ``W`` (one row a column of M), whose products
    are Y W.
    """
    n, (depth, wide) = M.shape[0], P.shape
    vector = 64 // P.itemsize
    side = n + len(probes) + W.shape[1]
    end = -(-side // vector) * vector
    for c in range(left, right, depth):
        columns = min(depth, right - c)
        for i in range(0, n, Y.shape[0]):
            rows = min(Y.shape[0], n - i)
            _center(M, i, i + rows, c, c + columns, high, low, factor, weight, flip, Y)
            _turn(Y, rows, columns, P, i)
        for t in range(columns):
            for g in range(len(probes)):
                P[t, n + g] = dot(at(P, t * wide), at(probes, g * wide), -(-n // vector))
            for w in range(W.shape[1]):
                P[t, n + len(probes) + w] = W[c + t, w]
        following = min(depth, right - c - columns)
        _add_cross(P, columns, end, 0, 1, out, M, 0, c + columns, n, following)

"""Products of a symmetric matrix kept as the tiles on and above its diagonal.

Every tile T = A[I, J] serves twice while it is in cache: out_I += T V_J and out_J += T' V_I. So
half of the numbers are stored and read. Blocks of four vectors are multiplied about as quickly as
memory gives the tiles; V lies in groups of four, by rows and by columns, because T's own rows fill
the processor's vectors both ways:

    T V_J     four rows of T times four columns of V: sixteen sums of lanes
    T' V_I    T's rows, each times four numbers of V: sums side by side, one a lane
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gramian.loops.products import aligned
from gramian.loops.threads import ordered_sum, pause
from gramian.loops.tile import at, compiled, dot, dots_4x4, tile_4x2
from gramian.maps import Array

TILE = 256
WIDE = 4  # vectors multiplied at a time
_half = 128  # side of a tile that is squared on the fly, in float64
_some = 128  # tiles multiplied before anybody else is heard


@compiled
def _add_tiles(tiles, top, left, by_rows, by_columns, straight, turned):
    """Add A V for the given tiles of A: their rows to ``straight``, their columns to ``turned``.

    V and the sums lie as (group, row, 4) by rows and as (group, 4, row) by columns.
    """
    size, groups, long = tiles.shape[1], by_rows.shape[0], by_rows.shape[1]
    vector = 64 // tiles.itemsize
    half = size * size // 2
    for q in range(len(tiles)):
        T, following = tiles[q], tiles[min(q + 1, len(tiles) - 1)]
        for g in range(groups):  # meanwhile the next tile is fetched: one half, then the other
            across, down = at(by_columns[g], left[q]), at(by_rows[g], top[q] * WIDE)
            for i in range(0, size, 4):
                o = at(straight[g], (top[q] + i) * WIDE)
                ahead = at(following, i * size // 2)
                dots_4x4(at(T, i * size), size, across, long, size // vector, o, ahead, size)
            if top[q] != left[q]:
                for j in range(0, size, 2 * vector):
                    o = at(turned[g], left[q] + j)
                    ahead = at(following, half + j * size // 2)
                    tile_4x2(down, 1, WIDE, at(T, j), size, size, o, long, ahead, vector)


@compiled
def keep(A, first, start, rows, columns, distances, shift, w, tiles, sums, line):
    """Keep a block of a symmetric matrix as float32 tiles, less ``shift``; sums += its part of A w.

    The block begins at A[first, start] and stands at ``rows`` and ``columns`` (begin, end) of the
    whole. ``distances``: -1/2 a^2 is kept of every number a. ``line`` is as long as a tile is wide.
    """
    for i in range(rows[1] - rows[0]):
        weight, total = w[rows[0] + i], 0.0
        for q in range(len(tiles)):
            left, begin = columns[0] + q * TILE, start + q * TILE
            width = min(TILE, columns[1] - left)
            a, into = A[first + i, begin : begin + width], tiles[q, i]
            if distances:
                for j in range(width):
                    x = np.float64(a[j])
                    line[j] = -0.5 * x * x
            else:
                for j in range(width):
                    line[j] = a[j]
            line[width:] = 0
            total += dot(at(line, 0), at(w, left), TILE // 8)
            if left != rows[0]:
                below = sums[left : left + width]
                for j in range(width):
                    below[j] += weight * line[j]
            for j in range(width):
                into[j] = line[j] - shift
            into[width:] = 0
        sums[rows[0] + i] += total
    for q in range(len(tiles)):
        tiles[q, rows[1] - rows[0] :] = 0


@compiled
def _add_half_squares(D, top, left, room, by_rows, by_columns, straight, turned):
    """Add K V for the given tiles of K = -1/2 D∘D; ``room`` holds one of them."""
    side = room.shape[1]
    for q in range(len(top)):
        rows, columns = min(side, len(D) - top[q]), min(side, len(D) - left[q])
        if rows < side or columns < side:
            room[:] = 0
        for i in range(rows):
            d, k = D[top[q] + i, left[q] : left[q] + columns], room[0, i]
            for j in range(columns):
                k[j] = -0.5 * d[j] * d[j]
        at_top, at_left = top[q : q + 1], left[q : q + 1]
        _add_tiles(room, at_top, at_left, by_rows, by_columns, straight, turned)


def upper_tiles(n: int, side: int = TILE) -> tuple[Array, Array]:
    """First row and first column of every tile on and above the diagonal, row by row."""
    rows, columns = np.triu_indices(-(-n // side))
    return rows * side, columns * side


def times(tiles: Array, V: Array) -> Array:
    """A V in float64, for A of the order of V given by its tiles (see ``upper_tiles``)."""
    top, left = upper_tiles(len(V))

    def add(some: slice, *blocks: Array) -> None:
        _add_tiles(tiles[some], top[some], left[some], *blocks)

    return _summed(add, len(tiles), V.astype(tiles.dtype, copy=False), TILE)


def half_squares_times(D: Array, V: Array) -> Array:
    """K V for K = -1/2 D∘D, D symmetric: half of D is read, once."""
    D = D.T if D.flags.f_contiguous else D
    top, left = upper_tiles(len(D), _half)

    def add(some: slice, *blocks: Array) -> None:
        room = aligned(_half, _half, D.dtype)[None]
        _add_half_squares(D, top[some], left[some], room, *blocks)

    return _summed(add, len(top), V.astype(D.dtype, copy=False), _half)


def _summed(add: Callable[..., None], count: int, V: Array, side: int) -> Array:
    """What ``add(tiles, by_rows, by_columns, straight, turned)`` adds up to over all tiles."""
    n, m = V.shape
    groups, long = -(-m // WIDE), -(-n // side) * side
    by_columns = aligned(groups * WIDE, long, V.dtype)
    by_columns[:m, :n] = V.T
    by_columns = by_columns.reshape(groups, WIDE, long)
    by_rows = aligned(groups * long, WIDE, V.dtype).reshape(groups, long, WIDE)
    by_rows[:] = by_columns.transpose(0, 2, 1)
    pieces = max(min(8, count // 96), 1)  # each has its own sums, which must be added up
    bounds = [count * g // pieces for g in range(pieces + 1)]

    def piece(g: int, total: Array) -> None:
        straight, turned = total[0].reshape(by_rows.shape), total[1].reshape(by_columns.shape)
        for a in range(bounds[g], bounds[g + 1], _some):
            pause()
            some = slice(a, min(a + _some, bounds[g + 1]))
            add(some, by_rows, by_columns, straight, turned)

    size = groups * WIDE * long
    straight, turned = ordered_sum(piece, pieces, lambda: aligned(2, size, np.float64))
    out = turned.reshape(groups * WIDE, long)[:m, :n].T.copy()
    for g in range(groups):
        part = out[:, g * WIDE : (g + 1) * WIDE]
        part += straight.reshape(by_rows.shape)[g, :n, : part.shape[1]]
    return np.asarray(out)

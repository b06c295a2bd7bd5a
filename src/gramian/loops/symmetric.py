"""Products of a symmetric matrix kept as the tiles on and above its diagonal.

Every tile T = A[I, J] serves twice while it is in cache: out_I += T V_J and out_J += T' V_I. So
half of the numbers are stored and read, which matters where a product is bound by memory: for
blocks of eight vectors, one narrow vector of the processor a row.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gramian.loops.threads import ordered_sum, pause
from gramian.loops.tile import at, compiled, dot, tile_16x8
from gramian.maps import Array

TILE = 256
LANES = 8
_half = 128  # side of a tile that is squared on the fly, in float64
_some = 128  # tiles multiplied before anybody else is heard


@compiled
def _add_tiles(tiles, top, left, V, out):
    """out += A V for the given tiles of A; V and out lie as (group, row, 8)."""
    size, groups = tiles.shape[1], V.shape[0]
    step = 64 // tiles.itemsize
    for q in range(len(tiles)):
        T, following = tiles[q], tiles[min(q + 1, len(tiles) - 1)]
        for g in range(groups):
            across, down = at(V[g], left[q] * LANES), at(V[g], top[q] * LANES)
            for i in range(0, size, 16):  # meanwhile the next tile is fetched
                o = at(out[g], (top[q] + i) * LANES)
                ahead = at(following, i * size)
                tile_16x8(at(T, i * size), size, 1, across, LANES, size, o, LANES, ahead, step)
            if top[q] != left[q]:
                for j in range(0, size, 16):
                    o = at(out[g], (left[q] + j) * LANES)
                    tile_16x8(at(T, j), 1, size, down, LANES, size, o, LANES, down, 0)


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
def _add_half_squares(D, top, left, room, V, out):
    """out += K V for the given tiles of K = -1/2 D∘D; ``room`` holds one of them."""
    side = room.shape[1]
    for q in range(len(top)):
        rows, columns = min(side, len(D) - top[q]), min(side, len(D) - left[q])
        if rows < side or columns < side:
            room[:] = 0
        for i in range(rows):
            d, k = D[top[q] + i, left[q] : left[q] + columns], room[0, i]
            for j in range(columns):
                k[j] = -0.5 * d[j] * d[j]
        _add_tiles(room, top[q : q + 1], left[q : q + 1], V, out)


def upper_tiles(n: int, side: int = TILE) -> tuple[Array, Array]:
    """First row and first column of every tile on and above the diagonal, row by row."""
    rows, columns = np.triu_indices(-(-n // side))
    return rows * side, columns * side


def times(tiles: Array, V: Array) -> Array:
    """A V in float64, for A of the order of V given by its tiles (see ``upper_tiles``)."""
    top, left = upper_tiles(len(V))

    def add(some: slice, block: Array, total: Array) -> None:
        _add_tiles(tiles[some], top[some], left[some], block, total)

    return _summed(add, len(tiles), V.astype(tiles.dtype, copy=False), TILE)


def half_squares_times(D: Array, V: Array) -> Array:
    """K V for K = -1/2 D∘D, D symmetric: half of D is read, once."""
    D = D.T if D.flags.f_contiguous else D
    top, left = upper_tiles(len(D), _half)

    def add(some: slice, block: Array, total: Array) -> None:
        room = np.empty((1, _half, _half), D.dtype)
        _add_half_squares(D, top[some], left[some], room, block, total)

    return _summed(add, len(top), V.astype(D.dtype, copy=False), _half)


def _summed(add: Callable[[slice, Array, Array], None], count: int, V: Array, side: int) -> Array:
    """What ``add(tiles, block, total)`` adds up to over all tiles; a block is V in groups of 8."""
    n, m = V.shape
    groups, long = -(-m // LANES), -(-n // side) * side
    block = np.zeros((groups, long, LANES), V.dtype)
    for g in range(groups):
        part = V[:, g * LANES : (g + 1) * LANES]
        block[g, :n, : part.shape[1]] = part
    pieces = min(8, count)
    bounds = [count * g // pieces for g in range(pieces + 1)]

    def piece(g: int, total: Array) -> None:
        for a in range(bounds[g], bounds[g + 1], _some):
            pause()
            add(slice(a, min(a + _some, bounds[g + 1])), block, total)

    total = ordered_sum(piece, pieces, lambda: np.zeros(block.shape))
    return np.asarray(total.transpose(1, 0, 2).reshape(long, -1)[:n, :m])

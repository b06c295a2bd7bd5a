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
from functools import lru_cache

import numpy as np

from gramian.loops.products import aligned
from gramian.loops.threads import ordered_sum, pause
from gramian.loops.tile import at, compiled, dots_4x4, tile_4x2
from gramian.maps import Array

TILE = 256
WIDE = 4  # vectors multiplied at a time
_half = 128  # side of a tile that is squared on the fly, in float64
_some = 128  # tiles multiplied before anybody else is heard
_few, _many = (
    64,
    768,
)  # tiles up to which one thread is as quick, and from which on there are 8 pieces
_sooner = 0.52  # share of the first of two pieces: its thread need not be woken
_none = np.empty(0)


@compiled
def _add_tiles(tiles, n, top, left, by_rows, by_columns, straight, turned):
    """Add A V for the given tiles of A: their rows to ``straight``, their columns to ``turned``.

    V and the sums lie as (group, row, 4) by rows and as (group, 4, row) by columns. Of the last
    tiles only what lies in the ``n`` rows and columns of A is multiplied.
    """
    size, groups, long = tiles.shape[1], by_rows.shape[0], by_rows.shape[1]
    vector = 64 // tiles.itemsize
    half = size * size // 2
    for q in range(len(tiles)):
        T, following = tiles[q], tiles[min(q + 1, len(tiles) - 1)]
        rows, columns = min(size, n - top[q]), min(size, n - left[q])
        vectors = -(-columns // vector)
        for g in range(groups):  # meanwhile the next tile is fetched: one half, then the other
            across, down = at(by_columns[g], left[q]), at(by_rows[g], top[q] * WIDE)
            for i in range(0, rows, 4):
                o = at(straight[g], (top[q] + i) * WIDE)
                ahead = at(following, i * size // 2)
                dots_4x4(at(T, i * size), size, across, long, vectors, o, ahead, size)
            if top[q] != left[q]:
                for j in range(0, columns, 2 * vector):
                    o = at(turned[g], left[q] + j)
                    ahead = at(following, half + j * size // 2)
                    tile_4x2(down, 1, WIDE, at(T, j), size, rows, o, long, ahead, vector)


@compiled
def _lay(V, shares, root, by_rows, by_columns):
    """V in groups of four, by rows and by columns; weighted and centered, if there are weights.

    That is r V - a (1' r V), where a or r may be empty.
    """
    for g in range(len(by_rows)):
        into, (c0, c1, c2, c3) = by_rows[g], by_columns[g]
        t0 = t1 = t2 = t3 = 0.0
        for i in range(len(V)):
            r = root[i] if len(root) else 1.0
            for c in range(WIDE):
                into[i, c] = V[i, WIDE * g + c] * r
            t0, t1, t2, t3 = t0 + into[i, 0], t1 + into[i, 1], t2 + into[i, 2], t3 + into[i, 3]
        for i in range(len(V)):
            a = shares[i] if len(shares) else 0.0
            into[i, 0] -= a * t0
            into[i, 1] -= a * t1
            into[i, 2] -= a * t2
            into[i, 3] -= a * t3
            c0[i], c1[i], c2[i], c3[i] = into[i, 0], into[i, 1], into[i, 2], into[i, 3]


@compiled
def _gather(straight, turned, shares, root, out):
    """Both halves of a product, centered and weighted once more: r (X - 1 (a' X))."""
    for g in range(len(straight)):
        X, (c0, c1, c2, c3) = straight[g], turned[g]
        t0 = t1 = t2 = t3 = 0.0
        for i in range(len(out)):
            X[i, 0] += c0[i]
            X[i, 1] += c1[i]
            X[i, 2] += c2[i]
            X[i, 3] += c3[i]
            a = shares[i] if len(shares) else 0.0
            t0, t1 = t0 + a * X[i, 0], t1 + a * X[i, 1]
            t2, t3 = t2 + a * X[i, 2], t3 + a * X[i, 3]
        for i in range(len(out)):
            r, o = root[i] if len(root) else 1.0, out[i, WIDE * g : WIDE * g + WIDE]
            o[0], o[1] = (X[i, 0] - t0) * r, (X[i, 1] - t1) * r
            o[2], o[3] = (X[i, 2] - t2) * r, (X[i, 3] - t3) * r


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
        _add_tiles(room, len(D), at_top, at_left, by_rows, by_columns, straight, turned)


@lru_cache(maxsize=8)
def upper_tiles(n: int, side: int = TILE) -> tuple[Array, Array]:
    """First row and first column of every tile on and above the diagonal, row by row."""
    rows, columns = np.triu_indices(-(-n // side))
    return rows * side, columns * side


def times(tiles: Array, V: Array, shares: Array | None = None, root: Array | None = None) -> Array:
    """A V in float64, for A of the order of V given by its tiles (see ``upper_tiles``).

    With the shares a of the points, and the square roots r of their weights if they have any, V and
    the product are centered on the way: r H A H' r V, H = I - 1 a'.
    """
    top, left = upper_tiles(len(V))

    def add(some: slice, *blocks: Array) -> None:
        _add_tiles(tiles[some], len(V), top[some], left[some], *blocks)

    return _summed(add, len(tiles), V.astype(tiles.dtype, copy=False), TILE, shares, root)


def half_squares_times(D: Array, V: Array) -> Array:
    """K V for K = -1/2 D∘D, D symmetric: half of D is read, once."""
    D = D.T if D.flags.f_contiguous else D
    top, left = upper_tiles(len(D), _half)

    def add(some: slice, *blocks: Array) -> None:
        room = aligned(_half, _half, D.dtype)[None]
        _add_half_squares(D, top[some], left[some], room, *blocks)

    return _summed(add, len(top), V.astype(D.dtype, copy=False), _half)


def _summed(
    add: Callable[..., None],
    count: int,
    V: Array,
    side: int,
    shares: Array | None = None,
    root: Array | None = None,
) -> Array:
    """What ``add(tiles, by_rows, by_columns, straight, turned)`` adds up to over all tiles."""
    n, m = V.shape
    groups, long = -(-m // WIDE), -(-n // side) * side
    by_columns = aligned(groups * WIDE, long, V.dtype).reshape(groups, WIDE, long)
    by_rows = aligned(groups * long, WIDE, V.dtype).reshape(groups, long, WIDE)
    room = np.zeros((n, groups * WIDE), V.dtype)
    room[:, :m] = V
    a, r = (_none if each is None else each for each in (shares, root))
    _lay(room, a, r, by_rows, by_columns)
    cells = count * side * side * groups
    pieces = 1 if cells < _few else 2 if count < _many else 8  # each has its own sums
    bounds = [count * g // pieces for g in range(pieces + 1)]
    if pieces == 2:
        bounds[1] = round(count * _sooner)

    def piece(g: int, total: Array) -> None:
        straight, turned = total[0].reshape(by_rows.shape), total[1].reshape(by_columns.shape)
        for a in range(bounds[g], bounds[g + 1], _some):
            pause()
            some = slice(a, min(a + _some, bounds[g + 1]))
            add(some, by_rows, by_columns, straight, turned)

    size = groups * WIDE * long
    straight, turned = ordered_sum(piece, pieces, lambda: aligned(2, size, np.float64))
    out = np.empty((n, groups * WIDE))
    _gather(straight.reshape(by_rows.shape), turned.reshape(by_columns.shape), a, r, out)
    return out[:, :m]

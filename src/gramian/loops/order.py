"""All pairs of points in the order of their dissimilarities: four bytes a pair.

    pair    i * 65536 + j with i < j, in 32 bits
    sort    the bits of D_ij in float32, which rise with D_ij, and behind them the pair: one sort of
            64-bit numbers; pairs that float32 cannot tell apart are then put in order by D itself
    ties    pairs of equal D_ij are marked; Kruskal's primary rule orders them by distance at every
            picture, which hardly changes, so they stay in the last order and move by insertion

Only pairs whose D_ij is known, and whose weight is not 0, are there.
"""

from __future__ import annotations

import numpy as np

from gramian.loops.threads import pause
from gramian.loops.tile import compiled
from gramian.maps import Array

MOST = 1 << 16  # points
_cells = 4_000_000


@compiled
def ends_of(pair):
    """The two points of a pair."""
    both = np.uint64(pair)
    return (both >> np.uint64(16)) & np.uint64(0xFFFF), both & np.uint64(0xFFFF)


@compiled
def _keys(D, W, weighted, first, last, count, out):
    """Keys of the pairs of rows ``first:last`` into ``out`` from ``count`` on; where they end."""
    n = len(D)
    for i in range(first, last):
        for j in range(i + 1, n):
            given = D[i, j]
            if given == given and not (weighted and not W[i, j] > 0):
                bits = np.uint64(np.float32(given).view(np.uint32))
                out[count] = (bits << np.uint64(32)) | np.uint64(i << 16 | j)
                count += 1
    return count


@compiled
def _resolve(keys, D, same):
    """Order pairs of equal bits by D, mark those equal to the one before; how many are."""
    m, found, a = len(keys), 0, 0
    while a < m:
        b = a + 1
        while b < m and keys[b] >> np.uint64(32) == keys[a] >> np.uint64(32):
            b += 1
        if b - a > 1:
            given = np.empty(b - a)
            rising = True
            for t in range(b - a):
                i, j = ends_of(keys[a + t])
                given[t] = D[i, j]
                rising = rising and (t == 0 or given[t] >= given[t - 1])
            if not rising:
                order = np.argsort(given, kind="mergesort")
                keys[a:b] = keys[a:b][order]
                given = given[order]
            for t in range(1, b - a):
                if given[t] == given[t - 1]:
                    same[a + t] = 1
                    found += 1
        a = b
    return found


@compiled
def sort_ties(d, order, weights, weighted, same):
    """Sort each run of ties by the distances ``d``, ascending; pairs and weights go with them.

    After 12 moves a pair a run is sorted anew.
    """
    m, a = len(d), 0
    while a < m:
        b = a + 1
        while b < m and same[b]:
            b += 1
        moves, t = 0, a + 1
        while t < b and moves <= 12 * (b - a):
            value, pair = d[t], order[t]
            weight = weights[t] if weighted else 1.0
            s = t
            while s > a and d[s - 1] > value:
                d[s], order[s] = d[s - 1], order[s - 1]
                if weighted:
                    weights[s] = weights[s - 1]
                s -= 1
            d[s], order[s] = value, pair
            if weighted:
                weights[s] = weight
            moves += t - s
            t += 1
        if t < b:
            way = np.argsort(d[a:b], kind="mergesort")
            d[a:b] = d[a:b][way]
            order[a:b] = order[a:b][way]
            if weighted:
                weights[a:b] = weights[a:b][way]
        a = b


def sorted_pairs(D: Array, W: Array | None = None) -> tuple[Array, Array]:
    """Pairs i < j, ascending by dissimilarity, and which of them equal the one before.

    Parameters
    ----------
    D : array of shape (n, n)
        At least 0, NaN where not known; up to 65,536 points.
    W : array of shape (n, n), optional
        Weights; pairs of weight 0 are left out.

    Returns
    -------
    (array of uint32 of shape (m,), array of uint8 of shape (m,) or (0,))
        The second is empty if all dissimilarities are different.
    """
    n, count = len(D), 0
    keys = np.empty(n * (n - 1) // 2, np.uint64)
    weights = np.empty((0, 0), D.dtype) if W is None else W
    step = max(1, _cells // n)
    for a in range(0, n, step):
        pause()
        count = _keys(D, weights, W is not None, a, min(a + step, n), count, keys)
    keys = keys[:count]
    keys.sort()
    same = np.zeros(count, np.uint8)
    tied = _resolve(keys, D, same)
    return keys.astype(np.uint32), same if tied else same[:0].copy()

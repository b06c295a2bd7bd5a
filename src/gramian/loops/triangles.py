"""Detours: how far D_ij exceeds the shortest way over a third point, for every pair.

    excess_i = max over j of  D_ij - min over k of (D_ik + D_kj)

For each row i a line of running minima over j is kept, and k runs outside: so the inner loop goes
along row k of D and fills the vector unit. k = i gives D_ij itself, so an excess is never negative.
"""

from __future__ import annotations

import numpy as np

from gramian.loops.threads import run
from gramian.loops.tile import compiled
from gramian.maps import Array

_rows = 16  # rows of D whose detours are found together: each row k is loaded once for all
_width = 1024  # columns at a time: what is loaded stays in the first-level cache


@compiled
def detours(D, first, last, over, width, slack, shortest, excess, partner, broken):
    """Rows ``first:last`` of D (n x n, symmetric), by way of the points ``over``.

    ``width`` columns at a time; ``shortest`` (last - first, n) is there to work in. ``excess``,
    ``partner`` and ``broken`` (n) receive, for each row i, the largest excess over j > i, that j,
    and how many j > i exceed ``slack``.
    """
    n = D.shape[0]
    rows = last - first
    for begin in range(first, n, width):
        end = min(begin + width, n)
        for r in range(rows):
            shortest[r, begin:end] = D[first + r, begin:end]
        for m in range(over.shape[0]):
            k = over[m]
            beyond = D[k, begin:end]
            for r in range(rows):
                step = D[first + r, k]
                line = shortest[r, begin:end]
                for j in range(end - begin):  # slices from 0: the compiler makes vectors of them
                    way = step + beyond[j]
                    line[j] = way if way < line[j] else line[j]
    for r in range(rows):
        i = first + r
        for j in range(i + 1, n):
            gap = D[i, j] - shortest[r, j]
            if gap > slack:
                broken[i] += 1
            if gap > excess[i]:
                excess[i] = gap
                partner[i] = j


def all_detours(D: Array, over: Array, slack: float) -> tuple[Array, Array, Array]:
    """Excess, partner and number of broken pairs of every row, on the threads."""
    n = len(D)
    excess, partner = np.zeros(n), np.full(n, -1)
    broken = np.zeros(n, np.int64)

    def piece(i: int) -> None:
        first, last = i * _rows, min((i + 1) * _rows, n)
        shortest = np.empty((_rows, n))
        detours(D, first, last, over, _width, slack, shortest, excess, partner, broken)

    run(piece, -(-n // _rows), "triangles")
    return excess, partner, broken

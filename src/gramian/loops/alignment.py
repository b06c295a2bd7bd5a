"""The sparse sum of small matrices, each on its own few points.

M = sum over i of S_i' C_i S_i, where S_i picks the points of neighborhood i. Row r of M gathers row
a of every C_i whose a-th point is r, in the order of i: the bits do not depend on the threads.
``holders`` lists those places i * m + a for each r, ``starts`` where each list begins.
"""

from __future__ import annotations

import numpy as np

from gramian.loops.tile import compiled


@compiled
def count_entries(points, starts, holders, first, last, counts):
    """How many entries rows ``first`` to ``last`` of M have, into ``counts``."""
    n, m = len(starts) - 1, points.shape[1]
    seen = np.full(n, -1)
    for r in range(first, last):
        entries = 0
        for e in range(starts[r], starts[r + 1]):
            i = holders[e] // m
            for b in range(m):
                c = points[i, b]
                if seen[c] != r:
                    seen[c] = r
                    entries += 1
        counts[r] = entries


@compiled
def fill_entries(points, parts, starts, holders, first, last, row_starts, columns, values):
    """Columns (in no order) and values of rows ``first`` to ``last`` of M."""
    n, m = len(starts) - 1, points.shape[1]
    place = np.full(n, -1)
    sums = np.zeros(n)
    for r in range(first, last):
        begin = end = row_starts[r]
        for e in range(starts[r], starts[r + 1]):
            i, a = holders[e] // m, holders[e] % m
            for b in range(m):
                c = points[i, b]
                if place[c] != r:
                    place[c] = r
                    sums[c] = 0.0
                    columns[end] = c
                    end += 1
                sums[c] += parts[i, a, b]
        for e in range(begin, end):
            values[e] = sums[columns[e]]

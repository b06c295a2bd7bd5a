"""Two orders of the same points compared: how far a neighbor of one is a neighbor in the other.

    r, s        ranks of a point by D and by E, from 0; equal distances in one are ordered by the
                other, so that a tie costs nothing and what is counted depends on no order of rows;
                equal means within ``slack`` of each other, or within the rounding of d^2 by
                |x|^2 + |y|^2 - 2 x.y, which is that of the largest distance of the row
    shared[m]   how many points have max(r, s) = m
    differences of two running sums, each of ranks counted from 1:
    entering    at K: ranks by D of those among the K nearest by E and not by D
    leaving     at K: ranks by E of those among the K nearest by D and not by E

Together three numbers for each K, whatever the number of points: the matrix of all pairs of ranks
is never made.
"""

from __future__ import annotations

import numpy as np

from gramian.loops.tile import compiled

_rounding = 64 * 2.0**-52


@compiled
def settle(values, slack, order, other, other_order, rank):
    """Order runs of equal ``values`` by ``other`` ranks; then ``rank`` is the inverse of order."""
    n = order.shape[0]
    least = _rounding * values[order[n - 2]] ** 2  # the last is the point itself
    begin = 0
    while begin < n:
        first = values[order[begin]]
        end = begin + 1
        while end < n:
            value = values[order[end]]
            if value - first > slack * first and (value - first) * (value + first) > least:
                break
            end += 1
        if end - begin > 1:
            run = np.empty(end - begin, np.int64)
            for t in range(begin, end):
                run[t - begin] = other[order[t]]
            run.sort()
            for t in range(begin, end):
                order[t] = other_order[run[t - begin]]
        for t in range(begin, end):
            rank[order[t]] = t
        begin = end


@compiled
def compare_orders(D, E, slack, by_D, by_E, shared, entering, leaving):
    """Add the counts of a block of rows.

    ``by_D`` and ``by_E`` (rows, n) sort the rows of D and E; ties in them are changed. ``slack``
    is a pair, of D and of E. A point's distance to itself is infinite in both, so that it comes
    last and adds to no K < n. The counts are int64 of length n.
    """
    rows, n = D.shape
    r, s = np.empty(n, np.int64), np.empty(n, np.int64)
    for i in range(rows):
        for t in range(n):
            r[by_D[i, t]] = t
        settle(E[i], slack[1], by_E[i], r, by_D[i], s)
        settle(D[i], slack[0], by_D[i], s, by_E[i], r)
        for j in range(n):
            a, b = r[j], s[j]
            if a > b:
                entering[b] += a + 1
                entering[a] -= a + 1
            elif b > a:
                leaving[a] += b + 1
                leaving[b] -= b + 1
            shared[max(a, b)] += 1

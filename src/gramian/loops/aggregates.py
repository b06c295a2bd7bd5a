"""Points of a graph put into small groups of strong neighbors, and smoothing by its Laplacian.

A link is strong if it is at least some share of the strongest one at either of its ends. A point
all of whose strong neighbors are free makes a group with them; who is left joins the group of its
strongest neighbor, and those without any make groups of their own. The order of the points decides.

P. Vanek, J. Mandel and M. Brezina, Computing 56 (1996).
"""

from __future__ import annotations

import numpy as np

from gramian.loops.gather import gathered
from gramian.loops.tile import at, compiled


@compiled
def aggregate(starts, columns, values, share, labels):
    """The group of each point, into ``labels``; how many groups there are.

    Parameters
    ----------
    starts, columns, values : array
        A Laplacian in rows (CSR); a link is an entry below 0 off the diagonal.
    share : float
        Of the strongest link, from which one is strong.
    """
    n = len(labels)
    least = np.empty(n)  # to be strong, seen from this end
    for i in range(n):
        peak = 0.0
        for e in range(starts[i], starts[i + 1]):
            if columns[e] != i:
                peak = max(peak, -values[e])
        least[i] = share * peak if peak > 0 else np.inf
        labels[i] = -1
    groups = 0
    for i in range(n):
        free = labels[i] < 0
        for e in range(starts[i], starts[i + 1]):
            j = columns[e]
            if free and j != i and -values[e] >= min(least[i], least[j]):
                free = labels[j] < 0
        if free:
            labels[i] = groups
            for e in range(starts[i], starts[i + 1]):
                j = columns[e]
                if j != i and -values[e] >= min(least[i], least[j]):
                    labels[j] = groups
            groups += 1
    found = labels.copy()
    for i in range(n):
        best = 0.0
        for e in range(starts[i], starts[i + 1]):
            j = columns[e]
            if found[i] < 0 and j != i and found[j] >= 0 and -values[e] > best:
                best, labels[i] = -values[e], found[j]
    for i in range(n):
        if labels[i] < 0:
            labels[i] = groups
            for e in range(starts[i], starts[i + 1]):
                if labels[columns[e]] < 0:
                    labels[columns[e]] = groups
            groups += 1
    return groups


@compiled
def times(starts, columns, values, first, last, V, out):
    """out = A V in rows first:last of A, for four columns."""
    for i in range(first, last):
        e = np.intp(starts[i])
        stored = np.intp(starts[i + 1]) - e
        gathered(at(values, e), at(columns, e), stored, at(V, 0), at(out, 4 * i), (0, 0, 0, 0))


@compiled
def residual(starts, columns, values, first, last, V, shift, out):
    """out = A V - V diag(shift), the same way."""
    times(starts, columns, values, first, last, V, out)
    for i in range(first, last):
        for c in range(4):
            out[i, c] -= shift[c] * V[i, c]


@compiled
def relaxed(starts, columns, values, first, last, step, left, keep, give, new, total):
    """left -= A step;  new = keep step + give left;  total += new;  the same way."""
    row = np.empty((1, 4))
    for i in range(first, last):
        e = np.intp(starts[i])
        stored = np.intp(starts[i + 1]) - e
        gathered(at(values, e), at(columns, e), stored, at(step, 0), at(row, 0), (0, 0, 0, 0))
        for c in range(4):
            left[i, c] -= row[0, c]
            new[i, c] = keep * step[i, c] + give * left[i, c]
            total[i, c] += new[i, c]

"""Pairs of equal dissimilarity in the order of their distances: Kruskal's primary rule for ties.

From one picture to the next that order hardly changes, so pairs are kept in the last one and moved
by insertion; a run in which that takes long is sorted anew.
"""

from __future__ import annotations

import numpy as np

from gramian.loops.threads import pause, run
from gramian.loops.tile import compiled
from gramian.maps import Array

_piece = 1 << 16
_patience = 12  # moves a pair, before a run is sorted anew


@compiled
def _sort(d, heads, tails, weights, weighted, starts, patience):
    """Sort each run from one start to the next by d, ascending."""
    for g in range(len(starts) - 1):
        a, b = starts[g], starts[g + 1]
        moves, t = 0, a + 1
        while t < b and moves <= patience * (b - a):
            value, head, tail = d[t], heads[t], tails[t]
            weight = weights[t] if weighted else 1.0
            s = t
            while s > a and d[s - 1] > value:
                d[s], heads[s], tails[s] = d[s - 1], heads[s - 1], tails[s - 1]
                if weighted:
                    weights[s] = weights[s - 1]
                s -= 1
            d[s], heads[s], tails[s] = value, head, tail
            if weighted:
                weights[s] = weight
            moves += t - s
            t += 1
        if t < b:
            order = np.argsort(d[a:b])
            d[a:b] = d[a:b][order]
            heads[a:b] = heads[a:b][order]
            tails[a:b] = tails[a:b][order]
            if weighted:
                weights[a:b] = weights[a:b][order]


def sort_ties(d: Array, heads: Array, tails: Array, weights: Array | None, starts: Array) -> None:
    """Put the pairs of each run in the order of their distances ``d``; all arrays are changed.

    Parameters
    ----------
    d, heads, tails : array of shape (m,)
    weights : array of shape (m,) or None
    starts : array of int
        Where runs of ties begin, and m.
    """
    m, weighted = len(d), weights is not None
    w = np.empty(0) if weights is None else weights
    cuts = np.unique(np.searchsorted(starts, np.r_[np.arange(0, m, _piece), m]))

    def piece(i: int) -> None:
        pause()
        some = starts[cuts[i] : cuts[i + 1] + 1]
        _sort(d, heads, tails, w, weighted, some, _patience)

    run(piece, len(cuts) - 1)

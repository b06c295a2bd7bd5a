"""Shortest paths from many sources at once, over a graph whose edges have lengths of at least 0.

The distances of one node from all sources of a group lie side by side, so that an edge is tried for
the whole group by a few vector instructions:

    d_w = min(d_w, d_v + length)          and w is looked at again if any of its distances fell

Nodes are looked at about in the order of their distance from the group, a window of them until
nothing changes in it, then the next; and all over again until nothing changes at all. What is then
there is, to the bit, what Dijkstra's algorithm finds: the least sum over all paths, each summed
from its source on, whatever the order of work.

E. W. Dijkstra, Numer. Math. 1 (1959); corrected labels: R. Bellman, Quart. Appl. Math. 16 (1958).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from gramian.loops.tile import at, compiled

LANES = 16  # sources of a group
_page = 64  # bytes of a cache line, and of a vector


@intrinsic
def _shorten(typing: Any, here: Any, there: Any, length: Any) -> Any:
    """there = min(there, here + length) in all lanes; 1 if any fell, else 0.

    There is no branch: which edges shorten a path cannot be foreseen, and a store costs less than
    a wrong guess.
    """
    signature = types.uint8(here, there, length)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        here, there, length = arguments
        vector, short = ir.VectorType(ir.DoubleType(), LANES), ir.IntType(32)

        def lanes(pointer: Any) -> tuple[Any, Any]:
            pointer = builder.bitcast(pointer, vector.as_pointer())
            value = builder.load(pointer)
            value.align = _page
            return pointer, value

        _, near = lanes(here)
        place, before = lanes(there)
        undefined = ir.Constant(vector, ir.Undefined)
        zeros = ir.Constant(ir.VectorType(short, LANES), [0] * LANES)
        first = builder.insert_element(undefined, length, ir.Constant(short, 0))
        way = builder.fadd(near, builder.shuffle_vector(first, undefined, zeros))
        less = builder.fcmp_ordered("<", way, before)
        builder.store(builder.select(less, way, before), place).align = _page
        word = builder.bitcast(less, ir.IntType(LANES))
        fell = builder.icmp_unsigned("!=", word, ir.Constant(ir.IntType(LANES), 0))
        return builder.zext(fell, ir.IntType(8))

    return signature, build


@compiled
def correct(starts, ends, lengths, order, window, waiting, D):
    """Lower the distances D (n, LANES) until every edge agrees; how many nodes were looked at.

    ``order`` lists the nodes, ``waiting`` marks those to look at.
    """
    n = len(order)
    looks, before = 0, -1
    while looks > before:
        before = looks
        for first in range(0, n, window):
            last = min(first + window, n)
            some = -1
            while looks > some:
                some = looks
                for r in range(first, last):
                    v = order[r]
                    if waiting[v]:
                        waiting[v] = 0
                        looks += 1
                        here = at(D, v * LANES)
                        for e in range(starts[v], starts[v + 1]):
                            w = ends[e]
                            waiting[w] |= _shorten(here, at(D, w * LANES), lengths[e])
    return looks


@compiled
def by_distance(near, order, counts):
    """Numbers of the nodes into ``order``, nearest first but for equal shares of the range."""
    n, most = len(near), 0.0
    for v in range(n):
        if near[v] < np.inf and near[v] > most:
            most = near[v]
    shares = len(counts) - 2
    scale = shares / most if most > 0 else 0.0
    counts[:] = 0
    for v in range(n):
        share = int(near[v] * scale) if near[v] < np.inf else shares
        counts[share + 1] += 1
    for s in range(shares + 1):
        counts[s + 1] += counts[s]
    for v in range(n):
        share = int(near[v] * scale) if near[v] < np.inf else shares
        order[counts[share]] = v
        counts[share] += 1


@compiled
def begin(first, entries, distances, waiting, D):
    """The paths' first steps: lane l starts at the nodes ``entries[first[l] : first[l + 1]]``."""
    D[:] = np.inf
    for lane in range(LANES):
        for e in range(first[lane], first[lane + 1]):
            D[entries[e], lane] = min(D[entries[e], lane], distances[e])
            waiting[entries[e]] = 1


@compiled
def hand_over(D, place, out, rows):
    """Column l of D, node ``place[j]`` at j, into row ``rows[l]`` of ``out``."""
    n = len(place)
    for begin in range(0, n, 8):  # eight numbers fill a cache line of a row
        end = min(begin + 8, n)
        for lane in range(len(rows)):
            line = out[rows[lane]]
            for j in range(begin, end):
                line[j] = D[place[j], lane]

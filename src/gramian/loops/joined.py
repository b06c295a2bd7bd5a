"""Two sparse matrices as one: an entry wherever either has one, the smaller where both do.

A graph of neighbors and the same turned around make a symmetric graph: an edge wherever either end
names the other. Columns of a row are ascending, and entries of 0 stay entries.
"""

from __future__ import annotations

from gramian.loops.tile import compiled


@compiled
def count_either(starts, columns, other_starts, other_columns, counts):
    """How many entries each row has, into ``counts``."""
    for i in range(len(counts)):
        a, b, many = starts[i], other_starts[i], 0
        while a < starts[i + 1] and b < other_starts[i + 1]:
            left, right = columns[a], other_columns[b]
            a += left <= right
            b += right <= left
            many += 1
        counts[i] = many + starts[i + 1] - a + other_starts[i + 1] - b


@compiled
def fill_either(starts, columns, values, other_starts, other_columns, others, out_columns, out):
    """The entries, row by row."""
    at = 0
    for i in range(len(starts) - 1):
        a, b = starts[i], other_starts[i]
        while a < starts[i + 1] or b < other_starts[i + 1]:
            mine = a < starts[i + 1] and (
                b == other_starts[i + 1] or columns[a] <= other_columns[b]
            )
            theirs = b < other_starts[i + 1] and (
                a == starts[i + 1] or other_columns[b] <= columns[a]
            )
            out_columns[at] = columns[a] if mine else other_columns[b]
            out[at] = values[a] if mine else others[b]
            if mine and theirs and others[b] < values[a]:
                out[at] = others[b]
            a += mine
            b += theirs
            at += 1

"""Links of a graph in the order in which scores flow along them fastest.

    flow of a step     y[j] = sum over links i -> j of z[i] (times the link's weight)

Links are sorted into blocks of targets, each so small that its part of y stays in the second-level
cache, and within a block by source, so that z is read in order. A block belongs to one piece of
work: sums are in the order of the sources whatever the threads, and nothing is added up twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.loops.sparse import cut
from gramian.loops.threads import run
from gramian.loops.tile import compiled
from gramian.maps import Array

_grain = 256  # nodes; blocks begin at multiples of it
_widest = 65_536  # nodes of a block: targets are counted in 16 bits, sums take half a megabyte
_blocks = 16  # at least, where there are many links


@dataclass(frozen=True)
class Links:
    """Blocks of links: ``sources[a:b]`` lead to nodes ``begin + targets[a:b]``."""

    nodes: Array  # where each block of targets begins, and n
    places: Array  # where its links begin, and how many there are
    sources: Array
    targets: Array
    weights: Array

    @staticmethod
    def of(A: Any, weights: Array | None = None) -> Links:
        """From a CSR matrix with links in rows; all of weight 1 if there are no ``weights``."""
        n, stored = A.shape[0], int(A.indptr[-1])
        pieces = cut(A, 16, 8)
        grains = np.zeros((len(pieces), -(-n // _grain)), np.int64)
        run(lambda i: _count(A.indptr, A.indices, *pieces[i], grains[i]), len(pieces))
        block_of, nodes = _blocks_of(grains.sum(axis=0), n)
        counts = np.zeros((len(pieces), len(nodes) - 1), np.int64)
        for j in range(len(nodes) - 1):
            inside = slice(nodes[j] // _grain, -(-nodes[j + 1] // _grain))
            counts[:, j] = grains[:, inside].sum(axis=1)
        ends = np.cumsum(counts.T.ravel()).reshape(counts.T.shape).T
        first = ends - counts  # of each piece's links in each block
        index = np.int32 if n < 2**31 else np.int64
        sources, targets = np.empty(stored, index), np.empty(stored, np.uint16)
        values = np.empty(0 if weights is None else stored)
        given = np.empty(0) if weights is None else weights

        def fill(i: int) -> None:
            begins = nodes[:-1].copy()
            _fill(
                *(A.indptr, A.indices, given, *pieces[i], block_of, begins, first[i].copy()),
                *(sources, targets, values),
            )

        run(fill, len(pieces))
        places = np.concatenate([[0], np.cumsum(counts.sum(axis=0))])
        return Links(nodes, places, sources, targets, values)

    def step(
        self, z: Array, fixed: tuple[Array, Array, float, float], x: Array, share: Array
    ) -> tuple[Array, Array, float, float]:
        """y = flow of z + a v + b w for ``fixed = (v, w, a, b)``; what comes of it for the next.

        Returns
        -------
        y, y * share, sum of |y - x|, sum of y where share is 0
        """
        v, w, a, b = fixed
        y, following = np.empty_like(x), np.empty_like(x)
        sums = np.zeros((len(self.nodes) - 1, 2))

        def piece(i: int) -> None:
            _step(
                *(self.sources, self.targets, self.weights, self.places[i], self.places[i + 1]),
                *(z, self.nodes[i], self.nodes[i + 1], v, w, a, b, x, share, y, following, sums[i]),
            )

        run(piece, len(sums))
        return y, following, float(sums[:, 0].sum()), float(sums[:, 1].sum())


def _blocks_of(grains: Array, n: int) -> tuple[Array, Array]:
    """The block of every grain, and where blocks begin: few nodes, about equally many links."""
    most = max(int(grains.sum()) // _blocks, 4096)
    block_of, begins, links, width = np.zeros(len(grains), np.int64), [0], 0, 0
    for g, count in enumerate(grains.tolist()):
        if width and (links + count > most or width == _widest // _grain):
            begins.append(g * _grain)
            links = width = 0
        block_of[g] = len(begins) - 1
        links, width = links + count, width + 1
    return block_of, np.array([*begins, n])


@compiled
def _count(indptr, indices, start, stop, grains):
    """How many links lead into each grain of targets."""
    for t in range(np.intp(indptr[start]), np.intp(indptr[stop])):
        grains[np.uint64(indices[t]) // np.uint64(256)] += 1


@compiled
def _fill(indptr, indices, given, start, stop, block_of, begins, place, sources, targets, weights):
    """Links of rows start:stop, each to the next free place of its block."""
    weighted = given.size > 0
    for i in range(start, stop):
        for t in range(np.intp(indptr[i]), np.intp(indptr[i + 1])):
            j = np.uint64(indices[t])
            block = np.uint64(block_of[j // np.uint64(256)])
            at = np.uint64(place[block])
            place[block] += 1
            sources[at] = i
            targets[at] = j - np.uint64(begins[block])
            if weighted:
                weights[at] = given[t]


@compiled
def _step(
    sources, targets, weights, first, last, z, begin, end, v, w, a, b, x, share, y, following, sums
):
    part = y[begin:end]
    part[:] = 0
    if weights.size:
        for t in range(np.uint64(first), np.uint64(last)):
            part[np.uint64(targets[t])] += z[np.uint64(sources[t])] * weights[t]
    else:
        for t in range(np.uint64(first), np.uint64(last)):
            part[np.uint64(targets[t])] += z[np.uint64(sources[t])]
    moved = ended = 0.0
    for j in range(begin, end):
        new = y[j] + (a * v[j] + b * w[j])
        y[j] = new
        following[j] = new * share[j]
        moved += abs(new - x[j])
        if share[j] == 0:
            ended += new
    sums[0], sums[1] = moved, ended

"""Links of a graph in the order in which scores flow along them fastest.

    flow               y[j] = sum over links i -> j of z[i] (times the link's weight)

Links are sorted into blocks of targets, each so small that its part of y stays in the second-level
cache, and within a block by source, so that z is read in order. A block belongs to one piece of
work: sums are in the order of the sources whatever the threads, and nothing is added up twice.

A sweep over all blocks goes by rounds: links that come from blocks of earlier rounds already carry
this sweep's z, the others the last one's (Gauss-Seidel by rounds, which are the same for any number
of threads).
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
_blocks = 32  # at least, where there are many links
_rounds = 4  # of a sweep, where there are blocks enough


@dataclass(frozen=True)
class Links:
    """Blocks of links: ``sources[a:b]`` lead to nodes ``begin + targets[a:b]``."""

    nodes: Array  # where each block of targets begins, and n
    places: Array  # where its links begin, and how many there are
    splits: Array  # the first of its links that does not come from an earlier round
    rounds: list[tuple[int, int]]  # first block, and the one after the last
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
        many = len(nodes) - 1
        count = _rounds if many >= 2 * _rounds else 1
        rounds = [(many * r // count, many * (r + 1) // count) for r in range(count)]
        splits = np.empty(many, np.int64)
        for a, b in rounds:
            for i in range(a, b):
                own = sources[places[i] : places[i + 1]]
                splits[i] = places[i] + np.searchsorted(own, index(nodes[a]))
        return Links(nodes, places, splits, rounds, sources, targets, values)

    def scores(self, x: Array, share: Array) -> Scores:
        """To begin with: x, of which ``share`` flows along each link of a node."""
        starts = self.nodes[:-1]
        lost = np.add.reduceat(np.where(share == 0, x, 0.0), starts)
        return Scores(x.copy(), share, x * share, np.empty_like(x), lost)

    def sweep(
        self, scores: Scores, v: Array, w: Array, a: float, b: float, *, plain: bool = False
    ) -> tuple[float, float]:
        """x becomes flow of z + a v + b (sum of x where share is 0) w, up to a common factor.

        Parameters
        ----------
        scores : Scores
            Changed.
        v, w : (n,), or (1,) if the same for all
        a, b : float
        plain : bool
            In one round: all links carry the last sweep's z.

        Returns
        -------
        sum of |changes of x|, sum of changes of x
        """
        splits, rounds = self.splits, self.rounds
        if plain:
            splits, rounds = self.places[:-1], [(0, len(splits))]
        changes = np.zeros((len(splits), 2))
        old, new, scale = scores.z, scores.spare, scores.scale
        for begin, end in rounds:
            lost = scores.lost.copy()
            lost[begin:] *= scale
            fixed = v, w, a, b * float(lost.sum())

            def piece(i: int, begin: int = begin, fixed: Any = fixed) -> None:
                i += begin
                places = self.places[i], splits[i], self.places[i + 1]
                found = _sweep(
                    *(self.sources, self.targets, self.weights, *places, old, new, scale),
                    *(self.nodes[i], self.nodes[i + 1], *fixed, scores.x, scores.share),
                )
                changes[i], scores.lost[i] = found[:2], found[2]

            run(piece, end - begin)
        scores.z, scores.spare, scores.scale = new, old, 1.0
        return float(changes[:, 0].sum()), float(changes[:, 1].sum())


@dataclass
class Scores:
    """Scores under way, each times ``scale``: nothing is multiplied before the next sweep."""

    x: Array
    share: Array
    z: Array  # x * share
    spare: Array
    lost: Array  # of each block of nodes the sum of x where share is 0
    scale: float = 1.0


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
def _add(sources, targets, weights, first, last, z, part):
    """part[target] += z[source] times the weight, for links first:last of one block."""
    if weights.size:
        for t in range(np.uint64(first), np.uint64(last)):
            part[np.uint64(targets[t])] += z[np.uint64(sources[t])] * weights[t]
    else:
        for t in range(np.uint64(first), np.uint64(last)):
            part[np.uint64(targets[t])] += z[np.uint64(sources[t])]


@compiled
def _sweep(
    sources, targets, weights, first, split, last, old, new, scale, begin, end, v, w, a, b, x, share
):
    """New x and z of nodes begin:end; sums of |change| and change, and of x where share is 0."""
    part = np.zeros(end - begin)
    _add(sources, targets, weights, split, last, old, part)
    if scale != 1:
        part *= scale
    _add(sources, targets, weights, first, split, new, part)
    moved = gained = ended = 0.0
    for k in range(np.uint64(part.size)):
        j = np.uint64(begin) + k
        jump = v[j] if v.size > 1 else v[0]
        y = part[k] + (a * jump + b * (w[j] if w.size > 1 else w[0]))
        change = y - x[j] * scale
        moved += abs(change)
        gained += change
        x[j] = y
        new[j] = y * share[j]
        if share[j] == 0:
            ended += y
    return moved, gained, ended

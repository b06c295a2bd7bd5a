"""Geodesics: lengths of shortest paths over a graph, from many points at once.

1. anchors  distances from a few nodes far from each other are coordinates of all nodes
2. order    nodes near each other come near each other in memory: along a Z-shaped curve through
            these coordinates
3. groups   sixteen sources at a time, neighbors in that order (``gramian.loops.paths``); the
            distances of a group tell the next one in which order to look
4. new      a point outside the graph starts at its neighbors, with its distances to them

Distances are exact, and the same to the bit on any number of threads: those of Dijkstra's
algorithm in float64.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from gramian.loops import paths
from gramian.loops.paths import LANES
from gramian.loops.products import aligned
from gramian.loops.threads import pause, run
from gramian.maps import Array
from gramian.progress import tick

_anchors = 6
_bits = 10  # of a coordinate on the Z-shaped curve
_groups = 8  # groups that follow each other on one thread


def geodesics(graph: Any, sources: Array | None = None, *, dtype: Any = np.float64) -> Array:
    """Lengths of the shortest paths from some nodes to all.

    Parameters
    ----------
    graph : sparse array of shape (n, n)
        Symmetric; entries are lengths of edges, at least 0, and a stored 0 is an edge too.
    sources : array of int, shape (m,), optional
        By default all nodes.
    dtype : dtype
        Of the result; paths are summed in float64.

    Returns
    -------
    array of shape (m, n)
        Infinite where there is no path.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> from gramian.gram.geodesics import geodesics
    >>> path = csr_array([[0.0, 1.0, 0.0], [1.0, 0.0, 2.0], [0.0, 2.0, 0.0]])
    >>> geodesics(path)
    array([[0., 1., 3.],
           [1., 0., 2.],
           [3., 2., 0.]])
    """
    every = np.arange(graph.shape[0]) if sources is None else np.asarray(sources)
    return Geodesics.of(graph).from_nodes(every, dtype)


@dataclass(frozen=True)
class Geodesics:
    """A graph made ready for shortest paths.

    Attributes
    ----------
    place : array of int, shape (n,)
        Where each node is in memory.
    starts, ends, lengths : array
        The graph in that order, row by row.
    anchors : array of shape (a, n)
        Distances of the nodes, in that order, from a few of them.
    """

    place: Array
    starts: Array
    ends: Array
    lengths: Array
    anchors: Array

    @staticmethod
    def of(graph: Any) -> Geodesics:
        """Put a symmetric graph of lengths in order."""
        graph = sparse.csr_array(graph)
        C = _far_apart(graph, _anchors)  # 1
        order = _along_a_curve(C)  # 2
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        counts = np.diff(graph.indptr)[order]
        starts = np.concatenate([[0], np.cumsum(counts)])
        entries = np.repeat(graph.indptr[order] - starts[:-1], counts) + np.arange(starts[-1])
        ends = place[graph.indices[entries]].astype(np.uint32)
        lengths = graph.data[entries].astype(np.float64)
        return Geodesics(place, starts, ends, lengths, np.ascontiguousarray(C[:, order]))

    def __len__(self) -> int:
        return len(self.place)

    def from_nodes(self, sources: Array, dtype: Any = np.float64) -> Array:
        """Distances (m, n) of some nodes to all; their rows in the order they are given."""
        m = len(sources)
        return self.from_points(np.arange(m + 1), sources, np.zeros(m), dtype=dtype)

    def from_points(
        self,
        starts: Array,
        indices: Array,
        distances: Array,
        to: Array | None = None,
        dtype: Any = np.float64,
    ) -> Array:
        """Distances of m points outside the graph to its nodes.

        Parameters
        ----------
        starts, indices, distances : array
            Neighbors of each point among the nodes, as ``Neighbors.query`` gives them; a point
            without any is infinitely far from everything.
        to : array of int, optional
            The nodes that are asked for; by default all.
        dtype : dtype
            Of the result.
        """
        m, places = len(starts) - 1, self.place if to is None else self.place[to]
        out = np.empty((m, len(places)), dtype)
        entries = self.place[indices].astype(np.uint32)
        many = np.diff(starts)
        firsts = entries[np.minimum(starts[:-1], max(len(entries) - 1, 0))] if m else entries
        line = np.argsort(np.where(many > 0, firsts, 0), kind="stable")
        step, done = _groups * LANES, [0]

        def piece(q: int) -> None:
            some = line[q * step : (q + 1) * step]
            self._follow(some, starts, entries, distances, places, out)
            done[0] += len(some)
            tick("shortest paths", done[0], m)

        run(piece, -(-m // step))
        return out

    def _follow(
        self,
        some: Array,
        starts: Array,
        entries: Array,
        distances: Array,
        places: Array,
        out: Array,
    ) -> None:
        """Step 3: a few groups one after another."""
        n = len(self)
        D, waiting = aligned(n, LANES, np.float64), np.zeros(n, np.uint8)
        order, counts = np.empty(n, np.uint32), np.empty(n + 2, np.int64)
        window = min(max(n // 12, 256), 4096)
        near = self._roughly(some[:1], starts, entries, distances)
        for a in range(0, len(some), LANES):
            pause()
            group = some[a : a + LANES]
            first, which = _entries(group, starts)
            paths.by_distance(near, order, counts)
            paths.begin(first, entries[which], distances[which], waiting, D)
            paths.correct(self.starts, self.ends, self.lengths, order, window, waiting, D)
            paths.hand_over(D, places, out, group)
            near = D[:, 0].copy()

    def _roughly(self, point: Array, starts: Array, entries: Array, distances: Array) -> Array:
        """At least so far is everything from a point, by the triangles with the anchors."""
        which = slice(starts[point[0]], starts[point[0] + 1])
        own = (self.anchors[:, entries[which]] + distances[which]).min(axis=1, initial=np.inf)
        with np.errstate(invalid="ignore"):
            apart = np.abs(self.anchors - own[:, None])
        return np.asarray(np.where(np.isnan(apart), 0.0, apart).max(axis=0))


def from_one(graph: Any, node: int) -> Array:
    """Distances of all nodes from one, by SciPy's heap: sixteen at a time are for many."""
    found: Array = csgraph.dijkstra(graph, indices=np.array([node]))
    return np.asarray(found[0])


def _entries(group: Array, starts: Array) -> tuple[Array, Array]:
    """Where the neighbors of a group's points are, lane by lane; idle lanes have none."""
    which = [np.arange(starts[i], starts[i + 1]) for i in group]
    counts = [len(each) for each in which] + [0] * (LANES - len(group))
    return np.concatenate([[0], np.cumsum(counts)]), np.concatenate(which)


def _far_apart(graph: Any, count: int) -> Array:
    """Distances of all nodes from a few, each as far as can be from those before it."""
    start = from_one(graph, 0)
    nearest = np.where(np.isfinite(start), start, -1.0)
    rows = []
    for _ in range(min(count, graph.shape[0])):
        found = from_one(graph, int(np.argmax(nearest)))
        rows.append(found)
        nearest = found if len(rows) == 1 else np.minimum(nearest, found)
    return np.array(rows)


def _along_a_curve(C: Array) -> Array:
    """Nodes in the order of a Z-shaped curve through coordinates (a, n): bits interleaved."""
    finite = np.isfinite(C)
    largest = C.max(where=finite, initial=0.0) or 1.0
    top = (1 << _bits) - 1
    cells = np.where(finite, C / largest * top, top).astype(np.int64)
    key = np.zeros(C.shape[1], np.int64)
    for bit in range(_bits - 1, -1, -1):
        for row in cells:
            key = (key << 1) | ((row >> bit) & 1)
    return np.argsort(key, kind="stable")

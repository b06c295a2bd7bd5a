"""Who is near whom: nearest neighbors as a value, and the graph they make.

1. search   each point's k nearest others, or all within a radius (``nearest.py``)
2. graph    i and j are joined if either is a neighbor of the other; edges are as long as distances
3. parts    a graph in several parts is refused with what would join it, cut down to its largest
            part, or joined by the shortest bridges

A point is left out of its own neighbors by its number, not by its distance, so points that are
equal stay neighbors, at distance 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from gramian.errors import InputError
from gramian.gram.blocked import Points, neighbors_in_blocks
from gramian.gram.distances import pairwise
from gramian.gram.nearest import (
    even,
    nearest,
    nearest_roughly,
    search,
    within,
    without_itself,
)
from gramian.loops.joined import count_either, fill_either
from gramian.loops.threads import pause, run
from gramian.maps import Array
from gramian.show.text import count, listed, number

DISCONNECTED = ("error", "largest", "join")
_block = 2_000_000  # distances in a block
_most = 20_000_000  # neighbors looked at to find the k that connects


@dataclass(frozen=True)
class Neighbors:
    """The neighbors of every point, nearest first.

    Attributes
    ----------
    starts : array of int, shape (n + 1,)
        Neighbors of point i are entries ``starts[i]`` to ``starts[i + 1]`` of the next two.
    indices : array of int
    distances : array of float
    points : array of shape (n, p) or None
        What they were found among; ``None`` where distances or a graph were given.
    kept : array of int, shape (n,)
        Numbers of the points in the data; not all where only the largest part was kept.
    bridges : array of int, shape (m, 2)
        Edges that join parts which neighbors do not, and
    lengths : array of shape (m,)
        how long they are.
    n_neighbors, radius, metric, approximate
        As asked for; neither of the first two for a given graph.
    """

    starts: Array
    indices: Array
    distances: Array
    points: Array | None
    kept: Array
    bridges: Array
    lengths: Array
    n_neighbors: int | None
    radius: float | None
    metric: Any
    approximate: bool

    @staticmethod
    def of(
        X: Any,
        n_neighbors: int | None = None,
        *,
        radius: float | None = None,
        metric: Any = "euclidean",
        approximate: bool = False,
    ) -> Neighbors:
        """Neighbors of every row of ``X`` among the others.

        Parameters
        ----------
        X : array of shape (n, p)
            Points; with ``metric="precomputed"`` distances (n, n), or a sparse graph whose entries
            are the lengths of its edges.
        n_neighbors : int, optional
            How many; either this or ``radius``. A precomputed graph needs neither.
        radius : float, optional
            All within this distance instead.
        metric : str or callable
            As for ``gramian.gram.distances.pairwise``, or "precomputed".
        approximate : bool
            Search by nearest-neighbor descent (the package pynndescent): quick for many points in
            many dimensions, and it may miss some.

        Examples
        --------
        >>> import numpy as np
        >>> from gramian.gram.neighbors import Neighbors
        >>> near = Neighbors.of(np.array([[0.0], [1.0], [1.5], [9.0]]), 1)
        >>> near.indices, near.distances
        (array([1, 2, 1, 2]), array([1. , 0.5, 0.5, 7.5]))
        """
        n, own = X.shape[0], np.arange(X.shape[0])
        if sparse.issparse(X):
            found = _given_graph(X)
        else:
            _check(n, n_neighbors, radius)
            if metric != "precomputed" and not np.ptp(X, axis=0).any():
                raise InputError("all points are equal: nobody is nearer than anybody else")
            if radius is not None:
                found = within(X, X, float(radius), metric, own)
            else:
                finds = nearest_roughly if approximate else nearest
                found = even(*without_itself(*finds(X, X, int(n_neighbors) + 1, metric), own))  # type: ignore[arg-type]
                if metric != "precomputed" and not found[2][found[0][:-1]].any():
                    _refuse_few(X, int(n_neighbors))  # type: ignore[arg-type]
        no_bridges = np.empty((0, 2), np.int64), np.empty(0)
        points = None if metric == "precomputed" or sparse.issparse(X) else X
        return Neighbors(*found, points, own, *no_bridges, n_neighbors, radius, metric, approximate)

    @staticmethod
    def in_blocks(
        points: Points, n_neighbors: int | None, radius: float | None, metric: Any, held: int
    ) -> Neighbors:
        """The same of points that stay in their file, ``held`` bytes of them at a time."""
        n = points.shape[0]
        _check(n, n_neighbors, radius)
        found = neighbors_in_blocks(points, n_neighbors, radius, metric, held)
        no_bridges = np.empty((0, 2), np.int64), np.empty(0)
        return Neighbors(
            *found, None, np.arange(n), *no_bridges, n_neighbors, radius, metric, False
        )

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def table(self) -> tuple[Array, Array]:
        """Numbers and distances of the neighbors as (n, k) arrays, where all have k of them."""
        many = np.diff(self.starts)
        if not len(many) or many.min() != many.max():
            raise InputError(
                "this method needs the same number of neighbors for every point; use n_neighbors"
            )
        shape = (len(self), -1)
        return self.indices.reshape(shape), self.distances.reshape(shape)

    def graph(self) -> sparse.csr_array:
        """Lengths of the edges, symmetric; an edge of length 0 is an entry too."""
        starts, indices, lengths = self.starts, self.indices, self.distances
        if len(self.bridges):
            order = np.argsort(self.bridges[:, 0], kind="stable")
            a, b = self.bridges[order].T
            indices = np.insert(indices, starts[a + 1], b)
            lengths = np.insert(lengths, starts[a + 1], self.lengths[order])
            starts = starts + np.searchsorted(a, np.arange(len(starts)))
        return _symmetric(starts, indices, lengths)

    def components(self) -> tuple[int, Array]:
        """How many parts the graph has, and the part of each point."""
        return self._components

    @cached_property
    def _components(self) -> tuple[int, Array]:
        n, many = len(self), len(self.indices)
        joined = sparse.csr_array((np.ones(many, np.int8), self.indices, self.starts), shape=(n, n))
        if len(self.bridges):
            ones = np.ones(len(self.bridges), np.int8)
            joined = joined + sparse.csr_array((ones, tuple(self.bridges.T)), shape=(n, n))
        parts, labels = csgraph.connected_components(joined, directed=False)
        return int(parts), labels

    def query(self, X: Array) -> tuple[Array, Array, Array]:
        """Neighbors of new points among these.

        Parameters
        ----------
        X : array of shape (m, p)
            New points; or their distances to all points of the data (m, n), where distances were
            given.

        Returns
        -------
        starts, indices, distances : array
            As the attributes.
        """
        if self.points is None and self.metric != "precomputed":
            raise InputError("a given graph knows no distances of new points; fit to points")
        Y = self.points
        if Y is None:
            X = Y = X[:, self.kept]
        return search(X, Y, self.n_neighbors, self.radius, self.metric)

    def restrict(self, points: Array) -> Neighbors:
        """Only these points (numbers of rows, ascending), each with its neighbors among them."""
        inside = np.full(len(self), -1)
        inside[points] = np.arange(len(points))
        row = np.repeat(np.arange(len(self)), np.diff(self.starts))
        stays = (inside[row] >= 0) & (inside[self.indices] >= 0)
        many = np.bincount(inside[row[stays]], minlength=len(points))
        return replace(
            self,
            starts=np.concatenate([[0], np.cumsum(many)]),
            indices=inside[self.indices[stays]],
            distances=self.distances[stays],
            points=None if self.points is None else self.points[points],
            kept=self.kept[points],
        )

    def connect(self, disconnected: str = "error", given: Any = None) -> Neighbors:
        """The same with a graph in one part.

        Parameters
        ----------
        disconnected : {"error", "largest", "join"}
            What to do with several: refuse, keep the largest, or join them by shortest bridges.
        given : array of shape (n, n), optional
            The distances, where they were precomputed.
        """
        if disconnected not in DISCONNECTED:
            raise InputError(f"disconnected={disconnected!r}: use one of {DISCONNECTED}")
        parts, labels = self.components()
        if parts == 1:
            return self
        if disconnected == "largest" and parts < len(self):
            return self.restrict(np.flatnonzero(labels == np.argmax(np.bincount(labels))))
        rows = self._distances(given)
        if rows is None:
            remedy = (
                "a given graph must hang together"
                if self.metric == "precomputed" or (self.n_neighbors, self.radius) == (None, None)
                else "use more neighbors, or disconnected='largest' (only the largest part); the "
                "shortest bridges are found for points in memory only"
            )
            raise InputError(f"{_parts(labels)}; {remedy}")
        if disconnected == "join":
            bridges, lengths = _bridges(labels, rows)
            return replace(self, bridges=bridges, lengths=lengths)
        if self.radius is not None:
            longest = 1.001 * float(_bridges(labels, rows)[1].max())  # rounded up, not down
            enough = f"radius={number(longest)} would join them"
        else:
            k = self._connecting(given)
            enough = (
                "no affordable n_neighbors joins them"
                if k is None
                else f"the smallest n_neighbors that joins them is {k}"
            )
        raise InputError(
            f"{_parts(labels)}: {enough}; or use disconnected='join' (shortest bridges) or "
            "'largest' (only the largest part)"
        )

    def _distances(self, given: Any) -> Callable[[Array, Array], Array] | None:
        """A function from two lists of points to their distances, if these are known."""
        if self.points is not None:
            X = self.points
            return lambda a, b: pairwise(X[a], X[b], self.metric)
        return None if given is None else lambda a, b: np.asarray(given[np.ix_(a, b)])

    def _connecting(self, given: Any) -> int | None:
        """The smallest number of neighbors whose graph is in one part; joined stays joined."""
        X = given if self.points is None else self.points
        low, high, most = int(self.n_neighbors or 1), 0, min(len(self) - 1, _most // len(self))
        while not high:
            k = min(2 * low, most)
            if Neighbors.of(X, k, metric=self.metric).components()[0] == 1:
                high = k
            elif k == most:
                return None
            low = k if not high else low
        while high - low > 1:
            k = (low + high) // 2
            joined = Neighbors.of(X, k, metric=self.metric).components()[0] == 1
            low, high = (low, k) if joined else (k, high)
        return high


def _check(n: int, n_neighbors: Any, radius: Any) -> None:
    if (n_neighbors is None) == (radius is None):
        raise InputError("give either n_neighbors or radius")
    if radius is not None:
        if isinstance(radius, (bool, str)) or not 0 < float(radius) < np.inf:
            raise InputError(f"radius={radius!r}: a finite number above 0 is needed")
        return
    whole = isinstance(n_neighbors, (int, np.integer)) and not isinstance(n_neighbors, bool)
    if not whole or not 1 <= n_neighbors <= n - 1:
        raise InputError(
            f"n_neighbors={n_neighbors!r}: a whole number from 1 to n - 1 = {n - 1} is needed"
        )


def _refuse_few(X: Array, k: int) -> None:
    """Raise where nobody has ``k`` neighbors that differ from each other."""
    distinct = len(np.unique(X, axis=0))
    if k >= distinct:
        raise InputError(
            f"n_neighbors={k}: only {distinct} of the {len(X)} points differ; use at most "
            f"{distinct - 1}, or leave copies out"
        )


def _given_graph(graph: Any) -> tuple[Array, Array, Array]:
    """A sparse graph of lengths, checked."""
    graph = sparse.csr_array(graph).astype(np.float64)
    if graph.shape[0] != graph.shape[1]:
        raise InputError(f"a graph is a square matrix of lengths, got shape {graph.shape}")
    entries = graph.tocoo()
    bad = np.flatnonzero(~(np.isfinite(entries.data) & (entries.data >= 0)))
    if len(bad):
        i, j, length = entries.row[bad[0]], entries.col[bad[0]], entries.data[bad[0]]
        raise InputError(
            f"the graph holds {count(len(bad), 'length')} that is negative or not finite, first "
            f"{length:g} from {i} to {j}; lengths are at least 0"
        )
    odd = abs(graph - graph.T).tocoo()
    if odd.nnz and odd.data.max() > 1e-8 * entries.data.max(initial=0.0):
        worst = int(np.argmax(odd.data))
        raise InputError(
            f"the graph is not symmetric: the edge between {odd.row[worst]} and {odd.col[worst]} "
            f"differs by {odd.data[worst]:g} in its two directions; store both alike"
        )
    off = entries.row != entries.col
    many = np.bincount(entries.row[off], minlength=graph.shape[0])
    starts = np.concatenate([[0], np.cumsum(many)])
    clean = _symmetric(starts, entries.col[off].astype(np.int64), entries.data[off])
    return clean.indptr.astype(np.int64), clean.indices.astype(np.int64), clean.data


def _symmetric(starts: Array, indices: Array, lengths: Array) -> sparse.csr_array:
    """Edges wherever either end names the other, the shorter of two; lengths of 0 stay entries."""
    n, small = len(starts) - 1, np.int32 if len(indices) < 2**30 else np.int64
    named = sparse.csr_array((lengths, indices.astype(small), starts.astype(small)), shape=(n, n))
    turned = named.tocsc()  # read as rows: who names i, in order
    named = turned.tocsr()  # turned twice, in order too
    counts = np.empty(n, small)
    one, two = (named.indptr, named.indices), (turned.indptr, turned.indices)
    count_either(*one, *two, counts)
    row_starts = np.concatenate([[0], np.cumsum(counts)]).astype(small)
    ends, out = np.empty(row_starts[-1], small), np.empty(row_starts[-1])
    fill_either(*one, named.data, *two, turned.data, ends, out)
    return sparse.csr_array((out, ends, row_starts), shape=(n, n))


def _parts(labels: Array) -> str:
    """How many, how large, and who is alone."""
    sizes = np.bincount(labels)
    alone = np.flatnonzero(sizes[labels] == 1)
    largest = np.sort(sizes)[::-1]
    more = f" and {len(sizes) - 5} others" if len(sizes) > 5 else ""
    shown = listed([str(size) for size in largest[:5]])
    said = f"the graph of neighbors is in {len(sizes)} parts, of {shown} points{more}"
    if not len(alone):
        return said
    rows = [str(row) for row in alone[:5]] + [f"{len(alone) - 5} more"] * (len(alone) > 5)
    return (
        f"{said}; {count(len(alone), 'point')} without any neighbor (isolated): row {listed(rows)}"
    )


def _bridges(labels: Array, rows: Callable[[Array, Array], Array]) -> tuple[Array, Array]:
    """The shortest edges that join all parts: a spanning tree of them, by Boruvka's rounds."""
    labels, found, lengths = labels.copy(), [], []
    while len(parts := np.unique(labels)) > 1:
        nearest = [_nearest_outside(np.flatnonzero(labels == part), labels, rows) for part in parts]
        for i, j, length in sorted(nearest, key=lambda edge: edge[2]):
            if labels[i] != labels[j]:
                found.append((i, j))
                lengths.append(length)
                labels[labels == labels[j]] = labels[i]
    return np.array(found), np.array(lengths)


def _nearest_outside(
    inside: Array, labels: Array, rows: Callable[[Array, Array], Array]
) -> tuple[int, int, float]:
    """The shortest edge from a part to a point of another."""
    outside = np.flatnonzero(labels != labels[inside[0]])
    small, large = sorted((inside, outside), key=len)
    step = max(1, _block // len(large))
    pieces = -(-len(small) // step)
    best: list[Any] = [None] * pieces

    def piece(q: int) -> None:
        pause()
        some = small[q * step : (q + 1) * step]
        D = rows(some, large)
        i, j = np.unravel_index(np.argmin(D), D.shape)
        best[q] = float(D[i, j]), int(some[i]), int(large[j])

    run(piece, pieces)
    length, i, j = min(best)
    return (i, j, length) if small is inside else (j, i, length)

"""Points joined to their neighbors, as a method sees them: given or searched, in one part, and new.

What is kept of the graph is what new points need: its edges, their lengths, and the points in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from gramian.data.dissimilarities import Dissimilarities, open_cross_distances, open_distances
from gramian.errors import InputError
from gramian.gram.nearest import nearest, search
from gramian.gram.neighbors import Neighbors
from gramian.maps import Array
from gramian.methods.embedder import warn
from gramian.methods.similarity import GramEmbedder, as_points
from gramian.results import Embedding
from gramian.show.text import count, number

_block = 25_000_000  # distances of new points held at a time


class NeighborhoodEmbedder(GramEmbedder):
    """Base of methods that embed a graph of neighbors by similarities of its nodes."""

    reads = "points"
    n_features_in_: int
    labels_: tuple[str, ...] | None
    n_neighbors: Any
    radius: Any
    metric: Any
    disconnected: Any
    approximate: Any

    def _joined(self, opened: Any) -> tuple[Neighbors, sparse.csr_array, Any]:
        """The neighbors in one part, their graph, and what it was made from."""
        if self._precomputed:
            given = opened.D
            if not sparse.issparse(given) and not isinstance(given, np.ndarray):
                raise InputError("distances in a file must fit the memory budget; raise memory=")
        else:
            given = self.X_fit_ = as_points(opened, self.memory).copy()
        k = self.n_neighbors if self.radius is None else None
        how = {"metric": self.metric, "radius": self.radius, "approximate": self.approximate}
        found = Neighbors.of(given, k, **how)
        self.n_parts_ = found.components()[0]
        dense = given if self._precomputed and not sparse.issparse(given) else None
        near = found.connect(self.disconnected, dense)
        graph = near.graph()
        if not graph.data.any():
            raise InputError("all distances between neighbors are 0: all points are equal")
        edges = sparse.triu(graph).tocoo()
        self.kept_, self.n_bridges_ = near.kept, len(near.bridges)
        self.edges_ = near.kept[np.column_stack([edges.row, edges.col])]
        self.lengths_ = edges.data
        return near, graph, given

    def _graph(self) -> sparse.csr_array:
        """The graph again, from what is kept of it; edges of length 0 are edges."""
        i, j = np.searchsorted(self.kept_, self.edges_).T
        rows, columns = np.concatenate([i, j]), np.concatenate([j, i])
        order = np.argsort(rows, kind="stable")
        n = len(self.kept_)
        starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))])
        lengths = np.concatenate([self.lengths_] * 2)
        return sparse.csr_array((lengths[order], columns[order], starts), shape=(n, n))

    def _complete(self, opened: Any, n: int) -> None:
        """Rows of ``embedding_`` for points outside the largest part: placed as new ones."""
        if len(self.kept_) == n:
            return
        outside = np.setdiff1d(np.arange(n), self.kept_)
        if self._precomputed and sparse.issparse(opened.D):
            raise InputError(
                f"{count(len(outside), 'point')} of the given graph are in no path from its "
                "largest part, and only a graph of points can place them; leave them out first"
            )
        new = opened.D[outside] if self._precomputed else self.X_fit_[outside]
        Z = np.empty((n, self.embedding_.shape[1]), self.embedding_.dtype)
        Z[self.kept_] = self.embedding_
        self.embedding_ = Z
        placed = [self.gram_.place(rows) for rows, _ in self._similarities(new)]
        Z[outside] = np.concatenate(placed) / self._unit
        warn(
            f"{count(len(outside), 'point')} outside the largest part of the graph were placed as "
            "new points; see kept_ for the others"
        )

    def _blocks(self, opened: Any) -> Iterator[tuple[Array, Array]]:
        return self._similarities(self._new(opened))

    def _similarities(self, new: Array) -> Iterator[tuple[Array, Array]]:
        """Similarities of new points to the training points and to themselves, in blocks."""
        raise TypeError(f"{type(self).__name__} does not say how new points compare")

    def _neighbors_of(self, new: Array) -> Iterator[tuple[Array, Array, Array]]:
        """Their neighbors in the graph, in blocks: starts, numbers and distances."""
        whole = len(self.kept_) == (self.n_features_in_ if self._precomputed else len(self.X_fit_))
        Y = None
        if not self._precomputed:
            Y = self.X_fit_ if whole else self.X_fit_[self.kept_]
        elif not whole:
            new = new[:, self.kept_]
        step = max(1, _block // len(self.kept_))
        for a in range(0, len(new), step):
            some = new[a : a + step]
            found = search(some, Y, self.n_neighbors, self.radius, self.metric)
            yield found if self.radius is None else self._at_least_one(found, some, Y)

    def _at_least_one(
        self, found: tuple[Array, Array, Array], new: Array, Y: Any
    ) -> tuple[Array, Array, Array]:
        """A point with nobody within the radius takes its nearest one."""
        starts, indices, distances = found
        alone = np.flatnonzero(np.diff(starts) == 0)
        if not len(alone):
            return found
        nearest_one, how_far = nearest(new[alone], Y, 1, self.metric)
        indices = np.insert(indices, starts[alone], nearest_one[:, 0])
        distances = np.insert(distances, starts[alone], how_far[:, 0])
        more = np.cumsum(np.diff(starts) == 0)
        return starts + np.concatenate([[0], more]), indices, distances

    def to_embedding(
        self,
        X: Any = None,
        *,
        labels: Sequence[str] | None = None,
        columns: Mapping[str, Any] | None = None,
        details: bool = False,
    ) -> Embedding:
        """Coordinates with certificate, names and the graph; see ``GramEmbedder``."""
        found = super().to_embedding(X, labels=labels, columns=columns, details=details)
        return found if X is not None else replace(found, edges=self.edges_)

    def _keeps(self) -> dict[str, Any]:
        return {
            **super()._keeps(),
            **({"labels_": "text n?"} if self._precomputed else {}),
            "kept_": "g -> n",
            "edges_": "e two -> n",
            "lengths_": "e",
            "n_parts_": int,
            "n_bridges_": int,
        }

    def _measured(self) -> dict[str, Any]:
        return {"parts": self.n_parts_, "edges": len(self.edges_)}

    def _said(self) -> Iterator[str]:
        n = len(self.embedding_)
        yield (
            f"graph of {count(len(self.edges_), 'edge')}, {number(2 * len(self.edges_) / n, 3)} "
            "a point on average"
        )
        if self.n_bridges_:
            yield (
                f"the graph was in {self.n_parts_} parts; they were joined by "
                f"{count(self.n_bridges_, 'shortest bridge')}: distances between parts are not to "
                "be trusted"
            )
        if len(self.kept_) < n:
            yield (
                f"the graph is in {self.n_parts_} parts: the largest, of {len(self.kept_)} "
                f"points, was embedded, and the other {n - len(self.kept_)} placed as new points"
            )

    def _open(self, X: Any, reset: bool) -> Any:
        if not self._precomputed:
            return super()._open(X, reset)
        if not reset:
            if sparse.issparse(X):
                raise InputError("new points need distances to all points, a full matrix (m, n)")
            return open_cross_distances(X, self.n_features_in_, self.labels_, self.memory)
        given = sparse.issparse(X)
        found = Dissimilarities(X, None) if given else open_distances(X, self.memory)
        self.n_features_in_, self.labels_ = found.D.shape[0], found.labels
        return found

    def _new(self, opened: Any) -> Array:
        return np.asarray(opened) if self._precomputed else as_points(opened, self.memory)

    def _labels(self, opened: Any, n: int) -> tuple[str, ...] | None:
        if not self._precomputed:
            return super()._labels(opened, n)
        return self.labels_ if n == self.n_features_in_ else None

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

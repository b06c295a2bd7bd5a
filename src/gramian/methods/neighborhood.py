"""Points joined to their neighbors, as a method sees them: given or searched, in one part, and new.

What is kept of the graph is what new points need: its edges, their lengths, and the points in it.
A method says where new points belong (``_placed``), by their neighbors in the graph; points outside
the part that was embedded are placed the same way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from gramian.data.dissimilarities import Dissimilarities, open_cross_distances, open_distances
from gramian.errors import CertificateWarning, InputError
from gramian.gram.blocked import parts
from gramian.gram.nearest import nearest, search
from gramian.gram.neighbors import Neighbors
from gramian.maps import Array, unit_for
from gramian.memory import budget
from gramian.methods.embedder import generator, warn
from gramian.methods.landmarks import FilePoints, stay_in_file
from gramian.methods.similarity import GramEmbedder, as_points
from gramian.results import Embedding
from gramian.show.text import count, number
from gramian.spectral.bottom import bottom, zeros
from gramian.spectral.pairs import Eigenpairs
from gramian.spectral.plan import ExpectedSparse, Plan, plan

_block = 25_000_000  # distances of new points held at a time


class NeighborhoodEmbedder(GramEmbedder):
    """Base of methods that embed a graph of neighbors."""

    reads = "points"
    n_features_in_: int
    labels_: tuple[str, ...] | None
    n_neighbors: Any
    disconnected: Any
    radius: Any = None  # these three for methods that do not ask
    metric: Any = "euclidean"
    approximate: Any = False

    def _given(self, opened: Any) -> Any:
        """What the graph is made from; points are kept."""
        if not self._precomputed:
            self.X_fit_ = as_points(opened, self.memory).copy()
            return self.X_fit_
        if not sparse.issparse(opened.D) and not isinstance(opened.D, np.ndarray):
            raise InputError("distances in a file must fit the memory budget; raise memory=")
        return opened.D

    def _joined(self, given: Any) -> tuple[Neighbors, sparse.csr_array]:
        """The neighbors in one part, and their graph."""
        k = self.n_neighbors if self.radius is None else None
        if isinstance(given, FilePoints):
            with given.visit():
                found = Neighbors.in_blocks(given, k, self.radius, self.metric, self._held)
        else:
            how = {"metric": self.metric, "radius": self.radius, "approximate": self.approximate}
            found = Neighbors.of(given, k, **how)
        self.n_parts_ = found.components()[0]
        dense = given if self._precomputed and not sparse.issparse(given) else None
        near = found.connect(self.disconnected, dense)
        graph = near.graph()
        if not graph.data.any():
            raise InputError("all distances between neighbors are 0: all points are equal")
        self.kept_, self.n_bridges_ = near.kept, len(near.bridges)
        self.edges_, self.lengths_ = edges(graph, near.kept)
        dtype = np.dtype(np.float32 if given.dtype == np.float32 else np.float64)
        self._unit = unit_for(float(self.lengths_.max()), dtype)
        return near, graph

    def _graph(self) -> sparse.csr_array:
        """The graph again, from what is kept of it; edges of length 0 are edges."""
        i, j = np.searchsorted(self.kept_, self.edges_).T
        rows, columns = np.concatenate([i, j]), np.concatenate([j, i])
        order = np.argsort(rows, kind="stable")
        n = len(self.kept_)
        starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))])
        lengths = np.concatenate([self.lengths_] * 2)
        return sparse.csr_array((lengths[order], columns[order], starts), shape=(n, n))

    def _complete(self, given: Any) -> None:
        """Rows of ``embedding_`` for points that are not in the graph: placed as new ones."""
        n = given.shape[0]
        if len(self.kept_) == n:
            return
        outside = np.setdiff1d(np.arange(n), self.kept_)
        if sparse.issparse(given):
            raise InputError(
                f"{count(len(outside), 'point')} of the given graph are in no path from its "
                "largest part, and only a graph of points can place them; leave them out first"
            )
        Z = np.empty((n, self.embedding_.shape[1]), self.embedding_.dtype)
        Z[self.kept_] = self.embedding_
        self.embedding_ = Z
        far = isinstance(given, FilePoints)
        Z[outside] = self._placed(given.take(outside) if far else given[outside])

    def _warn_of_others(self) -> None:
        """Say how many points were not embedded themselves."""
        outside = len(self.embedding_) - len(self.kept_)
        if outside:
            warn(
                f"{count(outside, 'point')} outside the largest part of the graph were placed as "
                "new points; see kept_ for the others"
            )

    def _place(self, opened: Any) -> Array:
        found = [self._placed(new) for new in self._new_parts(opened)]
        return np.asarray(np.concatenate(found).astype(self.embedding_.dtype))

    def _new_parts(self, opened: Any) -> Iterator[Array]:
        """New points, as many at a time as an eighth of the budget holds if they stay in a file."""
        if self._precomputed or not stay_in_file(opened, self.memory):
            yield self._new(opened)
            return
        points = FilePoints(opened.rows)
        with points.visit():
            for some in parts(points, self._held):
                yield points.read_rows(some)

    @property
    def _held(self) -> int:
        """Bytes of points of a file that are held at a time."""
        return budget(self.memory) // 8

    def _placed(self, new: Array) -> Array:
        """Coordinates of new points."""
        raise TypeError(f"{type(self).__name__} does not say how it places new points")

    def _neighbors_of(self, new: Array) -> Iterator[tuple[slice, tuple[Array, Array, Array]]]:
        """Their neighbors in the graph, in blocks: which, and starts, numbers and distances."""
        Y = None if self._precomputed else self._inside
        step = max(1, _block // len(self.kept_))
        for a in range(0, len(new), step):
            some = new[a : a + step]
            if Y is None and len(self.kept_) < self.n_features_in_:
                some = some[:, self.kept_]
            found = search(some, Y, self.n_neighbors, self.radius, self.metric)
            if self.radius is not None:
                found = self._at_least_one(found, some, Y)
            yield slice(a, a + step), found

    @property
    def _inside(self) -> Array:
        """The points in the graph."""
        whole = len(self.kept_) == len(self.X_fit_)
        return np.asarray(self.X_fit_ if whole else self.X_fit_[self.kept_])

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
        n = len(self.kept_)
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
        elif self.n_parts_ > 1:
            yield (
                f"the graph is in {self.n_parts_} parts: the largest, of {n} points, was embedded, "
                f"and the other {len(self.embedding_) - n} placed as new points"
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


class BottomEmbedder(NeighborhoodEmbedder):
    """Base of methods that embed by the smallest pairs of a sparse map on the graph."""

    random_state: Any
    _laplacian = False  # the map is the normalized Laplacian of the graph

    def _smallest(self, A: Any, null: Array, k: int) -> Eigenpairs:
        """The pairs beyond ``null``, and the attributes that say how good they are."""
        rng = generator(self.random_state)
        how = {"solver": self.solver, "memory": self.memory, "rng": rng}
        pairs, self.plan_ = bottom(A, null, k, **how)
        self.eigenvalues_ = np.maximum(pairs.values, 0.0)
        self.residuals_, self.tolerance_ = pairs.residuals, pairs.tolerance
        self.n_components_, self.n_zero_ = len(pairs), zeros(A, pairs)
        if not pairs.certified:
            warn(
                f"an axis has residual {pairs.residuals.max():.1e} of the first eigenvalue left "
                f"out, asked for {pairs.tolerance:.1e}; see residuals_",
                CertificateWarning,
            )
        if pairs.tolerance > 1e-2:
            warn(
                "the wanted eigenvalues cannot be told from zero in float64: the axes are "
                "arbitrary to a large part; use more neighbors, or a larger reg",
                CertificateWarning,
            )
        return pairs

    def _planned(self, rows: Any) -> Plan:
        n, k = rows.shape[0], self._checked_count(rows.shape[0])
        entries = min(self._entries_a_row() + 1, n) * n
        expected = ExpectedSparse((n, n), np.dtype(np.float64), nnz=entries)
        how = {"solver": self.solver, "memory": self.memory, "laplacian": self._laplacian}
        found = plan(expected, min(k + 2, n), "smallest", **how)
        return replace(found, route=f"graph of neighbors, {found.route}", passes=1)

    def _entries_a_row(self) -> int:
        return 3 * int(self.n_neighbors)

    def _keeps(self) -> dict[str, Any]:
        kept = super()._keeps()
        for name in ("gram_", "eigenvectors_", "negativity_", "n_positive_"):
            del kept[name]
        return {**kept, "n_zero_": int}

    def _shares(self) -> None:
        return None

    def _measured(self) -> dict[str, Any]:
        return {"zero_eigenvalues": self.n_zero_ + 1, **super()._measured()}


def edges(graph: sparse.csr_array, numbers: Array) -> tuple[Array, Array]:
    """Edges of a symmetric graph (m, 2), each once, by the points' ``numbers``; their lengths."""
    rows = np.repeat(np.arange(graph.shape[0], dtype=graph.indices.dtype), np.diff(graph.indptr))
    upper = rows < graph.indices
    ends = np.column_stack([rows[upper], graph.indices[upper]])
    return numbers[ends], graph.data[upper]

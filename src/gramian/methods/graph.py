"""What methods share that embed by the smallest pairs of a graph's sparse map.

A method builds the map; the pairs beyond its known null vector, their certificate, points outside
the largest part, and what is shown and kept follow here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gramian.errors import CertificateWarning, InputError
from gramian.gram.nearest import even, nearest
from gramian.gram.neighbors import Neighbors
from gramian.maps import Array, unit_for
from gramian.methods.embedder import Embedder, generator, warn
from gramian.methods.similarity import GramEmbedder, as_points
from gramian.results import Embedding
from gramian.show.text import count
from gramian.spectral.bottom import bottom, zeros
from gramian.spectral.pairs import Eigenpairs
from gramian.spectral.plan import ExpectedSparse, Plan, plan


class GraphEmbedder(GramEmbedder):
    """Base of methods that embed by the smallest pairs of a map on the graph of neighbors."""

    n_neighbors: Any
    disconnected: str
    random_state: Any
    edges_: Array

    def _points(self, opened: Any) -> Array:
        """The points, near 1 by a power of two."""
        X = self.X_fit_ = as_points(opened, self.memory).copy()
        self._unit = unit_for(float(np.abs(X).max(initial=0.0)), X.dtype)
        return self._near_one(X)

    def _near_one(self, X: Array) -> Array:
        return X if self._unit == 1 else X * X.dtype.type(self._unit)

    def _connected(self, near: Neighbors) -> Neighbors:
        """The neighbors in one part; which points are in it."""
        found = near.connect(self.disconnected)
        self.kept_ = found.kept
        return found

    def _smallest(self, A: Any, null: Array, k: int) -> Eigenpairs:
        """The pairs beyond ``null``, and the attributes that say how good they are."""
        pairs, self.plan_ = bottom(
            A,
            null,
            k,
            solver=self.solver,
            memory=self.memory,
            rng=generator(self.random_state),
        )
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

    def _complete(self, Z: Array, dtype: Any) -> None:
        """Coordinates of all points: those outside the largest part are placed as new ones."""
        if len(self.kept_) == len(self.X_fit_):
            self.embedding_ = Z.astype(dtype)
            return
        outside = np.setdiff1d(np.arange(len(self.X_fit_)), self.kept_)
        self.embedding_ = np.empty((len(self.X_fit_), Z.shape[1]), dtype)
        self.embedding_[self.kept_] = Z
        self.embedding_[outside] = self._placed(self.X_fit_[outside])
        warn(
            f"{count(len(outside), 'point')} outside the largest part of the graph were placed as "
            "new points; see kept_ for the others"
        )

    def _query(self, X: Array) -> tuple[Array, Array, Array]:
        """The training points nearest to new ones: starts, indices, distances."""
        Y = self._near_one(self.X_fit_[self.kept_])
        return even(*nearest(self._near_one(X), Y, min(int(self.n_neighbors), len(Y)), "euclidean"))

    def _place(self, opened: Any) -> Array:
        return np.asarray(self._placed(self._new(opened)).astype(self.embedding_.dtype))

    def _placed(self, new: Array) -> Array:
        raise TypeError(f"{type(self).__name__} does not say how it places new points")

    def _planned(self, rows: Any) -> Plan:
        n, k = rows.shape[0], self._checked_count(rows.shape[0])
        entries = min(self._entries_a_row() + 1, n) * n
        expected = ExpectedSparse((n, n), np.dtype(np.float64), nnz=entries)
        found = plan(expected, min(k + 2, n), "smallest", self.solver, self.memory)
        return replace(found, route=f"graph of neighbors, {found.route}", passes=1)

    def _entries_a_row(self) -> int:
        return 3 * int(self.n_neighbors)

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
            **Embedder._keeps(self),
            **({"n_features_in_": "=n"} if self._precomputed else {"X_fit_": "n p"}),
            **dict.fromkeys(("eigenvalues_", "residuals_"), "k"),
            **dict.fromkeys(("_unit", "tolerance_"), float),
            "embedding_": "n k",
            "kept_": "m -> n",
            "edges_": "e two -> n",
            "n_zero_": int,
            "plan_": Plan,
            "_names": "text n?",
        }

    def _shares(self) -> None:
        return None

    def _measured(self) -> dict[str, Any]:
        return {"zero_eigenvalues": self.n_zero_ + 1}

    def _whole(self, name: str, least: int, most: int, why: str) -> int:
        """A parameter that is a whole number between two."""
        value = getattr(self, name)
        whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        if not whole or not least <= value <= most:
            raise InputError(
                f"{name}={value!r}: a whole number from {least} to {most} is needed ({why})"
            )
        return int(value)


def edges(indices: Array) -> Array:
    """Pairs of neighbors (m, 2), each once, smaller number first; nobody with itself."""
    n, k = indices.shape
    own, other = np.repeat(np.arange(n), k), indices.ravel()
    low, high = np.minimum(own, other), np.maximum(own, other)
    both = np.unique((low * n + high)[low < high])
    return np.column_stack([both // n, both % n])

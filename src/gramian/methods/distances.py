"""What methods of distances share: distances are given, or computed between points."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.data.dissimilarities import open_cross_distances, open_distances
from gramian.gram.distances import checked_metric, decided, pairwise
from gramian.gram.measured import Measured
from gramian.maps import Array
from gramian.methods.similarity import PointEmbedder, as_points


class DistanceReader(PointEmbedder):
    """Base of methods with a ``metric``: "precomputed" distances, or those between points."""

    reads = "distances"
    metric: Any
    metric_params: Any
    X_fit_: Array
    n_features_in_: int
    labels_: tuple[str, ...] | None
    _settings: dict[str, Any]

    @property
    def _gaps(self) -> bool:
        """Whether given distances may be missing (NaN)."""
        return False

    def _read_points(self, opened: Any) -> Measured:
        """What was given, ready to be asked for distances; points are kept, distances are not."""
        if self._precomputed:
            return Measured(opened.D)
        self.X_fit_ = as_points(opened, self.memory, missing=self._gower).copy()
        self._settings = decided(self.metric, self.metric_params, self.X_fit_)
        return Measured(self.X_fit_, self.metric, self._settings)

    def _new(self, opened: Any) -> Array:
        if self._precomputed:
            return np.asarray(opened)
        return as_points(opened, self.memory, missing=self._gower)

    def _between(self, X: Array, Y: Array | None) -> Array:
        return pairwise(X, Y, checked_metric(self.metric), **self._settings)

    @property
    def _gower(self) -> bool:
        """Whether the metric knows what to do with missing values."""
        return isinstance(self.metric, str) and self.metric == "gower"

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._gower
        return tags

    def _open(self, X: Any, reset: bool) -> Any:
        if not self._precomputed:
            return super()._open(X, reset)
        if not reset:
            return open_cross_distances(
                X, self.n_features_in_, self.labels_, self.memory, missing=self._gaps
            )
        found = open_distances(X, self.memory, missing=self._gaps)
        self.n_features_in_, self.labels_ = found.D.shape[0], found.labels
        return found

    def _labels(self, opened: Any, n: int) -> tuple[str, ...] | None:
        if not self._precomputed:
            return super()._labels(opened, n)
        return self.labels_ if n == self.n_features_in_ else None

"""A method fitted again and again: to permuted, shortened or resampled data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gramian.errors import InputError
from gramian.maps import Array
from gramian.quality.stress import stress_1


class Picture(NamedTuple):
    """Coordinates and what the method calls its stress."""

    Z: Array
    stress: float


@dataclass(frozen=True)
class Refit:
    """An unfitted estimator (anything with ``fit``, ``get_params`` and ``embedding_``) and data.

    ``X`` holds points, one a row, or dissimilarities where the estimator asks for "precomputed".
    """

    method: Any
    X: Array
    precomputed: bool

    @staticmethod
    def of(method: Any, X: Any, least: int = 3) -> Refit:
        """Check both."""
        if isinstance(method, type) or not hasattr(method, "fit"):
            raise InputError(f"method={method!r}: give an unfitted estimator, such as MDS(2)")
        if not hasattr(method, "get_params"):
            raise InputError(f"method={method!r} has no get_params; give an estimator")
        precomputed = "precomputed" in [
            each for each in method.get_params(deep=False).values() if isinstance(each, str)
        ]
        X = np.asarray(X, np.float64)
        if X.ndim != 2 or (precomputed and X.shape[0] != X.shape[1]):
            raise InputError(
                f"{'precomputed dissimilarities are square' if precomputed else 'X has rows'}; "
                f"got shape {X.shape}"
            )
        if len(X) < least:
            raise InputError(f"at least {least} points are needed, got {len(X)}")
        if np.isinf(X).any() or (np.isnan(X).any() and not precomputed):
            raise InputError("X holds NaN or inf; give finite numbers")
        return Refit(method, X, precomputed)

    def __call__(self, X: Array | None = None, **settings: Any) -> Picture:
        """Fit a clone with these settings changed; to ``X``, or to the data."""
        from sklearn.base import clone

        X = self.X if X is None else X
        model = clone(self.method)
        if settings:
            model.set_params(**settings)
        model.fit(X)
        if not hasattr(model, "embedding_"):
            raise InputError(f"{type(model).__name__} has no embedding_ after fit")
        Z = np.asarray(model.embedding_, np.float64)
        if hasattr(model, "stress_"):
            return Picture(Z, float(model.stress_))
        metric = "precomputed" if self.precomputed else getattr(model, "metric", "euclidean")
        return Picture(Z, stress_1(X, Z, metric=metric))

    def without(self, i: int) -> Array:
        """The data without point i."""
        X = np.delete(self.X, i, axis=0)
        return np.delete(X, i, axis=1) if self.precomputed else X

    def shuffled(self, rng: np.random.Generator) -> Array:
        """Dissimilarities dealt out anew to the pairs; or each column of points permuted alone."""
        if not self.precomputed:
            return np.asarray(rng.permuted(self.X, axis=0))
        pairs = np.tril_indices(len(self.X), -1)
        D = np.zeros(self.X.shape)
        D[pairs] = rng.permutation(self.X[pairs])
        return np.asarray(D + D.T)

"""The null of any method: permuted data, embedded by a clone of it.

A kernel or distance spectrum has no short cut through Y'Y: the columns of X are permuted, the
method is fitted again, and its ``explained_variance_`` or ``eigenvalues_`` are the replicate.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.data.door import open_rows
from gramian.errors import InputError
from gramian.inference.null import Progress
from gramian.maps import Array


class Reembedded:
    """Replicates of ``method``'s spectrum, to be compared with ``observed``."""

    def __init__(self, X: Any, method: Any, scale: str | None, null: str, seed: int) -> None:
        if not hasattr(method, "fit") or not hasattr(method, "get_params"):
            raise InputError(
                f"method={method!r}: give an unfitted estimator with fit, such as PCA(5)"
            )
        if "precomputed" in method.get_params(deep=False).values():
            raise InputError(
                "method works on a precomputed matrix, whose columns cannot be permuted one by "
                "one; give the observations themselves and let the method measure them"
            )
        if scale is not None:
            raise InputError("scale= is for PCA; set the scaling on the method itself")
        self.method, self.null, self.seed = method, null, seed
        self.observed = self._spectrum(X)
        rows = open_rows(X).rows
        n, p = self.shape = rows.shape
        self.columns = np.empty((p, n))
        for where, block in rows.blocks():
            self.columns[:, where] = block.T
        self.found: list[Array] = []

    def draw(self, count: int, progress: Progress | None = None, total: int = 0) -> None:
        """Fit to permuted data until there are ``count`` replicates."""
        while len(self.found) < count:
            self.found.append(self._spectrum(self._replicate(len(self.found))))
            if progress is not None:
                progress(len(self.found), total)

    def values(self, m: int, observed: Array) -> Array:
        """The top ``m`` of every replicate; a missing one counts as 0."""
        out = np.zeros((len(self.found), m))
        for row, values in zip(out, self.found, strict=True):
            row[: min(m, len(values))] = values[:m]
        return out

    def _replicate(self, r: int) -> Array:
        from gramian.loops.permute import flip_signs, shuffle

        seeds = np.random.SeedSequence(self.seed, spawn_key=(r,))
        key, out = seeds.generate_state(2, np.uint64), np.empty_like(self.columns)
        if self.null == "permutation":
            shuffle(self.columns, key, 0, out)
            return np.ascontiguousarray(out.T)
        mean = self.columns.mean(axis=1, keepdims=True)
        if self.null == "signflip":
            flip_signs(self.columns - mean, key, 0, out)
        else:
            size = self.columns.std(axis=1, ddof=1, keepdims=True)
            out = np.random.default_rng(seeds).standard_normal(out.shape) * size
        return np.ascontiguousarray((out + mean).T)

    def _spectrum(self, X: Any) -> Array:
        from sklearn.base import clone

        model = clone(self.method).fit(X)
        for name in ("explained_variance_", "eigenvalues_"):
            values = getattr(model, name, None)
            if values is not None:
                values = np.asarray(values, dtype=np.float64)
                if np.any(np.diff(values) > 1e-8 * np.abs(values).max(initial=0.0)):
                    raise InputError(
                        f"the {name} of {type(model).__name__} do not fall from the first on, so "
                        "large does not mean important; parallel analysis does not apply"
                    )
                return values
        raise InputError(
            f"{type(model).__name__} has no explained_variance_ or eigenvalues_ after fit"
        )

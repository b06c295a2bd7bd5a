"""What affine methods share: z = C (x - m), and back, x = m + B' z.

A fitted method has ``mean_``, ``scale_`` (or ``None``) and ``components_`` C (k x p); B is C itself
where its rows are orthonormal, else ``_basis`` says.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gramian.data.centering import Centering
from gramian.data.door import Opened, as_numbers
from gramian.data.moments import refuse_non_finite, units_of
from gramian.errors import InputError
from gramian.maps import Array
from gramian.methods.embedder import Embedder, row_by_row


class Centered(NamedTuple):
    """Centered rows with what the public attributes are made of."""

    Y: Any
    total: float
    weight: float
    back: float
    deviations: Array


class AffineEmbedder(Embedder):
    """Base of methods whose coordinates are affine in the data."""

    n_samples_: int | None
    scale_: Array | None = None

    @row_by_row("n_features_in_")
    def inverse_transform(self, X: Any) -> Array:
        """Points of the data space with the coordinates ``X`` (n, k): m + V z."""
        check_is_fitted(self)
        Z = as_numbers(X)
        if Z.shape[1] != self.n_components_:
            raise InputError(
                f"coordinates have {Z.shape[1]} columns, the model has {self.n_components_} axes"
            )
        missing = np.argwhere(~np.isfinite(Z))
        if len(missing):
            row, column = missing[0]
            raise InputError(
                f"the coordinates hold NaN or inf, first at row {row}, column {column}"
            )
        dtype = np.float32 if Z.dtype == np.float32 else np.float64
        Z = Z.astype(np.float64) * self._stretch()
        return np.asarray((Z @ self._basis() * self._units() + self.mean_).astype(dtype))

    @row_by_row()
    def placement_residual(self, X: Any) -> Array:
        """Distance of each row of ``X`` from the plane of the axes: how far outside it lies."""
        return np.sqrt(self._lengths_and_left_over(self._opened(X))[2])

    def _centering(self, opened: Opened, weights: Array) -> Centered:
        """Y = (X - 1 m') / units with the sum of its squares; keeps m and the units.

        ``back`` is the factor the data were multiplied by.
        """
        rows = opened.rows
        moments = rows.moments(weights)
        self._divisor = self._checked_divisor(moments.weight)
        deviations = np.sqrt(moments.variance * (moments.weight / self._divisor))
        scale = getattr(self, "scale", None)
        units = units_of(scale, deviations, opened.columns)
        self.mean_, self._mean_rest = moments.high / moments.unit, moments.low / moments.unit
        self.scale_ = None if scale is None else units / moments.unit
        self.n_samples_ = rows.shape[0]
        factor = moments.unit / units
        center = Centering.of(self.mean_, self._mean_rest, factor, np.sqrt(weights), rows.dtype)
        cross = None if moments.cross is None else moments.cross.scaled(1 / units)
        total = float(np.sum(moments.variance / units**2)) * moments.weight
        back = moments.unit if scale is None else 1.0
        Y = rows.then(center, cross)
        return Centered(Y, total, moments.weight, back, deviations / moments.unit)

    def _checked_divisor(self, weight: float) -> float:
        if isinstance(self.ddof, bool) or not isinstance(self.ddof, (int, float, np.integer)):
            raise InputError(f"ddof={self.ddof!r}: a number is needed, usually 1 or 0")
        if not 0 <= self.ddof < weight:
            raise InputError(f"ddof={self.ddof!r} must be at least 0 and less than n = {weight:g}")
        return float(weight - self.ddof)

    def _place(self, opened: Opened) -> Array:
        return self._coordinates(opened) * self._shrink().astype(opened.rows.dtype)

    def _coordinates(self, opened: Opened) -> Array:
        """z = V'(x - m), before whitening."""
        Y = self._centered(opened)
        Z = np.asarray(Y @ np.ascontiguousarray(self.components_.T, dtype=Y.dtype))
        if not np.isfinite(Z).all():
            refuse_non_finite(opened.rows)
            raise InputError("the coordinates overflow: the data are far larger than in the fit")
        return Z

    def _centered(self, opened: Opened) -> Any:
        rows = opened.rows
        ones = np.ones(1)
        return rows.then(
            Centering.of(self.mean_, self._mean_rest, 1 / self._units(), ones, rows.dtype)
        )

    def _lengths_and_left_over(self, opened: Opened) -> tuple[Array, Array, Array]:
        """Coordinates, |x - m|^2 and |x - m - V z|^2 of each row, a block at a time."""
        Y, Z = self._centered(opened), self._coordinates(opened).astype(np.float64)
        V = self._basis().astype(np.float64)
        lengths, left_over = np.empty(len(Z)), np.empty(len(Z))
        for rows, block in Y.blocks():
            block = block.astype(np.float64)
            lengths[rows] = np.einsum("ij,ij->i", block, block)
            block -= Z[rows] @ V
            left_over[rows] = np.einsum("ij,ij->i", block, block)
        return Z, lengths, left_over

    def _opened(self, X: Any) -> Opened:
        check_is_fitted(self)
        opened = self._open(X, reset=False)
        return opened

    def _basis(self) -> Array:
        """What coordinates are coordinates of: (k, p), x = m + B' z."""
        return np.asarray(self.components_)

    def _units(self) -> Array:
        p = self.components_.shape[1]
        return np.ones(p) if self.scale_ is None else np.asarray(self.scale_)

    def _shrink(self) -> Array:
        """What coordinates are multiplied by: 1, or 1 / standard deviation when whitening."""
        if not getattr(self, "whiten", False):
            return np.ones(self.n_components_)
        deviations = np.sqrt(self.explained_variance_)
        inside = np.arange(self.n_components_) < self.rank_
        return np.divide(1.0, deviations, out=np.zeros_like(deviations), where=inside)

    def _stretch(self) -> Array:
        if not getattr(self, "whiten", False):
            return np.ones(self.n_components_)
        return np.sqrt(self.explained_variance_)

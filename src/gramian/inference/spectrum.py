"""Centered data with their whole spectrum: what every rule here starts from.

Y = X - 1 m'  (divided by standard deviations if scale="unit"),    Y'Y or YY' = . L .'
variances     L / (n - 1)
rounding      below max(n, p) eps L_1 a value says nothing about the data
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.checkpoint import stage
from gramian.data.centering import Centering
from gramian.data.door import Opened, open_rows
from gramian.data.moments import units_of
from gramian.errors import GramianWarning, InputError
from gramian.inference.columns import Columns, columns_of
from gramian.maps import Array


@dataclass(frozen=True)
class Centered:
    """Columns, and the eigenvalues of Y'Y (all min(n, p), largest first) in their scale.

    ``unit`` says whether columns were scaled to unit variance, ``back`` is the power of two that
    leads back to the units of the data.
    """

    columns: Columns
    values: Array
    unit: bool
    back: float

    @staticmethod
    def of(Y: Any, unit: bool, back: float = 1.0, memory: Any = None) -> Centered:
        """From centered rows."""
        columns = columns_of(Y, memory)
        with stage("spectrum", shape=columns.shape) as here:
            values = columns.spectrum() if here.known is None else here.known["values"]
            here.finish(values=values)
        return Centered(columns, np.maximum(values, 0.0), unit, back)

    @property
    def shape(self) -> tuple[int, int]:
        """Observations and variables."""
        n, p = self.columns.shape
        return n, p

    @property
    def floor(self) -> float:
        """Values up to here are rounding."""
        eps = float(np.finfo(self.columns.Y.dtype).eps)
        return float(max(self.shape) * eps * self.values[0])

    @property
    def rank(self) -> int:
        """How many values are more than rounding."""
        return int(np.sum(self.values > self.floor))

    @property
    def variances(self) -> Array:
        """Eigenvalues of the covariance matrix that can be positive: min(n - 1, p)."""
        n, p = self.shape
        return self.in_units(self.values[: max(min(n - 1, p), 1)])

    def axes(self, k: int) -> Array:
        """The first ``k`` axes, p x k; ``k`` is at most the rank."""
        columns, (n, p) = self.columns, self.shape
        U = np.linalg.eigh(columns.own_products())[1][:, ::-1][:, :k]
        V = U if p <= n else np.concatenate([columns.read(a, b) @ U for a, b in columns.blocks()])
        return np.asarray(V / np.linalg.norm(V, axis=0))

    def in_units(self, values: Array) -> Array:
        """Eigenvalues of Y'Y as variances in the units of the data."""
        factor = self.columns.gain * self.back
        with np.errstate(over="ignore", under="ignore"):
            out = values / (self.shape[0] - 1) / factor / factor
        if not np.isfinite(out).all() or np.any((out == 0) & (values > self.floor)):
            warnings.warn(
                "the variances leave the range of float64 (the data are beyond 1e154, or below "
                "1e-154) and are cut to it; p-values and counts do not depend on that",
                GramianWarning,
                stacklevel=4,
            )
        return np.minimum(out, np.finfo(np.float64).max)


def center(X: Any, scale: str | None, memory: Any = None) -> Centered:
    """Open ``X``, center it, scale it if asked, and find its spectrum."""
    opened = X if isinstance(X, Opened) else open_rows(X, memory)
    rows = opened.rows
    if rows.shape[0] < 2:
        raise InputError("at least 2 observations are needed, got one row")
    moments = rows.moments(np.ones(1))
    deviations = np.sqrt(moments.variance * (moments.weight / (moments.weight - 1)))
    units = units_of(scale, deviations, opened.columns)
    mean, rest = moments.high / moments.unit, moments.low / moments.unit
    centering = Centering.of(mean, rest, moments.unit / units, np.ones(1), rows.dtype)
    return Centered.of(
        rows.then(centering), scale is not None, moments.unit if scale is None else 1.0, memory
    )

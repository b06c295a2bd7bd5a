"""Sparse rows as a map, centered without ever becoming dense.

Y = D (X - 1 m') F        m = means, F = factors of columns, D = root weights of rows
Y V  = D (X (F V) - 1 (m' F V)),        Y' U = F (X' (D U) - m (1' D U))
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from gramian.data.moments import Moments, refuse_non_finite, unit_for
from gramian.data.rows import Centering
from gramian.maps import Array, ImplicitMap


class SparseRows(ImplicitMap):
    """A SciPy sparse matrix or array of real numbers."""

    resident = True
    flip = False

    def __init__(self, X: Any, memory: Any = None) -> None:
        dtype = np.float32 if X.dtype in (np.float16, np.float32) else np.float64
        self.X = X.tocsr().astype(dtype, copy=False)
        self.shape, self.dtype = (X.shape[0], X.shape[1]), np.dtype(dtype)
        self.centering = Centering.none(self.shape[1], self.dtype)
        self._passes = [0]  # shared with the centered map that ``then`` makes

    def then(self, centering: Centering, cross: Any = None) -> SparseRows:
        """The same rows, centered implicitly."""
        other = copy(self)
        other.centering = centering
        return other

    @property
    def passes(self) -> int:
        """Visits to the data so far."""
        return self._passes[0]

    def moments(self, weights: Array) -> Moments:
        """Mean and variance of every column; the zeros that are not stored count."""
        p = self.shape[1]
        refuse_non_finite(self)
        values, columns = self.X.data.astype(np.float64), self.X.indices
        peak = float(np.abs(values).max(initial=0.0))
        unit = unit_for(peak, self.dtype)
        values *= unit
        weights = np.broadcast_to(weights, self.shape[0])
        w = np.repeat(weights, np.diff(self.X.indptr))
        total = float(weights.sum())
        mean = np.bincount(columns, w * values, minlength=p) / total
        stored = np.bincount(columns, w, minlength=p)
        squares = np.bincount(columns, w * (values - mean[columns]) ** 2, minlength=p)
        variance = (squares + (total - stored) * mean**2) / total
        return Moments(mean, np.zeros(p), variance, total, unit)

    def _times(self, V: Array) -> Array:
        self._passes[0] += 1
        c = self.centering
        FV = c.factor[:, None] * V.astype(self.dtype, copy=False)
        return np.asarray((self.X @ FV - self._mean @ FV) * c.weight[:, None])

    def _times_T(self, U: Array) -> Array:
        self._passes[0] += 1
        c = self.centering
        DU = c.weight[:, None] * U.astype(self.dtype, copy=False)
        return np.asarray(
            (self.X.T @ DU - np.outer(self._mean, DU.sum(axis=0))) * c.factor[:, None]
        )

    def adjoint(self, U: Array) -> Array:
        """Y' U in float64."""
        return np.asarray(self._times_T(U), dtype=np.float64)

    def gram(self, V: Array) -> Array:
        """Y' (Y V)."""
        return np.asarray(self._times_T(self._times(V)), dtype=np.float64)

    def cross(self) -> Array:
        """Y' Y = F (X' D^2 X - s m' - m s' + (1' D^2 1) m m') F with s = X' D^2 1."""
        self._passes[0] += 1
        c = self.centering
        d2 = np.broadcast_to(c.weight.astype(np.float64) ** 2, self.shape[0])
        X = self.X.astype(np.float64)
        scaled = X.multiply(d2[:, None]).tocsr()
        m = self._mean.astype(np.float64)
        sm = np.outer(X.T @ d2, m)
        C = (X.T @ scaled).toarray() - sm - sm.T + d2.sum() * np.outer(m, m)
        f = c.factor.astype(np.float64)
        return np.asarray(C * f[:, None] * f)

    def outer(self) -> Array:
        """Y Y' = D (X F^2 X' - a 1' - 1 a' + m' F^2 m) D with a = X F^2 m."""
        self._passes[0] += 1
        c = self.centering
        f2 = c.factor.astype(np.float64) ** 2
        X = self.X.astype(np.float64)
        m = self._mean.astype(np.float64)
        a = X @ (f2 * m)
        G = (X.multiply(f2).tocsr() @ X.T).toarray() - a[:, None] - a + m @ (f2 * m)
        d = np.broadcast_to(c.weight.astype(np.float64), self.shape[0])
        return np.asarray(G * d[:, None] * d)

    def row_blocks(self) -> list[slice]:
        """A fixed partition of the rows, about a million numbers each once dense."""
        n, p = self.shape
        step = max(1_000_000 // max(p, 1), 1)
        return [slice(a, min(a + step, n)) for a in range(0, n, step)]

    def read_rows(self, rows: slice) -> Array:
        """One block of Y, dense: for the few who need rows themselves."""
        c = self.centering
        dense = self.X[rows].toarray()
        w = c.weight if c.weight.size == 1 else c.weight[rows, None]
        return np.asarray((dense - self._mean) * c.factor * w)

    @property
    def _mean(self) -> Array:
        return np.asarray(self.centering.high + self.centering.low)

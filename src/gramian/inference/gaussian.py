"""The Gaussian model behind PCA: covariance = V diag(l - s2) V' + s2 I, never formed to be used.

With z = V'(x - m) the coordinates and r = |x - m|^2 - |z|^2 what they leave over,

    -2 log density = p log 2 pi + sum log l_i + (p - k) log s2 + sum z_i^2 / l_i + r / s2

so a density costs k numbers an observation, whatever p. Variables measured in units ``s`` (the
scale of a correlation PCA) add 2 sum log s_j.

Tipping & Bishop, Probabilistic principal component analysis, J. R. Stat. Soc. B 61 (1999).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramian.errors import InputError
from gramian.maps import Array, ImplicitMap


@dataclass(frozen=True)
class LowRankGaussian:
    """Axes V (p x k), their variances, the variance of every other direction, and units s."""

    V: Array
    variances: Array
    noise: float
    units: Array

    def log_density(self, Z: Array, left_over: Array) -> Array:
        """Of observations with coordinates Z and squared distance ``left_over`` from the plane."""
        p, k = self.V.shape
        self._refuse_singular()
        distance = np.sum(Z.astype(np.float64) ** 2 / self.variances, axis=1)
        log_det = float(np.sum(np.log(self.variances))) + 2 * float(np.sum(np.log(self.units)))
        if k < p:
            distance = distance + left_over / self.noise
            log_det += (p - k) * float(np.log(self.noise))
        return np.asarray(-0.5 * (p * np.log(2 * np.pi) + log_det + distance))

    def covariance(self) -> LowRankPlusDiagonal:
        """In the data's own units, as a map."""
        return LowRankPlusDiagonal(self.V, self.variances - self.noise, self.noise, self.units)

    def precision(self) -> LowRankPlusDiagonal:
        """The inverse of the covariance, as a map."""
        self._refuse_singular()
        base = 1 / self.noise if self.noise > 0 else 0.0
        return LowRankPlusDiagonal(self.V, 1 / self.variances - base, base, 1 / self.units)

    def _refuse_singular(self) -> None:
        p, k = self.V.shape
        if np.min(self.variances, initial=np.inf) <= 0 or (k < p and self.noise <= 0):
            raise InputError(
                "the data lie in a plane of fewer dimensions than they have variables, so they "
                "have no density; keep fewer components than the rank, or drop dependent variables"
            )


class LowRankPlusDiagonal(ImplicitMap):
    """diag(u) (V diag(a) V' + b I) diag(u)."""

    def __init__(self, V: Array, a: Array, b: float, u: Array) -> None:
        self.V, self.a, self.b, self.u = V.astype(np.float64), a, b, u
        self.shape, self.dtype = (len(V), len(V)), np.dtype(np.float64)

    def _times(self, X: Array) -> Array:
        X = X * self.u[:, None]
        return np.asarray(
            (self.V @ (self.a[:, None] * (self.V.T @ X)) + self.b * X) * self.u[:, None]
        )

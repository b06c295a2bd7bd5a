"""How much nearer to the center new observations lie on the axes of a fit.

With many variables an axis bends toward the very observations it is fitted to, so their scores are
too large and those of new observations are smaller by a factor. In the spiked model, d a sample
eigenvalue of Y'Y / n in units of the noise, g = p / n,

    d = l (1 + g / (l - 1))                   the true variance l behind it, if d > (1 + sqrt g)^2
    factor = (l - 1) / (l - 1 + g)

and an axis of noise alone has 1 / sqrt(d). Both agree at the edge. Noise and g come from the mean
and the variance of the eigenvalues of YY' that belong to no axis: by the law of Marchenko and
Pastur their ratio variance / mean^2 is 1 / g, whatever the number of correlated variables.

S. Lee, F. Zou & F. A. Wright, Annals of Statistics 38 (2010).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.maps import Array


@dataclass(frozen=True)
class Shrinkage:
    """A factor for each axis, and how many independent variables the noise is like."""

    factors: Array
    effective: float


def score_shrinkage(
    K: Any, U: Array, values: Array, trace: float, units: float, rng: np.random.Generator
) -> Shrinkage:
    """The factors from YY' / ``units`` = K / ``units``, given its top pairs and its trace.

    Parameters
    ----------
    K : map (n, n)
        Centered: the vector of ones is in its kernel.
    U : array (n, k)
    values : array (k,)
        In the units of ``trace``.
    trace : float
    units : float
        What K is divided by to have these values.
    rng : numpy.random.Generator
    """
    n, k = U.shape
    others = n - 1 - k
    mean = (trace - float(values.sum())) / others if others > 0 else 0.0
    if mean <= 1e-12 * max(trace, 0.0) or trace <= 0:
        return Shrinkage(np.ones(k), 0.0)
    inside = np.linalg.qr(np.column_stack([U, np.ones(n)]))[0]
    W = rng.choice([-1.0, 1.0], (n, 16))
    W -= inside @ (inside.T @ W)
    KW = np.asarray(K @ np.ascontiguousarray(W, K.dtype), np.float64) / units
    KW -= inside @ (inside.T @ KW)
    lengths = np.einsum("ij,ij->j", W, W)
    variance = float(np.mean(np.einsum("ij,ij->j", *2 * (KW - mean * W,)) / lengths))
    g = mean**2 / max(variance, 1e-300)
    if not np.isfinite(g) or g <= 0:
        return Shrinkage(np.ones(k), 0.0)
    return Shrinkage(factors(values / mean * g, g), g * n)


def factors(d: Array, g: float) -> Array:
    """The factor of each sample eigenvalue ``d`` of Y'Y / n, in units of the noise."""
    d = np.maximum(np.asarray(d, np.float64), 1.0)
    spiked = d > (1 + np.sqrt(g)) ** 2
    b = np.where(spiked, 1 + d - g, 0.0)  # l^2 - (1 + d - g) l + d = 0
    l = (b + np.sqrt(np.maximum(b * b - 4 * d, 0.0))) / 2
    excess = np.maximum(l - 1, 0.0)
    return np.where(spiked, excess / (excess + g), 1 / np.sqrt(d))

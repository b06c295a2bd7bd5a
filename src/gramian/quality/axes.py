"""How variables and observations relate to principal axes (the terms of FactoMineR).

Notation: V (p x k) axes of unit length, r (k) standard deviations along them, s (p) those of the
variables, Z (n x k) coordinates.

    correlation of variable j with axis i     V_ji r_i / s_j
    cos2 of an observation on axis i          z_i^2 / |x - m|^2          how well the axis shows it
    contribution of an observation            w z_i^2 / sum of w z_i^2   how much it makes the axis
    contribution of a variable                V_ji^2
"""

from __future__ import annotations

import numpy as np

from gramian.maps import Array


def correlations(V: Array, spreads: Array, deviations: Array) -> Array:
    """Correlation of each variable with each axis; 0 for a constant variable."""
    inverse = np.divide(1.0, deviations, out=np.zeros_like(deviations), where=deviations > 0)
    R = V * spreads * inverse[:, None]
    return np.asarray(np.clip(R, -1.0, 1.0))


def cos2(Z: Array, squared_lengths: Array) -> Array:
    """Share of each observation's squared distance from the mean that each axis shows."""
    inverse = np.divide(
        1.0, squared_lengths, out=np.zeros_like(squared_lengths), where=squared_lengths > 0
    )
    return np.asarray(np.clip(Z.astype(np.float64) ** 2 * inverse[:, None], 0.0, 1.0))


def contributions(Z: Array, sums_of_squares: Array) -> Array:
    """Share of each axis' sum of squares that each observation brings."""
    inverse = np.divide(
        1.0, sums_of_squares, out=np.zeros_like(sums_of_squares), where=sums_of_squares > 0
    )
    return np.asarray(Z.astype(np.float64) ** 2 * inverse)

"""Procrustes: two configurations of the same points laid on each other.

    X, Y centered;  X'Y = U S W';  Q = W U' is the rotation (or reflection) that brings Y to X
    scale   c = tr S / |Y|^2                      (1 if scaling is not allowed)
    left    m^2 = |X - c Y Q|^2                   symmetric form, both of unit size: 1 - (tr S)^2

J. C. Gower, Generalized Procrustes analysis, Psychometrika 40 (1975).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramian.errors import InputError
from gramian.maps import Array


@dataclass(frozen=True)
class Procrustes:
    """How ``Y`` is laid on ``X``, and what is left.

    Attributes
    ----------
    fitted : array of shape (n, k)
        ``Y`` rotated, scaled and moved onto ``X``.
    rotation : array of shape (k, k)
    scale : float
    translation : array of shape (k,)
    sum_of_squares : float
        Left between ``X`` and ``fitted``.
    symmetric : float
        The same when both were brought to unit size, with scaling: between 0 and 1, whichever is
        the target.
    size : float
        Sum of squares of ``X`` about its mean.
    residuals : array of shape (n,)
        How far each point of ``fitted`` lies from that of ``X``.
    """

    fitted: Array
    rotation: Array
    scale: float
    translation: Array
    sum_of_squares: float
    symmetric: float
    size: float
    residuals: Array

    @property
    def correlation(self) -> float:
        """sqrt(1 - symmetric): 1 where the shapes agree."""
        return float(np.sqrt(max(1 - self.symmetric, 0.0)))

    @property
    def rms(self) -> float:
        """What is left as a share of the size of ``X``: the root of the ratio of squares."""
        return float(np.sqrt(self.sum_of_squares / self.size))

    def place(self, points: Array) -> Array:
        """Other points of the configuration that ``Y`` belongs to, moved as ``Y`` was."""
        return np.asarray(self.scale * (np.asarray(points) @ self.rotation) + self.translation)


def procrustes(X: Array, Y: Array, *, scale: bool = False) -> Procrustes:
    """Lay ``Y`` on ``X`` (both of shape (n, k), the same points in the same order).

    Parameters
    ----------
    X, Y : array of shape (n, k)
    scale : bool
        Whether ``Y`` may be stretched too.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.quality.procrustes import procrustes
    >>> X = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 1.0]])
    >>> turned = X @ np.array([[0.0, 1.0], [-1.0, 0.0]]) + 7
    >>> bool(procrustes(X, turned).sum_of_squares < 1e-20)
    True
    """
    X, Y = np.asarray(X, np.float64), np.asarray(Y, np.float64)
    if X.shape != Y.shape or X.ndim != 2 or len(X) < 2:
        raise InputError(
            f"two configurations of the same points are needed, got shapes {X.shape} and {Y.shape}"
        )
    middle = X.mean(axis=0)
    center = Y.mean(axis=0)
    X0, Y0 = X - middle, Y - center
    xx, yy = float(np.sum(X0**2)), float(np.sum(Y0**2))
    if not (np.isfinite([xx, yy]).all() and xx > 0 and yy > 0):
        raise InputError("a configuration holds NaN or inf, or all of its points are equal")
    U, s, Wt = np.linalg.svd(X0.T @ Y0)
    Q, trace = Wt.T @ U.T, float(s.sum())
    c = trace / yy if scale else 1.0
    fitted = c * (Y0 @ Q)
    left = np.sum((X0 - fitted) ** 2, axis=1)
    symmetric = max(1 - trace**2 / (xx * yy), 0.0)
    return Procrustes(
        *(fitted + middle, Q, c, middle - c * (center @ Q)),
        *(float(left.sum()), symmetric, xx, np.sqrt(left)),
    )

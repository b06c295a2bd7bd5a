"""What resampling shows: errors, intervals, ellipses, and axes that cannot be told apart.

    ellipse   of a point with covariance S: {z : z' S^-1 z = -2 log(1 - level)}
    close     two sample eigenvalues of one true value repel each other: their squared difference
              over the sum of their squared errors is chi squared with 2 degrees of freedom. Below
              its 95 % point, 5.99, another sample could exchange them

T. W. Anderson, Asymptotic theory for principal component analysis, Ann. Math. Statist. 34 (1963);
G. R. North, T. L. Bell, R. F. Cahalan & F. J. Moeng, Sampling errors in the estimation of empirical
orthogonal functions, Mon. Weather Rev. 110 (1982).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gramian.errors import InputError
from gramian.inference.choose import checked_level
from gramian.maps import Array
from gramian.show.text import listed, number


@dataclass(frozen=True)
class Uncertainty:
    """Estimates of the first k axes with their standard errors.

    Attributes
    ----------
    eigenvalues, errors, bias, low, high : array of shape (k,)
        Estimate, standard error, estimated bias, and the interval of the stated level.
    loadings, loadings_errors : array of shape (p, k)
        Axes as columns.
    coordinates : array of shape (n, k)
    covariances : array of shape (n, k, k)
        Of each row's coordinates over the resamples.
    close_axes : list of (int, int)
        Neighbors, counted from 1, whose eigenvalues cannot be told from equal: read them as one
        plane.
    level : float
    n_resamples : int
    kind : str
    """

    eigenvalues: Array
    errors: Array
    bias: Array
    low: Array
    high: Array
    loadings: Array = field(repr=False)
    loadings_errors: Array = field(repr=False)
    coordinates: Array = field(repr=False)
    covariances: Array = field(repr=False)
    close_axes: list[tuple[int, int]]
    level: float
    n_resamples: int
    kind: str

    def ellipses(self, axes: tuple[int, int] = (0, 1), level: float | None = None) -> Array:
        """Confidence ellipses of the rows on two axes, counted from 0.

        Returns
        -------
        array of shape (n, 5)
            Center x and y, the two half-axes (longer first), and the angle of the longer one in
            degrees: what ``matplotlib.patches.Ellipse`` takes, with half-axes doubled.
        """
        level = self.level if level is None else checked_level(level)
        pair = list(axes)
        if len(pair) != 2 or not all(0 <= a < len(self.eigenvalues) for a in pair):
            raise InputError(f"axes={axes!r}: give two of 0 to {len(self.eigenvalues) - 1}")
        covariances = self.covariances[:, pair][:, :, pair]
        return ellipses_of(self.coordinates[:, pair], covariances, level)

    def __str__(self) -> str:
        share = number(100 * self.level)
        lines = [f"{'axis':>4} {'eigenvalue':>12} {'std. error':>12}   {share}% interval"]
        for i, value in enumerate(self.eigenvalues):
            lines.append(
                f"{i + 1:>4} {number(value):>12} {number(self.errors[i]):>12}   "
                f"{number(self.low[i])} to {number(self.high[i])}"
            )
        return "\n".join(
            [*lines, *([f"\n{said_close(self.close_axes)}"] if self.close_axes else [])]
        )


def ellipses_of(centers: Array, covariances: Array, level: float) -> Array:
    """Ellipses that hold a normal distribution's share ``level``, as ``Uncertainty.ellipses``.

    Parameters
    ----------
    centers : array of shape (m, 2)
    covariances : array of shape (m, 2, 2)
    level : float
    """
    values, vectors = np.linalg.eigh(covariances)
    halves = np.sqrt(np.maximum(values[:, ::-1], 0.0) * -2 * np.log1p(-level))
    angles = np.degrees(np.arctan2(vectors[:, 1, 1], vectors[:, 0, 1])) % 180
    return np.column_stack([centers, halves, angles])


def close_axes(values: Any, errors: Any) -> list[tuple[int, int]]:
    """Neighboring axes, counted from 1, whose eigenvalues may well be equal.

    Two sample eigenvalues of one true value repel each other: their squared difference over the
    sum of their squared standard errors is chi squared with 2 degrees of freedom (Anderson
    1963). Below its 95 % point the axes cannot be told apart.
    """
    values, errors = np.asarray(values), np.asarray(errors)
    apart = np.diff(values) ** 2 > -2 * np.log(0.05) * (errors[:-1] ** 2 + errors[1:] ** 2)
    return [(int(i) + 1, int(i) + 2) for i in np.flatnonzero(~apart)]


def said_close(pairs: list[tuple[int, int]]) -> str:
    """One sentence on such pairs."""
    names = listed([f"{a} and {b}" for a, b in pairs])
    return (
        f"the eigenvalues of axes {names} cannot be told from equal: another sample could turn or "
        "exchange these axes; read them as one plane"
    )

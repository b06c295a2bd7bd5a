"""Shepard's diagram: the regression of the distances in a picture on the dissimilarities.

    ratio      d^ = b D                    a line through the origin
    interval   d^ = a + b D                a line
    ordinal    d^ rises with D             steps (isotonic regression: pool adjacent violators)

and its fit, as ``stressplot`` of vegan gives it:

    stress-1        S = sqrt( sum (d - d^)^2 / sum d^2 )
    nonmetric fit   1 - S^2
    linear fit      squared correlation of d and d^

Ties, where dissimilarities are equal: "primary" lets their disparities differ, "secondary" makes
them equal, "tertiary" asks for order only of the means of ties.

R. N. Shepard, Psychometrika 27 (1962); J. B. Kruskal, Psychometrika 29 (1964).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from gramian.errors import InputError
from gramian.evidence import Shepard, sample_pairs
from gramian.maps import Array
from gramian.quality.stress import Kind, configuration, share_of_points

__all__ = ["ShepardFit", "isotonic", "shepard"]

Measurement = Literal["ratio", "interval", "ordinal"]
Ties = Literal["primary", "secondary", "tertiary"]


@dataclass(frozen=True)
class ShepardFit(Shepard):
    """Pairs of points with dissimilarity, distance in the picture, and the regression of it.

    Attributes
    ----------
    dissimilarities, distances, disparities : array of shape (m,)
    n_pairs : int
        How many pairs there are in all; m of them are here.
    pairs : array of shape (m, 2)
        Row numbers.
    n : int
        Points.
    measurement : str
    """

    pairs: Array
    n: int
    measurement: str

    @property
    def fitted(self) -> Array:
        """The disparities as an array."""
        return np.asarray(self.disparities)

    @property
    def stress_1(self) -> float:
        """Kruskal's stress-1 about the regression."""
        left = np.sum((self.distances - self.fitted) ** 2)
        return float(np.sqrt(left / np.sum(self.distances**2)))

    @property
    def stress_2(self) -> float:
        """Kruskal's stress-2 about the regression."""
        left = np.sum((self.distances - self.fitted) ** 2)
        return float(np.sqrt(left / np.sum((self.distances - self.distances.mean()) ** 2)))

    @property
    def nonmetric_fit(self) -> float:
        """1 - stress-1 squared."""
        return 1 - self.stress_1**2

    @property
    def linear_fit(self) -> float:
        """Squared correlation of distances and disparities; 0 where one of them is constant."""
        a = self.distances - self.distances.mean()
        b = self.fitted - self.fitted.mean()
        least = 1e-12 * np.abs(self.distances).max()
        if min(np.ptp(a), np.ptp(b)) <= least:
            return 0.0
        return float((a @ b) ** 2 / ((a @ a) * (b @ b)))

    def stress_per_point(self, kind: Kind = "percent") -> Array:
        """Of each point, as ``gramian.quality.stress_per_point``."""
        left = (self.distances - self.fitted) ** 2
        of_points = sum(np.bincount(side, left, minlength=self.n) for side in self.pairs.T)
        return share_of_points(np.asarray(of_points), float(np.sum(self.distances**2)), kind)

    def __str__(self) -> str:
        return (
            f"{self.measurement} regression of {len(self.pairs):,} pairs: stress-1 "
            f"{self.stress_1:.4f}, nonmetric fit {self.nonmetric_fit:.3f}, linear fit "
            f"{self.linear_fit:.3f}"
        )


def shepard(
    D: Any,
    Z: Any,
    measurement: Measurement = "ordinal",
    *,
    ties: Ties = "primary",
    weights: Any = None,
    disparities: Any = None,
    most: int | None = None,
) -> ShepardFit:
    """Regress the distances in the picture ``Z`` on the dissimilarities ``D``.

    Parameters
    ----------
    D : array of shape (n, n)
        Dissimilarities, symmetric; NaN is a missing pair.
    Z : array of shape (n, k)
    measurement : {"ordinal", "interval", "ratio"}
    ties : {"primary", "secondary", "tertiary"}
        Of the ordinal regression.
    weights : array of shape (n, n), optional
        Of the pairs, in the regression.
    disparities : array of shape (n, n), optional
        Taken as they are instead of a regression, whatever made them.
    most : int, optional
        Look at a fixed random sample of at most so many pairs; all by default.

    Returns
    -------
    ShepardFit
        What ``gramian.plot.shepard`` draws.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.quality import shepard
    >>> Z = np.array([[0.0], [1.0], [3.0], [7.0]])
    >>> D = np.sqrt(np.abs(Z - Z.T))
    >>> shepard(D, Z, "ordinal").stress_1
    0.0
    >>> print(shepard(D, Z, "interval"))
    interval regression of 6 pairs: stress-1 0.0633, nonmetric fit 0.996, linear fit 0.983
    """
    D = np.asarray(D)
    if D.ndim != 2 or D.shape[0] != D.shape[1] or D.dtype.kind not in "fiub":
        raise InputError(f"D must be a square matrix of dissimilarities, got shape {D.shape}")
    n = len(D)
    if n < 3:
        raise InputError(f"a Shepard diagram needs at least 3 points, got {n}")
    Z = configuration(Z, n).astype(np.float64)
    pairs = sample_pairs(n, n * n if most is None else most)
    given, pairs = _known(D, pairs)
    base = Shepard.of(given, Z, pairs)
    if not base.distances.any():
        raise InputError("all points of the picture are equal; there is nothing to regress")
    w = None if weights is None else _square(weights, n, "weights")[tuple(pairs.T)]
    if w is not None and ((w < 0).any() or not w.any()):
        raise InputError("weights are at least 0 and not all 0")
    if disparities is not None:
        fitted = _square(disparities, n, "disparities")[tuple(pairs.T)]
    else:
        fitted = _regressed(measurement, base, ties, w)
    return ShepardFit(
        *(base.dissimilarities, base.distances, fitted, base.n_pairs), pairs, n, measurement
    )


def isotonic(D: Array, d: Array, ties: Ties = "primary", weights: Array | None = None) -> Array:
    """The values nearest to ``d`` (m,) that rise with ``D`` (m,); see the module for ties."""
    from scipy.optimize import isotonic_regression

    w = np.ones(len(d)) if weights is None else weights
    out = np.empty(len(d))
    if ties == "primary":
        order = np.lexsort((d, D))
        kept = order[w[order] > 0]
        out[kept] = isotonic_regression(d[kept], weights=w[kept]).x
        if len(kept) < len(d):  # what weighs nothing lies on the line of the others
            out[w == 0] = np.interp(D[w == 0], D[kept], out[kept])
        return out
    if ties not in ("secondary", "tertiary"):
        raise InputError(f'ties is "primary", "secondary" or "tertiary", got {ties!r}')
    _, block = np.unique(D, return_inverse=True)
    total = np.bincount(block, w)
    means = np.bincount(block, w * d) / np.where(total > 0, total, 1)
    known = np.flatnonzero(total)
    steps = isotonic_regression(means[known], weights=total[known]).x
    fitted = np.interp(np.arange(len(total)), known, steps)[block]
    return np.asarray(fitted if ties == "secondary" else fitted + d - means[block])


def _regressed(measurement: str, base: Shepard, ties: Ties, w: Array | None) -> Array:
    D, d = base.dissimilarities, base.distances
    if measurement == "ordinal":
        return isotonic(D, d, ties, w)
    if measurement not in ("ratio", "interval"):
        raise InputError(f'measurement is "ratio", "interval" or "ordinal", got {measurement!r}')
    weights = np.ones(len(d)) if w is None else w
    middle = np.zeros(2)
    if measurement == "interval":
        middle = np.array([weights @ D, weights @ d]) / weights.sum()
    x, y = D - middle[0], d - middle[1]
    size = float(weights @ (x * x))
    slope = float(weights @ (x * y)) / size if size > 0 else 0.0
    return np.asarray(middle[1] + slope * x)


def _known(D: Array, pairs: Array) -> tuple[Array, Array]:
    """Dissimilarities of the pairs that have one, and these pairs."""
    given = D[tuple(pairs.T)].astype(np.float64)
    if np.isinf(given).any() or (given < 0).any():
        i, j = pairs[np.isinf(given) | (given < 0)][0]
        raise InputError(
            f"the dissimilarity of points {i} and {j} is {D[i, j]}; give a finite number of at "
            "least 0, or NaN where it is missing"
        )
    known = ~np.isnan(given)
    if known.sum() < 2:
        raise InputError("fewer than 2 pairs have a dissimilarity; a regression needs more")
    return given[known], pairs[known]


def _square(values: Any, n: int, name: str) -> Array:
    values = np.asarray(values, np.float64)
    if values.shape != (n, n) or not np.isfinite(values).all():
        raise InputError(f"{name} must be {n} x {n} finite numbers, got shape {values.shape}")
    return values

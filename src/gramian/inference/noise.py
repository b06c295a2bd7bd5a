"""Where noise ends: the Marchenko-Pastur law of its eigenvalues.

The eigenvalues of the covariance of n observations of p independent variables of variance s2 lie,
for large n and p with b = p / n, between s2 (1 - sqrt b)^2 and s2 (1 + sqrt b)^2, with density

    sqrt((high - x)(x - low)) / (2 pi b x)        (s2 = 1; a point mass 1 - 1/b at 0 if b > 1)

1. noise      s2 = median of the eigenvalues / median of that law
2. edge       keep l_i > s2 (1 + sqrt b)^2: an axis that pure noise does not reach
3. threshold  keep singular values above w(b) * their median: what makes the kept part closest to
              the truth (an axis just over the edge still does more harm than good)

              w(b) = t(b) / sqrt(median),  t^2 = 2 (b + 1) + 8 b / (b + 1 + sqrt(b^2 + 14 b + 1))

V. A. Marchenko & L. A. Pastur, Math. USSR Sbornik 1 (1967); M. Gavish & D. L. Donoho, The optimal
hard threshold for singular values is 4/sqrt 3, IEEE Trans. Inf. Theory 60 (2014).
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from gramian.errors import InputError
from gramian.inference.rules import checked_values


@cache
def marchenko_pastur_median(b: float) -> float:
    """Median of the law with aspect b = p / n between 0 and 1, s2 = 1."""
    from scipy.optimize import brentq

    if not 0 < b <= 1:
        raise InputError(f"the aspect {b!r} must be above 0 and at most 1: turn the data round")
    low, high = (1 - np.sqrt(b)) ** 2, (1 + np.sqrt(b)) ** 2
    nodes, weights = np.polynomial.legendre.leggauss(200)

    def below(x: float) -> float:
        # t -> low + (high - low) sin^2(t) takes the square roots at both ends away
        end = np.arcsin(np.sqrt((x - low) / (high - low)))
        t = end * (nodes + 1) / 2
        y = low + (high - low) * np.sin(t) ** 2
        density = (high - low) ** 2 * np.sin(2 * t) ** 2 / (2 * y)
        return float(end / 2 * np.sum(weights * density) / (2 * np.pi * b))

    return float(brentq(lambda x: below(x) - 0.5, low + 1e-9 * (high - low), high, xtol=1e-14))


def noise_variance(values: Any, n: int, p: int) -> float:
    """Variance of the noise from the median eigenvalue of a covariance matrix (step 1).

    Parameters
    ----------
    values : the min(n - 1, p) eigenvalues that can be positive
    n, p : observations and variables
    """
    values, rows = checked_values(values), n - 1
    small, large = min(rows, p), max(rows, p)
    # n - 1 centered rows: the values scaled to the longer side follow the law with b <= 1
    return float(np.median(values[:small])) * rows / large / marchenko_pastur_median(small / large)


def marchenko_pastur_edge(values: Any, n: int, p: int) -> float:
    """The largest eigenvalue that noise of the estimated variance is expected to have (step 2)."""
    return noise_variance(values, n, p) * (1 + float(np.sqrt(p / (n - 1)))) ** 2


def marchenko_pastur(values: Any, n: int, p: int) -> int:
    """How many eigenvalues of the covariance matrix lie beyond the edge of noise."""
    return int(np.sum(checked_values(values) > marchenko_pastur_edge(values, n, p)))


def gavish_donoho_factor(b: float) -> float:
    """w(b): the threshold over the median singular value, b between 0 and 1 (step 3)."""
    best = 2 * (b + 1) + 8 * b / (b + 1 + np.sqrt(b * b + 14 * b + 1))
    return float(np.sqrt(best / marchenko_pastur_median(b)))


def gavish_donoho(values: Any, n: int, p: int) -> int:
    """How many singular values exceed the optimal hard threshold for noise of unknown size."""
    values = checked_values(values)
    small, large = min(n - 1, p), max(n - 1, p)
    roots = np.sqrt(values)
    return int(np.sum(roots > gavish_donoho_factor(small / large) * np.median(roots[:small])))

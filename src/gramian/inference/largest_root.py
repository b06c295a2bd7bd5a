"""Is the next eigenvalue larger than the largest of noise? The Tracy-Widom test.

1. scale      of the m eigenvalues left,  e = l m / sum l
2. effective  n' = m (m + 2) / (sum e^2 - m):  correlated variables count for fewer
3. center     mu = (sqrt(n' - 1) + sqrt m)^2 / n',
              sigma = (sqrt(n' - 1) + sqrt m) / n' * (1 / sqrt(n' - 1) + 1 / sqrt m)^(1/3)
4. test       x = (e_1 - mu) / sigma,  p = 1 - F1(x); leave the largest out and go on

and F1(x) = det(I - A), A(s, t) = Ai(s + t + x) on s, t > 0, by Gauss-Legendre quadrature. With the
eigenvalues a_i of A, 1 - F1 = -expm1(sum log1p(-a_i)) keeps its digits far into the upper tail.

The formula for n' is that of the program twstats of EIGENSOFT; the paper prints
(m + 1)(sum l)^2 / ((m - 1) sum l^2 - (sum l)^2), which gives other numbers.

I. M. Johnstone, Ann. Statist. 29 (2001); N. Patterson, A. L. Price & D. Reich, Population structure
and eigenanalysis, PLoS Genetics 2 (2006); P. L. Ferrari & H. Spohn, J. Phys. A 38 (2005) and
F. Bornemann, Math. Comp. 79 (2010) for the determinant.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from scipy.special import airy

from gramian.errors import InputError
from gramian.inference.choose import checked_level
from gramian.inference.rules import checked_values
from gramian.inference.table import axis_table
from gramian.maps import Array


@dataclass(frozen=True)
class TracyWidom:
    """Of each eigenvalue in turn: effective n', statistic and p-value."""

    n_components: int
    effective_n: Array = field(repr=False)
    statistics: Array = field(repr=False)
    p_values: Array = field(repr=False)
    alpha: float

    def __str__(self) -> str:
        columns = {
            "effective n": self.effective_n,
            "statistic": self.statistics,
            "p": self.p_values,
        }
        kept = np.arange(len(self.p_values)) < self.n_components
        return "\n".join(axis_table(columns, kept, self.n_components + 3))


def tracy_widom_survival(x: float) -> float:
    """1 - F1(x): the chance that a Tracy-Widom number (beta = 1) exceeds ``x``."""
    x = float(x)
    if np.isnan(x):
        raise InputError("x is NaN")
    if x < -40:
        return 1.0
    if x > 110:
        return 0.0  # below the smallest float64
    # A decays like exp(-2/3 (s + t + x)^1.5): beyond this length nothing is left to sum
    length = 16.0 - x if x < 4 else max(40 / np.sqrt(x), 1.0)
    nodes, weights = _quadrature()
    s, w = length * (nodes + 1) / 2, np.sqrt(length * weights / 2)
    A = w[:, None] * airy(s[:, None] + s + x)[0] * w
    # from x = -6 down a value of A rounds to 1 or beyond: F1 is 0 to all digits there
    values = np.minimum(np.linalg.eigvalsh(A), 1 - 1e-16)
    return float(-np.expm1(np.sum(np.log1p(-values))))


@cache
def _quadrature() -> tuple[Array, Array]:
    return np.polynomial.legendre.leggauss(48)


def tracy_widom(values: Any, alpha: float = 0.05) -> TracyWidom:
    """Test eigenvalues one after another until one is no larger than noise would give.

    Parameters
    ----------
    values : eigenvalues of the covariance matrix, largest first
        All that are not 0: min(n - 1, p) of them.
    alpha : float

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.inference import tracy_widom
    >>> tracy_widom([9.0, *np.linspace(1.5, 0.5, 60)]).n_components
    1
    """
    values = checked_values(values)
    alpha = checked_level(alpha, "alpha", 0.05)
    values = values[values > len(values) * np.finfo(np.float64).eps * values[0]]
    found = []
    for i in range(len(values) - 1):
        size, x = _statistic(values[i:])
        found.append((size, x, tracy_widom_survival(x)))
        if found[-1][2] > alpha and i >= 4:
            break
    sizes, statistics, p = np.array(found).reshape(-1, 3).T
    kept = int(np.logical_and.accumulate(p <= alpha).sum())
    return TracyWidom(kept, sizes, statistics, p, alpha)


def _statistic(values: Array) -> tuple[float, float]:
    """Effective n' and the statistic of the largest of ``values`` (steps 1 to 3)."""
    m = len(values)
    e = values * m / values.sum()
    spread = float(np.sum(e * e)) - m
    if spread <= 1e-10 * m:  # all equal: nothing stands out
        return np.inf, -np.inf
    n = m * (m + 2) / spread
    rows, columns = np.sqrt(max(n - 1, 1e-3)), np.sqrt(m)
    mu = (rows + columns) ** 2 / n
    sigma = (rows + columns) / n * (1 / rows + 1 / columns) ** (1 / 3)
    return float(n), float((e[0] - mu) / sigma)

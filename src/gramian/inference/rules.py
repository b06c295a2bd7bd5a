"""Rules that read the spectrum alone.

    share          the first k values exceed a share of their sum
    Kaiser         l_i > mean of the values (1 for a correlation matrix)
    broken stick   l_i > total / p * sum_{j=i..p} 1/j, as long as that holds

The broken stick is what the longest, second longest, ... piece of a stick broken at random has on
average. Kaiser's rule keeps too many: on noise, about half of the axes lie above their mean.

H. F. Kaiser, Educ. Psychol. Meas. 20 (1960); S. Frontier, J. Exp. Mar. Biol. Ecol. 25 (1976);
D. A. Jackson, Stopping rules in principal components analysis, Ecology 74 (1993).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.errors import InputError
from gramian.inference.choose import checked_level, share_reached
from gramian.maps import Array


def share_of_variance(values: Any, share: float = 0.9) -> int:
    """How many leading values it takes to exceed ``share`` of the total."""
    values = checked_values(values)
    share = checked_level(share, "share", 0.9)
    return share_reached(values, float(values.sum()), share) or len(values)


def kaiser(values: Any) -> int:
    """How many values exceed their mean (Kaiser 1960; Guttman 1954).

    Give all p of them, those that are 0 included: the mean depends on it.
    """
    values = checked_values(values)
    return int(np.sum(values > values.mean() * (1 + 1e-12)))


def broken_stick_values(values: Any) -> Array:
    """What the broken stick expects of each value, with the same total."""
    values = checked_values(values)
    pieces = np.cumsum(1 / np.arange(len(values), 0, -1.0))[::-1]
    return np.asarray(pieces * values.sum() / len(values))


def broken_stick(values: Any) -> int:
    """How many leading values exceed the broken stick's, before the first that does not."""
    values = checked_values(values)
    return int(np.logical_and.accumulate(values > broken_stick_values(values)).sum())


def checked_values(values: Any) -> Array:
    """Eigenvalues as an array: finite, at least 0 (rounding below is 0), largest first."""
    found = np.asarray(values, dtype=np.float64)
    if found.ndim != 1 or not len(found):
        raise InputError(f"give a list of eigenvalues; got shape {found.shape}")
    if not np.isfinite(found).all():
        raise InputError("the eigenvalues hold NaN or inf")
    largest = float(np.abs(found).max())
    if found.min() < -1e-8 * largest:
        raise InputError(f"the eigenvalue {found.min():.3g} is negative; variances cannot be")
    if np.any(np.diff(found) > 1e-12 * largest):
        raise InputError("the eigenvalues must be sorted, largest first")
    return np.maximum(found, 0.0)

"""How rows are centered and scaled as each block of them is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.maps import Array


@dataclass(frozen=True)
class Centering:
    """Y = ((X - high) - low) * factor * weight: the mean in two parts, one weight a row.

    ``high + low`` is the mean to twice the precision of the data, ``weight`` the square root of
    the sample weight; a single weight counts for all rows.
    """

    high: Array
    low: Array
    factor: Array
    weight: Array

    @staticmethod
    def of(mean: Array, rest: Array, factor: Array, weight: Array, dtype: Any) -> Centering:
        """From the mean (high and low part), factors and root weights, in float64."""
        high = mean.astype(dtype)
        low = ((mean - high) + rest).astype(dtype)
        return Centering(high, low, factor.astype(dtype), weight.astype(dtype))

    @staticmethod
    def none(p: int, dtype: Any) -> Centering:
        """Y = X."""
        zero = np.zeros(p, dtype)
        return Centering(zero, zero, np.ones(p, dtype), np.ones(1, dtype))

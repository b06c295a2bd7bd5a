"""Singular triplets of data, X v = s u and X' u = s v, from the eigenpairs of X'X (or XX').

u = X v / s;   residual  max(|X v - s u|, |X' u - s v|) / s_1 = |X'X v - s^2 v| / (s s_1)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.maps import Array
from gramian.spectral.pairs import Eigenpairs
from gramian.spectral.plan import DataMap, Plan
from gramian.spectral.principal import principal_axes, rank_tolerance


@dataclass(frozen=True)
class Triplets:
    """The largest triplets: ``values`` s, ``right`` V; ``rank`` of the values are not rounding."""

    values: Array
    right: Array
    rank: int
    pairs: Eigenpairs
    plan: Plan

    def residuals(self, lengths: Array) -> Array:
        """The certificate, given the lengths of X V: beyond the rank they have to be 0."""
        s, r = self.values, self.rank
        out = lengths / (s[0] or 1.0)
        out[:r] = self.pairs.residuals[:r] * s[0] / s[:r]
        return np.asarray(out)


def triplets(X: DataMap, k: int, **how: Any) -> Triplets:
    """The ``k`` largest; ``how`` goes to ``principal_axes``."""
    found = principal_axes(X, k, **how)
    s = np.sqrt(np.maximum(found.pairs.values, 0.0))
    V = np.ascontiguousarray(found.pairs.vectors, dtype=X.dtype)
    rank = int(np.sum(s > rank_tolerance(X.shape, np.dtype(X.dtype)) * s[0]))
    return Triplets(s, V, rank, found.pairs, found.plan)

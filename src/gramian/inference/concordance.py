"""PROTEST: whether two configurations of the same points agree more than by chance.

1. observe    r = sqrt(1 - m^2), m^2 what symmetric Procrustes leaves: r = tr S of X'Y = U S W',
              both configurations centered and of unit size
2. permute    the rows of Y, and r again; only X'Y (k x k) changes
3. compare    p = share of the permutations whose r reaches the observed one

D. A. Jackson, Ecoscience 2 (1995); P. R. Peres-Neto & D. A. Jackson, Oecologia 129 (2001).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gramian.errors import InputError
from gramian.inference.choose import checked_count
from gramian.inference.null import seed_of
from gramian.inference.permutations import orders, p_value, strata_of
from gramian.maps import Array
from gramian.quality.procrustes import Procrustes, procrustes
from gramian.show.text import number

__all__ = ["Protest", "protest"]


@dataclass(frozen=True)
class Protest:
    """How well two configurations agree, and how often chance does as well.

    Attributes
    ----------
    correlation : float
        r of symmetric Procrustes: 1 where the shapes agree.
    sum_of_squares : float
        1 - r^2, what is left of unit size.
    p_value : float
    n_permutations : int
    permuted : array of shape (n_permutations,)
        r of the permutations.
    fit : Procrustes
        Y laid on X, with its residuals point by point.
    """

    correlation: float
    sum_of_squares: float
    p_value: float
    n_permutations: int
    permuted: Array = field(repr=False)
    fit: Procrustes = field(repr=False)

    def quantiles(self, levels: Sequence[float] = (0.05, 0.5, 0.95)) -> Array:
        """Of r over the permutations."""
        return np.asarray(np.quantile(self.permuted, levels))

    def __str__(self) -> str:
        low, middle, high = (number(each, 3) for each in self.quantiles())
        more = "agree more than" if self.p_value <= 0.05 else "do not agree more than"
        return (
            f"Procrustes correlation {number(self.correlation)}, p = {number(self.p_value, 3)} by "
            f"{self.n_permutations:,} permutations (theirs: {low} to {high}, median {middle}): the "
            f"two configurations {more} chance would make them"
        )


def protest(
    X: Any, Y: Any, *, n_permutations: int = 999, strata: Any = None, random_state: Any = None
) -> Protest:
    """Test whether two configurations of the same points agree.

    Parameters
    ----------
    X, Y : array of shape (n, k)
        The same points in the same order.
    n_permutations : int
    strata : sequence of length n, optional
        Points are exchanged within their stratum only.
    random_state : int, Generator, RandomState or None
        ``None`` means 0.

    Returns
    -------
    Protest

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.inference import protest
    >>> X = np.random.default_rng(0).normal(size=(30, 2))
    >>> found = protest(X, 3 * X[:, ::-1] + 5)
    >>> round(found.correlation, 6), found.p_value
    (1.0, 0.001)
    """
    X, Y = np.asarray(X, np.float64), np.asarray(Y, np.float64)
    R, seed = checked_count(n_permutations, "n_permutations", 1), seed_of(random_state)
    if X.ndim == 2 and len(X) < 3:
        raise InputError(f"a test of two configurations needs at least 3 points, got {len(X)}")
    fit = procrustes(X, Y, scale=True)  # 1
    X0, Y0 = ((Z - Z.mean(axis=0)) / np.linalg.norm(Z - Z.mean(axis=0)) for Z in (X, Y))
    groups = strata_of(strata, len(X))
    permuted = np.concatenate(
        [
            np.linalg.svd(X0.T @ Y0[order], compute_uv=False).sum(axis=1)  # 2
            for order in orders(len(X), R, seed, strata=groups, width=X.shape[1])
        ]
    )
    p = float(p_value(permuted, fit.correlation))  # 3
    return Protest(fit.correlation, fit.symmetric, p, R, permuted, fit)

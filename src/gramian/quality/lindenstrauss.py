"""How far a projection stretches and shrinks distances, and how far theory lets it.

Johnson and Lindenstrauss: n points can be put into k >= 4 log n / (e^2 / 2 - e^3 / 3) dimensions so
that every squared distance changes by a factor between 1 - e and 1 + e. A random projection does it
with high probability, whatever the data and however many variables they have.

W. B. Johnson & J. Lindenstrauss (1984); S. Dasgupta & A. Gupta, An elementary proof of a theorem of
Johnson and Lindenstrauss, Random Struct. Algorithms 22 (2003).
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.errors import InputError
from gramian.maps import Array


def johnson_lindenstrauss(n_samples: Any, eps: float = 0.1) -> int:
    """The dimension that keeps all squared distances of ``n_samples`` points to 1 +- ``eps``.

    Examples
    --------
    >>> from gramian.quality import johnson_lindenstrauss
    >>> johnson_lindenstrauss(1_000_000, 0.5)
    663
    """
    whole = isinstance(n_samples, numbers.Integral) and not isinstance(n_samples, bool)
    if not whole or n_samples < 1:
        raise InputError(f"n_samples={n_samples!r}: give a whole number of at least 1")
    eps = checked_eps(eps)
    return int(4 * np.log(float(n_samples)) / (eps**2 / 2 - eps**3 / 3))


def checked_eps(eps: Any) -> float:
    """A distortion between 0 and 1."""
    real = isinstance(eps, numbers.Real) and not isinstance(eps, bool)
    if not real or not 0 < float(eps) < 1:
        raise InputError(f"eps={eps!r}: give a number between 0 and 1, such as 0.1")
    return float(eps)


@dataclass(frozen=True)
class Distortion:
    """Squared distances after a projection over those before, of pairs drawn at random.

    Attributes
    ----------
    smallest, median, largest : float
        Of the ratios; 1 is no distortion.
    within : float
        Share of the pairs whose ratio lies between 1 - eps and 1 + eps.
    eps : float
    pairs : int
        How many were looked at; pairs of equal points are left out.
    promised : int
        The dimension for which theory promises ``eps`` for all pairs at once.
    dimension : int
        The dimension that was used.
    """

    smallest: float
    median: float
    largest: float
    within: float
    eps: float
    pairs: int
    promised: int
    dimension: int

    def __str__(self) -> str:
        kept = "meet" if self.dimension >= self.promised else "are fewer than"
        return (
            f"squared distances of {self.pairs:,} pairs are multiplied by {self.smallest:.3f} to "
            f"{self.largest:.3f} (median {self.median:.3f}); {self.within:.1%} lie within "
            f"1 +- {self.eps:g}; {self.dimension:,} dimensions {kept} the {self.promised:,} that "
            "Johnson and Lindenstrauss ask to keep all pairs so"
        )


def distortion(
    X: Any, Z: Any, eps: float = 0.1, *, pairs: int = 10_000, random_state: Any = None
) -> Distortion:
    """Compare distances of the rows of ``X`` with those of their images ``Z``.

    Parameters
    ----------
    X, Z : (n, p) and (n, k) arrays or sparse matrices
    eps : float
        The distortion that was aimed at.
    pairs : int
        How many pairs to draw; all of them where there are fewer.
    random_state : int, Generator or None
    """
    eps, n = checked_eps(eps), X.shape[0]
    if n < 2 or Z.shape[0] != n:
        raise InputError(f"distances need two rows or more, as many of both; got {n}, {Z.shape[0]}")
    if n * (n - 1) // 2 <= pairs:
        i, j = np.triu_indices(n, 1)
    else:
        rng = np.random.default_rng(0 if random_state is None else random_state)
        i = rng.integers(0, n, pairs)
        j = (i + rng.integers(1, n, pairs)) % n
    before, after = _squared(X, i, j), _squared(Z, i, j)
    apart = before > 0
    if not apart.any():
        raise InputError("all points are equal: there are no distances to keep")
    ratios = after[apart] / before[apart]
    within = float(np.mean(np.abs(ratios - 1) <= eps))
    low, middle, high = (float(np.quantile(ratios, q)) for q in (0, 0.5, 1))
    promised = johnson_lindenstrauss(n, eps)
    return Distortion(low, middle, high, within, eps, len(ratios), promised, Z.shape[1])


def _squared(X: Any, i: Array, j: Array) -> Array:
    """|x_i - x_j|^2 of each pair, a part of them at a time."""
    out = np.empty(len(i))
    step = max(1, 2_000_000 // X.shape[1])
    for a in range(0, len(i), step):
        part = slice(a, a + step)
        apart = X[i[part]] - X[j[part]]
        if hasattr(apart, "multiply"):
            out[part] = np.asarray(apart.multiply(apart).sum(axis=1)).ravel()
        else:
            apart = apart.astype(np.float64)
            out[part] = np.einsum("ij,ij->i", apart, apart)
    return out

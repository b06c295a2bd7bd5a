"""Is a stress small? Beside that of data without structure, and over numbers of axes.

1. null       dissimilarities dealt out anew to the pairs of points; or, where the method measures
              points itself, each column of the data permuted alone
2. refit      the method, to every permutation
3. compare    p = share of the permutations whose stress is as small

P. Mair, I. Borg & T. Rusch, Multivariate Behavioral Research 51 (2016).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gramian.errors import InputError
from gramian.inference.choose import checked_count
from gramian.inference.null import seed_of
from gramian.inference.permutations import p_value
from gramian.inference.refit import Refit
from gramian.maps import Array
from gramian.progress import tick
from gramian.show.text import number

__all__ = ["StressScree", "StressTest", "stress_by_dimension", "stress_permutation_test"]


@dataclass(frozen=True)
class StressTest:
    """A stress beside those of permuted data.

    Attributes
    ----------
    stress : float
        Of the data: ``stress_`` of the method, or stress-1 where it has none.
    p_value : float
    n_permutations : int
    permuted : array of shape (n_permutations,)
    """

    stress: float
    p_value: float
    n_permutations: int
    permuted: Array = field(repr=False)

    def quantiles(self, levels: Sequence[float] = (0.05, 0.5, 0.95)) -> Array:
        """Of the stress over the permutations."""
        return np.asarray(np.quantile(self.permuted, levels))

    def __str__(self) -> str:
        low, middle, high = (number(each, 3) for each in self.quantiles())
        found = "there is structure" if self.p_value <= 0.05 else "chance does as well"
        return (
            f"stress {number(self.stress, 4)}, p = {number(self.p_value, 3)} by "
            f"{self.n_permutations:,} permutations (theirs: {low} to {high}, median {middle}): "
            f"{found}"
        )


@dataclass(frozen=True)
class StressScree:
    """The stress of maps with more and more axes: look for the bend.

    Attributes
    ----------
    dimensions : array of int of shape (m,)
    stress : array of shape (m,)
    """

    dimensions: Array
    stress: Array

    def __str__(self) -> str:
        pairs = zip(self.dimensions, self.stress, strict=True)
        return "\n".join(["axes    stress", *(f"{k:>4} {number(s, 4):>9}" for k, s in pairs)])


def stress_permutation_test(
    method: Any, X: Any, *, n_permutations: int = 99, random_state: Any = None
) -> StressTest:
    """Test whether the stress of a method is smaller than chance would give.

    Parameters
    ----------
    method : unfitted estimator
        With ``embedding_`` after ``fit``, and ``stress_``: else stress-1 is measured.
    X : array of shape (n, p), or (n, n) for a method of precomputed dissimilarities
    n_permutations : int
        Each is a fit.
    random_state : int, Generator, RandomState or None
        ``None`` means 0.

    Returns
    -------
    StressTest

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import ClassicalMDS
    >>> from gramian.inference import stress_permutation_test
    >>> X = np.random.default_rng(0).normal(size=(20, 2)) @ np.ones((2, 5))
    >>> stress_permutation_test(ClassicalMDS(1), X, n_permutations=19).p_value
    0.05
    """
    fit = Refit.of(method, X)
    R, seed = checked_count(n_permutations, "n_permutations", 1), seed_of(random_state)
    observed = fit().stress
    permuted = np.empty(R)
    for r in range(R):
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(r,)))
        permuted[r] = fit(fit.shuffled(rng)).stress  # 1, 2
        tick("permutations", r + 1, R)
    return StressTest(observed, float(p_value(-permuted, -observed)), R, permuted)  # 3


def stress_by_dimension(
    method: Any, X: Any, dimensions: Iterable[int] = range(1, 7)
) -> StressScree:
    """The stress of a method with 1, 2, ... axes.

    Parameters
    ----------
    method : unfitted estimator
        With a parameter ``n_components``, and as for ``stress_permutation_test``.
    X : array of shape (n, p), or (n, n) for a method of precomputed dissimilarities
    dimensions : iterable of int

    Returns
    -------
    StressScree
    """
    fit = Refit.of(method, X)
    if "n_components" not in method.get_params(deep=False):
        raise InputError(f"{type(method).__name__} has no n_components to set")
    wanted = [checked_count(k, "dimensions", 1) for k in dimensions]
    if not wanted or max(wanted) >= len(fit.X):
        raise InputError(f"dimensions={wanted}: give whole numbers from 1 to {len(fit.X) - 1}")
    found = []
    for k in wanted:
        found.append(fit(n_components=k).stress)
        tick("axes", len(found), len(wanted))
    return StressScree(np.array(wanted), np.array(found))

"""What a method can show besides coordinates, each a small value that knows no method.

Every one is an optional field of ``Embedding``: a method fills those it has, and the report and
the plots draw whatever they find.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from gramian.maps import Array, unit_for

__all__ = ["ChanceSpectrum", "Shepard", "sample_pairs"]


@dataclass(frozen=True)
class ChanceSpectrum:
    """Eigenvalues that data without structure would have: Horn's band for a scree plot.

    Attributes
    ----------
    low, middle, high : array of shape (m,)
        The 5 %, 50 % and 95 % quantiles of the first m eigenvalues over the replicates, in the
        units of ``Embedding.eigenvalues``. m may be less or more than the number of axes.
    n_components : int
        How many axes stand out of chance.
    replicates : int
        How many data sets without structure were drawn.
    """

    low: Array
    middle: Array
    high: Array
    n_components: int
    replicates: int

    def times(self, factor: float) -> ChanceSpectrum:
        """The same with eigenvalues in other units."""
        low, middle, high = (factor * each for each in (self.low, self.middle, self.high))
        return replace(self, low=low, middle=middle, high=high)


@dataclass(frozen=True)
class Shepard:
    """Pairs of points: how far apart they are, and how far apart the map shows them.

    Attributes
    ----------
    dissimilarities : array of shape (m,)
        As given, of m pairs; all pairs, or a sample.
    distances : array of shape (m,)
        Of the same pairs in the map, over all its axes.
    disparities : array of shape (m,) or None
        What the distances were fitted to, where that is a transformation of the dissimilarities
        (ordinal, interval and spline MDS). ``None``: the dissimilarities themselves.
    n_pairs : int
        How many pairs there are in all.
    """

    dissimilarities: Array
    distances: Array
    disparities: Array | None
    n_pairs: int

    keeps: ClassVar[dict[str, Any]] = {
        "dissimilarities": "s",
        "distances": "s",
        "disparities": "s?",
        "n_pairs": int,
    }

    @classmethod
    def of(cls, dissimilarities: Array, Z: Array, pairs: Array) -> Shepard:
        """Compare sampled dissimilarities with the distances between rows of ``Z``.

        Parameters
        ----------
        dissimilarities : array of shape (m,)
        Z : array of shape (n, k)
        pairs : array of shape (m, 2)
            Row numbers, as ``sample_pairs`` gives them.
        """
        Z = np.asarray(Z, dtype=np.float64)
        unit = unit_for(float(np.abs(Z).max(initial=0.0)), Z.dtype)
        apart = (Z[pairs[:, 0]] - Z[pairs[:, 1]]) * unit
        distances = np.linalg.norm(apart, axis=1) / unit
        n = len(Z)
        return cls(np.asarray(dissimilarities, np.float64), distances, None, n * (n - 1) // 2)


def sample_pairs(n: int, most: int = 2000) -> Array:
    """Pairs i < j of n points: all, or a fixed random sample of at most ``most``.

    Parameters
    ----------
    n, most : int

    Returns
    -------
    array of int of shape (m, 2)
        The same for the same arguments.
    """
    if n * (n - 1) // 2 <= most:
        return np.column_stack(np.triu_indices(n, 1))
    pairs = np.sort(np.random.default_rng(0).integers(0, n, (most, 2)), axis=1)
    i, j = pairs[pairs[:, 0] < pairs[:, 1]].T
    return np.column_stack(np.divmod(np.unique(i * n + j), n))

"""Intrinsic dimension: how many coordinates the neighborhoods of points need.

    maximum likelihood   distances r_1 <= ... <= r_k to the neighbors of a point on a sheet of
                         dimension d:  the mean over j < k of log(r_k / r_j) has expectation 1/d;
                         averaged over points as it is, not its inverse (MacKay and Ghahramani)
    two neighbors        r_2 / r_1 has the distribution function 1 - x^-d, whatever the density:
                         log(r_2 / r_1) is exponential with mean 1/d; the largest tenth, where
                         curvature tells, counts as "at least so large"

Both are d = sum of c_i / sum of w_i over points. Points that share neighbors are not independent:
the variance of d adds up products of two points' terms (c_i - d w_i) in proportion to the share of
the neighborhood that they have in common.

E. Levina and P. J. Bickel, Advances in Neural Information Processing Systems 17 (2005); D. J. C.
MacKay and Z. Ghahramani, Comments on it (2005); E. Facco et al., Scientific Reports 7 (2017).
Variances of dependent terms: W. K. Newey and K. D. West, Econometrica 55 (1987).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.errors import InputError
from gramian.gram.neighbors import Neighbors
from gramian.maps import Array
from gramian.show.text import count, number

METHODS = ("maximum likelihood", "two neighbors")
_uncensored = 0.9


@dataclass(frozen=True)
class IntrinsicDimension:
    """An estimate with its standard error.

    Attributes
    ----------
    dimension : float
    standard_error : float
        Of chance alone. Edges and curvature lower the estimate, noise raises it, and more
        dimensions need many more points: errors that no sample tells of itself.
    method : str
    n_neighbors : int
    n_points : int
        How many differ: of equal points one is counted.
    """

    dimension: float
    standard_error: float
    method: str
    n_neighbors: int
    n_points: int

    def __str__(self) -> str:
        return (
            f"intrinsic dimension {number(self.dimension, 3)} "
            f"(standard error {number(self.standard_error, 2)}; {self.method}, "
            f"{count(self.n_neighbors, 'neighbor')}, {count(self.n_points, 'point')})"
        )


def intrinsic_dimension(
    X: Any,
    method: str = "maximum likelihood",
    *,
    n_neighbors: int = 10,
    metric: Any = "euclidean",
) -> IntrinsicDimension:
    """How many coordinates points need, judged by their nearest neighbors.

    Parameters
    ----------
    X : array of shape (n, p)
        Points; with ``metric="precomputed"`` distances (n, n).
    method : {"maximum likelihood", "two neighbors"}
        The first uses more neighbors and has the smaller standard error; the second stays closest
        to each point, and suffers least from edges and curvature.
    n_neighbors : int
        For maximum likelihood, at least 2.
    metric : str or callable
        As for ``gramian.gram.distances.pairwise``, or "precomputed".

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.inference import intrinsic_dimension
    >>> t = np.random.default_rng(0).random((1000, 2))
    >>> sheet = np.column_stack([t, np.sin(3 * t[:, 0]), t[:, 0] * t[:, 1]])
    >>> print(intrinsic_dimension(sheet))
    intrinsic dimension 1.95 (standard error 0.027; maximum likelihood, 10 neighbors, 1,000 points)
    """
    if method not in METHODS:
        raise InputError(f"method={method!r}: use one of {', '.join(map(repr, METHODS))}")
    two = method == "two neighbors"
    k = 2 if two else n_neighbors
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 2:
        raise InputError(f"n_neighbors={k!r}: a whole number of at least 2 is needed")
    indices, distances = Neighbors.of(_distinct(X, metric), int(k), metric=metric).table
    if not (distances[:, 0] > 0).all():
        i = int(np.argmin(distances[:, 0]))
        raise InputError(
            f"the distance of points {i} and {indices[i, 0]} is 0; leave one of equal points out"
        )
    with np.errstate(over="ignore"):
        w = np.log(distances[:, -1:] / distances[:, :-1]).mean(axis=1)
    c = np.ones(len(w))
    if two:
        most = np.quantile(w, _uncensored)
        c, w = (w <= most).astype(float), np.minimum(w, most)
    if not w.sum() > 0:
        raise InputError(
            "all neighbors of a point are equally far: a grid has no dimension in this sense"
        )
    d = float(c.sum() / w.sum())
    return IntrinsicDimension(d, _error((c - d * w) / w.sum(), indices), method, int(k), len(w))


def _error(terms: Array, indices: Array) -> float:
    """Standard error of a sum of terms, of which those of points with common neighbors go along."""
    n, k = indices.shape
    gathered = terms + np.bincount(indices.ravel(), np.repeat(terms, k), minlength=n)
    return float(np.sqrt(gathered @ gathered / (k + 1)))


def _distinct(X: Any, metric: Any) -> Array:
    """Points as numbers, of equal ones the first; distances as they are."""
    X = np.asarray(X)
    if X.ndim != 2 or X.dtype.kind not in "fiub" or not X.size:
        raise InputError(f"X must be a table of numbers, got shape {X.shape}, type {X.dtype}")
    X = X if X.dtype == np.float32 else X.astype(np.float64)
    if not np.isfinite(X).all():
        row, column = np.argwhere(~np.isfinite(X))[0]
        raise InputError(
            f"X contains {X[row, column]} at row {row}, column {column} (counted from 0)"
        )
    if isinstance(metric, str) and metric == "precomputed":
        if X.shape[0] != X.shape[1] or (X < 0).any():
            raise InputError("distances must be a square table without negative numbers")
        return X
    return np.asarray(X[np.sort(np.unique(X, axis=0, return_index=True)[1])])

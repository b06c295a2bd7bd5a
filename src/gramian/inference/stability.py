"""Is a configuration stable? Refitted without each point, and to resampled data.

Jackknife (of n points):
1. leave out   point i, and fit:  X_i, one row short
2. align       turn and move every X_i so that they agree best with their mean Y; the row that X_i
               lacks is that of Y
3. measure     stability       1 - sum |X_i - Y|^2 / sum |X_i|^2
               cross-validity  1 - n |X_0 - Y|^2   / sum |X_i|^2       X_0 the fit of all points
               dispersion      2 - stability - cross-validity: 0 is best

Bootstrap: the variables that the dissimilarities are made from (columns of points, or rows of a
table whose columns are the objects) are drawn again with replacement; every fit is laid on X_0 by
Procrustes, and the spread of each point gives its ellipse.

J. de Leeuw & J. Meulman, J. Classification 3 (1986); W. G. Jacoby & D. A. Armstrong, American
Journal of Political Science 58 (2014).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from gramian.errors import InputError
from gramian.inference.choose import checked_count, checked_level
from gramian.inference.null import seed_of
from gramian.inference.refit import Refit
from gramian.inference.uncertainty import ellipses_of
from gramian.maps import Array
from gramian.progress import tick
from gramian.quality.procrustes import procrustes
from gramian.show.text import number

__all__ = ["Stability", "bootstrap_configuration", "jackknife_stability"]

_align = 100  # rounds of alignment at most


@dataclass(frozen=True)
class Stability:
    """A configuration with its refits, all laid on each other.

    Attributes
    ----------
    coordinates : array of shape (n, k)
        The fit of all data.
    refits : array of shape (m, n, k)
        Aligned; in a jackknife the row left out is that of the mean.
    stability : float
        1 where all refits agree with their mean.
    cross_validity : float
        1 where their mean agrees with the fit of all data.
    level : float
        Of the ellipses.
    kind : {"jackknife", "bootstrap"}
    """

    coordinates: Array = field(repr=False)
    refits: Array = field(repr=False)
    stability: float
    cross_validity: float
    level: float
    kind: str

    @property
    def dispersion(self) -> float:
        """2 - stability - cross-validity: 0 where all refits are the fit of all data."""
        return 2 - self.stability - self.cross_validity

    @property
    def mean(self) -> Array:
        """Of the refits, of shape (n, k)."""
        return np.asarray(self.refits.mean(axis=0))

    @property
    def covariances(self) -> Array:
        """Of each point's coordinates, of shape (n, k, k): of the estimate, not of one refit."""
        away = self.refits - self.mean
        m = len(away)
        factor = (m - 1) / m if self.kind == "jackknife" else 1 / (m - 1)
        return np.asarray(factor * np.einsum("mia,mib->iab", away, away))

    def ellipses(self, axes: tuple[int, int] = (0, 1), level: float | None = None) -> Array:
        """Of the points on two axes, counted from 0: as ``Uncertainty.ellipses``."""
        level = self.level if level is None else checked_level(level)
        k, pair = self.coordinates.shape[1], list(axes)
        if len(pair) != 2 or not all(0 <= a < k for a in pair):
            raise InputError(f"axes={axes!r}: give two of 0 to {k - 1}")
        return ellipses_of(self.coordinates[:, pair], self.covariances[:, pair][:, :, pair], level)

    def __str__(self) -> str:
        return (
            f"{self.kind} of {len(self.coordinates):,} points, {len(self.refits):,} fits: "
            f"stability {number(self.stability, 4)}, "
            f"cross-validity {number(self.cross_validity, 4)} (1 is best), "
            f"dispersion {number(self.dispersion, 3)} (0 is best)"
        )


def jackknife_stability(
    method: Any, X: Any, *, scale: bool = False, level: float = 0.95, tol: float = 1e-9
) -> Stability:
    """Fit without each point in turn, and see how much the others move.

    Parameters
    ----------
    method : unfitted estimator
        With ``embedding_`` after ``fit``.
    X : array of shape (n, p), or (n, n) for a method of precomputed dissimilarities
        n fits are made.
    scale : bool
        Whether fits may be stretched too: for methods whose maps have no unit.
    level : float
        Of the ellipses.
    tol : float
        Alignment ends when its sum of squares falls by less than this share.

    Returns
    -------
    Stability

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import ClassicalMDS
    >>> from gramian.inference import jackknife_stability
    >>> X = np.random.default_rng(0).normal(size=(12, 2))
    >>> print(jackknife_stability(ClassicalMDS(2), X))
    jackknife of 12 points, 12 fits: stability 1, cross-validity 1 (1 is best), dispersion ...
    """
    fit, level = Refit.of(method, X, 4), checked_level(level)
    whole = fit().Z
    whole = whole - whole.mean(axis=0)
    n = len(whole)
    short = []
    for i in range(n):  # 1
        short.append(fit(fit.without(i)).Z)
        tick("jackknife", i + 1, n)
    refits = _aligned(short, whole, scale, tol)  # 2
    return _measured(whole, refits, level, "jackknife")


def bootstrap_configuration(
    method: Any,
    X: Any,
    *,
    dissimilarity: Callable[[Array], Array] | None = None,
    n_resamples: int = 99,
    scale: bool = False,
    level: float = 0.95,
    random_state: Any = None,
) -> Stability:
    """Draw the variables again and see how much the points move.

    Parameters
    ----------
    method : unfitted estimator
        With ``embedding_`` after ``fit``.
    X : array of shape (n, p)
        Points, one a row; their columns are drawn again. With ``dissimilarity`` a table whose
        rows (persons, judges, sites) are drawn again and whose columns are the points.
    dissimilarity : callable, optional
        From rows of ``X`` to the square matrix that a method of precomputed dissimilarities
        takes, such as ``lambda rows: 1 - np.corrcoef(rows.T)``.
    n_resamples : int
        Each is a fit.
    scale : bool
        Whether fits may be stretched too: for methods whose maps have no unit.
    level : float
        Of the ellipses.
    random_state : int, Generator, RandomState or None
        ``None`` means 0.

    Returns
    -------
    Stability
        What ``gramian.plot.ellipses`` draws.
    """
    B, level = checked_count(n_resamples, "n_resamples", 2), checked_level(level)
    seed, X = seed_of(random_state), np.asarray(X, np.float64)
    if X.ndim != 2 or not np.isfinite(X).all():
        raise InputError(f"X must be finite numbers, rows by columns; got shape {X.shape}")
    fit = Refit.of(method, X if dissimilarity is None else dissimilarity(X))
    if fit.precomputed == (dissimilarity is None):
        raise InputError(
            "a method of precomputed dissimilarities needs dissimilarity=, the function that makes "
            "them from rows of X; any other method does without"
        )
    whole = fit().Z
    whole = whole - whole.mean(axis=0)
    refits = np.empty((B, *whole.shape))
    for b in range(B):
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(b,)))
        m = X.shape[1] if dissimilarity is None else len(X)
        drawn = rng.integers(m, size=m)
        again = X[:, drawn] if dissimilarity is None else dissimilarity(X[drawn])
        refits[b] = procrustes(whole, fit(again).Z, scale=scale).fitted
        tick("bootstrap", b + 1, B)
    return _measured(whole, refits, level, "bootstrap")


def _aligned(short: list[Array], whole: Array, scale: bool, tol: float) -> Array:
    """Refits that lack a point each, brought to agree with their mean."""
    n = len(whole)
    rows = [np.arange(n) != i for i in range(n)]
    target, refits, before = whole, np.empty((n, *whole.shape)), np.inf
    for _ in range(_align):
        for i, Z in enumerate(short):
            refits[i, rows[i]] = procrustes(target[rows[i]], Z, scale=scale).fitted
            refits[i, i] = 0.0
        target = refits.sum(axis=0) / (n - 1)
        if scale:  # least squares shrinks what it stretches; else all would shrink to a point
            larger = np.linalg.norm(whole) / np.linalg.norm(target - target.mean(axis=0))
            target, refits = larger * target, larger * refits
        refits[np.arange(n), np.arange(n)] = target
        left = float(np.sum((refits - target) ** 2))
        if before - left <= tol * float(np.sum(target**2)):
            break
        before = left
    home = procrustes(whole, target)  # the mean may have turned on the way: lay it on the whole
    return np.asarray(home.place(refits))


def _measured(
    whole: Array, refits: Array, level: float, kind: Literal["jackknife", "bootstrap"]
) -> Stability:
    mean, m = refits.mean(axis=0), len(refits)
    size = float(np.sum(refits**2))
    stability = 1 - float(np.sum((refits - mean) ** 2)) / size
    cross = 1 - m * float(np.sum((whole - mean) ** 2)) / size
    return Stability(whole, refits, stability, cross, level, kind)

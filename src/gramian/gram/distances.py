"""Distances between points, in blocks of rows on all threads.

    euclidean   |x - y|^2 = |x|^2 + |y|^2 - 2 x.y   one matrix product, about the mean, in float64;
                pairs so close that digits cancel are computed again from x - y itself
    named       SciPy's metrics, haversine, and Gower's for mixed and missing values
    callable    any f(x, y) of two points: real, at least 0, symmetric, 0 for equal points

``pairwise`` gives distances, never squared unless "sqeuclidean" is asked for; ``from_distances``
turns them into the Gram matrix K = -1/2 D∘D that classical scaling centers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gramian.errors import InputError
from gramian.gram.metrics import (
    METRICS,
    SCIPY,
    called,
    checked_metric,
    checked_settings,
    refuse_lopsided,
    said,
)
from gramian.loops import symmetric
from gramian.loops.threads import one_blas_thread, pause, run
from gramian.maps import Array, ImplicitMap, unit_for

__all__ = [
    "METRICS",
    "SCIPY",
    "HalfSquares",
    "checked_metric",
    "decided",
    "from_distances",
    "half_squares",
    "pairwise",
    "row_blocks",
]

_LINEAR = ("euclidean", "cityblock", "chebyshev", "minkowski")  # d(tx, ty) = t d(x, y)
_block = 500_000  # numbers in a block of the result
_close = 1e-6  # |x - y|^2 below this share of |x|^2 + |y|^2 is computed again from x - y
# by these, not every point without distances shows in the result: it is looked for beforehand
_quiet = (
    *("chebyshev", "correlation", "braycurtis", "jaccard", "hamming", "mahalanobis"),
    *("haversine", "gower"),
)
_power = 16  # up to this p, p-th powers of differences of digits neither overflow nor vanish


def pairwise(
    X: Array, Y: Array | None = None, metric: Any = "euclidean", **parameters: Any
) -> Array:
    """Distances of the rows of ``X`` to those of ``Y`` (to each other if ``Y`` is not given).

    Parameters
    ----------
    X : array of shape (n, p)
    Y : array of shape (m, p), optional
    metric : str or callable
        One of ``METRICS``, or a function of two points.
    **parameters
        ``p`` (minkowski), ``w`` weights of variables (all named ones but mahalanobis and
        haversine), ``VI`` inverse covariance (mahalanobis; by default that of ``X``), ``ranges``
        (gower; by default those of ``X``); those of a function are handed on to it.

    Returns
    -------
    array of shape (n, m)
        float32 if ``X`` is, else float64. Exactly symmetric, with a zero diagonal, without ``Y``.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.gram.distances import pairwise
    >>> pairwise(np.array([[0.0, 0.0], [3.0, 4.0]]))
    array([[0., 5.],
           [5., 0.]])
    """
    X = _points(X)
    dtype = np.float32 if X.dtype == np.float32 else np.float64
    own = Y is None
    other = X if Y is None else _points(Y)
    if X.shape[1] != other.shape[1]:
        raise InputError(
            f"points have {X.shape[1]} coordinates, the others {other.shape[1]}; "
            "distances need the same number"
        )
    unit = _unit(X, other, metric)
    if unit != 1:
        scaled = X * X.dtype.type(unit), None if own else other * other.dtype.type(unit)
        D = pairwise(*scaled, metric, **parameters)
        return np.divide(D, dtype(unit), out=D)
    block = row_blocks(X, other, metric, parameters)
    D = np.empty((len(X), len(other)), dtype)
    step = max(64, _block // max(len(other), 1))

    def piece(i: int) -> None:
        pause()
        rows = slice(i * step, min((i + 1) * step, len(X)))
        D[rows] = block(rows)

    with one_blas_thread():
        run(piece, -(-len(X) // step), "distances")
    if own:
        if callable(metric):
            refuse_lopsided(D, X)
        np.fill_diagonal(D, 0)
        _symmetrize(D)
    return D


def _points(X: Any) -> Array:
    """Rows of real numbers, at least one."""
    try:
        found = np.asarray(X)
    except ValueError:  # rows of unequal length
        found = np.array(None)
    if found.ndim != 2 or found.dtype.kind not in "fiub" or not found.size:
        what = f"{found.dtype} of shape {found.shape}" if found.ndim else type(X).__name__
        raise InputError(f"points are rows of real numbers, at least one of them; got {what}")
    return found


def _unit(X: Array, Y: Array, metric: Any) -> float:
    """The power of two that brings tiny and huge points near 1, where distances scale with them."""
    if not (isinstance(metric, str) and metric in _LINEAR and X.dtype.kind == "f"):
        return 1.0
    return unit_for(max(float(np.abs(Z).max(initial=0.0)) for Z in (X, Y)), X.dtype)


def from_distances(D: Any, *, overwrite: bool = False) -> Any:
    """K = -1/2 D∘D, of an array (float32 or float64) or of rows in a file, which stay there.

    ``overwrite`` lets K take the memory of an array D that nobody needs any more.
    """
    if not isinstance(D, np.ndarray):
        return HalfSquares(D)
    K = D if overwrite else np.empty(D.shape, D.dtype)
    step = max(1, _block // max(D.shape[1], 1))

    def piece(i: int) -> None:
        rows = slice(i * step, (i + 1) * step)
        np.multiply(D[rows], D[rows], out=K[rows])
        K[rows] *= -0.5

    run(piece, -(-len(D) // step))
    return K


def half_squares(D: Array) -> Array:
    """-1/2 d∘d of a block of distances, in float64."""
    K = D.astype(np.float64)
    K *= K
    K *= -0.5
    return K


class HalfSquares(ImplicitMap):
    """-1/2 D∘D of distances that stay where they are: a symmetric array, or rows of a file."""

    block = symmetric.WIDE

    def __init__(self, D: Any) -> None:
        self.D, self.shape, self.dtype = D, D.shape, D.dtype

    def _times(self, V: Array) -> Array:
        if not isinstance(self.D, np.ndarray):
            return np.asarray(self.D.map_rows(self._block(V), V.shape[1], self.dtype))
        return symmetric.half_squares_times(self.D, V).astype(self.dtype, copy=False)

    @staticmethod
    def _block(V: Array) -> Callable[[Array, slice], Array]:
        return lambda block, rows: -0.5 * (np.multiply(block, block, out=block) @ V)


def decided(metric: Any, parameters: Any, X: Array) -> dict[str, Any]:
    """Parameters of a metric; what depends on the data is taken from all points ``X``.

    A function of two points is tried on a few of them.
    """
    settings = checked_settings(checked_metric(metric), parameters, X.shape[1])
    if callable(metric):
        pairwise(X[np.unique(np.linspace(0, len(X) - 1, 6).astype(int))], None, metric, **settings)
        return settings
    X = X.astype(np.float64, copy=False)
    if metric == "gower" and "ranges" not in settings:
        settings["ranges"] = _spans(X)
    elif metric == "mahalanobis" and "VI" not in settings:
        settings["VI"] = _inverse_covariance(X)
    return settings


def _spans(X: Array) -> Array:
    """Range of each variable where it is known."""
    known = [column[~np.isnan(column)] for column in X.T]
    return np.array([np.ptp(each) if each.size else 0.0 for each in known])


def _inverse_covariance(X: Array) -> Array:
    if len(X) < 2:
        raise InputError("mahalanobis learns VI, the inverse covariance, from 2 points or more")
    return np.linalg.pinv(np.atleast_2d(np.cov(X.T)))


def row_blocks(
    X: Array, Y: Array, metric: Any, parameters: dict[str, Any]
) -> Callable[[slice], Array]:
    """What gives the distances, in float64, of a block of rows of ``X`` to all of ``Y``."""
    metric = checked_metric(metric)
    parameters = checked_settings(metric, parameters, X.shape[1])
    if callable(metric):
        return called(metric, X, Y, parameters)
    if metric in ("euclidean", "sqeuclidean"):
        return _euclidean(X, Y, metric == "euclidean", **parameters)
    X64, Y64 = X.astype(np.float64, copy=False), Y.astype(np.float64, copy=False)
    if metric in _quiet:
        _refuse_outside(X64, Y64, metric)
    if metric == "haversine":
        return _haversine(X64, Y64)
    if metric == "gower":
        return _gower(X64, Y64, **parameters)
    if metric == "minkowski" and _power < parameters.get("p", 2) < np.inf:
        _refuse_outside(X64, Y64, metric)
        return _high_power(X64, Y64, **parameters)
    from scipy.spatial.distance import cdist

    if metric == "mahalanobis" and "VI" not in parameters:
        parameters = {"VI": _inverse_covariance(X64)}

    def block(rows: slice) -> Array:
        found = np.asarray(cdist(X64[rows], Y64, metric, **parameters))
        if not np.isfinite(found).all():
            _refuse_outside(X64, Y64, metric)
        if np.isnan(found).any():
            found = _defined(found, X64[rows], Y64, metric, parameters.get("VI"))
        return found

    return block


def _refuse_outside(X: Array, Y: Array, metric: str) -> None:
    """What a metric has no distances for: NaN (but for Gower's), infinity, amounts below 0."""
    for Z in (X,) if Y is X else (X, Y):
        known = np.isfinite(Z) if metric != "gower" else ~np.isinf(Z)
        if not known.all():
            i, j = np.argwhere(~known)[0]
            raise InputError(
                f"points must be finite numbers; found {Z[i, j]} at row {i}, column {j} (counted "
                "from 0); fill it in or leave the row out, or use metric='gower' if values miss"
            )
        if metric == "braycurtis" and Z.min() < 0:
            i, j = np.argwhere(Z < 0)[0]
            raise InputError(
                f"braycurtis compares amounts, which are at least 0; found {Z[i, j]:.6g} at row "
                f"{i}, column {j} (counted from 0); use another metric, such as cityblock"
            )


def _defined(D: Array, X: Array, Y: Array, metric: str, VI: Array | None) -> Array:
    """0/0 where a metric divides by the size of points that are zero or constant; roots below 0."""
    unknown = np.isnan(D)
    pairs = np.argwhere(unknown)
    if VI is not None:
        for i, j in pairs:
            apart = X[i] - Y[j]
            form, size = apart @ VI @ apart, np.abs(apart) @ np.abs(VI) @ np.abs(apart)
            if form < -1e-10 * size:
                raise InputError(
                    f"VI is not positive semi-definite: by it the squared mahalanobis distance of "
                    f"{said(X[i])} and {said(Y[j])} is {form:.3g}; give the inverse of a covariance"
                )
    if metric in ("braycurtis", "mahalanobis"):  # two empty sites are equal; rounding below 0
        D[unknown] = 0.0
        return D
    i, j = pairs[0]
    raise InputError(
        f"the {metric} distance of two points is not defined (the first pair: "
        f"{said(X[i])} and {said(Y[j])}): a point is zero or constant; leave it out"
    )


def _high_power(X: Array, Y: Array, p: float, w: Any = None) -> Callable[[slice], Array]:
    """Minkowski's distance as the largest difference times the root of powers of shares of it."""
    scale = 1.0 if w is None else w ** (1 / p)
    A, B = X * scale, Y * scale

    def block(rows: slice) -> Array:
        D = np.empty((rows.stop - rows.start, len(B)))
        for i, a in enumerate(A[rows]):
            apart = np.abs(B - a)
            largest = apart.max(axis=1)
            apart /= np.where(largest > 0, largest, 1.0)[:, None]
            D[i] = largest * np.sum(apart**p, axis=1) ** (1 / p)
        return D

    return block


def _euclidean(X: Array, Y: Array, root: bool, w: Any = None) -> Callable[[slice], Array]:
    middle = Y.mean(axis=0, dtype=np.float64)
    scale = 1.0 if w is None else np.sqrt(w)
    with np.errstate(invalid="ignore"):  # of infinite points
        A, B = ((Z.astype(np.float64) - middle) * scale for Z in (X, Y))
        aa, bb = np.einsum("ij,ij->i", A, A), np.einsum("ij,ij->i", B, B)
    if not (np.isfinite(aa).all() and np.isfinite(bb).all()):
        _refuse_outside(X, Y, "euclidean")
    Bt, near = B.T, 2.1 * _close * aa  # close points are of nearly equal length

    def block(rows: slice) -> Array:
        D2 = A[rows] @ Bt
        D2 *= -2
        D2 += aa[rows, None]
        D2 += bb
        close = np.flatnonzero(near[rows, None] > D2)
        for part in np.array_split(close, max(1, close.size * A.shape[1] // _block)):
            i, j = np.divmod(part, len(B))
            apart = A[rows][i] - B[j]
            D2.ravel()[part] = np.einsum("ij,ij->i", apart, apart)
        return np.asarray(np.sqrt(D2, out=D2) if root else D2)

    return block


def _haversine(A: Array, B: Array) -> Callable[[slice], Array]:
    """Angle between points of a sphere given as (latitude, longitude) in radians."""
    if A.shape[1] != 2:
        raise InputError(
            f"haversine needs latitude and longitude in radians, 2 columns; got {A.shape[1]}"
        )

    def block(rows: slice) -> Array:
        up = np.sin((A[rows, :1] - B[:, 0]) / 2) ** 2
        along = np.sin((A[rows, 1:] - B[:, 1]) / 2) ** 2
        h = up + np.cos(A[rows, :1]) * np.cos(B[:, 0]) * along
        return np.asarray(2 * np.arcsin(np.sqrt(np.clip(h, 0, 1))))

    return block


def _gower(A: Array, B: Array, w: Any = None, ranges: Any = None) -> Callable[[slice], Array]:
    """Mean over the variables known in both points of |x - y| / range; NaN is missing."""
    spans = _spans(A) if ranges is None else ranges
    inverse = np.divide(1.0, spans, out=np.zeros_like(spans), where=spans > 0)
    weights = np.ones(A.shape[1]) if w is None else w

    def block(rows: slice) -> Array:
        total, count = np.zeros((2, rows.stop - rows.start, len(B)))
        for a, b, unit, weight in zip(A[rows].T, B.T, inverse, weights, strict=True):
            apart = np.abs(a[:, None] - b) * unit
            both = ~np.isnan(apart)
            total += weight * np.where(both, apart, 0.0)
            count += weight * both
        if not count.all():
            i, j = np.argwhere(count == 0)[0]
            raise InputError(
                f"points {rows.start + i} and {j} have no known variable in common; "
                "drop one of them, or fill in its missing values"
            )
        return np.asarray(total / count)

    return block


def _symmetrize(D: Array) -> None:
    """The lower triangle made equal to the upper one, tile by tile, in place."""
    n, tile = len(D), 512
    starts = range(0, n, tile)

    def piece(i: int) -> None:
        a = starts[i]
        for b in starts[: i + 1]:
            low = D[a : a + tile, b : b + tile]
            if a == b:
                lower = np.tril_indices(len(low), -1)
                low[lower] = low.T[lower]
            else:
                low[:] = D[b : b + tile, a : a + tile].T

    run(piece, len(starts))

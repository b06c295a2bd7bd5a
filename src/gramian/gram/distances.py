"""Distances between points, in blocks of rows on all threads.

    euclidean   |x - y|^2 = |x|^2 + |y|^2 - 2 x.y   one matrix product, about the mean, in float64;
                pairs so close that digits cancel are computed again from x - y itself
    named       SciPy's metrics, haversine, and Gower's for mixed and missing values
    callable    any f(x, y) of two points

``pairwise`` gives distances, never squared unless "sqeuclidean" is asked for; ``from_distances``
turns them into the Gram matrix K = -1/2 D∘D that classical scaling centers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gramian.errors import InputError
from gramian.loops import symmetric
from gramian.loops.threads import one_blas_thread, pause, run
from gramian.maps import Array, ImplicitMap, unit_for

SCIPY = (
    *("cityblock", "chebyshev", "minkowski", "cosine", "correlation", "canberra", "braycurtis"),
    *("jaccard", "hamming", "mahalanobis"),
)
_LINEAR = ("euclidean", "cityblock", "chebyshev", "minkowski")  # d(tx, ty) = t d(x, y)
METRICS = ("euclidean", "sqeuclidean", *SCIPY, "haversine", "gower")
_block = 500_000  # numbers in a block of the result
_close = 1e-6  # |x - y|^2 below this share of |x|^2 + |y|^2 is computed again from x - y


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
        ``p`` (minkowski), ``w`` weights of variables (euclidean, minkowski, cityblock and others
        of SciPy's, gower), ``VI`` inverse covariance (mahalanobis; by default that of ``X``),
        ``ranges`` (gower; by default those of ``X``).

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
    dtype = np.float32 if X.dtype == np.float32 else np.float64
    own = Y is None
    other = X if Y is None else Y
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
        if own:
            D[rows, rows][np.diag_indices(rows.stop - rows.start)] = 0

    with one_blas_thread():
        run(piece, -(-len(X) // step), "distances")
    if own:
        _symmetrize(D)
    return D


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


def checked_metric(metric: Any) -> Any:
    """The metric, or an error that lists what is known."""
    if callable(metric) or (isinstance(metric, str) and metric in METRICS):
        return metric
    raise InputError(
        f"metric={metric!r} is not known; use 'precomputed', a function of two points, or one of "
        f"{', '.join(METRICS)}"
    )


def decided(metric: Any, parameters: Any, X: Array) -> dict[str, Any]:
    """Parameters of a metric; what depends on the data is taken from all points ``X``."""
    settings = dict(parameters or {})
    X = X.astype(np.float64, copy=False)
    if isinstance(metric, str) and metric == "gower" and settings.get("ranges") is None:
        known = [column[~np.isnan(column)] for column in X.T]
        settings["ranges"] = np.array([np.ptp(each) if each.size else 0.0 for each in known])
    elif isinstance(metric, str) and metric == "mahalanobis" and "VI" not in settings:
        settings["VI"] = np.linalg.pinv(np.atleast_2d(np.cov(X.T)))
    return settings


def row_blocks(
    X: Array, Y: Array, metric: Any, parameters: dict[str, Any]
) -> Callable[[slice], Array]:
    """What gives the distances, in float64, of a block of rows of ``X`` to all of ``Y``."""
    metric = checked_metric(metric)
    if metric in ("euclidean", "sqeuclidean"):
        return _euclidean(X, Y, metric == "euclidean", **parameters)
    if metric == "haversine":
        return _haversine(X, Y, **parameters)
    if metric == "gower":
        return _gower(X, Y, **parameters)
    if callable(metric):
        return lambda rows: np.array([[metric(x, y, **parameters) for y in Y] for x in X[rows]])
    from scipy.spatial.distance import cdist

    if metric == "mahalanobis" and "VI" not in parameters:
        parameters = {"VI": np.linalg.pinv(np.atleast_2d(np.cov(X.T.astype(np.float64))))}
    X64, Y64 = X.astype(np.float64, copy=False), Y.astype(np.float64, copy=False)

    def block(rows: slice) -> Array:
        found = np.asarray(cdist(X64[rows], Y64, metric, **parameters))
        if np.isnan(found).any():
            found = _defined(found, X64[rows], Y64, metric)
        return found

    return block


def _defined(D: Array, X: Array, Y: Array, metric: str) -> Array:
    """0/0 where a metric divides by the size of points that are zero, or constant."""
    i, j = np.argwhere(np.isnan(D))[0]
    if metric == "braycurtis":  # two empty sites are equal
        D[np.isnan(D)] = 0.0
        return D
    raise InputError(
        f"the {metric} distance of two points is not defined (the first pair: "
        f"{_said(X[i])} and {_said(Y[j])}): a point is zero or constant; leave it out"
    )


def _said(x: Array) -> str:
    return np.array2string(x[:4], precision=3, separator=", ") + ("..." if len(x) > 4 else "")


def _euclidean(X: Array, Y: Array, root: bool, w: Any = None) -> Callable[[slice], Array]:
    middle = Y.mean(axis=0, dtype=np.float64)
    scale = 1.0 if w is None else np.sqrt(_weights(w, X.shape[1]))
    A, B = ((Z.astype(np.float64) - middle) * scale for Z in (X, Y))
    aa, bb = np.einsum("ij,ij->i", A, A), np.einsum("ij,ij->i", B, B)
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


def _haversine(X: Array, Y: Array) -> Callable[[slice], Array]:
    """Angle between points of a sphere given as (latitude, longitude) in radians."""
    if X.shape[1] != 2:
        raise InputError(
            f"haversine needs latitude and longitude in radians, 2 columns; got {X.shape[1]}"
        )
    A, B = X.astype(np.float64), Y.astype(np.float64)

    def block(rows: slice) -> Array:
        up = np.sin((A[rows, :1] - B[:, 0]) / 2) ** 2
        along = np.sin((A[rows, 1:] - B[:, 1]) / 2) ** 2
        h = up + np.cos(A[rows, :1]) * np.cos(B[:, 0]) * along
        return np.asarray(2 * np.arcsin(np.sqrt(np.clip(h, 0, 1))))

    return block


def _gower(X: Array, Y: Array, w: Any = None, ranges: Any = None) -> Callable[[slice], Array]:
    """Mean over the variables known in both points of |x - y| / range; NaN is missing."""
    A, B = X.astype(np.float64), Y.astype(np.float64)
    with np.errstate(invalid="ignore"):
        known = [column[np.isfinite(column)] for column in A.T]
        spans = np.array([np.ptp(column) if column.size else 0.0 for column in known])
    spans = spans if ranges is None else np.asarray(ranges, np.float64)
    inverse = np.divide(1.0, spans, out=np.zeros_like(spans), where=spans > 0)
    weights = np.ones(A.shape[1]) if w is None else _weights(w, A.shape[1])

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


def _weights(w: Any, p: int) -> Array:
    weights = np.asarray(w, np.float64)
    if weights.shape != (p,) or not np.isfinite(weights).all() or (weights < 0).any():
        raise InputError(f"w must be {p} finite weights of at least 0, one a variable")
    return weights


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

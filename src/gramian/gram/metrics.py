"""Which metrics there are, what each takes, and what a function of two points must give."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gramian.errors import InputError
from gramian.maps import Array

SCIPY = (
    *("cityblock", "chebyshev", "minkowski", "cosine", "correlation", "canberra", "braycurtis"),
    *("jaccard", "hamming", "mahalanobis"),
)
METRICS = ("euclidean", "sqeuclidean", *SCIPY, "haversine", "gower")
_takes: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(METRICS, ("w",)),
    "minkowski": ("p", "w"),
    "mahalanobis": ("VI",),
    "haversine": (),
    "gower": ("w", "ranges"),
}
_rounding = 1e-8  # of the largest distance; 8 eps of float32
_real = (int, float, np.integer, np.floating, np.bool_)


def checked_metric(metric: Any) -> Any:
    """The metric, or an error that lists what is known."""
    if callable(metric) or (isinstance(metric, str) and metric in METRICS):
        return metric
    raise InputError(
        f"metric={metric!r} is not known; use 'precomputed', a function of two points, or one of "
        f"{', '.join(METRICS)}"
    )


def checked_settings(metric: Any, parameters: Any, p: int) -> dict[str, Any]:
    """Parameters of a metric of points with ``p`` coordinates; those that are None are left out."""
    if parameters is None:
        return {}
    if not isinstance(parameters, Mapping) or not all(isinstance(name, str) for name in parameters):
        raise InputError(
            f"metric_params={parameters!r}: names with their values are needed, such as {{'p': 3}}"
        )
    if not isinstance(metric, str):
        _refuse_call(metric, parameters)
        return dict(parameters)
    takes = _takes[metric]
    for name in parameters:
        if name not in takes:
            raise InputError(
                f"metric={metric!r} has no parameter {name!r}; it takes "
                f"{' and '.join(takes) or 'none'}"
            )
    known = {name: value for name, value in parameters.items() if value is not None}
    return {name: _checks[name](value, p) for name, value in known.items()}


def _refuse_call(metric: Callable[..., Any], parameters: Mapping[str, Any]) -> None:
    """Where a function of two points says that it does not take these parameters."""
    try:
        signature = inspect.signature(metric)
    except ValueError:  # compiled functions may not say what they take
        return
    try:
        signature.bind(None, None, **parameters)
    except TypeError as error:
        named = f" and {', '.join(parameters)}" if parameters else ""
        raise InputError(f"the metric cannot be called with two points{named}: {error}") from error


def _numbers(value: Any, shape: tuple[int, ...]) -> Array | None:
    """Finite real numbers of that shape, in float64; None if it is anything else."""
    try:
        found = np.asarray(value)
    except ValueError:
        return None
    if found.dtype.kind not in "fiu" or found.shape != shape or not np.isfinite(found).all():
        return None
    return found.astype(np.float64)


def _order(value: Any, _: int) -> float:
    if not isinstance(value, _real) or isinstance(value, (bool, np.bool_)) or not value > 0:
        raise InputError(f"p={value!r}: a number above 0 is needed, at least 1 for a metric")
    return float(value)


def _weights(value: Any, p: int) -> Array:
    weights = _numbers(value, (p,))
    if weights is None or (weights < 0).any() or not weights.any():
        raise InputError(f"w must be {p} finite weights of at least 0, one a variable, not all 0")
    return weights


def _inverse(value: Any, p: int) -> Array:
    found = _numbers(value, (p, p))
    if found is None:
        raise InputError(f"VI must be the inverse of a covariance: {p} x {p} finite numbers")
    return found


def _ranges(value: Any, p: int) -> Array:
    found = _numbers(value, (p,))
    if found is None or (found < 0).any():
        raise InputError(f"ranges must be {p} finite numbers of at least 0, one a variable")
    return found


_checks: dict[str, Callable[[Any, int], Any]] = {
    "p": _order,
    "w": _weights,
    "VI": _inverse,
    "ranges": _ranges,
}


def called(
    metric: Callable[..., Any], X: Array, Y: Array, parameters: dict[str, Any]
) -> Callable[[slice], Array]:
    """Distances by a function of two points, of a block of rows of ``X`` to all of ``Y``."""

    def block(rows: slice) -> Array:
        found = [[metric(x, y, **parameters) for y in Y] for x in X[rows]]
        try:
            D = np.array(found)
            D = D.astype(np.float64) if D.dtype.kind == "O" else D  # None becomes NaN
            real = D.shape == (len(found), len(Y)) and D.dtype.kind in "fiub"
        except (TypeError, ValueError):
            real = False
        if not real:
            odd = next(v for each in found for v in each if not isinstance(v, _real))
            raise InputError(
                f"a metric must give one real number for two points; this one gave {_gave(odd)}"
            )
        size = np.abs(D).max(initial=0.0)
        if not np.isfinite(size) or D.min(initial=0.0) < -_rounding * size:
            wrong = ~np.isfinite(D) if not np.isfinite(size) else D < 0
            i, j = np.argwhere(wrong)[0]
            raise InputError(
                f"the metric gave {_gave(found[i][j])} for {said(X[rows][i])} and "
                f"{said(Y[j])}; a distance is a finite number of at least 0: if these are "
                "similarities or scores, turn them into distances first"
            )
        return np.asarray(np.maximum(D, 0.0))

    return block


def refuse_lopsided(D: Array, X: Array) -> None:
    """Distances of points to each other by a function must be symmetric, with zeros between equals.

    Parameters
    ----------
    D : array of shape (n, n)
    X : array of shape (n, p)
        The points.
    """
    slack = max(_rounding, 8 * float(np.finfo(D.dtype).eps)) * float(D.max(initial=0.0))
    own = np.flatnonzero(np.diagonal(D) > slack)
    if len(own):
        i = int(own[0])
        raise InputError(
            f"the metric gave {D[i, i]:.6g} for {said(X[i])} and itself; a point has distance 0 to "
            "itself: for a similarity k use sqrt(k(x, x) + k(y, y) - 2 k(x, y)), or "
            "KernelPCA(kernel=k)"
        )
    for a in range(0, len(D), 512):
        gaps = np.abs(D[a : a + 512] - D[:, a : a + 512].T)
        if gaps.max() > slack:
            i, j = divmod(int(np.argmax(gaps)), gaps.shape[1])
            raise InputError(
                f"the metric is not symmetric: it gave {D[a + i, j]:.6g} from {said(X[a + i])} to "
                f"{said(X[j])} and {D[j, a + i]:.6g} back; mend it, or use the mean of both if "
                "that is what you mean"
            )


def said(x: Array) -> str:
    """The first coordinates of a point."""
    return np.array2string(x[:4], precision=3, separator=", ") + ("..." if len(x) > 4 else "")


def _gave(value: Any) -> str:
    """What a function gave, on one line."""
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    return (repr(value.item()) if isinstance(value, np.generic) else repr(value))[:40]

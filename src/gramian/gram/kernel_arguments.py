"""What kernels are given: functions, whose answers are checked, and parameters."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from inspect import Parameter, signature
from numbers import Real
from typing import Any

import numpy as np

from gramian.errors import InputError
from gramian.gram.distances import pairwise
from gramian.gram.kernel_blocks import Kernel, two_sets
from gramian.maps import Array


@dataclass(frozen=True)
class Given:
    """A kernel that was given as a function k(X, Y), its answers checked."""

    function: Callable[..., Any]

    def __call__(self, X: Any, Y: Any = None, **parameters: Any) -> Any:
        """Its similarities as an array of floats, or that of two single points."""
        A, B, single = two_sets(X, Y)
        B = A if B is None else B
        try:
            K = np.asarray(self.function(A, B, **parameters))
        except InputError:
            raise
        except (TypeError, ValueError) as error:
            raise InputError(
                f"the kernel function failed on arrays of shapes {A.shape} and {B.shape}: {error}; "
                "it takes two arrays of points and returns all their similarities"
            ) from error
        if K.dtype.kind not in "fiub" or K.shape != (len(A), len(B)):
            raise InputError(
                f"the kernel function gave shape {K.shape}, type {K.dtype}; of {len(A)} and "
                f"{len(B)} points it must give real numbers of shape {(len(A), len(B))}"
            )
        single_precision = K.dtype.kind == "f" and K.dtype.itemsize <= 4
        K = K.astype(np.float32 if single_precision else np.float64, copy=False)
        with np.errstate(over="ignore", invalid="ignore"):
            finite = np.isfinite(K.sum()) or np.isfinite(K).all()
        if not finite:
            raise InputError("the kernel function gave NaN or infinity; it must be finite")
        return float(K[0, 0]) if single else K


def base(k: Any) -> Any:
    """The function inside of fixed parameters."""
    return base(k.func) if isinstance(k, partial) else k


def refuse_unknown(k: Kernel, parameters: dict[str, Any]) -> None:
    """Raise for a parameter that a kernel does not have."""
    function = base(k)
    try:
        names = signature(getattr(function, "function", function)).parameters
    except (TypeError, ValueError):  # some compiled functions do not say
        return
    known = list(names)[2:]
    unknown = [name for name in parameters if name not in known]
    if unknown and not any(each.kind is Parameter.VAR_KEYWORD for each in names.values()):
        wanted = f"it knows {', '.join(known)}" if known else "it has none"
        raise InputError(f"the kernel has no parameter {str(unknown[0])!r}; {wanted}")


def gamma_of(
    gamma: Any, sigma: Any, X: Array, Y: Array | None = None, metric: str = "sqeuclidean"
) -> float:
    """gamma as a number; "median" is that of X, which must be all points that are compared."""
    if sigma is not None:
        if gamma is not None:
            raise InputError("give gamma or sigma, not both: gamma = 1 / (2 sigma^2)")
        width = positive(sigma, X, "sigma")
        if not 1e-150 < width < 1e150:
            raise InputError(f"sigma={sigma!r}: its square leaves the range of floats; scale it")
        return 1 / (2 * width**2)
    if isinstance(gamma, str) and gamma == "median":
        if Y is not None and not np.array_equal(X, Y):
            raise InputError(
                'gamma="median" would be another number for every two sets of points; decide it '
                'once, from the training points: kernels.fixed("rbf", X, gamma="median")'
            )
        return 1 / median(X, metric)
    return positive(gamma, X, words=' or "median"')


def alpha_of(alpha: Any) -> float:
    """The ridge of pre-images, checked."""
    return number(alpha, "alpha", 0)


def positive(value: Any, X: Array, name: str = "gamma", words: str = "") -> float:
    """A number above 0; by default 1 / p."""
    if value is None and name == "gamma":
        return 1.0 / int(X.shape[1])
    most = np.inf if name == "nu" else sys.float_info.max
    if not _real(value) or not 0 < value <= most:
        raise InputError(f"{name}={value!r}: a number above 0{words} is needed")
    return float(value)


def number(value: Any, name: str, least: float = -np.inf) -> float:
    """A finite number, at least so large."""
    most = sys.float_info.max
    if not _real(value) or not max(-most, least) <= value <= most:
        words = "" if least == -np.inf else f" of at least {least:g}"
        raise InputError(f"{name}={value!r}: a finite number{words} is needed")
    return float(value)


def _real(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def median(X: Array, metric: str) -> float:
    """The median distance between (at most 1,000 evenly spaced) points."""
    some = X[:: -(-len(X) // 1000)]
    if len(some) < 2:
        raise InputError('gamma="median" needs at least 2 points; give gamma as a number')
    pairs = np.triu_indices(len(some), 1)
    middle = float(np.median(pairwise(some, metric=metric)[pairs]))
    if 1e-300 < middle < 1e300:
        return middle
    if middle > 0 or np.median(pairwise(some)[pairs]) > 0:
        raise InputError(
            'gamma="median": squares of these distances leave the range of floats; scale the data'
        )
    raise InputError('gamma="median": half of all points are equal; give gamma as a number')


def refuse_overflow(X: Array) -> None:
    """A kernel has a scale of its own, so that huge numbers cannot be brought near 1 unseen."""
    peak = float(np.abs(X).max(initial=0.0))
    if peak > np.sqrt(np.finfo(X.dtype).max / 8 / X.shape[1]):
        raise InputError(
            f"values as large as {peak:.1e} overflow in a kernel; divide the data by their size"
        )


def refuse_sizes(diagonal: Array, dtype: Any) -> None:
    """A kernel whose values leave the range of floats."""
    if not np.isfinite(diagonal).all():
        raise InputError("the kernel is not finite; scale the data, or change gamma")
    size = float(np.abs(diagonal).max())
    if 0 < size < 16 * np.finfo(dtype).tiny:
        raise InputError(
            f"the kernel of a point with itself is at most {size:.1e}, which is too small to "
            "compute with; multiply the data, or change gamma"
        )


def refuse_asymmetric(K: Array) -> None:
    """Raise unless the similarities of some points to themselves are the same both ways."""
    apart = float(np.abs(K - K.T).max())
    if apart > (1e-4 if K.dtype == np.float32 else 1e-8) * float(np.abs(K).max()):
        raise InputError(
            f"the kernel function is not symmetric: k(x, y) and k(y, x) differ by {apart:.3g}; "
            "a kernel gives the same both ways"
        )

"""Mercer kernels: plain functions k(X, Y) of two sets of points, any of which any method takes.

    linear                x.y
    rbf                   exp(-gamma |x - y|^2)             gamma = 1 / (2 sigma^2)
    polynomial            (gamma x.y + coef0)^degree
    sigmoid               tanh(gamma x.y + coef0)           not positive semi-definite in general
    inverse_multiquadric  1 / sqrt(1 + gamma |x - y|^2)
    rational_quadratic    (1 + gamma |x - y|^2 / alpha)^-alpha
    laplacian             exp(-gamma |x - y|_1)
    matern                the Matern family, of smoothness nu and unit length 1 / sqrt(gamma)
    cosine                x.y / (|x| |y|)

``kernel("rbf", gamma=0.5)`` fixes the parameters; ``plus(k, l)`` and ``times(k, l)`` are kernels
again (sum and entrywise product). Two single points give their similarity. Everything is computed
in tiles on all threads, in the precision of the points.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from inspect import Parameter, signature
from numbers import Real
from typing import Any

import numpy as np

from gramian.errors import InputError
from gramian.gram.distances import pairwise
from gramian.gram.kernel_blocks import (
    Apart,
    Kernel,
    Products,
    of_points,
    of_products,
    of_squares,
    two_sets,
)
from gramian.gram.matern import matern_of_squares
from gramian.maps import Array

__all__ = [
    *("KERNELS", "Kernel", "cosine", "fixed", "inverse_multiquadric", "kernel"),
    *("kernel_diagonal", "laplacian", "linear", "matern", "plus", "polynomial"),
    *("rational_quadratic", "rbf", "sigmoid", "times"),
]
_many_points = 40  # for a variable: two copies of them take less than a twentieth of the kernel
_small = 50_000_000  # bytes of points of which two copies are nothing


@of_points
def linear(X: Array, Y: Array | None = None) -> Products:
    """x.y."""
    return of_products(X, Y, lambda block: None)


@of_points
def polynomial(
    X: Array,
    Y: Array | None = None,
    gamma: float | None = None,
    degree: float = 3,
    coef0: float = 1,
) -> Products:
    """(gamma x.y + coef0)^degree; gamma is 1 / p by default."""
    g, c, d = _positive(gamma, X), _number(coef0, "coef0"), _number(degree, "degree", 0)
    whole = d == int(d)

    def finish(block: Array) -> None:
        block *= g
        block += c
        if not whole and block.size and block.min() < 0:
            raise InputError(
                f"degree={degree!r}: only whole powers of gamma x.y + coef0 are known where that "
                "is negative, as it is here; use a whole degree, or a larger coef0"
            )
        np.power(block, d, out=block)

    return of_products(X, Y, finish)


@of_points
def sigmoid(
    X: Array, Y: Array | None = None, gamma: float | None = None, coef0: float = 1
) -> Products:
    """tanh(gamma x.y + coef0); gamma is 1 / p by default. Rarely positive semi-definite."""
    g, c = _positive(gamma, X), _number(coef0, "coef0")

    def finish(block: Array) -> None:
        block *= g
        block += c
        np.tanh(block, out=block)

    return of_products(X, Y, finish)


@of_points
def cosine(X: Array, Y: Array | None = None) -> Products:
    """x.y / (|x| |y|); 0 if one of them is 0."""
    return of_products(_unit_length(X), None if Y is None else _unit_length(Y), lambda block: None)


@of_points
def rbf(
    X: Array,
    Y: Array | None = None,
    gamma: float | str | None = None,
    sigma: float | None = None,
) -> Products | Apart:
    """exp(-gamma |x - y|^2); gamma is 1 / p by default, "median" for 1 / median |x - y|^2."""
    g = _gamma(gamma, sigma, X, Y)

    return of_squares(X, Y, -g, lambda block: np.exp(block, out=block))


@of_points
def inverse_multiquadric(
    X: Array, Y: Array | None = None, gamma: float | str | None = None
) -> Products | Apart:
    """1 / sqrt(1 + gamma |x - y|^2)."""

    def finish(block: Array) -> None:
        block += 1
        np.sqrt(block, out=block)
        np.reciprocal(block, out=block)

    return of_squares(X, Y, _gamma(gamma, None, X, Y), finish)


@of_points
def rational_quadratic(
    X: Array, Y: Array | None = None, gamma: float | str | None = None, alpha: float = 1.0
) -> Products | Apart:
    """(1 + gamma |x - y|^2 / alpha)^-alpha."""
    alpha = _positive(alpha, X, "alpha")

    def finish(block: Array) -> None:
        block += 1
        np.power(block, -alpha, out=block)

    return of_squares(X, Y, _gamma(gamma, None, X, Y) / alpha, finish)


@of_points
def matern(
    X: Array, Y: Array | None = None, gamma: float | str | None = None, nu: float = 1.5
) -> Apart:
    """Matern kernel of smoothness ``nu``; ``nu=0.5`` is exp(-r), infinity is exp(-r^2 / 2).

    r = sqrt(gamma) |x - y|, so the length scale is 1 / sqrt(gamma).
    """
    nu, g = _positive(nu, X, "nu"), _gamma(gamma, None, X, Y)

    def finish(block: Array) -> None:
        block[:] = matern_of_squares(block.astype(np.float64, copy=False) * g, nu)

    # roots of rounding errors would show: close points are taken from x - y itself
    return Apart(X, Y, "sqeuclidean", finish)


@of_points
def laplacian(X: Array, Y: Array | None = None, gamma: float | str | None = None) -> Apart:
    """exp(-gamma |x - y|_1)."""
    g = _gamma(gamma, None, X, Y, "cityblock")

    def finish(block: Array) -> None:
        block *= -g
        np.exp(block, out=block)

    return Apart(X, Y, "cityblock", finish)


KERNELS: dict[str, Kernel] = {
    "linear": linear,
    "rbf": rbf,
    "gaussian": rbf,
    "poly": polynomial,
    "polynomial": polynomial,
    "sigmoid": sigmoid,
    "tanh": sigmoid,
    "inverse_multiquadric": inverse_multiquadric,
    "rational_quadratic": rational_quadratic,
    "laplacian": laplacian,
    "matern": matern,
    "cosine": cosine,
}
STATIONARY = (rbf, inverse_multiquadric, rational_quadratic, laplacian, matern)  # of x - y alone


def kernel(name: str | Kernel, **parameters: Any) -> Kernel:
    """The kernel of that name with its parameters fixed: a function of X and Y.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.gram.kernels import kernel, plus
    >>> k = plus(kernel("linear"), kernel("rbf", gamma=1.0))
    >>> k(np.eye(2), np.eye(2)).round(3)
    array([[2.   , 0.135],
           [0.135, 2.   ]])
    """
    if not callable(name) and not (isinstance(name, str) and name in KERNELS):
        if isinstance(name, str) and name == "precomputed":
            raise InputError(
                "kernel='precomputed' is a matrix and no function of points: give it to "
                "KernelPCA(kernel='precomputed')"
            )
        raise InputError(
            f"kernel={name!r} is not known; use 'precomputed', a function k(X, Y), or one of "
            f"{', '.join(KERNELS)}"
        )
    function = name if callable(name) else KERNELS[name]
    base = _base(function)
    if not (_known(base) or base is _together or isinstance(base, Given)):
        function = Given(function)
    if not parameters:
        return function
    _refuse_unknown(function, parameters)
    return partial(function, **parameters)


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


def fixed(name: str | Kernel, X: Array, **parameters: Any) -> Kernel:
    """``kernel(name, ...)`` with what depends on the data (gamma) decided from ``X`` for good."""
    k = kernel(name)
    function, parameters = _base(k), {**getattr(k, "keywords", {}), **parameters}
    if function is _together:
        join, kernels = k.args  # type: ignore[attr-defined]
        if parameters:
            raise InputError("sums and products of kernels have no parameters; fix those of each")
        return partial(_together, join, tuple(fixed(each, X) for each in kernels))
    if function in STATIONARY:
        _refuse_unknown(function, parameters)
        given = parameters.get("gamma"), parameters.pop("sigma", None)
        metric = "cityblock" if function is laplacian else "sqeuclidean"
        parameters["gamma"] = _gamma(*given, X, metric=metric)
    elif function in (polynomial, sigmoid):
        parameters["gamma"] = _positive(parameters.get("gamma"), X)
    return kernel(function, **parameters)


def settled(name: str | Kernel, X: Array, usual: dict[str, Any], others: Any) -> Kernel:
    """A kernel with all parameters decided: those of ``usual`` that it knows, and ``others``."""
    others = {} if others is None else others
    if not isinstance(others, Mapping):
        raise InputError(
            f"kernel_params={others!r}: names of parameters with their values are needed, "
            'for example {"nu": 2.5}'
        )
    known = () if callable(name) else signature(kernel(name)).parameters
    taken = {key: value for key, value in usual.items() if key in known}
    return fixed(name, X, **{**taken, **others})


def _base(k: Any) -> Any:
    return _base(k.func) if isinstance(k, partial) else k


def _known(function: Any) -> bool:
    return any(function is each for each in KERNELS.values())


def _refuse_unknown(k: Kernel, parameters: dict[str, Any]) -> None:
    function = _base(k)
    try:
        names = signature(getattr(function, "function", function)).parameters
    except (TypeError, ValueError):  # some compiled functions do not say
        return
    known = list(names)[2:]
    unknown = [name for name in parameters if name not in known]
    if unknown and not any(each.kind is Parameter.VAR_KEYWORD for each in names.values()):
        wanted = f"it knows {', '.join(known)}" if known else "it has none"
        raise InputError(f"the kernel has no parameter {str(unknown[0])!r}; {wanted}")


def own_blocks(k: Kernel, X: Array) -> Callable[[slice, slice], Array]:
    """What gives k(X[rows], X[columns]).

    Where that takes little memory, what depends on single points is computed once for all.
    """
    function = _base(k)
    few = X.nbytes <= _small and X.shape[1] <= len(X) // _many_points
    if few and _known(function):
        found: Products | Apart = function.__wrapped__(X, None, **getattr(k, "keywords", {}))
        return found.block
    return lambda rows, columns: np.asarray(k(X[rows], X[columns]))


def kernel_diagonal(k: Kernel, X: Array) -> Array:
    """k(x, x) of every point, without the rest of the matrix."""
    if _base(k) in STATIONARY:
        return np.ones(len(X))
    found = [np.diagonal(k(X[a : a + 64], X[a : a + 64])) for a in range(0, len(X), 64)]
    return np.concatenate(found).astype(np.float64)


def plus(*kernels: str | Kernel) -> Kernel:
    """The sum of kernels, a kernel again."""
    return _joined("plus", np.add, kernels)


def times(*kernels: str | Kernel) -> Kernel:
    """The entrywise product of kernels, a kernel again (Schur)."""
    return _joined("times", np.multiply, kernels)


def _joined(name: str, join: Any, kernels: tuple[str | Kernel, ...]) -> Kernel:
    if not kernels:
        raise InputError(f"{name}() needs at least one kernel")
    return partial(_together, join, tuple(kernel(k) for k in kernels))


def _together(join: Any, kernels: tuple[Kernel, ...], X: Any, Y: Any = None) -> Any:
    K = kernels[0](X, Y)
    for other in kernels[1:]:
        L = other(X, Y)
        K = join(K, L, out=K) if isinstance(K, np.ndarray) else join(K, L)
    return K


def _unit_length(X: Array) -> Array:
    """Rows of length 1; zero stays zero. Tiny and huge rows are brought near 1 first."""
    length = np.linalg.norm(X, axis=1, keepdims=True)
    tiny, huge = np.sqrt([np.finfo(length.dtype).tiny, np.finfo(length.dtype).max])
    if ((length < 1e6 * tiny) | (length > 1e-6 * huge)).any():
        peak = np.abs(X).max(axis=1, initial=0.0, keepdims=True)
        X = X / np.where(peak > 0, peak, 1)
        length = np.linalg.norm(X, axis=1, keepdims=True)
    zeros = np.zeros(X.shape, length.dtype)
    return np.asarray(np.divide(X, length, out=zeros, where=length > 0))


def _gamma(
    gamma: Any, sigma: Any, X: Array, Y: Array | None = None, metric: str = "sqeuclidean"
) -> float:
    """gamma as a number; "median" is that of X, which must be all points that are compared."""
    if sigma is not None:
        if gamma is not None:
            raise InputError("give gamma or sigma, not both: gamma = 1 / (2 sigma^2)")
        width = _positive(sigma, X, "sigma")
        if not 1e-150 < width < 1e150:
            raise InputError(f"sigma={sigma!r}: its square leaves the range of floats; scale it")
        return 1 / (2 * width**2)
    if isinstance(gamma, str) and gamma == "median":
        if Y is not None and not np.array_equal(X, Y):
            raise InputError(
                'gamma="median" would be another number for every two sets of points; decide it '
                'once, from the training points: kernels.fixed("rbf", X, gamma="median")'
            )
        return 1 / _median(X, metric)
    return _positive(gamma, X, words=' or "median"')


def alpha_of(alpha: Any) -> float:
    """The ridge of pre-images, checked."""
    return _number(alpha, "alpha", 0)


def _positive(value: Any, X: Array, name: str = "gamma", words: str = "") -> float:
    """A number above 0; by default 1 / p."""
    if value is None and name == "gamma":
        return 1.0 / int(X.shape[1])
    most = np.inf if name == "nu" else np.finfo(np.float64).max
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < value <= most:
        raise InputError(f"{name}={value!r}: a number above 0{words} is needed")
    return float(value)


def _number(value: Any, name: str, least: float = -np.inf) -> float:
    """A finite number, at least so large."""
    most = np.finfo(np.float64).max
    real = isinstance(value, Real) and not isinstance(value, bool)
    if not real or not max(-most, least) <= value <= most:
        words = "" if least == -np.inf else f" of at least {least:g}"
        raise InputError(f"{name}={value!r}: a finite number{words} is needed")
    return float(value)


def _median(X: Array, metric: str) -> float:
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

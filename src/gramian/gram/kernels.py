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
from functools import partial
from inspect import signature
from typing import Any

import numpy as np

from gramian.errors import InputError
from gramian.gram.kernel_arguments import (
    Given,
    base,
    gamma_of,
    number,
    positive,
    refuse_unknown,
)
from gramian.gram.kernel_blocks import (
    Apart,
    Kernel,
    Products,
    of_points,
    of_products,
    of_squares,
)
from gramian.gram.matern import matern_of_squares
from gramian.maps import Array

__all__ = [
    *("KERNELS", "cosine", "fixed", "inverse_multiquadric", "kernel"),
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
    g, c, d = positive(gamma, X), number(coef0, "coef0"), number(degree, "degree", 0)
    whole = d == int(d)

    def finish(block: Array) -> None:
        block *= g
        block += c
        if not whole and block.size and block.min() < 0:
            raise InputError(
                f"degree={degree!r}: only whole powers of gamma x.y + coef0 are known where that "
                "is negative, as it is here; use a whole degree, or a larger coef0"
            )
        with np.errstate(over="ignore"):  # said by whoever needs finite numbers
            np.power(block, d, out=block)

    return of_products(X, Y, finish)


@of_points
def sigmoid(
    X: Array, Y: Array | None = None, gamma: float | None = None, coef0: float = 1
) -> Products:
    """tanh(gamma x.y + coef0); gamma is 1 / p by default. Rarely positive semi-definite."""
    g, c = positive(gamma, X), number(coef0, "coef0")

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
    g = gamma_of(gamma, sigma, X, Y)

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

    return of_squares(X, Y, gamma_of(gamma, None, X, Y), finish)


@of_points
def rational_quadratic(
    X: Array, Y: Array | None = None, gamma: float | str | None = None, alpha: float = 1.0
) -> Products | Apart:
    """(1 + gamma |x - y|^2 / alpha)^-alpha."""
    alpha = positive(alpha, X, "alpha")

    def finish(block: Array) -> None:
        block += 1
        np.power(block, -alpha, out=block)

    return of_squares(X, Y, gamma_of(gamma, None, X, Y) / alpha, finish)


@of_points
def matern(
    X: Array, Y: Array | None = None, gamma: float | str | None = None, nu: float = 1.5
) -> Apart:
    """Matern kernel of smoothness ``nu``; ``nu=0.5`` is exp(-r), infinity is exp(-r^2 / 2).

    r = sqrt(gamma) |x - y|, so the length scale is 1 / sqrt(gamma).
    """
    nu, g = positive(nu, X, "nu"), gamma_of(gamma, None, X, Y)

    def finish(block: Array) -> None:
        block[:] = matern_of_squares(block, g, nu)

    # roots of rounding errors would show: close points are taken from x - y itself
    return Apart(X, Y, "sqeuclidean", finish)


@of_points
def laplacian(X: Array, Y: Array | None = None, gamma: float | str | None = None) -> Apart:
    """exp(-gamma |x - y|_1)."""
    g = gamma_of(gamma, None, X, Y, "cityblock")

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
    inside = base(function)
    if not (_known(inside) or inside is _together or isinstance(inside, Given)):
        function = Given(function)
    if not parameters:
        return function
    refuse_unknown(function, parameters)
    return partial(function, **parameters)


def fixed(name: str | Kernel, X: Array, **parameters: Any) -> Kernel:
    """``kernel(name, ...)`` with what depends on the data (gamma) decided from ``X`` for good."""
    k = kernel(name)
    function, parameters = base(k), {**getattr(k, "keywords", {}), **parameters}
    if function is _together:
        join, kernels = k.args  # type: ignore[attr-defined]
        if parameters:
            raise InputError("sums and products of kernels have no parameters; fix those of each")
        return partial(_together, join, tuple(fixed(each, X) for each in kernels))
    if function in STATIONARY:
        refuse_unknown(function, parameters)
        given = parameters.get("gamma"), parameters.pop("sigma", None)
        metric = "cityblock" if function is laplacian else "sqeuclidean"
        parameters["gamma"] = gamma_of(*given, X, metric=metric)
    elif function in (polynomial, sigmoid):
        parameters["gamma"] = positive(parameters.get("gamma"), X)
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


def _known(function: Any) -> bool:
    return any(function is each for each in KERNELS.values())


def own_blocks(k: Kernel, X: Array) -> Callable[[slice, slice], Array]:
    """What gives k(X[rows], X[columns]).

    Where that takes little memory, what depends on single points is computed once for all.
    """
    function = base(k)
    few = X.nbytes <= _small and X.shape[1] <= len(X) // _many_points
    if few and _known(function):
        found: Products | Apart = function.__wrapped__(X, None, **getattr(k, "keywords", {}))
        return found.block
    return lambda rows, columns: np.asarray(k(X[rows], X[columns]))


def kernel_diagonal(k: Kernel, X: Array) -> Array:
    """k(x, x) of every point, without the rest of the matrix."""
    if base(k) in STATIONARY:
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
    with np.errstate(over="ignore"):
        length = np.linalg.norm(X, axis=1, keepdims=True)
    tiny, huge = np.sqrt([np.finfo(length.dtype).tiny, np.finfo(length.dtype).max])
    if ((length < 1e6 * tiny) | (length > 1e-6 * huge)).any():
        peak = np.abs(X).max(axis=1, initial=0.0, keepdims=True)
        X = X / np.where(peak > 0, peak, 1)
        length = np.linalg.norm(X, axis=1, keepdims=True)
    zeros = np.zeros(X.shape, length.dtype)
    return np.asarray(np.divide(X, length, out=zeros, where=length > 0))

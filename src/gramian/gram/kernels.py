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

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, wraps
from inspect import signature
from typing import Any

import numpy as np

from gramian.errors import InputError
from gramian.gram.distances import pairwise
from gramian.loops.threads import one_blas_thread, pause, run
from gramian.maps import Array

Kernel = Callable[..., Any]

__all__ = [
    *("KERNELS", "KernelMap", "cosine", "fixed", "inverse_multiquadric", "kernel"),
    *("kernel_diagonal", "laplacian", "linear", "matern", "plus", "polynomial"),
    *("rational_quadratic", "rbf", "sigmoid", "times"),
]
_rows, _columns = 256, 512  # of a tile that stays in the second-level cache
_many_points = 40  # for a variable: two copies of them take less than a twentieth of the kernel
_small = 50_000_000  # bytes of points of which two copies are nothing


@dataclass(frozen=True)
class Products:
    """A kernel that is a function of inner products: ``finish`` applied to A B', by blocks."""

    A: Array
    B: Array
    finish: Callable[[Array], Any]
    dtype: Any

    def block(self, rows: slice, columns: slice) -> Array:
        """Some rows and columns of it."""
        A, B = self.A[rows], self.B[columns]
        K = np.empty((len(A), len(B)), self.dtype)
        self._fill(K, A, B.T)
        return K

    def whole(self) -> Array:
        """All of it, on all threads."""
        K = np.empty((len(self.A), len(self.B)), self.dtype)

        def piece(i: int) -> None:
            rows = slice(i * _rows, (i + 1) * _rows)
            self._fill(K[rows], self.A[rows], self.B.T)

        with one_blas_thread():
            run(piece, -(-len(K) // _rows), "kernel")
        return K

    def _fill(self, K: Array, A: Array, Bt: Array) -> None:
        """Tile by tile in cache, so that each is written to memory once."""
        for i in range(0, len(K), _rows):
            for j in range(0, K.shape[1], _columns):
                pause()
                some, tile = A[i : i + _rows], K[i : i + _rows, j : j + _columns]
                inner = tile if K.dtype == A.dtype else np.empty(tile.shape, A.dtype)
                self.finish(np.matmul(some, Bt[:, j : j + _columns], out=inner))
                if inner is not tile:
                    tile[:] = inner


def of_points(function: Callable[..., Array | Products]) -> Kernel:
    """Make a kernel of arrays of points of what says how: an array, or products.

    It takes two single points, too, and returns their similarity.
    """

    @wraps(function)
    def k(X: Any, Y: Any = None, **parameters: Any) -> Any:
        X, Y = np.asarray(X), None if Y is None else np.asarray(Y)
        single = X.ndim == 1
        if single:
            X, Y = X[None], None if Y is None else Y[None]
        found = function(X, Y, **parameters)
        K = found.whole() if isinstance(found, Products) else found
        return float(K[0, 0]) if single else K

    return k


@of_points
def linear(X: Array, Y: Array | None = None) -> Products:
    """x.y."""
    return _of_products(X, Y, lambda block: None)


@of_points
def polynomial(
    X: Array,
    Y: Array | None = None,
    gamma: float | None = None,
    degree: float = 3,
    coef0: float = 1,
) -> Products:
    """(gamma x.y + coef0)^degree; gamma is 1 / p by default."""
    g = _positive(gamma, X)

    def finish(block: Array) -> None:
        block *= g
        block += coef0
        np.power(block, degree, out=block)

    return _of_products(X, Y, finish)


@of_points
def sigmoid(
    X: Array, Y: Array | None = None, gamma: float | None = None, coef0: float = 1
) -> Products:
    """tanh(gamma x.y + coef0); gamma is 1 / p by default. Rarely positive semi-definite."""
    g = _positive(gamma, X)

    def finish(block: Array) -> None:
        block *= g
        block += coef0
        np.tanh(block, out=block)

    return _of_products(X, Y, finish)


@of_points
def cosine(X: Array, Y: Array | None = None) -> Products:
    """x.y / (|x| |y|); 0 if one of them is 0."""
    return _of_products(_unit_length(X), None if Y is None else _unit_length(Y), lambda block: None)


@of_points
def rbf(
    X: Array,
    Y: Array | None = None,
    gamma: float | str | None = None,
    sigma: float | None = None,
) -> Products:
    """exp(-gamma |x - y|^2); gamma is 1 / p by default, "median" for 1 / median |x - y|^2."""
    g = _gamma(gamma, sigma, X)

    return _of_squares(X, Y, -g, lambda block: np.exp(block, out=block))


@of_points
def inverse_multiquadric(
    X: Array, Y: Array | None = None, gamma: float | str | None = None
) -> Products:
    """1 / sqrt(1 + gamma |x - y|^2)."""

    def finish(block: Array) -> None:
        block += 1
        np.sqrt(block, out=block)
        np.reciprocal(block, out=block)

    return _of_squares(X, Y, _gamma(gamma, None, X), finish)


@of_points
def rational_quadratic(
    X: Array, Y: Array | None = None, gamma: float | str | None = None, alpha: float = 1.0
) -> Products:
    """(1 + gamma |x - y|^2 / alpha)^-alpha."""
    alpha = _positive(alpha, X, "alpha")

    def finish(block: Array) -> None:
        block += 1
        np.power(block, -alpha, out=block)

    return _of_squares(X, Y, _gamma(gamma, None, X) / alpha, finish)


@of_points
def matern(
    X: Array, Y: Array | None = None, gamma: float | str | None = None, nu: float = 1.5
) -> Array:
    """Matern kernel of smoothness ``nu``; ``nu=0.5`` is exp(-r), infinity is exp(-r^2 / 2).

    r = sqrt(gamma) |x - y|, so the length scale is 1 / sqrt(gamma).
    """
    from scipy.special import gamma as factorial
    from scipy.special import kv

    nu, g = _positive(nu, X, "nu"), _gamma(gamma, None, X)

    def finish(block: Array) -> None:
        if nu == np.inf:
            np.exp(block * (-g / 2), out=block)
            return
        r = np.sqrt(block * (2 * nu * g))
        if nu in (0.5, 1.5, 2.5):
            head = {0.5: 1.0, 1.5: 1 + r, 2.5: 1 + r + r * r / 3}[nu]
            block[:] = head * np.exp(-r)
            return
        with np.errstate(invalid="ignore", over="ignore"):
            found = 2 ** (1 - nu) / factorial(nu) * r**nu * kv(nu, r)
        block[:] = np.where(r > 1e-12, np.nan_to_num(found), 1.0)

    # roots of rounding errors would show: close points are taken from x - y itself
    return _entrywise(pairwise(X, Y, "sqeuclidean"), finish)


@of_points
def laplacian(X: Array, Y: Array | None = None, gamma: float | str | None = None) -> Array:
    """exp(-gamma |x - y|_1)."""
    g = _gamma(gamma, None, X) if gamma != "median" else 1 / _median(X, "cityblock")

    def finish(block: Array) -> None:
        block *= -g
        np.exp(block, out=block)

    return _entrywise(pairwise(X, Y, "cityblock"), finish)


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
_OF_PRODUCTS = (linear, cosine, polynomial, sigmoid, rbf, inverse_multiquadric, rational_quadratic)
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
    if not callable(name) and name not in KERNELS:
        raise InputError(
            f"kernel={name!r} is not known; use 'precomputed', a function k(X, Y), or one of "
            f"{', '.join(KERNELS)}"
        )
    function = name if callable(name) else KERNELS[name]
    return partial(function, **parameters) if parameters else function


def fixed(name: str | Kernel, X: Array, **parameters: Any) -> Kernel:
    """``kernel(name, ...)`` with what depends on the data (gamma) decided from ``X`` for good."""
    function = kernel(name)
    if function in STATIONARY:
        given = parameters.get("gamma"), parameters.pop("sigma", None)
        if function is laplacian and given[0] == "median":
            given = 1 / _median(X, "cityblock"), None
        parameters["gamma"] = _gamma(*given, X)
    elif function in (polynomial, sigmoid):
        parameters["gamma"] = _positive(parameters.get("gamma"), X)
    return kernel(function, **parameters)


def settled(name: str | Kernel, X: Array, usual: dict[str, Any], others: Any) -> dict[str, Any]:
    """All parameters of a kernel, decided: those of ``usual`` that it knows, and ``others``."""
    known = () if callable(name) else signature(fixed(name, X)).parameters
    taken = {key: value for key, value in usual.items() if key in known}
    return dict(getattr(fixed(name, X, **taken, **(others or {})), "keywords", {}))


def own_blocks(k: Kernel, X: Array) -> Callable[[slice, slice], Array]:
    """What gives k(X[rows], X[columns]).

    Where that takes little memory, what depends on single points is computed once for all.
    """
    function: Any = getattr(k, "func", k)
    few = X.nbytes <= _small and X.shape[1] <= len(X) // _many_points
    if few and function in _OF_PRODUCTS:
        products: Products = function.__wrapped__(X, **getattr(k, "keywords", {}))
        return products.block
    return lambda rows, columns: np.asarray(k(X[rows], X[columns]))


def kernel_diagonal(k: Kernel, X: Array) -> Array:
    """k(x, x) of every point, without the rest of the matrix."""
    if getattr(k, "func", k) in STATIONARY and len(X):  # the same for all points
        return np.full(len(X), float(k(X[:1], X[:1])[0, 0]))
    found = [np.diagonal(k(X[a : a + 64], X[a : a + 64])) for a in range(0, len(X), 64)]
    return np.concatenate(found).astype(np.float64)


def plus(*kernels: str | Kernel) -> Kernel:
    """The sum of kernels, a kernel again."""
    return partial(_together, np.add, tuple(kernel(k) for k in kernels))


def times(*kernels: str | Kernel) -> Kernel:
    """The entrywise product of kernels, a kernel again (Schur)."""
    return partial(_together, np.multiply, tuple(kernel(k) for k in kernels))


def _together(join: Any, kernels: tuple[Kernel, ...], X: Any, Y: Any = None) -> Any:
    K = kernels[0](X, Y)
    for other in kernels[1:]:
        L = other(X, Y)
        K = join(K, L, out=K) if isinstance(K, np.ndarray) else join(K, L)
    return K


def _of_products(X: Array, Y: Array | None, finish: Callable[[Array], Any]) -> Products:
    """``finish`` applied to X Y'."""
    dtype = np.float32 if X.dtype == np.float32 else np.float64
    A = X.astype(dtype, copy=False)
    return Products(A, A if Y is None else Y.astype(dtype, copy=False), finish, dtype)


def _of_squares(
    X: Array, Y: Array | None, scale: float, finish: Callable[[Array], Any]
) -> Products:
    """``finish`` applied to s |x - y|^2, s = ``scale``.

    s |x|^2 + s |y|^2 - 2 s x.y about the mean of X is one product, of rows (-2 s x, s |x|^2, s) and
    (y, 1, |y|^2). It loses at most eps s (|x|^2 + |y|^2); where float32 would lose more than five
    digits of 1 by that, float64 is used.
    """
    dtype = np.float32 if X.dtype == np.float32 else np.float64
    middle = X.mean(axis=0, dtype=np.float64)
    for work in (dtype, np.float64):
        with np.errstate(over="ignore", invalid="ignore"):
            A = X.astype(work, copy=False) - middle.astype(work)
            B = A if Y is None else Y.astype(work, copy=False) - middle.astype(work)
            exact = (np.einsum("ij,ij->i", Z, Z, dtype=np.float64) for Z in (A, B))
            aa, bb = (z.astype(work)[:, None] for z in exact)
            most = abs(scale) * (float(aa.max(initial=0.0)) + float(bb.max(initial=0.0)))
        if most * 6e-8 <= 1e-5 and abs(scale) < 1e30:  # what float32 holds with room to spare
            break
    A = np.concatenate([A * work(-2 * scale), aa * work(scale), np.full_like(aa, scale)], axis=1)
    B = np.concatenate([B, np.ones_like(bb), bb], axis=1)

    def squares(tile: Array) -> None:
        if scale > 0 and tile.min() < 0:  # by rounding; looking is quicker than writing
            np.maximum(tile, 0, out=tile)
        elif scale < 0 and tile.max() > 0:
            np.minimum(tile, 0, out=tile)
        finish(tile)

    return Products(A, B, squares, dtype)


def _entrywise(K: Array, finish: Callable[[Array], Any]) -> Array:
    """``finish`` applied to K, a block of rows at a time, in place."""
    step = max(1, 200_000 // max(K.shape[1], 1))
    run(lambda i: finish(K[i * step : (i + 1) * step]), -(-len(K) // step))
    return K


def _unit_length(X: Array) -> Array:
    length = np.linalg.norm(X, axis=1, keepdims=True)
    zeros = np.zeros(X.shape, length.dtype)
    return np.asarray(np.divide(X, length, out=zeros, where=length > 0))


def _gamma(gamma: Any, sigma: Any, X: Array) -> float:
    if sigma is not None:
        if gamma is not None:
            raise InputError("give gamma or sigma, not both: gamma = 1 / (2 sigma^2)")
        return float(1 / (2 * _positive(sigma, X, "sigma") ** 2))
    return 1.0 / _median(X, "sqeuclidean") if gamma == "median" else _positive(gamma, X)


def _positive(value: Any, X: Array, name: str = "gamma") -> float:
    """A number above 0; by default 1 / p."""
    if value is None:
        return 1.0 / int(X.shape[1])
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not value > 0:
        words = ' or "median"' if name == "gamma" else ""
        raise InputError(f"{name}={value!r}: a number above 0{words} is needed")
    return float(value)


def _median(X: Array, metric: str) -> float:
    """The median distance between (at most 1,000 evenly spaced) points."""
    some = X[:: -(-len(X) // 1000)]
    found = pairwise(some, metric=metric)
    middle = float(np.median(found[np.triu_indices(len(some), 1)])) if len(some) > 1 else 0.0
    if not middle > 0:
        raise InputError('gamma="median": half of all points are equal; give gamma as a number')
    return middle

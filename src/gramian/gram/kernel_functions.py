"""Functions of a kernel's Hilbert space, and points whose images lie near given ones (pre-images).

    functions    f_i = sum_j c_ji k(x_j, .),   <f_i, f_j> = (C' K C)_ij
    ridge        a regression with an rbf kernel from coordinates to points
    fixed point  x <- sum_j b_j k(x, x_j) x_j / sum_j b_j k(x, x_j)          (rbf kernel)

S. Mika et al., Kernel PCA and de-noising in feature spaces, NIPS 11 (1998).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.errors import InputError
from gramian.gram.kernel_arguments import alpha_of
from gramian.gram.kernel_blocks import Kernel
from gramian.gram.kernels import fixed
from gramian.maps import Array


@dataclass(frozen=True)
class KernelFunctions:
    """Functions f_i = sum_j c_ji k(x_j, .) of a kernel's Hilbert space."""

    kernel: Kernel
    X: Array
    coefficients: Array

    def __call__(self, X: Any) -> Array:
        """f_i(x) for the rows x of ``X``, of shape (m, k)."""
        X, p = np.asarray(X), self.X.shape[1]
        if X.dtype.kind not in "fiub" or X.ndim != 2 or X.shape[1] != p:
            raise InputError(
                f"rows of {p} numbers are needed, one a point; got shape {X.shape}, type {X.dtype}"
            )
        return np.asarray(self.kernel(X, self.X) @ self.coefficients)

    def inner_products(self) -> Array:
        """<f_i, f_j> in the Hilbert space, (k, k)."""
        C = self.coefficients
        return np.asarray(C.T @ np.asarray(self.kernel(self.X, self.X), np.float64) @ C)


def ridge_preimages(Z: Array, trained: Array, points: Array, alpha: float) -> Array:
    """Points for the coordinates ``Z``, learned from ``points`` and their coordinates ``trained``.

    Parameters
    ----------
    Z : array of shape (m, k)
    trained : array of shape (n, k)
    points : array of shape (n, p)
    alpha : float
        Ridge, in units of a kernel whose diagonal is 1.

    Returns
    -------
    array of shape (m, p)
    """
    trained = trained.astype(np.float64)
    k = fixed("rbf", trained, gamma="median")
    G = k(trained, trained) + alpha * np.eye(len(trained))
    middle = points.mean(axis=0, dtype=np.float64)
    try:
        solved = np.linalg.solve(G, points - middle)
    except np.linalg.LinAlgError:
        raise InputError(
            f"alpha={alpha:g}: the regression to points has no single answer; use a larger alpha"
        ) from None
    return np.asarray(k(Z, trained) @ solved + middle)


def fixed_point_preimages(
    kernel: Kernel, points: Array, B: Array, start: Array, steps: int = 200
) -> Array:
    """Points whose images lie near sum_j b_j k(x_j, .), by iteration from ``start``.

    Parameters
    ----------
    kernel : rbf kernel
    points : array of shape (n, p)
    B : array of shape (m, n)
        A row of coefficients for each point looked for.
    start : array of shape (m, p)
    steps : int
        The most iterations.

    Returns
    -------
    array of shape (m, p)
    """
    points, X = points.astype(np.float64), start
    for _ in range(steps):
        W = B * kernel(X, points)
        total = W.sum(axis=1, keepdims=True)
        safe = np.abs(total) > 1e-12 * np.abs(W).sum(axis=1, keepdims=True)
        moved = np.where(safe, (W @ points) / np.where(safe, total, 1.0), X)
        done = np.abs(moved - X).max() <= 1e-10 * max(np.abs(points).max(), 1e-300)
        X = moved
        if done:
            break
    return X


def preimages(
    Z: Array,
    functions: KernelFunctions,
    trained: Array,
    points: Array,
    *,
    center: bool,
    rbf: bool,
    method: str | None = None,
    alpha: float,
) -> Array:
    """Points whose images lie near the coordinates ``Z``, by ``method`` or the best there is.

    Parameters
    ----------
    Z : array of shape (m, k)
    functions : KernelFunctions
        Of the axes with a positive eigenvalue.
    trained, points : array of shape (n, k), (n, p)
        Coordinates of the training points, and these.
    center : bool
        Whether the axes go through the mean of the training points.
    rbf : bool
        Whether the kernel is Gaussian, which the iteration needs.
    method : {"fixed-point", "ridge"}, optional
    alpha : float
        Ridge.
    """
    method = ("fixed-point" if rbf else "ridge") if method is None else method
    if method not in ("fixed-point", "ridge") or (method == "fixed-point" and not rbf):
        raise InputError(f"method={method!r}: use 'ridge', or 'fixed-point' with the rbf kernel")
    found = ridge_preimages(Z, trained, points, alpha_of(alpha))
    if method == "ridge":
        return found
    C = functions.coefficients
    B = Z[:, : C.shape[1]] @ C.T
    B += 1 / len(functions.X) if center else 0.0
    return fixed_point_preimages(functions.kernel, functions.X, B, found)

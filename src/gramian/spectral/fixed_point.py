"""The rotation that makes whitened data least Gaussian: the symmetric fixed point of FastICA.

    S = X W',   W+ = E[g(s) x'] - diag(E[g'(s)]) W,   W = (W+ W+')^-1/2 W+

One visit to X a step: a block of rows is turned, bent by g and multiplied back while it is in the
cache. Where there are many rows, steps are made on a part of them first (blocks spread over all):
its answer is off by no more than chance, and two or three visits to all rows mend that.

A. Hyvärinen, Fast and robust fixed-point algorithms for independent component analysis, IEEE
Trans. Neural Networks 10 (1999).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.loops.threads import one_blas_thread, ordered_sum
from gramian.maps import Array
from gramian.progress import Approach

_rows = 1024  # in a block: turned and bent, it stays in the second-level cache
_part = 8  # one block in so many for the first steps
_LOG_COSH_OF_GAUSSIAN = 0.374567207491438  # E log cosh of a standard Gaussian, by quadrature
_many = 30_000  # rows from which a part of them is worth asking first


def _logcosh(S: Array) -> tuple[Array, Array]:
    G = np.tanh(S, out=S)
    return G, len(S) - np.einsum("ij,ij->j", G, G)


def _exp(S: Array) -> tuple[Array, Array]:
    bell = np.exp(-0.5 * S * S)
    return S * bell, np.einsum("ij,ij->j", 1 - S * S, bell)


def _cube(S: Array) -> tuple[Array, Array]:
    squares = S * S
    return squares * S, 3 * squares.sum(axis=0)


#: g of each contrast, with the sum of g' over a block; S may be overwritten.
CONTRASTS: dict[str, Callable[[Array], tuple[Array, Array]]] = {
    "logcosh": _logcosh,
    "exp": _exp,
    "cube": _cube,
}


@dataclass(frozen=True)
class Rotation:
    """W (k, k), orthogonal; how many visits it took, how far the last step turned it."""

    W: Array
    steps: int
    moved: float
    converged: bool


def least_gaussian(
    X: Array, contrast: str, max_iter: int, tol: float, rng: np.random.Generator
) -> Rotation:
    """Turn white rows X (n, k) until a step moves no axis: 1 - |cos| < ``tol``."""
    n, k = X.shape
    W = orthogonalized(rng.standard_normal((k, k)))
    blocks = [(a, min(a + _rows, n)) for a in range(0, n, _rows)]
    with one_blas_thread():
        if n >= max(_many, _part * 50 * k):
            W = _iterated(X, blocks[::_part], W, contrast, max_iter, max(tol, 1e-4)).W
        return _iterated(X, blocks, W, contrast, max_iter, tol)


def _iterated(
    X: Array, blocks: list[tuple[int, int]], W: Array, contrast: str, max_iter: int, tol: float
) -> Rotation:
    told = Approach("turning", tol)
    for step in range(1, max_iter + 1):
        following = orthogonalized(_step(X, blocks, W, CONTRASTS[contrast]))
        moved = float(np.max(np.abs(np.abs(np.einsum("ij,ij->i", following, W)) - 1)))
        W = following
        told(step, moved)
        if moved < tol:
            return Rotation(W, step, moved, True)
    return Rotation(W, max_iter, moved, False)


def _step(X: Array, blocks: list[tuple[int, int]], W: Array, bend: Callable[..., Any]) -> Array:
    k = X.shape[1]
    turn = np.ascontiguousarray(W.T, dtype=X.dtype)
    pieces = min(16, len(blocks))
    bounds = [len(blocks) * i // pieces for i in range(pieces + 1)]

    def piece(i: int, total: Array) -> None:
        for a, b in blocks[bounds[i] : bounds[i + 1]]:
            G, slopes = bend(X[a:b] @ turn)
            total[:, :k] += G.T @ X[a:b]
            total[:, k] += slopes

    total = ordered_sum(piece, pieces, lambda: np.zeros((k, k + 1)))
    count = sum(b - a for a, b in blocks)
    return np.asarray((total[:, :k] - total[:, k:] * W) / count)


def orthogonalized(W: Array) -> Array:
    """(W W')^-1/2 W: the orthogonal matrix nearest to W."""
    U, _, Vt = np.linalg.svd(W)
    return np.asarray(U @ Vt)


def negentropies(X: Array, W: Array) -> Array:
    """How far w'x is from Gaussian, for each row of W: (E log cosh - that of a Gaussian)^2."""
    total = np.zeros(len(W))
    turn = np.ascontiguousarray(W.T, dtype=X.dtype)
    for a in range(0, len(X), _rows):
        S = np.abs(X[a : a + _rows] @ turn)
        total += np.sum(S + np.log1p(np.exp(-2 * S)), axis=0, dtype=np.float64)
    return np.asarray((total / len(X) - np.log(2) - _LOG_COSH_OF_GAUSSIAN) ** 2)

"""Checks for maps and embeddings, shipped because users need them too.

Eigenvectors are unique only up to sign, and inside equal eigenvalues only up to rotation: compare
them with ``same_up_to_signs`` and ``same_up_to_rotation``, never entry by entry.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.maps import Array, LinearMap, to_dense


def tolerance(dtype: Any, size: int, factor: float = 10.0) -> float:
    """Relative error to expect of sums of ``size`` products: factor * eps * sqrt(size)."""
    return float(factor * np.finfo(dtype).eps * np.sqrt(max(size, 1)))


def check_map(A: LinearMap, dense: Array, *, symmetric: bool = False, seed: int = 0) -> None:
    """Assert that ``A`` behaves as the matrix ``dense``: shape, products, transpose, adjoint.

    Parameters
    ----------
    A : map under test
    dense : (n, p) array
        What it should be, entry by entry.
    symmetric : bool
        Whether ``A`` should equal its transpose.
    """
    rng = np.random.default_rng(seed)
    n, p = dense.shape
    assert A.shape == (n, p), f"shape {A.shape}, expected {(n, p)}"
    assert A.T.shape == (p, n), f"transpose has shape {A.T.shape}"
    rtol = tolerance(A.dtype, max(n, p))
    size = float(np.abs(dense).max(initial=0.0)) * np.sqrt(max(n, p)) + np.finfo(A.dtype).tiny
    for m in (1, 3, 17):
        V = rng.standard_normal((p, m)).astype(A.dtype)
        U = rng.standard_normal((n, m)).astype(A.dtype)
        kept = V.copy()
        _close(A @ V, dense @ V, rtol, size, f"A @ V with {m} columns")
        _close(A.T @ U, dense.T @ U, rtol, size, f"A.T @ U with {m} columns")
        assert np.array_equal(V, kept), "A @ V modified V"
        left, right = np.sum(U * (A @ V)), np.sum((A.T @ U) * V)
        assert abs(left - right) <= rtol * size * np.sqrt(n * m) * 10, "<U, A V> is not <A' U, V>"
    assert to_dense(A).shape == (n, p)
    if symmetric:
        assert A.T is A or np.allclose(to_dense(A), to_dense(A.T), rtol=rtol, atol=rtol * size)


def same_up_to_signs(A: Any, B: Any, *, rtol: float = 1e-6) -> None:
    """Assert that columns of ``A`` and ``B`` agree up to the sign of each.

    ``rtol`` is relative to the largest entry of ``B``.
    """
    A, B = np.asarray(A, np.float64), np.asarray(B, np.float64)
    assert A.shape == B.shape, f"shapes {A.shape} and {B.shape}"
    signs = np.where(np.sum(A * B, axis=0) < 0, -1.0, 1.0)
    _close(A * signs, B, rtol, float(np.abs(B).max(initial=0.0)), "columns up to sign")


def same_up_to_rotation(A: Any, B: Any, *, rtol: float = 1e-6) -> None:
    """Assert that point sets ``A`` and ``B`` (n, k) agree up to a rotation or reflection."""
    A, B = np.asarray(A, np.float64), np.asarray(B, np.float64)
    assert A.shape == B.shape, f"shapes {A.shape} and {B.shape}"
    U, _, Vt = np.linalg.svd(A.T @ B)
    _close(A @ (U @ Vt), B, rtol, float(np.abs(B).max(initial=0.0)), "points up to rotation")


def same_subspace(A: Any, B: Any, *, rtol: float = 1e-6) -> None:
    """Assert that columns of ``A`` and ``B`` span the same space (sine of the largest angle)."""
    Q, _ = np.linalg.qr(np.asarray(A, np.float64))
    P, _ = np.linalg.qr(np.asarray(B, np.float64))
    apart = float(np.linalg.norm(Q - P @ (P.T @ Q), 2))
    assert apart <= rtol, f"largest angle has sine {apart:.2e}, allowed {rtol:.2e}"


def _close(found: Array, wanted: Array, rtol: float, size: float, what: str) -> None:
    worst = float(np.abs(np.asarray(found, np.float64) - wanted).max(initial=0.0))
    assert worst <= rtol * size, f"{what}: off by {worst:.3e}, allowed {rtol * size:.3e}"

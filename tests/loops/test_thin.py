"""Projections on a growing basis against NumPy: loops for four columns, for vectors, and BLAS."""

from __future__ import annotations

import numpy as np
import pytest

from gramian.loops.thin import project, roomy, subtract
from gramian.loops.threads import limit_threads

RANGES = [(0, 1), (0, 70), (3, 35), (40, 70), (64, 65)]


def basis(n: int, dtype: str) -> np.ndarray:
    """Seventy columns, and beyond them what an earlier, wider basis left."""
    Q = roomy(n, 70, np.dtype(dtype))
    Q[:] = np.random.default_rng(n).standard_normal(Q.shape)
    return Q


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [1, 7, 131, 15_003])
@pytest.mark.parametrize("m", [3, 4, 16])
def test_equal_numpy(n: int, m: int, dtype: str) -> None:
    Q, eps = basis(n, dtype), np.finfo(dtype).eps
    X = np.random.default_rng(m).standard_normal((n, m)).astype(dtype)
    for first, used in RANGES:
        part = Q[:, first:used].astype(np.float64)
        h = project(Q, first, used, X)
        assert h.shape == (used - first, m)
        assert np.abs(h - part.T @ X).max() <= 40 * eps * (n + 10) ** 0.5
        left = X.copy()
        subtract(Q, first, used, h, left)
        wanted = X - part @ h
        size = np.abs(part) @ np.abs(h) + np.abs(X)
        assert np.all(np.abs(left - wanted) <= 20 * eps * size)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_same_bits_on_any_number_of_threads(dtype: str) -> None:
    Q = basis(15_003, dtype)
    X = np.random.default_rng(0).standard_normal((15_003, 4)).astype(dtype)
    found = []
    for threads in (1, 2, 8):
        left = X.copy()
        with limit_threads(threads):
            h = project(Q, 5, 70, left)
            subtract(Q, 5, 70, h, left)
        found.append((h, left))
    for other in found[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(found[0], other, strict=True))

"""Small inverses and posterior moments equal their NumPy twins."""

import numpy as np
import pytest

from gramian.loops.observed import invert, latents


@pytest.mark.parametrize("k", [1, 2, 5, 16, 33])
def test_inverses(k):
    rng = np.random.default_rng(k)
    A = rng.standard_normal((7, k, k + 2))
    M = A @ A.transpose(0, 2, 1)
    M[3] = 0.0  # a pattern without values: noise alone
    found, log_dets = M.copy(), np.empty(7)
    invert(found, 0.3, log_dets)
    truth = M + 0.3 * np.eye(k)
    assert np.allclose(found @ truth, np.eye(k), atol=1e-9)
    assert np.allclose(log_dets, np.linalg.slogdet(truth)[1], rtol=1e-12)


@pytest.mark.parametrize("k", [1, 4, 9])
def test_moments(k):
    rng = np.random.default_rng(k)
    ends = np.array([10, 11, 14, 20])  # the block begins at row 10
    A = rng.standard_normal((3, k, k))
    inverses, B = A + A.transpose(0, 2, 1), rng.standard_normal((10, k))
    Z, moments = np.empty((10, k + 1)), np.empty((3, k + 1, k + 1))
    latents(inverses, ends, 10, 0.7, B, Z, moments)
    for g in range(3):
        rows = slice(ends[g] - 10, ends[g + 1] - 10)
        z = np.column_stack([B[rows] @ inverses[g], np.ones(ends[g + 1] - ends[g])])
        assert np.allclose(Z[rows], z)
        S = z.T @ z
        S[:k, :k] += (ends[g + 1] - ends[g]) * 0.7 * inverses[g]
        assert np.allclose(moments[g], S)

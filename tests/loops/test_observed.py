"""Small inverses and posterior moments equal their NumPy twins."""

import numpy as np
import pytest

from gramian.loops.observed import complete, invert, latents


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


def test_completion_is_the_conditional_law():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((6, 9))
    S = A @ A.T
    seen = np.array([[1, 0, 1, 0, 1, 1], [1, 1, 1, 1, 1, 1], [0, 0, 0, 1, 0, 0]], bool)
    ends = np.array([5, 7, 8, 11])  # the block begins at row 5
    there = np.repeat(seen, np.diff(ends), axis=0)
    Y = np.where(there, rng.standard_normal((6, 6)), 0.0)
    P = np.linalg.inv(S)
    given, PY = Y.copy(), Y @ P
    distances = np.einsum("ij,ij->i", Y, PY)
    covariance, variances, log_dets = np.zeros((6, 6)), np.zeros((3, 6)), np.empty(3)
    complete(P, seen, ends, 5, Y, PY, covariance, variances, log_dets, distances)
    total = np.zeros((6, 6))
    for i, o in enumerate(there):
        g, h = np.searchsorted(ends, i + 5, side="right") - 1, ~o
        gain = S[np.ix_(h, o)] @ np.linalg.inv(S[np.ix_(o, o)])
        assert np.array_equal(Y[i, o], given[i, o])
        assert np.allclose(Y[i, h], gain @ given[i, o])
        left = S[np.ix_(h, h)] - gain @ S[np.ix_(o, h)]
        total[np.ix_(h, h)] += left
        assert np.allclose(variances[g, h], np.diag(left)) and not variances[g, o].any()
        y = given[i, o]
        assert np.isclose(distances[i], y @ np.linalg.solve(S[np.ix_(o, o)], y))
        seen_det = np.linalg.slogdet(S[np.ix_(o, o)])[1]
        assert np.isclose(np.linalg.slogdet(S)[1] + log_dets[g], seen_det)
    assert np.allclose(covariance, total)

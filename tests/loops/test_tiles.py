"""Half of a symmetric matrix in tiles, and the one look that says a matrix is symmetric."""

import numpy as np
import pytest

from gramian.gram.tiles import SymmetricTiles
from gramian.loops.mirror import spotless
from gramian.loops.threads import limit_threads


def symmetric(n, seed=0, dtype=np.float64):
    A = np.random.default_rng(seed).standard_normal((n, n))
    return (A + A.T).astype(dtype)


def tiles(A, **how):
    w = np.full(len(A), 1 / len(A))
    return SymmetricTiles.of(len(A), lambda r, c: A[r, c].copy(), w, **how)


@pytest.mark.parametrize("n", [1, 2, 7, 255, 256, 257, 600, 1031])
@pytest.mark.parametrize("m", [1, 7, 8, 9, 20])
def test_products_are_those_of_the_whole(n, m):
    A = symmetric(n)
    V = np.random.default_rng(1).standard_normal((n, m)).astype(np.float32)
    found = tiles(A, center=False) @ V
    size = np.abs(A) @ np.abs(V.astype(np.float64))
    assert np.all(np.abs(found - A @ V.astype(np.float64)) <= 1e-6 * size + 1e-12)


def test_a_shift_goes_away_when_columns_sum_to_zero():
    n = 700
    A = symmetric(n) + 1e4  # in float32 alone, differences of 1 would keep three digits
    V = np.random.default_rng(1).standard_normal((n, 8))
    V -= V.mean(axis=0)
    found = tiles(A, center=True) @ V.astype(np.float32)
    H = np.eye(n) - 1 / n
    np.testing.assert_allclose(H @ found, H @ A @ V, atol=1e-2)
    np.testing.assert_allclose(tiles(A).sums, A.mean(axis=1), rtol=1e-12)


def test_same_bits_on_any_number_of_threads():
    A, V = symmetric(1200), np.random.default_rng(1).standard_normal((1200, 8)).astype(np.float32)
    found = []
    for threads in (1, 2, 8):
        with limit_threads(threads):
            made = tiles(A)
            found.append((made @ V, made.sums))
    for product, sums in found[1:]:
        np.testing.assert_array_equal(product, found[0][0])
        np.testing.assert_array_equal(sums, found[0][1])


@pytest.mark.parametrize("size", [1e-300, 1e30, np.inf])
def test_what_float32_cannot_hold_is_left_to_float64(size):
    with np.errstate(invalid="ignore"):
        assert tiles(symmetric(300) * size) is None


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [2, 63, 64, 65, 300])
def test_one_look_finds_every_flaw(n, dtype):
    D = np.abs(symmetric(n, dtype=dtype))
    np.fill_diagonal(D, 0)
    assert spotless(D)
    rng = np.random.default_rng(n)
    for flaw in (np.nan, np.inf, -np.inf, -1.0):
        for _ in range(5):
            i, j = np.sort(rng.choice(n, 2, replace=False))
            bad = D.copy()
            bad[i, j] = bad[j, i] = flaw
            assert not spotless(bad)
    for _ in range(20):
        i, j = rng.choice(n, 2, replace=False)
        bad = D.copy()
        bad[i, j] = np.nextafter(bad[i, j], dtype(9))
        assert not spotless(bad)
    bad = D.copy()
    bad[n - 1, n - 1] = 1e-30
    assert not spotless(bad)
    assert not spotless(np.zeros((n, n), dtype))

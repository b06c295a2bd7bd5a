"""Symmetric matrices by halves: kept as tiles, squared on the fly, and looked at in the mirror."""

from __future__ import annotations

import numpy as np
import pytest

from gramian.gram.distances import HalfSquares, pairwise
from gramian.gram.tiles import SymmetricTiles
from gramian.loops.mirror import spotless
from gramian.loops.threads import limit_threads

SIZES = (2, 255, 256, 300, 1001)
TYPES = ("float32", "float64")


def distances(n: int, dtype: str) -> np.ndarray:
    return pairwise(np.random.default_rng(n).random((n, 4)).astype(dtype))


def layouts(D: np.ndarray) -> dict[str, np.ndarray]:
    """The same numbers in C order, in Fortran order read-only, and inside a larger array."""
    turned = np.asfortranarray(D)
    turned.setflags(write=False)
    return {"C": D, "F": turned, "strided": np.pad(D, 2)[2:-2, 2:-2]}


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n", SIZES)
def test_tiles_of_distances_are_half_squares_less_a_constant(n: int, dtype: str) -> None:
    D = distances(n, dtype)
    rng = np.random.default_rng(0)
    w = rng.random(n)
    w /= w.sum()
    V = rng.standard_normal((n, 5))
    V -= V.mean(axis=0)  # what a constant does to these is nothing
    K = -0.5 * D.astype(np.float64) ** 2
    for name, given in layouts(D).items():
        tiles = SymmetricTiles.of_distances(given, w)
        assert tiles is not None
        assert np.allclose(tiles.sums, K @ w, rtol=0, atol=n * 1e-16 * np.abs(K).max()), name
        error = (tiles @ V.astype(np.float32)) - K @ V
        error -= error.mean(axis=0)
        assert np.abs(error).max() <= 1e-6 * np.abs(K).max() * n**0.5 * 10, name


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("m", [1, 8, 10])
def test_products_of_half_squares(n: int, m: int, dtype: str) -> None:
    D = distances(n, dtype)
    V = np.random.default_rng(1).standard_normal((n, m)).astype(dtype)
    exact = -0.5 * D.astype(np.float64) ** 2 @ V.astype(np.float64)
    for name, given in layouts(D).items():
        found = HalfSquares(given) @ V
        assert found.dtype == D.dtype
        tolerance = 4 * n**0.5 * np.finfo(dtype).eps * max(np.abs(exact).max(), 1.0)
        assert np.abs(found - exact).max() <= tolerance, name


def test_the_same_bits_on_any_number_of_threads() -> None:
    D = distances(1001, "float64")
    V = np.random.default_rng(1).standard_normal((1001, 10))
    w = np.full(1001, 1 / 1001)
    found = []
    for threads in (1, 2, 8):
        with limit_threads(threads):
            tiles = SymmetricTiles.of_distances(D, w)
            assert tiles is not None
            found.append((tiles.tiles, tiles.sums, HalfSquares(D) @ V))
    for other in found[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(found[0], other, strict=True))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n", SIZES)
def test_one_cell_is_enough_to_be_seen_in_the_mirror(n: int, dtype: str) -> None:
    D = distances(n, dtype)
    assert spotless(D)
    assert spotless(np.asfortranarray(D))
    rng = np.random.default_rng(2)
    for _ in range(10):
        i, j = rng.choice(n, 2, replace=False)
        for wrong in (np.nextafter(D[i, j], np.inf, dtype=D.dtype), np.nan, np.inf, -D[i, j]):
            one, both = D.copy(), D.copy()
            one[i, j] = wrong
            assert not spotless(one)
            both[i, j] = both[j, i] = wrong
            assert spotless(both) == bool(np.isfinite(wrong) and wrong > 0)
    D[n - 1, n - 1] = 1e-30
    assert not spotless(D)
    assert not spotless(np.zeros((n, n), dtype))

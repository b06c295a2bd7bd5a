"""Distances against SciPy, scikit-learn and formulas; close points keep their digits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import euclidean_distances, haversine_distances

from gramian.data.npy import NpyRows
from gramian.errors import InputError
from gramian.gram.distances import METRICS, SCIPY, HalfSquares, from_distances, pairwise
from gramian.loops.threads import limit_threads
from gramian.testing import check_map, tolerance

rng = np.random.default_rng(0)
POINTS = rng.gamma(1, 1, (53, 7)) + 0.1
OTHERS = rng.gamma(1, 1, (11, 7)) + 0.1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", *SCIPY])
def test_equal_scipy(metric, dtype):
    X, Y = POINTS.astype(dtype), OTHERS.astype(dtype)
    if metric in ("jaccard", "hamming"):
        X, Y = np.round(X), np.round(Y)
    options = {"p": 3} if metric == "minkowski" else {}
    reference = {"VI": np.linalg.inv(np.cov(X.T.astype(float)))} if metric == "mahalanobis" else {}
    X64, Y64 = X.astype(float), Y.astype(float)
    for found, wanted in (
        (pairwise(X, Y, metric, **options), cdist(X64, Y64, metric, **options, **reference)),
        (pairwise(X, metric=metric, **options), cdist(X64, X64, metric, **options, **reference)),
    ):
        assert found.dtype == dtype
        assert np.abs(found - wanted).max() <= tolerance(dtype, 7) * (1 + wanted.max())
    own = pairwise(X, metric=metric, **options)
    assert np.array_equal(own, own.T) and not np.diag(own).any()


def test_weights_callable_haversine():
    w = np.arange(7.0)
    wanted = cdist(POINTS, OTHERS, "minkowski", p=2, w=w)
    assert np.allclose(pairwise(POINTS, OTHERS, w=w), wanted)
    wanted = cdist(POINTS, OTHERS, "cityblock", w=w)
    assert np.allclose(pairwise(POINTS, OTHERS, "cityblock", w=w), wanted)
    found = pairwise(POINTS, OTHERS, lambda x, y, power: np.abs(x - y).max() ** power, power=2)
    assert np.allclose(found, cdist(POINTS, OTHERS, "chebyshev") ** 2)
    places = rng.uniform(-1.5, 1.5, (20, 2))
    assert np.allclose(pairwise(places, metric="haversine"), haversine_distances(places))


def test_gower_by_hand():
    X = np.array([[0.0, 1.0], [10.0, np.nan], [5.0, 3.0]])
    D = pairwise(X, metric="gower")
    assert np.allclose(D, [[0, 1, 0.75], [1, 0, 0.5], [0.75, 0.5, 0]])
    assert np.isclose(pairwise(X, metric="gower", w=[1, 3])[0, 2], (0.5 + 3 * 1) / 4)
    with pytest.raises(InputError, match="no known variable in common"):
        pairwise(np.array([[np.nan, 1.0], [2.0, np.nan]]), metric="gower")


@pytest.mark.parametrize("offset", [0, 1e3, 1e7])
def test_close_points_keep_their_digits_where_scikit_learn_loses_them(offset):
    X = rng.standard_normal((300, 50)) + offset
    X[1] = X[0]
    X[1, 3] += 2.0**-22  # exactly representable beside 1e7
    exact = 2.0**-22
    assert abs(pairwise(X)[0, 1] - exact) <= 1e-6 * exact
    assert abs(euclidean_distances(X)[0, 1] - exact) > 0.01 * exact  # 1.9: off by 1 % and more
    single = X.astype(np.float32)
    single[1] = single[0]
    single[1, 3] = np.nextafter(single[0, 3], np.inf, dtype=np.float32)
    exact = float(single[1, 3]) - float(single[0, 3])
    assert abs(pairwise(single)[0, 1] - exact) <= 1e-6 * exact


@given(st.integers(2, 40), st.integers(1, 9), st.integers(0, 10**6))
def test_euclidean_any_shape(n, p, seed):
    X = np.random.default_rng(seed).standard_normal((n, p)) * 10.0 ** (seed % 7 - 3)
    X[-1] = X[0]
    D = pairwise(X)
    assert np.allclose(D, cdist(X, X), rtol=1e-9, atol=0)
    assert D[0, -1] == 0


def test_same_bits_on_any_number_of_threads():
    X = rng.standard_normal((1500, 12))
    answers = []
    for threads in (1, 2, 8):
        with limit_threads(threads):
            answers.append((pairwise(X), pairwise(X, metric="cityblock")))
    for other in answers[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(answers[0], other, strict=True))


def test_half_squares_in_memory_and_in_a_file(tmp_path):
    D = pairwise(POINTS)
    K = from_distances(D)
    assert np.array_equal(K, -0.5 * D * D)
    np.save(tmp_path / "D.npy", D)
    in_file = HalfSquares(NpyRows(tmp_path / "D.npy", "1MB"))
    check_map(in_file, K)
    assert np.shares_memory(from_distances(D.copy(), overwrite=True), K) is False


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: pairwise(POINTS, metric="eucl"), "metric='eucl' is not known"),
        (lambda: pairwise(POINTS, POINTS[:, :3]), "7 coordinates, the others 3"),
        (lambda: pairwise(POINTS, metric="haversine"), "latitude and longitude"),
        (lambda: pairwise(POINTS, w=[1, 2]), "7 finite weights"),
        (lambda: pairwise(np.zeros((3, 2)), metric="cosine"), "not defined"),
    ],
)
def test_bad_arguments(call, words):
    with pytest.raises(InputError, match=words):
        call()


def test_two_empty_sites_are_equal():
    X = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 2.0]])
    assert np.array_equal(pairwise(X, metric="braycurtis"), [[0, 0, 1], [0, 0, 1], [1, 1, 0]])


def test_names_are_complete():
    assert set(METRICS) >= {"euclidean", "cosine", "braycurtis", "gower", "haversine"}

"""Kernels against scikit-learn and formulas; positive semi-definite where the theorem says so."""

import pickle

import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, Matern, RationalQuadratic
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import pairwise as peer
from sklearn.svm import SVC

from gramian import kernels
from gramian.errors import InputError
from gramian.gram.kernel_map import KernelMap
from gramian.gram.kernels import KERNELS, fixed, kernel, kernel_diagonal, plus, times
from gramian.loops.threads import limit_threads
from gramian.methods.kernel_pca import MERCER
from gramian.testing import check_map, tolerance

rng = np.random.default_rng(1)
X, Y = rng.standard_normal((60, 5)), rng.standard_normal((23, 5))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("name", "options", "wanted"),
    [
        ("linear", {}, lambda a, b: peer.linear_kernel(a, b)),
        ("rbf", {"gamma": 0.3}, lambda a, b: peer.rbf_kernel(a, b, gamma=0.3)),
        ("rbf", {}, lambda a, b: peer.rbf_kernel(a, b)),
        ("rbf", {"sigma": 2.0}, lambda a, b: RBF(2.0)(a, b)),
        (
            "polynomial",
            {"gamma": 0.5, "degree": 2, "coef0": 3},
            lambda a, b: peer.polynomial_kernel(a, b, degree=2, gamma=0.5, coef0=3),
        ),
        ("sigmoid", {"gamma": 0.1, "coef0": 0}, lambda a, b: peer.sigmoid_kernel(a, b, 0.1, 0)),
        ("laplacian", {"gamma": 0.4}, lambda a, b: peer.laplacian_kernel(a, b, gamma=0.4)),
        ("cosine", {}, lambda a, b: peer.cosine_similarity(a, b)),
        ("matern", {"nu": 0.5, "gamma": 0.25}, lambda a, b: Matern(2.0, nu=0.5)(a, b)),
        ("matern", {"nu": 1.5, "gamma": 0.25}, lambda a, b: Matern(2.0, nu=1.5)(a, b)),
        ("matern", {"nu": 2.5, "gamma": 0.25}, lambda a, b: Matern(2.0, nu=2.5)(a, b)),
        ("matern", {"nu": 0.9, "gamma": 0.25}, lambda a, b: Matern(2.0, nu=0.9)(a, b)),
        ("matern", {"nu": np.inf, "gamma": 0.25}, lambda a, b: RBF(2.0)(a, b)),
        (
            "rational_quadratic",
            {"gamma": 0.125, "alpha": 0.7},
            lambda a, b: RationalQuadratic(2.0, alpha=0.7)(a, b),
        ),
        (
            "inverse_multiquadric",
            {"gamma": 0.3},
            lambda a, b: 1 / np.sqrt(1 + 0.3 * ((a[:, None] - b) ** 2).sum(axis=2)),
        ),
    ],
)
def test_equal_the_formula(name, options, wanted, dtype):
    k = kernel(name, **options)
    A, B = X.astype(dtype), Y.astype(dtype)
    for found, exact in ((k(A, B), wanted(X, Y)), (k(A), wanted(X, X))):
        assert found.dtype == dtype
        assert np.abs(found - exact).max() <= 10 * tolerance(dtype, 5) * (1 + np.abs(exact).max())


@pytest.mark.parametrize("name", MERCER)
def test_mercer_kernels_are_positive_semi_definite(name):
    K = kernel(name)(X)
    assert np.linalg.eigvalsh((K + K.T) / 2)[0] >= -1e-12 * len(K)


def test_tanh_is_not():
    K = kernel("tanh", gamma=1.0, coef0=-1.0)(X)
    assert np.linalg.eigvalsh((K + K.T) / 2)[0] < -0.1


def test_sums_and_products_are_kernels():
    k, l = kernel("rbf", gamma=0.2), kernel("linear")
    assert np.allclose(plus(k, l)(X, Y), k(X, Y) + l(X, Y))
    K = times(k, "linear", "cosine")(X, X)
    assert np.allclose(K, k(X, X) * l(X, X) * kernel("cosine")(X, X))
    assert np.linalg.eigvalsh((K + K.T) / 2)[0] >= -1e-10


def test_median_gamma_is_decided_once():
    k = fixed("rbf", X, gamma="median")
    squares = ((X[:, None] - X) ** 2).sum(axis=2)[np.triu_indices(60, 1)]
    assert np.isclose(k.keywords["gamma"], 1 / np.median(squares))
    assert np.allclose(k(Y, X), kernel("rbf", gamma=k.keywords["gamma"])(Y, X))
    k = fixed("laplacian", X, gamma="median")
    absolute = np.abs(X[:, None] - X).sum(axis=2)[np.triu_indices(60, 1)]
    assert np.isclose(k.keywords["gamma"], 1 / np.median(absolute))


@pytest.mark.parametrize("k", [kernel("rbf", gamma=0.5), plus("linear", kernel("matern"))])
def test_any_kernel_in_any_algorithm(k):
    y = np.sign(X[:, 0])
    given = SVC(kernel="precomputed").fit(k(X, X), y).predict(k(Y, X))
    assert np.array_equal(SVC(kernel=k).fit(X, y).predict(Y), given)
    ridge = KernelRidge(kernel="precomputed").fit(k(X, X), X[:, 1]).predict(k(Y, X))
    by_hand = k(Y, X) @ np.linalg.solve(k(X, X) + np.eye(60), X[:, 1])
    assert np.allclose(ridge, by_hand)
    called = KernelRidge(kernel=k).fit(X, X[:, 1]).predict(Y)  # calls it point by point
    assert np.allclose(called, by_hand)
    assert np.isclose(k(X[0], Y[1]), k(X, Y)[0, 1])
    again = pickle.loads(pickle.dumps(k))  # joblib sends kernels to other processes
    assert np.array_equal(again(X, Y), k(X, Y))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_never_stored_map_equals_the_matrix(dtype):
    points = rng.standard_normal((130, 4)).astype(dtype)
    k = kernel("rbf", gamma=0.3)
    check_map(KernelMap(k, points, tile=37), k(points, points))
    assert np.allclose(kernel_diagonal(plus(k, "linear"), points), 1 + (points**2).sum(axis=1))


def test_float32_far_from_the_origin_and_steep():
    points = (rng.standard_normal((50, 3)) + 1000).astype(np.float32)
    exact = peer.rbf_kernel(points.astype(float), gamma=1.0)
    assert np.abs(kernel("rbf", gamma=1.0)(points) - exact).max() < 1e-5
    steep = peer.rbf_kernel(points.astype(float), gamma=500.0)
    assert np.abs(kernel("rbf", gamma=500.0)(points) - steep).max() < 1e-5
    many = (rng.standard_normal((50, 5000)) + 1e4).astype(np.float32)
    exact = peer.rbf_kernel(many.astype(float), gamma=2e-4)
    assert np.abs(kernel("rbf", gamma=2e-4)(many) - exact).max() < 5e-6
    tiny = (points - 1000) * np.float32(1e-21)
    exact = peer.rbf_kernel(tiny.astype(float), gamma=1e42)
    assert np.abs(kernel("rbf", gamma=1e42)(tiny) - exact).max() < 1e-5


def test_same_bits_on_any_number_of_threads():
    points = rng.standard_normal((1200, 8)).astype(np.float32)
    answers = []
    for threads in (1, 2, 8):
        with limit_threads(threads):
            answers.append(kernels.rbf(points))
    assert all(np.array_equal(answers[0], other) for other in answers[1:])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: kernel("gauss"), "kernel='gauss' is not known"),
        (lambda: kernels.rbf(X, gamma=0), "gamma=0: a number above 0"),
        (lambda: kernels.rbf(X, gamma=True), "gamma=True"),
        (lambda: kernels.rbf(X, gamma=1.0, sigma=1.0), "gamma or sigma, not both"),
        (lambda: kernels.rbf(np.zeros((5, 2)), gamma="median"), "half of all points are equal"),
        (lambda: kernels.matern(X, nu=-1), "nu=-1"),
    ],
)
def test_bad_arguments(call, words):
    with pytest.raises(InputError, match=words):
        call()


def test_every_name_is_callable_on_points():
    for name in KERNELS:
        assert np.isfinite(kernel(name)(X, Y)).all()

"""Kernels against scikit-learn and formulas; positive semi-definite where the theorem says so."""

import pickle

import mpmath
import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, Matern, RationalQuadratic
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import pairwise as peer
from sklearn.svm import SVC

from gramian import kernels
from gramian.errors import InputError
from gramian.gram.kernel_map import KernelMap
from gramian.gram.kernels import (
    KERNELS,
    fixed,
    kernel,
    kernel_diagonal,
    own_blocks,
    plus,
    times,
)
from gramian.loops.threads import limit_threads
from gramian.methods.kernels import MERCER
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


def test_median_gamma_inside_sums_and_products_is_decided_once():
    k = kernel("rbf", gamma="median")
    squares = ((X[:, None] - X) ** 2).sum(axis=2)[np.triu_indices(60, 1)]
    exact = kernel("rbf", gamma=1 / np.median(squares))(Y, X)
    assert np.allclose(fixed(k, X)(Y, X), exact)
    assert np.allclose(fixed(plus(k, "linear"), X)(Y, X), exact + Y @ X.T)
    both = fixed(times(plus(k, "linear"), k), X)
    assert np.allclose(both(Y, X), (exact + Y @ X.T) * exact)
    assert np.array_equal(k(X, X), k(X)) and np.array_equal(k(X, X.copy()), k(X))
    with pytest.raises(InputError, match="decide it once, from the training points"):
        k(Y, X)
    with pytest.raises(InputError, match="have no parameters"):
        fixed(plus(k, "linear"), X, gamma=1.0)


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


@pytest.mark.parametrize("nu", [0.3, 1.0, 1.7, 3.0, 12.5, 24.9, 25.0, 30.0, 50.0, 200.0, 5000.0])
def test_matern_of_any_smoothness(nu):
    r = np.array([0, 1e-300, 3e-12, 1e-6, 1e-3, 0.1, 0.5, 1, 2, 4, 7])
    found = kernels.matern(r[:, None], np.zeros((1, 1)), gamma=1.0, nu=nu)[:, 0]
    with mpmath.workdps(60):
        head = mpmath.mpf(2) ** (1 - mpmath.mpf(nu)) / mpmath.gamma(nu)
        s = [mpmath.sqrt(2 * mpmath.mpf(nu)) * mpmath.mpf(float(each)) for each in r]
        exact = [float(head * each**nu * mpmath.besselk(nu, each)) if each else 1.0 for each in s]
    assert found[0] == 1
    assert np.abs(found - exact).max() < 1e-13
    assert np.allclose(found, exact, rtol=2e-12)
    single = kernels.matern(r[3:, None].astype(np.float32), np.zeros((1, 1)), gamma=1.0, nu=nu)
    assert np.allclose(single[:, 0], exact[3:], atol=1e-6)


def test_matern_of_huge_smoothness_is_gaussian():
    gauss = kernels.matern(X, Y, gamma=0.3, nu=np.inf)
    for nu, apart in ((1e6, 1e-6), (1e16, 1e-14), (1e300, 1e-14)):
        assert np.abs(kernels.matern(X, Y, gamma=0.3, nu=nu) - gauss).max() < apart
    far = np.array([[1e150], [1e10]])
    for nu in (0.5, 2.5, 1.2, 40.0):
        assert not kernels.matern(far, np.zeros((1, 1)), nu=nu).any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("name", "of"),
    [
        ("rbf", lambda d: np.exp(-d)),
        ("inverse_multiquadric", lambda d: 1 / np.sqrt(1 + d)),
        ("rational_quadratic", lambda d: 1 / (1 + d)),
        ("matern", lambda d: (1 + np.sqrt(3 * d)) * np.exp(-np.sqrt(3 * d))),
        ("laplacian", None),
    ],
)
@pytest.mark.parametrize("where", ["sentinel", "clusters"])
def test_points_that_are_far_apart_take_no_digits_from_those_that_are_near(name, of, where, dtype):
    points = X.copy()
    points[: 1 if where == "sentinel" else 30] += 1e8 if where == "sentinel" else 2.0**22
    points = points.astype(dtype)
    apart = points.astype(float)[:, None] - points
    exact = np.exp(-np.abs(apart).sum(axis=2)) if of is None else of((apart**2).sum(axis=2))
    k = kernel(name, gamma=1.0)
    K = k(points, points)
    atol = 1e-9 if dtype == np.float64 else 1e-6
    assert K.dtype == dtype and np.abs(K - exact).max() < atol
    assert (np.diag(K) == 1).all() and np.abs(K - K.T).max() < atol
    assert np.abs(k(points[:7], points) - exact[:7]).max() < atol
    assert (kernel_diagonal(k, points) == 1).all()
    some = own_blocks(k, np.repeat(points, 4, axis=0))(slice(0, 9), slice(100, 240))
    assert (
        np.abs(some - np.repeat(np.repeat(exact, 4, axis=0), 4, axis=1)[:9, 100:240]).max() < atol
    )


def test_tiny_and_huge_points_have_angles():
    exact = kernels.cosine(X, Y)
    for size in (1e-200, 1e200):
        assert np.allclose(kernels.cosine(X * size, Y), exact, atol=1e-14)
        assert np.allclose(kernels.cosine(X, Y * size), exact, atol=1e-14)


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
        (lambda: kernels.matern(X, nu=None), "nu=None"),
        (lambda: kernels.rbf(X, gamma=np.inf), "gamma=inf: a number above 0"),
        (lambda: kernels.rbf(X, gamma=10**400), "a number above 0"),
        (lambda: kernels.rbf(X, sigma=1e-200), "sigma=1e-200: its square"),
        (lambda: kernels.rbf(X[:1], gamma="median"), "needs at least 2 points"),
        (lambda: kernels.rbf(X * 1e-200, gamma="median"), "squares of these distances leave"),
        (lambda: kernels.rbf(X * 1e200), "overflow in a kernel"),
        (lambda: kernels.polynomial(X, gamma="median"), "gamma='median': a number above 0 is"),
        (lambda: kernels.polynomial(X, degree="a"), "degree='a': a finite number of at least 0"),
        (lambda: kernels.polynomial(X, degree=-1), "degree=-1"),
        (lambda: kernels.polynomial(X, coef0=None), "coef0=None: a finite number is needed"),
        (lambda: kernels.sigmoid(X, coef0="b"), "coef0='b'"),
        (lambda: kernels.polynomial(X, degree=2.5), "use a whole degree, or a larger coef0"),
        (lambda: kernels.rbf(X, X[:, :2]), r"same number of coordinates.*\(60, 5\) and \(60, 2\)"),
        (lambda: kernels.rbf(X[0], X), "two arrays of points"),
        (lambda: kernels.rbf(X[None]), "points as rows of an array of numbers"),
        (lambda: kernels.rbf("points"), "points as rows of an array of numbers"),
        (lambda: kernels.rbf(X * np.nan), "finite numbers; these points hold NaN"),
        (lambda: plus(), r"plus\(\) needs at least one kernel"),
        (lambda: times(), r"times\(\) needs at least one kernel"),
        (lambda: kernel("precomputed"), "is a matrix and no function of points"),
        (lambda: kernel(["rbf"]), r"kernel=\['rbf'\] is not known"),
        (lambda: kernel("rbf", sigmma=1), "no parameter 'sigmma'; it knows gamma, sigma"),
        (lambda: kernel("linear", gamma=1), "no parameter 'gamma'; it has none"),
    ],
)
def test_bad_arguments(call, words):
    with pytest.raises(InputError, match=words):
        call()


def test_every_name_is_callable_on_points():
    for name in KERNELS:
        assert np.isfinite(kernel(name)(X, Y)).all()


@pytest.mark.parametrize(
    "make", [kernel, lambda f: plus("linear", f), lambda f: times(f, "linear")]
)
@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda A, B: A @ B.T + 0j, "type complex128; of 60 and 23 points it must give real"),
        (lambda A, B: B @ A.T, r"gave shape \(23, 60\)"),
        (lambda A, B: 1.0, r"gave shape \(\)"),
        (lambda A, B: "alike", "must give real numbers"),
        (lambda A, B: [[1], [1, 2]], "failed on arrays"),
        (lambda x, y: float(x.dot(y)), "it takes two arrays of points"),
        (lambda A: A @ A.T, "it takes two arrays of points"),
        (lambda A, B: A @ B.T * np.inf, "NaN or infinity"),
    ],
)
def test_answers_of_a_given_function_are_checked(make, function, words):
    with pytest.raises(InputError, match=words):
        make(function)(X, Y)


def test_answers_of_a_given_function_become_floats():
    whole = lambda A, B: np.rint(A @ B.T).astype(int)  # noqa: E731
    for f in (whole, lambda A, B: whole(A, B).tolist(), lambda A, B: whole(A, B).astype(np.int8)):
        assert kernel(f)(X, Y).dtype == np.float64
        assert np.array_equal(kernel(f)(X, Y), np.rint(X @ Y.T))
        assert np.array_equal(plus(f, "linear")(X, Y), np.rint(X @ Y.T) + X @ Y.T)
    assert np.array_equal(kernel(lambda A, B: A @ B.T > 0)(X, Y), X @ Y.T > 0)
    assert kernel(lambda A, B: (A @ B.T).astype(np.float16))(X, Y).dtype == np.float32
    assert kernel(whole)(X[0], Y[1]) == np.rint(X[0] @ Y[1])
    assert np.array_equal(kernel(lambda A, B, c: c * (A @ B.T), c=2.0)(X, Y), 2 * X @ Y.T)

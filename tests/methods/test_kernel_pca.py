"""KernelPCA: landmarks, given kernels, given functions, and what is refused."""

import numpy as np
import pandas as pd
import pytest

import gramian
from gramian import ClassicalMDS, KernelPCA
from gramian.errors import GramianWarning, InputError
from gramian.gram.distances import pairwise
from gramian.gram.kernels import kernel, plus, times
from gramian.testing import same_up_to_signs
from tests.spectral.test_solvers import CITIES

rng = np.random.default_rng(0)
X = rng.standard_normal((60, 4))
K = X @ X.T
WIDE = 3 * rng.standard_normal((300, 3))


# Landmarks ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("landmarks", [5, 150, 300])
@pytest.mark.parametrize(
    "settings",
    [
        {"kernel": "tanh", "gamma": 0.05},
        {"kernel": "poly", "coef0": -1},
        {"kernel": plus("linear", kernel("tanh", gamma=0.05))},
        {"kernel": lambda A, B: -0.5 * pairwise(A, B) ** 2},
    ],
)
def test_landmarks_refuse_a_kernel_that_is_not_definite(settings, landmarks, tmp_path):
    with pytest.raises(InputError, match="this one is not; use all points"):
        KernelPCA(2, landmarks=landmarks, **settings).fit(WIDE)
    np.save(tmp_path / "wide.npy", np.repeat(WIDE, 300, axis=0))
    far = KernelPCA(2, landmarks=landmarks, memory="6MB", **settings)
    with pytest.raises(InputError, match="this one is not; use all points"):
        far.fit(tmp_path / "wide.npy")


def test_landmarks_of_points_on_workers_refuse_it_too():
    lazy = pytest.importorskip("dask.array").from_array(WIDE, chunks=(60, 3))
    with pytest.raises(InputError, match="this one is not; use all points"):
        KernelPCA(2, kernel="tanh", gamma=0.05, landmarks=8).fit(lazy)
    model = KernelPCA(2, kernel="poly", landmarks=20).fit(lazy)
    same_up_to_signs(
        model.embedding_.compute(), KernelPCA(2, kernel="poly").fit_transform(WIDE), rtol=1e-6
    )
    with pytest.raises(InputError, match="nothing to embed"):
        KernelPCA(2, kernel="rbf", landmarks=8).fit(lazy * 0 + 0.3)


def test_what_a_sample_does_not_show_the_factor_does():
    # one point of 1,600 is not as the others: a sample of 400 may miss it, what is left cannot
    odd = np.arange(1600.0)[:, None]

    def k(A, B):
        same = np.abs(A - B.T) < 0.5
        return same + 2.0 * ((A == 7) & (B.T == 8)) + 2.0 * ((A == 8) & (B.T == 7))

    with pytest.raises(InputError, match="this one is not; use all points"):
        KernelPCA(2, kernel=k, landmarks=1600).fit(odd)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "k", ["poly", plus("linear", "rbf"), times(kernel("rbf", gamma=0.02), "cosine")]
)
def test_landmarks_take_definite_kernels_that_no_name_vouches_for(k, dtype):
    model = KernelPCA(2, kernel=k, landmarks=100).fit(WIDE.astype(dtype))
    exact = KernelPCA(2, kernel=k).fit(WIDE.astype(dtype))
    assert 0 <= model.approximation_error_ < 0.2 and model.negativity_ == 0
    assert np.allclose(model.eigenvalues_, exact.eigenvalues_, rtol=0.02)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("landmarks", [8, 25, 60])
def test_the_error_of_landmarks_is_that_of_the_trace(landmarks, center):
    model = KernelPCA(3, kernel="rbf", gamma=0.2, landmarks=landmarks, center=center).fit(X)
    P = model.gram_.pivots
    k = np.exp(-0.2 * ((X[:, None] - X) ** 2).sum(axis=2))
    caught = np.trace(k[:, P] @ np.linalg.solve(k[np.ix_(P, P)], k[P]))
    assert abs(model.approximation_error_ - (1 - caught / np.trace(k))) < 1e-9


@pytest.mark.parametrize("center", [True, False])
def test_functions_of_landmarks_are_orthonormal_and_give_the_coordinates(center):
    model = KernelPCA(4, kernel="rbf", gamma=0.2, landmarks=30, center=center).fit(X)
    f = model.functions_
    assert np.allclose(f.inner_products(), np.eye(4), atol=1e-9)
    shift = f(X).mean(axis=0) if center else 0
    assert np.allclose(f(X) - shift, model.embedding_, atol=1e-9)
    values, phi = model.mercer_
    P = phi(X) - (phi(X).mean(axis=0) if center else 0)
    assert np.allclose(P.T @ P / 60, np.eye(4), atol=1e-9)
    assert np.allclose(values * 60, model.eigenvalues_)


def test_mercer_reproduces_the_centered_kernel():
    model = KernelPCA(kernel="rbf", gamma=0.2).fit(X)
    values, phi = model.mercer_
    P = phi(X)
    P -= P.mean(axis=0)
    H = np.eye(60) - 1 / 60
    assert np.allclose((P * values) @ P.T, H @ kernel("rbf", gamma=0.2)(X) @ H, atol=1e-9)
    assert np.allclose(P[:, :10].T @ P[:, :10] / 60, np.eye(10), atol=1e-9)


# Given kernels -----------------------------------------------------------------------------------


def test_inner_products_of_cities_place_the_ninth_as_its_distances_do():
    # inner products about Atlanta: <x, y> = (d(x, o)^2 + d(y, o)^2 - d(x, y)^2) / 2
    square = CITIES**2
    products = (square[:, :1] + square[:1] - square) / 2
    eight, ninth = products[:8, :8], products[8:, :8]
    by_distances = ClassicalMDS(2, metric="precomputed").fit(CITIES[:8, :8])
    with pytest.warns(GramianWarning, match="not positive semi-definite"):
        by_products = KernelPCA(2, kernel="precomputed").fit(eight)
    same_up_to_signs(by_products.embedding_, by_distances.embedding_, rtol=1e-9)
    same_up_to_signs(
        by_products.transform(ninth), by_distances.transform(CITIES[8:, :8]), rtol=1e-9
    )
    left = by_distances.placement_residual(CITIES[8:, :8])
    assert np.allclose(by_products.placement_residual(ninth, own=products[8:, 8]), left)
    again = by_products.placement_residual(eight, own=np.diag(eight))
    assert np.allclose(again, by_distances.placement_residual(CITIES[:8, :8]), atol=1e-3)
    with pytest.raises(InputError, match=r"give own=, an array of k\(x, x\)"):
        by_products.placement_residual(ninth)


def test_placement_residual_of_a_given_kernel(tmp_path):
    model = KernelPCA(4, kernel="precomputed").fit(K)
    assert model.placement_residual(K[:5], own=np.diag(K)[:5]).max() < 1e-6
    assert not model.residual_known_
    model.save(tmp_path / "m.gramian")
    again = gramian.load(tmp_path / "m.gramian")
    assert np.array_equal(
        again.placement_residual(K[:5], own=np.ones(5)),
        model.placement_residual(K[:5], own=np.ones(5)),
    )
    for own, words in (
        (np.ones(4), "5 numbers"),
        (1.0, "5 numbers"),
        (["a"] * 5, "5 numbers"),
        ([1, 2, 3, 4, np.nan], "NaN"),
    ):
        with pytest.raises(InputError, match=words):
            model.placement_residual(K[:5], own=own)
    alike = kernel("rbf", gamma=0.2)
    given = KernelPCA(2, kernel="precomputed").fit(alike(X))  # 1 is what all are to themselves
    points = KernelPCA(2, kernel="rbf", gamma=0.2).fit(X)
    new = X[:9] + 0.3
    assert given.residual_known_ and points.residual_known_
    assert np.allclose(
        given.placement_residual(alike(new, X)), points.placement_residual(new), atol=1e-7
    )
    with pytest.raises(InputError, match="own= goes with kernel='precomputed'"):
        points.placement_residual(new, own=np.ones(9))


@pytest.mark.parametrize("exponent", [-1020, -600, 600, 990])
def test_a_given_kernel_of_any_size_is_embedded(exponent):
    model = KernelPCA(2, kernel="precomputed").fit(K)
    scaled = np.ldexp(K, exponent)
    other = KernelPCA(2, kernel="precomputed").fit(scaled)
    assert np.allclose(np.ldexp(other.eigenvalues_, -exponent), model.eigenvalues_, rtol=1e-12)
    half = exponent // 2
    same_up_to_signs(np.ldexp(other.embedding_, -half), model.embedding_, rtol=1e-9)
    same_up_to_signs(np.ldexp(other.transform(scaled[:9]), -half), model.embedding_[:9], rtol=1e-9)
    left = other.placement_residual(scaled[:5], own=np.ldexp(np.ones(5), exponent))
    wanted = model.placement_residual(K[:5], own=np.ones(5))
    assert np.allclose(np.ldexp(left, -half), wanted, atol=1e-6)


def test_labels_of_a_given_kernel_are_matched(tmp_path):
    small = np.cov(rng.standard_normal((4, 9)))
    frame = pd.DataFrame(small, list("abcd"), list("abcd"))
    model = KernelPCA(2, kernel="precomputed").fit(frame)
    assert model.labels_ == ("a", "b", "c", "d")
    turned = frame[list("dcba")]
    assert np.allclose(model.transform(turned), model.embedding_, atol=1e-12)
    own = np.diag(small)
    assert np.array_equal(
        model.placement_residual(turned, own=own), model.placement_residual(frame, own=own)
    )
    model.save(tmp_path / "m.gramian")
    again = gramian.load(tmp_path / "m.gramian")
    assert np.array_equal(again.transform(turned), model.transform(turned))
    with pytest.raises(InputError, match="missing: 'a'"):
        model.transform(frame.rename(columns={"a": "w"}))
    for columns, words in (("bacd", "in another order"), ("wxyz", "do not match")):
        with pytest.raises(InputError, match=words):
            KernelPCA(2, kernel="precomputed").fit(pd.DataFrame(small, list("abcd"), list(columns)))
    assert KernelPCA(2, kernel="precomputed").fit(pd.DataFrame(small)).labels_ is None


GAP = K.copy()
GAP[3, 4] = np.nan


@pytest.mark.parametrize(
    ("given", "center", "words"),
    [
        (pairwise(X) + 1e-9 * np.eye(60), True, "looks like distances"),
        (-K, True, "no positive eigenvalue"),
        (-K, False, "no positive eigenvalue"),
        (np.zeros((3, 3)), True, "all points are equal"),
        (np.zeros((3, 3)), False, "no positive eigenvalue"),
        (np.ones((3, 3)), True, "all points are equal"),
        (GAP, True, "row 3, column 4 .*fill it in, or leave the point out"),
        (K[:, :7], True, r"must be square, got shape \(60, 7\)"),
        (K[np.triu_indices(60, 1)], True, r"must be square, got shape \(1770,\)"),
        (np.ones(3), True, r"must be square, got shape \(3,\)"),
        (np.zeros((0, 0)), True, "0 feature"),
        (np.ones((1, 1)), True, "at least 2 observations"),
    ],
)
def test_what_is_no_kernel_is_refused(given, center, words):
    with pytest.raises(InputError, match=words):
        KernelPCA(1, kernel="precomputed", center=center).fit(given)


def test_many_points_without_a_positive_eigenvalue():
    many = rng.standard_normal((1500, 4))
    with pytest.raises(InputError, match="no positive eigenvalue"):
        KernelPCA(1, kernel="precomputed").fit(-many @ many.T)


def test_new_similarities_must_be_numbers():
    model = KernelPCA(2, kernel="precomputed").fit(K)
    with pytest.raises(InputError, match="row 3, column 4"):
        model.transform(GAP)


# Given functions ---------------------------------------------------------------------------------


def test_gamma_of_a_given_kernel_is_decided_from_the_training_points():
    k = kernel("rbf", gamma="median")
    named = KernelPCA(3, kernel="rbf", gamma="median").fit(X)
    for data in (X, np.repeat(X, 20, axis=0)):
        for given in (k, plus(k, k), times(k, "cosine")):
            for landmarks in (None, 20):
                model = KernelPCA(3, kernel=given, landmarks=landmarks).fit(data)
                assert np.allclose(model.transform(data[:2]), model.embedding_[:2], atol=1e-9)
    model = KernelPCA(3, kernel=k).fit(X)
    assert model.gamma_ == named.gamma_
    assert np.allclose(model.embedding_, named.embedding_)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda A, B: A @ B.T + A[:, :1], "not symmetric: k"),
        (lambda A, B: pairwise(A, B), "no positive eigenvalue"),
        (lambda A, B: A @ B.T + 0j, "real numbers"),
        (lambda x, y: float(x.dot(y)), "two arrays of points"),
    ],
)
def test_given_functions_that_are_no_kernels(function, words):
    with pytest.raises(InputError, match=words):
        KernelPCA(1, kernel=function).fit(X)


def test_given_functions_of_whole_numbers():
    counts = np.abs(np.rint(3 * X)).astype(int)
    model = KernelPCA(2, kernel=lambda A, B: A.astype(int) @ B.astype(int).T).fit(counts)
    same_up_to_signs(model.embedding_, KernelPCA(2).fit(counts).embedding_, rtol=1e-9)
    tied = KernelPCA(2, kernel=plus("linear", lambda A, B: A.astype(int) @ B.astype(int).T))
    assert np.allclose(tied.fit(counts).eigenvalues_, 2 * model.eigenvalues_)


# What else is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"kernel": "rbf", "kernel_params": {"sigmma": 1}}, "no parameter 'sigmma'"),
        ({"kernel": "rbf", "kernel_params": [1]}, r"kernel_params=\[1\]: names of parameters"),
        ({"kernel": ["rbf"]}, "is not known"),
        ({"kernel": "poly", "degree": "a"}, "degree='a'"),
        ({"kernel": "poly", "coef0": None}, "coef0=None"),
        ({"kernel": "poly", "gamma": "median"}, "gamma='median': a number above 0 is needed"),
        ({"kernel": "poly", "degree": 2.5}, "use a whole degree"),
        ({"kernel": "poly", "gamma": 1e200}, "not finite"),
        ({"alpha": "a"}, "alpha='a'"),
        ({"alpha": -1}, "alpha=-1"),
        ({"alpha": np.nan}, "alpha=nan"),
        ({"center": "no"}, "center='no': True or False"),
        ({"random_state": "a"}, "random_state='a'"),
        ({"kernel": lambda A, B: A @ B.T, "kernel_params": {"c": 1}}, "no parameter 'c'"),
    ],
)
def test_wrong_settings(settings, words):
    with pytest.raises(InputError, match=words):
        KernelPCA(2, **settings).fit(X)


def test_points_that_a_kernel_cannot_tell_apart():
    for name in ("linear", "rbf"):
        for size in (1e-200, 1e-160):
            with pytest.raises(InputError, match="though their numbers are not|too small"):
                KernelPCA(2, kernel=name).fit(X * size)
        for landmarks in (None, 5):
            model = KernelPCA(2, kernel=name, landmarks=landmarks)
            with pytest.raises(InputError, match="nothing to embed"):
                model.fit(np.full((60, 4), 0.3))
    with pytest.raises(InputError, match="nothing to embed"):
        KernelPCA(2, landmarks=5, center=False).fit(np.zeros((60, 4)))
    with pytest.raises(InputError, match="nothing to embed"):
        KernelPCA(2, center=False).fit(np.zeros((60, 4)))
    with pytest.raises(InputError, match="scale the data"):
        KernelPCA(2, kernel="rbf", gamma="median").fit(X * 1e-200)


def test_one_point_and_two():
    with pytest.raises(InputError, match="at least 2 observations"):
        KernelPCA(1, kernel="rbf").fit(X[:1])
    two = KernelPCA(1, kernel="rbf", gamma=1.0).fit(np.array([[0.0], [1.0]]))
    assert np.allclose(np.abs(two.embedding_), np.sqrt((1 - np.exp(-1)) / 2))
    assert np.allclose(two.eigenvalues_, 1 - np.exp(-1))


def test_nothing_is_placed_by_numbers_that_are_none():
    model = KernelPCA(2, kernel="rbf").fit(X)
    for call in (
        lambda: model.inverse_transform([[np.nan, 1]]),
        lambda: model.functions_(X * np.nan),
    ):
        with pytest.raises(InputError, match="NaN"):
            call()
    model.set_params(alpha=-1)
    with pytest.raises(InputError, match="alpha=-1"):
        model.inverse_transform(model.embedding_)

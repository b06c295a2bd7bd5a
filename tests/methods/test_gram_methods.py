"""ClassicalMDS and KernelPCA: the estimator contract, theorems, new points, bad input."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import KernelPCA as PeerKernelPCA
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from gramian import PCA, ClassicalMDS, KernelPCA
from gramian.errors import GramianWarning, InputError, MemoryRefusedError
from gramian.gram.distances import METRICS, pairwise
from gramian.gram.kernels import kernel, plus
from gramian.maps import to_dense
from gramian.quality.procrustes import procrustes
from gramian.results import as_embedding
from gramian.spectral.gram_embedding import Centered, DoubleCentering, GramEmbedding, _single
from gramian.spectral.krylov import BlockKrylov
from gramian.testing import check_map, same_up_to_signs, tolerance

rng = np.random.default_rng(3)
SPREAD = np.array([5.0, 4, 3, 2, 1.5, 1, 0.5])
X = rng.standard_normal((90, 7)) * SPREAD + 20
NEW = rng.standard_normal((12, 7)) * SPREAD + 20


@parametrize_with_checks(
    [
        ClassicalMDS(),
        ClassicalMDS(metric="cityblock"),
        KernelPCA(2),
        KernelPCA(2, kernel="rbf"),
        KernelPCA(1, kernel="poly", center=False),
        KernelPCA(2, kernel="rbf", solver=BlockKrylov()),
    ]
)
def test_sklearn_contract(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GramianWarning)  # few points, fewer positive eigenvalues
        check(estimator)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(90, 7), (8, 30), (700, 3), (40, 40)])
@pytest.mark.parametrize("rank", [2, None])
def test_pca_is_classical_mds_is_linear_kernel_pca(shape, dtype, rank):
    data = np.random.default_rng(4).standard_normal(shape) * np.geomspace(9, 1, shape[1])
    if rank:
        data = data[:, :rank] @ np.random.default_rng(5).standard_normal((rank, shape[1]))
    data = (data + 50).astype(dtype)
    new = (data[:4] * 0.5 + 25).astype(dtype)
    pca = PCA(2).fit(data)
    rtol = 40 * tolerance(dtype, max(shape)) if dtype == np.float64 else 2e-4
    for model in (ClassicalMDS(2).fit(data), KernelPCA(2, kernel="linear").fit(data)):
        same_up_to_signs(model.embedding_, pca.transform(data), rtol=rtol)
        same_up_to_signs(model.transform(new), pca.transform(new), rtol=rtol)
        assert np.allclose(model.eigenvalues_, pca.singular_values_**2, rtol=rtol, atol=rtol * 1e-3)
        size = np.linalg.norm(data - data.mean(axis=0), axis=1).max()
        apart = np.abs(model.placement_residual(new) - pca.placement_residual(new))
        assert apart.max() <= np.sqrt(rtol) * size  # a root of a difference of squares
        assert model.embedding_.dtype == dtype


@pytest.mark.parametrize(
    "model",
    [
        ClassicalMDS(3),
        ClassicalMDS(3, metric="cityblock"),
        ClassicalMDS(3, metric="braycurtis", correction="lingoes"),
        ClassicalMDS(3, metric="braycurtis", correction="cailliez"),
        ClassicalMDS(3, metric="braycurtis", correction="sqrt"),
        ClassicalMDS(3, weights=np.arange(1, 91.0)),
        KernelPCA(3, kernel="rbf", gamma=0.01),
        KernelPCA(3, kernel="rbf", gamma="median", center=False),
        KernelPCA(3, kernel="polynomial", gamma=0.01),
        KernelPCA(3, kernel=plus("linear", kernel("rbf", gamma=0.01))),
        KernelPCA(3, kernel="rbf", gamma=0.01, landmarks=40),
        KernelPCA(3, kernel="matern", kernel_params={"nu": 2.5}),
    ],
)
def test_training_points_are_placed_where_they_are(model):
    model.fit(X)
    size = np.abs(model.embedding_).max()
    assert np.abs(model.transform(X) - model.embedding_).max() <= 1e-9 * size
    order = rng.permutation(90)
    assert np.allclose(model.transform(X[order]), model.embedding_[order], atol=1e-9 * size)


@pytest.mark.parametrize("correction", ["cailliez", "lingoes"])
def test_points_that_coincide_are_placed_at_their_mean_once_a_constant_moved_them(correction):
    D = np.array([[0.0, 0, 3, 4], [0, 0, 3, 4], [3, 3, 0, 9], [4, 4, 9, 0]])
    model = ClassicalMDS(2, metric="precomputed", correction=correction).fit(D)
    Z = model.embedding_
    apart = model.constant_**2 if correction == "cailliez" else 2 * model.constant_
    assert np.isclose(np.sum((Z[0] - Z[1]) ** 2), apart)  # R adds it to pairs at distance 0, too
    wanted = np.array([Z[:2].mean(axis=0)] * 2 + [Z[2], Z[3]])
    with pytest.warns(GramianWarning, match="2 new points at distance 0 to several .* to 2"):
        placed = model.transform(D)
    assert np.abs(placed - wanted).max() <= 1e-12
    twins = np.argmax(np.abs(Z[0] - Z[1]))  # the axis that tells them apart, and nothing else
    assert np.abs(np.delete(placed - Z, twins, axis=1)).max() <= 1e-12
    with pytest.warns(GramianWarning, match="at their mean"):
        assert model.placement_residual(D[:1]) <= 1e-6  # two axes hold all four points
    thrice = np.pad(D, ((1, 0), (1, 0)))
    thrice[0, 1:], thrice[1:, 0] = D[0], D[0]
    model = ClassicalMDS(3, metric="precomputed", correction=correction).fit(thrice)
    with pytest.warns(GramianWarning, match="at their mean"):
        placed = model.transform(thrice[:1])
    assert np.abs(placed[0] - model.embedding_[:3].mean(axis=0)).max() <= 1e-12


def test_rounding_does_not_part_a_point_from_itself():
    # the cosine distance of equal points is 0 or 1e-16
    model = ClassicalMDS(3, metric="cosine", correction="cailliez").fit(X)
    assert model.constant_ > 0
    assert np.abs(model.transform(X) - model.embedding_).max() <= 1e-9 * model.constant_


def test_permuting_points_permutes_coordinates():
    order = rng.permutation(90)
    for make in (lambda: ClassicalMDS(3, metric="cityblock"), lambda: KernelPCA(3, kernel="rbf")):
        a, b = make().fit_transform(X), make().fit_transform(X[order])
        same_up_to_signs(b, a[order], rtol=1e-8)


def test_precomputed_equals_points():
    D = pairwise(X, metric="cityblock")
    a = ClassicalMDS(3, metric="cityblock").fit(X)
    b = ClassicalMDS(3, metric="precomputed").fit(D)
    assert np.array_equal(a.embedding_, b.embedding_)
    new = pairwise(NEW, X, "cityblock")
    assert np.allclose(a.transform(NEW), b.transform(new), atol=1e-10)
    assert np.allclose(a.placement_residual(NEW), b.placement_residual(new))
    k = kernel("rbf", gamma=0.01)
    a, b = KernelPCA(3, kernel=k).fit(X), KernelPCA(3, kernel="precomputed").fit(k(X, X))
    assert np.allclose(a.transform(NEW), b.transform(k(NEW, X)), atol=1e-10)


def test_distances_in_a_file_larger_than_the_budget(tmp_path):
    points = rng.standard_normal((1500, 4)) * [4, 3, 2, 1]
    D = pairwise(points)
    np.save(tmp_path / "D.npy", D)  # 18 MB
    small = ClassicalMDS(2, metric="precomputed", memory="12MB").fit(tmp_path / "D.npy")
    whole = ClassicalMDS(2, metric="precomputed").fit(D)
    same_up_to_signs(small.embedding_, whole.embedding_, rtol=1e-5)
    assert small.residuals_.max() <= 1e-6 and small.negativity_ == 0
    mapped = np.load(tmp_path / "D.npy", mmap_mode="r")
    small = ClassicalMDS(2, metric="precomputed", memory="12MB").fit(mapped)
    same_up_to_signs(small.embedding_, whole.embedding_, rtol=1e-5)


def test_weights_are_masses():
    # Gower's weighted form: the weighted mean is the origin, and integer masses are copies
    w = rng.integers(1, 4, 90).astype(float)
    weighted = ClassicalMDS(3, weights=w).fit(X)
    assert np.allclose(w @ weighted.embedding_, 0, atol=1e-8)
    copies = ClassicalMDS(3).fit(np.repeat(X, w.astype(int), axis=0))
    assert np.allclose(weighted.eigenvalues_, copies.eigenvalues_)
    same_up_to_signs(weighted.transform(NEW), copies.transform(NEW), rtol=1e-9)


def test_centered_map_and_its_measure():
    K = np.cov(rng.standard_normal((40, 60)))
    w = rng.uniform(0.1, 2, 40)
    H = np.eye(40) - np.outer(np.ones(40), w / w.sum())
    centering = DoubleCentering.of(K, w)
    check_map(Centered(K, centering, None), H @ K @ H.T, symmetric=True)
    root = np.sqrt(w)
    check_map(Centered(K, centering, root), root[:, None] * (H @ K @ H.T) * root, symmetric=True)
    gram = GramEmbedding.of(K, 5, diagonal=np.diag(K), weights=w)
    assert np.isclose(gram.trace, np.trace(root[:, None] * (H @ K @ H.T) * root))
    assert np.allclose(to_dense(Centered(K, DoubleCentering.none(40), None)), K)


def test_kernel_pca_equals_scikit_learn():
    for name, options in (("rbf", {"gamma": 0.02}), ("poly", {"gamma": 0.01, "degree": 2})):
        ours = KernelPCA(4, kernel=name, **options).fit(X)
        peer = PeerKernelPCA(4, kernel=name, **options).fit(X)
        assert np.allclose(ours.eigenvalues_, peer.eigenvalues_)
        same_up_to_signs(ours.transform(NEW), peer.transform(NEW), rtol=1e-8)


def test_functions_are_orthonormal_and_give_the_coordinates():
    for center in (True, False):
        model = KernelPCA(4, kernel="rbf", gamma=0.02, center=center).fit(X)
        f = model.functions_
        assert np.allclose(f.inner_products(), np.eye(4), atol=1e-10)
        shift = f(X).mean(axis=0) if center else 0
        assert np.allclose(f(NEW) - shift, model.transform(NEW), atol=1e-10)
    for wrong in (X[0], X[:, 1:], [["a"] * X.shape[1]]):
        with pytest.raises(InputError, match=f"rows of {X.shape[1]} numbers"):
            f(wrong)


def test_kernel_mds_and_mercer_reproduce_the_kernel():
    K = kernel("rbf", gamma=0.02)(X)
    model = KernelPCA(kernel="rbf", gamma=0.02, center=False).fit(X)
    assert np.allclose(model.embedding_ @ model.embedding_.T, K, atol=1e-10)
    values, phi = model.mercer_
    P = phi(X)
    assert np.allclose((P * values) @ P.T, K, atol=1e-8)
    head = P[:, :20]
    assert np.allclose(head.T @ head / len(X), np.eye(20), atol=1e-8)
    assert np.allclose(K @ head / len(X), head * values[:20], atol=1e-9)  # L_K phi = l phi


def test_subspace_of_the_functions_is_optimal():
    # sum of squared distances to the span of f_1..f_p is the sum of the trailing eigenvalues
    model = KernelPCA(kernel="rbf", gamma=0.02, center=False).fit(X)
    for p in (1, 3):
        left = np.sum(1 - np.sum(model.embedding_[:, :p] ** 2, axis=1))
        assert np.isclose(left, 90 - model.eigenvalues_[:p].sum())


def test_pre_images():
    circle = np.linspace(0, 2 * np.pi, 200, endpoint=False)
    points = np.column_stack([np.cos(circle), np.sin(circle)])
    model = KernelPCA(8, kernel="rbf", gamma=1.0).fit(points)
    noisy = points + 0.05 * rng.standard_normal(points.shape)
    back = model.inverse_transform(model.transform(noisy))
    off, noise = (np.abs(np.linalg.norm(Z, axis=1) - 1) for Z in (back, noisy))
    assert off.max() < 0.04 and off.mean() < 0.25 * noise.mean()  # denoised
    ridge = model.inverse_transform(model.transform(points), "ridge")
    assert np.abs(ridge - points).max() < 0.05
    linear = KernelPCA(2, kernel="linear").fit(points)
    assert np.abs(linear.inverse_transform(linear.embedding_) - points).max() < 0.05
    with pytest.raises(InputError, match="'fixed-point' with the rbf kernel"):
        linear.inverse_transform(linear.embedding_, "fixed-point")
    with pytest.raises(InputError, match="3 columns, the model has 2"):
        linear.inverse_transform(np.ones((2, 3)))


def test_landmarks_approach_the_whole(tmp_path):
    points = rng.standard_normal((800, 6)) * [5, 4, 3, 0.1, 0.1, 0.1]
    whole = ClassicalMDS(3).fit(points)
    errors = []
    for m in (10, 40, 400):
        some = ClassicalMDS(3, landmarks=m, random_state=1).fit(points)
        true = procrustes(whole.embedding_, some.embedding_).rms
        assert true <= 3 * some.landmark_error_ + 1e-12  # the estimate, by halves, is honest
        errors.append(some.landmark_error_)
        assert np.abs(some.transform(points) - some.embedding_).max() < 1e-9
    assert errors[0] > errors[-1]
    D = pairwise(points)
    given = ClassicalMDS(3, metric="precomputed", landmarks=40, random_state=1).fit(D)
    same = ClassicalMDS(3, landmarks=40, random_state=1).fit(points)
    same_up_to_signs(given.embedding_, same.embedding_, rtol=1e-6)
    np.save(tmp_path / "D.npy", D)
    settings = {"metric": "precomputed", "landmarks": 40, "random_state": 1, "memory": "4MB"}
    in_file = ClassicalMDS(3, **settings).fit(tmp_path / "D.npy")
    same_up_to_signs(in_file.embedding_, same.embedding_, rtol=1e-6)
    exact = KernelPCA(3, kernel="rbf", gamma=0.01).fit(points)
    some = KernelPCA(3, kernel="rbf", gamma=0.01, landmarks=200).fit(points)
    assert 0 < some.approximation_error_ < 0.05
    assert np.all(some.eigenvalues_ <= exact.eigenvalues_ * (1 + 1e-9))
    assert np.allclose(some.eigenvalues_, exact.eigenvalues_, rtol=0.01)
    new = points[:9] + 0.3
    for center in (True, False):  # all points as landmarks: nothing is approximated
        settings = {"kernel": "rbf", "gamma": 0.01, "center": center}
        full = KernelPCA(3, landmarks=800, **settings).fit(points)
        same = KernelPCA(3, **settings).fit(points)
        assert full.approximation_error_ < 1e-6
        same_up_to_signs(full.transform(new), same.transform(new), rtol=1e-4)
        assert np.allclose(
            full.placement_residual(new), same.placement_residual(new), rtol=1e-3, atol=1e-4
        )


def test_never_stored_kernel_gives_the_same():
    points = rng.standard_normal((1200, 5))
    stored = KernelPCA(3, kernel="rbf").fit(points)
    tight = KernelPCA(3, kernel="rbf", memory="10MB").fit(points)  # the kernel takes 11.5 MB
    same_up_to_signs(tight.embedding_, stored.embedding_, rtol=1e-6)
    assert tight.residuals_.max() <= 1e-6


def test_powers_of_two_give_the_same_bits():
    reference = ClassicalMDS(3).fit(X)
    for exponent in (-500, -30, 30, 500):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scaled = ClassicalMDS(3).fit(np.ldexp(X, exponent))
        back = np.ldexp(scaled.embedding_, -exponent)
        assert np.allclose(back, reference.embedding_, rtol=1e-12, atol=1e-12), exponent


def test_float32_stays_float32_and_sparse_is_read():
    for model in (ClassicalMDS(2), KernelPCA(2, kernel="rbf")):
        single = model.fit_transform(X.astype(np.float32))
        assert single.dtype == np.float32
    dense = np.where(rng.random((40, 9)) < 0.3, 1.0, 0.0) + np.eye(40, 9)
    for model in (ClassicalMDS(2), KernelPCA(2, kernel="rbf")):
        same_up_to_signs(
            model.fit_transform(sp.csr_array(dense)), model.fit_transform(dense), rtol=1e-9
        )


# What is not Euclidean, and bad input ------------------------------------------------------------


def test_non_euclidean_distances_are_said():
    ring = np.array([[0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0.0]])
    with pytest.warns(GramianWarning, match=r"not Euclidean.*lingoes"):
        model = ClassicalMDS(2, metric="precomputed").fit(ring)
    values = np.linalg.eigvalsh(-0.5 * _centered(ring**2))
    assert np.isclose(model.negativity_, -values[0] / values[-1])
    with (
        pytest.warns(GramianWarning, match="not Euclidean"),
        pytest.warns(GramianWarning, match="only 2 of the 3 axes"),
    ):
        three = ClassicalMDS(3, metric="precomputed").fit(ring)
    assert three.n_positive_ == 2 and not three.embedding_[:, 2].any()
    assert np.isfinite(three.transform(ring)).all()


def test_negativity_of_many_points_is_a_solve_of_its_own():
    points = rng.gamma(1, 1, (1300, 12))
    D = pairwise(points, metric="braycurtis")
    model = ClassicalMDS(2, metric="precomputed").fit(D)
    values = np.linalg.eigvalsh(-0.5 * _centered(D**2))
    exact = -values[0] / values[-1]
    assert exact > 0.01 and abs(model.negativity_ - exact) < 0.05 * exact
    assert model.goodness_of_fit_ is None
    K = -0.5 * D * D
    single = _single(K.copy(), 0.25)
    assert single.dtype == np.float32 and np.allclose(single, 0.25 * K, rtol=1e-7)
    whole = ClassicalMDS(2, metric="precomputed", solver="dense").fit(D)
    assert np.isclose(whole.negativity_, exact)
    assert np.isclose(whole.goodness_of_fit_[1], values[-2:].sum() / values[values > 0].sum())


@pytest.mark.parametrize("solver", ["auto", "krylov"])
@pytest.mark.parametrize(("n", "digits"), [(1050, 0), (1050, 1), (1200, 1), (1100, 3)])
def test_a_small_negative_end_is_met_as_nearly_as_is_said(n, digits, solver):
    # within 3 % of itself or 0.002 of the largest, never too large, and 0 below 1e-5
    points = np.random.default_rng(digits).standard_normal((n, 3)) * [5, 3, 1]
    D = np.round(pairwise(points), digits)
    values = np.linalg.eigvalsh(-0.5 * _centered(D**2))
    exact = -values[0] / values[-1]
    model = ClassicalMDS(2, metric="precomputed", solver=solver).fit(D)
    assert exact - max(0.03 * exact, 0.002) <= model.negativity_ <= exact + 1e-6
    said = " ".join(model.to_embedding().notes)
    if digits == 3:
        assert 0 < exact < 1e-5 and model.negativity_ == 0
        assert "no eigenvalue below -1e-5 of the largest was found" in said
        assert "are Euclidean" not in said
        whole = ClassicalMDS(2, metric="precomputed", solver="dense").fit(D)
        assert np.isclose(whole.negativity_, exact)
        assert "not Euclidean" in " ".join(whole.to_embedding().notes)
    else:
        assert "not Euclidean" in said
    known = ClassicalMDS(2).fit(points).to_embedding().notes  # by theorem
    assert any("are Euclidean" in note for note in known)


def test_tanh_kernel_keeps_its_signs():
    with pytest.warns(GramianWarning, match="not positive semi-definite"):
        model = KernelPCA(3, kernel="sigmoid", gamma=1.0, coef0=-1.0).fit(X / 20)
    K = np.tanh((X / 20) @ (X / 20).T - 1)
    values = np.linalg.eigvalsh(_centered(K))
    assert np.isclose(model.negativity_, -values[0] / values[-1])
    assert np.allclose(model.eigenvalues_, values[::-1][:3])
    assert np.isfinite(model.embedding_).all()


def _centered(M):
    H = np.eye(len(M)) - 1 / len(M)
    return H @ M @ H


D3 = np.array([[0.0, 1, 2], [1, 0, 1.5], [2, 1.5, 0]])


def changed(i, j, value, both=True):
    D = D3.copy()
    D[i, j] = value
    if both:
        D[j, i] = value
    return D


@pytest.mark.parametrize(
    ("D", "words"),
    [
        (np.ones((3, 2)), "square"),
        (changed(0, 1, 1.5, both=False), "not symmetric|symmetric"),
        (changed(0, 1, -1.0), "negative"),
        (changed(1, 1, 1.0), "diagonal"),
        (np.ones((3, 3)), "similarities"),
        (changed(0, 2, np.nan), "NaN"),
        (changed(0, 2, np.inf), "inf"),
        (np.zeros((3, 3)), "equal"),
        (np.zeros((1, 1)), "2 points|2 observations"),
        (np.zeros((0, 0)), "no|0"),
    ],
)
def test_bad_distances(D, words):
    with pytest.raises(InputError, match=words):
        ClassicalMDS(1, metric="precomputed").fit(D)


@pytest.mark.parametrize("k", [0, -1, 1.5, "two", True, 3])
def test_bad_number_of_axes(k):
    with pytest.raises(InputError, match="1 to 2"):
        ClassicalMDS(k, metric="precomputed").fit(D3)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (ClassicalMDS(metric="eucl"), "metric='eucl' is not known"),
        (ClassicalMDS(correction="none"), "correction='none'"),
        (ClassicalMDS(weights=np.r_[0.0, np.ones(89)]), "above 0, got 0 at position 0"),
        (ClassicalMDS(weights=[1, 2]), "90 numbers"),
        (ClassicalMDS(landmarks=3), "landmarks=3: a whole number from n_components"),
        (ClassicalMDS(landmarks=30, correction="sqrt"), "neither correction nor weights"),
        (KernelPCA(kernel="gauss"), "kernel='gauss' is not known"),
        (KernelPCA(kernel="rbf", gamma=-1.0), "gamma=-1.0"),
        (KernelPCA(2, kernel="rbf", landmarks=1000), "landmarks=1000"),
        (KernelPCA(200), "1 to 89"),
        (KernelPCA(2, kernel="precomputed"), "must be square"),
    ],
)
def test_bad_settings(model, words):
    with pytest.raises(InputError, match=words):
        model.fit(X)


def test_bad_kernels_and_new_points():
    with pytest.raises(InputError, match="looks like distances"):
        KernelPCA(1, kernel="precomputed").fit(D3)
    with pytest.raises(InputError, match="not symmetric"):
        KernelPCA(1, kernel="precomputed").fit(np.array([[1.0, 0.2], [0.9, 1.0]]))
    for model in (ClassicalMDS(2), KernelPCA(2, kernel="rbf")):
        with pytest.raises(InputError, match="equal"):
            model.fit(np.ones((5, 3)))
        bad = X.copy()
        bad[3, 2] = np.nan
        with pytest.raises(InputError, match="row 3, column 2"):
            model.fit(bad)
        model.fit(X)
        with pytest.raises(InputError, match="row 3, column 2"):
            model.transform(bad)
    precomputed = ClassicalMDS(1, metric="precomputed").fit(D3)
    for new, words in (
        (np.array([[1.0, 2.0]]), "3 columns"),
        (np.array([[1.0, -2.0, 1.0]]), "< 0"),
        (np.array([[1.0, np.nan, 1.0]]), "NaN"),
    ):
        with pytest.raises(InputError, match=words):
            precomputed.transform(new)


def test_memory_is_refused_before_it_is_used():
    points = rng.standard_normal((3000, 3))
    with pytest.raises(MemoryRefusedError, match="landmarks"):
        ClassicalMDS(2, memory="20MB").fit(points)
    with pytest.raises(MemoryRefusedError, match="landmarks of 3000"):
        KernelPCA(2, kernel="rbf", landmarks=2000, memory="20MB").fit(points)
    assert np.isfinite(ClassicalMDS(2, memory="20MB", landmarks=50).fit(points).embedding_).all()


def test_duplicates_and_two_points():
    doubled = np.repeat(X[:20], 2, axis=0)
    Z = ClassicalMDS(2).fit_transform(doubled)
    assert np.allclose(Z[::2], Z[1::2])
    two = ClassicalMDS(1, metric="precomputed").fit(np.array([[0.0, 3.0], [3.0, 0.0]]))
    assert np.allclose(np.abs(two.embedding_), 1.5)


def test_to_embedding_and_labels():
    import pandas as pd

    names = ["a", "b", "c"]
    model = ClassicalMDS(2, metric="precomputed").fit(pd.DataFrame(D3, names, names))
    assert model.labels_ == ("a", "b", "c")
    found = model.to_embedding(D3)
    assert found.axis_names == ("PCo1", "PCo2") and found.certified
    assert found.labels == ("a", "b", "c")
    assert KernelPCA(2, kernel="rbf").fit(X).to_embedding(X).axis_names == ("KPC1", "KPC2")


@pytest.mark.parametrize("landmarks", [None, 30])
@pytest.mark.parametrize("metric", METRICS)
def test_a_few_points_are_placed_as_among_all(metric, landmarks):
    # what a metric takes from the data (ranges, covariance) is that of the training points
    points = np.abs(X[:40, :2]) if metric == "haversine" else np.abs(X[:40])
    points = (points > 20).astype(float) if metric == "jaccard" else points / 20
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GramianWarning)  # some are far from Euclidean
        model = ClassicalMDS(2, metric=metric, landmarks=landmarks).fit(points)
    assert np.allclose(model.transform(points[3:5]), model.embedding_[3:5], atol=1e-12)


def test_gower_takes_missing_values():
    holes = X[:40].copy()
    holes[3, 1] = holes[7, [0, 4]] = np.nan
    model = ClassicalMDS(2, metric="gower").fit(holes)
    D = pairwise(holes, metric="gower")
    same_up_to_signs(model.embedding_, ClassicalMDS(2, metric="precomputed").fit_transform(D))
    assert np.allclose(model.transform(holes[3:4]), model.embedding_[3:4], atol=1e-12)
    holes[0, 0] = np.inf
    with pytest.raises(InputError, match="infinity, first at row 0, column 0"):
        model.fit(holes)
    with pytest.raises(InputError, match="NaN"):
        ClassicalMDS(2).fit(np.where(np.isinf(holes), 1.0, holes))


def test_models_show_their_own_points():
    import pandas as pd

    frame = pd.DataFrame(X, index=[f"p{i}" for i in range(len(X))])
    frame.columns = frame.columns.astype(str)
    for model in (ClassicalMDS(2, metric="cityblock"), KernelPCA(2, kernel="rbf", gamma=0.3)):
        found = as_embedding(model.fit(frame))
        assert np.array_equal(found.coordinates, model.embedding_)
        assert found.labels == tuple(frame.index)
        assert found.measures["negativity"] == model.negativity_
        assert model.to_embedding(labels=range(len(X))).labels[:2] == ("0", "1")
        assert model.to_embedding(frame[:3]).labels == ("p0", "p1", "p2")
    with pytest.raises(InputError, match=f"3 entries for {len(X)} rows"):
        model.to_embedding(labels=["a", "b", "c"])
    with pytest.raises(NotFittedError):
        KernelPCA().to_embedding()


def test_what_is_said_is_what_was_measured():
    def said(model, data):
        return "; ".join(model.fit(data).to_embedding().notes)

    assert "gamma = 0.5" in said(KernelPCA(2, kernel="rbf", kernel_params={"sigma": 1.0}), X)
    assert "matern, gamma = 2, nu = 2.5" in said(
        KernelPCA(2, kernel="matern", gamma=2, kernel_params={"nu": 2.5}), X
    )
    assert said(KernelPCA(2, kernel=plus("linear", "rbf")), X) == ""
    assert "goodness of fit" not in said(ClassicalMDS(2, metric="cityblock"), many_points())
    assert "none was needed" in said(ClassicalMDS(2, correction="lingoes"), X)
    assert "between landmarks are" in said(ClassicalMDS(1, landmarks=10), X)


def many_points():
    return np.random.default_rng(0).normal(size=(1001, 3))

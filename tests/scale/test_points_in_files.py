"""Methods that read points, fitted to and applied to files larger than the budget."""

import numpy as np
import pytest

import gramian
from gramian import ClassicalMDS, Isomap, KernelPCA
from gramian.data.npy import NpyRows
from gramian.errors import GramianWarning, InputError, MemoryRefusedError
from gramian.gram.neighbors import Neighbors
from gramian.methods.landmarks import FilePoints
from gramian.testing import same_up_to_signs

N = 4000


def points(folder, p):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, 3)) * [5, 3, 1] @ rng.standard_normal((3, p))
    X += 0.01 * rng.standard_normal((N, p)) + 7
    np.save(folder / "x.npy", X)
    return X, folder / "x.npy"


def test_landmark_scaling_of_a_file_is_that_of_the_array(tmp_path):
    X, path = points(tmp_path, 40)
    how = {"landmarks": 60, "random_state": 3}
    near = ClassicalMDS(3, **how).fit(X)
    far = ClassicalMDS(3, memory="2MB", **how).fit(path)
    assert np.array_equal(near.landmarks_, far.landmarks_)
    same_up_to_signs(far.embedding_, near.embedding_, rtol=1e-6)
    assert far.landmark_error_ == pytest.approx(near.landmark_error_, rel=1e-6)
    assert far.X_fit_.shape == (60, 40)  # the landmarks are all that is kept
    same_up_to_signs(far.transform(path), near.embedding_, rtol=1e-6)
    far.save(tmp_path / "m.gramian")
    again = gramian.load(tmp_path / "m.gramian")
    assert np.array_equal(again.transform(X[:50]), far.transform(X[:50]))


@pytest.mark.parametrize(
    "how",
    [{"kernel": "rbf", "gamma": "median"}, {"kernel": "linear"}, {"kernel": "linear", "center": 0}],
)
def test_kernel_pca_of_a_tall_file_holds_no_more_than_the_result(tmp_path, how):
    """Points x landmarks would take twice the budget: they are computed in every visit."""
    how = {**how, "center": bool(how.get("center", True)), "landmarks": 90, "random_state": 3}
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120_000, 3)) * [5, 3, 1] @ rng.standard_normal((3, 12)) + 2
    X += 0.01 * rng.standard_normal(X.shape)
    np.save(tmp_path / "tall.npy", X.astype(np.float32))
    near = KernelPCA(2, **how).fit(X.astype(np.float32))
    model = KernelPCA(2, memory="26MB", **how)
    planned = model.plan(tmp_path / "tall.npy")
    far = model.fit(tmp_path / "tall.npy")
    assert planned.bytes < 26e6 < 4 * 90 * len(X)
    assert abs(far.plan_.passes - planned.passes) <= 2  # moments may take another look
    if how["kernel"] == "rbf":  # of low rank by sight, not by theorem: other pivots, other tails
        assert np.allclose(far.eigenvalues_, near.eigenvalues_, rtol=0.02)
        assert abs(far.approximation_error_ - near.approximation_error_) < 0.02
    else:
        assert np.allclose(far.eigenvalues_, near.eigenvalues_, rtol=1e-4)
        same_up_to_signs(far.embedding_, near.embedding_, rtol=1e-3)
    assert far.X_fit_.shape == (len(far.gram_.pivots), 12)
    placed = far.transform(X[:500].astype(np.float32))
    assert np.allclose(placed, far.embedding_[:500], atol=1e-3 * np.abs(far.embedding_).max())


@pytest.mark.parametrize("where", [slice(None), slice(50_001, 50_002)], ids=["all", "one row"])
def test_a_tall_file_of_huge_numbers_is_refused_for_what_it_is(tmp_path, where):
    X = np.random.default_rng(0).standard_normal((60_000, 6))
    X[where] *= 1e200
    np.save(tmp_path / "huge.npy", X)
    with pytest.raises(InputError, match=r"overflow in a kernel|kernel is not finite"):
        KernelPCA(2, kernel="linear", landmarks=60, memory="9MB").fit(tmp_path / "huge.npy")


@pytest.mark.parametrize("how", [{"kernel": "rbf", "gamma": "median"}, {"kernel": "linear"}])
def test_landmark_kernel_pca_of_a_file_is_that_of_the_array(tmp_path, how):
    X, path = points(tmp_path, 700)  # 22 MB, more than a third of the budget
    how = {**how, "landmarks": 20, "random_state": 3}
    near = KernelPCA(2, **how).fit(X)
    far = KernelPCA(2, memory="60MB", **how).fit(path)
    assert far.gamma_ == near.gamma_
    same_up_to_signs(far.embedding_, near.embedding_, rtol=1e-6)
    same_up_to_signs(far.transform(path), near.embedding_, rtol=1e-6)
    assert far.X_fit_.shape == (20, 700)
    far.save(tmp_path / "m.gramian")
    again = gramian.load(tmp_path / "m.gramian")
    assert np.array_equal(again.transform(X[:50]), far.transform(X[:50]))
    with pytest.raises(InputError, match="landmarks only"):
        far.inverse_transform(far.embedding_[:2])


def curved(folder, n=3000, p=600):
    """A sheet rolled up in three dimensions, turned into p."""
    rng = np.random.default_rng(4)
    t, y = rng.uniform(4, 12, n), rng.uniform(0, 15, n)
    sheet = np.column_stack([t * np.cos(t), y, t * np.sin(t)])
    X = sheet @ rng.standard_normal((3, p)) + 0.001 * rng.standard_normal((n, p))
    np.save(folder / "x.npy", X)
    return X, folder / "x.npy"


@pytest.mark.parametrize(
    "how",
    [
        {"n_neighbors": 10},
        {"radius": 40.0},
        {"n_neighbors": 10, "metric": "cityblock"},
        {"n_neighbors": 10, "metric": "cosine"},
    ],
    ids=str,
)
def test_landmark_isomap_of_a_file_is_that_of_the_array(tmp_path, how):
    X, path = curved(tmp_path)
    if how.get("metric") == "cosine":
        X = X + 100
        np.save(path, X)
    how = {"landmarks": 15, "random_state": 3, **how}
    near = Isomap(2, **how).fit(X)
    far = Isomap(2, memory="24MB", **how)
    planned = far.plan(path)
    far.fit(path)
    assert not isinstance(far.X_fit_, np.ndarray)  # 14 MB, more than a third of the budget
    assert np.array_equal(near.edges_, far.edges_)
    assert np.allclose(near.lengths_, far.lengths_, rtol=1e-9)
    assert np.array_equal(near.landmarks_, far.landmarks_)
    same_up_to_signs(far.embedding_, near.embedding_, rtol=1e-6)
    # 3 MB of points at a time, each part beside the whole file; the parts; candidates for landmarks
    assert abs(far.plan_.passes - planned.passes) <= 2  # moments may take another look == 5 + 1 + 1
    same_up_to_signs(far.transform(path), near.transform(X), rtol=1e-6)
    same_up_to_signs(far.transform(X[:40]), near.transform(X[:40]), rtol=1e-6)
    with pytest.raises(InputError, match="does not hold them"):
        far.save(tmp_path / "m.gramian")
    assert not (tmp_path / "m.gramian").exists()


def test_isomap_of_a_file_in_several_parts(tmp_path):
    X, path = curved(tmp_path)
    X[::7] += 1000
    np.save(path, X)
    how = {"n_neighbors": 10, "landmarks": 15, "random_state": 3}
    with pytest.raises(InputError, match="in 2 parts.*disconnected='largest'"):
        Isomap(2, memory="24MB", **how).fit(path)
    how["disconnected"] = "largest"
    with pytest.warns(GramianWarning, match="placed as new points"):
        near = Isomap(2, **how).fit(X)
    with pytest.warns(GramianWarning, match="placed as new points"):
        far = Isomap(2, memory="24MB", **how).fit(path)
    assert np.array_equal(near.kept_, far.kept_)
    same_up_to_signs(far.embedding_, near.embedding_, rtol=1e-6)
    same_up_to_signs(far.transform(X[:40]), near.transform(X[:40]), rtol=1e-6)


def test_what_isomap_of_a_file_cannot_do_is_said(tmp_path):
    _, path = curved(tmp_path)
    with pytest.raises(InputError, match="approximate=True needs all points in memory"):
        Isomap(2, landmarks=15, approximate=True, memory="2MB").fit(path)
    with pytest.raises(InputError, match="'mahalanobis' needs all points in memory"):
        Isomap(2, landmarks=15, metric="mahalanobis", memory="2MB").fit(path)
    with pytest.raises(MemoryRefusedError, match="neighbors of points in a file, geodesics from"):
        Isomap(2, landmarks=500, memory="2MB").fit(path)


def test_copies_of_points_in_a_file(tmp_path):
    """Every point many times: of equally near ones those with the smaller numbers are taken."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.standard_normal((40, 60)), 25, axis=0)[rng.permutation(1000)]
    np.save(tmp_path / "x.npy", X)
    held = 20_000
    for metric in ("euclidean", "cityblock", "chebyshev"):
        near = Neighbors.of(X, 30, metric=metric)
        points = FilePoints(NpyRows(tmp_path / "x.npy", "1MB"))
        far = Neighbors.in_blocks(points, 30, None, metric, held)
        assert np.array_equal(near.distances, far.distances)
        assert np.array_equal(near.starts, far.starts)
        assert np.array_equal(near.indices, far.indices), metric

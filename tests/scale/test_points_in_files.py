"""Methods that read points, fitted to and applied to files larger than the budget."""

import numpy as np
import pytest

import gramian
from gramian import ClassicalMDS, KernelPCA
from gramian.errors import InputError
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

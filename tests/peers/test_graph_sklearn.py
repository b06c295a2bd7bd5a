"""scikit-learn on the same neighbors: equal where it is right, and where it is not."""

import json

import numpy as np
import pytest
from scipy.sparse.csgraph import laplacian
from sklearn.datasets import make_swiss_roll
from sklearn.manifold import LocallyLinearEmbedding as PeerLLE
from sklearn.manifold import SpectralEmbedding

from gramian import LaplacianEigenmaps, LocallyLinearEmbedding
from gramian.testing import same_up_to_signs

ROLL = make_swiss_roll(800, random_state=0)[0]
NEW = make_swiss_roll(50, random_state=5)[0]


@pytest.mark.parametrize("form", ["standard", "modified", "ltsa"])
@pytest.mark.parametrize("data", ["roll", "wide"])
def test_locally_linear_embedding(form, data):
    X = ROLL if data == "roll" else ROLL @ np.random.default_rng(1).standard_normal((3, 20))
    ours = LocallyLinearEmbedding(2, n_neighbors=12, method=form).fit(X)
    peer = PeerLLE(n_neighbors=12, n_components=2, method=form, eigen_solver="dense").fit(X)
    scale = np.sqrt(len(X))
    assert np.isclose(ours.reconstruction_error_, peer.reconstruction_error_, rtol=1e-6)
    same_up_to_signs(ours.embedding_, scale * peer.embedding_, rtol=1e-5)


def test_new_points_of_locally_linear_embedding():
    ours = LocallyLinearEmbedding(2, n_neighbors=12).fit(ROLL)
    peer = PeerLLE(n_neighbors=12, n_components=2, eigen_solver="dense").fit(ROLL)
    theirs = peer.transform(NEW) * np.sqrt(800)
    same_up_to_signs(ours.transform(NEW), theirs, rtol=1e-5)
    assert np.array_equal(ours.transform(ROLL), ours.embedding_)
    moved = np.abs(peer.transform(ROLL) - peer.embedding_).max()
    assert moved > 1e-4 * np.abs(peer.embedding_).max()  # regularized: not where they were


def test_what_scikit_learn_calls_hessian_is_ltsa():
    # it keeps all columns of a full QR factor, not those of the second derivatives: what is then
    # penalized is everything that is not linear, which is local tangent space alignment
    settings = {"n_neighbors": 12, "n_components": 2, "eigen_solver": "dense"}
    hessian = PeerLLE(method="hessian", **settings).fit(ROLL)
    ltsa = PeerLLE(method="ltsa", **settings).fit(ROLL)
    assert np.isclose(hessian.reconstruction_error_, ltsa.reconstruction_error_, rtol=1e-9)
    same_up_to_signs(hessian.embedding_, ltsa.embedding_, rtol=1e-6)
    ours = LocallyLinearEmbedding(2, n_neighbors=12, method="hessian").fit(ROLL)
    assert ours.reconstruction_error_ < 0.9 * hessian.reconstruction_error_


def test_laplacian_eigenmaps_of_the_same_affinities():
    ours = LaplacianEigenmaps(3).fit(ROLL)
    peer = SpectralEmbedding(3, affinity="precomputed", random_state=0)
    theirs = peer.fit_transform(ours.affinity_matrix_.toarray())
    same_up_to_signs(ours.embedding_, theirs, rtol=1e-6)


def test_stored_numbers(shared_data):
    facts = json.loads((shared_data / "sklearn_digits" / "reference_sklearn.json").read_text())
    with np.load(shared_data / "sklearn_digits" / "digits.npz") as stored:
        X, y = stored["X"], stored["y"]
    X = X[y < 5].astype(float)
    # whole numbers: many digits are equally near, and which of them scikit-learn takes depends on
    # its threads (so does the stored error of LLE); a little noise makes it one graph for both
    apart = X + 1e-6 * np.random.default_rng(0).standard_normal(X.shape)
    ours = LocallyLinearEmbedding(2, n_neighbors=30).fit(apart)
    peer = PeerLLE(n_components=2, n_neighbors=30, eigen_solver="dense").fit(apart)
    assert np.isclose(ours.reconstruction_error_, peer.reconstruction_error_, rtol=1e-5)
    facts = facts["laplacian_eigenmaps_first5digits"]
    from sklearn.neighbors import kneighbors_graph

    A = kneighbors_graph(X, 10, include_self=True)
    A = 0.5 * (A + A.T)
    model = LaplacianEigenmaps(7, affinity="precomputed").fit(A)
    L = laplacian(A.toarray(), normed=True)
    assert np.allclose(model.eigenvalues_, np.linalg.eigvalsh(L)[1:8], rtol=1e-9)
    stored_values = facts["normalised_laplacian_smallest8"][1:]
    assert np.allclose(model.eigenvalues_, stored_values, rtol=1e-2)  # ties again
    roll = np.loadtxt(shared_data / "swiss_roll" / "swiss_roll.csv", delimiter=",", skiprows=1)[
        :, :3
    ]
    facts = json.loads((shared_data / "swiss_roll" / "reference_sklearn.json").read_text())
    ours = LocallyLinearEmbedding(2, n_neighbors=12).fit(roll)
    assert np.isclose(ours.reconstruction_error_, facts["lle_k12_recon_error"], rtol=1e-5)

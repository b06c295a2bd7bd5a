"""Isomap: numbers of vegan and scikit-learn, and the pictures the papers show."""

import json

import numpy as np
import pytest
from sklearn.manifold import Isomap as PeerIsomap

from gramian import Isomap
from gramian.testing import same_up_to_signs


@pytest.fixture
def reference(shared_data):
    def read(name, file="reference_sklearn.json"):
        return json.loads((shared_data / name / file).read_text(encoding="utf-8"))

    return read


@pytest.mark.parametrize("k", [3, 5, 10])
def test_barro_colorado_trees(shared_data, reference, k):
    # vegan 2.6-4: isomap(vegdist(BCI), ndim = 10, k = k); an edge if either is near the other
    D = np.loadtxt(
        shared_data / "BCI" / "bray_curtis.csv", delimiter=",", skiprows=1, usecols=range(1, 51)
    )
    vegan = reference("BCI", "reference_R.json")[f"k{k}"]
    model = Isomap(10, n_neighbors=k, metric="precomputed", keep_distances=True).fit(D)
    assert np.allclose(model.eigenvalues_, vegan["eig"][:10], rtol=1e-9)
    same_up_to_signs(model.embedding_[:, :2], np.array(vegan["points_first2"]), rtol=1e-9)
    assert np.isclose(np.triu(model.dist_matrix_).sum(), vegan["geodesic_sum"], rtol=1e-11)
    assert np.isclose(model.dist_matrix_.max(), vegan["geodesic_max"], rtol=1e-12)
    if k == 3:
        assert np.allclose(model.eigenvalues_[:3], [32.73668987, 18.11631802, 2.72964457])


def test_barro_colorado_trees_within_a_radius(shared_data, reference):
    # vegan 2.6-4: isomap(vegdist(BCI), ndim = 10, epsilon = 0.45) leaves out what is as long as
    # epsilon - 1e-5 or longer. One pair of plots is exactly 0.45 apart: an edge for us (and for
    # scikit-learn, who count "within" the radius), none for vegan (nor for Tenenbaum: "closer").
    D = np.loadtxt(
        shared_data / "BCI" / "bray_curtis.csv", delimiter=",", skiprows=1, usecols=range(1, 51)
    )
    assert ((np.triu(D) > 0.45 - 1e-5) & (np.triu(D) <= 0.45)).sum() == 1
    vegan = reference("BCI", "reference_R.json")["eps045"]
    model = Isomap(10, radius=0.45 - 1e-5, metric="precomputed").fit(D)
    assert np.allclose(model.eigenvalues_, vegan["eig"][:10], rtol=1e-9)
    same_up_to_signs(model.embedding_[:, :2], np.array(vegan["points_first2"]), rtol=1e-9)
    within = Isomap(10, radius=0.45, metric="precomputed").fit(D)
    assert len(within.edges_) == len(model.edges_) + 1
    peer = PeerIsomap(n_components=2, n_neighbors=None, radius=0.45, metric="precomputed").fit(D)
    same_up_to_signs(within.embedding_[:, :2], peer.embedding_, rtol=1e-9)


def test_swiss_provinces(shared_data):
    # vegan: isomap(dist(scale(swiss)), k = 5)
    file = shared_data / "swiss" / "swiss.csv"
    X = np.loadtxt(file, delimiter=",", skiprows=1, usecols=range(1, 7))
    X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    model = Isomap(2, n_neighbors=5, keep_distances=True).fit(X)
    assert np.allclose(model.eigenvalues_, [618.778013, 150.7700607], rtol=1e-9)
    assert np.isclose(np.triu(model.dist_matrix_).sum(), 5788.19392, rtol=1e-9)
    assert np.isclose(model.dist_matrix_.max(), 13.9579029, rtol=1e-8)


def stored(shared_data, name):
    """Points, the entry of the reference that goes with them, and its parameters."""
    if name == "swiss_roll":
        file = shared_data / name / "swiss_roll.csv"
        return np.loadtxt(file, delimiter=",", skiprows=1)[:, :3], "isomap_k10"
    if name == "isomap_faces":
        images = np.load(shared_data / name / "isomap_faces32.npz")["images"]
        return images.reshape(len(images), -1).astype(float), "isomap_k6"
    if name.startswith("coil20"):
        found = np.load(shared_data / "coil20" / "coil20.npz")
        number = int(name[-1])
        images = found["images"][found["object"] == number]
        return images.reshape(len(images), -1).astype(float), f"object{number}_isomap_k4"
    found = np.load(shared_data / name / "digits.npz")
    return found["X"][found["y"] < 5].astype(float), "isomap_first5digits_k30"


@pytest.mark.parametrize(
    "name", ["swiss_roll", "isomap_faces", "coil20 1", "coil20 4", "sklearn_digits"]
)
def test_stored_numbers_of_scikit_learn(shared_data, reference, name):
    X, entry = stored(shared_data, name)
    wanted = reference(name.split()[0])[entry]
    k = wanted["n_components"]
    model = Isomap(k, n_neighbors=wanted["n_neighbors"], keep_distances=True).fit(X)
    values = np.array(wanted["eigenvalues_top10_of_minus_half_HD2H"])
    if name == "sklearn_digits":
        # whole numbers: many digits are equally near, and which of them scikit-learn takes depends
        # on its threads; ours are those with the smaller numbers
        assert np.allclose(model.eigenvalues_, values[:k], rtol=5e-3)
        assert np.isclose(np.triu(model.dist_matrix_).sum(), wanted["geodesic_sum"], rtol=5e-3)
        return
    assert np.allclose(model.eigenvalues_, values[:k], rtol=1e-9)
    assert np.isclose(model.negativity_, -wanted["most_negative"] / values[0], rtol=1e-6)
    assert np.isclose(np.triu(model.dist_matrix_).sum(), wanted["geodesic_sum"], rtol=1e-11)
    assert np.isclose(model.dist_matrix_.max(), wanted["geodesic_max"], rtol=1e-12)
    assert np.allclose(model.residual_variance_, wanted["residual_variance_1_to_nc"], rtol=1e-7)
    Z = np.array(wanted["embedding_first2_first5rows"])
    assert np.allclose(np.abs(model.embedding_[:5, :2]), np.abs(Z), rtol=1e-6)


@pytest.mark.parametrize(
    "how", [{"n_neighbors": 5}, {"n_neighbors": 12}, {"n_neighbors": None, "radius": 3.0}]
)
def test_scikit_learn_on_the_same_points(how):
    rng = np.random.default_rng(4)
    t, h = 1.5 * np.pi * (1 + 2 * rng.random(1500)), 21 * rng.random(1500)
    X = np.column_stack([t * np.cos(t), h, t * np.sin(t)])
    model = Isomap(3, keep_distances=True, **how, solver="dense").fit(X)
    peer = PeerIsomap(n_components=3, **how, eigen_solver="dense").fit(X)
    assert np.allclose(model.dist_matrix_, peer.dist_matrix_, rtol=1e-12)
    same_up_to_signs(model.embedding_, peer.embedding_, rtol=1e-9)
    new = X[:200] + 0.05
    same_up_to_signs(model.transform(new), peer.transform(new), rtol=1e-9)
    quick = Isomap(3, **how).fit(X)
    same_up_to_signs(quick.embedding_, peer.embedding_, rtol=1e-5)


def test_faces_need_three_axes_that_follow_pose_and_light(shared_data):
    X, _ = stored(shared_data, "isomap_faces")
    turned = np.load(shared_data / "isomap_faces" / "isomap_faces32.npz")["params_standardised"]
    model = Isomap(8, n_neighbors=6).fit(X)
    falls = -np.diff(model.residual_variance_)
    assert falls[1] > 10 * falls[2]  # the elbow: a third axis helps, a fourth hardly
    assert model.residual_variance_[2] < 0.03
    Z = model.embedding_[:, :3] - model.embedding_[:, :3].mean(axis=0)
    basis = [np.linalg.qr(each - each.mean(axis=0))[0] for each in (Z, turned)]
    canonical = np.linalg.svd(basis[0].T @ basis[1], compute_uv=False)
    assert canonical.min() > 0.9  # left-right, up-down and light, each seen


def test_a_turntable_becomes_a_ring(shared_data, reference):
    X, entry = stored(shared_data, "coil20 1")
    Z = Isomap(2, n_neighbors=4).fit_transform(X)
    angles = np.unwrap(np.arctan2(Z[:, 1], Z[:, 0]))
    turns = abs(angles[-1] - angles[0]) / (2 * np.pi)
    wanted = abs(reference("coil20")[entry]["winding_of_72_views_in_turns"])
    assert np.isclose(turns, wanted, rtol=1e-6)

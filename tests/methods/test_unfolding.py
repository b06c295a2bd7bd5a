"""MaximumVarianceUnfolding: the estimator contract, theorems, an independent solver, bad input."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

import gramian
from gramian import MaximumVarianceUnfolding
from gramian.errors import CertificateWarning, GramianWarning, InputError, MemoryRefusedError
from gramian.gram.neighbors import Neighbors
from gramian.gram.unfold import dual_bound, unfold
from gramian.quality.procrustes import procrustes


@parametrize_with_checks(
    [
        MaximumVarianceUnfolding(2, n_neighbors=4, disconnected="join", tol=1e-2),
        MaximumVarianceUnfolding(1, n_neighbors=3, disconnected="largest", landmarks=8, tol=0.1),
    ]
)
def test_sklearn_contract(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GramianWarning)  # few points, fewer positive eigenvalues
        check(estimator)


def path(n):
    return sparse.diags_array([np.ones(n - 1)] * 2, offsets=[-1, 1], format="csr")


def ring(n):
    corners = sparse.coo_array((np.ones(2), ([0, n - 1], [n - 1, 0])), shape=(n, n))
    return sparse.csr_array(path(n) + corners)


def swiss_roll(n, seed=0):
    """Points, and the arc length and height that they came from."""
    rng = np.random.default_rng(seed)
    t, height = 1.5 * np.pi * (1 + 2 * rng.random(n)), 21 * rng.random(n)
    arc = (t * np.sqrt(1 + t * t) + np.arcsinh(t)) / 2
    return np.c_[t * np.cos(t), height, t * np.sin(t)], np.c_[arc, height]


def r_squared(Z, truth):
    """Of each true parameter, regressed on the coordinates."""
    A = np.c_[Z, np.ones(len(Z))]
    left = truth - A @ np.linalg.lstsq(A, truth, rcond=None)[0]
    return 1 - left.var(axis=0) / truth.var(axis=0)


def apart(Z):
    return np.linalg.norm(Z[:, None] - Z[None], axis=2)


# ---------------------------------------------------------------- theorems


@pytest.mark.parametrize("n", [2, 3, 10, 300, 1000])
def test_a_path_becomes_a_straight_line(n):
    model = MaximumVarianceUnfolding(1, metric="precomputed", tol=1e-8).fit(path(n))
    i = np.arange(n)
    assert np.abs(apart(model.embedding_) - abs(i[:, None] - i)).max() <= 1e-6 * n
    assert model.variance_ == pytest.approx(n * (n * n - 1) / 12, rel=2e-8)


@pytest.mark.parametrize("n", [3, 8, 101])
def test_a_ring_becomes_a_regular_polygon(n):
    model = MaximumVarianceUnfolding(2, metric="precomputed", tol=1e-8).fit(ring(n))
    radius = 0.5 / np.sin(np.pi / n)  # of the circle through n points at distance 1
    assert np.allclose(np.linalg.norm(model.embedding_, axis=1), radius, rtol=1e-4)
    assert model.variance_ == pytest.approx(n * radius**2, rel=2e-8)
    assert np.allclose(model.eigenvalues_, n * radius**2 / 2, rtol=1e-3)


def test_a_complete_graph_keeps_its_points():
    X = np.random.default_rng(0).standard_normal((25, 3))
    model = MaximumVarianceUnfolding(3, n_neighbors=24, tol=1e-8).fit(X)
    assert np.allclose(apart(model.embedding_), apart(X), atol=1e-4)
    assert model.shortening_ < 1e-5


def test_a_bent_plane_becomes_flat():
    """A grid with diagonals, rolled around a cylinder: lengths on the sheet are the truth."""
    a, b = (each.ravel() for each in np.meshgrid(np.arange(12.0), np.arange(7.0)))
    flat = np.c_[a, b]
    D = apart(flat)
    graph = sparse.csr_array(np.where(D < 2.3, D, 0))
    model = MaximumVarianceUnfolding(2, metric="precomputed", tol=1e-6).fit(graph)
    assert procrustes(flat, model.embedding_, scale=False).rms < 0.01


def test_the_swiss_roll_is_unrolled():
    X, truth = swiss_roll(1000)
    model = MaximumVarianceUnfolding(2, n_neighbors=12).fit(X)
    assert model.duality_gap_ <= 1e-4
    assert (r_squared(model.embedding_, truth) > 0.99).all()
    new, its = swiss_roll(200, seed=1)
    assert (r_squared(model.transform(new), its) > 0.99).all()


def test_landmarks_carry_the_others():
    X, truth = swiss_roll(2000)
    model = MaximumVarianceUnfolding(2, landmarks=1000).fit(X)
    assert len(model.kept_) == 1000 and model.duality_gap_ <= 1e-4
    assert (r_squared(model.embedding_, truth) > 0.99).all()
    assert "1,000 points of 2,000 points were unfolded" in model.to_embedding().notes[0]


# ---------------------------------------------------------------- the optimum and its bound


def test_an_independent_solver_finds_the_same_optimum():
    """Clarabel 0.11.1 by cvxpy 1.9.3, default settings: 4 neighbors of swiss_roll(30), joined.

    4839.274425679785 where distances may shrink, 4682.6855 where they are equal.
    """
    graph = Neighbors.of(swiss_roll(30)[0], 4).connect("join").graph()
    found = unfold(graph, tol=1e-7)
    assert found.value == pytest.approx(4839.274425679785, rel=1e-7)
    assert found.value <= 4839.274425679785 * (1 + 1e-8) <= found.bound * (1 + 2e-8)
    stiff = unfold(graph, stiffness=10)
    variance = float(np.sum(stiff.points**2))
    assert variance == pytest.approx(4682.6855, rel=5e-4)
    assert np.sqrt(np.mean((1 - stiff.shares) ** 2)) < 2e-4


def test_the_bound_is_above_every_drawing():
    X, _ = swiss_roll(200)
    graph = Neighbors.of(X, 6).connect("join").graph()
    found = unfold(graph)
    assert found.value <= found.bound and found.shares.max() <= 1 + 1e-12
    assert found.value == pytest.approx(np.sum(found.points**2), rel=1e-12)
    rng = np.random.default_rng(1)
    drawings = [X - X.mean(axis=0), rng.standard_normal((200, 2))]
    for Z in drawings:
        Z = Z - Z.mean(axis=0)
        lengths = np.linalg.norm(Z[found.edges[:, 0]] - Z[found.edges[:, 1]], axis=1)
        allowed = np.sum(Z**2) * np.min(found.lengths / lengths) ** 2
        for y in (found.tensions, np.ones(len(lengths)), rng.random(len(lengths))):
            assert allowed <= dual_bound(found.edges, found.lengths, y, 200) * (1 + 1e-9)
    again = dual_bound(found.edges, found.lengths, found.tensions, 200)
    assert again == pytest.approx(found.bound, rel=1e-8)


def test_too_few_steps_are_said():
    with pytest.warns(CertificateWarning, match="below its optimum"):
        model = MaximumVarianceUnfolding(2, max_iter=8).fit(swiss_roll(200)[0])
    assert model.duality_gap_ > 1e-4 and model.n_iter_ <= 60 and "max_iter" in model.stopping_


# ---------------------------------------------------------------- behavior


def test_training_points_are_placed_where_they_are():
    X = swiss_roll(150)[0]
    for settings in ({}, {"landmarks": 100}, {"radius": 6.0}, {"metric": "cityblock"}):
        model = MaximumVarianceUnfolding(2, disconnected="join", **settings).fit(X)
        assert np.array_equal(model.transform(X), model.embedding_)
        assert np.abs(model.placement_residual(X)[model.kept_]).max() == 0


def test_equal_points_fall_together():
    X = swiss_roll(120)[0]
    twice = np.concatenate([X, X[:7]])
    model = MaximumVarianceUnfolding(2, n_neighbors=6, disconnected="join").fit(twice)
    assert np.abs(model.embedding_[:7] - model.embedding_[120:]).max() < 1e-9
    assert model.duality_gap_ <= 1e-4 and model.objective_ == pytest.approx(model.variance_)
    assert np.abs(model.embedding_.mean(axis=0)).max() < 1e-9 * np.abs(model.embedding_).max()


@pytest.mark.parametrize("scale", [1e-315, 1e-200, 1e-150, 1e150, 1e200, 1e305])
def test_units_do_not_matter(scale):  # in the first, numbers have but 28 bits
    X = swiss_roll(60)[0]
    how = {"disconnected": "join", "tol": 1e-6}
    a = MaximumVarianceUnfolding(2, **how).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GramianWarning)  # squares leave the range of floats
        b = MaximumVarianceUnfolding(2, **how).fit(X * scale)
    assert np.allclose(b.embedding_ / scale, a.embedding_, rtol=1e-3, atol=1e-3)
    assert b.duality_gap_ == pytest.approx(a.duality_gap_, rel=0.1)
    assert np.isfinite([b.variance_, b.bound_, *b.eigenvalues_]).all()
    share, known = b.to_embedding().explained, a.to_embedding().explained
    assert np.allclose(share, known, rtol=1e-3) and np.isfinite(b.transform(X * scale)).all()
    left = b.placement_residual(X[:5] * 1.1 * scale) / scale
    assert np.allclose(left, a.placement_residual(X[:5] * 1.1), rtol=1e-3, atol=1e-3)


def test_distances_graphs_and_points_agree():
    X = swiss_roll(100)[0]
    graph = Neighbors.of(X, 8).graph()
    points = MaximumVarianceUnfolding(2).fit(X)
    for given in (apart(X), graph):
        model = MaximumVarianceUnfolding(2, metric="precomputed").fit(given)
        assert model.variance_ == pytest.approx(points.variance_, rel=1e-4)
    with pytest.raises(InputError, match="need points"):
        model.transform(apart(X))


def test_parts_of_a_graph():
    X = np.concatenate([swiss_roll(80)[0], swiss_roll(30)[0] + 60])
    with pytest.raises(InputError, match="in 2 parts, of 80 and 30 points: the smallest"):
        MaximumVarianceUnfolding(2, n_neighbors=6).fit(X)
    joined = MaximumVarianceUnfolding(1, n_neighbors=6, disconnected="join").fit(X)
    assert len(joined.kept_) == 110
    largest = MaximumVarianceUnfolding(2, n_neighbors=6, disconnected="largest").fit(X)
    assert np.array_equal(largest.kept_, np.arange(80))
    assert largest.embedding_.shape == (110, 2)
    assert np.array_equal(largest.transform(X), largest.embedding_)


def test_saved_and_loaded(tmp_path):
    X, new = swiss_roll(100)[0], swiss_roll(20, seed=2)[0]
    for settings in ({"landmarks": 80}, {"metric": "precomputed"}):
        given = apart(X) if "metric" in settings else X
        model = MaximumVarianceUnfolding(2, **settings).fit(given)
        model.save(tmp_path / "m.gramian")
        same = gramian.load(tmp_path / "m.gramian")
        assert same.duality_gap_ == model.duality_gap_ and same.stopping_ == model.stopping_
        if "metric" not in settings:
            assert np.array_equal(same.transform(new), model.transform(new))


def test_what_is_said():
    model = MaximumVarianceUnfolding(2).fit(swiss_roll(100)[0])
    shown = model.to_embedding()
    assert shown.measures["duality_gap"] == model.duality_gap_
    assert shown.measures["edges"] == len(model.edges_)
    assert "no edge is longer than its distance" in shown.notes[1] and "proven" in shown.notes[2]
    assert shown.axis_names == ("MVU1", "MVU2")
    assert "Newton" in str(MaximumVarianceUnfolding().plan(np.zeros((500, 3))))
    assert model.plan_.bytes == MaximumVarianceUnfolding().plan(np.zeros((100, 3))).bytes


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"n_neighbors": 60}, "n_neighbors=60: a whole number from 1 to n - 1 = 59"),
        ({"n_neighbors": 2.5}, "n_neighbors=2.5"),
        ({"n_neighbors": None}, "either n_neighbors or radius"),
        ({"radius": -1.0}, "radius=-1.0"),
        ({"n_components": 60}, "n_components=60: a whole number from 1 to 59"),
        ({"landmarks": 61}, "landmarks=61"),
        ({"landmarks": "many"}, "landmarks='many'"),
        ({"stiffness": -1.0}, "stiffness=-1.0"),
        ({"tol": 0.0}, "tol=0.0"),
        ({"max_iter": 0}, "max_iter=0"),
        ({"solver": "scs"}, "solver='scs'"),
        ({"disconnected": "ignore"}, "disconnected='ignore'"),
        ({"metric": "euclid"}, "euclid"),
    ],
)
def test_bad_settings(settings, sentence):
    X = swiss_roll(60)[0]
    with pytest.raises(InputError, match="(?s)" + sentence.replace("(", r"\(")):
        MaximumVarianceUnfolding(**settings).fit(X)


def test_bad_data():
    X = swiss_roll(60)[0]
    X[3, 1] = np.nan
    with pytest.raises(InputError, match="NaN"):
        MaximumVarianceUnfolding().fit(X)
    with pytest.raises(InputError, match="all points are equal"):
        MaximumVarianceUnfolding().fit(np.ones((20, 3)))
    zero = sparse.csr_array((np.zeros(2), ([0, 1], [1, 0])), shape=(2, 2))
    with pytest.raises(InputError, match="all points are equal"):
        MaximumVarianceUnfolding(1, metric="precomputed").fit(zero)
    with pytest.raises(MemoryRefusedError, match="use landmarks="):
        MaximumVarianceUnfolding(landmarks=None, memory="1MB").fit(swiss_roll(300)[0])

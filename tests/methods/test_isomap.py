"""Isomap: the estimator contract, theorems, new points, parts of the graph, bad input."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_swiss_roll
from sklearn.utils.estimator_checks import parametrize_with_checks

import gramian
from gramian import ClassicalMDS, Isomap
from gramian.errors import GramianWarning, InputError, MemoryRefusedError
from gramian.gram.distances import pairwise
from gramian.gram.geodesics import geodesics
from gramian.gram.neighbors import Neighbors
from gramian.loops.threads import limit_threads
from gramian.quality import residual_variance
from gramian.quality.procrustes import procrustes
from gramian.testing import same_up_to_signs

rng = np.random.default_rng(1)
X = rng.standard_normal((90, 4)) * [4, 3, 1, 0.3]
NEW = rng.standard_normal((11, 4)) * [4, 3, 1, 0.3]
TWO = np.concatenate([X[:60] * 0.1, X[60:] * 0.1 + 50])  # two parts, of 60 and 30
ROLL, ANGLE = make_swiss_roll(3000, random_state=0)


def unrolled():
    """Arc length and height: what the roll was made of."""
    t = ANGLE
    arc = (t * np.sqrt(1 + t * t) + np.arcsinh(t)) / 2
    return np.column_stack([arc, ROLL[:, 1]])


@parametrize_with_checks(
    [
        Isomap(disconnected="join"),
        Isomap(1, n_neighbors=3, metric="cityblock", disconnected="join"),
        Isomap(1, landmarks=6, disconnected="join"),
        Isomap(2, radius=3.0, disconnected="join"),
    ]
)
def test_sklearn_contract(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GramianWarning)  # few points, fewer positive eigenvalues
        check(estimator)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("metric", ["euclidean", "cityblock"])
def test_on_the_complete_graph_it_is_classical_mds(metric, dtype):
    points = X.astype(dtype)
    rtol = 1e-9 if dtype == np.float64 else 2e-4
    whole = ClassicalMDS(3, metric=metric).fit(points)
    for how in ({"n_neighbors": len(X) - 1}, {"radius": 1e3}):
        model = Isomap(3, metric=metric, **how).fit(points)
        assert model.embedding_.dtype == dtype
        same_up_to_signs(model.embedding_, whole.embedding_, rtol=rtol)
        assert np.allclose(model.eigenvalues_, whole.eigenvalues_, rtol=rtol)
        assert np.isclose(model.negativity_, whole.negativity_, rtol=1e-3, atol=1e-6)
        new = model.transform(NEW.astype(dtype))
        assert model.transform(points) == pytest.approx(model.embedding_, abs=40 * rtol)
        assert np.isfinite(new).all()


def test_it_is_classical_mds_of_geodesics():
    near = Neighbors.of(X, 6)
    D = geodesics(near.connect("join").graph())
    model = Isomap(4, n_neighbors=6, disconnected="join", keep_distances=True).fit(X)
    assert np.array_equal(model.dist_matrix_, D)
    scaled = ClassicalMDS(4, metric="precomputed").fit(D)
    same_up_to_signs(model.embedding_, scaled.embedding_, rtol=1e-9)
    for k in range(4):
        i, j = np.triu_indices(len(X), 1)
        apart = np.linalg.norm(model.embedding_[i, : k + 1] - model.embedding_[j, : k + 1], axis=1)
        wanted = 1 - np.corrcoef(D[i, j], apart)[0, 1] ** 2
        assert np.isclose(model.residual_variance_[k], wanted, rtol=1e-9)
    assert not hasattr(Isomap(2, n_neighbors=6, disconnected="join").fit(X), "dist_matrix_")


def test_a_curve_becomes_a_line():
    # geodesics along a chain are sums of steps: one axis, nothing left
    t = np.sort(rng.random(60)) * 4
    curve = np.column_stack([np.cos(t), np.sin(t), t])
    edges = sparse.diags_array(np.linalg.norm(np.diff(curve, axis=0), axis=1), offsets=1)
    chain = sparse.csr_array(edges + edges.T)
    chain.resize((60, 60))
    along = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(curve, axis=0), axis=1))])
    model = Isomap(1, metric="precomputed").fit(chain)
    same_up_to_signs(model.embedding_[:, 0], along - along.mean(), rtol=1e-9)
    assert model.residual_variance_[0] < 1e-12 and model.negativity_ < 1e-9
    assert model.n_parts_ == 1 and len(model.edges_) == 59


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_swiss_roll_is_unrolled(dtype):
    model = Isomap(2, n_neighbors=10).fit(ROLL.astype(dtype))
    truth = unrolled()
    Z = np.column_stack([np.ones(len(ROLL)), model.embedding_])
    left = truth - Z @ np.linalg.lstsq(Z, truth, rcond=None)[0]
    share = 1 - left.var(axis=0) / truth.var(axis=0)
    assert share[0] > 0.999 and 1 - left.var() / truth.var() > 0.999
    assert procrustes(truth, model.embedding_).correlation > 0.999
    assert model.residuals_.max() <= model.tolerance_
    off = np.abs(model.transform(ROLL[:50].astype(dtype)) - model.embedding_[:50]).max()
    assert off < model.tolerance_ * np.abs(model.embedding_).max()
    few = Isomap(2, n_neighbors=10, landmarks=150).fit(ROLL.astype(dtype))
    assert procrustes(truth, few.embedding_).correlation ** 2 > 0.99
    assert procrustes(model.embedding_, few.embedding_).rms <= 2 * few.landmark_error_


def test_new_points_fall_between_their_neighbors():
    half = np.arange(3000) % 2 == 0
    model = Isomap(2, n_neighbors=10).fit(ROLL[half])
    placed = model.transform(ROLL[~half])
    truth = unrolled()
    on = procrustes(truth[half], model.embedding_)

    def off(Z, true):
        moved = (Z - model.embedding_.mean(axis=0)) @ on.rotation * on.scale
        return np.median(np.linalg.norm(moved + truth[half].mean(axis=0) - true, axis=1))

    assert off(placed, truth[~half]) < 1.1 * off(model.embedding_, truth[half])


def test_the_same_bits_on_any_number_of_threads():
    found = []
    for threads in (1, 2, 8):
        with limit_threads(threads):
            model = Isomap(2, n_neighbors=8).fit(ROLL[:1200])
            found.append((model.embedding_, model.transform(ROLL[1200:1300])))
    for Z, placed in found[1:]:
        assert np.array_equal(Z, found[0][0]) and np.array_equal(placed, found[0][1])


def test_precomputed_distances_and_graphs_are_the_same():
    D, cross = pairwise(X), pairwise(NEW, X)
    points = Isomap(3, n_neighbors=7, disconnected="join").fit(X)
    given = Isomap(3, n_neighbors=7, disconnected="join", metric="precomputed").fit(D)
    same_up_to_signs(given.embedding_, points.embedding_, rtol=1e-9)
    same_up_to_signs(given.transform(cross), points.transform(NEW), rtol=1e-9)
    graph = Neighbors.of(X, 7).connect("join").graph()
    model = Isomap(3, metric="precomputed").fit(graph)
    same_up_to_signs(model.embedding_, points.embedding_, rtol=1e-9)
    few = [
        Isomap(2, metric=m, n_neighbors=7, landmarks=20, disconnected="join")
        for m in ("euclidean", "precomputed")
    ]
    same_up_to_signs(few[0].fit(X).embedding_, few[1].fit(D).embedding_, rtol=1e-9)
    on_graph = Isomap(2, metric="precomputed", landmarks=20).fit(graph)
    assert procrustes(points.embedding_[:, :2], on_graph.embedding_).rms < 0.3
    with pytest.raises(InputError, match="new points need distances to all points"):
        model.transform(graph)


def test_all_points_as_landmarks_approximate_nothing():
    settings = {"n_neighbors": 7, "disconnected": "join"}
    whole, every = Isomap(2, **settings).fit(X), Isomap(2, landmarks=90, **settings).fit(X)
    same_up_to_signs(every.embedding_, whole.embedding_, rtol=1e-8)
    same_up_to_signs(every.transform(NEW), whole.transform(NEW), rtol=1e-8)
    assert np.array_equal(every.landmarks_, np.arange(90))
    assert Isomap(2, landmarks="auto", **settings).fit(X).landmarks_ is None


# Parts, duplicates, bad input --------------------------------------------------------------------


def test_two_parts_are_refused_with_what_would_join_them():
    with pytest.raises(InputError, match="2 parts, of 60 and 30 points") as error:
        Isomap(2, n_neighbors=8).fit(TWO)
    smallest = int(str(error.value).split("joins them is ")[1].split(";")[0])
    assert Isomap(2, n_neighbors=smallest).fit(TWO).n_parts_ == 1
    with pytest.raises(InputError, match="parts"):
        Isomap(2, n_neighbors=smallest - 1).fit(TWO)
    with pytest.raises(InputError, match="parts.*radius=") as error:
        Isomap(2, radius=1.5).fit(TWO)
    radius = float(str(error.value).split("radius=")[1].split(" ")[0])
    assert Isomap(2, radius=radius).fit(TWO).n_parts_ == 1


def test_two_parts_joined_and_cut_down():
    joined = Isomap(2, n_neighbors=8, disconnected="join").fit(TWO)
    assert (joined.n_parts_, joined.n_bridges_) == (2, 1)
    bridge = joined.lengths_.max()
    assert np.isclose(bridge, pairwise(TWO[:60], TWO[60:]).min())
    assert any("2 parts" in note for note in joined.to_embedding().notes)
    for how in ({"n_neighbors": 8}, {"radius": 1.0}):
        with pytest.warns(GramianWarning, match="outside the largest part"):
            largest = Isomap(2, disconnected="largest", **how).fit(TWO)
        kept = largest.kept_
        assert largest.embedding_.shape == (90, 2) and np.isfinite(largest.embedding_).all()
        alone = Isomap(2, **how).fit(TWO[kept])
        same_up_to_signs(largest.embedding_[kept], alone.embedding_, rtol=1e-9)
        assert np.allclose(largest.transform(TWO), largest.embedding_, atol=1e-6)
    D = pairwise(TWO)
    with pytest.warns(GramianWarning, match="30 points outside"):
        given = Isomap(2, n_neighbors=8, metric="precomputed", disconnected="largest").fit(D)
    assert np.isfinite(given.transform(D)).all()
    graph = Neighbors.of(TWO, 8).graph()
    with pytest.raises(InputError, match="a given graph must hang together"):
        Isomap(2, metric="precomputed").fit(graph)
    with pytest.raises(InputError, match="30 points of the given graph"):
        Isomap(2, metric="precomputed", disconnected="largest").fit(graph)


def test_duplicates_land_on_each_other():
    doubled = np.repeat(X[:45], 2, axis=0)
    model = Isomap(2, n_neighbors=10, disconnected="join").fit(doubled)
    assert np.allclose(model.embedding_[::2], model.embedding_[1::2], atol=1e-9)
    assert (model.lengths_ == 0).sum() >= 45
    assert np.allclose(model.transform(doubled), model.embedding_, atol=1e-6)


def test_sizes_do_not_matter():
    reference = Isomap(2, n_neighbors=9, disconnected="join").fit(X)
    for exponent in (-400, -30, 30, 400):
        scaled = Isomap(2, n_neighbors=9, disconnected="join").fit(np.ldexp(X, exponent))
        back = np.ldexp(scaled.embedding_, -exponent)
        assert np.allclose(back, reference.embedding_, rtol=1e-10, atol=1e-10), exponent
        assert np.allclose(
            np.ldexp(scaled.transform(np.ldexp(NEW, exponent)), -exponent),
            reference.transform(NEW),
            rtol=1e-9,
            atol=1e-9,
        )


@pytest.mark.parametrize(
    ("settings", "data", "words"),
    [
        ({"n_neighbors": 90}, X, "n_neighbors=90: a whole number from 1 to n - 1 = 89"),
        ({"n_neighbors": 0}, X, "n_neighbors=0"),
        ({"n_neighbors": 2.5}, X, "n_neighbors=2.5"),
        ({"n_neighbors": 1}, X, "parts"),
        ({"radius": -1.0}, X, "radius=-1.0"),
        ({"radius": 1e-9}, X, "90 parts"),
        (
            {"n_components": 90, "n_neighbors": 20},
            X,
            "n_components=90: a whole number from 1 to 89",
        ),
        ({"n_components": 0}, X, "n_components=0"),
        ({"metric": "eucl"}, X, "metric='eucl' is not known"),
        ({"disconnected": "ignore"}, X, "disconnected='ignore'"),
        ({"landmarks": 3, "n_neighbors": 20}, X, "landmarks=3: a whole number from"),
        ({"landmarks": "all", "n_neighbors": 20}, X, "landmarks='all'"),
        ({}, np.ones((20, 3)), "equal"),
        ({"metric": "precomputed"}, np.zeros((20, 20)), "equal|0"),
        ({"metric": "precomputed"}, np.ones((5, 4)), "square"),
        ({}, np.where(np.arange(360).reshape(90, 4) == 14, np.nan, X), "row 3, column 2"),
        ({"metric": "precomputed"}, sparse.csr_array(-np.eye(6)[::-1]), "negative"),
        ({"metric": "precomputed"}, sparse.csr_array(np.triu(np.ones((6, 6)), 1)), "not symmetric"),
        ({"metric": "precomputed"}, sparse.csr_array(np.ones((6, 5))), "square"),
    ],
)
def test_bad_input_in_one_sentence(settings, data, words):
    with pytest.raises(InputError, match=words):
        Isomap(**settings).fit(data)


def test_memory_is_refused_before_it_is_used():
    with pytest.raises(MemoryRefusedError, match="landmarks=1000"):
        Isomap(2, n_neighbors=10, memory="20MB").fit(ROLL)
    few = Isomap(2, n_neighbors=10, memory="30MB", landmarks=60)
    assert np.isfinite(few.fit(ROLL).embedding_).all()
    assert "60 landmarks to 3000 points" in str(few.plan(ROLL))


def test_what_is_shown_and_kept(tmp_path):
    model = Isomap(3, n_neighbors=8, disconnected="join").fit(X)
    shown = model.to_embedding()
    assert np.array_equal(shown.residual_variance, model.residual_variance_)
    assert np.array_equal(shown.edges, model.edges_) and shown.certified
    assert shown.explained is None and shown.axis_names[0] == "Isomap1"
    assert model.to_embedding(NEW).edges is None
    model.save(tmp_path / "m.gramian")
    again = gramian.load(tmp_path / "m.gramian")
    assert np.array_equal(again.transform(NEW), model.transform(NEW))
    assert np.array_equal(again.placement_residual(NEW), model.placement_residual(NEW))
    model.report(tmp_path / "r.html")
    assert "Residual variance" in (tmp_path / "r.html").read_text()


def test_residual_variance_by_hand():
    D = pairwise(X)
    assert np.allclose(residual_variance(D, X)[-1], 0, atol=1e-12)
    some = np.array([3, 50])
    assert np.allclose(residual_variance(D[some], X, some)[-1], 0, atol=1e-12)
    assert residual_variance(D, np.zeros((90, 1)))[0] == 1.0
    with pytest.raises(InputError, match="do not go with"):
        residual_variance(D, X[:5])

"""Bad input of every method that joins points to their neighbors: an answer, or one sentence."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_swiss_roll

from gramian import (
    Isomap,
    LaplacianEigenmaps,
    LocallyLinearEmbedding,
    MaximumVarianceUnfolding,
)
from gramian.errors import GramianWarning, InputError

ROLL = make_swiss_roll(120, random_state=0)[0]
METHODS = {
    "Isomap": Isomap,
    "Isomap by landmarks": lambda **how: Isomap(landmarks=40, **how),
    **{
        f"LLE {form}": lambda form=form, **how: LocallyLinearEmbedding(method=form, **how)
        for form in ("standard", "modified", "hessian", "ltsa")
    },
    "Laplacian": LaplacianEigenmaps,
    "diffusion": lambda **how: LaplacianEigenmaps(affinity="knn", time=2, **how),
    "MVU": lambda **how: MaximumVarianceUnfolding(tol=1e-2, **how),
}
TAKE_GRAPHS = {
    "Isomap": lambda: Isomap(1, metric="precomputed"),
    "MVU": lambda: MaximumVarianceUnfolding(1, metric="precomputed"),
    "Laplacian": lambda: LaplacianEigenmaps(1, affinity="precomputed"),
}
WITH_RADIUS = {name: make for name, make in METHODS.items() if "LLE" not in name}
every = pytest.mark.parametrize("make", METHODS.values(), ids=METHODS)


def refused(model, data, words):
    with pytest.raises(InputError, match=words) as caught:
        model.fit(data)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400


def cell(value):
    bad = ROLL.copy()
    bad[17, 2] = value
    return bad


@every
@pytest.mark.parametrize("k", [120, 1000, 0, -1, 2.5, "ten", True])
def test_numbers_of_neighbors_that_are_none(make, k):
    bound = f"n_neighbors={k!r}: a whole number from 1 to n - 1 = 119 is needed"
    refused(make(n_neighbors=k), ROLL, bound)


@every
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_none(make, bad):
    refused(make(n_neighbors=12), cell(bad), "row 17, column 2")
    model = make(n_neighbors=12, disconnected="join").fit(ROLL)
    before = model.embedding_.copy()
    with pytest.raises(InputError, match="row 17, column 2"):
        model.transform(cell(bad))
    assert np.array_equal(model.embedding_, before)


@every
def test_equal_points(make):
    refused(make(n_neighbors=12), np.ones((50, 3)), "all points are equal")


@every
def test_more_neighbors_than_points_that_differ(make):
    copies = np.repeat(ROLL[:9], 10, axis=0)
    refused(make(n_neighbors=9), copies, "only 9 of the 90 points differ; use at most 8")


@every
def test_half_of_the_points_are_copies(make):
    X = np.repeat(ROLL[:60], 2, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GramianWarning)
        model = make(n_neighbors=16, disconnected="join").fit(X)
    assert np.isfinite(model.embedding_).all()
    assert (model.edges_[:, 0] != model.edges_[:, 1]).all()  # nobody is its own neighbor
    pairs = {(2 * i, 2 * i + 1) for i in range(60)}
    assert pairs <= set(map(tuple, model.edges_.tolist()))  # copies are neighbors


@every
def test_one_neighbor_leaves_a_graph_in_parts(make):
    model = make(n_neighbors=1, n_components=1)
    if getattr(model, "method", "") in ("hessian", "ltsa"):
        refused(model, ROLL, "n_neighbors=1: method=.* needs at least")
        return
    refused(model, ROLL, "in [0-9]+ parts, of .*the smallest n_neighbors that joins them is")


@every
def test_parts(make):
    X = np.concatenate([ROLL[:70], ROLL[70:] + 500.0])
    refused(make(n_neighbors=12), X, "in 2 parts, of 70 and 50 points: the smallest n_neighbors")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GramianWarning)
        joined = make(n_neighbors=12, disconnected="join").fit(X)
        largest = make(n_neighbors=12, disconnected="largest").fit(X)
    assert (joined.n_parts_, joined.n_bridges_, len(joined.embedding_)) == (2, 1, 120)
    assert any("joined by 1 shortest bridge" in each for each in joined.to_embedding().notes)
    assert largest.n_parts_ == 2 and largest.kept_.max() < 70 and len(largest.embedding_) == 120
    assert any("the largest, of" in each for each in largest.to_embedding().notes)
    for model in (joined, largest):
        assert np.isfinite(model.embedding_).all() and np.isfinite(model.transform(X)).all()


@pytest.mark.parametrize("make", WITH_RADIUS.values(), ids=WITH_RADIUS)
def test_isolated_points(make):
    X = np.concatenate([ROLL, [[900.0, 0, 0], [0, 900.0, 0]]])
    words = "2 points without any neighbor \\(isolated\\): row 120 and 121.*radius=.* would join"
    refused(make(radius=9.0), X, words)
    for how in ("error", "largest"):
        refused(make(radius=1e-9, disconnected=how), X, "122 points without any neighbor")


@every
@pytest.mark.parametrize("k", [0, -1, 1.5, "two", True, 120])
def test_numbers_of_axes_that_are_none(make, k):
    refused(make(n_components=k, n_neighbors=20), ROLL, "n_components=.*1 to 119")


@pytest.mark.parametrize("make", TAKE_GRAPHS.values(), ids=TAKE_GRAPHS)
def test_graphs_that_are_none(make):
    ring = sparse.csr_array(np.roll(np.eye(8), 1, axis=0) + np.roll(np.eye(8), -1, axis=0))
    make().fit(ring)
    odd, below, holed = (ring.copy().tolil() for _ in range(3))
    odd[0, 1], below[0, 1], below[1, 0], holed[2, 3] = 3.0, -1.0, -1.0, np.nan
    refused(make(), odd.tocsr(), "not symmetric.*0 and 1|not symmetric.*1 and 0")
    refused(make(), below.tocsr(), "negative")
    refused(make(), holed.tocsr(), "not finite|NaN")
    refused(make(), ring[:, :5], "square")
    refused(make(), sparse.block_diag([ring, ring], format="csr"), "in 2 parts")
    lonely = sparse.csr_array(sparse.block_diag([ring, sparse.csr_array((1, 1))]))
    refused(make(), lonely, "\\(isolated\\): row 8")

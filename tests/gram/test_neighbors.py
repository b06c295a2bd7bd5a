"""Neighbors against all distances sorted; the graph, its parts and what joins them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

from gramian.errors import InputError
from gramian.gram.landmarks import row_of, spread_out
from gramian.gram.neighbors import Neighbors
from gramian.loops.threads import limit_threads

rng = np.random.default_rng(2)
FLAT, TALL = rng.random((150, 3)), rng.random((150, 30))
CLUSTERS = np.concatenate([0.01 * rng.random((n, 2)) + c for n, c in ((20, 0), (9, 3), (4, 10))])


def twin(X, k, metric):
    """All distances, sorted; of equal ones the smaller number first."""
    D = cdist(X, X, metric)
    np.fill_diagonal(D, np.inf)
    order = np.argsort(D, axis=1, kind="stable")[:, :k]
    return order, np.take_along_axis(D, order, axis=1)


@pytest.mark.parametrize("metric", ["euclidean", "cityblock", "chebyshev", "braycurtis", "cosine"])
@pytest.mark.parametrize("X", [FLAT, TALL, FLAT.astype(np.float32)], ids=["flat", "tall", "single"])
def test_nearest_are_the_nearest(X, metric):
    indices, distances = Neighbors.of(X, 6, metric=metric).table
    wanted, lengths = twin(X.astype(float), 6, metric)
    assert np.array_equal(indices, wanted)
    assert np.allclose(distances, lengths, rtol=1e-6 if X.dtype == np.float32 else 1e-12)


@pytest.mark.parametrize("metric", ["euclidean", "cityblock", "chebyshev", "braycurtis"])
@pytest.mark.parametrize("X", [FLAT, TALL], ids=["flat", "tall"])
def test_all_within_a_radius(X, metric):
    D = cdist(X, X, metric)
    np.fill_diagonal(D, np.inf)
    radius = float(np.quantile(D[np.isfinite(D)], 0.04))
    near = Neighbors.of(X, radius=radius, metric=metric)
    assert np.array_equal(np.diff(near.starts), (radius >= D).sum(axis=1))
    for i in range(len(X)):
        some = slice(near.starts[i], near.starts[i + 1])
        wanted = np.flatnonzero(radius >= D[i])
        wanted = wanted[np.argsort(D[i, wanted], kind="stable")]
        assert np.array_equal(near.indices[some], wanted)
        assert np.allclose(near.distances[some], D[i, wanted], rtol=1e-12)


def test_radius_counts_those_exactly_on_it():
    grid = np.stack(np.meshgrid(np.arange(5.0), np.arange(5.0)), axis=-1).reshape(-1, 2)
    near = Neighbors.of(grid, radius=1.0)
    assert np.diff(near.starts).sum() == 2 * 40  # the edges of a 5 x 5 grid


@given(
    points=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=3, max_size=30),
    k=st.integers(1, 5),
)
def test_ties_and_duplicates(points, k):
    X = np.array(points, float)
    if not np.ptp(X, axis=0).any() or k >= len(X):
        return
    indices, distances = Neighbors.of(X, k).table
    assert not (indices == np.arange(len(X))[:, None]).any()  # itself is left out by number
    assert all(len(set(row)) == k for row in indices.tolist())
    assert np.allclose(distances, twin(X, k, "euclidean")[1])


@pytest.mark.parametrize("exponent", [-400, 400])
@pytest.mark.parametrize("X", [FLAT, TALL], ids=["flat", "tall"])
def test_numbers_of_any_size(X, exponent):
    wanted, scaled = Neighbors.of(X, 5), Neighbors.of(np.ldexp(X, exponent), 5)
    assert np.array_equal(scaled.indices, wanted.indices)
    assert np.array_equal(scaled.distances, np.ldexp(wanted.distances, exponent))
    radius = float(np.median(wanted.distances))
    few = Neighbors.of(X, radius=radius)
    same = Neighbors.of(np.ldexp(X, exponent), radius=float(np.ldexp(radius, exponent)))
    assert np.array_equal(same.indices, few.indices)


def test_close_points_keep_their_digits():
    X = np.array([[1e8, 0.0], [1e8, 1e-3], [1e8, 3e-3], [0.0, 0.0]])
    assert np.allclose(Neighbors.of(X, 1).distances[:3], [1e-3, 1e-3, 2e-3], rtol=1e-12)
    wide = np.hstack([X, np.zeros((4, 30))])  # many columns: another way to search
    assert np.allclose(Neighbors.of(wide, 1).distances[:3], [1e-3, 1e-3, 2e-3], rtol=1e-12)


def test_new_points_and_threads():
    near = Neighbors.of(FLAT, 4)
    new = rng.random((20, 3))
    starts, indices, distances = near.query(new)
    wanted, numbers = NearestNeighbors(n_neighbors=4).fit(FLAT).kneighbors(new)
    assert np.array_equal(indices.reshape(-1, 4), numbers) and np.allclose(
        distances.reshape(-1, 4), wanted
    )
    assert np.array_equal(starts, np.arange(0, 81, 4))
    D = cdist(new, FLAT)
    given_distances = Neighbors.of(cdist(FLAT, FLAT), 4, metric="precomputed")
    assert np.array_equal(given_distances.query(D)[1], indices)
    wide = Neighbors.of(FLAT, radius=0.2)
    for threads in (1, 8):
        with limit_threads(threads):
            assert np.array_equal(Neighbors.of(FLAT, radius=0.2).distances, wide.distances)


def test_the_graph_joins_either_way():
    near = Neighbors.of(FLAT, 3)
    A = np.zeros((150, 150))
    A[np.repeat(np.arange(150), 3), near.indices] = near.distances
    assert np.array_equal(near.graph().toarray(), np.maximum(A, A.T))
    doubled = np.repeat(FLAT[:20], 2, axis=0)
    graph = Neighbors.of(doubled, 3).graph()
    assert (graph.data == 0).sum() == 40  # 20 edges of length 0, stored both ways
    given_graph = Neighbors.of(graph)
    assert (given_graph.graph() != graph).nnz == 0 and given_graph.graph().nnz == graph.nnz


def test_parts_are_counted_and_joined_by_the_shortest_bridges():
    near = Neighbors.of(CLUSTERS, 3)
    parts, labels = near.components()
    assert parts == connected_components(near.graph())[0] == 3
    joined = near.connect("join")
    assert joined.components()[0] == 1 and len(joined.bridges) == 2
    between = np.array(
        [
            [cdist(CLUSTERS[labels == a], CLUSTERS[labels == b]).min() for a in range(3)]
            for b in range(3)
        ]
    )
    assert np.isclose(joined.lengths.sum(), minimum_spanning_tree(between).sum())
    largest = near.connect("largest")
    assert np.array_equal(largest.kept, np.arange(20)) and len(largest) == 20
    alone = Neighbors.of(CLUSTERS[:20], 3)
    assert np.array_equal(largest.indices, alone.indices)
    D = cdist(CLUSTERS, CLUSTERS)
    given_distances = Neighbors.of(D, 3, metric="precomputed").connect("join", D)
    assert np.allclose(given_distances.lengths, joined.lengths)


def test_the_smallest_k_is_named():
    with pytest.raises(InputError, match="3 parts, of 20, 9 and 4 points") as error:
        Neighbors.of(CLUSTERS, 3).connect()
    with pytest.raises(InputError, match="33 parts, of 1, 1, 1, 1 and 1 points and 28 others"):
        Neighbors.of(CLUSTERS, radius=1e-9).connect()
    smallest = int(str(error.value).split("joins them is ")[1].split(";")[0])
    connected = [k for k in range(1, 32) if Neighbors.of(CLUSTERS, k).components()[0] == 1]
    assert smallest == connected[0]
    with pytest.raises(InputError, match="radius="):
        Neighbors.of(CLUSTERS, radius=0.1).connect()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "either n_neighbors or radius"),
        ({"n_neighbors": 3, "radius": 1.0}, "either n_neighbors or radius"),
        ({"n_neighbors": 150}, "n_neighbors=150: a whole number from 1 to n - 1 = 149"),
        ({"n_neighbors": 0}, "n_neighbors=0"),
        ({"n_neighbors": True}, "n_neighbors=True"),
        ({"radius": 0}, "radius=0"),
        ({"radius": np.inf}, "radius=inf"),
        ({"n_neighbors": 3, "metric": "eucl"}, "metric='eucl' is not known"),
    ],
)
def test_bad_settings(arguments, words):
    with pytest.raises(InputError, match=words):
        Neighbors.of(FLAT, **arguments)


def test_bad_graphs():
    good = Neighbors.of(FLAT, 3).graph()
    for changed, words in (
        (sparse.csr_array(good * -1), "negative or not finite"),
        (sparse.csr_array(sparse.triu(good)), "not symmetric"),
        (good[:, :9], "square"),
    ):
        with pytest.raises(InputError, match=words):
            Neighbors.of(changed)
    with pytest.raises(InputError, match="a given graph knows no distances"):
        Neighbors.of(good).query(FLAT)
    with pytest.raises(InputError, match="all points are equal"):
        Neighbors.of(np.ones((9, 2)), 3)
    with pytest.raises(InputError, match="same number of neighbors"):
        _ = Neighbors.of(FLAT, radius=0.3).table


def test_landmarks_are_spread_by_the_max_min_rule():
    chosen, nearest = [0], cdist(FLAT[:1], FLAT)[0]
    while len(chosen) < 12:  # the rule, written down
        chosen.append(int(np.argmax(nearest)))
        nearest = np.minimum(nearest, cdist(FLAT[chosen[-1:]], FLAT)[0])
    for metric in ("euclidean", lambda x, y: float(np.linalg.norm(x - y))):
        found = spread_out(row_of(FLAT, metric), 150, 12)
        assert np.array_equal(found, np.sort(chosen))
    doubled = np.repeat(FLAT[:5], 3, axis=0)
    assert len(spread_out(row_of(doubled, "euclidean"), 15, 9)) == 5  # no more that differ


@pytest.mark.parametrize("shape", [(900, 30), (600, 3)])
def test_equally_near_points_are_chosen_by_their_number_on_any_threads(shape):
    from threadpoolctl import threadpool_limits

    X = np.random.default_rng(0).integers(0, 3, shape).astype(float)
    D = np.rint(((X[:, None] - X[None]) ** 2).sum(axis=2))
    np.fill_diagonal(D, np.inf)
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            found.append(Neighbors.of(X, 7).table)
    np.testing.assert_array_equal(found[0][0], found[1][0])
    if shape[1] > 8:  # searched by matrix products
        wanted = np.argsort(D, axis=1, kind="stable")[:, :7]
        np.testing.assert_array_equal(found[0][0], wanted)

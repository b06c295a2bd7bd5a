"""Shortest paths are Dijkstra's to the bit, on any graph and any number of threads."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

from gramian.gram.geodesics import Geodesics, geodesics
from gramian.loops.threads import limit_threads
from gramian.progress import listening


def random_graph(n, edges, seed, *, zeros=0.0, whole=False):
    """Edges at random places; a share of them of length 0, or all lengths whole numbers."""
    rng = np.random.default_rng(seed)
    i, j = rng.integers(0, n, (2, edges))
    lengths = np.floor(5 * rng.random(edges)) if whole else rng.random(edges)
    lengths[rng.random(edges) < zeros] = 0.0
    upper = {(min(a, b), max(a, b)): x for a, b, x in zip(i, j, lengths, strict=True) if a != b}
    rows = [a for a, _ in upper] + [b for _, b in upper]
    columns = [b for _, b in upper] + [a for a, _ in upper]
    return sparse.csr_array((list(upper.values()) * 2, (rows, columns)), shape=(n, n))


def twin(graph):
    """Floyd's three loops: lengths of all shortest paths, written down."""
    D = np.full(graph.shape, np.inf)
    entries = graph.tocoo()
    D[entries.row, entries.col] = entries.data
    np.fill_diagonal(D, 0.0)
    for k in range(len(D)):
        D = np.minimum(D, D[:, k, None] + D[k])
    return D


@given(
    n=st.integers(1, 60),
    per_node=st.floats(0.2, 6),
    seed=st.integers(0, 10**6),
    zeros=st.sampled_from([0.0, 0.3, 1.0]),
    whole=st.booleans(),
)
def test_equal_floyd_and_dijkstra(n, per_node, seed, zeros, whole):
    graph = random_graph(n, int(n * per_node), seed, zeros=zeros, whole=whole)
    found = geodesics(graph)
    assert np.allclose(found, twin(graph), rtol=n * np.finfo(float).eps, atol=0)
    assert np.array_equal(found, dijkstra(graph))


@pytest.mark.parametrize("n", [15, 16, 17, 129, 700])
def test_bits_are_dijkstras_on_any_number_of_threads(n):
    points = np.random.default_rng(n).random((n, 2))
    apart = np.linalg.norm(points[:, None] - points, axis=2)
    graph = sparse.csr_array(np.where(apart < 1.7 / np.sqrt(n), apart, 0.0))
    wanted = dijkstra(graph)
    for threads in (1, 2, 8):
        with limit_threads(threads):
            assert np.array_equal(geodesics(graph), wanted)


def test_long_and_crooked_paths():
    # a path through 3,000 nodes at random places: nearest in memory says nothing about the order
    n = 3000
    rng = np.random.default_rng(0)
    line = rng.permutation(n)
    lengths = rng.random(n - 1)
    graph = sparse.coo_array((lengths, (line[:-1], line[1:])), shape=(n, n)).tocsr()
    graph = sparse.csr_array(graph + graph.T)
    along = np.concatenate([[0], np.cumsum(lengths)])
    found = geodesics(graph, line[[0, 5, n // 2]])
    assert np.allclose(found[0, line], along, rtol=1e-13)
    assert np.allclose(found[2, line], np.abs(along - along[n // 2]), rtol=1e-10)


def test_some_sources_in_any_order_and_float32():
    graph = random_graph(300, 1500, 3)
    sources = np.array([299, 0, 0, 17])
    exact = dijkstra(graph, indices=sources)
    assert np.array_equal(geodesics(graph, sources), exact)
    single = geodesics(graph, sources, dtype=np.float32)
    assert single.dtype == np.float32 and np.array_equal(single, exact.astype(np.float32))
    assert geodesics(graph, np.array([], int)).shape == (0, 300)


def test_a_new_point_is_a_node_with_edges_to_its_neighbors():
    rng = np.random.default_rng(1)
    graph = random_graph(200, 800, 4)
    many = np.array([3, 1, 0, 5, *rng.integers(1, 6, 40)])
    starts = np.concatenate([[0], np.cumsum(many)])
    indices = np.concatenate([rng.choice(200, k, replace=False) for k in many])
    distances = rng.random(len(indices)) * (rng.random(len(indices)) < 0.8)
    found = Geodesics.of(graph).from_points(starts, indices, distances)
    exact = dijkstra(graph)
    for i in range(len(many)):
        some = slice(starts[i], starts[i + 1])
        through = distances[some, None] + exact[indices[some]]
        wanted = through.min(axis=0, initial=np.inf)
        assert np.allclose(found[i], wanted, rtol=1e-13, atol=0), i
    assert np.isinf(found[2]).all()  # it has no neighbors


def test_lengths_of_any_size():
    graph = random_graph(80, 300, 5)
    reference = geodesics(graph)
    for exponent in (-900, 900):
        scaled = graph.copy()
        scaled.data = np.ldexp(scaled.data, exponent)
        assert np.array_equal(geodesics(scaled), np.ldexp(reference, exponent))


def test_progress_is_told():
    heard = []
    with listening(lambda *told: heard.append(told)):
        geodesics(random_graph(300, 1500, 6))
    assert heard[-1] == ("shortest paths", 300, 300)

"""Affinities and Laplacians against plain definitions; graphs that are not."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse import csgraph
from scipy.spatial.distance import cdist

from gramian.errors import InputError
from gramian.gram.laplacian import affinities, bandwidth, degrees, given, normalized, refuse_parts
from gramian.gram.neighbors import Neighbors

X = np.random.default_rng(0).standard_normal((80, 3))


def test_affinities_by_the_definition():
    near = Neighbors.of(X, 5)
    D = cdist(X, X)
    order = np.argsort(D + np.diag(np.full(80, np.inf)), axis=1)[:, :5]
    joined = np.zeros((80, 80), bool)
    np.put_along_axis(joined, order, True, axis=1)
    joined |= joined.T
    assert np.array_equal(affinities(near.graph(), None).toarray(), joined)
    heat = np.where(joined, np.exp(-0.7 * D**2), 0)
    assert np.abs(affinities(near.graph(), 0.7).toarray() - heat).max() < 1e-14
    lengths = np.take_along_axis(D, order, axis=1)
    assert np.isclose(bandwidth(near.distances, "median"), 1 / np.median(lengths) ** 2)
    assert bandwidth(near.distances, 2) == 2.0


def test_laplacian_is_scipys():
    W = affinities(Neighbors.of(X, 5).graph(), 1.0)
    peer = csgraph.laplacian(W, normed=True)
    assert abs(normalized(W, degrees(W)) - peer).max() < 1e-15


def test_bridges_are_edges():
    two = np.vstack([X, X + 100])
    near = Neighbors.of(two, 5).connect("join")
    W = affinities(near.graph(), None).toarray()
    ((a, b),) = near.bridges
    assert W[a, b] == W[b, a] == 1
    refuse_parts(sp.csr_array(W))


@pytest.mark.parametrize(
    ("W", "words"),
    [
        (np.ones((2, 3)), "square"),
        ([[0, -1], [-1, 0]], "negative or not finite"),
        ([[0, np.nan], [np.nan, 0]], "negative or not finite"),
        ([[0, 1], [2, 0]], "not symmetric: those between 0 and 1 differ by 1"),
    ],
)
def test_bad_affinities(W, words):
    with pytest.raises(InputError, match=words):
        given(np.asarray(W, float))


def test_isolated_points_parts_and_gamma():
    W = sp.csr_array(np.diag([1.0, 1.0], 1)[:3, :3] * 0)
    with pytest.raises(InputError, match="3 points without any neighbor.*row 0, 1 and 2"):
        degrees(W)
    with pytest.raises(InputError, match="in 2 parts, of 2 and 2 points"):
        refuse_parts(sp.block_diag([np.ones((2, 2))] * 2).tocsr())
    for bad in ("mean", 0, -1.0, True, np.inf):
        with pytest.raises(InputError, match="gamma="):
            bandwidth(Neighbors.of(X, 3), bad)

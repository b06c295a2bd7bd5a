"""Sparse products against dense NumPy: odd shapes, both precisions and indices, any threads."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from gramian.data.door import open_rows
from gramian.loops import sparse
from gramian.loops.links import Links
from gramian.loops.threads import limit_threads
from gramian.testing import tolerance

SHAPES = [(1, 1), (2, 3), (7, 5), (64, 33), (300, 1), (3, 700), (1031, 130), (130, 1031)]


def matrix(shape, dtype=np.float64, index=np.int32, seed=0):
    """A third of the cells stored, some of them zeros; every fifth row and column empty."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal(shape) * (rng.random(shape) < 0.3)
    X[::5] = X[:, ::5] = 0
    A = sp.csr_array(X.astype(dtype))
    A.data[::7] = 0  # stored zeros
    A.indices, A.indptr = A.indices.astype(index), A.indptr.astype(index)
    return A, A.toarray().astype(np.float64)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("m", [1, 2, 3, 4, 5, 8, 16, 19, 40])
def test_products_equal_numpy(shape, dtype, index, m):
    A, twin = matrix(shape, dtype, index)
    rng = np.random.default_rng(1)
    n, p = shape
    V, U = rng.standard_normal((p, m)).astype(dtype), rng.standard_normal((n, m)).astype(dtype)
    shift, weight = rng.standard_normal(m), rng.uniform(0.5, 2, n)
    Z = weight[:, None] * (twin @ V - shift)
    shifted, sums = sparse.gram(A, V, shift, weight)
    plain, _ = sparse.gram(A, V)
    small = tolerance(dtype, n + p)
    for found, wanted in (
        (sparse.times(A, V), twin @ V),
        (sparse.adjoint(A, U), twin.T @ U),
        (plain, twin.T @ (twin @ V)),
        (shifted, twin.T @ Z),
        (sums, Z.sum(axis=0)),
    ):
        size = max(np.abs(wanted).max(initial=0.0), np.abs(Z).sum(axis=0).max(initial=0.0), 1.0)
        assert found.shape == wanted.shape
        assert np.abs(found - wanted).max(initial=0.0) <= 10 * small * size


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("m", [1, 4, 8])
def test_the_same_bits_on_any_number_of_threads(dtype, m):
    A, _ = matrix((3000, 400), dtype)
    V, U = np.ones((400, m), dtype), np.linspace(0, 1, 3000 * m, dtype=dtype).reshape(3000, m)
    found = []
    for threads in (1, 2, 8):
        with limit_threads(threads):
            both = sparse.gram(A, V, np.ones(m))
            found.append((sparse.times(A, V), sparse.adjoint(A, U), *both))
    for other in found[1:]:
        assert all(a.tobytes() == b.tobytes() for a, b in zip(found[0], other, strict=True))


def test_pieces_hold_about_equally_many_values():
    lengths = np.concatenate([np.full(10, 900), np.full(5000, 2), np.zeros(3000, int)])
    columns = np.concatenate([np.arange(length) for length in lengths])
    starts = np.concatenate([[0], np.cumsum(lengths)])
    A = sp.csr_array((np.ones(len(columns)), columns, starts), shape=(8010, 1000))
    pieces = sparse.cut(A, 8, 8)
    assert pieces[0][0] == 0 and pieces[-1][1] == 8010
    assert all(a[1] == b[0] for a, b in pairwise(pieces))
    work = [starts[b] - starts[a] + (b - a) for a, b in pieces]
    assert max(work) <= sum(work) / 8 + 901


def test_unsorted_and_repeated_columns_add_up():
    places = np.array([4, 1, 1, 0, 4]), np.array([0, 3, 5])
    A = sp.csr_array((np.arange(1.0, 6), *places), shape=(2, 5))
    V = np.arange(10.0).reshape(5, 2)
    assert np.array_equal(sparse.times(A, V), A.toarray() @ V)
    assert np.array_equal(sparse.adjoint(A, V[:2]), A.toarray().T @ V[:2])
    rows = open_rows(A).rows
    assert np.allclose(rows.moments(np.ones(1)).variance, A.toarray().var(axis=0))
    assert not A.has_canonical_format  # the caller's matrix is as it was


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [1, 255, 256, 1000, 200_000])
def test_flow_along_links_equals_the_transposed_product(n, weighted):
    rng = np.random.default_rng(2)
    m = 5 * n
    ends = rng.integers(0, n, m), (n * rng.random(m) ** 3).astype(int)
    A = sp.coo_array((np.ones(m), ends), shape=(n, n)).tocsr()
    weights = rng.random(A.nnz) if weighted else None
    links = Links.of(A, weights)
    twin = A.copy()
    twin.data = np.ones(A.nnz) if weights is None else weights
    v, w, x = rng.random((3, n))
    share = np.where(rng.random(n) < 0.2, 0.0, rng.random(n))
    for plain in (True, False):
        # the twin, a round at a time: links from earlier rounds carry what is new
        y = 0.5 * x
        for begin, end in [(0, len(links.nodes) - 1)] if plain else links.rounds:
            nodes = slice(links.nodes[begin], links.nodes[end])
            y[nodes] = (
                (twin.T[nodes] @ (y * share)) + 0.3 * v[nodes] + 0.2 * lost(y, share) * w[nodes]
            )
        found = []
        for threads in (1, 2, 8):
            with limit_threads(threads):
                scores = links.scores(x, share)
                scores.scale = 0.5
                found.append((links.sweep(scores, v, w, 0.3, 0.2, plain=plain), scores))
        changes, scores = found[0]
        assert np.allclose(scores.x, y, rtol=1e-12) and scores.scale == 1
        assert np.array_equal(scores.z, scores.x * share)
        assert np.isclose(scores.lost.sum(), lost(y, share))
        assert np.isclose(changes[0], np.abs(y - 0.5 * x).sum())
        assert np.isclose(changes[1], (y - 0.5 * x).sum())
        for other, same in found:
            assert other == changes and same.x.tobytes() == scores.x.tobytes()
    assert len(links.rounds) == (4 if n == 200_000 else 1)
    assert np.diff(links.nodes).max() <= 65_536


def lost(x, share):
    return x[share == 0].sum()

"""Two sparse matrices as one, against dense arrays."""

import numpy as np
import pytest
from scipy import sparse

from gramian.gram.neighbors import Neighbors
from gramian.loops.joined import count_either, fill_either


@pytest.mark.parametrize("seed", range(4))
def test_either_has_an_entry_the_smaller_counts(seed):
    rng = np.random.default_rng(seed)
    D = rng.integers(0, 4, (2, 9, 9)).astype(float)
    there = rng.random((2, 9, 9)) < (0.3, 0.0, 0.9, 0.5)[seed]
    A, B = (
        sparse.csr_array((d[t], np.nonzero(t)), shape=(9, 9)) for d, t in zip(D, there, strict=True)
    )
    counts = np.empty(9, np.int64)
    count_either(A.indptr, A.indices, B.indptr, B.indices, counts)
    either = there.any(axis=0)
    assert np.array_equal(counts, either.sum(axis=1))
    ends, out = np.empty(either.sum(), np.int32), np.empty(either.sum())
    fill_either(A.indptr, A.indices, A.data, B.indptr, B.indices, B.data, ends, out)
    assert np.array_equal(ends, np.nonzero(either)[1])
    assert np.array_equal(out, np.where(there, D, np.inf).min(axis=0)[either])


def test_a_graph_of_neighbors_and_its_bridges():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.random((20, 2)), 5 + rng.random((12, 2)), 9 + rng.random((12, 2))])
    X[3] = X[4]
    near = Neighbors.of(X, 4).connect("join")
    graph = near.graph()
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    wanted = np.zeros((44, 44), bool)
    wanted[np.repeat(np.arange(44), 4), near.indices] = True
    wanted[tuple(near.bridges.T)] = True
    wanted |= wanted.T
    assert len(near.bridges) == 3 and graph.nnz == wanted.sum()  # the edge of length 0 included
    rows, columns = np.repeat(np.arange(44), np.diff(graph.indptr)), graph.indices
    assert wanted[rows, columns].all() and np.allclose(graph.data, D[rows, columns], atol=1e-15)

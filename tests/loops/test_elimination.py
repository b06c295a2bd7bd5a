"""The count of a factor's entries against the pattern of a dense Cholesky elimination."""

import numpy as np
import pytest
import scipy.sparse as sp

from gramian.loops.elimination import factor_entries


def entries_by_elimination(pattern):
    filled = pattern.copy()
    n = len(filled)
    for j in range(n):
        below = np.flatnonzero(filled[j + 1 :, j]) + j + 1
        filled[np.ix_(below, below)] = True
    return int(np.tril(filled).sum())


@pytest.mark.parametrize("density", [0.0, 0.03, 0.2, 1.0])
@pytest.mark.parametrize("n", [1, 2, 30, 61])
def test_counts_what_elimination_fills(n, density):
    A = sp.random_array((n, n), density=density, rng=np.random.default_rng(n))
    pattern = sp.csr_array(A + A.T + sp.eye_array(n))
    expected = entries_by_elimination(pattern.toarray() != 0)
    assert factor_entries(pattern.indptr, pattern.indices, 10**9) == expected
    if expected > n:
        assert factor_entries(pattern.indptr, pattern.indices, expected - 1) == expected

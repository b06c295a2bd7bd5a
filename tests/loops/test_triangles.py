"""The loop over all triangles equals its one-line twin, whatever the shape and the threads."""

import numpy as np
import pytest

from gramian.loops.threads import limit_threads
from gramian.loops.triangles import all_detours


def twin(D, over, slack):
    gaps = np.triu(D - np.minimum(D, (D[:, None, over] + D[None, :, over]).min(axis=2)), 1)
    partner = np.where(gaps.max(axis=1) > 0, gaps.argmax(axis=1), -1)
    return gaps.max(axis=1), partner, (gaps > slack).sum(axis=1)


@pytest.mark.parametrize("n", [2, 3, 15, 16, 17, 33, 100])
def test_equals_its_twin(n):
    rng = np.random.default_rng(n)
    D = rng.random((n, n))
    D = D + D.T
    np.fill_diagonal(D, 0)
    for over in (np.arange(n), np.sort(rng.choice(n, max(n // 3, 1), replace=False))):
        for found, wanted in zip(all_detours(D, over, 0.3), twin(D, over, 0.3), strict=True):
            assert np.array_equal(found, wanted)


def test_columns_beyond_a_block_and_threads():
    n = 1100
    rng = np.random.default_rng(0)
    D = rng.random((n, n))
    D = D + D.T
    np.fill_diagonal(D, 0)
    over = np.array([3, 700, 1099])
    found = all_detours(D, over, 0.5)
    for one, wanted in zip(found, twin(D, over, 0.5), strict=True):
        assert np.array_equal(one, wanted)
    with limit_threads(3):
        for one, other in zip(found, all_detours(D, over, 0.5), strict=True):
            assert np.array_equal(one, other)

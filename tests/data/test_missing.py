"""Rows sorted by their holes are the same rows."""

import numpy as np
import pytest

from gramian.data.array_rows import ArrayRows
from gramian.data.missing import Gaps, any_missing


@pytest.mark.parametrize(
    ("n", "p", "share"), [(1, 1, 0.0), (40, 3, 0.4), (1500, 2, 0.1), (9, 70, 0.5)]
)
def test_patterns_hold_their_rows(n, p, share):
    rng = np.random.default_rng(n)
    X = np.where(rng.random((n, p)) < share, np.nan, rng.standard_normal((n, p)))
    gaps = Gaps.of(X)
    there = np.repeat(gaps.seen, np.diff(gaps.ends), axis=0)
    assert np.array_equal(gaps.restored(there), ~np.isnan(X))
    assert np.array_equal(gaps.restored(gaps.X), np.nan_to_num(X))
    assert np.array_equal(gaps.counts(), np.sum(~np.isnan(X), axis=0))
    assert gaps.missing == np.isnan(X).sum() and gaps.patterns == len(np.unique(there, axis=0))
    assert np.diff(gaps.ends).min() >= 1 and np.diff(gaps.ends).max() <= 512
    for width in (1, 10**7):
        blocks = gaps.blocks(width)
        assert [b for _, b in blocks][:-1] == [a for a, _ in blocks][1:]
        assert blocks[0][0] == 0 and blocks[-1][1] == len(gaps.seen)
        assert all(gaps.ends[b] - gaps.ends[a] <= 512 for a, b in blocks)
    assert any_missing(ArrayRows(X)) == np.isnan(X).any()


def test_moments_of_what_is_there():
    X = np.array([[1e6 + 1, np.nan], [1e6 + 2, 5.0], [np.nan, 7.0], [1e6 + 6, 9.0]])
    mean, deviations, unit = Gaps.of(X).moments()
    assert unit == 1
    assert np.allclose(mean, np.nanmean(X, axis=0), rtol=1e-15)
    assert np.allclose(deviations, np.nanstd(X, axis=0), rtol=1e-9)

"""Sweeps of stress, pairs, ties and isotonic regression: each equals its short NumPy twin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.isotonic import IsotonicRegression

from gramian.loops.isotonic import isotonic
from gramian.loops.pairs import lengths, slopes
from gramian.loops.stochastic import anneal
from gramian.loops.stress import LOSSES, constants, misfit, settle
from gramian.loops.threads import limit_threads
from gramian.loops.ties import sort_ties


def case(n, k, dtype, seed=0, gaps=True):
    rng = np.random.default_rng(seed)
    D = cdist(*2 * [rng.standard_normal((n, 6))]).astype(dtype)
    Z = rng.standard_normal((n, k))
    if n > 2:
        Z[1] = Z[0]  # points that coincide
        if gaps:
            D[0, 2] = D[2, 0] = np.nan
    W = rng.random((n, n)).astype(dtype)
    return D, Z, W + W.T


def twin(D, Z, W, loss):
    """Misfit, size, length and slope, as they are written."""
    D, W = D.astype(float), np.where(np.isnan(D), 0, W.astype(float))
    known = np.where(np.isnan(D), 1.0, D)
    gaps = Z[:, None] - Z
    d = np.sqrt(np.sum(gaps**2, axis=2))
    if loss == "sammon":
        W = np.where(known > 0, W / np.where(known > 0, known, 1), 0)
    if loss == "sstress":
        e, r = d**2 - known**2, W * (d**2 - known**2)
        sums = (W * e**2, W * d**4, W * d**2)
    else:
        e = d - known
        r = np.where(d > 0, W * e / np.where(d > 0, d, 1), 0)
        sums = (W * e**2, W * d**2, W * d)
    return *(each.sum(axis=1) for each in sums), np.einsum("ij,ijk->ik", r, gaps)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "k"), [(2, 1), (3, 2), (16, 2), (37, 3), (130, 1), (300, 5)])
def test_a_sweep_is_its_twin(n, k, dtype, loss):
    D, Z, W = case(n, k, dtype)
    Z = Z.astype(dtype).astype(float)  # what the sweep sees
    for weights in (None, W):
        found = misfit(D, Z, weights, loss)
        wanted = twin(D, Z, np.ones((n, n)) if weights is None else W, loss)
        for ours, theirs in zip(found, wanted, strict=True):
            size = np.abs(theirs).max() + np.abs(np.nan_to_num(D)).max()
            assert np.allclose(ours, theirs, atol=40 * np.sqrt(n) * np.finfo(dtype).eps * size)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_slope_is_that_of_the_misfit(loss):
    D, Z, W = case(12, 2, np.float64)
    Z += 0.1 * np.random.default_rng(5).standard_normal(Z.shape)  # nothing coincides
    steep = 8 if loss == "sstress" else 4
    slope = steep * misfit(D, Z, W, loss).slope
    h = 1e-6
    for i, c in ((0, 0), (3, 1), (11, 0)):
        up, down = Z.copy(), Z.copy()
        up[i, c] += h
        down[i, c] -= h
        change = misfit(D, up, W, loss).off.sum() - misfit(D, down, W, loss).off.sum()
        assert np.isclose(change / (2 * h), slope[i, c], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_constants(loss):
    D, _, W = case(20, 2, np.float64)
    w = np.where(np.isnan(D) | np.eye(20, dtype=bool), 0, W)
    known = np.where(w > 0, D, 1.0)
    a, b = {"stress": (2, 0), "sammon": (1, -1), "sstress": (4, 2)}[loss]
    total, mass = constants(D, W, loss)
    assert np.allclose(total, (w * known**a).sum(axis=1))
    assert np.allclose(mass, (w * known**b).sum(axis=1))


def test_bits_do_not_depend_on_threads():
    D, Z, W = case(700, 2, np.float32, gaps=False)
    pairs = np.triu_indices(700, 1)
    values = np.random.default_rng(0).standard_normal(200_000)
    found = []
    for threads in (1, 2, 8):
        with limit_threads(threads):
            fitted = values.copy()
            isotonic(fitted)
            d = np.empty(len(pairs[0]))
            lengths(Z, *pairs, d)
            pulled = slopes(Z, *pairs, d * 0.9, None, 0.1)
            annealed = anneal(D, Z, np.random.default_rng(1))
            found.append([misfit(D, Z, W).slope, fitted, d, pulled, annealed])
    for other in found[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(found[0], other, strict=True))


@given(
    st.integers(1, 300),
    st.booleans(),
    st.sampled_from(["noise", "trend", "sorted", "falling", "ties"]),
)
def test_isotonic_is_scikit_learns(m, weighted, kind):
    rng = np.random.default_rng(m)
    y = {
        "noise": rng.standard_normal(m),
        "trend": np.linspace(0, 5, m) + rng.standard_normal(m),
        "sorted": np.sort(rng.standard_normal(m)),
        "falling": -np.arange(m, dtype=float),
        "ties": rng.integers(0, 3, m).astype(float),
    }[kind]
    w = rng.random(m) + 0.01 if weighted else None
    fitted = y.copy()
    off, size = isotonic(fitted, w)
    wanted = IsotonicRegression().fit_transform(np.arange(m), y, sample_weight=w)
    assert np.allclose(fitted, wanted, atol=1e-12)
    masses = np.ones(m) if w is None else w
    assert np.isclose(off, np.sum(masses * (y - wanted) ** 2), atol=1e-10)
    assert np.isclose(size, np.sum(masses * y**2))


def test_isotonic_over_many_pieces():
    rng = np.random.default_rng(0)
    y = np.sqrt(np.arange(300_000)) + 30 * rng.standard_normal(300_000)
    for dtype in (np.float32, np.float64):
        fitted = y.astype(dtype)
        isotonic(fitted)
        wanted = IsotonicRegression().fit_transform(np.arange(len(y)), y.astype(dtype))
        assert np.allclose(fitted, wanted, rtol=20 * np.finfo(dtype).eps, atol=1e-4)
        assert (np.diff(fitted) >= 0).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_ties_are_sorted_and_pairs_go_with_them(weighted):
    rng = np.random.default_rng(2)
    starts = np.array([0, 1, 5, 6, 400, 1000])
    d = rng.random(1000)
    d[400:] = np.sort(d[400:])
    d[[410, 411]] = d[[411, 410]]  # nearly sorted: by insertion
    heads, tails = rng.integers(0, 9, (2, 1000)).astype(np.uint16)
    w = rng.random(1000) if weighted else None
    before = d.copy()
    order = np.lexsort((before, np.repeat(np.arange(5), np.diff(starts))))
    wanted = [heads[order], tails[order], None if w is None else w[order]]
    sort_ties(d, heads, tails, w, starts)
    assert np.array_equal(d, before[order])
    for ours, theirs in zip((heads, tails, w), wanted, strict=True):
        assert theirs is None or np.array_equal(ours, theirs)


def test_pairs_have_their_twins():
    rng = np.random.default_rng(3)
    Z, (i, j) = rng.standard_normal((40, 3)), np.triu_indices(40, 1)
    Z[1] = Z[0]
    d = np.empty(len(i))
    lengths(Z, i, j, d)
    gaps = Z[i] - Z[j]
    assert np.allclose(d, np.linalg.norm(gaps, axis=1), atol=1e-14)
    fitted, w = rng.random(len(i)), rng.random(len(i))
    r = np.where(d > 0, w * (1 - fitted / np.where(d > 0, d, 1) - 0.2), 0)[:, None] * gaps
    wanted = np.zeros_like(Z)
    np.add.at(wanted, i, r)
    np.add.at(wanted, j, -r)
    assert np.allclose(slopes(Z, i, j, fitted, w, 0.2), wanted, atol=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_settled_point_is_where_its_slope_is_zero(loss):
    rng = np.random.default_rng(4)
    Z = rng.standard_normal((30, 2))
    d = cdist(rng.standard_normal((5, 2)), Z) + 0.1 * rng.random((5, 30))
    d[0, 3] = np.nan
    starts = np.stack([np.zeros((5, 2)), rng.standard_normal((5, 2))])
    found, off = settle(d, Z, starts, None, loss)
    for i in range(5):
        known = ~np.isnan(d[i])

        def value(z, i=i, known=known):
            apart, wanted = np.linalg.norm(z - Z[known], axis=1), d[i, known]
            if loss == "sstress":
                return np.sum((apart**2 - wanted**2) ** 2)
            return np.sum((apart - wanted) ** 2 / (wanted if loss == "sammon" else 1))

        assert np.isclose(value(found[i]), off[i], rtol=1e-10)
        for step in 1e-4 * np.vstack([np.eye(2), -np.eye(2)]):
            assert value(found[i] + step) > off[i]


def test_annealing_lowers_stress():
    D, Z, _ = case(60, 2, np.float64)
    for weights in (None, np.ones_like(D)):
        found = anneal(D, Z, np.random.default_rng(0), weights)
        assert misfit(D, found).off.sum() < 0.5 * misfit(D, Z).off.sum()
    assert np.array_equal(anneal(D, Z, np.random.default_rng(0)), found)  # weights of 1

"""Sweeps of stress, pairs, ties and isotonic regression: each equals its short NumPy twin."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.isotonic import IsotonicRegression

from gramian.loops import curves, ordinal
from gramian.loops.isotonic import pooled
from gramian.loops.order import ends_of, sort_ties, sorted_pairs
from gramian.loops.stochastic import anneal
from gramian.loops.stress import LOSSES, constants, misfit, settle
from gramian.loops.threads import limit_threads


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
    order, knots = ordinal.Order.of(D), np.array([0.0, 3.0, 9.0])
    found = []
    for threads in (1, 2, 8):
        with limit_threads(threads):
            steps = ordinal.pool(Z, order, "primary")
            _, _, toward, apart = ordinal.pull(Z, order, "primary", steps)
            curve = curves.moments(D, W, Z, knots, 3)
            pulled = curves.pull(D, W, Z, knots, curve / curve.max())
            annealed = anneal(D, Z, np.random.default_rng(1))
            found.append([misfit(D, Z, W).slope, *steps, toward, apart, curve, *pulled, annealed])
    for other in found[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(found[0], other, strict=True))


def isotonic(y, w=None):
    means, masses, ends = pooled(y, w)
    assert np.isclose(masses.sum(), len(y) if w is None else w.sum())
    return np.repeat(means, np.diff(ends, prepend=0))


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
    wanted = IsotonicRegression().fit_transform(np.arange(m), y, sample_weight=w)
    assert np.allclose(isotonic(y, w), wanted, atol=1e-12)


def test_isotonic_by_parts_is_isotonic():
    rng = np.random.default_rng(0)
    y = np.sqrt(np.arange(300_000)) + 30 * rng.standard_normal(300_000)
    for dtype in (np.float32, np.float64):
        wanted = IsotonicRegression().fit_transform(np.arange(len(y)), y.astype(dtype))
        parts = [pooled(part) for part in np.array_split(y.astype(dtype), 7)]
        means, _, ends = pooled(*(np.concatenate([p[q] for p in parts]) for q in (0, 1)))
        sizes = np.add.reduceat(np.concatenate([p[1] for p in parts]), np.r_[0, ends[:-1]])
        fitted = np.repeat(means, sizes.astype(int))
        assert np.allclose(fitted, wanted, rtol=20 * np.finfo(dtype).eps, atol=1e-4)
        assert np.allclose(isotonic(y.astype(dtype)), fitted, rtol=20 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["plain", "close", "ties", "one"])
def test_pairs_are_in_the_order_of_their_dissimilarities(dtype, kind):
    rng = np.random.default_rng(1)
    D = rng.random((70, 70))
    if kind == "close":  # float32 cannot tell them apart
        D = 1 + 1e-12 * np.round(D, 2)
    D = np.round(9 * D) if kind == "ties" else np.ones((70, 70)) if kind == "one" else D
    D = np.maximum(D, D.T).astype(dtype)
    D[3, 8] = D[8, 3] = np.nan
    W = np.ones_like(D)
    W[4, 5] = W[5, 4] = 0
    for weights, m in ((None, 70 * 69 // 2 - 1), (W, 70 * 69 // 2 - 2)):
        pairs, same = sorted_pairs(D, weights)
        i, j = np.transpose([ends_of(pair) for pair in pairs]).astype(int)
        assert len(pairs) == len(np.unique(pairs)) == m and (i < j).all()
        given = D[i, j]
        assert (np.diff(given) >= 0).all()
        tied = np.r_[False, np.diff(given) == 0]
        assert np.array_equal(same, tied if tied.any() else [])
        assert bool(len(same)) == (kind != "plain")


@pytest.mark.parametrize("weighted", [False, True])
def test_ties_are_sorted_and_pairs_go_with_them(weighted):
    rng = np.random.default_rng(2)
    starts = np.array([0, 1, 5, 6, 400, 1000])
    same = np.ones(1000, np.uint8)
    same[starts[:-1]] = 0
    d = rng.random(1000)
    d[400:] = np.sort(d[400:])
    d[[410, 411]] = d[[411, 410]]  # nearly sorted: by insertion
    pairs = rng.integers(0, 9, 1000).astype(np.uint32)
    w = rng.random(1000) if weighted else np.empty(0)
    before = d.copy()
    order = np.lexsort((before, np.repeat(np.arange(5), np.diff(starts))))
    wanted = pairs[order], w[order] if weighted else w
    sort_ties(d, pairs, w, weighted, same)
    assert np.array_equal(d, before[order])
    assert np.array_equal(pairs, wanted[0]) and np.array_equal(w, wanted[1])


@pytest.mark.parametrize("ties", ordinal.TIES)
@pytest.mark.parametrize("levels", [0, 5, 5000])
def test_many_pieces_are_one(ties, levels):
    """The regression of all pairs at once, by scikit-learn."""
    D, Z, W = case(300, 2, np.float64)
    D = np.round(D * levels / np.nanmax(D)) if levels else D
    order = ordinal.Order.of(D, W)
    assert len(order.cuts) > 2 or levels == 5  # 44,849 pairs; a tie is not torn
    steps = ordinal.pool(Z, order, ties)
    i, j = np.transpose([ends_of(pair) for pair in order.pairs]).astype(int)
    d, given, w = np.linalg.norm(Z[i] - Z[j], axis=1), D[i, j], W[i, j]
    assert np.array_equal(order.weights, w)
    parts = [ordinal.shown(Z, order, ties, steps, p) for p in range(len(order.cuts) - 1)]
    shown, found = np.concatenate(parts, axis=1)
    assert np.allclose(shown, d)
    if ties == "primary":
        wanted = IsotonicRegression().fit_transform(np.arange(len(d)), d, sample_weight=w)
    else:
        wanted = IsotonicRegression().fit_transform(given, d, sample_weight=w)
    if ties == "tertiary":
        _, group = np.unique(given, return_inverse=True)
        wanted = wanted + d - (np.bincount(group, w * d) / np.bincount(group, w))[group]
    assert np.allclose(found, wanted, atol=1e-9)


def test_a_curve_has_its_twin():
    D, Z, W = case(60, 3, np.float64)
    knots = np.array([0.0, 2.5, 4.0, np.nanmax(D)])
    curve = np.random.default_rng(3).random((3, 3))
    i, j = np.triu_indices(60, 1)
    known = ~np.isnan(D[i, j])
    i, j = i[known], j[known]
    for weights in (None, W):
        w = np.ones(len(i)) if weights is None else W[i, j]
        d = np.linalg.norm(Z[i] - Z[j], axis=1)
        s = np.searchsorted(knots[1:-1], D[i, j], side="right")
        u = (D[i, j] - knots[s]) / np.diff(knots)[s]
        wanted = [[np.sum((w * d * u**q)[s == t]) for q in range(3)] for t in range(3)]
        assert np.allclose(curves.moments(D, weights, Z, knots, 3), wanted)
        plain = [[np.sum((w * u**q)[s == t]) for q in range(5)] for t in range(3)]
        assert np.allclose(curves.moments(D, weights, None, knots, 5), plain)
        fitted = np.sum(curve[s] * u[:, None] ** np.arange(3), axis=1)
        off, size, toward, apart = curves.pull(D, weights, Z, knots, curve)
        assert np.isclose(off, np.sum(w * (d - fitted) ** 2)) and np.isclose(size, np.sum(w * d**2))
        r = np.where(d > 0, w * (d - fitted) / np.where(d > 0, d, 1), 0)
        for found, factor in ((toward, r), (apart, w)):
            slope = np.zeros_like(Z)
            np.add.at(slope, i, factor[:, None] * (Z[i] - Z[j]))
            np.add.at(slope, j, factor[:, None] * (Z[j] - Z[i]))
            assert np.allclose(found, slope, atol=1e-10)


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

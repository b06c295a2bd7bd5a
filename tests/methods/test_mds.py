"""MDS: the estimator contract, theorems, restarts, missing distances, new points, bad input."""

import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.utils.estimator_checks import parametrize_with_checks

from gramian import MDS, ClassicalMDS
from gramian.errors import GramianWarning, InputError, MemoryRefusedError
from gramian.loops.threads import limit_threads
from gramian.quality.procrustes import procrustes
from gramian.quality.stress import stress_1
from gramian.scaling.disparities import fit_for
from gramian.scaling.losses import FittedLoss, MetricLoss
from gramian.testing import same_up_to_rotation

rng = np.random.default_rng(7)
X = rng.standard_normal((40, 5)) * [3, 2, 1, 0.7, 0.4]
D = squareform(pdist(X))
FLAT = squareform(pdist(X[:, :2]))
MEASUREMENTS = ("ratio", "interval", "spline", "ordinal")
PAIRS = np.triu_indices(12, 1)


@parametrize_with_checks(
    [
        MDS(),
        MDS(metric="cityblock", loss="sammon", n_init=1),
        MDS(1, loss="sstress", init="stochastic", n_init=2),
        MDS(loss="strain"),
        MDS(measurement="ordinal", n_init=1),
        MDS(measurement="interval", n_init=1),
        MDS(measurement="spline", init="stochastic", n_init=1),
    ]
)
def test_sklearn_contract(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GramianWarning)
        check(estimator)


def fitted(D, k=2, **options):
    return MDS(k, **{"metric": "precomputed"} | options).fit(D)


@pytest.mark.parametrize("measurement", MEASUREMENTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_distances_of_a_plane_are_found_again(measurement, dtype):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GramianWarning)
        model = fitted(FLAT.astype(dtype), measurement=measurement)
    assert model.stress_ < (1e-4 if measurement == "ordinal" else 3e-4 if dtype == "f4" else 1e-4)
    assert model.embedding_.dtype == dtype
    exact = measurement in ("ratio", "interval")
    if exact:
        same_up_to_rotation(model.embedding_, X[:, :2] - X[:, :2].mean(axis=0), rtol=1e-3)
    assert model.n_agreeing_ >= 1


def test_more_freedom_less_stress():
    Z = fitted(D, n_init=1).embedding_
    loss = [np.sqrt(FittedLoss.of(D, None, m, "primary")(Z)[0]) for m in MEASUREMENTS[1:]]
    assert stress_1(D, Z, metric="precomputed") >= loss[0] >= loss[1] >= loss[2] > 0


@pytest.mark.parametrize("loss", ["stress", "sammon", "sstress"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_minimum_is_that_of_a_plain_optimizer(loss, weighted):
    few = D[:9, :9]
    W = rng.random((9, 9)) + 0.2 if weighted else np.ones((9, 9))
    W = (W + W.T) / 2
    given, w = squareform(few), squareform(W, checks=False)

    def value(z):
        d = pdist(z.reshape(9, 2))
        if loss == "sstress":
            return np.sum(w * (d**2 - given**2) ** 2)
        return np.sum(w * (d - given) ** 2 / (given if loss == "sammon" else 1))

    model = fitted(few, loss=loss, weights=W if weighted else None, n_init=15, tol=1e-12)
    draws = np.random.default_rng(0).standard_normal((15, 18)) * 2
    best = min(minimize(value, z, method="BFGS").fun for z in draws)
    ours = value(model.embedding_.ravel())
    assert ours <= best * (1 + 1e-6)
    slope = MetricLoss.of(few, W if weighted else None, loss)(model.embedding_)[1]
    assert np.abs(slope).max() < 1e-5
    if loss == "sstress":
        assert np.isclose(model.stresses_["sstress"], ours)


@pytest.mark.parametrize("measurement", MEASUREMENTS[1:])
@pytest.mark.parametrize("ties", ["primary", "secondary", "tertiary"])
@pytest.mark.parametrize("weighted", [False, True])
def test_disparities_are_the_nearest_of_their_kind(measurement, ties, weighted):
    """A projection on a convex cone: what is left is orthogonal to it, and nothing is nearer."""
    coarse = np.round(D[:12, :12])
    W = 1 + np.abs(np.subtract.outer(np.arange(12.0), np.arange(12.0))) if weighted else None
    fit, Z = fit_for(coarse, W, measurement, ties), np.random.default_rng(1).random((12, 2))
    state = fit.nearest(Z)
    i, j, d, found = map(np.concatenate, zip(*fit.blocks(Z, state), strict=True))
    assert np.array_equal(np.sort(i * 12 + j), np.sort(np.ravel_multi_index(PAIRS, (12, 12))))
    assert np.allclose(d, np.linalg.norm(Z[i] - Z[j], axis=1))
    w, given = np.ones(66) if W is None else W[i, j], coarse[i, j]
    off, size, toward, apart = fit.pull(Z, state)
    assert np.isclose(off, np.sum(w * (d - found) ** 2))
    assert np.isclose(size, np.sum(w * d**2))
    assert abs(np.sum(w * (d - found) * found)) < 1e-9 * size
    for slope, r in ((toward, w * (1 - found / d)), (apart, w)):
        wanted = np.zeros((12, 2))
        np.add.at(wanted, i, r[:, None] * (Z[i] - Z[j]))
        np.add.at(wanted, j, r[:, None] * (Z[j] - Z[i]))
        assert np.allclose(slope, wanted)
    values = np.unique(given)
    groups = [given == value for value in values]
    assert len(values) < 60
    if measurement != "ordinal" or ties == "secondary":
        assert max(np.ptp(found[g]) for g in groups) < 1e-12
    means = np.array([np.average(found[g], weights=w[g]) for g in groups])
    if measurement == "ordinal" and ties == "primary":
        assert (np.diff(found) >= 0).all() and (np.diff(given) >= 0).all()
        assert all((np.diff(d[g]) >= 0).all() for g in groups)
    if measurement == "ordinal" and ties == "tertiary":
        plain = [np.average(d[g], weights=w[g]) for g in groups]
        for group, a, b in zip(groups, means, plain, strict=True):
            assert np.allclose((found - d)[group], a - b)
    assert (np.diff(means) >= -1e-12).all()
    if measurement == "interval":
        assert np.allclose(np.diff(means) * np.ptp(values), np.diff(values) * np.ptp(means))
    x, y = fit.drawn(Z, state)
    if not weighted:
        assert np.allclose(np.interp(values, x, y), means, atol=1e-4)


@pytest.mark.parametrize("measurement", MEASUREMENTS[1:])
def test_slope_of_fitted_losses(measurement):
    few = D[:10, :10]
    loss = FittedLoss.of(few, None, measurement, "primary")
    Z = np.random.default_rng(3).standard_normal((10, 2))
    slope, h = loss(Z)[1], 1e-6
    for i, c in ((0, 0), (4, 1), (9, 0)):
        up, down = Z.copy(), Z.copy()
        up[i, c] += h
        down[i, c] -= h
        assert np.isclose(
            (loss(up)[0] - loss(down)[0]) / (2 * h), slope[i, c], rtol=1e-5, atol=1e-9
        )


def test_stresses_by_name():
    for model in (fitted(D), fitted(D, measurement="spline"), fitted(D, loss="sstress")):
        d, given = pdist(model.embedding_), squareform(D)
        dhat = given if model.disparities_ is None else model.disparities_
        b = d @ dhat / (dhat @ dhat)
        off = np.sum((d - b * dhat) ** 2)
        found = model.stresses_
        assert np.isclose(found["stress-1"], np.sqrt(off / np.sum(d**2)), rtol=1e-7)
        assert np.isclose(found["stress-2"], np.sqrt(off / np.sum((d - d.mean()) ** 2)), rtol=1e-7)
        assert np.isclose(found["raw"], np.sum((d - dhat) ** 2))
        assert np.isclose(found["normalized"], np.sum((d - dhat) ** 2) / np.sum(dhat**2))
        assert np.isclose(found["sstress"], np.sum((d**2 - dhat**2) ** 2))
        per_point = squareform((d - dhat) ** 2).sum(axis=0)
        assert np.allclose(model.stress_per_point_, per_point / per_point.sum())
        assert model.stress_ == found["stress-1"]


def test_the_size_of_the_picture():
    model = fitted(D, tol=1e-12)  # ratio: as large as fits best
    d, given = pdist(model.embedding_), squareform(D)
    assert np.isclose(d @ given, d @ d, rtol=1e-6)
    # so Kruskal's stress-1, over distances, is smacof's, over dissimilarities
    assert np.isclose(
        model.stress_, np.sqrt(np.sum((d - given) ** 2) / np.sum(given**2)), rtol=1e-6
    )
    model = fitted(D, measurement="ordinal")
    assert np.isclose(np.sum(pdist(model.embedding_) ** 2), np.sum(given**2))


@pytest.mark.parametrize("measurement", MEASUREMENTS)
def test_scale_order_and_threads_do_not_matter(measurement):
    model = fitted(D, measurement=measurement, n_init=2)
    size = np.abs(model.embedding_).max()
    for power in (-600, -3, 500):
        other = fitted(np.ldexp(D, power), measurement=measurement, n_init=2)
        if measurement in ("ratio", "ordinal"):
            assert np.array_equal(np.ldexp(other.embedding_, -power), model.embedding_)
        assert np.isclose(other.stress_, model.stress_, rtol=1e-9)
    order = np.random.default_rng(0).permutation(40)
    turned = fitted(D[np.ix_(order, order)], measurement=measurement, n_init=1)
    one = fitted(D, measurement=measurement, n_init=1)
    assert np.isclose(turned.stress_, one.stress_, rtol=1e-5)
    assert procrustes(one.embedding_[order], turned.embedding_).rms < 1e-2
    assert np.array_equal(one.embedding_, fitted(D, measurement=measurement, n_init=1).embedding_)
    with limit_threads(1):
        again = fitted(D, measurement=measurement, n_init=2)
    assert np.array_equal(again.embedding_, model.embedding_)
    before = D.copy()
    assert np.array_equal(before, D) and size > 0


def test_restarts_say_what_they_found():
    model = fitted(D, measurement="ordinal", n_init=6, random_state=3)
    assert len(model.start_stresses_) == 6
    assert np.isclose(model.stress_, model.start_stresses_.min(), rtol=1e-9)
    assert 1 <= model.n_agreeing_ <= 6
    easy = fitted(FLAT, n_init=5)
    assert easy.n_agreeing_ >= 3  # a plane is found from nearly everywhere
    start = ClassicalMDS(2, metric="precomputed").fit_transform(D)
    given = fitted(D, init=start, n_init=1)
    assert np.isclose(given.stress_, fitted(D, n_init=1).stress_, rtol=1e-6)
    worse = fitted(D, init="random", n_init=1, random_state=1)
    assert worse.stress_ >= fitted(D, n_init=8).stress_ * (1 - 1e-6)
    with pytest.warns(GramianWarning, match="max_iter = 2 iterations before it converged"):
        assert fitted(D, max_iter=2, n_init=1).n_iter_ == 2


@pytest.mark.parametrize("measurement", MEASUREMENTS)
def test_missing_is_weight_zero(measurement):
    gaps = D.copy()
    W = np.ones_like(D)
    for i, j in ((0, 1), (5, 9), (30, 31), (2, 39)):
        gaps[i, j] = gaps[j, i] = np.nan
        W[i, j] = W[j, i] = 0
    options = {"measurement": measurement, "n_init": 1, "tol": 1e-10}
    options["init"] = ClassicalMDS(2, metric="precomputed").fit_transform(D)
    with pytest.warns(GramianWarning, match="4 of 780 distances are missing"):
        missing = fitted(gaps, **options)
    weighted = fitted(D, weights=W, **options)
    assert np.isclose(missing.stress_, weighted.stress_, rtol=1e-7)
    assert procrustes(missing.embedding_, weighted.embedding_).rms < 1e-4
    if measurement != "ratio":
        assert np.isnan(missing.disparities_).sum() == 4
    assert missing.n_missing_ == weighted.n_missing_ == 4


def test_missing_distances_of_a_plane_do_no_harm():
    gaps = FLAT.copy()
    hidden = np.triu(np.random.default_rng(0).random(FLAT.shape) < 0.3, 1)
    gaps[hidden | hidden.T] = np.nan
    with pytest.warns(GramianWarning, match="missing"):
        model = fitted(gaps)
    assert np.abs(pdist(model.embedding_) - squareform(FLAT)).max() < 1e-3 * FLAT.max()


def test_weights_of_points():
    w = np.ones(40)
    w[:10] = 30
    heavy = fitted(D, weights=w)
    plain = fitted(D)
    off = [np.abs(pdist(m.embedding_[:10]) - pdist(X[:10])).mean() for m in (heavy, plain)]
    assert off[0] < off[1]
    same = fitted(D, weights=np.full(40, 7.0))
    assert np.isclose(same.stress_, plain.stress_, rtol=1e-6)
    twice = fitted(D, weights=np.outer(w, w))
    assert np.allclose(twice.embedding_, heavy.embedding_)


@pytest.mark.parametrize("loss", ["stress", "sammon", "sstress", "strain"])
def test_training_points_are_placed_where_they_are(loss):
    model = MDS(2, loss=loss, tol=1e-12).fit(X)
    size = np.abs(model.embedding_).max()
    placed = model.transform(X)
    assert np.quantile(np.abs(placed - model.embedding_).max(axis=1), 0.9) < 1e-3 * size
    assert np.allclose(model.transform(X[3:4]), placed[3:4], atol=1e-9 * size)


@pytest.mark.parametrize("measurement", MEASUREMENTS)
def test_new_points(measurement):
    plane = rng.standard_normal((60, 2)) * [3, 2]
    given = squareform(pdist(plane))
    shape = (lambda d: d**2) if measurement in ("ordinal", "spline") else (lambda d: d)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GramianWarning)
        model = fitted(shape(given[:50, :50]), measurement=measurement)
    placed = model.transform(shape(given[50:, :50]))
    turn = procrustes(plane[:50], model.embedding_, scale=True)
    moved = turn.scale * (placed - model.embedding_.mean(axis=0)) @ turn.rotation
    moved += plane[:50].mean(axis=0)
    limit = {"ratio": 1e-4, "interval": 1e-3, "spline": 0.3, "ordinal": 0.3}[measurement]
    assert np.abs(moved - plane[50:]).max() < limit
    left = model.placement_residual(shape(given[50:, :50]))
    assert left.shape == (10,) and (left >= 0).all()
    strange = shape(given[50:, :50]) * np.where(np.arange(50) % 2, 3, 1)
    assert (model.placement_residual(strange) > left).all()


def test_many_points_are_placed_by_the_fitted_regression():
    plane = rng.standard_normal((230, 2)) * [3, 2]
    ranks = squareform(pdist(plane)) ** 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GramianWarning)
        model = fitted(ranks, measurement="ordinal", n_init=1)
    assert model._D is None
    placed = model.transform(ranks[:20])
    assert np.abs(placed - model.embedding_[:20]).max() < 0.02 * np.abs(model.embedding_).max()


def test_points_and_their_distances_agree():
    a, b = MDS(2, metric="cityblock").fit(X), fitted(cdist(X, X, "cityblock"))
    assert np.array_equal(a.embedding_, b.embedding_)
    new = rng.standard_normal((4, 5))
    assert np.allclose(a.transform(new), b.transform(cdist(new, X, "cityblock")))
    cross = cdist(new, X, "cityblock")
    cross[0, 3] = np.nan
    assert np.isfinite(b.transform(cross)).all()


def test_float32_is_near_float64():
    a, b = fitted(D, n_init=1), fitted(D.astype(np.float32), n_init=1)
    assert np.isclose(a.stress_, b.stress_, rtol=1e-4)
    assert procrustes(a.embedding_, b.embedding_).rms < 1e-2


def test_an_embedding_has_shepard_and_stress_per_point(tmp_path):
    model = fitted(D, measurement="ordinal")
    shown = model.to_embedding()
    assert np.isclose(shown.point_stress.sum(), 1)
    pairs = shown.shepard
    off = np.sum((pairs.distances - pairs.disparities) ** 2) / np.sum(pairs.distances**2)
    assert len(pairs.distances) == pairs.n_pairs == 780
    assert np.isclose(np.sqrt(off), model.stress_)
    assert (np.diff(pairs.disparities) >= 0).all() and (np.diff(pairs.dissimilarities) >= 0).all()
    assert "stress-1 0." in shown.summary() and "starts ended in this picture" in shown.summary()
    assert shown.measures["stress_1"] == model.stress_
    model.report(tmp_path / "r.html")
    assert fitted(D).to_embedding().shepard.disparities is None


def test_two_points_and_many_axes():
    model = fitted(np.array([[0.0, 3.0], [3.0, 0.0]]), 1)
    assert np.isclose(np.ptp(model.embedding_), 3)
    with pytest.raises(InputError, match="1 to 1"):
        fitted(np.array([[0.0, 3.0], [3.0, 0.0]]), 2)
    simplex = 1 - np.eye(5)
    line = fitted(simplex, 1)  # classical MDS has nothing but equal axes here
    assert np.isfinite(line.embedding_).all() and line.stress_ < 0.6
    assert fitted(simplex, 4).stress_ < 1e-6
    assert np.isfinite(
        fitted(np.vstack([X, X])[:, :1] @ np.ones((1, 1)), metric="euclidean").stress_
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"measurement": "nominal"}, "measurement='nominal': use one of"),
        ({"loss": "strange"}, "loss='strange': use one of"),
        ({"ties": "third"}, "ties='third'"),
        ({"init": "zero"}, "init='zero'"),
        ({"init": np.zeros((3, 2))}, "40 x 2 finite coordinates"),
        ({"n_init": 0}, "n_init=0"),
        ({"max_iter": 1.5}, "max_iter=1.5"),
        ({"tol": -1}, "tol=-1"),
        ({"loss": "sammon", "measurement": "ordinal"}, "goes with measurement='ratio'"),
        ({"loss": "strain", "weights": np.ones(40)}, "takes no weights"),
        ({"weights": np.ones(3)}, "weights must be 40 numbers"),
        ({"weights": -np.ones((40, 40))}, "symmetric, finite and at least 0"),
        ({"weights": np.arange(1600.0).reshape(40, 40)}, "symmetric"),
    ],
)
def test_bad_settings(options, said):
    with pytest.raises(InputError, match=said):
        fitted(D, **options)


def test_bad_distances():
    parts = D.copy()
    parts[:10, 10:] = parts[10:, :10] = np.nan
    with pytest.raises(InputError, match="fall into 2 parts"):
        fitted(parts)
    with pytest.raises(InputError, match="all points are equal"):
        MDS().fit(np.ones((5, 3)))
    with pytest.warns(GramianWarning, match="1 pair of points have distance 0"):
        twins = MDS(loss="sammon").fit(np.vstack([X, X[:1]]))
    assert np.allclose(twins.embedding_[0], twins.embedding_[40], atol=1e-3)
    hole = D.copy()
    hole[0, 1] = hole[1, 0] = np.nan
    with pytest.raises(InputError, match="missing"):
        fitted(hole, loss="strain")
    with pytest.raises(InputError, match="missing"):
        fitted(D, loss="strain").transform(hole[:1])
    far = D.copy()
    far[3, 8] = far[8, 3] = 100
    assert "3 and 8 by way of" in fitted(far).to_embedding().summary()
    one_sided = D.copy()
    one_sided[0, 1] = np.nan
    with pytest.raises(InputError, match="other side of the diagonal"):
        fitted(one_sided)
    with pytest.raises(InputError, match="missing"):
        fitted(D).transform(np.full((1, 40), np.nan))
    with pytest.raises(MemoryRefusedError, match=r"needs 131 MB.*budget is 50 MB"):
        MDS(memory="50MB").fit(np.random.default_rng(0).random((4000, 2)))

"""Stress by every name, Shepard's regressions and shares of points: smacof, vegan, definitions."""

import json

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn.isotonic import IsotonicRegression

import gramian.quality.stress
from gramian.errors import InputError
from gramian.quality import (
    normalized_stress,
    raw_stress,
    s_stress,
    shepard,
    stress_1,
    stress_2,
    stress_per_point,
    stresses,
)
from gramian.quality.regression import isotonic


@pytest.fixture(params=[2_000_000, 100])
def picture(request, monkeypatch):
    monkeypatch.setattr(gramian.quality.stress, "_block", request.param)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5))
    return X, X[:, :2] + 0.2 * rng.normal(size=(40, 2))


def test_every_stress_is_its_definition(picture):
    X, Z = picture
    D, d = pdist(X), pdist(Z)
    left = np.sum((d - D) ** 2)
    same = {"scaled": False}
    assert raw_stress(X, Z, **same) == pytest.approx(left, rel=1e-13)
    assert normalized_stress(X, Z, **same) == pytest.approx(left / np.sum(D**2), rel=1e-13)
    assert stress_1(X, Z, **same) == pytest.approx(np.sqrt(left / np.sum(d**2)), rel=1e-13)
    spread = np.sum((d - d.mean()) ** 2)
    assert stress_2(X, Z, **same) == pytest.approx(np.sqrt(left / spread), rel=1e-13)
    fourth = np.sum((d**2 - D**2) ** 2) / np.sum(D**4)
    assert s_stress(X, Z, **same) == pytest.approx(np.sqrt(fourth), rel=1e-13)


def test_the_factors_are_the_best_ones(picture):
    X, Z = picture
    found = stresses(X, Z)
    for name in ("raw", "stress_1", "stress_2"):
        for factor in (0.999, 1.001):
            other = stresses(factor * found.scale * X, Z, scaled=False)
            assert getattr(other, name) > getattr(found, name)
    assert stresses(found.scale * X, Z, scaled=False).raw == pytest.approx(found.raw, rel=1e-12)
    # min over b of |d - bD|^2 / |d|^2 is 1 - cos^2, and so is min over the other side
    assert found.stress_1**2 == pytest.approx(1 - 1 / (1 + found.normalized), rel=1e-12)
    assert stresses(1e3 * X, 1e-3 * Z).s_stress == pytest.approx(found.s_stress, rel=1e-12)
    squares = pdist(X) ** 2, pdist(Z) ** 2
    cosine = np.dot(*squares) / np.prod([np.linalg.norm(each) for each in squares])
    assert 1 / (1 + found.s_stress**2) == pytest.approx(cosine**2, rel=1e-12)


def test_weights_and_missing_pairs(picture):
    X, Z = picture
    D = squareform(pdist(X))
    rng = np.random.default_rng(1)
    W = squareform(rng.random(len(D) * (len(D) - 1) // 2))
    W[3, 8] = W[8, 3] = 0
    missing = np.where(W == 0, np.nan, D)
    w, given, d = squareform(W), pdist(X), pdist(Z)
    wanted = np.sqrt(np.sum(w * (d - given) ** 2) / np.sum(w * d**2))
    how = {"metric": "precomputed", "weights": W, "scaled": False}
    assert stress_1(D, Z, **how) == pytest.approx(wanted, rel=1e-13)
    assert stress_1(missing, Z, **how) == pytest.approx(wanted, rel=1e-13)
    points = rng.random(len(D))
    both = stresses(X, Z, weights=points), stresses(X, Z, weights=np.outer(points, points))
    assert both[0].raw == pytest.approx(both[1].raw, rel=1e-13)
    whole = np.where(np.arange(40) == 7, 0.0, 1.0)  # a point without weight is not there
    keep = np.arange(40) != 7
    assert stresses(X, Z, weights=whole).stress_2 == pytest.approx(stress_2(X[keep], Z[keep]))


@pytest.mark.parametrize("power", [-450, 450])
def test_units_do_not_matter(picture, power):
    X, Z = picture
    D, unit = squareform(pdist(X)), 2.0**power
    for scaled in (True, False):
        how = {"metric": "precomputed", "scaled": scaled}
        found = stresses(D, Z, **how)
        names = ("stress_1", "stress_2", "s_stress", "normalized")
        both = stresses(unit * D, unit * Z, **how)
        assert [getattr(both, each) for each in names] == [getattr(found, each) for each in names]
        assert both.scale == found.scale and both.raw == found.raw * unit * unit
        np.testing.assert_array_equal(both.per_point("stress"), found.per_point("stress"))
    assert stresses(1e200 * D, 1e200 * Z, metric="precomputed").stress_2 > 0  # raw is inf there
    other = stresses(unit * D, Z, metric="precomputed")
    assert other.stress_1 == stresses(D, Z, metric="precomputed").stress_1
    assert other.scale * unit == stresses(D, Z, metric="precomputed").scale


def test_points_add_up(picture):
    X, Z = picture
    share, own = stress_per_point(X, Z), stress_per_point(X, Z, "stress")
    assert share.sum() == pytest.approx(100)
    assert np.sum(own**2) == pytest.approx(stress_1(X, Z) ** 2, rel=1e-12)
    np.testing.assert_allclose(share, 100 * own**2 / np.sum(own**2))
    # smacof's spp: column means of the squared residuals without the diagonal, in percent
    left = (squareform(pdist(Z)) - stresses(X, Z).scale * squareform(pdist(X))) ** 2
    np.fill_diagonal(left, np.nan)
    spp = np.nanmean(left, axis=0)
    np.testing.assert_allclose(share, 100 * spp / spp.sum(), rtol=1e-12)
    with pytest.raises(InputError, match="percent"):
        stress_per_point(X, Z, "share")


def matrix(shared_data, name):
    file = "bray_curtis.csv" if name in ("dune", "varespec") else "dissimilarity.csv"
    cells = np.genfromtxt(shared_data / name / file, delimiter=",", skip_header=1, dtype=str)
    return np.char.strip(cells[:, 1:], '"').astype(float)


@pytest.mark.parametrize("name", ["ekman", "kinship", "wish", "morse", "dune", "varespec"])
def test_stress_of_the_configurations_of_smacof_and_vegan(shared_data, name):
    # Each configuration that R left, with the stress R gives for it: every measurement and tie rule
    D, seen = matrix(shared_data, name), 0
    for run in json.loads((shared_data / name / "reference_R.json").read_text()).values():
        Z = isinstance(run, dict) and (run.get("conf") or run.get("points"))
        if not Z or "stress1" not in run:
            continue
        found = shepard(D, Z, run.get("type", "ordinal"), ties=run.get("ties", "primary"))
        assert found.stress_1 == pytest.approx(run["stress1"], rel=1e-12)
        again = squareform(found.disparities)
        how = {"metric": "precomputed", "scaled": False}
        assert stress_1(again, Z, **how) == pytest.approx(run["stress1"], rel=1e-12)
        for kind in ("percent", "stress"):
            np.testing.assert_allclose(
                found.stress_per_point(kind), stress_per_point(again, Z, kind, **how), rtol=1e-9
            )
        seen += 1
    assert seen == (4 if name not in ("dune", "varespec") else 2)


def test_fits_of_vegans_stressplot(shared_data):
    # stressplot(metaMDS(dune)): "Non-metric fit, R2 = 0.986; Linear fit, R2 = 0.927"
    reference = json.loads((shared_data / "dune" / "reference_R.json").read_text())
    found = shepard(matrix(shared_data, "dune"), reference["metaMDS_best"]["points"])
    assert (round(found.nonmetric_fit, 3), round(found.linear_fit, 3)) == (0.986, 0.927)
    assert "stress-1 0.1183, nonmetric fit 0.986, linear fit 0.927" in str(found)


def test_lines_are_least_squares(picture):
    X, Z = picture
    D, d = pdist(X), pdist(Z)
    square = squareform(D)
    slope, intercept = np.polyfit(D, d, 1)
    np.testing.assert_allclose(shepard(square, Z, "interval").disparities, intercept + slope * D)
    ratio = shepard(square, Z, "ratio")
    np.testing.assert_allclose(ratio.disparities, (D @ d) / (D @ D) * D)
    assert ratio.stress_1 == pytest.approx(stress_1(X, Z), rel=1e-12)
    assert ratio.stress_2 == pytest.approx(stress_2(X, Z), rel=1e-12)
    assert shepard(square, Z, "interval").linear_fit == pytest.approx(np.corrcoef(D, d)[0, 1] ** 2)


def test_steps_are_scikit_learns_and_weights_act_like_copies():
    rng = np.random.default_rng(0)
    D = rng.integers(0, 8, 300).astype(float)
    d = D + rng.normal(size=300)
    wanted = IsotonicRegression().fit(D, d).predict(D)  # scikit-learn averages ties: secondary
    np.testing.assert_allclose(isotonic(D, d, "secondary"), wanted, rtol=1e-12)
    third = isotonic(D, d, "tertiary")
    for value in np.unique(D):
        at = value == D
        assert third[at].mean() == pytest.approx(wanted[at][0])
        np.testing.assert_allclose(third[at] - third[at].mean(), d[at] - d[at].mean(), atol=1e-12)
    assert np.sum((isotonic(D, d) - d) ** 2) < np.sum((wanted - d) ** 2)
    w = rng.integers(0, 3, 300).astype(float)
    for ties in ("primary", "secondary"):
        copies = np.repeat(np.arange(300), w.astype(int))
        alone = isotonic(D[copies], d[copies], ties)
        np.testing.assert_allclose(isotonic(D, d, ties, w)[copies], alone, rtol=1e-12)


def test_shepard_of_missing_pairs_samples_and_given_disparities(picture):
    X, Z = picture
    D = squareform(pdist(X))
    D[2, 5] = D[5, 2] = np.nan
    found = shepard(D, Z)
    assert len(found.pairs) == 779 and found.n_pairs == 780
    assert not (found.pairs == [2, 5]).all(axis=1).any()
    few = shepard(D, Z, most=100)
    assert len(few.pairs) <= 100 and few.n_pairs == 780
    given = shepard(D, Z, disparities=np.nan_to_num(D))
    np.testing.assert_array_equal(given.disparities, given.dissimilarities)
    flat = shepard(np.ones((40, 40)), Z, "interval")
    assert flat.linear_fit == 0 and flat.stress_2 == pytest.approx(1)


@pytest.mark.parametrize(
    ("D", "Z", "how", "words"),
    [
        (np.ones((4, 3)), np.eye(4), {}, "square"),
        (np.ones((2, 2)), np.eye(2), {}, "at least 3 points"),
        (np.ones((4, 4)), np.eye(3), {}, "4 rows of finite"),
        (np.ones((4, 4)), np.full((4, 2), np.nan), {}, "finite"),
        (np.ones((4, 4)), np.zeros((4, 2)), {}, "equal"),
        (-np.ones((4, 4)), np.eye(4), {}, "points 0 and 1 is -1"),
        (np.full((4, 4), np.nan), np.eye(4), {}, "fewer than 2 pairs"),
        (np.ones((4, 4)), np.eye(4), {"measurement": "nominal"}, "ratio"),
        (np.ones((4, 4)), np.eye(4), {"ties": "none"}, "primary"),
        (np.ones((4, 4)), np.eye(4), {"weights": np.ones(4)}, "4 x 4"),
        (np.ones((4, 4)), np.eye(4), {"weights": np.zeros((4, 4))}, "not all 0"),
    ],
)
def test_bad_input_of_shepard(D, Z, how, words):
    with pytest.raises(InputError, match=words):
        shepard(D, Z, **how)


@pytest.mark.parametrize(
    ("X", "Z", "how", "words"),
    [
        (np.full((4, 4), np.nan), np.eye(4), {"metric": "precomputed"}, "no pair"),
        (np.full((4, 4), np.inf), np.eye(4), {"metric": "precomputed"}, "finite"),
        (np.eye(4), np.eye(4), {"weights": np.ones(3)}, "4 x 4"),
        (np.eye(4), np.eye(4), {"weights": -np.ones(4)}, "at least 0"),
        (np.eye(4), np.eye(4).astype(str), {}, "finite coordinates"),
        (np.array([[0, np.nan]]), np.eye(1), {}, r"\(0, 1\) is nan"),
    ],
)
def test_bad_input_of_stress(X, Z, how, words):
    with pytest.raises(InputError, match=words):
        stresses(X, Z, **how)

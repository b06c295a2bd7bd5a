"""PROTEST and envfit: vegan's numbers, other ways to the same, and p-values of noise."""

import itertools

import numpy as np
import polars as pl
import pytest

from gramian import ClassicalMDS
from gramian.data.tables import read_table
from gramian.errors import InputError
from gramian.inference import envfit, protest
from gramian.inference.permutations import orders, p_value, strata_of
from gramian.progress import listening
from gramian.quality.procrustes import procrustes


@pytest.fixture(scope="module")
def lichens(shared_data):
    """cmdscale of Bray-Curtis of varespec, and of its Wisconsin double standardized roots."""
    folder = shared_data / "varespec"
    X = np.asarray(read_table(folder / "varespec.csv", text="keep").numbers, float)
    roots = np.sqrt(X)
    roots = roots / roots.max(axis=0)
    roots = roots / roots.sum(axis=1, keepdims=True)
    maps = [ClassicalMDS(2, metric="braycurtis").fit(each).embedding_ for each in (X, roots)]
    return *maps, folder / "varechem.csv"


def test_protest_of_vegan(lichens):
    # vegan 2.6-4: procrustes(a, b), protest(a, b)
    a, b, _ = lichens
    found = protest(a, b)
    assert found.correlation == pytest.approx(0.824891173, abs=5e-10)
    assert found.sum_of_squares == pytest.approx(0.319554553, abs=5e-10)
    assert found.fit.scale == pytest.approx(1.40941868, abs=5e-9)
    assert found.fit.sum_of_squares == pytest.approx(0.923085119, abs=5e-10)
    assert found.p_value == 0.001 and found.permuted.max() < found.correlation
    np.testing.assert_allclose(found.fit.place(b), found.fit.fitted, atol=1e-15)
    left = np.linalg.norm(a - found.fit.fitted, axis=1)
    np.testing.assert_allclose(found.fit.residuals, left, rtol=1e-12)
    assert "agree more than chance" in str(found) and "p = 0.001" in str(found)
    assert protest(b, a).correlation == pytest.approx(found.correlation, rel=1e-12)


def test_permuted_correlations_are_those_of_procrustes():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(2, 15, 3))
    found = protest(X, Y, n_permutations=7, random_state=5)
    (order,) = orders(15, 7, 5, width=3)
    wanted = [procrustes(X, Y[each]).correlation for each in order]
    np.testing.assert_allclose(found.permuted, wanted, rtol=1e-12)
    np.testing.assert_allclose(found.quantiles([0, 1]), [min(wanted), max(wanted)])


@pytest.mark.parametrize("test", ["protest", "vector", "factor"])
def test_p_values_of_noise_are_uniform(test):
    # At level 0.2 a true test rejects 0.2 of 400 data sets, give or take 0.02.
    found = []
    for seed in range(400):
        rng = np.random.default_rng(seed)
        Z, Y = rng.normal(size=(2, 12, 2))
        if test == "protest":
            found.append(protest(Z, Y, n_permutations=49, random_state=seed).p_value)
            continue
        column = Y[:, 0] if test == "vector" else np.repeat(["a", "b", "c"], 4)
        fit = envfit(Z, {"x": column}, n_permutations=49, random_state=seed)
        found.append(fit["x"].p_value)
    assert abs(np.mean(np.array(found) <= 0.2) - 0.2) < 0.06
    assert abs(np.mean(found) - 0.51) < 0.05
    assert min(found) >= 0.02


def test_orders_are_all_orders_equally_often_and_stay_in_strata():
    drawn = np.concatenate(list(orders(4, 24_000, 0, width=100_000)))
    assert drawn.shape == (24_000, 4)
    counts = [np.all(drawn == each, axis=1).sum() for each in itertools.permutations(range(4))]
    assert abs(np.array(counts) - 1000).max() < 5 * np.sqrt(1000)
    strata = strata_of(["b", "a", "b", "a", "c"], 5)
    for order in np.concatenate(list(orders(5, 100, 1, strata=strata))):
        assert sorted(order) == [0, 1, 2, 3, 4]
        np.testing.assert_array_equal(strata[order], strata)
    assert p_value(np.array([1.0, 2.0, 3.0]), 3.0) == 0.5
    heard = []
    with listening(lambda *what: heard.append(what)):
        protest(np.eye(5), np.eye(5)[::-1], n_permutations=9)
    assert heard[-1] == ("permutations", 9, 9)


def test_vectors_of_vegan(lichens):
    # vegan 2.6-4: envfit(cmdscale(vegdist(varespec)), varechem)$vectors$r
    a, _, table = lichens
    fit = envfit(a, table, n_permutations=199)
    wanted = {"Al": 0.5200430196, "Fe": 0.4622496020, "Humdepth": 0.4487301643}
    wanted |= {"Mn": 0.4411897105, "N": 0.2255787317}
    for name, r2 in wanted.items():
        assert fit[name].r_squared == pytest.approx(r2, abs=5e-11)
        assert np.linalg.norm(fit[name].direction) == pytest.approx(1)
    assert fit["Al"].p_value == 0.005 and fit["Mo"].p_value > 0.3
    assert len(fit.vectors) == 14 and not fit.factors and not fit.left_out
    assert "Al " in str(fit) and "24 points, 199 permutations" in str(fit)


def regression(Z, x, w):
    """r^2 and direction by weighted least squares with an intercept."""
    A = np.column_stack([np.ones(len(Z)), Z]) * np.sqrt(w)[:, None]
    b, *_ = np.linalg.lstsq(A, x * np.sqrt(w), rcond=None)
    left = np.sum(w * (x - np.column_stack([np.ones(len(Z)), Z]) @ b) ** 2)
    whole = np.sum(w * (x - np.average(x, weights=w)) ** 2)
    return 1 - left / whole, b[1:] / np.linalg.norm(b[1:])


@pytest.mark.parametrize("weighted", [False, True])
def test_vectors_and_factors_are_regressions(weighted):
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(30, 3)) + 5
    x = Z @ [1, -2, 0.5] + rng.normal(size=30)
    group = rng.choice(["low", "mid", "high"], 30)
    w = rng.random(30) if weighted else np.ones(30)
    how = {"weights": w} if weighted else {}
    fit = envfit(Z, {"x": 1e6 + x, "g": group}, n_permutations=19, random_state=3, **how)
    r2, direction = regression(Z, x, w)
    assert fit["x"].r_squared == pytest.approx(r2, rel=1e-7)
    np.testing.assert_allclose(fit["x"].direction, direction, rtol=1e-6)
    np.testing.assert_allclose(fit["x"].arrow, np.sqrt(r2) * direction, rtol=1e-6)
    # a factor: between and within squares of the axes, as an analysis of variance has them
    middle = np.average(Z, axis=0, weights=w)
    fitted = np.array([np.average(Z[group == g], axis=0, weights=w[group == g]) for g in group])
    within, whole = (np.sum(w * np.sum((Z - c) ** 2, axis=1)) for c in (fitted, middle))
    assert fit["g"].r_squared == pytest.approx(1 - within / whole, rel=1e-12)
    assert fit["g"].levels == ("high", "low", "mid")
    np.testing.assert_allclose(fit["g"].centroids[0], fitted[group == "high"][0], rtol=1e-12)
    # permutations: rows of Z with their weights against rows of the table
    (order,) = orders(30, 19, 3, width=7)
    permuted = [regression(Z[each], x, w[each])[0] for each in order]
    assert fit["x"].p_value == (1 + np.sum(np.array(permuted) >= r2)) / 20


def test_tables_in_any_form_give_the_same(shared_data):
    folder = shared_data / "dune"
    X = np.asarray(read_table(folder / "dune.csv", text="keep").numbers, float)
    Z = ClassicalMDS(2, metric="braycurtis").fit(X).embedding_
    frame = pl.read_csv(folder / "dune_env.csv").drop("")
    fits = [
        envfit(Z, table, factors=["Moisture", "Manure"], n_permutations=99)
        for table in (folder / "dune_env.csv", frame, frame.to_pandas(), frame.to_dict())
    ]
    for fit in fits:
        assert {each.name for each in fit.factors} == {"Moisture", "Manure", "Management", "Use"}
        for name in ("A1", "Moisture", "Management"):
            assert fit[name].r_squared == pytest.approx(fits[0][name].r_squared, rel=1e-12)
            assert fit[name].p_value == fits[0][name].p_value
        assert fit["Moisture"].levels == ("1", "2", "4", "5")
    assert envfit(Z, X[:, :2], n_permutations=0).vectors[1].name == "variable 2"
    assert np.isnan(envfit(Z, X[:, 0], n_permutations=0).vectors[0].p_value)
    with pytest.raises(KeyError):
        fits[0]["A2"]


def test_missing_rows_are_left_out_and_said():
    rng = np.random.default_rng(0)
    Z, x = rng.normal(size=(10, 2)), rng.normal(size=10)
    x[3] = np.nan
    group = ["a", "b"] * 4 + ["a", ""]
    table, keep = {"x": x, "g": group}, [0, 1, 2, 4, 5, 6, 7, 8]
    fit = envfit(Z, table, missing="drop", strata=["s"] * 10, n_permutations=9)
    assert fit.left_out == (3, 9) and fit.n == 8 and "missing value: 2" in str(fit)
    alone = envfit(Z[keep], {"x": x[keep], "g": [group[i] for i in keep]}, n_permutations=9)
    assert fit["x"].r_squared == pytest.approx(alone["x"].r_squared)
    assert fit["g"].r_squared == pytest.approx(alone["g"].r_squared)
    with pytest.raises(InputError, match="x has no value in row 3"):
        envfit(Z, table)


def test_strata_keep_what_they_explain_out_of_the_test():
    # Points differ between two strata only; within them there is nothing to find.
    rng = np.random.default_rng(0)
    strata = np.repeat([0, 1], 20)
    Z = rng.normal(size=(40, 2)) + 10 * strata[:, None]
    x = strata + 0.1 * rng.normal(size=40)
    assert envfit(Z, {"x": x})["x"].p_value == 0.001
    assert envfit(Z, {"x": x}, strata=strata)["x"].p_value > 0.05
    assert protest(Z, Z + rng.normal(size=Z.shape) * 5).p_value == 0.001
    other = rng.normal(size=(40, 2)) + 10 * strata[:, None]
    assert protest(Z, other).p_value == 0.001
    assert protest(Z, other, strata=strata).p_value > 0.05


GOOD = np.random.default_rng(0).normal(size=(6, 2))
LINE = np.arange(6.0)


@pytest.mark.parametrize(
    ("Z", "table", "how", "words"),
    [
        (GOOD, {"x": np.ones(6)}, {}, "x is constant"),
        (GOOD, {"g": ["a"] * 6}, {}, "one level"),
        (GOOD, {"x": LINE}, {"factors": ["y"]}, "factors names y, and the table has x"),
        (GOOD, {"x": LINE[:5]}, {}, "x has 5 values for 6 points"),
        (GOOD, {"x": 3.0}, {}, "x has 1 values for 6 points"),
        (GOOD, {}, {}, "no columns"),
        (GOOD, np.ones((6, 2, 2)), {}, "rows and columns"),
        (GOOD, {"x": np.where(LINE == 2, np.inf, LINE)}, {}, "inf"),
        (np.ones((6, 2)), {"x": LINE}, {}, "equal"),
        (GOOD * np.nan, {"x": LINE}, {}, "finite"),
        (GOOD[:2], {"x": [1.0, 2.0]}, {}, "at least 3 points"),
        (GOOD, {"x": LINE}, {"weights": np.ones(5)}, "6 finite numbers"),
        (GOOD, {"x": LINE}, {"weights": -np.ones(6)}, "at least 0"),
        (GOOD, {"x": LINE}, {"strata": [1, 2]}, "one name for each of 6"),
        (GOOD, {"x": LINE}, {"n_permutations": -1}, "n_permutations=-1"),
        (GOOD, {"x": LINE}, {"random_state": "a"}, "random_state"),
    ],
)
def test_bad_input_of_envfit(Z, table, how, words):
    with pytest.raises(InputError, match=words):
        envfit(Z, table, **how)


@pytest.mark.parametrize(
    ("X", "Y", "words"),
    [
        (GOOD, GOOD[:5], "same points"),
        (GOOD, GOOD[:, :1], "same points"),
        (GOOD[:2], GOOD[:2], "at least 3 points"),
        (GOOD, np.ones((6, 2)), "equal"),
        (GOOD, GOOD * np.nan, "NaN"),
    ],
)
def test_bad_input_of_protest(X, Y, words):
    with pytest.raises(InputError, match=words):
        protest(X, Y)


def test_a_flat_axis_does_no_harm():
    Z = np.column_stack([LINE, np.zeros(6)])
    assert envfit(Z, {"x": LINE})["x"].r_squared == pytest.approx(1)
    np.testing.assert_allclose(envfit(Z, {"x": LINE})["x"].direction, [1, 0], atol=1e-12)

"""Numbers of components that lectures, R and EIGENSOFT report, with their origin."""

import json

import numpy as np
import pytest
from scipy.stats import random_correlation

from gramian import PCA, parallel_analysis
from gramian.data.examples import iris_path
from gramian.data.tables import read_table
from gramian.inference import (
    broken_stick,
    broken_stick_values,
    how_many,
    kaiser,
    tracy_widom,
    tracy_widom_survival,
)


def reference(shared_data, *path):
    return json.loads(shared_data.joinpath(*path).read_text())


@pytest.fixture(scope="module")
def threes(shared_data):
    path = shared_data / "usps_digit3" / "zip_train_digit3.csv"
    try:
        X = read_table(path).numbers
    except ValueError:
        X = read_table(path, header=False).numbers
    return X[:, -256:]


def test_handwritten_threes(shared_data, threes):
    # lecture 0: "top 19 are suggested by parallel analysis"; R: 19 with two seeds, R = 100
    wanted = reference(shared_data, "usps_digit3", "reference_R.json")["parallel_permutation"]
    found = parallel_analysis(threes, n_permutations=100)
    m = len(found.p_values)
    assert threes.shape == (658, 256) and found.n_components == 19
    assert np.array_equal(found.p_values[:24], np.arange(24) >= 19)
    assert np.array_equal(found.p_values, wanted["pvals_first60"][:m])
    assert np.allclose(found.eigenvalues[:60], wanted["eig"][:60], rtol=1e-10)
    # means of 100 draws on both sides
    errors = found.null_eigenvalues.std(axis=0) * np.sqrt(2 / 100)
    assert np.all(np.abs(found.null_mean - wanted["mean_null_first60"][:m]) < 4.5 * errors)
    assert parallel_analysis(threes, n_permutations=100, random_state=1).n_components == 19
    assert PCA("horn").fit(threes).n_components_ == 19


def test_places_rated(shared_data):
    # R, 500 permutations of the correlation matrix of log10 ratings: p = 0, .098 to .112, .46
    X = np.log10(
        read_table(shared_data / "places_rated" / "places.csv", text="keep").numbers[:, :9]
    )
    found = parallel_analysis(X, scale="unit", n_permutations=999)
    wanted = reference(shared_data, "places_rated", "reference_R_parallel.json")["perm"]
    assert found.n_components == 1
    assert np.allclose(found.eigenvalues, wanted["eig"], rtol=1e-10)
    p = np.array(wanted["pvals_first60"][:8])
    error = np.sqrt(p * (1 - p) * (1 / 500 + 1 / 999))
    assert np.all(np.abs(found.p_values - p) <= 4 * error + 1e-3)
    assert np.allclose(found.null_mean, wanted["mean_null_first60"][:8], atol=0.01)
    assert np.allclose(found.null_quantile, wanted["q95_null_first60"][:8], atol=0.02)


def test_iris_and_arrests(shared_data):
    with iris_path() as path:
        iris = read_table(path, text="keep").numbers
    assert parallel_analysis(iris, scale="unit").n_components == 1
    arrests = read_table(shared_data / "USArrests" / "USArrests.csv", text="keep").numbers
    found = parallel_analysis(arrests, scale="unit", n_permutations=999)
    assert found.n_components == 1 and found.p_values[0] == 0
    assert abs(found.p_values[1] - 0.94) < 0.04  # R, 500 permutations


def test_personality_items(shared_data):
    # 5 on complete cases by psych (two nulls) and nFactors; psych's 6 is from pairwise correlations
    # of all 2,800 people, which are those of no data set: permutations of it do not exist
    X = read_table(shared_data / "bfi" / "bfi_25items_complete.csv", text="keep").numbers
    wanted = reference(shared_data, "bfi", "reference_R.json")
    for null, name in (("permutation", "psych_fa_parallel_resample"), ("normal", "")):
        found = parallel_analysis(X, scale="unit", null=null, n_permutations=199)
        assert found.n_components == 5
        if name:
            m = len(found.null_mean)
            assert np.allclose(found.null_mean, wanted[name]["pc_resample"][:m], atol=0.004)
        else:
            m = len(found.null_mean)
            assert np.allclose(
                found.null_mean, wanted["psych_fa_parallel_normal"]["null"][:m], atol=0.004
            )


def test_harman_psychological_tests():
    # R's Harman74.cor, 145 children, 24 tests: psych finds 3. Its matrix is known here by its
    # eigenvalues; the normal null depends on nothing else
    first = np.array([8.13544, 2.09604, 1.69260, 1.50183, 1.02520])
    values = np.r_[first, np.full(19, (24 - first.sum()) / 19)]
    C = random_correlation.rvs(values, random_state=0)
    Z = np.random.default_rng(0).standard_normal((145, 24))
    Q = np.linalg.qr(Z - Z.mean(axis=0))[0] * np.sqrt(144)
    X = Q @ np.linalg.cholesky(C).T
    found = parallel_analysis(X, scale="unit", null="normal", n_permutations=499)
    assert np.allclose(found.eigenvalues[:5], first, atol=1e-8)
    assert found.n_components == 3


def test_eigensoft_example(shared_data):
    # EIG POPGEN/twexample.eval and the output of twstats
    values = np.loadtxt(shared_data / "twexample" / "twexample.eval")
    found = tracy_widom(values)
    assert len(values) == 149 and found.n_components == 2
    assert np.allclose(found.effective_n[:3], [1964.537, 7102.731, 9093.674], atol=5e-4)
    assert np.allclose(found.statistics[:5], [167.581, 89.212, -0.824, -1.067, -3.137], atol=5.1e-4)
    assert np.allclose(found.p_values[2:5], [0.364049, 0.436801, 0.945740], atol=5e-7)
    assert found.p_values[0] == 0
    # twstats prints 4.97e-246 for the second: beyond its table it takes the density of the law for
    # its tail, too large by sqrt(x). Ours is the tail
    assert np.isclose(found.p_values[1] * np.sqrt(89.212), 4.97e-246, rtol=2e-3)


def test_tracy_widom_law():
    # upper tail to the printed digits; mean and variance after Bornemann (2010), table 4
    for x, p in ((0.9, 0.055779577), (1.0, 0.048578763), (2.0, 0.010402429)):
        assert abs(tracy_widom_survival(x) - p) < 5e-10
    nodes, weights = np.polynomial.legendre.leggauss(120)
    x, w = 12 * nodes, 12 * weights
    tail = np.array([tracy_widom_survival(each) for each in x])
    # E X = int (P(X > x) - [x < 0]) dx, E X^2 = 2 int x (P(X > x) - [x < 0]) dx
    half = np.polynomial.legendre.leggauss(80)
    low = [-12 * (1 - (t + 1) / 2) for t in half[0]]
    below = np.array([1 - tracy_widom_survival(each) for each in low])
    high = [12 * (t + 1) / 2 for t in half[0]]
    above = np.array([tracy_widom_survival(each) for each in high])
    mean = 6 * (half[1] @ above - half[1] @ below)
    second = 12 * (half[1] @ (above * high) - half[1] @ (below * np.array(low)))
    assert abs(mean + 1.2065335745820) < 1e-9
    assert abs(second - mean**2 - 1.607781034581) < 1e-8
    assert np.all(np.diff(tail[np.argsort(x)]) <= 1e-14) and w.sum() > 0


def test_broken_stick_of_soils(shared_data):
    # vegan's bstick on varechem, scaled
    X = read_table(shared_data / "varespec" / "varechem.csv", text="keep").numbers
    values = PCA(scale="unit").fit(X).explained_variance_
    assert np.allclose(values[:4], [5.19155128, 3.19284315, 1.68550672, 1.06899485], atol=5e-9)
    assert np.allclose(
        broken_stick_values(values)[:4], [3.2515623, 2.2515623, 1.7515623, 1.4182290], atol=5e-8
    )
    assert broken_stick(values) == 2 and kaiser(values) == 4


def test_all_rules_on_the_threes(shared_data, threes):
    found = how_many(threes, n_permutations=99)
    answers = {rule.name: rule.n_components for rule in found.rules}
    assert found.n_components == answers["parallel analysis"] == 19
    shares = reference(shared_data, "usps_digit3", "reference_R.json")["prcomp"]
    wanted = np.argmax(np.cumsum(shares["variances"]) > 0.9 * shares["total"]) + 1
    assert answers["90% of the variance"] == wanted
    assert answers["deflated parallel analysis"] > 19
    assert "Keep 19 components" in found.recommendation

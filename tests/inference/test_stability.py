"""Refits: permuted, shortened and resampled data, with methods of gramian and of scikit-learn."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn.manifold import MDS

from gramian import ClassicalMDS
from gramian.errors import InputError
from gramian.inference import (
    bootstrap_configuration,
    jackknife_stability,
    stress_by_dimension,
    stress_permutation_test,
)
from gramian.progress import listening
from gramian.quality import stress_1
from gramian.quality.procrustes import procrustes


def smacof(k=2, **settings):
    """The metric MDS of scikit-learn, once from its own start."""
    own = {"init": "random", "n_init": 1, "random_state": 0, "normalized_stress": True}
    return MDS(k, **own | settings)


@pytest.fixture
def cloud():
    rng = np.random.default_rng(0)
    return rng.normal(size=(14, 2)) * [3, 2] @ rng.normal(size=(2, 8)) + rng.normal(size=(14, 8))


def test_structure_is_told_from_noise(cloud):
    found = stress_permutation_test(ClassicalMDS(2), cloud, n_permutations=39)
    assert found.p_value == 1 / 40 and found.stress < found.permuted.min()
    assert found.stress == pytest.approx(stress_1(cloud, ClassicalMDS(2).fit(cloud).embedding_))
    assert "there is structure" in str(found)
    pairs = stress_permutation_test(
        smacof(metric="precomputed"),
        squareform(pdist(cloud)),
        n_permutations=19,
    )
    assert pairs.p_value == 1 / 20
    noise = np.random.default_rng(1).normal(size=(14, 8))
    chance = stress_permutation_test(ClassicalMDS(2), noise, n_permutations=39)
    assert chance.p_value > 0.05 and "chance does as well" in str(chance)
    np.testing.assert_allclose(chance.quantiles([0.5]), np.median(chance.permuted))


def test_permutations_keep_the_values_and_the_form(cloud):
    from gramian.inference.refit import Refit

    rng = np.random.default_rng(0)
    columns = Refit.of(ClassicalMDS(2), cloud).shuffled(rng)
    np.testing.assert_array_equal(np.sort(columns, axis=0), np.sort(cloud, axis=0))
    assert not np.array_equal(columns, cloud)
    D = squareform(pdist(cloud))
    D[0, 1] = D[1, 0] = np.nan
    dealt = Refit.of(ClassicalMDS(2, metric="precomputed"), D).shuffled(rng)
    np.testing.assert_array_equal(dealt, dealt.T)
    below = np.tril_indices(14, -1)
    np.testing.assert_array_equal(np.sort(dealt[below]), np.sort(D[below]))
    assert not dealt.diagonal().any()


def test_scree_falls_to_nothing(cloud):
    found = stress_by_dimension(ClassicalMDS(), cloud, range(1, 9))
    assert (np.diff(found.stress) < 0).all() and found.stress[-1] < 1e-7
    own = ClassicalMDS(3).fit(cloud)
    assert found.stress[2] == pytest.approx(stress_1(cloud, own.embedding_), rel=1e-9)
    peer = stress_by_dimension(smacof(), cloud, [1, 2])
    assert peer.stress[1] == smacof(2).fit(cloud).stress_
    assert "axes" in str(found)


def test_exact_points_are_stable():
    X = np.random.default_rng(0).normal(size=(9, 2))
    found = jackknife_stability(ClassicalMDS(2), X)
    assert found.stability == pytest.approx(1, abs=1e-12)
    assert found.cross_validity == pytest.approx(1, abs=1e-12)
    assert found.dispersion == pytest.approx(0, abs=1e-12)
    again = bootstrap_configuration(ClassicalMDS(2), np.hstack([X, X, X]), n_resamples=5)
    assert again.refits.shape == (5, 9, 2)


def test_jackknife_is_de_leeuws_and_meulmans(cloud):
    # With rotations K_i of centered X_i (row i zero) their mean is
    # (n - 1) / (n (n - 2)) sum X_i K_i, and every K_i is the best for it.
    n = len(cloud)
    found = jackknife_stability(ClassicalMDS(2), cloud, tol=1e-15)
    total = np.zeros((n, 2))
    for i, refit in enumerate(found.refits):
        rows = np.arange(n) != i
        own = ClassicalMDS(2).fit(cloud[rows]).embedding_
        laid = procrustes(found.mean[rows], own)
        np.testing.assert_allclose(refit[rows], laid.fitted, atol=1e-6)
        np.testing.assert_allclose(refit[i], found.mean[i], atol=1e-12)
        total[rows] += own @ laid.rotation
    expected = (n - 1) / (n * (n - 2)) * total
    np.testing.assert_allclose(expected, found.mean - found.mean.mean(axis=0), atol=1e-6)
    size = np.sum(found.refits**2)
    left = np.sum((found.refits - found.mean) ** 2)
    assert found.stability == pytest.approx(1 - left / size)
    apart = n * np.sum((found.coordinates - found.mean) ** 2)
    assert found.cross_validity == pytest.approx(1 - apart / size)
    assert 0.9 < found.stability < 1 and found.dispersion > 0
    assert "jackknife of 14 points, 14 fits" in str(found)


def test_stretching_forgives_sizes_and_shrinks_nothing(cloud):
    class Shouting(ClassicalMDS):
        """Maps of a size that means nothing."""

        def fit(self, X, y=None):
            super().fit(X)
            self.embedding_ = self.embedding_ * (1 + 10 * abs(X[0, 0]) % 1)
            return self

    plain = jackknife_stability(ClassicalMDS(2), cloud)
    found = jackknife_stability(Shouting(2), np.float64(cloud), scale=True)
    assert found.stability > 0.99 * plain.stability
    assert found.cross_validity > 0.99
    assert np.linalg.norm(found.mean) == pytest.approx(np.linalg.norm(found.coordinates), rel=0.01)


def test_an_outlier_with_pull_is_unstable(cloud):
    pulled = cloud.copy()
    pulled[0, 7] += 40
    steady = jackknife_stability(ClassicalMDS(2), cloud)
    assert jackknife_stability(ClassicalMDS(2), pulled).dispersion > steady.dispersion
    D = squareform(pdist(cloud))
    same = jackknife_stability(ClassicalMDS(2, metric="precomputed"), D)
    assert same.stability == pytest.approx(steady.stability, rel=1e-9)


def test_bootstrap_of_columns_covers_what_it_should():
    # Points measured by 60 variables: ellipses from one table beside the spread of 60 tables.
    truth = np.random.default_rng(0).normal(size=(10, 2)) * [3, 1.5]
    tables = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        loadings = rng.normal(size=(2, 60))
        tables.append((truth @ loadings + rng.normal(size=(10, 60))) / np.sqrt(60))
    home = ClassicalMDS(2).fit(tables[0]).embedding_
    maps = np.array([procrustes(home, ClassicalMDS(2).fit(X).embedding_).fitted for X in tables])
    wanted = np.mean([np.trace(np.cov(maps[:, i].T)) for i in range(10)])
    found = bootstrap_configuration(ClassicalMDS(2), tables[0], n_resamples=60)
    spread = np.mean([np.trace(each) for each in found.covariances])
    assert 0.5 < spread / wanted < 2
    drawn = found.ellipses()
    assert drawn.shape == (10, 5) and (drawn[:, 2] >= drawn[:, 3]).all()
    wider = found.ellipses(level=0.99)
    np.testing.assert_allclose(wider[:, 2] / drawn[:, 2], np.sqrt(np.log(0.01) / np.log(0.05)))
    assert found.stability > 0.9


def test_bootstrap_of_rows_by_a_dissimilarity(cloud):
    def unlike(rows):
        return 1 - np.corrcoef(rows.T)

    many = np.vstack([cloud] * 6) + 0.1 * np.random.default_rng(0).normal(size=(84, 8))
    how = {"n_resamples": 9, "dissimilarity": unlike}
    method = smacof(metric="precomputed")
    found = bootstrap_configuration(method, many, **how)
    assert found.coordinates.shape == (8, 2) and found.kind == "bootstrap"
    again = bootstrap_configuration(method, many, **how, random_state=0)
    np.testing.assert_array_equal(found.refits, again.refits)
    other = bootstrap_configuration(method, many, **how, random_state=1)
    assert not np.array_equal(found.refits, other.refits)


def test_refits_tell_how_far_they_are(cloud):
    heard = []
    with listening(lambda *what: heard.append(what)):
        jackknife_stability(ClassicalMDS(2), cloud)
        bootstrap_configuration(ClassicalMDS(2), cloud, n_resamples=3)
        stress_by_dimension(ClassicalMDS(), cloud, [1, 2])
        stress_permutation_test(ClassicalMDS(2), cloud, n_permutations=2)
    for last in (("jackknife", 14, 14), ("bootstrap", 3, 3), ("axes", 2, 2)):
        assert last in heard
    assert heard[-1] == ("permutations", 2, 2)


class Silent:
    def get_params(self, deep=True):
        return {}

    def fit(self, X):
        return self


@pytest.mark.parametrize(
    ("method", "X", "words"),
    [
        (ClassicalMDS, np.eye(5), "unfitted estimator"),
        (object(), np.eye(5), "unfitted estimator"),
        (ClassicalMDS(2), np.ones(5), "X has rows"),
        (ClassicalMDS(2, metric="precomputed"), np.ones((5, 4)), "square"),
        (ClassicalMDS(2), np.eye(2), "at least"),
        (ClassicalMDS(2), np.full((5, 2), np.nan), "NaN or inf"),
    ],
)
@pytest.mark.parametrize(
    "function", [stress_permutation_test, stress_by_dimension, jackknife_stability]
)
def test_bad_input(function, method, X, words):
    with pytest.raises(InputError, match=words):
        function(method, X)


def test_bad_input_of_the_others():
    X = np.random.default_rng(0).normal(size=(6, 3))
    with pytest.raises(InputError, match="needs dissimilarity="):
        bootstrap_configuration(ClassicalMDS(2, metric="precomputed"), np.eye(5))
    with pytest.raises(InputError, match="does without"):
        bootstrap_configuration(ClassicalMDS(2), X, dissimilarity=lambda rows: np.eye(3))
    with pytest.raises(InputError, match="finite"):
        bootstrap_configuration(ClassicalMDS(2), X * np.nan)
    with pytest.raises(InputError, match="from 1 to 5"):
        stress_by_dimension(ClassicalMDS(), X, [1, 6])
    with pytest.raises(InputError, match="no n_components"):
        stress_by_dimension(Silent(), X)
    with pytest.raises(InputError, match="two of 0 to 1"):
        jackknife_stability(ClassicalMDS(2), X).ellipses((0, 2))

"""Bootstrap and jackknife, against theorems and a plain twin."""

import warnings

import numpy as np
import pytest
from scipy.linalg import orthogonal_procrustes

from gramian import PCA
from gramian.errors import GramianWarning, InputError
from gramian.inference import bootstrap, close_axes, jackknife
from gramian.loops.threads import limit_threads


def data(n=40, p=5, seed=0):
    return np.random.default_rng(seed).standard_normal((n, p)) * np.sqrt([9.0, 4, 1, 0.5, 0.2][:p])


def quietly(call, *given, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GramianWarning)
        return call(*given, **options)


def twin(X, k, resamples):
    """Every resample fitted by SVD, aligned by SciPy's Procrustes."""
    mean = X.mean(axis=0)
    V = PCA(k).fit(X).components_.T
    values, loadings, points = [], [], []
    for rows in resamples:
        sample = X[rows]
        center = sample.mean(axis=0)
        s, Wt = np.linalg.svd(sample - center, full_matrices=False)[1:]
        W = Wt[:k].T
        W = W @ orthogonal_procrustes(W, V)[0]
        values.append(s[:k] ** 2 / (len(rows) - 1))
        loadings.append(W)
        points.append((X - center) @ W)
    return V, (X - mean) @ V, *map(np.array, (values, loadings, points))


@pytest.mark.parametrize("shape", [(40, 5), (12, 5)])
def test_bootstrap_is_its_twin(shape):
    X, k, B = data(*shape), 2, 60
    n = len(X)
    draws = []
    for b in range(B):
        rng = np.random.default_rng(np.random.SeedSequence(7, spawn_key=(b,)))
        draws.append(np.sort(rng.integers(n, size=n)))
    V, Z, values, loadings, points = twin(X, k, draws)
    found = quietly(bootstrap, X, k, n_resamples=B, random_state=7)
    assert np.allclose(found.eigenvalues, PCA(k).fit(X).explained_variance_)
    assert np.allclose(found.loadings, V) and np.allclose(found.coordinates, Z)
    assert np.allclose(found.errors, values.std(axis=0, ddof=1))
    assert np.allclose(found.bias, values.mean(axis=0) - found.eigenvalues)
    assert np.allclose(found.loadings_errors, loadings.std(axis=0, ddof=1))
    for i in range(n):
        assert np.allclose(found.covariances[i], np.cov(points[:, i].T))


def test_jackknife_is_its_twin():
    X, k = data(25), 2
    n = len(X)
    _, _, values, loadings, points = twin(X, k, [np.delete(np.arange(n), i) for i in range(n)])
    found = quietly(jackknife, X, k)
    spread = lambda a: np.sqrt((n - 1) / n * np.sum((a - a.mean(axis=0)) ** 2, axis=0))  # noqa: E731
    assert np.allclose(found.errors, spread(values))
    assert np.allclose(found.bias, (n - 1) * (values.mean(axis=0) - found.eigenvalues))
    assert np.allclose(found.loadings_errors, spread(loadings))
    assert np.allclose(found.covariances[:, 0, 0], spread(points)[:, 0] ** 2)


def test_jackknife_of_a_variance_is_unbiased_and_has_its_known_error():
    # one variable: the eigenvalue is its variance, of which the divisor n - 1 makes no bias
    x = np.random.default_rng(0).gamma(2.0, size=(30, 1))
    found = jackknife(x, 1)
    assert abs(found.bias[0]) < 1e-12
    # without row i it is ((n - 1) s - n / (n - 1) d_i^2) / (n - 2)
    n, d2 = 30, (x[:, 0] - x.mean()) ** 2
    left = (d2.sum() - n / (n - 1) * d2) / (n - 2)
    assert np.isclose(found.errors[0], np.sqrt((n - 1) / n * np.sum((left - left.mean()) ** 2)))


def test_bootstrap_of_a_variance_has_its_known_error_and_bias():
    x = np.random.default_rng(1).gamma(2.0, size=(30, 1))
    n, B = 30, 20_000
    found = bootstrap(x, 1, n_resamples=B)
    m2, m4 = (np.mean((x - x.mean()) ** q) for q in (2, 4))
    wanted = np.sqrt((m4 - m2**2 * (n - 3) / (n - 1)) / n)  # variance of s^2 over all resamples
    assert np.isclose(found.errors[0], wanted, rtol=0.03)
    assert np.isclose(found.bias[0], m2 - found.eigenvalues[0], atol=4 * wanted / np.sqrt(B))
    assert found.low[0] < found.eigenvalues[0] < found.high[0]


def test_grouped_jackknife_agrees_with_the_single_one():
    X = data(600)
    single, grouped = (quietly(jackknife, X, 1, n_groups=g) for g in (600, 100))
    assert single.n_resamples == 600 and grouped.n_resamples == 100
    assert np.isclose(single.errors[0], grouped.errors[0], rtol=0.3)
    assert jackknife(X, 1).n_resamples == 500


def test_ellipses_are_the_level_sets_of_the_covariances():
    found = quietly(bootstrap, data(), 3, n_resamples=99)
    E = found.ellipses((0, 2), level=0.9)
    assert np.allclose(E[:, :2], found.coordinates[:, [0, 2]])
    for row, S in zip(E, found.covariances[:, [0, 2]][:, :, [0, 2]], strict=True):
        a, b, angle = row[2], row[3], np.radians(row[4])
        t = np.linspace(0, 6, 20)
        along, across = (
            np.array([np.cos(angle), np.sin(angle)]),
            np.array([-np.sin(angle), np.cos(angle)]),
        )
        points = np.outer(a * np.cos(t), along) + np.outer(b * np.sin(t), across)
        distance = np.einsum("ij,jk,ik->i", points, np.linalg.inv(S), points)
        assert np.allclose(distance, -2 * np.log(0.1))  # chi squared, 2 degrees: its 90 % point
        assert a >= b
    with pytest.raises(InputError, match="two of 0 to 2"):
        found.ellipses((0, 3))


def test_axes_that_cannot_be_told_apart_are_named():
    rng = np.random.default_rng(0)
    round_ = rng.standard_normal((60, 4)) * np.sqrt([9.0, 3.0, 3.0, 0.3])
    with pytest.warns(GramianWarning, match="axes 2 and 3 cannot be told from equal"):
        found = bootstrap(round_, 3, n_resamples=99)
    assert found.close_axes == [(2, 3)] and "one plane" in str(found)
    with pytest.warns(GramianWarning, match="2 and 3"):
        assert jackknife(round_, 2).close_axes == [(2, 3)]
    assert bootstrap(round_[:, [0, 1, 3]], 2, n_resamples=99).close_axes == []
    assert close_axes([5.0, 3.0, 2.9], [0.5, 0.5, 0.5]) == [(2, 3)]
    assert close_axes([5.0, 3.0], [0.58, 0.57]) == [] and close_axes([5.0, 3.0], [0.58, 0.58])
    assert close_axes([1.0], [0.5]) == []


def test_same_on_any_number_of_threads():
    found = []
    for threads in (1, 2, 3):
        with limit_threads(threads):
            found.append(quietly(bootstrap, data(), 2, n_resamples=50))
    for other in found[1:]:
        assert np.array_equal(other.errors, found[0].errors)
        assert np.array_equal(other.covariances, found[0].covariances)


@pytest.mark.parametrize("call", [bootstrap, jackknife])
def test_scale_and_kinds_of_data(call):
    X = data(30, 3)
    found = quietly(call, X, 1)
    large = quietly(call, X * 2.0**40, 1)
    assert np.allclose(large.errors, found.errors * 4.0**40)
    assert np.allclose(large.high, found.high * 4.0**40)
    assert np.allclose(large.covariances, found.covariances * 4.0**40)
    assert np.allclose(large.bias, found.bias * 4.0**40)
    single = quietly(call, X.astype(np.float32), 1)
    assert np.allclose(single.errors, found.errors, rtol=1e-5)
    unit = quietly(call, X * [1.0, 100.0, 0.01], 1, scale="unit")
    assert np.allclose(unit.errors, quietly(call, X, 1, scale="unit").errors)
    wide = quietly(call, data(8, 5), 2)
    assert wide.loadings.shape == (5, 2) and np.isfinite(wide.loadings_errors).all()


def test_bad_parameters():
    X = data(20, 3)
    for call in (bootstrap, jackknife):
        for k in (0, 4, 1.5, "two", True):
            with pytest.raises(InputError, match="from 1 to 3"):
                call(X, k)
        with pytest.raises(InputError, match="between 0 and 1"):
            call(X, 1, level=95)
        with pytest.raises(InputError, match="rank 1"):
            call(np.outer(X[:, 0], [1.0, 2.0, 3.0]), 2)
    with pytest.raises(InputError, match="at least 20"):
        bootstrap(X, n_resamples=5)
    with pytest.raises(InputError, match="at least 2"):
        jackknife(X, n_groups=1)
    with pytest.raises(InputError, match="at least 3 rows"):
        jackknife(X[:2], 1)

"""Intrinsic dimension: known manifolds, formulas by hand, and what standard errors cover."""

import numpy as np
import pytest
from sklearn.datasets import make_swiss_roll

from gramian.errors import InputError
from gramian.gram.distances import pairwise
from gramian.inference import intrinsic_dimension
from gramian.inference.intrinsic import METHODS


def sphere(n, d, rng):
    """Uniform on the sphere of dimension d in d + 1: no edges."""
    Z = rng.standard_normal((n, d + 1))
    return Z / np.linalg.norm(Z, axis=1)[:, None]


def torus(n, d, rng):
    """The flat torus: d circles, in 2d dimensions."""
    t = 2 * np.pi * rng.random((n, d))
    return np.hstack([np.cos(t), np.sin(t)])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("made", "d"), [(sphere, 1), (sphere, 2), (torus, 2), (torus, 3)])
def test_known_manifolds(made, d, method):
    found = intrinsic_dimension(made(3000, d, np.random.default_rng(d)), method)
    assert abs(found.dimension - d) < 3 * found.standard_error + 0.02 * d
    assert found.standard_error < 0.05 * d


@pytest.mark.parametrize("method", METHODS)
def test_the_swiss_roll_has_two(method):
    X, _ = make_swiss_roll(4000, random_state=0)
    found = intrinsic_dimension(X, method)
    assert abs(found.dimension - 2) < 0.1 + 2 * found.standard_error
    turned = X @ np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    again = intrinsic_dimension(1e-3 * turned + 7, method)
    assert np.isclose(again.dimension, found.dimension, rtol=1e-6)  # neither size nor place tells


def test_formulas_by_hand():
    X = np.random.default_rng(3).random((40, 3))
    D = pairwise(X)
    r = np.sort(D, axis=1)[:, 1:]
    by_point = [np.mean([np.log(r[i, 6] / r[i, j]) for j in range(6)]) for i in range(40)]
    found = intrinsic_dimension(X, n_neighbors=7)
    assert np.isclose(found.dimension, 1 / np.mean(by_point))
    near = np.argsort(D, axis=1)[:, :8]
    terms = (1 - found.dimension * np.array(by_point)) / np.sum(by_point)
    shared = np.array([[len(set(a) & set(b)) for a in near] for b in near]) / 8
    assert np.isclose(found.standard_error, np.sqrt(terms @ shared @ terms))
    given = intrinsic_dimension(D, n_neighbors=7, metric="precomputed")
    assert np.isclose(given.dimension, found.dimension)
    logs = np.sort(np.log(r[:, 1] / r[:, 0]))
    most = np.quantile(logs, 0.9)  # 36 seen, 4 at least so large
    wanted = 36 / (logs[logs <= most].sum() + 4 * most)
    assert np.isclose(intrinsic_dimension(X, "two neighbors").dimension, wanted)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("made", "d", "n"), [(sphere, 1, 200), (sphere, 2, 400), (torus, 2, 500)])
def test_the_standard_error_is_that_of_repetitions(made, d, n, method):
    rng = np.random.default_rng(7)
    found = [intrinsic_dimension(made(n, d, rng), method) for _ in range(120)]
    values = np.array([each.dimension for each in found])
    errors = np.array([each.standard_error for each in found])
    assert 0.85 < errors.mean() / values.std() < 1.2
    covered = np.mean(np.abs(values - values.mean()) < 1.96 * errors)
    assert 0.88 < covered <= 1


def test_equal_points_count_once():
    X = np.random.default_rng(5).random((300, 2))
    doubled = np.repeat(X, 2, axis=0)
    found, same = intrinsic_dimension(doubled), intrinsic_dimension(X)
    assert found == same and found.n_points == 300
    assert "300 points" in str(found) and "maximum likelihood, 10 neighbors" in str(found)


@pytest.mark.parametrize(
    ("X", "settings", "words"),
    [
        (np.ones((9, 2)), {}, "n_neighbors|equal"),
        (np.eye(30), {"n_neighbors": 30}, "n_neighbors=30"),
        (np.eye(30), {"n_neighbors": 1}, "n_neighbors=1"),
        (np.eye(30), {}, "equally far"),
        (np.eye(30), {"method": "guess"}, "method='guess'"),
        (np.full((30, 2), np.nan), {}, "nan at row 0, column 0"),
        (np.zeros((30, 30)), {"metric": "precomputed"}, "is 0"),
        (np.ones((30, 20)), {"metric": "precomputed"}, "square"),
        (np.array([["a"] * 3] * 30), {}, "table of numbers"),
        (np.ones(30), {}, "table of numbers"),
    ],
)
def test_bad_input_in_one_sentence(X, settings, words):
    with pytest.raises(InputError, match=words):
        intrinsic_dimension(X, **settings)

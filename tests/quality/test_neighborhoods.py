"""Trustworthiness, continuity and stress against scikit-learn, plain twins and known values."""

import numpy as np
import pytest
from sklearn.manifold import trustworthiness as peer

import gramian.quality.neighborhoods
import gramian.quality.stress
from gramian.errors import InputError
from gramian.gram.distances import pairwise
from gramian.progress import listening
from gramian.quality import continuity, coranking, kept_neighbors, stress_1, trustworthiness


@pytest.fixture
def picture():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 7))
    return X, X[:, :2] + 0.3 * rng.normal(size=(120, 2))


@pytest.fixture(params=[2_000_000, 700, 1])
def blocks(request, monkeypatch):
    monkeypatch.setattr(gramian.quality.neighborhoods, "_block", request.param)
    monkeypatch.setattr(gramian.quality.stress, "_block", request.param)


def plain(D, E, k):
    """The definition, a point at a time."""
    n, lost = len(D), 0
    for i in range(n):
        others = [j for j in range(n) if j != i]
        ranks = {j: r for r, j in enumerate(sorted(others, key=lambda j: D[i, j]), 1)}
        for j in sorted(others, key=lambda j: E[i, j])[:k]:
            lost += max(ranks[j] - k, 0)
    return 1 - 2 * lost / (n * k * (2 * n - 3 * k - 1))


@pytest.mark.parametrize("k", [1, 5, 20, 59])
def test_the_definition_and_scikit_learn(picture, blocks, k):
    X, Z = picture
    D, E = pairwise(X), pairwise(Z)
    found = kept_neighbors(X, Z, k)
    assert found.trustworthiness == pytest.approx(plain(D, E, k), abs=1e-12)
    assert found.continuity == pytest.approx(plain(E, D, k), abs=1e-12)
    assert found.trustworthiness == pytest.approx(peer(X, Z, n_neighbors=k), abs=1e-12)
    assert found.continuity == pytest.approx(peer(Z, X, n_neighbors=k), abs=1e-12)
    assert trustworthiness(X, Z, k) == found.trustworthiness
    assert continuity(X, Z, k) == found.continuity
    assert kept_neighbors(D, Z, k, metric="precomputed") == found


@pytest.mark.parametrize("metric", ["cityblock", "mahalanobis", "gower", "cosine"])
def test_other_metrics_do_not_depend_on_blocks(picture, blocks, metric):
    X, Z = picture
    D = pairwise(X, metric=metric)
    there = kept_neighbors(D, Z, 7, metric="precomputed")
    assert kept_neighbors(X, Z, 7, metric=metric) == pytest.approx(there, abs=1e-12)
    assert stress_1(X, Z, metric=metric) == pytest.approx(
        stress_1(D, Z, metric="precomputed"), rel=1e-12
    )


def test_a_turned_picture_is_perfect_and_noise_is_chance(picture):
    X, _ = picture
    Q = np.linalg.qr(np.random.default_rng(1).normal(size=(7, 7)))[0]
    assert kept_neighbors(X, 3 * X @ Q + 5, 10) == (1.0, 1.0)
    assert stress_1(X, 3 * X @ Q + 5) < 1e-13
    noise = np.random.default_rng(2).normal(size=(120, 2))
    assert all(abs(each - 0.5) < 0.06 for each in kept_neighbors(X, noise, 10))


def matrix_of_ranks(D, E):
    """The co-ranking matrix itself: how many pairs have rank k in D and l in E."""
    n = len(D)
    Q = np.zeros((n - 1, n - 1), int)
    for i in range(n):
        others = np.delete(np.arange(n), i)
        r, s = (np.argsort(np.argsort(M[i, others])) for M in (D, E))
        np.add.at(Q, (r, s), 1)
    return Q


@pytest.mark.parametrize("n", [3, 4, 61, 120])
def test_curves_are_those_of_the_coranking_matrix(picture, blocks, n):
    X, Z = (each[:n] for each in picture)
    Q, K = matrix_of_ranks(pairwise(X), pairwise(Z)), np.arange(1, n)
    found = coranking(X, Z)
    kept = np.array([Q[:k, :k].sum() for k in K]) / (n * K)
    np.testing.assert_allclose(found.q_nx, kept, rtol=1e-14)
    np.testing.assert_allclose(found.lcmc, kept - K / (n - 1), atol=1e-14)
    inner = K[:-1]
    r_nx = ((n - 1) * kept[:-1] - inner) / (n - 1 - inner)
    np.testing.assert_allclose(found.r_nx, r_nx, atol=1e-13)
    assert found.auc == pytest.approx(np.average(r_nx, weights=1 / inner), abs=1e-13)
    best = int(np.argmax(kept - K / (n - 1)))
    assert found.best_k == best + 1
    assert found.q_local == pytest.approx(kept[: best + 1].mean())
    assert found.q_global == pytest.approx(kept[best + 1 :].mean() if best + 2 < n else 1)
    rank = np.arange(1, n)
    for k in (k for k in K if 2 * k < n):
        size = n * k * (2 * n - 3 * k - 1) / 2
        intruders = np.sum((rank[k:] - k)[:, None] * Q[k:, :k])
        extruders = np.sum((rank[k:] - k) * Q[:k, k:])
        assert found.at(k) == pytest.approx((1 - intruders / size, 1 - extruders / size))
    assert found.trustworthiness[-1] == found.continuity[-1] == 1
    assert (found.trustworthiness >= -1e-12).all() and (found.continuity <= 1).all()


def test_the_worst_picture_has_no_trust_at_any_k():
    # Ranks turned round: the K nearest in the picture are the K farthest in the data.
    n = 9
    D = np.array([[0.0 if i == j else (j - i) % n for j in range(n)] for i in range(n)])
    E = np.where(D > 0, n - D, 0)
    Z = np.eye(n)  # stands for E below
    import gramian.quality.neighborhoods as module

    found = module._curves(counts_of(D, E), n, n)
    np.testing.assert_allclose(found.trustworthiness[:-1], 0, atol=1e-15)
    np.testing.assert_allclose(found.continuity[:-1], 0, atol=1e-15)
    assert coranking(D, Z, metric="precomputed").auc == 1  # all equal in the picture: a tie


def counts_of(D, E):
    from gramian.loops.ranks import compare_orders

    D, E = (np.where(np.eye(len(D)) > 0, np.inf, M).astype(float) for M in (D, E))
    counts = np.zeros((3, len(D)), np.int64)
    orders = np.argsort(D, axis=1), np.argsort(E, axis=1)
    compare_orders(D, E, (1e-15, 1e-15), *orders, *counts)
    return np.cumsum(counts, axis=1)[:, :-1]


def test_ties_cost_nothing_and_depend_on_no_order_of_rows():
    rng = np.random.default_rng(3)
    X = rng.integers(0, 3, size=(80, 3)).astype(float)  # many equal distances
    found = coranking(X, X + 1e-9 * rng.normal(size=X.shape))
    assert found.auc == 1 and (found.q_nx == 1).all()
    Z = rng.integers(0, 4, size=(80, 2)).astype(float)
    order = rng.permutation(80)
    one, other = coranking(X, Z), coranking(X[order], Z[order])
    for name in ("q_nx", "trustworthiness", "continuity"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_threads_and_dtypes_do_not_matter(picture):
    from gramian.loops.threads import limit_threads

    X, Z = picture
    with limit_threads(1):
        one = coranking(X, Z)
    with limit_threads(3):
        np.testing.assert_array_equal(one.q_nx, coranking(X, Z).q_nx)
    assert coranking(np.float32(X), np.float32(Z)).auc == pytest.approx(one.auc, abs=1e-5)
    assert f"{one.auc:.3f}" in str(one)
    with pytest.raises(InputError, match="at least 3 points"):
        coranking(np.eye(2), np.eye(2))


def test_equal_points_cost_nothing():
    X = np.zeros((12, 3))
    X[6:] = 1
    assert kept_neighbors(X, X, 5) == (1.0, 1.0)


def test_stress_is_the_definition(picture, blocks):
    X, Z = picture
    upper = np.triu_indices(120, 1)
    D, d = pairwise(X)[upper], pairwise(Z)[upper]
    assert stress_1(X, Z, scaled=False) == pytest.approx(
        np.sqrt(np.sum((d - D) ** 2) / np.sum(d**2)), rel=1e-12
    )
    best = np.sum(d * D) / np.sum(D**2)
    expected = np.sqrt(np.sum((d - best * D) ** 2) / np.sum(d**2))
    assert stress_1(X, Z) == pytest.approx(expected, rel=1e-12)
    assert stress_1(X, 1e3 * Z) == pytest.approx(expected, rel=1e-12)


def test_a_sample_of_rows_is_near(picture):
    X, Z = picture
    for measure in (trustworthiness, continuity, lambda X, Z, **how: stress_1(X, Z, **how)):
        assert measure(X, Z, rows=60, random_state=3) == pytest.approx(measure(X, Z), abs=0.05)
        assert measure(X, Z, rows=60) == measure(X, Z, rows=60)
        assert measure(X, Z, rows=500) == measure(X, Z)


def test_blocks_tell_how_far_they_are(picture, monkeypatch):
    monkeypatch.setattr(gramian.quality.neighborhoods, "_block", 1)
    heard = []
    with listening(lambda *what: heard.append(what)):
        kept_neighbors(*picture, 5)
    assert ("neighbors", 120, 120) in heard


@pytest.mark.parametrize(
    ("X", "Z", "options", "words"),
    [
        (np.eye(9), np.eye(9), {"n_neighbors": 5}, "from 1 to 4"),
        (np.eye(9), np.eye(9), {"n_neighbors": 0}, "n_neighbors=0"),
        (np.eye(9), np.eye(9), {"n_neighbors": True}, "whole number"),
        (np.eye(9), np.eye(8), {}, "9 rows"),
        (np.full((9, 2), np.nan), np.eye(9), {}, "finite"),
        (np.eye(9), np.full((9, 2), np.inf), {}, "finite"),
        (np.ones((9, 2)), np.eye(9), {"metric": "precomputed"}, "square"),
        (np.eye(9), np.eye(9), {"metric": "euclidian"}, "not known"),
    ],
)
def test_bad_input(X, Z, options, words):
    with pytest.raises(InputError, match=words):
        kept_neighbors(X, Z, **{"n_neighbors": 2} | options)


def test_stress_of_a_point():
    with pytest.raises(InputError, match="equal"):
        stress_1(np.eye(4), np.zeros((4, 2)))

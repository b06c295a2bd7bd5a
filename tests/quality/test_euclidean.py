"""Verdicts on distances: the theorems behind them, their proofs, and what repairs change."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform

import gramian
from gramian.errors import InputError, MemoryRefusedError
from gramian.quality import euclidean
from gramian.quality.euclidean import (
    cailliez,
    centered,
    check_distances,
    clip,
    conditionally_negative_definite,
    hilbert_embedding,
    lingoes,
    positive_semidefinite,
    power,
    worst_triangle,
)

EPS = np.finfo(float).eps
SQUARE = squareform([1.0, 2.0, 1.0, 1.0, 2.0, 1.0])  # four points around a circle, walked along it
REPAIRS = [cailliez, lingoes, power, clip]


def points(n, p, seed=0):
    return np.random.default_rng(seed).normal(size=(n, p))


def euclidean_distances(n=30, p=4, seed=0):
    return squareform(pdist(points(n, p, seed)))


def perturbed(n=25, size=0.5, seed=0):
    """Distances with noise: rarely Euclidean, always distances."""
    D = euclidean_distances(n, 3, seed)
    noise = np.random.default_rng(seed + 1).random((n, n))
    D = D * (1 + size * (noise + noise.T))
    np.fill_diagonal(D, 0)
    return D


# ---------------------------------------------------------------- the theorem, as S0 states it


@pytest.mark.parametrize("seed", range(4))
def test_centering_by_any_signed_measure(seed):
    rng = np.random.default_rng(seed)
    n = 12
    D = rng.normal(size=(n, n))
    D = D + D.T  # any symmetric matrix, its diagonal too
    d = np.diagonal(D)
    C = D - d[:, None] / 2 - d / 2
    alpha = rng.normal(size=n) * 3
    alpha[0] += 1 - alpha.sum()
    H = np.eye(n) - np.outer(np.ones(n), alpha)
    B = centered(D, alpha)
    tol = 64 * EPS * np.abs(alpha).sum() ** 2 * np.abs(D).max()
    assert np.abs(B - -0.5 * H @ D @ H.T).max() < tol
    assert np.abs(B - centered(C, alpha)).max() < tol  # 1: the diagonal of D does not matter
    b = np.diagonal(B)
    assert np.abs(C - (b[:, None] + b - 2 * B)).max() < 4 * tol  # 2: C from B, whatever alpha
    assert np.abs(alpha @ B).max() < 4 * tol  # alpha is the origin


@pytest.mark.parametrize("euclidean", [True, False])
def test_the_theorem_of_classical_mds(euclidean):
    # 3: D is c.n.d. iff C is, C being D without its diagonal; 4: then C has points
    rng = np.random.default_rng(5)
    n = 15
    C = euclidean_distances(n, 4) ** 2 if euclidean else perturbed(n, 1.0) ** 2
    d = rng.normal(size=n)
    D = C + d[:, None] / 2 + d / 2
    assert np.allclose(np.diagonal(D), d)
    assert conditionally_negative_definite(D).holds is euclidean
    assert conditionally_negative_definite(C).holds is euclidean
    values, V = np.linalg.eigh(centered(D))
    Y = V * np.sqrt(np.maximum(values, 0))
    apart = np.abs(squareform(pdist(Y, "sqeuclidean")) - C).max() / C.max()
    assert apart < 100 * n * EPS if euclidean else apart > 1e-3


@pytest.mark.parametrize("name", ["plane", "noise", "square"])
def test_definiteness_does_not_depend_on_the_measure(name):
    # the lemma: B_alpha p.s.d. for one alpha iff for all iff D is c.n.d.
    D = {"plane": euclidean_distances(12, 2), "noise": perturbed(12), "square": SQUARE}[name]
    n = len(D)
    verdict = conditionally_negative_definite(D**2).holds
    assert verdict is (name == "plane")
    rng = np.random.default_rng(1)
    for _ in range(5):
        alpha = rng.dirichlet(np.ones(n)) * 3 - 2 / n
        B = centered(D**2, alpha)
        smallest = np.linalg.eigvalsh((B + B.T) / 2)[0]
        assert (smallest >= -100 * n * EPS * np.abs(B).max()) is np.bool_(verdict)
    with pytest.raises(InputError, match="sum to 1"):
        centered(D**2, np.ones(n))


def test_euclidean_distances_are_the_gram_matrix_of_centered_points():
    # -1/2 H D^2 H = (HX)(HX)'
    X = points(40, 3)
    Y = X - X.mean(axis=0)
    B = centered(squareform(pdist(X, "sqeuclidean")))
    assert np.abs(B - Y @ Y.T).max() < 40 * EPS * np.abs(B).max()
    assert conditionally_negative_definite(squareform(pdist(X, "sqeuclidean"))).holds


@given(st.integers(3, 30), st.integers(1, 5), st.integers(0, 10**6))
def test_euclidean_is_recognized(n, p, seed):
    X = points(n, p, seed) * 10.0 ** (seed % 7 - 3)
    D = squareform(pdist(X))
    check = check_distances(D)
    assert check.metric
    assert check.euclidean.holds
    assert check.euclidean.vector is None
    assert (check.cailliez, check.lingoes, check.power, check.negative_share) == (0, 0, 1, 0)
    for repair in REPAIRS:
        done = repair(D)
        assert np.allclose(done.D, D, rtol=1e-15)
        assert "nothing changed" in str(done)


@given(st.integers(4, 30), st.integers(0, 10**6))
def test_a_no_is_proved(n, seed):
    D = perturbed(n, 1.0, seed)
    verdict = conditionally_negative_definite(D**2)
    hilbert = hilbert_embedding(D)
    assert verdict.holds == hilbert.holds  # Schoenberg's test says the same
    assert (hilbert.smallest < 0).any() or hilbert.holds
    if verdict.holds:
        return
    v = verdict.vector
    assert abs(v.sum()) < n * EPS * np.abs(v).sum()
    assert np.isclose(np.linalg.norm(v), 1)
    assert verdict.form > 0
    assert np.isclose(v @ D**2 @ v, verdict.form, rtol=1e-9)
    assert np.isclose(verdict.form, -2 * verdict.smallest, rtol=1e-6)


def test_hilbert_embedding_of_nearly_euclidean_distances():
    # a violation of 1e-6 shows only as lambda falls
    D = euclidean_distances(8, 7)
    off = D.copy()
    repaired = lingoes(perturbed(8)).D  # exactly at the border: smallest eigenvalue 0
    assert hilbert_embedding(D).holds
    assert hilbert_embedding(repaired).holds
    off = np.sqrt(np.maximum(repaired**2 - 2e-6 * repaired.max() ** 2, 0))
    np.fill_diagonal(off, 0)
    found = hilbert_embedding(off)
    assert not conditionally_negative_definite(off**2).holds
    assert not found.holds
    assert (np.diff(found.lambdas) < 0).all()


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("excess", [0.0, *10.0 ** np.arange(-13, 0)])
def test_both_verdicts_agree_on_small_violations(excess, kind):
    # three points on a line, the longest distance too long: negative by 2/3 of the excess
    D = np.array([[0, 1, 2 + excess], [1, 0, 1], [2 + excess, 1, 0]], kind)
    verdict = conditionally_negative_definite(np.square(D, dtype=float).astype(kind))
    assert verdict.holds == (excess <= 24 * np.finfo(kind).eps)
    for steps in (12, 40, 100):
        assert hilbert_embedding(D, steps).holds == verdict.holds
    if kind is np.float64 and excess >= 1e-2:
        assert not hilbert_embedding(D, 4).holds


@given(st.integers(3, 40), st.integers(0, 10**6))
def test_both_verdicts_agree_at_the_border(n, seed):
    for repair in (cailliez, lingoes):
        D = repair(perturbed(n, 1.0, seed)).D
        assert conditionally_negative_definite(D**2).holds == hilbert_embedding(D).holds


NO_MATRICES = {
    "complex": (1j * np.eye(3), "real numbers"),
    "text": (np.array([["a"]]), "real numbers"),
    "ragged": ([[1, 2], [3]], "real numbers"),
    "None": (None, "real numbers"),
    "one row": ([1.0, 2.0], "square, got shape"),
    "not square": (np.eye(3)[:2], "square, got shape"),
    "empty": (np.zeros((0, 0)), "square, got shape"),
    "NaN": (np.array([[1.0, np.nan], [np.nan, 1.0]]), "row 0, column 1; fill it in"),
    "infinite": (np.array([[1.0, np.inf], [np.inf, 1.0]]), "row 0, column 1; fill it in"),
}


@pytest.mark.parametrize("name", NO_MATRICES)
def test_what_is_no_matrix(name):
    matrix, words = NO_MATRICES[name]
    for judge in (positive_semidefinite, conditionally_negative_definite, centered):
        with pytest.raises(InputError, match=words):
            judge(matrix)


def test_bad_steps_and_weights():
    for steps in (0, -1, 101, 400, 2.5, "a", True, None):
        with pytest.raises(InputError, match="a whole number from 1 to 100"):
            hilbert_embedding(SQUARE, steps)
    for alpha in ("a", [1, 0], np.array([1j, 1, 0, 0]), [[1, 0], [1]], [np.nan, 1, 0, 0]):
        with pytest.raises(InputError, match="alpha must be 4 weights"):
            centered(SQUARE**2, alpha)


def test_the_square_walked_along_its_sides_is_known():
    # d^2 of a circle's four points: B has eigenvalues 2, 2, 0, -1 by symmetry
    verdict = conditionally_negative_definite(SQUARE**2)
    assert np.isclose(verdict.smallest, -1)
    assert np.allclose(np.abs(verdict.vector), 0.5)
    assert np.isclose(verdict.form, 2)
    check = check_distances(SQUARE)
    assert check.metric
    assert np.allclose(check.eigenvalues, [2, 2, 0, -1])
    assert np.isclose(check.negative_share, 0.2)
    assert np.isclose(check.lingoes, 1)
    # (1 + c)^2 * 4 >= (2 + c)^2 * 2 for the vector (+ - + -)
    assert np.isclose(check.cailliez, np.sqrt(2))
    assert np.isclose(check.power, 0.5, rtol=1e-7)  # 2^(2p) <= 2


@pytest.mark.parametrize("n", [3, 10, 40])
def test_kernels(n):
    X = points(n, 2)
    K = np.exp(-squareform(pdist(X, "sqeuclidean")))
    assert positive_semidefinite(K).holds
    assert positive_semidefinite(X @ X.T).holds
    bad = np.tanh(X @ X.T - 1)  # erratum E9: not a kernel
    verdict = positive_semidefinite(bad)
    assert not verdict.holds
    assert verdict.form < 0
    assert np.isclose(verdict.vector @ bad @ verdict.vector, verdict.smallest, rtol=1e-8)
    with pytest.raises(InputError, match="not symmetric"):
        positive_semidefinite(bad + np.triu(np.ones((n, n)), 1))


# ---------------------------------------------------------------- triangles


def test_the_worst_triangle():
    D = euclidean_distances(30)
    assert worst_triangle(D).metric
    D[4, 9] = D[9, 4] = D[4, 9] + 5
    found = worst_triangle(D)
    way = D[4] + D[9]
    way[[4, 9]] = np.inf
    assert found.worst == (4, 9, int(np.argmin(way)))
    assert np.isclose(found.excess, D[4, 9] - way.min())
    assert found.broken == 1
    assert found.looked_at == 30
    sampled = worst_triangle(D, limit=15)
    assert sampled.looked_at == 3
    assert sampled.excess <= found.excess


@given(st.integers(3, 25), st.integers(0, 10**6))
def test_shortest_paths_make_a_metric(n, seed):
    D = np.random.default_rng(seed).random((n, n))
    D = D + D.T
    np.fill_diagonal(D, 0)
    before = worst_triangle(D)
    i, j, k = before.worst or (0, 1, 2)
    assert before.metric or np.isclose(D[i, j] - D[i, k] - D[k, j], before.excess)
    for k in range(n):
        D = np.minimum(D, D[:, k : k + 1] + D[k])
    assert worst_triangle(D).metric
    assert worst_triangle(D.astype(np.float32)).metric


# ---------------------------------------------------------------- repairs


def classical_cailliez(D):
    """The largest real eigenvalue of the 2n x 2n matrix of Cailliez (1983)."""
    n = len(D)
    zero, one = np.zeros((n, n)), np.eye(n)
    values = np.linalg.eigvals(np.block([[zero, 2 * centered(D**2)], [-one, -4 * centered(D)]]))
    return values.real[np.abs(values.imag) < 1e-6 * np.abs(values).max()].max()


@pytest.mark.parametrize("n", [4, 12, 40, 80])
@pytest.mark.parametrize("seed", range(3))
def test_cailliez_is_the_largest_eigenvalue_of_his_matrix(n, seed):
    D = perturbed(n, 2.0, seed)
    found, wanted = cailliez(D).amount, classical_cailliez(D)
    if found == 0:  # Euclidean: his matrix has a double eigenvalue 0, known to the root of eps
        assert abs(wanted) < 10 * np.sqrt(EPS) * D.max()
    else:
        assert np.isclose(found, wanted, rtol=1e-9)


@pytest.mark.parametrize("repair", REPAIRS)
@pytest.mark.parametrize(
    ("kind", "scale"),
    [(np.float32, 1.0), (np.float64, 1.0), (np.float64, 2.0**-400), (np.float64, 2.0**300)],
)
def test_a_repair_is_euclidean_and_no_larger_than_needed(repair, kind, scale):
    D = perturbed(25, 1.0).astype(kind) * kind(scale)
    before = D.copy()
    done = repair(D)
    assert np.array_equal(D, before)
    assert done.D.dtype == kind
    assert np.array_equal(done.D, done.D.T)
    assert not np.diagonal(done.D).any()
    near = (done.D / done.D.max()).astype(kind)
    assert conditionally_negative_definite(near**2).holds
    assert done.amount > 0
    if repair is clip:
        return
    less = {  # one part in a thousand less, and it is not enough
        cailliez: lambda: D + done.amount * 0.999,
        lingoes: lambda: np.sqrt((D / scale) ** 2 + 1.998 * done.amount / scale / scale),
        power: lambda: D.astype(float) ** (done.amount + 0.001 * (1 - done.amount)),
    }[repair]()
    np.fill_diagonal(less, 0)
    less = (less / less.max()).astype(kind)
    assert not conditionally_negative_definite(less**2).holds


def test_what_repairs_do_to_each_distance():
    D = perturbed(25, 1.0)
    off = ~np.eye(25, dtype=bool)
    added, squared, powered = cailliez(D), lingoes(D), power(D)
    assert np.allclose((added.D - D)[off], added.amount)
    assert np.allclose((squared.D**2 - D**2)[off], 2 * squared.amount)
    assert np.allclose(powered.D, D**powered.amount)
    values = np.linalg.eigvalsh(centered(D**2))
    assert np.isclose(squared.amount, -values[0])
    clipped = np.linalg.eigvalsh(centered(clip(D).D ** 2))
    assert np.allclose(clipped, np.maximum(values, 0), atol=25 * EPS * values[-1])
    assert np.isclose(clip(D).amount, -values[values < 0].sum() / np.abs(values).sum())
    for done, word in ((added, "added"), (squared, "squared"), (powered, "power")):
        assert word in str(done)
        assert f"{done.amount:.3g}"[:3] in str(done) or done is squared


def test_lingoes_shifts_the_spectrum():
    # all eigenvalues but that of the vector 1 grow by the constant
    D = perturbed(20, 1.0)
    values = np.linalg.eigvalsh(centered(D**2))
    after = np.linalg.eigvalsh(centered(lingoes(D).D ** 2))
    at = int(np.argmin(np.abs(values)))
    shifted = np.sort(np.append(np.delete(values, at) - values[0], 0))
    assert np.allclose(after, shifted, atol=40 * EPS * values[-1])


def test_twins_have_no_power():
    D = SQUARE.copy()
    D[0, 1] = D[1, 0] = 0
    with pytest.raises(InputError, match="points 0 and 1.*distance 0"):
        power(D)
    assert check_distances(D).power is None
    assert "power" not in str(check_distances(D))
    assert conditionally_negative_definite(cailliez(D).D ** 2).holds


# ---------------------------------------------------------------- the check as a whole


def test_check_reads_what_the_door_reads(tmp_path):
    D = perturbed(6)
    np.save(tmp_path / "d.npy", D)
    for source in (D, D.tolist(), squareform(D), tmp_path / "d.npy"):
        assert str(check_distances(source)) == str(check_distances(D))
    with pytest.raises(InputError, match="not symmetric"):
        check_distances(np.triu(D) + 2 * np.tril(D))
    with pytest.raises(MemoryRefusedError, match="200 points"):
        check_distances(euclidean_distances(200), memory="1MB")


def test_check_does_not_depend_on_the_unit():
    D = perturbed(10)
    one = check_distances(D)
    for k in (-450, -3, 200):
        other = check_distances(D * 2.0**k)
        assert other.cailliez == one.cailliez * 2.0**k
        assert other.lingoes == one.lingoes * 4.0**k
        assert other.power == one.power
        assert other.triangles.excess == one.triangles.excess * 2.0**k
        assert np.array_equal(other.eigenvalues, one.eigenvalues * 4.0**k)


@pytest.mark.parametrize("scale", [1e-310, 1e-200, 1e200, 1e306])
def test_check_at_the_ends_of_all_numbers(scale):
    one, check = check_distances(SQUARE), check_distances(SQUARE * scale)
    assert check.metric
    assert not check.euclidean.holds
    assert np.isclose(check.cailliez / scale, one.cailliez, rtol=1e-12)
    assert np.isclose(check.power, one.power, rtol=1e-7)
    assert np.isclose(check.negative_share, one.negative_share)
    assert np.isclose((cailliez(SQUARE * scale).D / scale).max(), 2 + np.sqrt(2))
    assert "Cailliez" in str(check)


def test_many_points_get_the_verdict_without_the_rest(monkeypatch):
    monkeypatch.setattr(euclidean, "_spectrum", 20)
    monkeypatch.setattr(euclidean, "_repairs", 20)
    monkeypatch.setattr("gramian.quality.definiteness._dense", 20)
    check = check_distances(perturbed(40))
    assert check.eigenvalues is check.negative_share is check.cailliez is check.power is None
    whole = np.linalg.eigvalsh(centered(perturbed(40) ** 2))
    assert np.isclose(check.lingoes, -whole[0], rtol=1e-6)
    assert "the smallest eigenvalue is -" in str(check)
    assert check_distances(euclidean_distances(40)).euclidean.holds


def test_two_points_and_equal_points():
    check = check_distances([[0, 3], [3, 0]])
    assert check.metric
    assert check.euclidean.holds
    X = np.repeat(points(5, 2), 3, axis=0)
    assert check_distances(squareform(pdist(X))).euclidean.holds


def test_public_names():
    for name in gramian.quality.__all__:
        assert getattr(gramian.quality, name).__name__ == name
    assert gramian.quality.cailliez is euclidean.cailliez
    with pytest.raises(AttributeError, match="nothing"):
        _ = gramian.quality.nothing

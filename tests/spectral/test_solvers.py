"""Every solver x every map x both ends against LAPACK, and the honesty of the certificate."""

import mpmath
import numpy as np
import pytest
import scipy.sparse as sp

from gramian.data.centering import Centering
from gramian.data.door import open_rows
from gramian.errors import CertificateWarning, InputError, MemoryRefusedError
from gramian.maps import ImplicitMap, to_dense
from gramian.spectral.arpack import Arpack
from gramian.spectral.eigenpairs import eigenpairs, symmetric
from gramian.spectral.krylov import BlockKrylov
from gramian.spectral.pairs import signs
from gramian.spectral.plan import plan, plan_axes
from gramian.spectral.principal import ColumnGram
from gramian.spectral.shift_invert import ShiftInvert
from gramian.spectral.solvers import Dense, solver_of

CITIES = np.array(  # road miles, as printed in the lecture notes
    [
        [0, 206, 429, 1504, 963, 2976, 3095, 2979, 1949],
        [206, 0, 233, 1308, 802, 2815, 2934, 2786, 1771],
        [429, 233, 0, 1075, 671, 2684, 2799, 2631, 1616],
        [1504, 1308, 1075, 0, 1329, 3273, 3053, 2687, 2037],
        [963, 802, 671, 1329, 0, 2013, 2142, 2054, 996],
        [2976, 2815, 2684, 3273, 2013, 0, 808, 1131, 1307],
        [3095, 2934, 2799, 3053, 2142, 808, 0, 379, 1235],
        [2979, 2786, 2631, 2687, 2054, 1131, 379, 0, 1059],
        [1949, 1771, 1616, 2037, 996, 1307, 1235, 1059, 0],
    ],
    dtype=float,
)
H = np.eye(9) - 1 / 9
NINE_CITIES = -0.5 * H @ CITIES**2 @ H


def orthogonal(n, seed=0):
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((n, n)))[0]


def with_spectrum(values, seed=0):
    Q = orthogonal(len(values), seed)
    A = (Q * values) @ Q.T
    return (A + A.T) / 2


class Diagonal(ImplicitMap):
    """A map known only by its products."""

    def __init__(self, d):
        self.d, self.shape, self.dtype = d, (len(d), len(d)), d.dtype

    def _times(self, V):
        return self.d[:, None] * V


def centered_gram(X):
    rows = open_rows(X).rows
    m = rows.moments(np.ones(X.shape[0]))
    ones = np.ones(X.shape[1]), np.ones(X.shape[0])
    return ColumnGram(rows.then(Centering.of(m.high, m.low, *ones, rows.dtype)))


def sparse_symmetric(n=300):
    S = sp.random_array((n, n), density=0.02, rng=np.random.default_rng(5))
    return (S + S.T).tocsr()


def path_laplacian(n=120):
    L = sp.diags_array(
        [-np.ones(n - 1), 2 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1]
    ).tolil()
    L[0, 0] = L[-1, -1] = 1
    return L.tocsr()


def memory_mapped(folder):
    A = with_spectrum(np.linspace(-3, 5, 150))
    np.save(folder / "a.npy", A)
    return np.load(folder / "a.npy", mmap_mode="r")


rng = np.random.default_rng(9)
MAPS = {
    "dense": (lambda f: with_spectrum(rng.standard_normal(200)), (1, 7, 60)),
    "dense float32": (lambda f: with_spectrum(np.linspace(1, 9, 150)).astype(np.float32), (1, 6)),
    "nine cities, indefinite": (lambda f: NINE_CITIES, (1, 3, 9)),
    "sparse": (lambda f: sparse_symmetric(), (1, 8)),
    "centered sparse": (
        lambda f: centered_gram(sp.random_array((400, 90), density=0.1, rng=rng)),
        (5,),
    ),
    "Gram of tall": (lambda f: centered_gram(rng.standard_normal((700, 40)) + 5), (1, 6, 40)),
    "Gram of wide": (lambda f: centered_gram(rng.standard_normal((30, 200)) + 5), (1, 6, 29)),
    "memory-mapped": (memory_mapped, (4,)),
    "implicit": (lambda f: Diagonal(np.linspace(-1, 1, 300) ** 3), (1, 9)),
    "rank-deficient": (lambda f: with_spectrum(np.r_[5.0, 4, 3, np.zeros(97)]), (2, 3, 6)),
    "repeated more often than a block is wide": (
        lambda f: with_spectrum(np.r_[np.full(11, 5.0), np.linspace(0, 4.5, 89)]),
        (5, 11, 13),
    ),
    "identity": (lambda f: np.eye(60), (1, 13, 60)),
    "zero": (lambda f: np.zeros((40, 40)), (1, 3)),
    "clustered": (
        lambda f: with_spectrum(np.r_[1 + 1e-9 * np.arange(12), np.linspace(0, 0.9, 88)]),
        (12,),
    ),
    "path graph": (lambda f: path_laplacian(), (3,)),
    "sparse, no value below zero": (lambda f: sparse_symmetric(60) @ sparse_symmetric(60), (1, 8)),
    "order 1": (lambda f: np.array([[-2.5]]), (1,)),
    "order 2": (lambda f: np.array([[0.0, 1.0], [1.0, 0.0]]), (1, 2)),
    "tiny": (lambda f: with_spectrum(np.linspace(1, 2, 50)) * 1e-150, (3,)),
    "huge": (lambda f: with_spectrum(np.linspace(1, 2, 50)) * 1e150, (3,)),
}


@pytest.mark.parametrize(
    "solver",
    [
        *(Dense(), BlockKrylov(), BlockKrylov(block=1), BlockKrylov(block=5, basis=40), Arpack()),
        *(ShiftInvert(), ShiftInvert(prove=True)),  # where nothing can be inverted, as Arpack
    ],
)
@pytest.mark.parametrize("which", ["largest", "smallest"])
@pytest.mark.parametrize("name", MAPS)
def test_every_solver_every_map(name, which, solver, tmp_path):
    make, ks = MAPS[name]
    A = make(tmp_path)
    full = to_dense(A).astype(np.float64)
    n = len(full)
    exact = np.linalg.eigvalsh(full / (np.abs(full).max() or 1)) * (np.abs(full).max() or 1)
    exact = exact[::-1] if which == "largest" else exact
    size = np.abs(exact).max()
    for k in ks:
        pairs = solver(A, k, which)
        tol = pairs.tolerance
        assert pairs.vectors.shape == (n, k)
        assert np.abs(pairs.values - exact[:k]).max() <= tol * size
        V = pairs.vectors.astype(np.float64)
        eps = np.finfo(A.dtype).eps
        assert np.abs(V.T @ V - np.eye(k)).max() <= 60 * n * eps
        # the certificate: recomputed here in float64, neither understated nor above the tolerance
        true = np.linalg.norm(full @ V - V * pairs.values, axis=0)
        assert np.all(true <= 2 * pairs.residuals * pairs.scale + 60 * n * eps * size)
        assert pairs.certified, pairs.residuals
        assert pairs.scale <= size * (1 + 1e-6)


def chain(n, closed=False):
    W = sp.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[-1, 1]).tolil()
    W[0, -1] = W[-1, 0] = float(closed)
    return W.tocsr()


def laplacian(W):
    return (sp.diags_array(W.sum(axis=0)) - W).tocsr()


GRAPHS = {  # spectra in which single vectors lose their way: zeros, repeated and crowded values
    "path": lambda n: chain(n),
    "ring": lambda n: chain(n, closed=True),
    "grid": lambda n: sp.kron(chain(20), sp.eye_array(20)) + sp.kron(sp.eye_array(20), chain(20)),
    "parts": lambda n: sp.block_diag([chain(n // 6, closed=True)] * 6),
}


@pytest.mark.parametrize("which", ["largest", "smallest"])
@pytest.mark.parametrize("name", GRAPHS)
def test_arpack_with_its_second_look_misses_no_pair(name, which):
    for n in (120, 333, 610):
        L = laplacian(GRAPHS[name](n))
        exact = np.linalg.eigvalsh(L.toarray())
        exact = exact if which == "smallest" else exact[::-1]
        for k in (1, 3, 10):
            pairs = Arpack()(L, k, which, np.random.default_rng(n))
            assert np.abs(pairs.values - exact[:k]).max() <= 1e-6 * np.abs(exact).max(), (n, k)


def test_arpack_alone_would_miss_one():
    from scipy.sparse.linalg import eigsh

    L = path_laplacian()
    start = np.random.default_rng(0).standard_normal(L.shape[0])
    alone = np.sort(eigsh(L, 3, which="SA", tol=1e-6, v0=start)[0])
    exact = np.linalg.eigvalsh(L.toarray())
    assert np.allclose(alone, exact[1:4], rtol=1e-6)  # small residuals, wrong pairs
    assert np.abs(Arpack()(L, 3, "smallest").values - exact[:3]).max() < 1e-6


def test_largest_is_algebraic_not_absolute():
    for solver in (Dense(), BlockKrylov(block=2)):
        values = solver(NINE_CITIES, 3).values
        assert abs(values[2] - 183009.1307) < 1e-3  # not -323706.77, which is larger in size


@pytest.mark.parametrize("trials", [60, pytest.param(1000, marks=pytest.mark.slow)])
def test_certificate_is_honest_on_random_maps(trials):
    # reported residual at least half of the true one, over many maps and sloppy tolerances
    rng = np.random.default_rng(trials)
    for trial in range(trials):
        n = int(rng.integers(2, 60))
        decay = rng.choice([0.5, 0.9, 1.0])
        A = with_spectrum(rng.standard_normal(n) * decay ** np.arange(n), seed=trial)
        k = int(rng.integers(1, n + 1))
        dtype = rng.choice([np.float32, np.float64])
        A = A.astype(dtype)
        tol = 10.0 ** -rng.integers(1, 5)
        pairs = BlockKrylov(tol=tol, block=int(rng.integers(1, 5)))(A, k)
        full, V = A.astype(np.float64), pairs.vectors.astype(np.float64)
        true = np.linalg.norm(full @ V - V * pairs.values, axis=0) / pairs.scale
        noise = 4 * np.finfo(dtype).eps * np.sqrt(n)
        assert np.all(pairs.residuals >= 0.5 * true - noise)
        assert pairs.certified == bool(np.all(pairs.residuals <= tol))


def test_values_agree_with_fifty_digits():
    A = 1 / (np.arange(1, 9)[:, None] + np.arange(8))  # Hilbert
    with mpmath.workdps(50):
        exact = sorted(
            (float(v) for v in mpmath.eigsy(mpmath.matrix(A.tolist()), eigvals_only=True)),
            reverse=True,
        )
    for solver in (Dense(), BlockKrylov(block=2)):
        assert np.abs(solver(A, 8).values - exact).max() < 60 * 2.2e-16 * 8


def test_budget_of_products_returns_the_best_so_far_and_says_so():
    A = with_spectrum(np.linspace(0, 1, 500))
    pairs = BlockKrylov(block=2, basis=12, max_products=30)(A, 3)
    assert not pairs.certified
    with pytest.warns(CertificateWarning, match="residual"):
        eigenpairs(A, 3, solver=BlockKrylov(block=2, basis=12, max_products=30))


def test_auto_falls_back_to_lapack(monkeypatch):
    monkeypatch.setattr(
        "gramian.spectral.krylov.BlockKrylov.__call__", sloppy(BlockKrylov.__call__)
    )
    A = with_spectrum(np.linspace(0, 1, 900))
    assert eigenpairs(A, 3).certified


def sloppy(real):
    def call(self, *args, **kwargs):
        return real(BlockKrylov(block=2, basis=12, max_products=20), *args, **kwargs)

    return call


def test_same_seed_same_bits_and_start_is_used():
    A = with_spectrum(np.linspace(0, 1, 400) ** 3)
    a, b = (BlockKrylov()(A, 5, rng=np.random.default_rng(3)) for _ in range(2))
    assert np.array_equal(a.vectors, b.vectors)
    again = BlockKrylov()(A, 5, start=a.vectors)
    assert np.allclose(again.values, a.values)


def test_scale_by_powers_of_two_gives_the_same_bits():
    A = with_spectrum(np.linspace(0, 1, 80))
    for solver in (Dense(), BlockKrylov()):
        reference = solver(A, 4)
        for exponent in (-200, 200):
            scaled = solver(np.ldexp(A, exponent), 4)
            assert np.array_equal(np.ldexp(scaled.values, -exponent), reference.values)
            assert np.array_equal(scaled.vectors, reference.vectors)


def test_groups_positive_coordinates_extend():
    pairs = Dense()(with_spectrum([4.0, 4.0, 1.0, 0.0, -2.0]), 5)
    assert pairs.groups() == [range(0, 2)]
    assert pairs.positive() == 3
    Z = pairs.coordinates()
    assert not Z[:, 3:].any()
    rows = with_spectrum([4.0, 4.0, 1.0, 0.0, -2.0])
    assert np.allclose(pairs.extend(rows)[:, :3], Z[:, :3])
    assert not pairs.extend(rows)[:, 3:].any()
    assert len(pairs.first(2)) == 2


def test_signs_do_not_hang_on_rounding():
    V = np.array([[1.0, -1 - 1e-12], [-1 - 1e-12, 1.0]]) / np.sqrt(2)
    assert np.array_equal(signs(V), [1, -1])
    assert signs(np.zeros((0, 2))).shape == (2,)


@pytest.mark.parametrize("k", [0, -1, 1.5, "two", True, 10, None])
def test_bad_k(k):
    with pytest.raises(InputError, match="1 to 9"):
        eigenpairs(NINE_CITIES, k)


def test_other_bad_arguments():
    with pytest.raises(InputError, match="square"):
        eigenpairs(np.ones((3, 2)), 1)
    with pytest.raises(InputError, match="'largest' or 'smallest'"):
        eigenpairs(NINE_CITIES, 1, which="LM")
    with pytest.raises(InputError, match="'auto', 'dense', 'krylov', 'arpack'"):
        eigenpairs(NINE_CITIES, 1, solver="lanczos")
    for solver in (Dense(), BlockKrylov(), Arpack()):
        with pytest.raises(InputError, match="NaN"):
            solver(np.full((3, 3), np.nan), 1)
    with pytest.raises(InputError, match="32-bit"):
        Dense()(Diagonal(np.ones(40_000)), 1)
    with pytest.raises(InputError, match=r"\(0, 1\) and \(1, 0\) differ by 0.5"):
        symmetric(np.array([[1.0, 0.5], [0.0, 1.0]]), "the matrix")
    assert solver_of("auto") is None


def test_plan_says_route_and_bytes_and_refuses():
    small, large = np.eye(50), Diagonal(np.geomspace(1e-9, 1, 100_000))
    assert isinstance(plan(small, 3).solver, Dense)
    assert isinstance(plan(large, 3).solver, BlockKrylov)
    assert isinstance(plan(sp.eye_array(5000).tocsr(), 3).solver, Arpack)
    assert "100000" in str(plan(large, 3)) and plan(large, 3).bytes > 8 * 100_000 * 100
    with pytest.raises(MemoryRefusedError, match="budget is 1.05 MB"):
        plan(large, 3, memory=2**20)
    with pytest.raises(MemoryRefusedError):
        plan(Diagonal(np.ones(20_000)), 3, solver="dense", memory="1GB")
    assert eigenpairs(Diagonal(np.geomspace(1e-9, 1, 20_000)), 2).certified


@pytest.mark.parametrize(
    ("shape", "k", "kind"),
    [
        ((1_000_000, 100), 10, "cross"),
        ((500, 50_000), 20, "outer"),
        ((10_000, 5_000), 20, "products"),
        ((5000, 4000), 4000, "cross"),
    ],
)
def test_routes(shape, k, kind):
    Y = open_rows(np.broadcast_to(np.float32(1), shape)).rows
    assert plan_axes(Y, k).kind == kind


@pytest.mark.parametrize(("n", "k"), [(1, 1), (2, 1), (40, 5), (40, 40)])
def test_a_matrix_of_ours_is_restored_to_the_bit(n, k):
    A = np.random.default_rng(n + k).standard_normal((n, n))
    A = (A + A.T) * 1e-3
    lent = A.copy()
    ours, plain = Dense(ours=True)(lent, k), Dense()(A, k)
    assert np.array_equal(lent, A)
    assert np.array_equal(ours.values, plain.values)
    assert np.array_equal(ours.vectors, plain.vectors)

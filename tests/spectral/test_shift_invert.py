"""The smallest pairs of sparse maps: complete, judged by what matters, and where it gives way."""

import numpy as np
import pytest
import scipy.sparse as sp

from gramian.errors import InputError
from gramian.spectral.arpack import Arpack
from gramian.spectral.bottom import bottom, zeros
from gramian.spectral.plan import ExpectedSparse, plan
from gramian.spectral.shift_invert import ShiftInvert
from gramian.spectral.solvers import Dense


def chain(n, closed=False):
    W = sp.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[-1, 1]).tolil()
    W[0, -1] = W[-1, 0] = float(closed)
    return W.tocsr()


def laplacian(W):
    return (sp.diags_array(W.sum(axis=0)) - W).tocsr()


def star(n):
    W = sp.lil_array((n, n))
    W[0, 1:] = W[1:, 0] = 1.0
    return W.tocsr()


GRAPHS = {
    "path": lambda n: chain(n),
    "ring": lambda n: chain(n, closed=True),
    "grid": lambda n: sp.kron(chain(20), sp.eye_array(20)) + sp.kron(sp.eye_array(20), chain(20)),
    "parts": lambda n: sp.block_diag([chain(n // 6, closed=True)] * 6),
    "star": star,
}


@pytest.mark.parametrize("prove", [False, True])
@pytest.mark.parametrize("name", GRAPHS)
def test_no_pair_is_missed(name, prove):
    for n in (120, 333, 610):
        L = laplacian(GRAPHS[name](n))
        exact = np.linalg.eigvalsh(L.toarray())
        for k in (1, 3, 10):
            pairs = ShiftInvert(prove=prove)(L, k, "smallest", np.random.default_rng(n))
            assert np.abs(pairs.values - exact[:k]).max() < 1e-12 * exact[-1], (n, k)
            assert pairs.certified


@pytest.mark.parametrize("n", [1000, 30_000])
def test_rings_and_paths_have_known_values(n):
    k = np.arange(6)
    ring = 2 - 2 * np.cos(2 * np.pi * ((k + 1) // 2) / n)
    path = 2 - 2 * np.cos(np.pi * k / n)
    for closed, exact in ((True, ring), (False, path)):
        pairs = ShiftInvert()(laplacian(chain(n, closed)), 6, "smallest")
        assert np.abs(pairs.values - exact).max() <= 1e-15  # rounding of |A| = 4
        assert pairs.certified and pairs.scale < 1e-2 * 4


def test_residuals_are_relative_to_the_first_value_left_out():
    values = np.r_[0, 1e-10, 2e-10, 5e-9, np.linspace(0.1, 1, 396)]
    turn = sp.block_diag([np.array([[0.6, 0.8], [-0.8, 0.6]])] * 200)
    shift = sp.eye_array(400).tocsr()[np.r_[1:400, 0]]
    Q = (turn @ shift @ turn @ shift @ turn).tocsr()
    A = (Q @ sp.diags_array(values) @ Q.T).tocsr()
    pairs = ShiftInvert()(A, 3, "smallest")
    assert np.isclose(pairs.scale, 5e-9, rtol=1e-6)
    V = Q[:, :3].toarray()
    assert np.linalg.norm(pairs.vectors - V @ (V.T @ pairs.vectors)) <= 3 * pairs.residuals.max()
    assert pairs.residuals.max() <= pairs.tolerance <= 1e-5
    # residuals relative to |A| pass whatever a search that sees only |A| returns
    assert Arpack()(A, 3, "smallest").residuals.max() < 1e-6


def test_where_there_is_nothing_to_invert():
    ring = laplacian(chain(400, closed=True))
    exact = np.linalg.eigvalsh(ring.toarray())
    assert np.allclose(ShiftInvert()(ring, 2).values, exact[::-1][:2])  # the largest
    assert np.allclose(ShiftInvert()(ring.toarray(), 2, "smallest").values, exact[:2], atol=1e-5)
    below = ring - 0.5 * sp.eye_array(400)  # negative values
    assert np.allclose(ShiftInvert()(below, 2, "smallest").values, exact[:2] - 0.5, atol=1e-5)
    full = ShiftInvert()(ring, 399, "smallest")  # nearly all of them
    assert np.allclose(full.values, exact[:399])
    wide = sp.random_array((3000, 3000), density=0.02, rng=np.random.default_rng(0))
    A = laplacian(abs(wide + wide.T))
    little = ShiftInvert(memory="2MB")(A, 2, "smallest")  # its factor takes some 50 MB
    assert np.allclose(little.values, ShiftInvert()(A, 2, "smallest").values, atol=1e-4)
    with pytest.raises(InputError, match="NaN"):
        ShiftInvert()(ring * np.nan, 2, "smallest")


def test_powers_of_two_change_no_bit_and_seeds_decide():
    L = laplacian(GRAPHS["grid"](0))
    one, tiny = ShiftInvert()(L, 4, "smallest"), ShiftInvert()(L * 2.0**-300, 4, "smallest")
    assert np.array_equal(one.vectors, tiny.vectors)
    assert np.array_equal(one.values, tiny.values * 2.0**300)


def test_the_plan_takes_it_for_the_smallest_pairs_of_sparse_maps():
    L = laplacian(chain(5000))
    assert isinstance(plan(L, 3, "smallest").solver, ShiftInvert)
    assert isinstance(plan(L, 3, "largest").solver, Arpack)
    assert isinstance(plan(laplacian(chain(300)), 3, "smallest").solver, Dense)
    expected = ExpectedSparse((5000, 5000), np.dtype(float), nnz=L.nnz)
    assert str(plan(expected, 3, "smallest")) == str(plan(L, 3, "smallest"))
    assert "shift-invert" in str(plan(L, 3, "smallest"))


@pytest.mark.parametrize("solver", ["auto", "dense", "shift-invert"])
def test_bottom_drops_the_known_vector_wherever_it_is(solver):
    # three rings: the null space has three dimensions, and the constant lies somewhere in it
    L = laplacian(sp.block_diag([chain(250, closed=True)] * 3).tocsr())
    pairs, _ = bottom(L, np.ones(750), 3, solver=solver)
    assert np.abs(pairs.vectors.sum(axis=0)).max() < 1e-10
    assert np.abs(pairs.values[:2]).max() < 1e-14 and zeros(L, pairs) == 2
    assert np.isclose(pairs.values[2], 2 - 2 * np.cos(2 * np.pi / 250), rtol=1e-9)
    assert np.isclose(pairs.scale, pairs.values[2], rtol=1e-9)
    # the two null vectors that are left are constant on each ring
    assert np.ptp(pairs.vectors[:, :2].reshape(3, 250, 2), axis=1).max() < 1e-9


def test_bottom_of_all_but_one():
    L = laplacian(chain(6))
    pairs, _ = bottom(L, np.ones(6), 5)
    assert np.allclose(pairs.values, 2 - 2 * np.cos(np.pi * np.arange(1, 6) / 6))
    assert pairs.certified

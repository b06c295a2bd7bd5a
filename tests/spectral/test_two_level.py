"""Two levels: no pair is missed, on graphs good and bad; and where another route takes over."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from gramian import LaplacianEigenmaps
from gramian.errors import InputError
from gramian.gram.laplacian import affinities, degrees, normalized
from gramian.gram.neighbors import Neighbors
from gramian.loops.aggregates import aggregate, relaxed, residual, times
from gramian.loops.threads import limit_threads
from gramian.spectral import two_level
from gramian.spectral.bottom import bottom
from gramian.spectral.plan import plan
from gramian.spectral.shift_invert import NothingToInvertError, ShiftInvert
from gramian.spectral.two_level import TwoLevel, is_laplacian
from gramian.testing import same_up_to_signs


def chain(n, closed=False):
    ones = np.ones(n - 1)
    ends = sp.csr_array((np.ones(2), ([0, n - 1], [n - 1, 0])), shape=(n, n))
    return sp.csr_array(sp.diags_array([ones, ones], offsets=[-1, 1]) + closed * ends)


def grid(a, b):
    return sp.csr_array(sp.kron(chain(a), sp.eye_array(b)) + sp.kron(sp.eye_array(a), chain(b)))


def star(n):
    out = np.ones(n - 1), (np.zeros(n - 1, int), np.arange(1, n))
    W = sp.csr_array(out, shape=(n, n))
    return sp.csr_array(W + W.T)


def near(X, k=8, gamma=None):
    return affinities(Neighbors.of(X, k).connect("join").graph(), gamma)


def linked(parts, weight):
    """Parts in a row, each held by one edge to the next."""
    starts = np.cumsum([0, *[each.shape[0] for each in parts]])
    W = sp.block_diag(parts, format="lil")
    for a, b in pairwise(starts[:-1]):
        W[a, b] = W[b, a] = weight
    return sp.csr_array(W)


def uneven(W, orders, rng):
    upper = sp.triu(W, 1).tocoo()
    upper.data = 10.0 ** (-orders * rng.random(upper.nnz))
    return sp.csr_array(upper + upper.T)


def hubs(n, rng):
    W = near(rng.random((n, 2)), 5).tolil()
    for hub in (3, 7):
        W[hub, ::2] = W[::2, hub] = 1.0
        W[hub, hub] = 0.0
    return sp.csr_array(W)


def roll(n, rng):
    t, height = 1.5 * np.pi * (1 + 2 * rng.random(n)), 21 * rng.random(n)
    return np.column_stack([t * np.cos(t), height, t * np.sin(t)])


GOOD = {
    "path": lambda n, rng: chain(n),
    "ring": lambda n, rng: chain(n, closed=True),
    "square": lambda n, rng: grid(20, 20),  # every value but a few is double
    "grid": lambda n, rng: grid(n // 12, 12),
    "star": lambda n, rng: star(n),
    "clusters": lambda n, rng: near(
        np.concatenate([rng.standard_normal((n // 4, 5)) + 8 * i for i in range(4)])
    ),
    "ten dimensions": lambda n, rng: near(rng.standard_normal((n, 10))),
    "roll": lambda n, rng: near(roll(n, rng)),
    "heat": lambda n, rng: near(roll(n, rng), gamma=0.5),
    **{
        f"two parts, {weight}": lambda n, rng, weight=weight: linked(
            [near(rng.standard_normal((n // 2, 2)), 6) for _ in range(2)], weight
        )
        for weight in (1e-2, 1e-6, 1e-12)
    },
    "six rings": lambda n, rng: linked([chain(n // 6, closed=True)] * 6, 1e-8),
    "hubs": lambda n, rng: hubs(n, rng),
    "three orders": lambda n, rng: uneven(near(rng.random((n, 2))), 3, rng),
    "twelve orders": lambda n, rng: uneven(near(rng.random((n, 2))), 12, rng),
}
BAD = {
    "path of twelve orders": lambda n, rng: uneven(chain(n), 12, rng),
    "narrow heat": lambda n, rng: near(roll(n, rng), gamma=12.0),
}
GRAPHS = {**GOOD, **BAD}


def laplacian(W):
    W = sp.csr_array(W)
    d = degrees(W)
    return normalized(W, d), np.sqrt(d)


@pytest.mark.parametrize("name", GRAPHS)
def test_no_pair_is_missed(name):
    for seed, n in enumerate((240, 605)):
        rng = np.random.default_rng(seed)
        L, u = laplacian(GRAPHS[name](n, rng))
        exact = np.linalg.eigvalsh(L.toarray())
        for k in (2, 3, 4, 11):
            pairs = TwoLevel()(L, k, "smallest", rng, start=u)
            # values are good to the square of residuals, and to rounding
            assert np.abs(pairs.values - exact[:k]).max() < 1e-14 + 1e-9 * exact[k], (n, k)
            assert pairs.certified and np.isclose(pairs.scale, exact[k], rtol=0.05, atol=1e-13)
            apart = pairs.vectors.T @ pairs.vectors - np.eye(k)
            assert np.abs(apart).max() < 1e-12


@pytest.mark.parametrize("name", GOOD)
def test_good_graphs_need_no_other_route(name, monkeypatch):
    monkeypatch.setattr(two_level, "ShiftInvert", None)
    rng = np.random.default_rng(0)
    L, u = laplacian(GRAPHS[name](600, rng))
    assert TwoLevel(last_roughly=True)(L, 4, "smallest", rng, start=u).values[0] < 1e-14


def test_steps_do_not_grow_with_the_graph():
    most = []
    for a in (24, 96):
        L, u = laplacian(grid(a, a))
        correct = two_level._Correction(L, u / np.linalg.norm(u), 10**9)
        # extreme values of B A by Lanczos, in the product that makes it symmetric: A
        rng = np.random.default_rng(0)
        V = [rng.standard_normal((a * a, 4))]
        for _ in range(12):
            V.append(correct(L @ V[-1]))
            V[-1] /= np.linalg.norm(V[-1], axis=0)
        Q = np.linalg.qr(np.column_stack(V))[0]
        Q = np.linalg.qr(Q - np.outer(u, u @ Q) / (u @ u))[0]
        image = np.column_stack([correct(L @ Q[:, c : c + 4]) for c in range(0, Q.shape[1], 4)])
        H = Q.T @ (L @ image)
        assert np.abs(H - H.T).max() < 1e-10  # B is symmetric
        found = np.linalg.eigvals(np.linalg.solve(Q.T @ (L @ Q), (H + H.T) / 2)).real
        assert found.min() > 0
        most.append(found.max() / found.min())
    assert max(most) < 12 and most[1] < 1.5 * most[0]


def test_powers_of_two_and_threads_change_no_bit():
    L, u = laplacian(grid(90, 80))
    one = TwoLevel()(L, 3, "smallest", start=u)
    scaled = TwoLevel()(L * 2.0**-60, 3, "smallest", start=4 * u)
    assert np.array_equal(one.vectors, scaled.vectors)
    assert np.array_equal(one.values, scaled.values * 2.0**60)
    for threads in (1, 2, 4):
        with limit_threads(threads):
            assert np.array_equal(TwoLevel()(L, 3, "smallest", start=u).vectors, one.vectors)


def test_where_another_route_takes_over():
    L, u = laplacian(grid(30, 20))
    exact = np.linalg.eigvalsh(L.toarray())
    route = TwoLevel()
    assert np.allclose(route(L, 3, "largest", start=u).values, exact[::-1][:3])
    assert np.allclose(route(L, 3, "smallest").values, exact[:3], atol=1e-12)  # nothing known
    wrong = np.arange(1.0, 601)  # no null vector
    assert np.allclose(route(L, 3, "smallest", start=wrong).values, exact[:3], atol=1e-12)
    assert np.allclose(route(L, 100, "smallest", start=u).values, exact[:100], atol=1e-9)
    squared = sp.csr_array(L @ L)  # positive off the diagonal
    assert is_laplacian(L) and not is_laplacian(squared) and not is_laplacian(L.toarray())
    assert np.allclose(route(squared, 3, "smallest", start=u).values, exact[:3] ** 2, atol=1e-12)
    weighted = sp.diags_array(u) @ L @ sp.diags_array(u)  # its diagonal is not constant
    assert not is_laplacian(sp.csr_array(weighted)) and not is_laplacian(L * 1e-200)
    with pytest.raises(NothingToInvertError):  # as many groups as points
        two_level._Correction(sp.eye_array(100, format="csr"), np.ones(100) / 10, 10**9)
    with pytest.raises(InputError, match="NaN"):
        route(L * np.nan, 3, "smallest", start=u)


def test_the_plan_takes_it_for_large_graphs():
    L, u = laplacian(near(roll(6000, np.random.default_rng(0)), 10))
    assert isinstance(plan(L, 4, "smallest", laplacian=True).solver, TwoLevel)
    assert isinstance(plan(L, 4, "smallest").solver, ShiftInvert)
    assert isinstance(plan(L, 40, "smallest", laplacian=True).solver, ShiftInvert)
    pairs, followed = bottom(L, u, 2)
    assert "two levels" in str(followed) and pairs.certified and len(pairs) == 2
    other, _ = bottom(L, u, 2, solver="shift-invert")
    assert np.allclose(pairs.values, other.values, rtol=1e-10)
    assert np.isclose(pairs.scale, other.scale, rtol=0.01)
    same_up_to_signs(pairs.vectors, other.vectors, rtol=1e-5)


def test_laplacian_eigenmaps_say_beforehand_what_they_do():
    X = roll(6000, np.random.default_rng(0))
    model = LaplacianEigenmaps(2, n_neighbors=10).fit(X)
    assert "two levels" in model.plan_.route
    assert "two levels" in LaplacianEigenmaps(2, n_neighbors=10).plan(X).route
    whole = LaplacianEigenmaps(2, n_neighbors=10, solver="shift-invert").fit(X)
    assert model.residuals_.max() <= model.tolerance_
    same_up_to_signs(model.embedding_, whole.embedding_, rtol=1e-5)


def plain_groups(L, share):
    """The same groups, as one would write them down."""
    n = len(L)
    link = np.where(np.eye(n, dtype=bool), 0.0, -L)
    least = share * link.max(axis=1)
    strong = (link > 0) & (link >= np.minimum.outer(least, least))
    labels, groups = np.full(n, -1), 0
    for i in range(n):
        mine = np.flatnonzero(strong[i])
        if labels[i] < 0 and (labels[mine] < 0).all():
            labels[i] = labels[mine] = groups
            groups += 1
    found = labels.copy()
    for i in np.flatnonzero(found < 0):
        taken = np.where(found >= 0, link[i], 0.0)
        if taken.max() > 0:
            labels[i] = found[np.argmax(taken)]
    assert (labels >= 0).all()  # whoever is left has a neighbor in a group
    return labels, groups


@pytest.mark.parametrize("name", GRAPHS)
def test_groups(name):
    L, _ = laplacian(GRAPHS[name](200, np.random.default_rng(1)))
    labels = np.empty(L.shape[0], L.indices.dtype)
    groups = aggregate(L.indptr, L.indices, L.data, 0.5, labels)
    known, many = plain_groups(L.toarray(), 0.5)
    assert groups == many and np.array_equal(labels, known)


@pytest.mark.parametrize("small", [np.int32, np.int64])
def test_loops_of_four_columns(small):
    rng = np.random.default_rng(0)
    D = sp.random_array((57, 57), density=0.2, rng=rng).toarray()
    D[13] = 0  # nobody's neighbor
    A = sp.csr_array(D)
    rows = A.indptr.astype(small), A.indices.astype(small), A.data
    V, B, Z = (rng.standard_normal((57, 4)) for _ in range(3))
    out, shift = np.full((57, 4), 7.0), rng.standard_normal(4)
    times(*rows, 10, 50, V, out)
    assert np.allclose(out[10:50], (A @ V)[10:50], atol=1e-14)
    assert (out[:10] == 7).all() and (out[50:] == 7).all()
    residual(*rows, 0, 57, V, shift, out)
    assert np.allclose(out, A @ V - V * shift, atol=1e-14)
    left, new, total = B.copy(), np.empty((57, 4)), Z.copy()
    relaxed(*rows, 0, 57, V, left, 0.3, 0.7, new, total)
    assert np.allclose(left, B - A @ V, atol=1e-14)
    assert np.allclose(new, 0.3 * V + 0.7 * left) and np.allclose(total, Z + new)

"""Weights and patches of neighborhoods against short twins, loops over points included."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from sklearn.manifold._locally_linear import barycenter_weights as peer_weights

from gramian.gram import alignment
from gramian.gram.barycenter import barycenter_weights, carried
from gramian.gram.neighbors import Neighbors
from gramian.loops.threads import limit_threads

rng = np.random.default_rng(4)
X = rng.standard_normal((90, 5)) @ np.diag([3, 2, 1, 0.1, 0.01])
WIDE = rng.standard_normal((60, 20))


def scattered(points, parts, n):
    M = np.zeros((n, n))
    for where, C in zip(points, parts, strict=True):
        M[np.ix_(where, where)] += C
    return M


def with_itself(indices):
    return np.column_stack([np.arange(len(indices)), indices])


@pytest.mark.parametrize("data", [X, WIDE, X.astype(np.float32), np.repeat(X[:40], 2, axis=0)])
@pytest.mark.parametrize("k", [1, 4, 9])
def test_weights_are_those_of_scikit_learn(data, k):
    indices = Neighbors.of(data, k).table[0]
    ours = barycenter_weights(data, data, indices, 1e-3)
    exact = data.astype(np.float64)
    # the condition of a regularized Gram matrix is at most about 1 / reg
    assert np.abs(ours - peer_weights(exact, exact, indices, 1e-3)).max() < 1e-10
    assert np.allclose(ours.sum(axis=1), 1)


def test_weights_do_not_see_rotation_shift_and_scale():
    indices = Neighbors.of(X, 6).table[0]
    Q = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    moved = 7 * X @ Q + 3
    a, b = (barycenter_weights(data, data, indices, 1e-3) for data in (X, moved))
    assert np.abs(a - b).max() < 1e-9


def test_a_point_at_its_neighbors_place_has_equal_weights():
    data = np.zeros((5, 2))
    indices = np.array([[1, 2, 3, 4]])
    assert np.allclose(barycenter_weights(data[:1], data, indices), 0.25)


def test_the_sum_of_patches_is_the_plain_loop_on_any_number_of_threads():
    for n, m in ((1, 1), (7, 3), (9000, 4)):
        points = np.stack([rng.choice(n, m, replace=False) for _ in range(n)])
        parts = rng.standard_normal((n, m, m))
        parts += parts.transpose(0, 2, 1)
        with limit_threads(1):
            one = alignment.aligned(points, parts)
        with limit_threads(3):
            three = alignment.aligned(points, parts)
        assert np.array_equal(one.data, three.data) and np.array_equal(one.indices, three.indices)
        assert one.has_sorted_indices
        rows = np.repeat(points, m, axis=1).ravel()
        columns = np.tile(points, (1, m)).ravel()
        plain = sp.coo_array((parts.ravel(), (rows, columns)), shape=(n, n)).tocsr()
        assert abs(one - plain).max() < 1e-12


def test_standard_is_the_square_of_i_minus_w():
    indices = Neighbors.of(X, 6).table[0]
    W = np.zeros((90, 90))
    np.put_along_axis(W, indices, barycenter_weights(X, X, indices), axis=1)
    B = np.eye(90) - W
    assert np.abs(alignment.reconstruction(X, indices, 1e-3).toarray() - B.T @ B).max() < 1e-13


@pytest.mark.parametrize("data", [X, WIDE])
def test_tangents_and_hessian_by_svd_and_qr_a_point_at_a_time(data):
    d, k = 2, 9
    indices = Neighbors.of(data, k).table[0]
    tangents, hessians = [], []
    for where in indices:
        C = data[where] - data[where].mean(axis=0)
        U = np.linalg.svd(C, full_matrices=False)[0][:, :d]
        G = np.column_stack([np.full(k, k**-0.5), U])
        tangents.append(np.eye(k) - G @ G.T)
        Y = np.column_stack([np.ones(k), U, U[:, 0] ** 2, U[:, 0] * U[:, 1], U[:, 1] ** 2])
        Q = scipy.linalg.qr(Y, mode="economic")[0][:, d + 1 :]
        hessians.append(Q @ Q.T)
    n = len(data)
    for form, parts in ((alignment.tangents, tangents), (alignment.hessian, hessians)):
        assert np.abs(form(data, indices, d).toarray() - scattered(indices, parts, n)).max() < 1e-10


def paper_patch(differences, s, reg):
    """Zhang and Wang: s weight vectors by a Householder reflection."""
    k = len(differences)
    V, sigma, _ = np.linalg.svd(differences, full_matrices=True)
    values = np.zeros(k)
    values[: len(sigma)] = sigma**2
    w = V @ ((V.T @ np.ones(k)) / (values + reg * values.sum()))
    w /= w.sum()
    Vs = V[:, k - s :]
    a = np.linalg.norm(Vs.sum(axis=0)) / np.sqrt(s)
    h = a - Vs.sum(axis=0)
    h = h / np.linalg.norm(h) if np.linalg.norm(h) > 1e-12 else 0 * h
    W = Vs - 2 * np.outer(Vs @ h, h) + (1 - a) * w[:, None]
    whole = np.vstack([-np.ones(s), W])
    return whole @ whole.T


@pytest.mark.parametrize("data", [X, WIDE])
def test_modified_is_the_paper_whatever_the_basis(data):
    d, k = 2, 9
    indices = Neighbors.of(data, k).table[0]
    values = alignment.local_shape(data, indices, data).values
    s = alignment._least(values, k, d)
    assert len(np.unique(s)) > 1
    parts = [
        paper_patch(data[where] - x, many, 1e-3)
        for x, where, many in zip(data, indices, s, strict=True)
    ]
    expected = scattered(with_itself(indices), parts, len(data))
    assert np.abs(alignment.modified(data, indices, d, 1e-3).toarray() - expected).max() < 1e-9


@pytest.mark.parametrize("form", ["reconstruction", "modified", "hessian", "tangents"])
def test_maps_are_positive_and_blind_to_constants(form):
    indices = Neighbors.of(X, 8).table[0]
    settings = {"reconstruction": (1e-3,), "modified": (2, 1e-3)}.get(form, (2,))
    M = getattr(alignment, form)(X, indices, *settings)
    assert np.abs(M @ np.ones(len(X))).max() < 1e-11
    assert np.linalg.eigvalsh(M.toarray()).min() > -1e-12
    assert abs(M - M.T).max() < 1e-14


@pytest.mark.parametrize("form", ["hessian", "tangents"])
def test_a_plane_is_flat_to_hessian_and_tangents(form):
    flat = rng.random((300, 2)) @ rng.standard_normal((2, 6)) + 50
    indices = Neighbors.of(flat, 9).table[0]
    M = getattr(alignment, form)(flat, indices, 2)
    assert np.abs(M @ flat).max() < 1e-9 * np.abs(flat).max()  # linear functions cost nothing


def test_hessian_of_neighbors_on_a_line_says_nothing_wrong():
    line = np.column_stack([np.arange(30.0), np.zeros(30)])
    M = alignment.hessian(line, Neighbors.of(line, 7).table[0], 2)
    assert np.isfinite(M.data).all() and np.abs(M @ line).max() < 1e-9


def test_carried_keeps_points_of_the_data():
    Z = np.array([[1.0, 2.0], [3.0, 5.0], [0.0, 0.0]])
    near = np.array([0, 2, 4]), np.array([1, 0, 0, 2]), np.array([0.0, 1.0, 1.0, 3.0])
    placed = carried(Z, near, np.array([0.7, 0.3, 0.5, 0.5]), np.array([2.0, 4.0]))
    assert np.array_equal(placed, [[3, 5], [1, 4]])

"""LocallyLinearEmbedding and LaplacianEigenmaps: contract, theorems, new points, bad input."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_swiss_roll
from sklearn.utils.estimator_checks import parametrize_with_checks

from gramian import LaplacianEigenmaps, LocallyLinearEmbedding
from gramian.errors import GramianWarning, InputError
from gramian.loops.threads import limit_threads
from gramian.testing import same_up_to_rotation, same_up_to_signs

FORMS = ("standard", "modified", "hessian", "ltsa")
ROLL, T = make_swiss_roll(1500, random_state=1)
ARC = 0.5 * (T * np.sqrt(1 + T * T) + np.arcsinh(T))  # length along the spiral
MODELS = [
    *(LocallyLinearEmbedding(2, n_neighbors=12, method=form) for form in FORMS),
    LaplacianEigenmaps(2),
    LaplacianEigenmaps(2, affinity="knn", time=3),
    LaplacianEigenmaps(2, radius=3.0, gamma=0.5),
]


@parametrize_with_checks(
    [
        *(
            LocallyLinearEmbedding(1, n_neighbors=4, method=form, disconnected="join")
            for form in FORMS
        ),
        LaplacianEigenmaps(1, n_neighbors=4, disconnected="join"),
        LaplacianEigenmaps(1, n_neighbors=4, affinity="knn", time=1, disconnected="join"),
    ]
)
def test_scikit_learn_contract(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GramianWarning)
        check(estimator)


def r_squared(Z, y):
    A = np.column_stack([np.ones(len(Z)), Z])
    return 1 - (y - A @ np.linalg.lstsq(A, y, rcond=None)[0]).var() / y.var()


# Theorems -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["modified", "hessian", "ltsa"])
def test_the_swiss_roll_is_unrolled(form):
    Z = LocallyLinearEmbedding(2, n_neighbors=12, method=form).fit_transform(ROLL)
    assert r_squared(Z, ARC) > 0.999 and r_squared(Z, ROLL[:, 1]) > 0.999


def test_standard_finds_the_length_of_the_roll():
    Z = LocallyLinearEmbedding(2, n_neighbors=12).fit_transform(ROLL)
    assert r_squared(Z, ARC) > 0.999


@pytest.mark.parametrize("form", ["hessian", "ltsa"])
def test_a_plane_with_a_hole_is_recovered_up_to_an_affine_map(form):
    # Donoho and Grimes: Isomap fails here, since shortest paths go around the hole
    rng = np.random.default_rng(0)
    plane = rng.uniform(-1, 1, (1200, 2))
    plane = plane[np.abs(plane).max(axis=1) > 0.4]
    u, height = plane.T
    curved = np.column_stack([np.cos(2 * u), np.sin(2 * u), 2 * height])  # an isometry, times 2
    model = LocallyLinearEmbedding(2, n_neighbors=12, method=form).fit(curved)
    assert min(r_squared(model.embedding_, u), r_squared(model.embedding_, height)) > 0.999
    flat = LocallyLinearEmbedding(2, n_neighbors=12, method=form).fit(plane)
    assert min(r_squared(flat.embedding_, u), r_squared(flat.embedding_, height)) > 1 - 1e-9
    assert flat.n_zero_ == 2 and "zero to rounding" in " ".join(flat._said())


def test_ring_and_path_have_known_laplacians():
    t = 2 * np.pi * np.arange(700) / 700
    ring = np.column_stack([np.cos(t), np.sin(t)])
    model = LaplacianEigenmaps(4, affinity="knn", n_neighbors=2).fit(ring)
    exact = 1 - np.cos(2 * np.pi * np.array([1, 1, 2, 2]) / 700)  # (2 - 2 cos) / degree 2
    assert np.abs(model.eigenvalues_ - exact).max() < 1e-14
    circle = model.embedding_[:, :2]
    radii = np.linalg.norm(circle, axis=1)
    assert np.ptp(radii) < 1e-8 * radii.mean()
    n = 650
    W = sp.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[-1, 1])
    path = LaplacianEigenmaps(3, affinity="precomputed").fit(W)
    exact = 1 - np.cos(np.pi * np.arange(1, 4) / (n - 1))  # the normalized Laplacian of a path
    assert np.abs(path.eigenvalues_ - exact).max() < 1e-14


def test_laplacian_coordinates_solve_the_generalized_problem():
    model = LaplacianEigenmaps(3).fit(ROLL)
    W = model.affinity_matrix_
    d, Z = W.sum(axis=1), model.embedding_
    assert np.abs(d[:, None] * Z - W @ Z - model.eigenvalues_ * d[:, None] * Z).max() < 1e-12
    assert np.allclose(Z.T @ (d[:, None] * Z), np.eye(3), atol=1e-10)
    assert np.abs(d @ Z).max() < 1e-10  # orthogonal to the constant


def test_diffusion_maps_give_diffusion_distances():
    X = ROLL[:60]
    for t in (0, 1, 4, 2.5):
        model = LaplacianEigenmaps(59, n_neighbors=20, disconnected="join", time=t).fit(X)
        W = model.affinity_matrix_.toarray()
        d = W.sum(axis=1)
        values, V = np.linalg.eigh(W / np.sqrt(np.outer(d, d)))
        P = (V * np.abs(values) ** t) @ V.T  # symmetric; even t and slow modes need no sign
        P = P * np.sqrt(d)[None, :] / np.sqrt(d)[:, None]
        apart = (P[:, None, :] - P[None, :, :]) ** 2 / (d / d.sum())
        Z = model.embedding_
        ours = ((Z[:, None, :] - Z[None, :, :]) ** 2).sum(axis=2)
        assert np.abs(ours - apart.sum(axis=2)).max() < 1e-8 * ours.max()


def test_lle_coordinates_are_centered_and_white():
    for form in FORMS:
        Z = LocallyLinearEmbedding(2, n_neighbors=12, method=form).fit_transform(ROLL)
        assert np.abs(Z.mean(axis=0)).max() < 1e-8
        assert np.allclose(Z.T @ Z / len(Z), np.eye(2), atol=1e-8)


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_order_shift_scale_and_threads_change_nothing(model):
    X = ROLL
    reference = model.fit_transform(X)
    order = np.random.default_rng(3).permutation(1500)
    same_up_to_signs(model.fit_transform(X[order]), reference[order], rtol=1e-5)
    if "gamma" not in model.get_params() or model.gamma == "median":
        same_up_to_signs(model.fit_transform(4 * X + 10), reference, rtol=1e-5)
    with limit_threads(1):
        one = model.fit_transform(X)
    assert np.array_equal(one, model.fit_transform(X))


@pytest.mark.parametrize("size", [1e-170, 1e170])
def test_tiny_and_huge_numbers(size):
    for model in (LocallyLinearEmbedding(2, n_neighbors=12), LaplacianEigenmaps(2)):
        plain = model.fit_transform(ROLL[:900])
        same_up_to_signs(model.fit_transform(ROLL[:900] * size), plain, rtol=1e-5)
        same_up_to_signs(model.transform(ROLL[:9] * size), plain[:9], rtol=1e-5)


def test_float32_stays_float32():
    for model in (LocallyLinearEmbedding(2, n_neighbors=12, method="ltsa"), LaplacianEigenmaps(2)):
        Z = model.fit_transform(ROLL.astype(np.float32))
        assert Z.dtype == np.float32
        assert model.transform(ROLL[:5].astype(np.float32)).dtype == np.float32


# New points ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_training_points_are_placed_where_they_are(model):
    model.fit(ROLL)
    assert np.array_equal(model.transform(ROLL), model.embedding_)
    assert not model.placement_residual(ROLL).any()


@pytest.mark.parametrize("model", MODELS[1:], ids=str)
def test_new_points_land_where_a_fit_to_all_puts_them(model):
    X = make_swiss_roll(2500, random_state=0)[0]
    whole = model.fit(X).embedding_[2000:]
    placed = model.fit(X[:2000]).transform(X[2000:])
    for column in whole.T:
        assert r_squared(placed, column) > 0.98


def test_nystrom_of_a_precomputed_row_is_the_identity():
    W = LaplacianEigenmaps(2).fit(ROLL).affinity_matrix_
    for time in (None, 2):
        model = LaplacianEigenmaps(3, affinity="precomputed", time=time).fit(W)
        size = np.abs(model.embedding_).max()
        assert np.abs(model.transform(W) - model.embedding_).max() < 1e-9 * size
        assert np.abs(model.transform(W.toarray()[:4]) - model.embedding_[:4]).max() < 1e-9 * size
    with pytest.raises(InputError, match="expecting 1500 features"):
        model.transform(W[:, :5])
    assert np.abs(model.placement_residual(W)).max() < 1e-14
    assert np.allclose(model.placement_residual(np.zeros((2, 1500))), 1)


def test_placement_residual_grows_with_distance():
    far = ROLL[:3] + np.array([[0, 0, 0], [0, 50, 0], [0, 500, 0]])
    for model in (LocallyLinearEmbedding(2, n_neighbors=12), LaplacianEigenmaps(2)):
        near, farther, farthest = model.fit(ROLL).placement_residual(far)
        assert near == 0 < 25 < farther < farthest


# Broken graphs ------------------------------------------------------------------------------------

TWO = np.vstack([ROLL[:700] + np.array([0, 0, 300]), ROLL[700:1500]])


@pytest.mark.parametrize(
    "model",
    [
        *(LocallyLinearEmbedding(2, n_neighbors=12, method=form) for form in FORMS),
        LaplacianEigenmaps(2),
    ],
    ids=str,
)
def test_graphs_in_parts(model):
    with pytest.raises(InputError, match="in 2 parts, of 800 and 700 points"):
        model.set_params(disconnected="error").fit(TWO)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GramianWarning)  # one bridge hardly holds them together
        joined = model.set_params(disconnected="join").fit(TWO)
    assert len(joined.kept_) == 1500 and joined.embedding_.shape == (1500, 2)
    assert len(np.unique(joined.to_embedding().edges, axis=0)) == len(joined.to_embedding().edges)
    with pytest.warns(GramianWarning, match="700 points outside the largest part"):
        largest = model.set_params(disconnected="largest").fit(TWO)
    assert np.array_equal(largest.kept_, np.arange(700, 1500))
    part = largest.embedding_[700:]
    alone = model.set_params(disconnected="error").fit(TWO[700:])
    same_up_to_signs(part, alone.embedding_, rtol=1e-5)
    with pytest.raises(InputError, match="disconnected='both'"):
        model.set_params(disconnected="both").fit(TWO)
    model.set_params(disconnected="error")


def test_duplicates_are_neighbors_but_nobody_is_its_own():
    X = np.repeat(ROLL[:400], 2, axis=0)  # half of the rows are copies
    for form in FORMS:
        model = LocallyLinearEmbedding(2, n_neighbors=16, method=form, disconnected="join").fit(X)
        assert np.isfinite(model.embedding_).all() and model.residuals_.max() <= model.tolerance_
    model = LaplacianEigenmaps(2, n_neighbors=16, disconnected="join").fit(X)
    apart = np.abs(model.embedding_[::2] - model.embedding_[1::2]).max()
    assert apart < 0.2 * np.ptp(model.embedding_)


def test_points_that_are_nobodys_neighbor_do_not_get_an_axis_of_their_own():
    X = np.random.default_rng(1).standard_normal((300, 20))  # in many dimensions there are such
    for form in ("hessian", "ltsa"):
        model = LocallyLinearEmbedding(2, n_neighbors=12, method=form).fit(X)
        assert model.n_zero_ == 0 and model.eigenvalues_[0] > 1e-6


def test_repeated_eigenvalues_are_grouped_not_missed():
    t = 2 * np.pi * np.arange(900) / 900
    ring = np.column_stack([np.cos(t), np.sin(t)])
    model = LocallyLinearEmbedding(2, n_neighbors=4, method="ltsa").set_params(n_components=1)
    line = model.fit(ring)
    assert line.residuals_.max() <= line.tolerance_
    pairs = LaplacianEigenmaps(6, n_neighbors=6).fit(ring).eigenvalues_
    assert np.allclose(pairs[::2], pairs[1::2], rtol=1e-9)


# Bad input ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (
            LocallyLinearEmbedding(2, n_neighbors=50),
            "a whole number from 1 to n - 1 = 49",
        ),
        (LocallyLinearEmbedding(2, n_neighbors=0), "n_neighbors=0"),
        (LocallyLinearEmbedding(2, n_neighbors=2.5), "n_neighbors=2.5"),
        (LocallyLinearEmbedding(50), "n_components=50: a whole number from 1 to 49"),
        (LocallyLinearEmbedding(2, method="hessian", n_neighbors=5), "needs at least 6"),
        (LocallyLinearEmbedding(2, method="ltsa", n_neighbors=2), "needs at least 3"),
        (LocallyLinearEmbedding(3, method="modified", n_neighbors=2), "needs at least 3"),
        (LocallyLinearEmbedding(4, method="ltsa"), "as there are variables, 3"),
        (LocallyLinearEmbedding(2, method="dense"), "method='dense': use one of 'standard'"),
        (LocallyLinearEmbedding(2, reg=0), "reg=0"),
        (LocallyLinearEmbedding(2, solver="lobpcg"), "solver='lobpcg'"),
        (LaplacianEigenmaps(2, n_neighbors=50), "n_neighbors=50"),
        (LaplacianEigenmaps(2, affinity="rbf"), "affinity='rbf'"),
        (LaplacianEigenmaps(2, gamma=-1.0), "gamma=-1.0"),
        (LaplacianEigenmaps(2, time=-1), "time=-1"),
        (LaplacianEigenmaps(2, radius=-1), "radius=-1"),
        (LaplacianEigenmaps(2, radius=1e-9), "50 points without any neighbor"),
        (LaplacianEigenmaps(2, gamma=1e9), "isolated"),
        (LaplacianEigenmaps(2, affinity="precomputed"), "must be square"),
    ],
    ids=str,
)
def test_bad_parameters(model, words):
    with pytest.raises(InputError, match=words):
        model.fit(ROLL[:50])


@pytest.mark.parametrize("model", [LocallyLinearEmbedding(1), LaplacianEigenmaps(1)], ids=str)
def test_bad_data(model):
    with pytest.raises(InputError, match="all points are equal"):
        model.fit(np.ones((30, 3)))
    holed = ROLL[:50].copy()
    holed[7, 1] = np.nan
    with pytest.raises(InputError, match="NaN.*row 7, column 1"):
        model.fit(holed)


def test_precomputed_graphs_that_are_none():
    model = LaplacianEigenmaps(1, affinity="precomputed")
    W = np.ones((4, 4))
    for bad, words in (
        (W * [[1], [1], [1], [2]], "not symmetric"),
        (-W, "negative"),
        (np.kron(np.eye(2), np.ones((2, 2))), "in 2 parts, of 2 and 2 points"),
        (np.diag([1.0, 1, 1, 1]) + np.diag([1.0, 1, 0], 1) + np.diag([1.0, 1, 0], -1), "row 3"),
    ):
        with pytest.raises(InputError, match=words):
            model.fit(bad)


def test_new_points_beyond_the_radius_go_with_their_nearest():
    model = LaplacianEigenmaps(2, radius=3.0).fit(ROLL)
    far = np.array([[0.0, 900.0, 0.0]])
    nearest = int(np.argmin(np.linalg.norm(ROLL - far, axis=1)))
    wanted = model.embedding_[nearest] / (1 - model.eigenvalues_)
    assert np.allclose(model.transform(far)[0], wanted, rtol=1e-12)
    assert np.isclose(model.placement_residual(far)[0], np.linalg.norm(ROLL[nearest] - far[0]))


def test_a_graph_that_hardly_hangs_together_is_said():
    X = np.r_[np.arange(30.0), 37 + np.arange(30.0)][:, None] * [1.0, 0.0]
    model = LaplacianEigenmaps(1, n_neighbors=2, gamma=1.0, disconnected="join").fit(X)
    assert model.n_zero_ == 1 and "hardly hang together" in " ".join(model._said())
    with pytest.warns(GramianWarning, match="cannot be told from zero"):
        LaplacianEigenmaps(1, n_neighbors=2, gamma=1.0, disconnected="join").fit(
            np.r_[X, X + np.array([80.0, 0])]
        )


# What is shown ------------------------------------------------------------------------------------


def test_embedding_carries_the_graph_and_no_shares():
    model = LocallyLinearEmbedding(2, n_neighbors=12).fit(ROLL)
    shown = model.to_embedding()
    assert shown.explained is None and shown.certified and shown.axis_names == ("LLE1", "LLE2")
    assert shown.edges.min() == 0 and shown.edges.max() == 1499
    assert (shown.edges[:, 0] < shown.edges[:, 1]).all()
    assert shown.measures["reconstruction_error"] == model.reconstruction_error_
    assert shown.measures["zero_eigenvalues"] == 1
    assert model.to_embedding(ROLL[:5]).edges is None
    assert str(model.plan_) and "shift-invert" in str(model.plan_)
    assert model.plan(ROLL).bytes > 0


def test_solvers_agree():
    for solver in ("dense", "shift-invert", "auto"):
        model = LaplacianEigenmaps(3, solver=solver).fit(ROLL)
        reference = LaplacianEigenmaps(3).fit(ROLL)
        same_up_to_rotation(model.embedding_, reference.embedding_, rtol=1e-6)
        assert np.allclose(model.eigenvalues_, reference.eigenvalues_, rtol=1e-8)

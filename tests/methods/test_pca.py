"""PCA: theorems, attributes, every kind of input, the contract of scikit-learn."""

import warnings

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, make_low_rank_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from gramian import PCA
from gramian.errors import GramianWarning
from gramian.maps import ImplicitMap, to_dense
from gramian.spectral.krylov import BlockKrylov
from gramian.spectral.solvers import Dense
from gramian.testing import same_subspace, same_up_to_signs, tolerance

IRIS = load_iris().data
DIGITS = load_digits().data


def spectrum_of(X, ddof=1):
    """The truth: SVD of data centered in extended precision."""
    Y = (X.astype(np.longdouble) - X.astype(np.longdouble).mean(axis=0)).astype(np.float64)
    _, s, Vt = np.linalg.svd(Y, full_matrices=False)
    return s**2 / (len(X) - ddof), Vt


@parametrize_with_checks(
    [PCA(), PCA(1), PCA(solver="krylov"), PCA(solver="dense"), PCA(whiten=True)]
)
def test_sklearn_contract(estimator, check):
    check(estimator)


SHAPES = [
    (2, 1),
    (2, 5),
    (3, 2),
    (50, 6),
    (6, 50),
    (40, 40),
    (41, 40),
    (300, 3),
    (3000, 20),
    (20, 3000),
]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("solver", ["auto", "dense", "krylov"])
def test_equals_svd(shape, dtype, order, solver):
    rng = np.random.default_rng(0)
    p = shape[1]
    X = np.asarray(rng.standard_normal(shape) * np.geomspace(3, 0.5, p) + 7, dtype, order=order)
    kept = X.copy()
    k = min(shape[0] - 1, p, 5)
    model = PCA(k, solver=solver).fit(X)
    values, Vt = spectrum_of(X)
    tol = max(
        tolerance(dtype, max(shape), 30), 1e-4 if dtype == np.float32 and solver == "krylov" else 0
    )
    tol = max(tol, 1e-6 if solver == "krylov" else 0)
    assert np.abs(model.explained_variance_ / values[0] - values[:k] / values[0]).max() <= tol
    assert np.abs(model.components_ @ model.components_.T - np.eye(k)).max() <= tol
    assert np.array_equal(X, kept)
    assert model.components_.dtype == dtype and model.transform(X).dtype == dtype
    gaps = np.abs(np.diff(values[: k + 1])) / values[0] if len(values) > k else np.ones(1)
    if gaps.min() > 1e-3:
        same_up_to_signs(
            model.components_.T, Vt[:k].T, rtol=max(100 * tol, 1e-3 if tol > 1e-7 else 0)
        )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_so_long_that_threads_share_their_columns(dtype):
    rng = np.random.default_rng(0)
    n, p, k = 42, 33_001, 5
    signal = rng.standard_normal((n, k)) * [9, 7, 5, 4, 3] @ rng.standard_normal((k, p))
    X = (signal + rng.standard_normal((n, p)) + 100).astype(dtype)
    model = PCA(k).fit(X)
    values, Vt = spectrum_of(X)
    tol = tolerance(dtype, p, 30)
    assert np.abs(model.mean_ - X.mean(axis=0, dtype=np.float64)).max() <= 1e-10
    assert np.abs(model.explained_variance_ / values[:k] - 1).max() <= tol
    same_up_to_signs(model.components_.T, Vt[:k].T, rtol=max(100 * tol, 1e-6))
    copies = np.arange(n) % 3 + 1
    weighted = PCA(k, ddof=0).fit(X, sample_weight=copies)
    values, _ = spectrum_of(np.repeat(X, copies, axis=0), ddof=0)
    assert np.abs(weighted.explained_variance_ / values[:k] - 1).max() <= tol
    X[n - 1, p - 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        PCA(k).fit(X)


def test_certificate_is_the_true_residual():
    rng = np.random.default_rng(1)
    for dtype in (np.float32, np.float64):
        for shape in ((4000, 30), (30, 4000), (900, 800), (200, 7)):
            X = (rng.standard_normal(shape) + 3).astype(dtype)
            for solver in ("auto", "krylov"):
                model = PCA(4, solver=solver).fit(X)
                Y = X.astype(np.float64) - X.mean(axis=0, dtype=np.float64)
                V = model.components_.T.astype(np.float64)
                true = np.linalg.norm(Y.T @ (Y @ V) - V * model.singular_values_**2, axis=0)
                true /= model.singular_values_[0] ** 2
                noise = 4 * np.finfo(dtype).eps  # components_ are rounded to the data's precision
                assert np.all(model.residuals_ >= 0.5 * true - noise)
                assert model.residuals_.max() <= model.tolerance_


def test_every_storage_gives_the_same(tmp_path):
    rng = np.random.default_rng(2)
    X = rng.integers(0, 9, (120, 7)).astype(np.float64)
    np.save(tmp_path / "x.npy", X)
    np.savez(tmp_path / "x.npz", X=X)
    frame = pd.DataFrame(X, columns=list("abcdefg"))
    frame.to_csv(tmp_path / "x.csv", index=False)
    frame.to_csv(tmp_path / "x.tsv", index=False, sep="\t")
    pl.from_pandas(frame).write_parquet(tmp_path / "x.parquet")
    locked = X.copy()
    locked.flags.writeable = False
    sources = {
        "list": X.tolist(),
        "fortran": np.asfortranarray(X),
        "strided": np.repeat(X, 2, 0)[::2],
        "read-only": locked,
        "int": X.astype(np.int64),
        "uint8": X.astype(np.uint8),
        "object": X.astype(object),
        "big-endian": X.astype(">f8"),
        "float16": X.astype(np.float16),
        "csr": sp.csr_array(X),
        "csc": sp.csc_matrix(X),
        "coo": sp.coo_array(X),
        "pandas": frame,
        "polars": pl.from_pandas(frame),
        "memmap": np.load(tmp_path / "x.npy", mmap_mode="r"),
        "npy": tmp_path / "x.npy",
        "npy str": str(tmp_path / "x.npy"),
        "npz": tmp_path / "x.npz",
        "csv": tmp_path / "x.csv",
        "tsv": tmp_path / "x.tsv",
        "parquet": tmp_path / "x.parquet",
    }
    reference = PCA(3).fit(X)
    Z = reference.transform(X)
    for name, source in sources.items():
        model = PCA(3).fit(source)
        rtol = 1e-5 if name == "float16" else 1e-12
        assert np.allclose(model.explained_variance_, reference.explained_variance_, rtol=rtol), (
            name
        )
        same_up_to_signs(model.transform(source), Z, rtol=10 * rtol)
        same_up_to_signs(PCA(3).fit_transform(source), Z, rtol=10 * rtol)


def test_booleans():
    X = np.random.default_rng(0).random((60, 4)) < 0.4
    assert np.allclose(
        PCA().fit(X).explained_variance_, PCA().fit(X.astype(float)).explained_variance_
    )


def test_fraction_grows_only_as_far_as_needed():
    model = PCA(0.9).fit(DIGITS)
    assert model.n_components_ == 21
    assert [PCA(f).fit(DIGITS).n_components_ for f in (0.95, 0.99)] == [29, 41]
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1500, 900)) * np.r_[np.full(40, 20.0), np.full(860, 0.1)]
    model = PCA(0.5).fit(X)
    values, _ = spectrum_of(X)
    assert model.n_components_ == np.searchsorted(np.cumsum(values) / values.sum(), 0.5) + 1
    assert "64" in model.plan_.route  # not 900 pairs
    assert PCA(0.999999).fit(IRIS).n_components_ == 4


def test_total_reconstruction_noise_volume():
    values, _ = spectrum_of(IRIS)
    model = PCA(2).fit(IRIS)
    assert np.isclose(model.total_variance_, values.sum(), rtol=1e-13)
    assert np.isclose(model.reconstruction_error_, values[2:].sum(), rtol=1e-11)
    assert np.isclose(model.noise_variance_, values[2:].mean(), rtol=1e-11)
    assert np.isclose(model.log_generalized_variance_, np.log(values).sum(), rtol=1e-11)
    left = IRIS - model.inverse_transform(model.transform(IRIS))
    assert np.isclose(np.sum(left**2) / 149, model.reconstruction_error_, rtol=1e-11)
    assert PCA().fit(DIGITS).log_generalized_variance_ == -np.inf
    assert PCA(3).fit(DIGITS[:20]).log_generalized_variance_ == -np.inf
    scaled = PCA(scale="unit").fit(IRIS)
    assert np.isclose(scaled.log_generalized_variance_, np.linalg.slogdet(np.corrcoef(IRIS.T))[1])


def test_correlations_cos2_contributions():
    for scale in (None, "unit"):
        model = PCA(3, scale=scale).fit(IRIS)
        Z = model.transform(IRIS)
        R = np.array([[np.corrcoef(x, z)[0, 1] for z in Z.T] for x in IRIS.T])
        assert np.allclose(model.correlations_, R, atol=1e-12)
        assert np.allclose(model.cos2_, R**2, atol=1e-12)
        assert np.allclose(model.contributions_.sum(axis=0), 1)
        assert np.allclose(model.contributions(IRIS).sum(axis=0), 1)
        full = PCA(scale=scale).fit(IRIS)
        assert np.allclose(full.cos2(IRIS).sum(axis=1), 1)
        Y = (IRIS - IRIS.mean(axis=0)) / (1 if scale is None else IRIS.std(axis=0, ddof=1))
        assert np.allclose(model.cos2(IRIS), Z**2 / np.sum(Y**2, axis=1)[:, None])


def test_placement_residual_and_inverse():
    model = PCA(2).fit(IRIS)
    inside = model.inverse_transform(np.array([[1.0, -2.0], [0.0, 0.0]]))
    assert model.placement_residual(inside).max() < 1e-13
    normal = np.linalg.svd(model.components_)[2][2]
    assert np.allclose(model.placement_residual(inside + 0.7 * normal), 0.7)
    assert np.allclose(model.transform(inside), [[1, -2], [0, 0]], atol=1e-13)
    for options in ({}, {"scale": "unit"}, {"whiten": True}, {"scale": "unit", "whiten": True}):
        full = PCA(**options).fit(IRIS)
        assert np.allclose(full.inverse_transform(full.transform(IRIS)), IRIS)


@pytest.mark.parametrize("options", [{}, {"scale": "unit"}, {"ddof": 0}])
def test_scores_are_gaussian_densities(options):
    for k in (1, 2, 3, 4):
        model = PCA(k, **options).fit(IRIS)
        C = model.get_covariance()
        reference = multivariate_normal(model.mean_, C).logpdf(IRIS)
        assert np.allclose(model.score_samples(IRIS), reference)
        assert np.isclose(model.score(IRIS), reference.mean())
        assert np.allclose(model.get_precision(), np.linalg.inv(C))


def test_wide_covariance_is_a_map_and_densities_agree():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((12, 30)) * np.geomspace(5, 1, 30)
    model = PCA(4).fit(X)
    C, P = model.get_covariance(), model.get_precision()
    assert isinstance(C, ImplicitMap) and isinstance(P, ImplicitMap)
    assert np.allclose(to_dense(C) @ to_dense(P), np.eye(30))
    new = rng.standard_normal((5, 30))
    assert np.allclose(
        model.score_samples(new), multivariate_normal(model.mean_, to_dense(C)).logpdf(new)
    )
    # the model's variance is the data's: p - k directions share what is left
    assert np.isclose(np.trace(to_dense(C)), model.total_variance_)
    huge = PCA(2).fit(rng.standard_normal((6, 60_000)))  # 60000 x 60000 would be 29 GB
    assert np.isfinite(huge.score(rng.standard_normal((3, 60_000))))


def test_from_covariance_equals_fit():
    for scale in (None, "unit"):
        fitted = PCA(3, scale=scale).fit(IRIS)
        model = PCA.from_covariance(
            np.cov(IRIS.T), IRIS.mean(axis=0), 150, n_components=3, scale=scale
        )
        for name in (
            "explained_variance_",
            "explained_variance_ratio_",
            "singular_values_",
            "mean_",
            "noise_variance_",
            "total_variance_",
            "reconstruction_error_",
            "correlations_",
            "log_generalized_variance_",
            "components_",
        ):
            assert np.allclose(getattr(model, name), getattr(fitted, name), atol=1e-9), name
        assert np.allclose(model.transform(IRIS), fitted.transform(IRIS), atol=1e-9)
        assert np.isclose(model.score(IRIS), fitted.score(IRIS))
    names = list("abcd")
    frame = pd.DataFrame(np.corrcoef(IRIS.T), columns=names)
    model = PCA.from_covariance(frame)
    assert list(model.feature_names_in_) == names and model.singular_values_ is None
    assert np.isclose(model.total_variance_, 4)
    assert PCA.from_covariance(np.cov(IRIS.T), n_components=0.95).n_components_ == 2


def test_sample_weight_is_repetition():
    rng = np.random.default_rng(4)
    w = rng.integers(0, 4, 150)
    a, b = PCA(3).fit(IRIS, sample_weight=w), PCA(3).fit(np.repeat(IRIS, w, axis=0))
    for name in (
        "explained_variance_",
        "mean_",
        "singular_values_",
        "total_variance_",
        "correlations_",
    ):
        assert np.allclose(getattr(a, name), getattr(b, name), rtol=1e-11), name
    same_up_to_signs(a.components_.T, b.components_.T, rtol=1e-10)
    big = rng.standard_normal((5000, 6)) + 2
    w = rng.uniform(0, 2, 5000)
    quick = PCA().fit(big, sample_weight=w)
    C = np.cov(big.T, aweights=w, ddof=0) * w.sum() / (w.sum() - 1)
    assert np.allclose(quick.explained_variance_, np.linalg.eigvalsh(C)[::-1])
    assert np.allclose(PCA().fit(IRIS, sample_weight=2.0).mean_, IRIS.mean(axis=0))


def test_ddof_zero_is_princomp():
    assert np.allclose(
        PCA(ddof=0).fit(IRIS).explained_variance_, PCA().fit(IRIS).explained_variance_ * 149 / 150
    )


def test_permuting_rows_permutes_coordinates():
    order = np.random.default_rng(0).permutation(150)
    a, b = PCA(4).fit(IRIS), PCA(4).fit(IRIS[order])
    same_up_to_signs(b.transform(IRIS), a.transform(IRIS), rtol=1e-11)


def test_powers_of_two_give_the_same_bits():
    rng = np.random.default_rng(5)
    for X in (
        rng.standard_normal((60, 5)),
        rng.standard_normal((4000, 12)),
        rng.standard_normal((10, 300)),
    ):
        reference = PCA(3).fit(X)
        for exponent in (-600, -300, -120, 7, 300, 600):
            with warnings.catch_warnings():
                warnings.simplefilter(
                    "ignore", GramianWarning
                )  # variances leave the range of floats
                model = PCA(3).fit(np.ldexp(X, exponent))
            assert np.array_equal(model.components_, reference.components_), exponent
            assert np.array_equal(
                model.explained_variance_ratio_, reference.explained_variance_ratio_
            )
            assert np.array_equal(
                np.ldexp(model.singular_values_, -exponent), reference.singular_values_
            )
            Z = model.transform(np.ldexp(X, exponent))
            assert np.allclose(
                np.ldexp(Z, -exponent), reference.transform(X), rtol=1e-12, atol=1e-12
            )


def test_extreme_values_say_so():
    X = np.random.default_rng(0).standard_normal((30, 4))
    for factor, word in ((1e300, "exceed"), (1e-300, "below")):
        with pytest.warns(GramianWarning, match=word):
            model = PCA(2).fit(X * factor)
        assert np.isfinite(model.explained_variance_).all()
        assert np.allclose(model.singular_values_ / factor, PCA(2).fit(X).singular_values_)
        assert np.allclose(model.explained_variance_ratio_, PCA(2).fit(X).explained_variance_ratio_)
    with pytest.warns(GramianWarning, match="subnormal|below"):
        PCA(1).fit(X * 1e-310)


def test_shift_does_not_matter():
    rng = np.random.default_rng(6)
    for shape in ((500, 6), (6, 500), (3000, 6)):
        for dtype, shifts in ((np.float32, (1e2, 1e4, 1e6)), (np.float64, (1e4, 1e8, 1e12))):
            for shift in shifts:
                X = (rng.standard_normal(shape) * np.geomspace(3, 0.1, shape[1]) + shift).astype(
                    dtype
                )
                values, _ = spectrum_of(X)
                k = min(3, len(values))
                found = PCA(k).fit(X).explained_variance_
                # SVD in the data's precision of data centered exactly, ten times over
                allowed = 10 * tolerance(dtype, max(shape), 1) * values[0]
                assert np.abs(found - values[:k]).max() <= allowed, (shape, dtype, shift)


def test_sorted_and_drifting_data():
    # the first rows say nothing about the mean: the quick pass must notice
    x = np.linspace(0, 1e6, 5000)
    X = np.stack([x, np.sin(x), np.where(np.arange(5000) == 0, 1e9, 0.0) + np.cos(x)], axis=1)
    values, _ = spectrum_of(X)
    found = PCA().fit(X).explained_variance_
    assert np.allclose(found, values, rtol=1e-6)
    assert np.abs(found - values).max() <= 1e-13 * values[0] * 10


def test_constant_data_and_columns():
    for X in (np.full((10, 3), 7.1), np.full((5000, 3), 0.1, np.float32)):
        with pytest.warns(GramianWarning, match="all observations are equal"):
            model = PCA(2).fit(X)
        assert not model.explained_variance_.any() and not model.explained_variance_ratio_.any()
        assert model.rank_ == 0 and np.isfinite(model.components_).all()
        assert np.abs(model.transform(X)).max() == 0
    X = np.column_stack([IRIS, np.full(150, 3.3)])
    model = PCA().fit(X)
    assert model.rank_ == 4 and model.explained_variance_[4] == 0
    assert np.allclose(model.explained_variance_[:4], PCA().fit(IRIS).explained_variance_)
    assert not model.correlations_[4].any()


def test_duplicate_columns_and_rank():
    X = np.column_stack([IRIS, IRIS[:, :2]])
    model = PCA().fit(X)
    assert model.rank_ == 4 and model.n_components_ == 6
    assert np.abs(model.explained_variance_[4:]).max() < 1e-25
    assert PCA().fit(DIGITS).rank_ == 61
    hilbert = 1 / (np.arange(1, 13)[:, None] + np.arange(12))
    values, _ = spectrum_of(hilbert)
    found = PCA().fit(hilbert)
    assert np.allclose(
        np.sqrt(found.explained_variance_), np.sqrt(values[:11]), rtol=1e-4, atol=1e-15
    )


def test_small_singular_values_survive():
    # s_10 / s_1 = 1.6e-9: squaring would lose the last six
    X = make_low_rank_matrix(1000, 10, effective_rank=2, random_state=0, tail_strength=0)
    values, _ = spectrum_of(X)
    model = PCA(whiten=True).fit(X)
    assert np.allclose(model.explained_variance_, values, rtol=1e-5)
    assert "QR" in model.plan_.route
    whitened = model.transform(X)
    assert np.allclose(whitened.std(axis=0, ddof=1), 1, atol=1e-5)
    wide = PCA(9).fit(X.T)
    assert np.allclose(wide.explained_variance_[:8], spectrum_of(X.T)[0][:8], rtol=1e-4)


def test_whitening_beyond_the_rank_gives_zeros():
    X = np.column_stack([IRIS, IRIS.sum(axis=1)])
    model = PCA(whiten=True).fit(X)
    Z = model.transform(X)
    assert np.allclose(np.cov(Z[:, :4].T), np.eye(4), atol=1e-9)
    assert not Z[:, 4].any()


def test_equal_variances_are_said():
    simplex = np.eye(5)  # four equal axes
    model = PCA().fit(simplex)
    assert model.equal_axes_ == [(0, 3)]
    assert "PC1 to PC4 have equal variance" in model.to_embedding(simplex).notes[0]
    assert PCA().fit(IRIS).equal_axes_ == []


def test_noise_first_axis():
    # scikit-learn #20589: a nearly flat spectrum, 1e5 x 20
    X = np.random.default_rng(0).standard_normal((100_000, 20))
    _, Vt = spectrum_of(X)
    same_up_to_signs(PCA(1).fit(X).components_.T, Vt[:1].T, rtol=1e-9)


def test_two_points_far_out():
    # faiss #773
    X = np.array([[100001, 100000], [100000, 100001]], np.float32)
    axis = PCA(1).fit(X).components_[0]
    assert np.allclose(axis, np.array([1, -1]) / np.sqrt(2), atol=1e-7)


def test_solver_instances_and_repeatability():
    X = np.random.default_rng(0).standard_normal((700, 650))
    tight = PCA(3, solver=BlockKrylov(tol=1e-12)).fit(X)
    dense = PCA(3, solver=Dense()).fit(X)
    same_up_to_signs(tight.components_.T, dense.components_.T, rtol=1e-9)
    a, b = (PCA(3, solver="krylov").fit(X).components_ for _ in range(2))
    assert np.array_equal(a, b)
    for state in (3, np.random.default_rng(3), np.random.RandomState(3)):
        assert PCA(3, solver="krylov", random_state=state).fit(X).residuals_.max() <= 1e-6
    same_subspace(a.T, dense.components_.T, rtol=1e-3)


def test_sparse_is_never_densified():
    rng = np.random.default_rng(0)
    X = sp.random_array((20_000, 30_000), density=2e-5, rng=rng, format="csr")  # 4.8 GB if dense
    X = X + sp.csr_array((np.ones(2000), (np.arange(2000), np.zeros(2000, int))), X.shape)
    model = PCA(2, memory="1GB").fit(X)
    small = PCA(2).fit(X[:, :50].toarray())
    assert np.isclose(model.explained_variance_[0], small.explained_variance_[0], rtol=1e-2)
    assert model.residuals_.max() <= 1e-6 and model.transform(X[:5]).shape == (5, 2)


def test_frames_names_pipeline_gridsearch_clone_joblib():
    frame = pd.DataFrame(IRIS, columns=["a", "b", "c", "d"])
    model = PCA(2).fit(frame)
    assert list(model.feature_names_in_) == list("abcd")
    assert list(model.get_feature_names_out()) == ["pca0", "pca1"]
    out = PCA(2).set_output(transform="pandas").fit_transform(frame)
    assert isinstance(out, pd.DataFrame) and list(out.columns) == ["pca0", "pca1"]
    out = PCA(2).set_output(transform="polars").fit_transform(frame)
    assert isinstance(out, pl.DataFrame)
    with pytest.raises(ValueError, match="feature names should match"):
        model.transform(frame[["b", "a", "c", "d"]])
    with pytest.raises(ValueError, match="missing"):
        model.transform(frame[["a", "b", "c"]])
    with pytest.raises(ValueError, match="X has 3 features, but PCA is expecting 4"):
        PCA(2).fit(IRIS).transform(IRIS[:, :3])
    y = load_iris().target
    search = GridSearchCV(
        make_pipeline(PCA(), LogisticRegression(max_iter=2000)),
        {"pca__n_components": [1, 3]},
        n_jobs=2,
    ).fit(IRIS, y)
    assert search.best_params_ == {"pca__n_components": 3}
    assert clone(PCA(2, scale="unit")).get_params() == PCA(2, scale="unit").get_params()
    fits = joblib.Parallel(n_jobs=2)(joblib.delayed(PCA(2).fit)(IRIS) for _ in range(3))
    assert all(np.array_equal(f.components_, fits[0].components_) for f in fits)


def test_to_embedding():
    frame = pd.DataFrame(IRIS, columns=["a", "b", "c", "d"], index=[f"r{i}" for i in range(150)])
    model = PCA(2).fit(frame)
    e = model.to_embedding(frame, columns={"kind": list(load_iris().target)})
    assert np.array_equal(e.coordinates, model.transform(frame))
    assert e.axis_names == ("PC1", "PC2") and e.variables == ("a", "b", "c", "d") and e.certified
    assert e.labels[:2] == ("r0", "r1") and list(e.columns) == ["kind"]
    with pytest.raises(ValueError, match="149 entries for 150 rows"):
        model.to_embedding(frame, labels=["x"] * 149)


def test_threads_do_not_change_the_answer():
    from concurrent.futures import ThreadPoolExecutor

    X = np.random.default_rng(0).standard_normal((3000, 40))
    alone = PCA(5).fit(X)
    with ThreadPoolExecutor(8) as pool:
        fits = list(pool.map(lambda _: PCA(5).fit(X), range(16)))
    assert all(np.array_equal(f.components_, alone.components_) for f in fits)


def test_after_fork():
    import multiprocessing as mp

    X = np.random.default_rng(0).standard_normal((5000, 30))
    PCA(2).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # forking with threads: the point here
        with mp.get_context("fork").Pool(1) as pool:
            again = pool.apply_async(_fit, (X,)).get(timeout=60)
    assert np.allclose(again, PCA(2).fit(X).components_)


def _fit(X):
    return PCA(2).fit(X).components_

"""ProbabilisticPCA, ICA and RandomProjection: the contract, theorems, new points, bad input."""

import warnings

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from scipy.stats import kstest, multivariate_normal, norm
from sklearn.covariance import OAS
from sklearn.datasets import load_iris, load_wine
from sklearn.utils.estimator_checks import parametrize_with_checks

from gramian import ICA, PCA, ProbabilisticPCA, RandomProjection
from gramian.errors import (
    CertificateWarning,
    GramianWarning,
    InputError,
    MemoryRefusedError,
    NotConvergedWarning,
)
from gramian.loops.threads import limit_threads
from gramian.maps import to_dense
from gramian.quality import distortion, johnson_lindenstrauss
from gramian.testing import same_up_to_signs, tolerance

IRIS = load_iris().data


def holes(X, share, seed=0):
    """X with a share of its values missing at random; every row keeps its first or more."""
    missing = np.random.default_rng(seed).random(X.shape) < share
    missing[missing.all(axis=1), 0] = False
    return np.where(missing, np.nan, X)


def sources(n=4000, seed=1):
    rng = np.random.default_rng(seed)
    S = np.column_stack([rng.laplace(size=n), rng.uniform(-1, 1, n), rng.exponential(size=n)])
    return (S - S.mean(axis=0)) / S.std(axis=0)


MIXING = np.array([[3.0, 1.0, 0.5], [1.0, 2.0, -0.3], [0.4, -1.0, 1.0], [2.0, 0.1, 0.2]])


@parametrize_with_checks(
    [
        *(ProbabilisticPCA(), ProbabilisticPCA(1), ProbabilisticPCA(scale="unit")),
        ProbabilisticPCA(shrinkage="auto"),
        *(ICA(1), ICA(1, fun="exp"), ICA(1, fun="cube")),
        *(RandomProjection(2), RandomProjection(2, kind="sparse")),
    ]
)
def test_sklearn_contract(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GramianWarning)  # more dimensions than variables, and so on
        check(estimator)


# Probabilistic PCA ------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(60, 5), (12, 40)])
def test_closed_form_is_pca_with_shrunken_coordinates(shape, dtype):
    X = (np.random.default_rng(0).standard_normal(shape) * np.geomspace(5, 1, shape[1])) + 9
    X = X.astype(dtype)
    model, pca = ProbabilisticPCA(3).fit(X), PCA(3, ddof=0).fit(X)
    s = model.noise_variance_
    rtol = 20 * tolerance(dtype, max(shape))
    assert np.allclose(model.explained_variance_, pca.explained_variance_, rtol=rtol)
    assert np.isclose(s, pca.reconstruction_error_ / (shape[1] - 3), rtol=rtol)
    shrunk = pca.transform(X) * (1 - s / pca.explained_variance_).astype(dtype)
    assert np.allclose(model.transform(X), shrunk, rtol=rtol, atol=rtol * 10)
    # log-likelihood from the density itself
    C = to_dense(model.get_covariance())
    truth = multivariate_normal(model.mean_, C).logpdf(X.astype(np.float64))
    assert np.allclose(model.score_samples(X), truth, rtol=1e3 * rtol)
    assert np.isclose(model.loglike_[-1], truth.sum(), rtol=1e3 * rtol)


def test_without_noise_it_is_pca():
    rng = np.random.default_rng(1)
    plane = rng.standard_normal((80, 2)) @ rng.standard_normal((2, 6)) + 3
    for noise in (1e-2, 1e-4, 1e-6):
        X = plane + noise * rng.standard_normal(plane.shape)
        apart = np.abs(ProbabilisticPCA(2).fit(X).transform(X) - PCA(2).fit_transform(X)).max()
        assert apart < 10 * noise**2 + 1e-12  # the shrinkage s / l
    exact = ProbabilisticPCA(2).fit(plane)
    same_up_to_signs(exact.transform(plane), PCA(2).fit_transform(plane), rtol=1e-12)
    with pytest.raises(InputError, match="no density"):
        exact.score(plane)
    # and with holes: what is missing follows from the plane
    given = holes(plane, 0.2)
    model = ProbabilisticPCA(2).fit(given)
    assert "noise vanished" in model.stopping_
    assert np.abs(model.impute(given) - plane).max() < 1e-3


@pytest.mark.parametrize("scale", [None, "unit"])
@pytest.mark.parametrize(("k", "share"), [(1, 0.1), (2, 0.3), (3, 0.5)])
def test_em_climbs_to_a_stationary_point_of_the_true_likelihood(k, share, scale):
    X = holes(IRIS, share)
    model = ProbabilisticPCA(k, scale=scale, tol=1e-9).fit(X)
    assert np.all(np.diff(model.loglike_) >= -1e-9 * np.abs(model.loglike_[1:]))
    assert model.n_missing_ == np.isnan(X).sum() and model.n_iter_ == len(model.loglike_)
    assert model.residuals_.max() < model.tolerance_
    S, m = to_dense(model.get_covariance()), model.mean_

    def likelihood(mean, covariance):
        total = 0.0
        for row in X:  # the density of the values that are there
            o = ~np.isnan(row)
            total += multivariate_normal(mean[o], covariance[np.ix_(o, o)]).logpdf(row[o])
        return total

    best = likelihood(m, S)
    assert np.isclose(best, model.loglike_[-1], rtol=1e-12)
    assert np.isclose(best, model.score_samples(X).sum(), rtol=1e-12)
    rng = np.random.default_rng(0)
    units = np.ones(4) if model.scale_ is None else model.scale_
    W = model.components_.T * np.sqrt(model.explained_variance_ - model.noise_variance_)
    for _ in range(20):  # nothing nearby is better
        near = W + 1e-2 * rng.standard_normal(W.shape)
        noise = model.noise_variance_ * np.exp(1e-2 * rng.standard_normal())
        C = (near @ near.T + noise * np.eye(4)) * np.outer(units, units)
        moved = m + 1e-2 * units * rng.standard_normal(4)
        assert likelihood(moved, C) < best + 1e-6


@pytest.mark.parametrize("shape", [(150, 4), (10, 30)])
def test_em_on_complete_data_meets_the_closed_form(shape):
    from gramian.data.missing import Gaps
    from gramian.inference.likelihood import maximum_likelihood

    X = IRIS if shape[0] == 150 else np.random.default_rng(0).standard_normal(shape)
    Y, closed = X - X.mean(axis=0) + 0.1, ProbabilisticPCA(2).fit(X)
    found = maximum_likelihood(Gaps.of(Y), 2, 3000, 1e-12)
    axes, total = found.axes(len(X), 1e-6)
    assert np.allclose(axes.pairs.values / len(X), closed.explained_variance_, rtol=1e-5)
    assert np.isclose(found.factors.noise, closed.noise_variance_, rtol=1e-5)
    assert np.isclose(found.trace[-1], closed.loglike_[-1], rtol=1e-9)
    assert np.allclose(found.factors.mean, 0.1, atol=1e-5)
    assert np.isclose(total / len(X), closed.total_variance_, rtol=1e-5)


@pytest.mark.parametrize("k", [1, 3])
def test_both_ways_of_em_meet(k, monkeypatch):
    """Treating the factors as unknown, or only what is missing: the same optimum."""
    from gramian.inference import likelihood

    X = holes(IRIS, 0.3)
    found = []
    for pays in (True, False):
        monkeypatch.setattr(likelihood, "completing_pays", lambda *_, pays=pays: pays)
        model = ProbabilisticPCA(k, tol=1e-10, max_iter=5000).fit(X)
        found.append((model, *model.impute(X, return_std=True)))
    (one, filled, deviation), (other, *same) = found
    assert np.isclose(one.loglike_[-1], other.loglike_[-1], rtol=1e-8)
    assert np.allclose(filled, same[0], atol=1e-3) and np.allclose(deviation, same[1], atol=1e-3)
    assert k == 1 or one.n_iter_ < other.n_iter_ / 2


def test_shrinkage_mixes_a_multiple_of_the_identity_into_the_covariance():
    S = np.cov(IRIS.T, ddof=0)
    wanted = 0.8 * S + 0.2 * np.trace(S) / 4 * np.eye(4)
    model = ProbabilisticPCA(shrinkage=0.2).fit(IRIS)
    assert np.allclose(to_dense(model.get_covariance()), wanted, rtol=1e-9)
    assert model.shrinkage_ == 0.2 and model.n_missing_ == 0
    wine = load_wine().data
    oracle = OAS().fit(wine / wine.std(axis=0))  # scikit-learn leaves out the terms in 2 / p
    found = ProbabilisticPCA(scale="unit", shrinkage="auto").fit(wine).shrinkage_
    assert np.isclose(found, oracle.shrinkage_, rtol=0.05)
    assert ProbabilisticPCA(shrinkage=0.0).fit(IRIS).shrinkage_ == 0
    # with holes it climbs the density of data and prior, and tends to the mean of each variable
    X = holes(IRIS, 0.3)
    climbed = ProbabilisticPCA(shrinkage="auto", tol=1e-8).fit(X)
    assert np.all(np.diff(climbed.loglike_) >= -1e-9 * np.abs(climbed.loglike_[1:]))
    gone = np.isnan(X)
    flat = ProbabilisticPCA(shrinkage=0.999, tol=1e-9).fit(X)
    assert np.abs(flat.impute(X) - flat.mean_)[gone].max() < 0.02
    # more variables than rows, nothing to learn: maximum likelihood learns it, shrinkage little
    wide = np.random.default_rng(0).standard_normal((12, 40))
    given = holes(wide, 0.2)
    errors = [
        np.std((ProbabilisticPCA(shrinkage=s).fit(given).impute(given) - wide)[np.isnan(given)])
        for s in (None, "auto")
    ]
    assert errors[1] < 0.9 * errors[0], errors
    for bad in (1, -0.1, "some", True):
        with pytest.raises(InputError, match="shrinkage="):
            ProbabilisticPCA(shrinkage=bad).fit(IRIS)


def test_posterior_and_imputation_are_conditional_gaussians():
    X = holes(IRIS, 0.3)
    model = ProbabilisticPCA(2).fit(X)
    S, m = to_dense(model.get_covariance()), model.mean_
    filled, deviation = model.impute(X, return_std=True)
    post = model.posterior(X)
    assert np.allclose(model.transform(X), post.mean, rtol=1e-10, atol=1e-12)
    V, signal = model.components_.T, model.explained_variance_ - model.noise_variance_
    for i in range(0, 150, 7):
        o = ~np.isnan(X[i])
        gain = S[np.ix_(~o, o)] @ np.linalg.inv(S[np.ix_(o, o)])
        assert np.allclose(filled[i, o], X[i, o], rtol=0, atol=0) and not deviation[i, o].any()
        assert np.allclose(filled[i, ~o], m[~o] + gain @ (X[i, o] - m[o]), rtol=1e-9)
        left = S[np.ix_(~o, ~o)] - gain @ S[np.ix_(o, ~o)]
        assert np.allclose(deviation[i, ~o], np.sqrt(np.diag(left)), rtol=1e-9)
        across = signal[:, None] * V[o].T  # Cov(u, x_o)
        reach = across @ np.linalg.inv(S[np.ix_(o, o)])
        assert np.allclose(post.mean[i], reach @ (X[i, o] - m[o]), rtol=1e-8, atol=1e-10)
        known = np.diag(signal) - reach @ across.T
        assert np.allclose(post.covariance[i], known, rtol=1e-7, atol=1e-10)


def test_the_stated_uncertainty_is_right():
    rng = np.random.default_rng(3)
    W, s = rng.standard_normal((8, 2)), 0.3
    X = rng.standard_normal((3000, 2)) @ W.T + s * rng.standard_normal((3000, 8)) + 5
    given = holes(X, 0.25)
    model = ProbabilisticPCA(2).fit(given)
    filled, deviation = model.impute(given, return_std=True)
    gone = np.isnan(given)
    assert kstest((X - filled)[gone] / deviation[gone], norm.cdf).pvalue > 1e-3
    assert np.isclose(model.noise_variance_, s**2, rtol=0.05)


def test_sample_has_the_moments_of_the_model():
    model = ProbabilisticPCA(2, scale="unit").fit(IRIS)
    drawn = model.sample(40_000, random_state=1)
    assert np.allclose(drawn.mean(axis=0), model.mean_, atol=0.03)
    assert np.allclose(np.cov(drawn.T), model.get_covariance(), atol=0.06)
    assert np.array_equal(model.sample(3), model.sample(3))


def test_threads_order_and_block_of_rows_do_not_matter():
    X = holes(np.random.default_rng(0).standard_normal((1500, 9)), 0.3)
    model = ProbabilisticPCA(3, max_iter=30, tol=0.1).fit(X)
    for threads in (1, 3):
        with limit_threads(threads):
            other = ProbabilisticPCA(3, max_iter=30, tol=0.1).fit(X)
        assert np.array_equal(other.components_, model.components_)
    order = np.random.default_rng(1).permutation(1500)
    shuffled = ProbabilisticPCA(3, max_iter=30, tol=0.1).fit(X[order])
    assert np.allclose(shuffled.transform(X), model.transform(X), rtol=1e-8, atol=1e-8)


def test_every_kind_of_input_with_holes(tmp_path):
    X = holes(IRIS, 0.2)
    model = ProbabilisticPCA(2).fit(X)
    np.save(tmp_path / "x.npy", X)
    frame = pl.DataFrame(X, schema=list("abcd"), orient="row")
    frame.fill_nan(None).write_csv(tmp_path / "x.csv")
    for given in (np.asfortranarray(X), tmp_path / "x.npy", tmp_path / "x.csv", sp.csr_array(X)):
        assert np.allclose(ProbabilisticPCA(2).fit(given).components_, model.components_)
    small = ProbabilisticPCA(2).fit(X.astype(np.float32))
    assert small.transform(X.astype(np.float32)).dtype == np.float32
    assert np.allclose(small.components_, model.components_, atol=1e-4)
    for factor in (2.0**-700, 2.0**500):
        far = ProbabilisticPCA(2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GramianWarning)
            far.fit(X * factor)
        assert np.array_equal(far.components_, model.components_)
    complete = ProbabilisticPCA(2).fit(IRIS)  # holes in new rows only
    assert np.allclose(complete.transform(IRIS)[3], complete.transform(X)[3]) == (
        not np.isnan(X[3]).any()
    )
    for method in (complete.placement_residual, complete.cos2, complete.score_samples):
        assert np.isfinite(method(X)).all()


def test_bad_rows_and_columns_are_named():
    X = holes(IRIS, 0.2)
    row, column = X.copy(), X.copy()
    row[[3, 9]], column[:, 2] = np.nan, np.nan
    with pytest.raises(InputError, match=r"rows 3.*9.* have no values.*drop them"):
        ProbabilisticPCA(2).fit(row)
    with pytest.raises(InputError, match=r"column 2 .*has no values.*drop it"):
        ProbabilisticPCA(2).fit(column)
    frame = pl.DataFrame(column, schema=["a", "b", "petal", "d"], orient="row")
    with pytest.raises(InputError, match="column 'petal' has no values"):
        ProbabilisticPCA(2).fit(frame)
    model = ProbabilisticPCA(2).fit(X)
    with pytest.raises(InputError, match="row 1"):
        model.transform(np.where(np.arange(2)[:, None] == 1, np.nan, IRIS[:2]))
    infinite = X.copy()
    infinite[5, 1] = np.inf
    for call in (ProbabilisticPCA(2).fit, model.transform, model.impute, model.score_samples):
        with pytest.raises(InputError, match="infinity.*row 5, column 1"):
            call(infinite)
    with pytest.raises(MemoryRefusedError, match="holes need"):
        ProbabilisticPCA(1, memory="1MB").fit(holes(np.ones((20_000, 4)), 0.2))
    for options, words in (
        ({"n_components": 4}, "1 to 3"),
        ({"n_components": 0.5}, "whole number"),
        ({"max_iter": 0}, "max_iter=0"),
        ({"tol": -1}, "tol=-1"),
        ({"scale": "std"}, "'unit'"),
    ):
        with pytest.raises(InputError, match=words):
            ProbabilisticPCA(**options).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CertificateWarning)  # said as well: not certified
        with pytest.warns(NotConvergedWarning, match="raise max_iter"):
            ProbabilisticPCA(2, max_iter=2).fit(X)


def test_constant_data():
    X = np.full((20, 3), 7.0)
    given = X.copy()
    given[4, 1] = np.nan
    for data in (X, given):
        with pytest.warns(GramianWarning, match="all observations are equal"):
            model = ProbabilisticPCA(1).fit(data)
        assert not model.transform(data).any() and model.noise_variance_ == 0
        assert np.array_equal(model.impute(given), X)
        assert model.loglike_ is None and model.explained_variance_ratio_[0] == 0


def test_pca_points_to_it():
    with pytest.raises(InputError, match="use ProbabilisticPCA"):
        PCA(1).fit(holes(IRIS, 0.1))


# ICA --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("fun", ["logcosh", "exp", "cube"])
def test_mixed_sources_come_back(fun, dtype):
    S = sources()
    X = (S @ MIXING.T + 100).astype(dtype)
    model = ICA(3, fun=fun).fit(X)
    found = model.transform(X)
    R = np.corrcoef(found.T.astype(np.float64), S.T)[:3, 3:]
    best = np.abs(R).argmax(axis=1)
    assert sorted(best) == [0, 1, 2] and np.abs(R).max(axis=1).min() > 0.98
    assert found.dtype == model.mixing_.dtype == dtype
    # by construction: white sources, an exact way back, order and sign
    exact = 1e-9 if dtype == np.float64 else 2e-3
    assert np.allclose(np.cov(found.T, ddof=0), np.eye(3), atol=exact)
    assert np.allclose(model.inverse_transform(found), X, atol=exact * 100)
    assert np.allclose(model.components_ @ model.mixing_, np.eye(3), atol=exact)
    assert np.all(np.diff(model.explained_variance_) < 0)
    assert np.all(model.mixing_.max(axis=0) >= -model.mixing_.min(axis=0))
    assert np.isclose(model.explained_variance_ratio_.sum(), 1, rtol=exact)
    lengths = np.sum(model.mixing_.astype(np.float64) ** 2, axis=0)
    assert np.allclose(model.explained_variance_, lengths, rtol=1e-4)


def test_fixed_point_is_one():
    """Where W = D (W+ W+')^-1/2 W+ with signs D, the matrix W+ W' D is symmetric."""
    X = sources() @ MIXING.T
    model = ICA(3, tol=1e-12).fit(X)
    s = model.transform(X)
    M = np.tanh(s).T @ s / len(s) - np.diag(np.mean(1 - np.tanh(s) ** 2, axis=0))
    M *= np.sign(np.diag(M))
    assert np.abs(M - M.T).max() < 1e-6
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    gaussian = np.log(np.cosh(nodes)) @ weights / np.sqrt(2 * np.pi)
    truth = (np.mean(np.log(np.cosh(s)), axis=0) - gaussian) ** 2
    assert np.allclose(model.negentropy_, truth, rtol=1e-4)


def test_many_rows_start_from_a_part_and_end_at_the_same_place(monkeypatch):
    from gramian.spectral import fixed_point

    X = sources(40_000) @ MIXING.T
    quick = ICA(3, tol=1e-12).fit(X)
    monkeypatch.setattr(fixed_point, "_many", 10**9)
    plain = ICA(3, tol=1e-12).fit(X)
    assert quick.n_iter_ < plain.n_iter_
    assert np.allclose(quick.components_, plain.components_, atol=1e-5)
    with limit_threads(1):
        assert np.array_equal(ICA(3, tol=1e-12).fit(X).components_, plain.components_)


def test_other_starts_give_the_same_sources_in_the_same_order():
    X = sources() @ MIXING.T
    first = ICA(3).fit(X)
    for seed in range(1, 6):
        other = ICA(3, random_state=seed).fit(X)
        assert np.allclose(other.components_, first.components_, atol=1e-3)
    moved = ICA(3).fit(X * 2.0**300)  # powers of two change nothing but the unit
    assert np.allclose(moved.components_ * 2.0**300, first.components_, rtol=1e-10)


def test_bad_sources():
    X = sources() @ MIXING.T
    for data, rank in ((np.outer(np.arange(50.0), [1, 2, 3]), 1), (X, 3), (np.ones((9, 3)), 0)):
        with pytest.raises(InputError, match=f"data of rank {rank}.*drop dependent"):
            ICA().fit(data)
    for options, words in (
        ({"fun": "tanh"}, "'logcosh', 'exp', 'cube'"),
        ({"n_components": 9}, "1 to 4"),
        ({"max_iter": 1.5}, "max_iter"),
        ({"tol": np.nan}, "tol"),
    ):
        with pytest.raises(InputError, match=words):
            ICA(**options).fit(X)
    with pytest.raises(InputError, match="use ProbabilisticPCA"):
        ICA(2).fit(holes(X, 0.01))
    with pytest.warns(NotConvergedWarning, match="raise max_iter"):
        ICA(3, max_iter=1).fit(X)
    model = ICA(3).fit(X)
    outside = X[:2] + 5 * np.linalg.svd(MIXING)[0][:, 3]
    assert np.allclose(model.placement_residual(outside), 5, rtol=1e-9)
    with pytest.raises(InputError, match="2 columns, the model has 3"):
        model.inverse_transform(np.ones((2, 2)))


# Random projection ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["gaussian", "sparse"])
def test_distances_are_kept_as_promised(kind):
    X = np.random.default_rng(0).standard_normal((120, 4000))
    model = RandomProjection(eps=0.3, kind=kind).fit(X)
    assert model.n_components_ == johnson_lindenstrauss(120, 0.3) == 531
    report = model.distortion_report(X, pairs=10**6)
    assert report.pairs == 120 * 119 // 2
    assert 0.7 < report.smallest < report.median < report.largest < 1.3
    assert report.within == 1 and report.promised == report.dimension == 531
    # by hand
    Z = model.transform(X)
    ratio = np.sum((Z[3] - Z[77]) ** 2) / np.sum((X[3] - X[77]) ** 2)
    assert report.smallest <= ratio <= report.largest
    assert "within 1 +- 0.3" in str(report)


@pytest.mark.parametrize("kind", ["gaussian", "sparse"])
def test_entries_have_the_moments_that_theory_asks(kind):
    X = np.zeros((2, 2500))
    C = RandomProjection(400, kind=kind, random_state=5).fit(X).components_
    C = C.toarray() if sp.issparse(C) else C
    assert abs(C.mean()) < 5 / np.sqrt(400 * 1e6) and np.isclose((C**2).mean(), 1 / 400, rtol=0.02)
    if kind == "sparse":
        assert np.isclose(np.mean(C != 0), 1 / 50, rtol=0.02)
        assert np.allclose(np.abs(C[C != 0]), np.sqrt(50 / 400))


def test_seed_of_the_data_is_not_the_seed_of_the_projection():
    X = np.random.default_rng(0).standard_normal((40, 3000))
    assert 0.8 < RandomProjection(300).fit(X).distortion_report(X).median < 1.2


def test_sparse_stays_sparse_and_blocks_do_not_matter(tmp_path):
    X = sp.random_array((300, 5000), density=0.01, rng=np.random.default_rng(0), format="csr")
    model = RandomProjection(60, kind="sparse").fit(X)
    Z = model.transform(X)
    assert sp.issparse(Z) and sp.issparse(model.components_)
    dense = X.toarray()
    assert np.allclose(model.transform(dense), Z.toarray(), atol=1e-12)
    assert np.allclose(
        RandomProjection(60).fit_transform(X), RandomProjection(60).fit_transform(dense)
    )
    np.save(tmp_path / "x.npy", dense)
    assert np.allclose(
        RandomProjection(60, kind="sparse").fit_transform(tmp_path / "x.npy"), Z.toarray()
    )
    assert model.to_embedding(X).coordinates.shape == (300, 60)
    back = model.inverse_transform(Z)
    assert np.allclose(model.transform(back), Z.toarray(), atol=1e-10)
    left = model.placement_residual(X)
    assert np.allclose(left, np.linalg.norm(dense - back, axis=1))
    assert model.distortion_report(X).pairs <= 10_000


def test_bad_projections():
    X = np.random.default_rng(0).standard_normal((30, 40))
    for options, words in (
        ({}, "eps=0.1 asks for .* dimensions for 30 points"),
        ({"eps": 1.0}, "between 0 and 1"),
        ({"n_components": 0}, "n_components=0"),
        ({"n_components": 5, "kind": "dense"}, "'gaussian' or 'sparse'"),
        ({"n_components": 5, "kind": "sparse", "density": 0}, "density=0"),
    ):
        with pytest.raises(InputError, match=words):
            RandomProjection(**options).fit(X)
    with pytest.raises(MemoryRefusedError, match="kind='sparse'"):
        RandomProjection(300, memory="1MB").fit(np.zeros((2, 1000)))
    with pytest.warns(GramianWarning, match="more than the 40"):
        RandomProjection(50).fit(X)
    with pytest.raises(InputError, match="NaN.*row 1, column 2"):
        RandomProjection(5).fit(np.where(np.arange(1200).reshape(30, 40) == 42, np.nan, X))
    with pytest.raises(InputError, match="all points are equal"):
        distortion(np.ones((3, 2)), np.ones((3, 1)))
    for n, eps in ((0, 0.1), (1.5, 0.1), (10, 0)):
        with pytest.raises(InputError):
            johnson_lindenstrauss(n, eps)

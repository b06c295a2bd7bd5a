"""Published numbers: probabilistic PCA of the irises, and Johnson and Lindenstrauss's bound."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from gramian import PCA, ProbabilisticPCA
from gramian.quality import johnson_lindenstrauss


def test_ppca_of_the_irises():
    X = load_iris().data
    model = ProbabilisticPCA(2).fit(X)  # maximum likelihood: variances divide by n
    assert model.noise_variance_ == pytest.approx(0.0506821479, abs=5e-11)
    assert model.score(X) == pytest.approx(-2.69975187, abs=5e-9)
    assert model.loglike_[-1] / 150 == pytest.approx(-2.69975187, abs=5e-9)
    usual = PCA(2).fit(X)  # scikit-learn's convention: n - 1
    assert usual.noise_variance_ == pytest.approx(0.0510222965, abs=5e-11)
    assert usual.score(X) == pytest.approx(-2.69979651, abs=5e-9)
    assert np.isclose(model.noise_variance_ * 150 / 149, usual.noise_variance_, rtol=1e-12)


@pytest.mark.parametrize(
    ("n", "eps", "dimension"),
    [
        (10**6, 0.5, 663),
        (10**6, 0.1, 11841),
        (10**6, 0.01, 1112658),
        (10**4, 0.1, 7894),
        (10**5, 0.1, 9868),
    ],
)
def test_johnson_lindenstrauss(n, eps, dimension):
    # the docstring of scikit-learn's johnson_lindenstrauss_min_dim
    assert johnson_lindenstrauss(n, eps) == dimension

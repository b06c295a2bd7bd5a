"""Numbers of the source documents and of R, with their origin (documents: after their errata)."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_digits

from gramian import PCA
from gramian.data.examples import iris_path
from gramian.data.tables import read_table
from gramian.testing import same_up_to_signs


@pytest.fixture(scope="module")
def iris():
    with iris_path() as path:
        return read_table(path, text="keep").numbers


def test_smith_tutorial():
    # L. Smith's ten points, printed in lecture 4 with the diagonal of C swapped (erratum E1)
    x = np.array([2.5, 0.5, 2.2, 1.9, 3.1, 2.3, 2.0, 1.0, 1.5, 1.1])
    y = np.array([2.4, 0.7, 2.9, 2.2, 3.0, 2.7, 1.6, 1.1, 1.6, 0.9])
    model = PCA().fit(np.column_stack([x, y]))
    assert np.allclose(model.explained_variance_, [1.2840277122, 0.0490833989], atol=5e-11)
    assert np.allclose(model.components_[0], [0.6778733985, 0.7351786555], atol=5e-11)
    C = model.get_covariance()
    assert np.allclose(C, [[0.616556, 0.615444], [0.615444, 0.716556]], atol=5e-7)


def test_iris(iris):
    # R prcomp
    model = PCA().fit(iris)
    assert np.allclose(
        model.explained_variance_,
        [4.22824170603, 0.24267074793, 0.07820950004, 0.02383509297],
        atol=5e-12,
    )
    assert np.allclose(
        model.explained_variance_ratio_, [0.92462, 0.05307, 0.01710, 0.00521], atol=5e-6
    )
    assert np.allclose(
        model.components_[0], [0.36138659, -0.08452251, 0.85667061, 0.35828920], atol=5e-9
    )
    assert np.isclose(np.exp(model.log_generalized_variance_), 0.001912729668, rtol=1e-9)
    scaled = PCA(scale="unit").fit(iris)
    assert np.allclose(
        scaled.explained_variance_,
        [2.91849781653, 0.91403047147, 0.14675687557, 0.02071483643],
        atol=5e-12,
    )


def test_iris_as_probabilistic_model(iris):
    # scikit-learn's convention (n - 1), and maximum likelihood (n)
    model = PCA(2).fit(iris)
    assert np.isclose(model.noise_variance_, 0.0510222965, atol=5e-11)
    assert np.isclose(model.score(iris), -2.69979651, atol=5e-9)
    model = PCA(2, ddof=0).fit(iris)
    assert np.isclose(model.noise_variance_, 0.0506821479, atol=5e-11)
    assert np.isclose(model.score(iris), -2.69975187, atol=5e-9)


def test_digits():
    model = PCA().fit(load_digits().data)
    expected = [
        179.006930098,
        163.7177468817,
        141.7884390923,
        101.1003752028,
        69.513165591,
        59.1085248863,
    ]
    assert np.allclose(model.explained_variance_[:6], expected, atol=5e-10)
    assert np.isclose(model.total_variance_, 1202.1477121607, atol=5e-10)
    assert np.allclose(
        model.explained_variance_ratio_[:3], [0.1489059358, 0.1361877124, 0.1179459376], atol=5e-11
    )
    assert model.rank_ == 61


def test_places_rated(shared_data):
    # lecture 1's table: correlations of log ratings with the first three components
    data = read_table(shared_data / "places_rated" / "places.csv", text="keep")
    reference = json.loads((shared_data / "places_rated" / "reference_R.json").read_text())
    X = np.log10(data.numbers[:, :9])
    model = PCA().fit(X)
    wanted = reference["log10_covariance"]
    assert np.allclose(model.explained_variance_, wanted["variances"], rtol=1e-12)
    assert np.allclose(model.mean_, wanted["center"], rtol=1e-12)
    same_up_to_signs(model.components_.T, wanted["rotation"], rtol=1e-10)
    assert np.isclose(model.total_variance_, 0.5223134, atol=5e-8)
    assert np.allclose(
        model.explained_variance_ratio_[:3], [0.722674, 0.097742, 0.053454], atol=5e-7
    )
    scaled = PCA(scale="unit").fit(X)
    table_12_4 = [
        3.2977930,
        1.2135619,
        1.1055299,
        0.9072798,
        0.8606287,
        0.5621858,
        0.4838206,
        0.3180722,
        0.2511282,
    ]
    assert np.allclose(scaled.explained_variance_, table_12_4, atol=5e-8)
    # Climate / PC2 is 0.018 here; the slide prints 0.017
    assert np.isclose(abs(model.correlations_[0, 1]), 0.017667, atol=5e-7)


def test_us_arrests(shared_data):
    data = read_table(shared_data / "USArrests" / "USArrests.csv", text="keep")
    reference = json.loads((shared_data / "USArrests" / "reference_R.json").read_text())
    model = PCA(scale="unit").fit(data.numbers)
    assert np.allclose(model.explained_variance_, reference["scaled"]["variances"], rtol=1e-12)
    same_up_to_signs(model.components_.T, reference["scaled"]["rotation"], rtol=1e-11)
    first = np.array(reference["scaled"]["scores_first"])
    signs = np.sign(np.sum(model.transform(data.numbers)[: len(first)] * first, axis=0))
    assert np.allclose(model.transform(data.numbers)[: len(first)] * signs, first, atol=1e-11)
    # princomp divides by n, and R saved these four
    raw = np.sqrt(PCA(ddof=0).fit(data.numbers).explained_variance_)
    assert np.allclose(raw, [82.890847, 14.069560, 6.424204, 2.457837], atol=5e-7)


def test_bfi(shared_data):
    data = read_table(shared_data / "bfi" / "bfi_25items_complete.csv", text="keep")
    reference = json.loads((shared_data / "bfi" / "reference_R.json").read_text())
    assert list(data.numbers.shape) == reference["shape"]
    model = PCA(scale="unit").fit(data.numbers)
    assert np.allclose(model.explained_variance_, reference["correlation_eigenvalues"], rtol=1e-12)


def test_usps_threes(shared_data):
    # lecture 0's handwritten threes, 1/n covariance
    path = shared_data / "usps_digit3" / "zip_train_digit3.csv"
    try:
        X = read_table(path).numbers
    except ValueError:
        X = read_table(path, header=False).numbers
    X = X[:, -256:]
    model = PCA(19, ddof=0).fit(X)
    assert np.allclose(
        model.explained_variance_[:5],
        [11.401697, 7.919739, 7.064551, 6.584355, 5.105733],
        atol=5e-7,
    )
    shares = np.cumsum(model.explained_variance_ratio_)
    assert np.isclose(shares[2], 0.293133, atol=5e-7) and np.isclose(
        shares[18], 0.733139, atol=5e-7
    )

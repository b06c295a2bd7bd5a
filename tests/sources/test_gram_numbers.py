"""Classical MDS and kernel PCA: numbers of R, vegan, ape, kernlab, scikit-bio and scikit-learn."""

import json
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_circles

from gramian import PCA, ClassicalMDS, KernelPCA
from gramian.data.dissimilarities import open_distances
from gramian.data.tables import read_table
from gramian.errors import GramianWarning
from gramian.gram.distances import pairwise
from gramian.quality.procrustes import procrustes
from gramian.testing import same_up_to_signs
from tests.spectral.test_solvers import CITIES

IRIS = load_iris().data


@pytest.fixture
def reference(shared_data):
    def read(name, file="reference_R.json"):
        return json.loads((shared_data / name / file).read_text(encoding="utf-8"))

    return read


def fitted(D, k=2, **options):
    return ClassicalMDS(k, metric="precomputed", **options).fit(D)


def test_nine_cities():
    # R 4.2.2 cmdscale
    model = fitted(CITIES)
    assert np.allclose(model.eigenvalues_, [13949791.25, 2124813.269], rtol=5e-10)
    assert np.allclose(model.goodness_of_fit_, [0.9584191749, 0.9810221736], atol=5e-11)
    assert np.isclose(model.negativity_, 323706.7717 / 13949791.25, rtol=1e-8)
    printed = [
        *([-1348.6683, -462.4006], [-1198.8741, -306.5469], [-1076.9855, -136.4320]),
        *([-1226.9390, 1013.6284], [-428.4548, -174.6032], [1596.1594, -639.3078]),
        *([1697.2283, 131.6859], [1464.0470, 560.5805], [522.4871, 13.3958]),
    ]
    same_up_to_signs(model.embedding_, printed, rtol=5e-5 / 1700)
    third = fitted(CITIES, 3)  # not -323706.77, which is larger in size
    assert np.isclose(third.eigenvalues_[2], 183009.1307, atol=5e-5)


def test_nine_cities_repaired():
    model = fitted(CITIES, correction="cailliez")
    assert np.isclose(model.constant_, 372.4722654, atol=5e-8)
    assert np.allclose(model.goodness_of_fit_, 0.9193833525, atol=5e-11)
    assert model.negativity_ == 0
    lingoes = fitted(CITIES, correction="lingoes")
    assert np.isclose(lingoes.constant_, 323706.7717, atol=5e-4)


def test_denver_is_placed():
    # the lecture's exercise: fit on eight cities, add the ninth from its distances
    model = fitted(CITIES[:8, :8])
    z = model.transform(CITIES[8:, :8])
    assert np.allclose(np.abs(z), [[584.5839389, 14.90735587]], rtol=5e-10)
    apart = np.linalg.norm(z - model.embedding_, axis=1)
    printed = [
        *(1928.178935, 1747.99431, 1603.794734, 2011.583613),
        *(965.9650355, 1260.071969, 1184.476303, 1090.318855),
    ]
    assert np.allclose(apart, printed, rtol=5e-10)
    again = model.transform(CITIES[:8, :8])
    assert np.abs(again - model.embedding_).max() < 1e-11


def test_eurodist_and_uscities(shared_data, reference):
    model = fitted(shared_data / "eurodist" / "eurodist.csv", 6)
    printed = [19538377.09, 11856555.33, 1528844.468, 1118741.951, 789347.2027, 581655.2067]
    assert np.allclose(model.eigenvalues_, printed, rtol=5e-10)
    two = fitted(shared_data / "eurodist" / "eurodist.csv")
    assert np.allclose(two.goodness_of_fit_, [0.7537543155, 0.8679134296], atol=5e-11)
    athens, stockholm = (two.labels_.index(name) for name in ("Athens", "Stockholm"))
    apart = np.abs(two.embedding_[[athens, stockholm]])
    assert np.allclose(apart, [[2290.27468, 1798.80293], [839.44591, 1836.79055]], atol=5e-6)
    added = fitted(shared_data / "eurodist" / "eurodist.csv", correction="cailliez")
    assert np.isclose(added.constant_, 2132.678495, atol=5e-7)
    assert np.allclose(added.goodness_of_fit_, 0.5115564107, atol=5e-11)
    cities = fitted(shared_data / "UScitiesD" / "UScitiesD.csv")
    assert np.allclose(cities.eigenvalues_, [9582144.299, 1686820.183], rtol=5e-10)
    assert np.allclose(cities.goodness_of_fit_, [0.9954095528, 0.9991024115], atol=5e-11)


@pytest.mark.parametrize("name", ["dune", "varespec"])
def test_vegan_bray_curtis(name, shared_data, reference):
    wanted = reference(name)
    table = read_table(shared_data / name / f"{name}.csv", text="keep").numbers
    D = pairwise(np.asarray(table, float), metric="braycurtis")
    given = fitted(shared_data / name / "bray_curtis.csv", 3)
    ours = fitted(D, 3)
    values = np.array(wanted["wcmdscale"]["eig_all"])
    for model in (given, ours):
        assert np.allclose(model.eigenvalues_, values[:3], atol=1e-11)
        assert np.isclose(model.negativity_, -values.min() / values.max())
    same_up_to_signs(ours.embedding_[:, :2], wanted["wcmdscale"]["points_first2"], rtol=1e-9)
    for kind in ("lingoes", "cailliez"):
        mended = fitted(D, 2, correction=kind)
        repair = wanted[f"wcmdscale_{kind}"]
        assert np.isclose(mended.constant_, repair["ac"], rtol=1e-8)
        assert np.allclose(mended.eigenvalues_, repair["eig"][:2], rtol=1e-8)
    weighted = wanted["wcmdscale_weighted_rowsums"]
    model = fitted(D, 2, weights=np.asarray(table, float).sum(axis=1))
    assert np.allclose(model.eigenvalues_, weighted["eig"][:2], rtol=1e-9)
    same_up_to_signs(model.embedding_, weighted["points_first2"], rtol=1e-8)


def test_dune_goodness_of_fit(shared_data):
    # vegan: wcmdscale(vegdist(dune), eig = TRUE)$GOF with all 14 positive axes, and the correlation
    # of their distances with those given
    D = open_distances(shared_data / "dune" / "bray_curtis.csv").D
    model = fitted(D, 14)
    assert model.n_positive_ == 14
    assert np.allclose(model.goodness_of_fit_, [0.9396742171, 1], rtol=0, atol=5e-11)
    among = np.triu_indices(20, 1)
    kept = np.corrcoef(pairwise(model.embedding_)[among], D[among])[0, 1]
    assert np.isclose(kept, 0.997518488, rtol=0, atol=5e-10)
    # scikit-bio's two proportions of the first axis: "full", which is ours, and "truncated", of the
    # sum of all eigenvalues, as ape::pcoa has it
    assert round(float(model.proportion_explained_[0]), 4) == 0.3736
    assert "positive" in model.proportion_formula_
    assert round(float(model.eigenvalues_[0] / model.spectrum_.sum()), 4) == 0.3992


@pytest.mark.parametrize(
    "name", ["UScitiesD", "ekman", "eurodist", "kinship", "morse", "swiss", "us9cities", "wish"]
)
def test_cmdscale(name, shared_data, reference):
    # R 4.2.2 cmdscale(d, k = 2, eig = TRUE): all eigenvalues, GOF, points
    wanted, folder = reference(name)["cmdscale"], shared_data / name
    dissimilarities = name in ("ekman", "kinship", "morse", "wish")
    given = folder / ("dissimilarity.csv" if dissimilarities else f"{name}.csv")
    if name == "swiss":  # dist(swiss[, -1])
        given = pairwise(np.asarray(read_table(given, labels=0).numbers, float)[:, 1:])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GramianWarning)  # those of wish are far from Euclidean
        model = fitted(given)
    values = np.array(wanted["eig_all"])
    assert np.allclose(model.spectrum_, values, rtol=1e-9, atol=1e-11 * values[0])
    assert np.allclose(model.goodness_of_fit_, wanted["GOF"], rtol=1e-9)
    same_up_to_signs(model.embedding_, wanted["points"], rtol=1e-9)
    if "row_names" in wanted and model.labels_ is not None:
        assert model.labels_ == tuple(wanted["row_names"])


def test_cmdscale_with_a_constant(shared_data, reference):
    wanted = reference("eurodist")["cmdscale_add"]
    model = fitted(shared_data / "eurodist" / "eurodist.csv", correction="cailliez")
    assert np.isclose(model.constant_, wanted["ac"], rtol=1e-12)
    values = np.array(wanted["eig"])
    assert np.allclose(model.spectrum_[: len(values)], values, rtol=1e-9, atol=1e-9 * values[0])
    assert np.allclose(model.goodness_of_fit_, wanted["GOF"], rtol=1e-10)
    same_up_to_signs(model.embedding_, wanted["points"], rtol=1e-9)


@pytest.mark.parametrize("name", ["dune", "varespec"])
def test_ape_pcoa(name, shared_data, reference):
    # ape::pcoa(d) and ape::pcoa(d, correction = "lingoes")
    wanted, file = reference(name)["ape_pcoa"], shared_data / name / "bray_curtis.csv"
    plain, mended = fitted(file), fitted(file, correction="lingoes")
    assert np.isclose(plain.spectrum_.sum(), wanted["trace"], rtol=1e-11)
    values = np.array(wanted["values_eig"])
    # ape leaves out what is 0, vegan does not
    found = plain.spectrum_[np.abs(plain.spectrum_) > 1e-12]
    assert np.allclose(found, values[np.abs(values) > 1e-12], rtol=0, atol=1e-11)
    repaired = np.array(wanted["lingoes_corr_eig"])
    assert np.allclose(mended.eigenvalues_, repaired[:2], rtol=1e-10)
    size = min(len(repaired), len(mended.spectrum_))
    assert np.allclose(mended.spectrum_[:size], repaired[:size], rtol=0, atol=1e-10)


def test_unifrac_of_nine_mice(shared_data, reference):
    # scikit-bio's stored scores, which ape::pcoa confirms; the file is scikit-bio's lsmat
    wanted = reference("pcoa_skbio")["PCoA_sample_data_3"]
    model = fitted(shared_data / "pcoa_skbio" / "PCoA_sample_data_3.txt", 3)
    assert np.allclose(model.eigenvalues_, [0.512367260461, 0.300719094427, 0.267912066004])
    assert np.allclose(model.eigenvalues_, wanted["ape_pcoa_eig"][:3])
    same_up_to_signs(model.embedding_, np.array(wanted["vectors"])[:, :3], rtol=1e-9)
    assert model.labels_[0] == "PC.636"


def test_procrustes_and_protest(shared_data):
    # vegan: procrustes(cmdscale of Bray-Curtis, cmdscale of Wisconsin square roots)
    table = read_table(shared_data / "varespec" / "varespec.csv", text="keep").numbers
    table = np.asarray(table, float)
    roots = np.sqrt(table)
    roots = roots / roots.max(axis=0)
    roots = roots / roots.sum(axis=1, keepdims=True)
    a, b = (fitted(pairwise(X, metric="braycurtis")).embedding_ for X in (table, roots))
    found = procrustes(a, b, scale=True)
    assert np.isclose(found.sum_of_squares, 0.923085119, atol=5e-9)
    assert np.isclose(found.scale, 1.40941868, atol=5e-8)
    assert np.isclose(found.symmetric, 0.319554553, atol=5e-9)
    assert np.isclose(found.correlation, 0.824891173, atol=5e-9)


def test_kernel_pca_of_iris(reference):
    model = KernelPCA(5, kernel="rbf", gamma=0.2).fit(IRIS)
    printed = [48.72565995, 17.85912994, 5.31710404, 3.72334111, 3.10226910]
    assert np.allclose(model.eigenvalues_, printed, atol=5e-9)
    assert np.isclose(model.gram_.trace, 86.295936, atol=5e-7)
    kernlab = reference("iris")
    assert np.allclose(
        model.eigenvalues_[:3] / 150, kernlab["kpca_rbf_sigma0.2"]["eig_over_n"][:3], rtol=1e-8
    )
    peer = reference("iris", "reference_sklearn.json")["rbf"]
    assert np.allclose(model.eigenvalues_[:3], peer["eigenvalues"][:3], rtol=1e-9)
    rotated = np.array(kernlab["kpca_rbf_sigma0.2"]["rotated"]) / np.sqrt(150)  # V L / sqrt(L / n)
    same_up_to_signs(model.embedding_[:, :3], rotated[:, :3], rtol=1e-9)
    width = np.array(peer["first3rows"]).shape[1]
    same = KernelPCA(width, kernel="rbf", gamma=0.2).fit(IRIS)
    signs = np.sign(same.embedding_[0] * np.array(peer["first3rows"])[0])
    assert np.allclose(same.embedding_[:3] * signs, peer["first3rows"], atol=1e-8)


def test_polynomial_kernel_of_iris(reference):
    model = KernelPCA(5, kernel="poly", gamma=1, degree=3, coef0=1).fit(IRIS)
    kernlab = reference("iris")["kpca_poly"]["eig_over_n"]
    assert np.allclose(model.eigenvalues_[:4] / 150, kernlab[:4], rtol=1e-9)
    rotated = np.array(reference("iris")["kpca_poly"]["rotated"]) / np.sqrt(150)
    same_up_to_signs(model.embedding_[:, :4], rotated[:, :4], rtol=1e-8)
    peer = reference("iris", "reference_sklearn.json")["poly3"]
    assert np.allclose(model.eigenvalues_, peer["eigenvalues"], rtol=1e-9)
    signs = np.sign(model.embedding_[0] * np.array(peer["first3rows"])[0])
    assert np.allclose(model.embedding_[:3] * signs, peer["first3rows"], rtol=1e-7)


@pytest.mark.parametrize(
    ("name", "load"), [("wine", load_wine), ("breast_cancer", load_breast_cancer)]
)
def test_kernel_pca_of_standardized_variables(name, load, reference):
    peer = reference(name, "reference_sklearn.json")["kpca_rbf_on_standardised"]
    X = load().data
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    model = KernelPCA(len(peer["eigenvalues"]), kernel="rbf", **peer["params"]).fit(Z)
    assert np.allclose(model.eigenvalues_, peer["eigenvalues"], rtol=1e-12)
    signs = np.sign(model.embedding_[0] * np.array(peer["first3rows"])[0])
    assert np.allclose(model.embedding_[:3] * signs, peer["first3rows"], atol=1e-11)


def test_kernel_pca_of_oil_flow(shared_data, reference):
    peer = reference("oilflow", "reference_sklearn.json")["kpca_rbf_gamma0_5_eigenvalues"]
    table = read_table(shared_data / "oilflow" / "oilflow.csv", text="keep").numbers
    model = KernelPCA(len(peer), kernel="rbf", gamma=0.5).fit(np.asarray(table, float)[:, :12])
    assert np.allclose(model.eigenvalues_, peer, rtol=1e-12)


def test_euclidean_scaling_of_iris_is_pca(reference):
    model = ClassicalMDS(3).fit(IRIS)
    assert np.allclose(model.eigenvalues_, reference("iris")["cmdscale_euclid_eig"][:3])
    assert np.allclose(model.eigenvalues_ / 149, PCA(3).fit(IRIS).explained_variance_)


def test_concentric_circles_separate():
    # with the rbf kernel one axis tells the circles apart; linear axes do not
    X, y = make_circles(400, factor=0.3, noise=0.05, random_state=0)

    def separated(Z):
        inner, outer = Z[y == 1], Z[y == 0]
        return (inner.min(axis=0) > outer.max(axis=0)) | (inner.max(axis=0) < outer.min(axis=0))

    assert separated(KernelPCA(3, kernel="rbf", gamma=2.0).fit_transform(X))[0]
    assert not separated(PCA(2).fit_transform(X)).any()


def test_circles_spectrum(reference):
    wanted = reference("circles", "reference_sklearn.json")
    X, y = make_circles(400, factor=0.3, noise=0.05, random_state=0)
    values = wanted["kpca_rbf_gamma10"]["eigenvalues"]
    model = KernelPCA(len(values), kernel="rbf", gamma=10).fit(X)
    assert np.allclose(model.eigenvalues_, values, rtol=1e-12)

    def with_label(Z):
        return [abs(np.corrcoef(z, y)[0, 1]) for z in Z.T]

    assert np.allclose(
        with_label(model.embedding_), wanted["abs_corr_label_by_component"], atol=1e-10
    )
    # under the name of PCA the file has the two columns themselves, which PCA only turns
    assert np.allclose(with_label(X), wanted["pca_abs_corr_label"], atol=1e-12)
    assert max(with_label(PCA(2).fit_transform(X))) < 0.003

"""LSI: the estimator contract, the dense SVD, fold-in, weighting, search, bad input."""

import warnings

import numpy as np
import polars
import pytest
import scipy.sparse as sp
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from gramian import LSI
from gramian.errors import GramianWarning, InputError, MemoryRefusedError
from gramian.loops.threads import limit_threads
from gramian.spectral.krylov import BlockKrylov
from gramian.testing import same_up_to_signs


def counts(n=300, p=80, seed=0):
    """Counts from a handful of topics; some rows and columns empty, some zeros stored."""
    rng = np.random.default_rng(seed)
    topics = rng.gamma(0.3, size=(6, p))
    X = rng.poisson(rng.gamma(0.5, size=(n, 6)) @ topics).astype(float)
    X[::50] = 0
    X[:, ::20] = 0
    A = sp.csr_array(X)
    A.data[::11] = 0
    return A


X = counts()
NAMES = [f"w{j}" for j in range(X.shape[1])]


@parametrize_with_checks([LSI(2), LSI(2, solver=BlockKrylov())])
def test_sklearn_contract(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GramianWarning)
        check(estimator)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("shape", [(300, 80), (80, 300), (900, 700), (700, 1500)])
def test_it_is_the_truncated_svd(shape, dense, dtype):
    A = counts(*shape).astype(dtype)
    twin = A.toarray().astype(np.float64)
    model = LSI(5).fit(A.toarray() if dense else A)
    U, s, Vt = np.linalg.svd(twin, full_matrices=False)
    small = 1e-4 if dtype == np.float32 else 1e-9
    assert np.allclose(model.singular_values_, s[:5], rtol=small)
    same_up_to_signs(model.components_.T, Vt[:5].T, rtol=100 * small)
    same_up_to_signs(model.documents_, U[:, :5] * s[:5], rtol=100 * small)
    same_up_to_signs(model.terms_, Vt[:5].T * s[:5], rtol=100 * small)
    assert model.documents_.dtype == dtype
    # the certificate is what it says it is
    found = model.documents_.astype(float) / model.singular_values_
    measured = np.linalg.norm(twin.T @ found - model.terms_, axis=0) / s[0]
    assert np.all(measured <= 1.5 * model.residuals_ + (1e-6 if dtype == np.float32 else 1e-14))
    assert np.all(model.residuals_ <= model.tolerance_)


def test_attributes_are_those_of_truncated_svd():
    ours, peer = LSI(4).fit(X), TruncatedSVD(4, algorithm="arpack", random_state=0).fit(X)
    for name in ("singular_values_", "explained_variance_", "explained_variance_ratio_"):
        assert np.allclose(getattr(ours, name), getattr(peer, name), rtol=1e-9), name
    same_up_to_signs(ours.components_.T, peer.components_.T, rtol=1e-8)
    same_up_to_signs(ours.transform(X), peer.transform(X), rtol=1e-6)
    assert np.allclose(
        ours.inverse_transform(ours.documents_), peer.inverse_transform(peer.transform(X))
    )


def test_documents_and_terms_fold_in_where_they_are():
    for weighting in (None, "tfidf", "logentropy"):
        model = LSI(6, weighting=weighting).fit(X)
        assert np.allclose(
            model.transform(X), model.documents_, atol=1e-10 * model.singular_values_[0]
        )
        assert np.allclose(
            model.place_terms(X), model.terms_, atol=1e-6 * model.singular_values_[0]
        )
        assert np.allclose(model.transform(X[7:9].toarray()), model.documents_[7:9])


def test_weights_are_those_of_scikit_learn_and_of_the_formula():
    held = X.copy()
    held.eliminate_zeros()  # scikit-learn counts a stored zero as an occurrence
    wanted = TfidfTransformer().fit(held[:200])
    model = LSI(3, weighting="tfidf").fit(X[:200])
    assert np.allclose(
        model.singular_values_, np.linalg.svd(wanted.transform(X[:200]).toarray())[1][:3]
    )
    assert np.allclose(model.transform(X[200:]), wanted.transform(X[200:]) @ model.components_.T)
    F = X.toarray()[:200]
    with np.errstate(all="ignore"):
        q = F / F.sum(axis=0)
        entropy = 1 + np.nansum(q * np.log(q), axis=0) / np.log(200)
    model = LSI(3, weighting="logentropy").fit(F)
    W = np.log2(1 + F) * entropy
    assert np.allclose(model.singular_values_, np.linalg.svd(W)[1][:3])
    new = np.log2(1 + X.toarray()[200:]) * entropy
    assert np.allclose(model.transform(X[200:]), new @ model.components_.T)


def test_search_ranks_by_cosine():
    model = LSI(5).fit(X, terms=NAMES)
    Q = X[[3, 77]]
    found = model.search(Q, 12)
    Z, q = model.documents_, model.transform(Q)
    with np.errstate(invalid="ignore"):
        C = (q @ Z.T) / np.outer(np.linalg.norm(q, axis=1), np.linalg.norm(Z, axis=1))
    C = np.nan_to_num(C)
    assert found.indices[:, 0].tolist() == [3, 77]
    assert np.allclose(found.cosines, -np.sort(-C, axis=1)[:, :12])
    assert np.allclose(np.take_along_axis(C, found.indices, axis=1), found.cosines)
    words = model.search("W3, w7 w7!", 4)
    row = np.zeros((1, 80))
    row[0, [3, 7]] = 1, 2
    assert np.array_equal(words.indices, model.search(row, 4).indices[0])
    T = model.terms_
    near = model.similar("w5", 3)
    cosines = T @ T[5] / (np.maximum(np.linalg.norm(T, axis=1), 1e-300) * np.linalg.norm(T[5]))
    cosines[5] = -2
    assert np.allclose(near.cosines, np.sort(cosines)[::-1][:3])
    assert np.array_equal(near.indices, model.similar(5, 3).indices)


def test_queries_in_words():
    frame = polars.DataFrame(X.toarray(), schema=NAMES, orient="row")
    for model in (LSI(2).fit(X, terms=NAMES), LSI(2).fit(frame)):
        assert model.vocabulary_ == tuple(NAMES)
        assert model.query(["w1", "W1", "w9"]).toarray()[0, [1, 9]].tolist() == [2, 1]
        with pytest.warns(GramianWarning, match="'zebra' is no term of the fit and counted for"):
            assert model.query("w2 zebra").sum() == 1
        with pytest.raises(InputError, match="none of 'gnu' and 'zebra' is a term of the fit"):
            model.search("gnu zebra")
        with pytest.raises(InputError, match="no word"):
            model.query(" ?! ")
    with pytest.raises(InputError, match="the terms have no names"):
        LSI(2).fit(X).search("w1")


def test_residual_of_placement_is_the_distance_from_the_plane():
    model = LSI(3).fit(X)
    inside = model.inverse_transform(np.arange(6.0).reshape(2, 3))
    assert np.allclose(model.placement_residual(inside), 0, atol=1e-12)
    D = X.toarray()
    V = model.components_
    assert np.allclose(model.placement_residual(X), np.linalg.norm(D - D @ V.T @ V, axis=1))


def test_the_same_bits_on_any_number_of_threads():
    A = counts(2000, 900)
    found = []
    for threads in (1, 2, 8):
        with limit_threads(threads):
            found.append(LSI(10).fit(A))
    assert all(each.components_.tobytes() == found[0].components_.tobytes() for each in found)


@pytest.mark.parametrize("power", [-300, -180, 180, 300])
def test_size_does_not_matter(power):
    usual = LSI(3).fit(X)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the variances (exceed|are below)")
        other = LSI(3).fit(X * 10.0**power)
    assert np.allclose(other.components_, usual.components_, atol=1e-8)
    assert np.allclose(other.singular_values_ / 10.0**power, usual.singular_values_)
    assert np.isfinite(other.explained_variance_ratio_).all()


def test_rank_and_zeros():
    low = sp.csr_array(np.outer(np.arange(1.0, 40), np.arange(1.0, 20)))
    model = LSI(3).fit(low)
    assert model.rank_ == 1
    assert np.allclose(model.components_ @ model.components_.T, np.eye(3))
    assert np.all(model.residuals_ < 1e-12)
    assert np.allclose(model.place_terms(low), model.terms_)
    with pytest.warns(GramianWarning, match="nothing but zeros"):
        none = LSI(2).fit(sp.csr_array((9, 4)))
    assert np.array_equal(none.singular_values_, [0, 0]) and not none.documents_.any()


def test_memory_is_the_basis():
    A = sp.random_array((3000, 2500), density=0.01, rng=np.random.default_rng(0), format="csr")
    with pytest.raises(MemoryRefusedError, match="beyond the data"):
        LSI(20, memory="1MB").fit(A)
    assert "no matrix formed" in str(LSI(20).plan(A))


NAN = X.copy()
NAN.data[5] = np.nan
BELOW = X.copy()
BELOW.data[5] = -2


@pytest.mark.parametrize(
    ("model", "data", "sentence"),
    [
        (
            LSI(100),
            X,
            "n_components=100: .* from 1 to 80, the smaller of 300 documents and 80 terms",
        ),
        (LSI(0), X, "from 1 to 80"),
        (LSI(2.5), X, "from 1 to 80"),
        (LSI(True), X, "from 1 to 80"),
        (LSI(2, weighting="bm25"), X, "None, 'tfidf' or 'logentropy'"),
        (LSI(2), NAN, "NaN: 1 missing value"),
        (LSI(2, weighting="tfidf"), NAN, "NaN: 1 missing value"),
        (LSI(2, weighting="logentropy"), BELOW, "-2 at row .* less than 0 times"),
        (LSI(2, solver="magic"), X, "'krylov'"),
    ],
)
def test_bad_input_in_one_sentence(model, data, sentence):
    with pytest.raises(InputError, match=sentence) as caught:
        model.fit(data)
    assert "\n" not in str(caught.value)


def test_bad_questions_in_one_sentence():
    model = LSI(3).fit(X, terms=NAMES)
    for ask, sentence in (
        (lambda: model.search("w1", 301), "from 1 to 300, the number of documents"),
        (lambda: model.search("w1", 0), "from 1 to 300"),
        (lambda: model.similar(80), "a column from 0 to 79"),
        (lambda: model.similar("zebra"), "none of 'zebra'"),
        (lambda: model.place_terms(X[:5]), "300 documents of the fit, got 5 rows"),
        (lambda: model.inverse_transform(np.ones((2, 4))), "4 columns, the model has 3"),
        (lambda: model.transform(NAN), "NaN"),
        (lambda: LSI(2).fit(X, terms=["a"]), "1 terms for 80 columns"),
    ):
        with pytest.raises(InputError, match=sentence):
            ask()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_wide_sparse_data_are_solved_on_the_side_of_the_documents(dtype):
    A = counts(700, 3000).astype(dtype)
    model = LSI(4).fit(A)
    s = np.linalg.svd(A.toarray().astype(float), compute_uv=False)
    assert np.allclose(model.singular_values_, s[:4], rtol=1e-5 if dtype == np.float32 else 1e-10)
    V = model.components_.astype(float)
    assert np.allclose(V @ V.T, np.eye(4), atol=1e-5 if dtype == np.float32 else 1e-8)
    measured = np.linalg.norm(A.T @ (A @ V.T) - V.T * s[:4] ** 2, axis=0) / (s[:4] * s[0])
    assert np.all(measured <= 2 * model.tolerance_)

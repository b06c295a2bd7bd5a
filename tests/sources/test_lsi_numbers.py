"""Published numbers of LSI: Deerwester's titles, documents and concepts, Cranfield's abstracts."""

import json

import numpy as np
import pytest
import scipy.io

from gramian import LSI

# S. Deerwester et al., J. Am. Soc. Inf. Sci. 41 (1990), table 2: terms x titles c1-c5, m1-m4
TERMS = [
    *("human", "interface", "computer", "user", "system", "response"),
    *("time", "EPS", "survey", "trees", "graph", "minors"),
]
COUNTS = np.array(
    [
        [1, 0, 0, 1, 0, 0, 0, 0, 0],
        [1, 0, 1, 0, 0, 0, 0, 0, 0],
        [1, 1, 0, 0, 0, 0, 0, 0, 0],
        [0, 1, 1, 0, 1, 0, 0, 0, 0],
        [0, 1, 1, 2, 0, 0, 0, 0, 0],
        [0, 1, 0, 0, 1, 0, 0, 0, 0],
        [0, 1, 0, 0, 1, 0, 0, 0, 0],
        [0, 0, 1, 1, 0, 0, 0, 0, 0],
        [0, 1, 0, 0, 0, 0, 0, 0, 1],
        [0, 0, 0, 0, 0, 1, 1, 1, 0],
        [0, 0, 0, 0, 0, 0, 1, 1, 1],
        [0, 0, 0, 0, 0, 0, 0, 1, 1],
    ]
)
# R 4.2.2's svd; the paper prints two digits: 3.34 2.54 2.35 1.64 1.50 1.31 .85 .56 .36
VALUES = (
    *(3.3408837521, 2.541701, 2.3539435177, 1.6445322924, 1.5048315505, 1.3063819502),
    *(0.8459030826, 0.5601344228, 0.36367684),
)


def test_deerwester():
    full, two = LSI(9).fit(COUNTS.T), LSI(2).fit(COUNTS.T, terms=TERMS)
    assert np.allclose(full.singular_values_, VALUES, atol=5e-10)
    rank2 = two.inverse_transform(two.documents_).T
    human = [0.16, 0.40, 0.38, 0.47, 0.18, -0.05, -0.12, -0.16, -0.09]  # printed in the paper
    assert np.allclose(rank2[0], human, atol=5e-3)
    before, after = np.corrcoef(COUNTS), np.corrcoef(rank2)
    user, minors = TERMS.index("user"), TERMS.index("minors")
    assert np.allclose([before[0, user], after[0, user]], [-0.3780, 0.9385], atol=5e-5)
    assert np.allclose([before[0, minors], after[0, minors]], [-0.2857, -0.8309], atol=5e-5)


def test_deerwesters_query_finds_the_titles_it_should():
    # "human computer interaction": c1 to c5 with a cosine above .9, c3 and c5 without a shared word
    model = LSI(2).fit(COUNTS.T, terms=TERMS)
    with pytest.warns(UserWarning, match="'interaction' is no term"):
        found = model.search("human computer interaction", 9)
    assert set(found.indices[:5].tolist()) == {0, 1, 2, 3, 4}
    assert found.cosines[4] > 0.9 > found.cosines[5]


def test_documents_and_concepts():
    # four computing documents, three medical ones; data, information, retrieval, brain, lung
    X = np.zeros((7, 5))
    X[:4, :3] = np.array([1, 2, 1, 5])[:, None]
    X[4:, 3:] = np.array([2, 3, 1])[:, None]
    model = LSI(2).fit(X)
    assert np.allclose(model.singular_values_, [np.sqrt(93), np.sqrt(28)], rtol=1e-14)
    assert np.allclose(model.components_[0], [3**-0.5] * 3 + [0, 0], atol=1e-15)
    assert np.allclose(model.components_[1], [0, 0, 0] + [2**-0.5] * 2, atol=1e-15)
    assert np.allclose(model.inverse_transform(model.documents_), X)
    # one word of the trade finds all its documents, also those that do not hold it
    near = model.search(np.array([[0, 1.0, 0, 0, 0]]), 4)
    assert set(near.indices[0].tolist()) == {0, 1, 2, 3} and np.allclose(near.cosines, 1)


def mean_average_precision(order, relevant):
    """Mean over queries of the mean precision at each relevant document."""
    found = []
    for ranked, wanted in zip(order, relevant, strict=True):
        hit = np.isin(ranked, wanted)
        precision = np.cumsum(hit) / np.arange(1, len(ranked) + 1)
        found.append(precision[hit].sum() / len(wanted))
    return float(np.mean(found))


@pytest.fixture(scope="module")
def cranfield(shared_data):
    folder = shared_data / "cranfield"
    if not folder.is_dir():
        pytest.skip("no cranfield")
    documents = scipy.io.mmread(folder / "term_document_counts.mtx").T.tocsr()
    queries = scipy.io.mmread(folder / "term_query_counts.mtx").T.tocsr()
    relevant = json.loads((folder / "relevance.json").read_text())
    reference = json.loads((folder / "reference_scipy.json").read_text())["svd"]
    return documents, queries, relevant, reference


@pytest.mark.parametrize(
    ("weighting", "name"), [(None, "raw_counts"), ("logentropy", "log_entropy")]
)
def test_cranfield_singular_values(cranfield, weighting, name):
    documents, *_, reference = cranfield  # SciPy's ARPACK at tol = 0; R's RSpectra agrees
    model = LSI(50, weighting=weighting).fit(documents)
    assert np.allclose(model.singular_values_, reference[name]["singular_values_top50"], rtol=1e-11)
    assert model.residuals_.max() < 1e-6


def test_lsi_finds_more_of_what_was_asked_for_than_the_terms_do(cranfield):
    documents, queries, relevant, reference = cranfield
    asked = [np.array(relevant[str(i + 1)]) - 1 for i in range(queries.shape[0])]
    model = LSI(50, weighting="logentropy").fit(documents)
    order = model.search(queries, documents.shape[0]).indices
    found = mean_average_precision(order, asked)
    D, Q = (model.weighting_.rows(model._open(each, False).rows).X for each in (documents, queries))
    lengths = np.sqrt(D.multiply(D).sum(axis=1))
    cosines = (Q @ D.T).toarray() / np.where(lengths > 0, lengths, 1)
    terms = mean_average_precision(np.argsort(-cosines, axis=1, kind="stable"), asked)
    assert np.isclose(
        found, reference["log_entropy"]["MAP_lsi_k50_query_projected_UTq_docs_SV"], atol=2e-4
    )
    assert np.isclose(terms, reference["log_entropy"]["MAP_full_vector_space"], atol=2e-4)
    assert found > terms + 0.025

"""The measures of a report: those of the public functions, of the data as the method saw them."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.manifold import trustworthiness

from gramian import MDS, PCA, ClassicalMDS, KernelPCA
from gramian.gram.distances import pairwise
from gramian.quality import continuity, stress_1
from gramian.quality.picture import picture_measures

X = load_wine().data
SCALED = X / X.std(axis=0, ddof=1)


@pytest.mark.parametrize(
    ("model", "seen", "metric"),
    [
        (PCA(4), X, "euclidean"),
        (PCA(4, scale="unit"), SCALED, "euclidean"),
        (ClassicalMDS(3, metric="cityblock"), X, "cityblock"),
        (KernelPCA(2, kernel="rbf", gamma="median"), X, "euclidean"),
    ],
)
def test_of_every_method(model, seen, metric):
    found = model.fit(X).to_embedding(X, details=True).measures
    Z = model.transform(X)[:, :2]
    D = pairwise(seen, metric=metric)
    assert found["trustworthiness"] == pytest.approx(
        trustworthiness(D, Z, n_neighbors=10, metric="precomputed"), abs=1e-5
    )  # among equal distances scikit-learn counts an arbitrary one as nearer
    assert found["continuity"] == pytest.approx(continuity(D, Z, 10, metric="precomputed"))
    assert found["picture_stress"] == pytest.approx(stress_1(D, Z, metric="precomputed"))
    assert found["points_asked"] == len(X)


def test_what_is_kept_needs_no_second_look_at_the_data():
    model = ClassicalMDS(2, metric="cityblock").fit(X)
    kept, placed = (model.to_embedding(*x, details=True).measures for x in ((), (X,)))
    assert kept["trustworthiness"] == pytest.approx(placed["trustworthiness"], abs=1e-9)
    assert "trustworthiness" not in model.to_embedding().measures


def test_large_pictures_are_judged_at_some_points_and_the_rest_not_at_all():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 3))
    found = picture_measures(X, X[:, :2])
    assert found["points_asked"] == 500
    assert found["picture_stress"] == pytest.approx(stress_1(X[:3000], X[:3000, :2]), abs=0.01)
    assert picture_measures(np.zeros((60_000, 1)), np.zeros((60_000, 2))) == {}
    assert picture_measures(X[:10], X[:10]) == {}
    assert picture_measures(X[:100], np.zeros((100, 2))) == {}


def test_report_says_how_to_read_them(tmp_path):
    PCA(3).fit(X).report(tmp_path / "r.html", X)
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert 'id="quality"' in text
    assert "Below 0.9 do not trust small clusters" in text


def test_a_methods_own_stress_is_not_that_of_the_picture(tmp_path):
    model = MDS(2, measurement="ordinal", n_init=1).fit(SCALED)
    found = model.to_embedding(details=True).measures
    assert found["stress_1"] == model.stress_ != found["picture_stress"]
    model.report(tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "more than one is reassuring" in text

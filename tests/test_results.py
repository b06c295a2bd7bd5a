import html
import re
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest

from gramian.errors import GramianError
from gramian.results import Embedding, as_embedding
from tests.embeddings import cloud, embed, iris
from tests.report.payloads import PAYLOADS


def test_summary_says_everything_once():
    text = iris(notes=("species is text",)).summary()
    assert text.splitlines()[0] == "PCA of iris.csv: 150 observations, 4 variables, 4 axes"
    assert re.search(r"^PC1 +4\.2282 +92\.5% +92\.5% +2e-16$", text, re.M)
    assert re.search(r"^PC4 .* 100\.0% ", text, re.M)
    assert "Certified: all 4 eigenpairs meet the tolerance 1e-06" in text
    assert "Plan: dense, one pass" in text
    assert "Note: species is text" in text
    assert "petal length" in text
    assert text.isascii()


def test_summary_of_many_axes_is_cut_and_says_so():
    text = cloud(100, k=15).summary(max_axes=5)
    assert "PC5 " in text
    assert "PC6 " not in text
    assert "... and 10 more axes" in text


def test_summary_without_spectrum():
    text = Embedding("MDS", np.zeros((3, 2)), ("MDS1", "MDS2")).summary()
    assert "MDS: 3 observations, 2 axes" in text
    assert "nan" not in text
    assert "has none" in text


def test_uncertified_is_said_loudly():
    e = replace(iris(), residuals=np.array([1e-9, 1e-3, 1e-9, np.nan]))
    assert not e.certified
    assert "NOT certified: PC2 and PC4 of 4 eigenpairs" in e.summary()


def test_names_cannot_command_the_terminal():
    for payload in PAYLOADS:
        e = embed(np.eye(3, 2), ["ok", payload], source=payload, notes=(payload,), plan=payload)
        for line in e.summary().split("\n"):
            assert line.replace("\u200d", "").replace("…", "").isprintable(), repr(line)


def test_frames_hold_labels_axes_columns():
    e = embed(
        np.eye(3), "abc", labels=["x", "y", "z"], columns={"g": ["p", "q", None], "n": [1, 2, 3]}
    )
    frame = e.to_frame()
    assert frame.columns == ["label", "PC1", "PC2", "PC3", "g", "n"]
    assert frame["g"].to_list() == ["p", "q", None]
    np.testing.assert_array_equal(frame["PC2"].to_numpy(), e.coordinates[:, 1])
    pandas = e.to_frame("pandas")
    assert isinstance(pandas, pd.DataFrame)
    assert pandas.index.tolist() == ["x", "y", "z"]
    assert pandas.columns.tolist() == ["PC1", "PC2", "PC3", "g", "n"]
    with pytest.raises(GramianError, match="polars"):
        e.to_frame("excel")


def test_clashing_names_are_numbered():
    columns = {"label": list("abc"), "PC1": [1.0, 2.0, 3.0], "PC1_2": [4, 5, 6]}
    frame = embed(np.eye(3, 2), "ab", labels=["x", "y", "z"], columns=columns).to_frame()
    assert frame.columns == ["label", "PC1", "PC2", "label_2", "PC1_2", "PC1_2_2"]


def test_frame_keeps_the_dtype():
    e = iris()
    e = replace(e, coordinates=e.coordinates.astype(np.float32))
    assert e.to_frame()["PC1"].dtype == pl.Float32


@pytest.mark.parametrize("ending", [".csv", ".CSV", ".tsv", ".parquet", ".npy"])
def test_written_files_give_the_coordinates_back(tmp_path, ending):
    e = iris(labels=[f"flower, {i}" for i in range(150)])
    path = tmp_path / f"out{ending}"
    e.write(path)
    e.write(path)  # replaces
    if ending == ".npy":
        np.testing.assert_array_equal(np.load(path), e.coordinates)
        return
    if ending == ".parquet":
        frame = pl.read_parquet(path)
    else:
        frame = pl.read_csv(path, separator="\t" if ending == ".tsv" else ",")
    np.testing.assert_array_equal(frame[["PC1", "PC2", "PC3", "PC4"]].to_numpy(), e.coordinates)
    assert frame["label"][3] == "flower, 3"
    assert frame["species"][149] == "virginica"


def test_scikit_bio_gets_the_same_numbers():
    pytest.importorskip("skbio", reason="scikit-bio is not installed")
    e = iris(labels=[f"flower {i}" for i in range(150)])
    out = e.to_skbio()
    np.testing.assert_array_equal(out.samples.to_numpy(), e.coordinates)
    np.testing.assert_array_equal(out.features.to_numpy(), e.loadings)
    np.testing.assert_array_equal(out.eigvals, e.eigenvalues)
    np.testing.assert_array_equal(out.proportion_explained, e.explained)
    assert out.samples.index[3] == "flower 3"
    assert list(out.features.index) == list(e.variables)
    bare = Embedding("ClassicalMDS", np.eye(3, 2), ("a", "b"), eigenvalues=np.ones(2)).to_skbio()
    assert list(bare.samples.index) == ["1", "2", "3"]
    assert bare.features is None


def test_scikit_bio_absent_or_no_spectrum(monkeypatch):
    monkeypatch.setitem(sys.modules, "skbio", None)
    with pytest.raises(GramianError, match="pip install scikit-bio"):
        iris().to_skbio()
    with pytest.raises(GramianError, match="no eigenvalues"):
        Embedding("MDS", np.zeros((3, 2)), ("a", "b")).to_skbio()


def test_unknown_ending(tmp_path):
    with pytest.raises(GramianError, match=r"must be one of \.csv, \.tsv, \.parquet, \.npy"):
        iris().write(tmp_path / "out.xlsx")


def test_notebook_view_is_small_static_and_escaped():
    e = cloud(20_000)
    view = e._repr_html_()
    assert len(view.encode()) < 100_000
    assert "<svg" in view
    assert "<script" not in view
    assert "PC1 (" in view
    for payload in PAYLOADS:
        hostile = embed(
            np.eye(4, 2),
            ["a", payload],
            labels=[payload] * 4,
            columns={payload: [payload, payload, "x", "x"]},
            source=payload,
        )
        hostile = replace(hostile, axis_names=(payload, payload), method=payload)
        tags = set(re.findall(r"<(/?\w+)", hostile._repr_html_()))
        assert {tag.strip("/") for tag in tags} <= {
            *("div", "p", "strong", "table", "thead", "tbody", "tr", "th", "td"),
            *("svg", "path", "circle", "text"),
        }


def test_notebook_view_of_one_axis_and_constant_points():
    assert "<svg" in embed(np.eye(3, 1), "a")._repr_html_()
    flat = Embedding("MDS", np.zeros((3, 2)), ("a", "b"))
    assert "nan" not in flat._repr_html_()
    assert "<svg" not in replace(flat, coordinates=np.zeros((0, 2)))._repr_html_()
    huge = Embedding("MDS", np.array([[1e308, -1e308], [-1e308, 1e308]]), ("a", "b"))
    assert "nan" not in html.unescape(huge._repr_html_())


def test_color_column():
    e = iris()
    assert e.color_column() == "species"
    assert replace(e, color="petal area").color_column() == "petal area"
    assert replace(e, color="absent").color_column() == "species"
    assert e.groups().levels == ("setosa", "versicolor", "virginica")
    assert replace(e, columns={}).color_column() is None


def test_as_embedding():
    e = iris()

    class Fitted:
        def to_embedding(self):
            return e

    class Forgetful:
        def to_embedding(self, X, *, labels=None):
            return e

    with pytest.raises(GramianError, match=r"pass model.to_embedding\(X\)"):
        as_embedding(Forgetful())
    assert as_embedding(e) is e
    assert as_embedding(Fitted()) is e
    with pytest.raises(GramianError, match="got int"):
        as_embedding(3)

"""`--save` and `gramian transform`: new rows on the axes of a model in a file."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import numpy as np
import polars
import pytest

import gramian

CITIES = ",a,b,c,d\na,0,3,4,5\nb,3,0,5,4\nc,4,5,0,3\nd,5,4,3,0\n"


@pytest.fixture
def model(run):
    code, _, err = run("pca", "iris.csv", "-k", "2", "--save", "iris.gramian", "-o", "all.csv")
    assert code == 0 and "model written to iris.gramian" in err
    return "iris.gramian"


def lines(change=lambda cells: cells, first=6):
    text = Path("iris.csv").read_text().splitlines()[:first]
    return "\n".join(",".join(change(line.split(","))) for line in text) + "\n"


def test_rows_of_the_fit_are_placed_where_they_were(run, model):
    code, out, _ = run("transform", model, "iris.csv", "-o", "placed.csv", "--report", "r.html")
    assert code == 0
    assert "PCA of iris.csv: 150 observations" in out and "placement residual" in out
    placed, fitted = polars.read_csv("placed.csv"), polars.read_csv("all.csv")
    for name in ("PC1", "PC2", "species"):
        assert placed[name].to_list() == fitted[name].to_list()
    numbers = polars.read_csv("iris.csv").drop("species")
    assert placed["placement_residual"].to_numpy() == pytest.approx(
        gramian.load(model).placement_residual(numbers), rel=1e-12
    )
    assert "placement residual" in Path("r.html").read_text(encoding="utf-8")


def test_json_tells_the_residuals_and_parameters(run, model):
    code, out, _ = run("transform", model, "iris.csv", "--json")
    found = json.loads(out)
    assert code == 0 and found["method"] == "PCA" and found["n_observations"] == 150
    residuals = gramian.load(model).placement_residual(polars.read_csv("iris.csv").drop("species"))
    assert found["measures"]["placement_residual_largest"] == pytest.approx(residuals.max())
    assert found["measures"]["placement_residual_median"] == pytest.approx(np.median(residuals))


def test_one_new_row_is_enough(run, model):
    Path("one.csv").write_text(lines(first=2))
    code, out, _ = run("transform", model, "one.csv")
    assert code == 0 and "1 observation" in out


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda c: [c[1], c[0], *c[2:]],
            "another order: column 1 is sepal width, not sepal length",
        ),
        (lambda c: c[1:], "lacks the column sepal length"),
        (lambda c: c[2:], "lacks the columns sepal length and sepal width"),
        (lambda c: [*c, c[0].replace("sepal length", "w\x1b[2J")], "has the column w\\x1b[2J"),
        (
            lambda c: [c[0].replace("sepal length", "Sepal"), *c[1:]],
            "lacks the column sepal length",
        ),
    ],
)
def test_other_columns_are_named(run, model, change, said):
    Path("new.csv").write_text(lines(change))
    code, out, err = run("transform", model, "new.csv")
    assert code == 2 and out == "" and said in err and err.count("\n") == 1


def test_extra_columns_can_be_left_out(run, model):
    Path("new.csv").write_text(lines(lambda c: [*c, "w" if "species" in c else "7"]))
    assert run("transform", model, "new.csv")[0] == 2
    assert run("transform", model, "new.csv", "--drop", "w")[0] == 0


def test_arrays_have_no_names_and_only_their_width_is_checked(run, model):
    np.save("new.npy", polars.read_csv("iris.csv").drop("species").to_numpy())
    code, out, _ = run("transform", model, "new.npy")
    assert code == 0 and "column names were not checked" in out
    np.save("new.npy", np.ones((3, 5)))
    code, _, err = run("transform", model, "new.npy")
    assert code == 2 and "5 features" in err and "4 features" in err


def test_a_missing_value_is_told_by_name(run, model):
    Path("new.csv").write_text(lines().replace("4.9", "NA"))
    code, _, err = run("transform", model, "new.csv")
    assert code == 2 and "'sepal length', row 2" in err


def test_files_are_not_replaced_without_force(run, model):
    before = Path(model).read_bytes()
    code, _, err = run("pca", "iris.csv", "-k", "3", "--save", model)
    assert code == 2 and "exists" in err and Path(model).read_bytes() == before
    assert run("pca", "iris.csv", "-k", "3", "--save", model, "--force")[0] == 0
    assert gramian.load(model).n_components_ == 3
    code, _, err = run("pca", "iris.csv", "--save", "model.pkl")
    assert code == 2 and ".gramian" in err
    code, _, err = run("transform", model, "iris.csv", "-o", "all.csv")
    assert code == 2 and "exists" in err


def test_what_is_no_model_is_refused_in_one_sentence(run, model):
    Path("bad.gramian").write_bytes(Path(model).read_bytes()[:-9])
    for name, said in (
        ("iris.csv", "no gramian model"),
        ("bad.gramian", "truncated"),
        ("none.gramian", "no such file"),
        (".", "folder"),
    ):
        code, out, err = run("transform", name, "iris.csv")
        assert code == 2 and out == "" and said in err and err.count("\n") == 1


def test_distances_to_the_points_of_the_fit(run, monkeypatch):
    Path("d.csv").write_text(CITIES)
    assert run("classical-mds", "d.csv", "--save", "d.gramian", "-o", "fit.csv")[0] == 0
    cross = ",a,c,b,d\nnew,0,4,3,5\nold,3,5,0,4\n"
    Path("cross.csv").write_text(cross)
    code, _, _ = run("transform", "d.gramian", "cross.csv", "-o", "placed.csv")
    placed, fitted = polars.read_csv("placed.csv"), polars.read_csv("fit.csv")
    assert code == 0 and placed["label"].to_list() == ["new", "old"]
    for name in ("PCo1", "PCo2"):
        assert np.allclose(placed[name], fitted[name][:2], rtol=0, atol=1e-9)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(cross.encode())))
    code, out, _ = run("transform", "d.gramian", "-")
    assert code == 0 and "2 observations" in out
    Path("cross.csv").write_text(cross.replace("c,", "x,", 1))
    code, _, err = run("transform", "d.gramian", "cross.csv")
    assert code == 2 and "missing: 'c'" in err and "'x'" in err
    code, _, err = run("transform", "d.gramian", "cross.csv", "--drop", "a")
    assert code == 2 and "--drop is for tables" in err


@pytest.mark.parametrize(
    "command",
    [
        ("kernel-pca", "--gamma", "median"),
        ("kernel-pca", "--landmarks", "30"),
        ("classical-mds", "--metric", "euclidean", "--drop", "species"),
        ("mvu", "--disconnected", "join"),
    ],
)
def test_other_methods_join(run, command):
    name, *options = command
    code, _, _ = run(name, "iris.csv", "-k", "2", *options, "--save", "m.gramian", "-o", "fit.csv")
    assert code == 0
    code, _, _ = run("transform", "m.gramian", "iris.csv", "-o", "placed.csv")
    placed, fitted = polars.read_csv("placed.csv"), polars.read_csv("fit.csv")
    assert code == 0
    first = next(each for each in fitted.columns if each[-1] == "1")
    assert np.allclose(placed[first], fitted[first], rtol=0, atol=1e-8)


def test_residuals_of_a_given_kernel_only_where_they_are_known(run):
    X = np.random.default_rng(0).standard_normal((12, 3))
    alike = np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
    for name, K, known in (("products", X @ X.T, False), ("alike", alike, True)):
        np.save(f"{name}.npy", K)
        gramian.KernelPCA(2, kernel="precomputed").fit(K).save(f"{name}.gramian")
        placing = "transform", f"{name}.gramian", f"{name}.npy"
        assert run(*placing, "-o", f"{name}.csv")[0] == 0
        assert ("placement_residual" in polars.read_csv(f"{name}.csv").columns) is known
        measures = json.loads(run(*placing, "--json")[1])["measures"]
        assert ("placement_residual_largest" in measures) is known

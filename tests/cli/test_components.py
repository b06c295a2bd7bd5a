"""`gramian components`: the table, JSON, and every end it can come to."""

import json

import numpy as np
import pytest

from gramian.cli.app import main
from gramian.cli.messages import Messages
from gramian.data.examples import iris_path
from gramian.progress import tick


@pytest.fixture
def iris(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with iris_path() as path:
        (tmp_path / "iris.csv").write_bytes(path.read_bytes())
    return "iris.csv"


def test_table_and_recommendation(iris, capsys):
    assert main(["components", iris, "--standardize"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("Components of iris.csv: 150 observations, 4 variables, correlation")
    assert "parallel analysis                    1  beyond chance" in out
    assert "Keep 1 component" in out and "2.9185" in out
    assert "species" in err and "gramian pca iris.csv -k 1 --standardize" in err
    assert main(["components", iris, "-q"]) == 0
    assert capsys.readouterr().err == ""


def test_json(iris, capsys):
    assert main(["components", iris, "--json", "--permutations", "39", "--seed", "3"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["schema"] == 1 and found["n_components"] == 1 and found["scale"] is None
    assert found["n_observations"] == 150 and found["n_variables"] == 4
    assert np.allclose(found["eigenvalues"], [4.22824, 0.24267, 0.07821, 0.02384], atol=1e-5)
    rules = {rule["name"]: rule for rule in found["rules"]}
    assert rules["broken stick"]["n_components"] == 1
    assert rules["Tracy-Widom test"]["n_components"] is None
    assert "30 or more" in rules["Tracy-Widom test"]["note"]
    parallel = found["parallel_analysis"]
    assert parallel["n_permutations"] == 39 and parallel["seed"] == 3
    assert parallel["axes"][0]["p"] == 1 / 40 and parallel["axes"][0]["p_plain"] == 0
    assert [axis["kept"] for axis in parallel["axes"]] == [True, False, False, False]


def test_arrays_and_no_components(tmp_path, capsys):
    path = tmp_path / "noise.npy"
    np.save(path, np.random.default_rng(0).standard_normal((60, 8)))
    assert main(["components", str(path)]) == 0
    out, err = capsys.readouterr()
    assert "Keep none" in out and "gramian pca" not in err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nothing.csv"], "no such file"),
        (["iris.csv", "--permutations", "5"], "at least 19"),
        (["iris.csv", "--permutations", "x"], "permutations"),
        (["iris.csv", "--alpha", "5"], "between 0 and 1"),
        (["iris.csv", "--memory", "lots"], "4GB"),
        (["iris.csv", "--columns", "tail"], "tail"),
        (["holes.csv"], "missing, the first in column 'b', row 2"),
        (["one.csv"], "at least 2 observations"),
        ([], "FILE"),
    ],
)
def test_bad_usage_is_one_sentence(iris, tmp_path, capsys, arguments, sentence):
    (tmp_path / "holes.csv").write_text("a,b\n1,2\n3,\n4,5\n")
    (tmp_path / "one.csv").write_text("a,b\n1,2\n")
    assert main(["components", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == "" and sentence in err
    assert len(err.strip().splitlines()) == 1 and "Traceback" not in err


def test_memory_refusal_has_its_own_code(tmp_path, capsys):
    path = tmp_path / "wide.npy"
    np.save(path, np.random.default_rng(0).standard_normal((700, 700)))
    assert main(["components", str(path), "--memory", "2MB"]) == 4
    assert "to be permuted, need" in capsys.readouterr().err


def test_pca_with_horn(iris, capsys):
    assert main(["pca", iris, "-k", "horn", "-q"]) == 0
    assert "1 axis" in capsys.readouterr().out.splitlines()[0]


def test_bar_only_on_a_terminal(monkeypatch, capsys):
    with Messages().working("permuting"):
        tick("permuting", 1, 9)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr("gramian.cli.messages._on_terminal", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    with Messages().working("computing"):
        for done in range(1, 10):
            tick("permuting", done, 9)
    out, err = capsys.readouterr()
    assert out == ""
    assert "computing: permuting" in err and "100%" in err
    with Messages(quiet=True).working("computing"):
        tick("permuting", 3, 9)
    assert capsys.readouterr() == ("", "")

"""Commands that read the registry: plan, compare, help, cite; and doctor, settings, outputs."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import gramian
from gramian.cli.methods import METHODS
from gramian.cli.pages import papers
from gramian.cli.wording import as_options
from gramian.gram.distances import METRICS

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(sys.executable).with_name("gramian.exe" if sys.platform == "win32" else "gramian")


@pytest.fixture
def cities(folder):
    Path("cities.csv").write_text(
        "city,Boston,Chicago,Denver,Miami\nBoston,0,963,1949,1504\nChicago,963,0,996,1329\n"
        "Denver,1949,996,0,2037\nMiami,1504,1329,2037,0\n"
    )
    return "cities.csv"


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_help_a_page_a_paper_and_a_plan(run, name):
    method = METHODS[name]
    assert f"Example: {method.example}" in " ".join(run(name, "--help")[1].split())
    code, out, _ = run("help", name)
    assert code == 0
    assert out == (ROOT / "docs" / "methods" / f"{name}.md").read_text(encoding="utf-8")
    code, out, _ = run("cite", name)
    assert code == 0
    assert out.count("@") == len(method.papers) + 1
    assert f"version = {{{gramian.__version__}}}" in out
    assert out.count("{") == out.count("}")
    assert method.papers and set(method.papers) <= set(papers())
    file = ["iris.csv", *(["--metric", "euclidean"] if "metric" in str(method.own) else [])]
    code, out, _ = run("plan", name, *file)
    assert code == 0 and "nothing was computed" in out and "150 x 4 float64" in out


def test_help_and_cite_of_other_things(run):
    assert run("help")[1] == run("--help")[1]
    assert run("help", "check")[1] == run("check", "--help")[1]
    assert run("help", "components")[1].startswith("# How many")
    assert "horn1965" in run("cite", "components")[1]
    assert run("cite")[1].count("@") == 1


def test_a_plan_is_what_happens(run, monkeypatch):
    X = np.random.default_rng(0).normal(size=(3000, 50))
    np.save("x.npy", X)
    planned = json.loads(run("plan", "pca", "x.npy", "-k", 5, "--json")[1])
    done = json.loads(run("pca", "x.npy", "-k", 5, "--json")[1])
    assert done["plan"].startswith(planned["route"])
    assert not planned["resident"]
    assert planned["bytes_read"] == planned["passes"] * X.nbytes
    pl.DataFrame(X).write_csv("x.csv")
    monkeypatch.setattr("gramian.cli.plan._SAMPLE", 100_000)
    guessed = json.loads(run("plan", "pca", "x.csv", "--json")[1])
    assert guessed["estimated"] and abs(guessed["n_observations"] - 3000) < 30
    code, _, err = run("plan", "classical-mds", "x.npy", "--metric", "euclidean", "--memory", "9MB")
    assert code == 4
    assert "--memory" in err and "memory=" not in err


def test_compare_ranks(run, cities):
    code, out, err = run("compare", "iris.csv")
    assert code == 0, err
    assert re.search(r"^1 +mds .* +0\.9\d\d +0\.9\d\d +0\.03", out, re.MULTILINE)
    assert re.search(r"^2 +pca +0\.9\d\d +0\.9\d\d +0\.04", out, re.MULTILINE)
    found = json.loads(run("compare", "iris.csv", "--standardize", "--json")[1])
    tried = sum(len(method.compared) for method in METHODS.values())
    ranks = [each["rank"] for each in found["methods"]]
    assert ranks == list(range(1, tried + 1 - len(found["left_out"])))
    assert len(ranks) >= 4
    asked = ["-m", "pca", "-m", "classical-mds --metric euclidean", "-m", "kernel-pca --degree 2"]
    found = json.loads(run("compare", "iris.csv", "--json", *asked)[1])["methods"]
    same = {each["method"]: each["stress_1"] for each in found}
    assert same["pca"] == pytest.approx(same["classical-mds --metric euclidean"], rel=1e-6)
    code, out, err = run("compare", "iris.csv", "-m", "pca", "-m", "kernel-pca --landmarks 1")
    assert code == 0 and "kernel-pca --landmarks 1 left out: --landmarks 1" in err


def test_doctor(folder):
    done = subprocess.run(
        [str(PROGRAM), "doctor", "--json", "--threads", "1"], capture_output=True, cwd=folder
    )
    facts = json.loads(done.stdout)
    assert done.returncode == 0
    assert facts["threads"] == 1
    assert set(facts["blas_threads"].values()) == {1}
    assert facts["packages"]["numpy"] == np.__version__
    assert facts["small_numbers"] == "kept"


def test_settings_options_environment_file(run, monkeypatch):
    Path("gaps.csv").write_text("a,b\n" + "".join(f"{i},{i * i}\n" for i in range(9)) + "3,?\n")
    Path("pyproject.toml").write_text('[tool.gramian]\nmissing = ["?"]\nmemory = "300MB"\n')
    assert "1 value missing" in run("pca", "gaps.csv")[2]
    code, out, _ = run("--show-config")
    assert code == 0
    assert re.search(r"^memory +300MB +.*pyproject.toml$", out, re.MULTILINE)
    assert "threads  not set" in out
    assert json.loads(run("pca", "iris.csv", "--json")[1])["parameters"]["memory"] == "300MB"
    monkeypatch.setenv("GRAMIAN_MEMORY", "400MB")
    assert "GRAMIAN_MEMORY" in run("--show-config")[1]
    assert json.loads(run("pca", "iris.csv", "--json")[1])["parameters"]["memory"] == "400MB"
    given = json.loads(run("pca", "iris.csv", "--json", "--memory", "500MB")[1])
    assert given["parameters"]["memory"] == "500MB"
    Path("gramian.toml").write_text("memory = 7\n")
    monkeypatch.delenv("GRAMIAN_MEMORY")
    assert run("pca", "iris.csv")[0] == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("memry = '1GB'", "did you mean 'memory'"),
        ("threads = true", "threads"),
        ("threads = 0", "at least 1"),
        ("palette = ['red']", "#0072B2"),
        ("memory", "cannot be read"),
    ],
)
def test_bad_settings_are_one_sentence(run, text, words):
    Path("gramian.toml").write_text(text)
    code, out, err = run("pca", "iris.csv")
    assert (code, out) == (2, "")
    assert err.startswith("error: ") and err.count("\n") == 1
    assert words in err


def test_a_palette_reaches_the_report(folder):
    Path("gramian.toml").write_text('palette = ["#123456", "#654321"]\n')
    command = [str(PROGRAM), "pca", "iris.csv", "--report", "r.html", "-q"]
    assert subprocess.run(command, cwd=folder, capture_output=True).returncode == 0
    assert "#123456" in Path("r.html").read_text(encoding="utf-8")


def test_label_and_id(run):
    Path("t.csv").write_text("key,a,b,town\nk1,1,2,Rome\nk2,2,1,Oslo\nk3,9,4,Rome\n")
    assert run("pca", "t.csv", "--label", "town", "--id", "key", "-o", "z.csv")[0] == 0
    frame = pl.read_csv("z.csv")
    assert frame["label"].to_list() == ["k1", "k2", "k3"]
    assert frame["town"].to_list() == ["Rome", "Oslo", "Rome"]


def test_a_guessed_color_is_said(run):
    assert "colored by 'species'" in run("pca", "iris.csv", "--report", "r.html")[2]
    said = run("pca", "iris.csv", "--report", "s.html", "--color", "species")[2]
    assert "colored by" not in said


def test_formulas_are_harmless_only_when_asked(run):
    Path("t.csv").write_text("name,=a,b,note\n=1+1,1,2,-x\n@b,2,1,+y\nc,9,4,ok\n")
    assert run("pca", "t.csv", "-o", "plain.csv")[0] == 0
    assert pl.read_csv("plain.csv")["label"].to_list() == ["=1+1", "@b", "c"]
    assert run("pca", "t.csv", "-o", "safe.csv", "--excel-safe")[0] == 0
    safe, plain = pl.read_csv("safe.csv"), pl.read_csv("plain.csv")
    assert safe["label"].to_list() == ["'=1+1", "'@b", "c"]
    assert safe["note"].to_list() == ["'-x", "'+y", "ok"]
    assert safe["PC1"].equals(plain["PC1"])


def test_ordination_file(run, cities):
    assert run("classical-mds", cities, "-o", "z.ordination")[0] == 0
    lines = Path("z.ordination").read_text().splitlines()
    assert lines[0] == "Eigvals\t2" and len(lines[1].split("\t")) == 2
    site = lines.index("Site\t4\t2")
    assert [line.split("\t")[0] for line in lines[site + 1 : site + 5]] == [
        *("Boston", "Chicago", "Denver", "Miami")
    ]
    assert lines[-1] == "Site constraints\t0\t0"
    run("classical-mds", cities, "-o", "z.npy")
    read = [[float(x) for x in line.split("\t")[1:]] for line in lines[site + 1 : site + 5]]
    np.testing.assert_array_equal(read, np.load("z.npy"))
    assert run("pca", "iris.csv", "-o", "p.ordination")[0] == 0
    assert "Species\t4\t4" in Path("p.ordination").read_text()


def test_completion_of_names():
    def offered(words):
        environment = {**os.environ, "_GRAMIAN_COMPLETE": "complete_bash"}
        environment |= {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
        done = subprocess.run([str(PROGRAM)], env=environment, capture_output=True, text=True)
        return done.stdout.split()

    assert offered("gramian classical-mds --metric c") == [m for m in METRICS if m[0] == "c"]
    assert offered("gramian kernel-pca --kernel rb") == ["rbf"]
    assert offered("gramian help kern") == ["kernel-pca"]
    assert offered("gramian plan classical") == ["classical-mds"]


def test_help_names_what_there_is(run):
    from gramian.gram.kernels import KERNELS

    text = run("kernel-pca", "--help")[1]
    other_names = {"gaussian", "poly", "tanh"}
    assert all(name in text for name in set(KERNELS) - other_names)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("raise memory=", "raise --memory"),
        ("(max_bytes=)", "(--memory)"),
        ("n_components='horn' permutes", "-k horn permutes"),
        ("correction='lingoes', 'cailliez'", "--correction lingoes, 'cailliez'"),
        ("say so (header=False, --no-header on the command line)", "say so (--no-header)"),
        ("leave it out (drop=, --drop on the command line)", "leave it out (--drop)"),
        ("there is no column 'memory=3'", "there is no column 'memory=3'"),
        ("plain words", "plain words"),
    ],
)
def test_sentences_in_words_of_the_command_line(said, expected):
    assert as_options(said) == expected

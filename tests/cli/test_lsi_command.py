"""``gramian lsi`` as a user meets it, and sparse files for every method."""

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

from gramian import LSI, PCA
from tests.methods.test_lsi import counts

X = counts(60, 25)


@pytest.fixture(autouse=True)
def files(folder):
    sp.save_npz("x.npz", X)
    scipy.io.mmwrite("x.mtx", X)
    lines = [",".join(f"t{j}" for j in range(25)), *(",".join(map(str, r)) for r in X.toarray())]
    Path("x.csv").write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize("file", ["x.npz", "x.mtx", "x.csv"])
def test_it_is_the_library(run, file):
    code, out, err = run(
        *("lsi", file, "-k", 3, "--weighting", "logentropy", "-o", "z.npy", "--save", "m.gramian"),
        *("--json", "--force"),
    )
    assert code == 0, err
    model = LSI(3, weighting="logentropy").fit(X)
    found = json.loads(out)
    assert np.allclose(found["measures"]["singular values"], model.singular_values_)
    assert np.allclose(np.load("z.npy"), model.documents_)
    assert max(axis["residual"] for axis in found["axes"]) < 1e-6
    assert run("transform", "m.gramian", file, "-o", "again.npy", "--force")[0] == 0
    assert np.allclose(np.load("again.npy"), model.documents_)


def test_sparse_files_are_read_by_every_method_of_rows(run):
    for file in ("x.npz", "x.mtx"):
        code, out, err = run("pca", file, "-k", 2, "--json")
        assert code == 0, err
        wanted = PCA(2).fit(X).explained_variance_
        assert np.allclose([axis["eigenvalue"] for axis in json.loads(out)["axes"]], wanted)


def test_a_report_and_all_axes_by_default(run):
    code, out, err = run("lsi", "x.csv", "--report", "r.html")
    assert code == 0, err
    assert "25 axes" in out and "Certified" in out
    assert "Concept 1" in Path("r.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["x.npz", "-k", 26], "from 1 to 25"),
        (["x.npz", "--weighting", "bm25"], "bm25"),
        (["broken.mtx"], "cannot read broken.mtx as a sparse matrix"),
        (["broken.npz"], "cannot read broken.npz"),
    ],
)
def test_bad_input_in_one_sentence(run, arguments, sentence):
    Path("broken.mtx").write_text("%%MatrixMarket matrix coordinate real general\n2 2 9\n1 1 1\n")
    Path("broken.npz").write_bytes(Path("x.npz").read_bytes()[:200])
    code, _, err = run("lsi", *arguments)
    assert code == 2
    assert sentence in err and "Traceback" not in err

"""``gramian genotypes``: one command from a PLINK file to axes, report, model and new samples."""

import json
from pathlib import Path

import numpy as np
import polars as pl

from gramian import GenotypePCA
from tests.data.test_plink import write
from tests.methods.test_genotypes import peoples


def test_from_file_to_report_and_back(run):
    X, people = peoples(80, 1200, missing=0.02)
    Path("old").mkdir()
    old = write(Path("old"), X[:60])
    lines = [f"p{people[i]} s{i} 0 0 0 -9\n" for i in range(60)]
    old.with_suffix(".fam").write_text("".join(lines))
    output = ["-o", "z.csv", "--report", "r.html", "--save", "m.gramian"]
    code, out, err = run("genotypes", old, "-k", 3, "--min-frequency", 0.05, *output)
    assert code == 0, err
    model = GenotypePCA(3, min_frequency=0.05).fit(old)
    assert f"{model.eigenvalues_[0]:.4g}"[:4] in out
    table = pl.read_csv("z.csv")
    np.testing.assert_allclose(table["PC1"], model.embedding_[:, 0], atol=1e-9)
    assert table["label"][:2].to_list() == ["s0", "s1"]
    assert table["family"][:4].to_list() == ["p0", "p1", "p2", "p0"]
    page = Path("r.html").read_text(encoding="utf-8")
    assert "of rare alleles" in page and "of the calls are missing" in page
    # the samples of the fit where they were, others projected
    both = write(Path.cwd(), X)
    both.with_suffix(".fam").write_text(
        "".join(lines) + "".join(f"q{i} s{i} 0 0 0 -9\n" for i in range(60, 80))
    )
    code, out, err = run("transform", "m.gramian", both, "-o", "again.csv")
    assert code == 0, err
    assert "20 samples took no part in the fit" in out
    again = pl.read_csv("again.csv").select("PC1", "PC2", "PC3").to_numpy()
    np.testing.assert_allclose(again[:60], model.embedding_, atol=1e-9)
    np.testing.assert_allclose(again[60:], model.project(both)[60:], atol=1e-9)


def test_new_samples_are_placed_with_their_alleles_and_families(run):
    """Whatever the file that is written: with the other alleles counted, names as in the fit."""
    X, _ = peoples(90, 600, missing=0.02)
    Path("old").mkdir()
    old = write(Path("old"), X[:60])
    model = GenotypePCA(2).fit(old)
    model.save("m.gramian")
    new = write(Path.cwd(), 2 - X[60:])
    bim, fam = new.with_suffix(".bim"), new.with_suffix(".fam")
    bim.write_text(bim.read_text().replace("A\tC", "C\tA"))
    fam.write_text(fam.read_text().replace("f", "other"))
    for name in ("z.csv", "z.npy", "z.parquet"):
        code, out, err = run("transform", "m.gramian", new, "-o", name)
        assert code == 0, err
        assert "30 samples took no part in the fit; shrinkage of theirs is undone (in " in out
        assert "30 names of theirs had another family" in out
    np.testing.assert_allclose(np.load("z.npy"), model.project(new), atol=1e-9)
    table = pl.read_csv("z.csv")
    np.testing.assert_allclose(table.select("PC1", "PC2"), model.project(new), atol=1e-9)
    bim.write_text(bim.read_text().replace("C\tA", "G\tA"))
    code, _, err = run("transform", "m.gramian", new, "-o", "other.csv")
    assert code == 2 and "has the alleles G/A, in the fit it had A/C" in err


def test_a_table_of_counts(run):
    X, _ = peoples(30, 40)
    text = "\n".join(",".join("" if x == 1 else f"{x:g}" for x in row) for row in X)
    Path("x.csv").write_text(",".join(f"v{j}" for j in range(40)) + "\n" + text + "\n")
    code, out, err = run("genotypes", "x.csv", "-k", 2, "--normalization", "variants", "--json")
    assert code == 0, err
    found = json.loads(out)
    X[X == 1] = np.nan
    wanted = GenotypePCA(2, normalization="variants").fit(X)
    values = [axis["eigenvalue"] for axis in found["axes"]]
    np.testing.assert_allclose(values, wanted.eigenvalues_, rtol=1e-9)
    assert found["measures"]["variants"] == wanted.n_variants_


def test_a_plan_and_bad_options(run):
    path = write(Path.cwd(), peoples(30, 50)[0])
    code, out, _ = run("plan", "genotypes", path)
    assert code == 0 and "30 x 50 float64" in out and "YYᵀ (30 x 30) formed" in out
    assert run("genotypes", path, "--scaling", "sd")[0] == 2
    assert run("genotypes", path, "--min-frequency", "0.6")[0] == 2
    path.write_bytes(path.read_bytes()[:-1])
    code, out, err = run("genotypes", path)
    assert (code, out) == (2, "") and "should have 403 bytes" in err and "402" in err

"""PLINK files on the command line: samples are named, variants too."""

from pathlib import Path

import polars as pl

from tests.data.test_plink import genotypes, write


def test_pca_of_genotypes(run):
    path = write(Path.cwd(), genotypes(30, 50))
    code, out, err = run("pca", str(path), "-k", "2", "-o", "z.csv", "--save", "m.gramian")
    assert code == 0, err
    assert "30 observations, 50 variables" in out and "rs" in out
    table = pl.read_csv("z.csv")
    assert tuple(table["label"][:2]) == ("s0", "s1")
    code, _, err = run("transform", "m.gramian", str(path), "-o", "again.csv")
    assert code == 0, err
    assert abs(pl.read_csv("again.csv")["PC1"] - table["PC1"]).max() < 1e-9
    code, _, err = run("pca", str(path), "--drop", "rs1")
    assert code == 2 and "--drop is for tables" in err

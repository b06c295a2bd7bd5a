"""Genotypes in PLINK files: the rows a plain decoder sees, and every defect in a sentence."""

import numpy as np
import pytest

from gramian import PCA
from gramian.data.door import open_rows
from gramian.errors import InputError


def write(folder, X, name="g"):
    """The three files of allele counts X (samples x variants; NaN: no call), written plainly."""
    n, m = X.shape
    codes = np.select([X == 2, np.isnan(X), X == 1], [0, 1, 2], 3).astype(np.uint8)
    padded = np.zeros((-(-n // 4) * 4, m), np.uint8)
    padded[:n] = codes
    four = padded.reshape(-1, 4, m)
    packed = four[:, 0] | four[:, 1] << 2 | four[:, 2] << 4 | four[:, 3] << 6
    path = folder / f"{name}.bed"
    path.write_bytes(b"\x6c\x1b\x01" + packed.T.tobytes())
    path.with_suffix(".fam").write_text("".join(f"f{i} s{i} 0 0 0 -9\n" for i in range(n)))
    path.with_suffix(".bim").write_text("".join(f"1\trs{j}\t0\t{j}\tA\tC\n" for j in range(m)))
    return path


def genotypes(n, m, seed=0):
    rng = np.random.default_rng(seed)
    return rng.binomial(2, rng.uniform(0.05, 0.95, m), (n, m)).astype(float)


@pytest.mark.parametrize("n", [2, 5, 8, 63, 130])
def test_rows_are_those_of_a_plain_decoder(tmp_path, n):
    X = genotypes(n, 41)
    X[n // 2, 3] = np.nan
    opened = open_rows(write(tmp_path, X))
    rows = opened.rows
    np.testing.assert_array_equal(rows.read_rows(slice(0, n)), X)
    np.testing.assert_array_equal(rows.read_rows(slice(1, 2)), X[1:2])
    assert opened.labels == tuple(f"s{i}" for i in range(n))
    assert opened.columns[:2] == ("rs0", "rs1")


def named(path, people):
    """The .fam beside ``path`` with these families and names."""
    path.with_suffix(".fam").write_text("".join(f"{who} 0 0 0 -9\n" for who in people))
    return path


@pytest.mark.parametrize(
    ("people", "labels"),
    [
        (["A x", "A y", "B z"], ("x", "y", "z")),
        (["0 1", "2 2", "B 3"], ("1", "2", "3")),
        (["A 1", "B 1", "B 2"], ("A 1", "B 1", "B 2")),
    ],
)
def test_samples_are_called_by_both_names_where_one_occurs_twice(tmp_path, people, labels):
    assert open_rows(named(write(tmp_path, genotypes(3, 5)), people)).labels == labels


@pytest.mark.parametrize(
    ("people", "words"),
    [
        (["A x", "B x", "A x"], "lines 1 and 3 both name sample x of family A; .* another"),
        (["A x", "0 y", "y y"], "lines 2 and 3 both name sample y; samples"),
    ],
)
def test_one_sample_on_two_lines_is_refused(tmp_path, people, words):
    with pytest.raises(InputError, match=words):
        open_rows(named(write(tmp_path, genotypes(3, 5)), people))


@pytest.mark.parametrize("shape", [(60, 900), (300, 40), (700, 800)])
def test_pca_of_the_file_is_that_of_the_array(tmp_path, shape):
    X = genotypes(*shape)
    path = write(tmp_path, X)
    found, wanted = PCA(5).fit(path), PCA(5).fit(X)
    np.testing.assert_allclose(found.explained_variance_, wanted.explained_variance_, rtol=1e-10)
    np.testing.assert_allclose(found.components_, wanted.components_, atol=1e-8)
    np.testing.assert_allclose(found.transform(path), wanted.transform(X), atol=1e-8)
    assert list(found.feature_names_in_[:2]) == ["rs0", "rs1"]


def test_thousand_genomes(shared_data):
    """numpy's SVD of the counts decoded here, bit by bit, from data/kg_phase1."""
    path = shared_data / "kg_phase1" / "kg.bed"
    packed = np.fromfile(path, np.uint8)[3:].reshape(14079, 273)
    codes = (packed[:, :, None] >> np.array([0, 2, 4, 6], np.uint8)) & 3
    X = np.array([2.0, np.nan, 1.0, 0.0])[codes.reshape(14079, -1)[:, :1092]].T
    model = PCA(3).fit(path)
    Y = X - X.mean(axis=0)
    values = np.linalg.eigvalsh(Y @ Y.T)[::-1][:3] / 1091
    np.testing.assert_allclose(model.explained_variance_, values, rtol=1e-10)
    assert model.residuals_.max() < 1e-6


def test_a_missing_call_is_named(tmp_path):
    X = genotypes(30, 20)
    X[7, 11] = np.nan
    with pytest.raises(InputError, match="row 7, column 11.*ProbabilisticPCA"):
        PCA(2).fit(write(tmp_path, X))


def defects(path):
    bed, fam, bim = path, path.with_suffix(".fam"), path.with_suffix(".bim")
    raw = bed.read_bytes()
    yield lambda: bed.write_bytes(b"\x00" + raw[1:]), "no PLINK .bed file"
    yield lambda: bed.write_bytes(raw[:2] + b"\x00" + raw[3:]), "sample-major"
    yield lambda: bed.write_bytes(raw[:-1]), "should have 163 bytes .* has 162"
    yield lambda: fam.write_text("f s 0 0 0 -9\n"), "should have 23 bytes"
    yield lambda: fam.write_text("f s\n"), "line 1: 2 fields instead of 6"
    yield lambda: fam.write_text(""), "0 samples"
    yield lambda: bim.write_bytes(b"\xff\xfe\n"), "UTF-8"
    yield lambda: bim.unlink(), "needs its .bim and .fam"


@pytest.mark.parametrize("number", range(8))
def test_defects_are_told(tmp_path, number):
    path = write(tmp_path, genotypes(30, 20))
    spoil, words = list(defects(path))[number]
    spoil()
    with pytest.raises(InputError, match=words):
        open_rows(path)


def test_a_file_that_changes_while_it_is_read(tmp_path):
    path = write(tmp_path, genotypes(30, 20))
    rows = open_rows(path).rows
    write(tmp_path, genotypes(30, 20, seed=1))
    with pytest.raises(InputError, match="changed while it was read"):
        rows.gram(np.ones((20, 1)))

"""Products with two-bit calls against NumPy on the numbers they stand for."""

import numpy as np
import pytest

from gramian.data.genotypes import Standardized
from gramian.data.plink import BedRows
from gramian.loops.genotypes import PANEL
from gramian.loops.threads import limit_threads
from tests.data.test_plink import genotypes, write

_codes = {2.0: 0, 1.0: 2, 0.0: 3}


def packed(folder, n, m, kept, seed=0):
    """A file, a table of four numbers a variant, and the matrix they make."""
    rng = np.random.default_rng(seed)
    X = genotypes(n, m, seed=seed)
    codes = np.vectorize(lambda g: _codes.get(g, 1))(X)
    tables = rng.standard_normal((m, 4))
    Z = np.take_along_axis(tables, codes.T, axis=1).T[:, kept]
    return Standardized(BedRows(write(folder, X)), kept, tables[kept]), Z


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize(
    ("n", "m", "step"),
    [(5, 7, 1), (37, 50, 1), (64, 33, 2), (511, 77, 1), (700, 300, 60), (PANEL + 133, 61, 1)],
)
def test_products_are_those_of_the_plain_matrix(tmp_path, monkeypatch, n, m, step, single):
    """Whole registers and what is left of them, one panel of samples and two, chosen variants."""
    if single:
        monkeypatch.setattr("gramian.data.plink._exactly", 0)
    M, Z = packed(tmp_path, n, m, np.arange(0, m, step))
    close = 1e-13 if M.dtype == np.float64 else 3e-6
    rng = np.random.default_rng(1)
    for b in (1, 4, 10):
        U, V = rng.standard_normal((n, b)), rng.standard_normal((Z.shape[1], b))
        for found, plain in (
            (M.adjoint(U), Z.T @ U),
            (M @ V.astype(M.dtype), Z @ V),
            (M.row_gram(U), Z @ (Z.T @ U)),
            (M.outer(), Z @ Z.T),
        ):
            assert found.shape == plain.shape
            np.testing.assert_allclose(found, plain, atol=3 * close * np.abs(plain).max())


def test_same_bits_on_any_number_of_threads(tmp_path, monkeypatch):
    monkeypatch.setattr("gramian.data.plink._exactly", 0)
    M, _ = packed(tmp_path, 333, 500, np.arange(500))
    U = np.random.default_rng(1).standard_normal((333, 6))
    found = []
    for threads in (1, 2, 8):
        with limit_threads(threads):
            found.append((M.row_gram(U), M.adjoint(U)))
    for gram, adjoint in found[1:]:
        np.testing.assert_array_equal(gram, found[0][0])
        np.testing.assert_array_equal(adjoint, found[0][1])

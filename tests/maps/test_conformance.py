"""Every map against its dense twin."""

import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp

import gramian.data.dask.blocks as dask_blocks
from gramian.data.centering import Centering
from gramian.data.door import open_rows
from gramian.inference.gaussian import LowRankPlusDiagonal
from gramian.maps import ImplicitMap, as_scipy, to_dense
from gramian.spectral.principal import ColumnGram
from gramian.testing import check_map, same_subspace, same_up_to_rotation, same_up_to_signs


def data(n, p, dtype, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + 2
    X[rng.random((n, p)) < 0.6] = 0
    return X.astype(dtype)


SOURCES = {
    "C order": lambda X, folder: X,
    "Fortran order": lambda X, folder: np.asfortranarray(X),
    "strided": lambda X, folder: np.repeat(X, 2, axis=0)[::2],
    "negative strides": lambda X, folder: X[::-1, ::-1][::-1, ::-1],
    "big-endian": lambda X, folder: X.astype(X.dtype.newbyteorder(">")),
    "csr array": lambda X, folder: sp.csr_array(X),
    "csc matrix": lambda X, folder: sp.csc_matrix(X),
    "coo array": lambda X, folder: sp.coo_array(X),
    "file": lambda X, folder: saved(X, folder),
    "Fortran file": lambda X, folder: saved(np.asfortranarray(X), folder),
    "memory map": lambda X, folder: np.load(saved(X, folder), mmap_mode="r"),
    "Dask rows": lambda X, folder: da.from_array(X, chunks=(9, -1)),
    "Dask columns": lambda X, folder: da.from_array(X, chunks=(-1, 5)),
    "Dask tiles": lambda X, folder: da.from_array(X, chunks=(9, 5)),
    "Dask sparse": lambda X, folder: da.from_array(X, chunks=(9, -1)).map_blocks(sp.csr_matrix),
}


def saved(X, folder):
    path = folder / "x.npy"
    np.save(path, X)
    return path


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("shape", [(60, 7), (7, 60), (1, 4), (33, 33)])
@pytest.mark.filterwarnings("ignore:the Dask array is chunked across")
def test_rows_and_centered_rows(source, shape, dtype, tmp_path, monkeypatch):
    monkeypatch.setattr(dask_blocks, "_small", 1)  # no chunk is too small to be a block
    X = data(*shape, dtype)
    stored = SOURCES[source](X, tmp_path)
    rows = open_rows(stored).rows
    check_map(rows, X.astype(np.float64))
    m = rows.moments(np.ones(shape[0]))
    factor, weight = np.linspace(1, 2, shape[1]), np.linspace(1, 3, shape[0])
    Y = rows.then(Centering.of(m.high, m.low, factor, weight, rows.dtype))
    twin = (X - X.mean(axis=0, dtype=np.float64)) * factor * weight[:, None]
    if shape[0] == 1 and (sp.issparse(stored) or source == "Dask sparse"):
        return  # a single row centers to exactly 0, and implicitly only to rounding
    check_map(Y, twin)
    check_map(ColumnGram(Y), twin.T @ twin, symmetric=True)
    stacked = np.concatenate([Y.read_rows(rows) for rows in Y.row_blocks()])
    assert np.allclose(stacked, twin, atol=1e-5 if dtype == np.float32 else 1e-13)


def test_low_rank_plus_diagonal():
    rng = np.random.default_rng(0)
    V = np.linalg.qr(rng.standard_normal((9, 3)))[0]
    a, u = np.array([3.0, 2.0, 1.0]), rng.uniform(1, 2, 9)
    twin = u[:, None] * (V * a @ V.T + 0.5 * np.eye(9)) * u
    check_map(LowRankPlusDiagonal(V, a, 0.5, u), twin, symmetric=True)


def test_map_and_sum_rows(tmp_path):
    X = data(500, 11, np.float64)
    for source in (X, saved(X, tmp_path)):
        rows = open_rows(source, memory="2MB").rows
        rows.block_bytes = 2000
        assert len(rows.row_blocks()) > 10
        total = rows.sum_rows(lambda block, where: block.sum(axis=0))
        assert np.allclose(total, X.sum(axis=0))
        lengths = rows.map_rows(lambda block, where: (block**2).sum(axis=1)[:, None], 1, float)
        assert np.allclose(lengths[:, 0], (X**2).sum(axis=1))


def test_a_vector_is_refused_with_the_remedy():
    with pytest.raises(ValueError, match="v\\[:, None\\]"):
        open_rows(np.ones((4, 3))).rows @ np.ones(3)


def test_a_map_without_product_says_so():
    class Empty(ImplicitMap):
        shape, dtype = (2, 2), np.dtype(float)

    with pytest.raises(TypeError, match="Empty"):
        Empty() @ np.ones((2, 1))


def test_transpose_twice_and_scipy(tmp_path):
    X = data(20, 6, np.float64)
    rows = open_rows(X).rows
    assert rows.T.T is rows
    operator = as_scipy(rows)
    assert np.allclose(operator @ np.ones(6), X.sum(axis=1))
    assert np.allclose(operator.T @ np.ones(20), X.sum(axis=0))
    assert np.allclose(operator @ np.eye(6), X)
    assert np.allclose(to_dense(sp.csr_array(X)), X)
    assert "20 x 6" in repr(rows)


def test_the_checks_can_fail():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((30, 3))
    rotation = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    same_up_to_signs(A * [1, -1, 1], A)
    same_up_to_rotation(A @ rotation, A)
    same_subspace(A @ rng.standard_normal((3, 3)), A)
    for check, wrong in (
        (same_up_to_signs, A @ rotation),
        (same_up_to_rotation, A * [1, 2, 1]),
        (same_subspace, rng.standard_normal((30, 3))),
    ):
        with pytest.raises(AssertionError):
            check(wrong, A)
    with pytest.raises(AssertionError):
        check_map(open_rows(A).rows, A + 1e-3)

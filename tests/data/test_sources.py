"""Every source of rows against its dense twin: one suite for all of them."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

from gramian import PCA
from gramian.data.centering import Centering
from gramian.data.door import open_rows
from gramian.errors import GramianWarning, InputError
from gramian.testing import same_up_to_signs
from tests.data.sources import SPARSE, STAGED, WRITERS, names, numbers

TALL, WIDE = (3000, 40), (60, 1400)
SMALL = "1MB"  # the smallest budget there is: both shapes are larger than a third of it


def staging(kind):
    return pytest.warns(GramianWarning, match="temporary") if kind in STAGED else _quiet()


@contextlib.contextmanager
def _quiet():
    yield


def opened(kind, folder, shape):
    X = numbers(kind, *shape)
    path = WRITERS[kind](folder, X)
    with staging(kind):
        return X, path, open_rows(path, SMALL)


def centered(rows, X):
    """Y as the source has it and as NumPy has it: mean, factors and weights of the rows."""
    rng = np.random.default_rng(7)
    mean, factor = X.mean(axis=0), rng.uniform(0.5, 2, X.shape[1])
    weight = rng.uniform(0.5, 2, X.shape[0])
    Y = rows.then(Centering.of(mean, np.zeros_like(mean), factor, weight, rows.dtype))
    return Y, (X - mean) * factor * weight[:, None]


@pytest.mark.parametrize("shape", [TALL, WIDE], ids=["tall", "wide"])
@pytest.mark.parametrize("kind", WRITERS)
def test_source_is_its_dense_twin(tmp_path, kind, shape):
    X, _, found = opened(kind, tmp_path, shape)
    rows, (n, p) = found.rows, shape
    assert rows.shape == shape and rows.dtype == np.float64
    assert not rows.resident
    close = {"rtol": 1e-9, "atol": 1e-9}

    moments = rows.moments(np.ones(1))
    assert np.allclose(moments.mean, X.mean(axis=0), **close)
    assert np.allclose(moments.variance / moments.unit**2, X.var(axis=0), **close)

    Y, dense = centered(rows, X)
    rng = np.random.default_rng(8)
    V, U = rng.standard_normal((p, 5)), rng.standard_normal((n, 3))
    assert np.allclose(Y @ V, dense @ V, **close)
    assert np.allclose(Y.T @ U, dense.T @ U, **close)
    assert np.allclose(Y.adjoint(U), dense.T @ U, **close)
    assert np.allclose(Y.gram(V), dense.T @ (dense @ V), rtol=1e-8, atol=1e-6)
    if p <= n:
        assert np.allclose(Y.cross(), dense.T @ dense, rtol=1e-8, atol=1e-6)
    else:
        assert np.allclose(Y.outer(), dense @ dense.T, rtol=1e-8, atol=1e-6)

    assert np.array_equal(
        np.concatenate([np.arange(n)[rows] for rows, _ in Y.blocks()]), np.arange(n)
    )
    assert np.allclose(Y.read_rows(slice(11, 47)), dense[11:47], **close)
    assert np.allclose(Y.map_rows(lambda block, _: block[:, :2], 2, float), dense[:, :2], **close)
    assert np.allclose(
        Y.sum_rows(lambda block, rows: U[rows].T @ block), U.T @ dense, rtol=1e-9, atol=1e-8
    )
    some = np.array([n - 1, 0, 17, 16])
    assert np.allclose(Y.take(some), dense[some], **close)


@pytest.mark.parametrize("kind", WRITERS)
def test_pca_of_a_source_is_that_of_its_twin(tmp_path, kind):
    X, _, found = opened(kind, tmp_path, (2000, 40))
    twin = PCA(3).fit(X)
    model = PCA(3, memory="2MB").fit(found)
    assert np.allclose(model.explained_variance_, twin.explained_variance_, rtol=1e-9)
    assert model.residuals_.max() < 1e-6
    same_up_to_signs(model.transform(found), twin.transform(X), rtol=1e-6)
    assert np.allclose(model.placement_residual(found), twin.placement_residual(X), atol=1e-6)


@pytest.mark.parametrize("kind", WRITERS)
def test_blocks_are_small(tmp_path, kind):
    _, _, found = opened(kind, tmp_path, TALL)
    if kind in SPARSE:
        return
    largest = max(block.nbytes for _, block in found.rows.blocks())
    assert len(list(found.rows.blocks())) > 4
    assert largest <= 130_000  # an eighth of the budget: several are under way at a time


@pytest.mark.parametrize("kind", WRITERS)
def test_names_come_along(tmp_path, kind):
    _, _, found = opened(kind, tmp_path, (2000, 40))
    n = 2000
    labels = {
        "h5ad": [f"cell{i}" for i in range(n)],
        "h5ad, sparse": [f"cell{i}" for i in range(n)],
        "zarr, sparse": [f"cell{i}" for i in range(n)],
        "bed": [f"s{i}" for i in range(n)],
        "images": [f"{i:05d}" for i in range(n)],
    }
    bare = ("npy", "npy, by columns", "npy, shards", "zarr 3", "zarr 2", "zarr, sharded")
    bare += ("hdf5", "hdf5, chunked", "images", "mtx")
    assert found.columns == (None if kind in bare else tuple(names(40)))
    assert found.labels == (tuple(labels[kind]) if kind in labels else None)


@pytest.mark.parametrize("weighting", [None, "tfidf", "logentropy"])
@pytest.mark.parametrize("kind", ["h5ad, sparse", "mtx"])
def test_lsi_of_sparse_counts_in_a_file(tmp_path, kind, weighting):
    from gramian import LSI

    X = np.abs(numbers(kind, 3000, 40)).round()
    path = WRITERS[kind](tmp_path, X)
    with staging(kind):
        found = open_rows(path, SMALL)
    twin = LSI(3, weighting=weighting).fit(X)
    model = LSI(3, weighting=weighting, memory="2MB").fit(found)
    assert np.allclose(model.singular_values_, twin.singular_values_, rtol=1e-8)
    same_up_to_signs(model.documents_, twin.documents_, rtol=1e-6)
    same_up_to_signs(model.transform(found), twin.transform(X), rtol=1e-6)


def test_several_stores_are_read_by_the_array_that_is_named(tmp_path):
    h5py = pytest.importorskip("h5py")
    shards = tmp_path / "shards"
    shards.mkdir()
    X = np.arange(60.0).reshape(12, 5)
    for i, part in enumerate(np.split(X, 3)):
        with h5py.File(shards / f"p{i}.h5", "w") as file:
            file["counts"], file["x"] = part, part + 100
    for given in (f"{shards}/p*.h5", f"{shards}/p1*.h5", str(shards)):
        wanted = X[4:8] if "p1" in given else X
        for name, more in (("counts", 0), ("x", 100)):
            rows = open_rows(f"{given}::{name}").rows
            assert np.array_equal(rows.read_rows(slice(0, len(wanted))), wanted + more)
        with pytest.raises(InputError, match=r"p[01].h5 has no 'nope'; it holds counts, x"):
            open_rows(f"{given}::nope")


@pytest.mark.parametrize("kind", ["npy, shards", "csv, shards", "parquet, folder", "images", "npy"])
def test_files_without_named_arrays_take_no_name(tmp_path, kind):
    path = WRITERS[kind](tmp_path, numbers(kind, 30, 4))
    with pytest.raises(InputError, match="::x: '::' names an array in .h5 or .* not in"):
        open_rows(f"{path}::x")

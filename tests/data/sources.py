"""One writer for each kind of source: numbers go in, a path comes out."""

from __future__ import annotations

import numpy as np


def numbers(kind: str, n: int, p: int) -> np.ndarray:
    """What this kind of source can hold: genotypes, gray levels, mostly zeros, or anything."""
    rng = np.random.default_rng(n + p)
    if kind == "bed":
        return rng.binomial(2, rng.uniform(0.1, 0.9, p), (n, p)).astype(float)
    if kind == "images":
        return rng.integers(0, 256, (n, p)).astype(float)
    X = rng.standard_normal((n, 3)) @ (3 * rng.standard_normal((3, p)))
    X += rng.standard_normal((n, p)) + 5 * rng.standard_normal(p)
    if kind in SPARSE:
        X[rng.random((n, p)) < 0.7] = 0
    return X


def names(p: int) -> list[str]:
    return [f"v{j}" for j in range(p)]


def _csv(folder, X):
    path = folder / "x.csv"
    np.savetxt(path, X, delimiter=",", header=",".join(names(X.shape[1])), comments="", fmt="%.17g")
    return path


def _frame(X):
    import polars

    return polars.DataFrame(X, schema=names(X.shape[1]), orient="row")


def _parquet(folder, X):
    _frame(X).write_parquet(folder / "x.parquet", row_group_size=500)
    return folder / "x.parquet"


def _parquet_folder(folder, X):
    (folder / "shards").mkdir()
    for i, part in enumerate(np.array_split(X, 3)):
        _frame(part).write_parquet(folder / "shards" / f"part-{i}.parquet")
    return folder / "shards"


def _feather(folder, X):
    _frame(X).write_ipc(folder / "x.feather", compression="zstd")
    return folder / "x.feather"


def _npy(folder, X):
    np.save(folder / "x.npy", X)
    return folder / "x.npy"


def _fortran(folder, X):
    np.save(folder / "x.npy", np.asfortranarray(X))
    return folder / "x.npy"


def _npy_shards(folder, X):
    for i, part in enumerate(np.array_split(X, 4)):
        np.save(folder / f"x{i}.npy", np.asfortranarray(part) if i == 2 else part)
    return str(folder / "x*.npy")


def _csv_shards(folder, X):
    for i, part in enumerate(np.array_split(X, 2)):
        (folder / f"s{i}").mkdir()
        _csv(folder / f"s{i}", part).rename(folder / f"x{i}.csv")
    return str(folder / "x?.csv")


def _zarr(folder, X, version=3, **how):
    import zarr

    array = zarr.create_array(
        folder / "x.zarr", shape=X.shape, dtype=X.dtype, zarr_format=version, **how
    )
    array[:] = X
    return folder / "x.zarr"


def _zarr3(folder, X):
    return _zarr(folder, X, chunks=(100, 80))


def _zarr2(folder, X):
    return _zarr(folder, X, 2, chunks=(20, X.shape[1]))


def _zarr_sharded(folder, X):
    return _zarr(folder, X, chunks=(20, 40), shards=(40, 80))


def _hdf5(folder, X, **how):
    import h5py

    with h5py.File(folder / "x.h5", "w") as file:
        file.create_dataset("group/x", data=X, **how)
        file["note"] = "not a matrix"
    return folder / "x.h5"


def _hdf5_chunked(folder, X):
    return _hdf5(folder, X, chunks=(20, min(X.shape[1], 200)), compression="gzip", shuffle=True)


def _anndata(X):
    import anndata

    adata = anndata.AnnData(X)
    adata.obs_names = [f"cell{i}" for i in range(X.shape[0])]
    adata.var_names = names(X.shape[1])
    return adata


def _h5ad(folder, X):
    _anndata(X).write_h5ad(folder / "x.h5ad")
    return folder / "x.h5ad"


def _h5ad_sparse(folder, X):
    import scipy.sparse

    return _h5ad(folder, scipy.sparse.csr_matrix(X))


def _zarr_sparse(folder, X):
    import warnings

    import scipy.sparse

    with warnings.catch_warnings(action="ignore"):  # about what anndata writes by default
        _anndata(scipy.sparse.csr_matrix(X)).write_zarr(folder / "x.zarr")
    return folder / "x.zarr"


def _bed(folder, X):
    n, p = X.shape
    codes = np.array([3, 2, 0], np.uint8)[X.T.astype(int)]
    padded = np.zeros((p, 4 * -(-n // 4)), np.uint8)
    padded[:, :n] = codes
    packed = (padded.reshape(p, -1, 4) << np.array([0, 2, 4, 6], np.uint8)).sum(2, dtype=np.uint8)
    (folder / "x.bed").write_bytes(b"\x6c\x1b\x01" + packed.tobytes())
    (folder / "x.fam").write_text("".join(f"f s{i} 0 0 0 -9\n" for i in range(n)))
    (folder / "x.bim").write_text("".join(f"1 v{j} 0 {j} A C\n" for j in range(p)))
    return folder / "x.bed"


def _images(folder, X):
    from PIL import Image

    (folder / "images").mkdir()
    for i, row in enumerate(X.astype(np.uint8)):
        Image.fromarray(row[None, :]).save(folder / "images" / f"{i:05d}.png")
    return folder / "images"


def _mtx(folder, X):
    import scipy.io
    import scipy.sparse

    X = scipy.sparse.coo_array(X)
    order = np.random.default_rng(0).permutation(X.nnz)  # in no order at all
    X = scipy.sparse.coo_array((X.data[order], (X.row[order], X.col[order])), shape=X.shape)
    scipy.io.mmwrite(folder / "x.mtx", X, precision=17)
    return folder / "x.mtx"


WRITERS = {
    "npy": _npy,
    "npy, by columns": _fortran,
    "npy, shards": _npy_shards,
    "csv": _csv,
    "csv, shards": _csv_shards,
    "parquet": _parquet,
    "parquet, folder": _parquet_folder,
    "feather": _feather,
    "zarr 3": _zarr3,
    "zarr 2": _zarr2,
    "zarr, sharded": _zarr_sharded,
    "zarr, sparse": _zarr_sparse,
    "hdf5": _hdf5,
    "hdf5, chunked": _hdf5_chunked,
    "h5ad": _h5ad,
    "h5ad, sparse": _h5ad_sparse,
    "bed": _bed,
    "images": _images,
    "mtx": _mtx,
}
SPARSE = ("zarr, sparse", "h5ad, sparse", "mtx")
STAGED = ("csv", "csv, shards", "images", "mtx")  # copied once, which is said in a warning

"""The one door: whatever holds rows of numbers becomes a map.

array, list, frame, sparse matrix, path, Dask  ->  ArrayRows | NpyRows | SparseRows | DaskRows,
and the names
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gramian.data.array_rows import ArrayRows
from gramian.data.dask import is_lazy, open_dask
from gramian.data.npy import NpyRows, refuse_type
from gramian.data.rows import RowBlocked
from gramian.data.sparse import SparseRows
from gramian.errors import GramianError, InputError, MemoryRefusedError
from gramian.maps import Array
from gramian.memory import budget, in_words

_tables = (".csv", ".tsv", ".txt", ".parquet", ".gz", ".zst")


class Opened(NamedTuple):
    """Rows and the names that came with them."""

    rows: RowBlocked | SparseRows
    columns: tuple[str, ...] | None
    labels: tuple[str, ...] | None


def replace_rows(opened: Opened, X: Array) -> Opened:
    """The same names with other numbers, of the type that was computed in."""
    return opened._replace(rows=ArrayRows(X.astype(opened.rows.dtype, copy=False)))


def open_rows(X: Any, memory: Any = None) -> Opened:
    """Rows of ``X``, not copied where a view or a block will do.

    Parameters
    ----------
    X : array-like, sparse matrix, frame, or path to .npy, .npz, .mtx, .bed, .csv, .tsv or .parquet
        A Dask array or frame is visited where it lies.
    memory : int, str or None
        Budget; a ``.npy`` file that does not fit it is visited in blocks.
    """
    if isinstance(X, (str, os.PathLike)):
        return _from_path(Path(X).expanduser(), memory)
    if is_lazy(X):
        found, names = open_dask(X, memory)
        _refuse_empty(found.shape)
        return Opened(found, names, None)
    if hasattr(X, "tocsr") and hasattr(X, "nnz"):
        refuse_type(X.dtype, "the sparse matrix")
        _refuse_empty(X.shape)
        return Opened(SparseRows(X, memory), None, None)
    if not isinstance(X, np.ndarray):
        from gramian.data.tables import frame_to_table, is_frame

        if is_frame(X):
            table = frame_to_table(X)
            return _from_array(table.numbers, memory, table.columns, table.labels)
    return _from_array(as_numbers(X), memory)


def as_numbers(X: Any) -> Array:
    """``X`` as a two-dimensional array of real numbers."""
    if not isinstance(X, np.ndarray):
        try:
            X = np.asarray(X)
        except ValueError as error:
            raise InputError(
                f"the rows are of unequal length ({error}); pass a rectangle"
            ) from None
    if X.dtype.kind in "OUS" and X.ndim == 2:
        X = _parsed(X)
    refuse_type(X.dtype, "the array")
    if X.ndim == 1:
        raise InputError(
            f"Expected 2D array, got 1D array of {X.shape[0]} values. Reshape your data: "
            "X.reshape(-1, 1) if it is one variable, X.reshape(1, -1) if it is one observation"
        )
    if X.ndim != 2:
        raise InputError(
            f"Expected 2D array, got {X.ndim} dimensions {X.shape}; "
            "X.reshape(len(X), -1) makes one row of each observation"
        )
    return X if X.dtype.isnative else X.astype(X.dtype.newbyteorder("="))


def _parsed(X: Array) -> Array:
    """Objects or text as float64, or an error naming the first cell that is no number."""
    try:
        if X.dtype.kind == "O":
            return X.astype(np.float64)
    except (TypeError, ValueError):
        pass
    for i, row in enumerate(X):
        for j, value in enumerate(row):
            try:
                if isinstance(value, (str, bytes)):
                    raise ValueError
                float(value)
            except (TypeError, ValueError) as error:
                # scikit-learn's contract asks for these words when a cell is a dict or the like
                kind = "argument must be a string or a number: " if type(value) is dict else ""
                refused = TypeError if type(value) is dict else InputError
                raise refused(
                    f"{kind}X holds {str(value)!r} at row {i}, column {j} (counted from 0), "
                    "which is not a number; convert or drop that column"
                ) from error
    return X.astype(np.float64)


def _from_array(
    X: Array,
    memory: Any,
    columns: tuple[str, ...] | None = None,
    labels: tuple[str, ...] | None = None,
) -> Opened:
    _refuse_empty(X.shape)
    return Opened(ArrayRows(X, memory), columns, labels)


def _refuse_empty(shape: tuple[int, ...]) -> None:
    n, p = shape
    if p == 0:
        raise InputError(f"0 feature(s) (shape={shape}) while a minimum of 1 is required.")
    if n == 0:
        raise InputError(f"0 sample(s) (shape={shape}): there are no rows; at least 2 are needed")


def refuse_absent(path: Path) -> None:
    """Raise for a path that is no file."""
    if not path.exists():
        raise InputError(f"there is no file {path}; check the path (current folder: {Path.cwd()})")
    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file in it")


def _from_path(path: Path, memory: Any) -> Opened:
    refuse_absent(path)
    ending = path.suffix.lower()
    if ending == ".npy":
        rows = NpyRows(path, memory)
        _refuse_empty(rows.shape)
        return Opened(rows, None, None)
    if ending == ".bed":
        from gramian.data.plink import BedRows

        genotypes = BedRows(path, memory)
        return Opened(genotypes, genotypes.variants, genotypes.samples)
    if ending == ".mtx" or (ending == ".npz" and holds_sparse(path)):
        return open_rows(read_sparse(path, memory), memory)
    if ending == ".npz":
        return _from_array(as_numbers(read_npz(path, memory, (2,))), memory)
    if ending in _tables:
        from gramian.data.tables import read_table

        table = read_table(path)
        return _from_array(table.numbers, memory, table.columns, table.labels)
    known = ", ".join((".npy", ".npz", ".mtx", ".bed", *_tables[:4]))
    raise InputError(f"cannot tell what {path.name} is from its ending; known are {known}")


def holds_sparse(path: Path) -> bool:
    """Whether an ``.npz`` archive is what ``scipy.sparse.save_npz`` writes."""
    import zipfile

    try:
        with zipfile.ZipFile(path) as listed:
            return {"format.npy", "shape.npy", "data.npy"} <= set(listed.namelist())
    except (OSError, zipfile.BadZipFile):
        return False  # told where arrays are read


def read_sparse(path: Path, memory: Any) -> Any:
    """The sparse matrix of ``scipy.sparse.save_npz``, or of a MatrixMarket file (``.mtx``)."""
    import scipy.io
    import scipy.sparse

    size = path.stat().st_size  # a text of about as many bytes as the numbers will take
    if size > budget(memory):
        raise MemoryRefusedError(
            f"{path} holds {in_words(size)}, {in_words(budget(memory))} may be used; allow more "
            "(memory=)"
        )
    try:
        if path.suffix.lower() == ".npz":
            return scipy.sparse.load_npz(path)
        return scipy.sparse.csr_array(scipy.io.mmread(path))
    except (OSError, ValueError, KeyError, TypeError, EOFError, IndexError) as error:
        raise InputError(f"cannot read {path} as a sparse matrix: {error}") from None


def read_npz(path: Path, memory: Any, dimensions: tuple[int, ...]) -> Array:
    """The one array of an ``.npz`` archive with that many dimensions; no pickled objects."""
    import zipfile

    try:
        with zipfile.ZipFile(path) as listed:
            size = sum(member.file_size for member in listed.infolist())
        if size > budget(memory):
            raise MemoryRefusedError(
                f"{path} holds {in_words(size)}, {in_words(budget(memory))} may be used; "
                "save the array as .npy, which is read in blocks, or allow more (memory=)"
            )
        with np.load(path, allow_pickle=False) as archive:
            found: dict[str, Array] = {}
            for name in archive.files:
                try:
                    found[name] = archive[name]
                except ValueError as error:
                    if "pickle" not in str(error).lower():
                        raise
                    raise InputError(
                        f"{path}: array {name!r} holds Python objects (pickled), which are never "
                        "loaded; save plain numbers"
                    ) from None
    except (OSError, ValueError, zipfile.BadZipFile, EOFError) as error:
        if isinstance(error, GramianError):
            raise
        raise InputError(f"cannot read {path}: {error}") from None
    fitting = [name for name, array in found.items() if array.ndim in dimensions]
    if len(fitting) != 1:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in found.items()) or "nothing"
        kind = "one two-dimensional array" if dimensions == (2,) else "one array of distances"
        raise InputError(
            f"{path} should hold exactly {kind}; it holds {shapes}; "
            "load the one you mean with numpy.load and pass the array"
        )
    return found[fitting[0]]

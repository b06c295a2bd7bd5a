"""The one door: whatever holds rows of numbers becomes a map.

array, list, frame, sparse matrix, AnnData                ->  ArrayRows | SparseRows
path of a file, a folder, a pattern of files (``OPENERS``)  ->  the same, or NpyRows | BedRows |
    BlockRows | StagedRows | SparseFile | StackedRows of those, which visit a file in blocks
Dask array or frame                                        ->  DaskRows

and the names that came with them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gramian.data.array_rows import ArrayRows
from gramian.data.dask.lazy import is_lazy
from gramian.data.dask.rows import open_dask
from gramian.data.npy import NpyRows, refuse_type
from gramian.data.rows import RowBlocked
from gramian.data.sparse import SparseRows
from gramian.errors import GramianError, InputError, MemoryRefusedError
from gramian.maps import Array
from gramian.memory import budget, in_words
from gramian.show.text import visible

IMAGES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".pgm", ".ppm", ".tif", ".tiff", ".webp")


class Opened(NamedTuple):
    """Rows and the names that came with them."""

    rows: Any  # RowBlocked, SparseRows or SparseFile
    columns: tuple[str, ...] | None
    labels: tuple[str, ...] | None


def replace_rows(opened: Opened, X: Array) -> Opened:
    """The same names with other numbers, of the type that was computed in."""
    return opened._replace(rows=ArrayRows(X.astype(opened.rows.dtype, copy=False)))


def open_rows(X: Any, memory: Any = None) -> Opened:
    """Rows of ``X``, not copied where a view or a block will do.

    Parameters
    ----------
    X : array-like, sparse matrix, frame, AnnData, what this returns, or path
        Of a file (see ``OPENERS``), of a folder of files of one kind or of images, or a pattern
        such as ``"part-*.parquet"``.
        A Dask array or frame is visited where it lies.
    memory : int, str or None
        Budget; a file that does not fit it is visited in blocks.
    """
    if isinstance(X, Opened):
        return X
    if isinstance(X, (str, os.PathLike)):
        return _from_path(os.fspath(X), memory)
    if is_lazy(X):
        found, names = open_dask(X, memory)
        _refuse_empty(found.shape)
        return Opened(found, names, None)
    if all(hasattr(type(X), name) for name in ("obs_names", "var_names", "X")):
        from gramian.data.stores import open_anndata

        return Opened(*open_anndata(X, memory))
    if hasattr(X, "tocsr") and hasattr(X, "nnz"):
        refuse_type(X.dtype, "the sparse matrix")
        _refuse_empty(X.shape)
        return Opened(SparseRows(X, budget(memory)), None, None)
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


def ending_of(path: Any) -> str:
    """What a path's name says its content is: the ending, without what says how it is packed."""
    ending = Path(path).suffix.lower()
    return ".csv" if ending in (".gz", ".zst") else ending


def _from_path(given: str, memory: Any) -> Opened:
    """A file, a folder, or a pattern of files; ``store::name`` names an array in a store."""
    text, _, inside = given.partition("::")
    path = Path(text).expanduser()
    if not path.exists() and any(sign in text for sign in "*?["):
        return _from_several(_matches(path), inside, memory)
    return _from_one(path, inside, memory)


def _from_one(path: Path, inside: str, memory: Any) -> Opened:
    """A file or a folder that is there, and the array ``inside`` that is meant."""
    if path.is_dir() and not _is_zarr(path):
        return _from_several(_members(path), inside, memory)
    if not path.exists():
        refuse_absent(path)
    ending = ".zarr" if path.is_dir() else ending_of(path)
    if inside and ending not in STORES:
        raise InputError(
            f"{path}::{inside}: '::' names an array in {' or '.join(STORES)}, not in {ending}"
        )
    if ending not in OPENERS:
        known = ", ".join(OPENERS)
        raise InputError(f"cannot tell what {path.name} is from its ending; known are {known}")
    found = OPENERS[ending](path, inside, memory)
    _refuse_empty(found.rows.shape)
    return found


def _open_npy(path: Path, _: str, memory: Any) -> Opened:
    return Opened(NpyRows(path, memory), None, None)


def _open_bed(path: Path, _: str, memory: Any) -> Opened:
    from gramian.data.plink import BedRows

    genotypes = BedRows(path, memory)
    return Opened(genotypes, genotypes.variants, genotypes.samples)


def _open_npz(path: Path, _: str, memory: Any) -> Opened:
    if holds_sparse(path):
        return open_rows(read_sparse(path, memory), memory)
    return _from_array(as_numbers(read_npz(path, memory, (2,))), memory)


def _open_market(path: Path, _: str, memory: Any) -> Opened:
    if 3 * path.stat().st_size > budget(memory):  # as text it is about as large as its numbers
        from gramian.data.matrix_market import open_market

        return Opened(open_market(path, memory), None, None)
    return open_rows(read_sparse(path, memory), memory)


def _open_table(path: Path, _: str, memory: Any) -> Opened:
    from gramian.data.tables import read_table

    table = read_table(path, max_bytes=budget(memory), blocks=True)
    return from_table(table, memory)


def from_table(table: Any, memory: Any) -> Opened:
    """Rows of a table, whether its numbers are in memory or in a file."""
    if isinstance(table.numbers, RowBlocked):
        return Opened(table.numbers, table.columns, table.labels)
    return _from_array(table.numbers, memory, table.columns, table.labels)


def _open_hdf5(path: Path, inside: str, memory: Any) -> Opened:
    from gramian.data.stores import open_hdf5

    return Opened(*open_hdf5(path, inside, memory))


def _open_zarr(path: Path, inside: str, memory: Any) -> Opened:
    from gramian.data.stores import open_zarr

    return Opened(*open_zarr(path, inside, memory))


def _open_image(path: Path, _: str, memory: Any) -> Opened:
    raise InputError(f"{path} is one image; name a folder of images, or a pattern such as *.png")


TABLES = (".csv", ".tsv", ".txt", ".parquet", ".feather", ".arrow", ".ipc")
STORES = (".h5", ".hdf5", ".h5ad", ".zarr")
OPENERS: dict[str, Callable[[Path, str, Any], Opened]] = {
    ".npy": _open_npy,
    ".npz": _open_npz,
    ".mtx": _open_market,
    ".bed": _open_bed,
    **dict.fromkeys(TABLES, _open_table),
    **dict.fromkeys(STORES[:3], _open_hdf5),
    ".zarr": _open_zarr,
    **dict.fromkeys(IMAGES, _open_image),
}


def _is_zarr(path: Path) -> bool:
    marks = ("zarr.json", ".zarray", ".zgroup")
    return path.suffix.lower() == ".zarr" or any((path / mark).is_file() for mark in marks)


def _matches(pattern: Path) -> list[Path]:
    """The files of a pattern, in the order of their names."""
    import glob

    found = sorted(Path(each) for each in glob.glob(str(pattern)))
    if not found:
        raise InputError(
            f"no file matches {pattern}; check the pattern (current folder: {Path.cwd()})"
        )
    return found


def _members(folder: Path) -> list[Path]:
    """The files of a folder that can be read, in the order of their names."""
    shown = sorted(each for each in folder.iterdir() if not each.name.startswith("."))
    found = [each for each in shown if ending_of(each) in OPENERS]
    if not found:
        raise InputError(f"{folder} is a folder without a file that can be read; name a file in it")
    return found


def _from_several(paths: list[Path], inside: str, memory: Any) -> Opened:
    """Files of one kind, one below the other; their columns must agree."""
    kinds = sorted({"an image" if ending_of(p) in IMAGES else ending_of(p) for p in paths})
    if len(kinds) > 1:
        raise InputError(
            f"{paths[0].parent} holds files of several kinds ({', '.join(kinds)}); name one kind "
            f"by a pattern, such as {paths[0].parent / ('*' + paths[0].suffix)}"
        )
    if kinds == ["an image"] and not inside:
        from gramian.data.images import open_images

        rows, names = open_images(paths, memory)
        return Opened(rows, None, names)
    if len(paths) == 1:
        return _from_one(paths[0], inside, memory)
    share = max(budget(memory) // len(paths), 1_000_000)
    found = [_from_one(path, inside, share) for path in paths]
    for path, each in zip(paths, found, strict=True):
        _refuse_other_columns(paths[0], found[0], path, each)
    labels = [each.labels for each in found]
    named = None if None in labels else tuple(name for some in labels for name in some or ())
    return Opened(_stacked([each.rows for each in found], memory), found[0].columns, named)


def _refuse_other_columns(first: Path, wanted: Opened, path: Path, found: Opened) -> None:
    p, q = wanted.rows.shape[1], found.rows.shape[1]
    if p != q:
        raise InputError(f"{path} has {q} columns, {first} has {p}; shards must agree")
    for i, (a, b) in enumerate(zip(wanted.columns or (), found.columns or (), strict=True)):
        if a != b:
            raise InputError(
                f"{path}: column {i + 1} is {visible(b, 40)!r}, in {first} it is "
                f"{visible(a, 40)!r}; shards must have the same columns in the same order"
            )


def _stacked(parts: list[Any], memory: Any) -> RowBlocked | SparseRows:
    from gramian.data.block_rows import StackedRows

    if all(isinstance(part, RowBlocked) for part in parts):
        return StackedRows(parts, memory)
    if all(isinstance(part, SparseRows) for part in parts):
        import scipy.sparse

        return SparseRows(scipy.sparse.vstack([part.X for part in parts], format="csr"), memory)
    raise MemoryRefusedError(
        "sparse shards have to fit the memory together; write them as one file, or allow more "
        "(memory=)"
    )


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

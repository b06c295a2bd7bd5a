"""Arrays in HDF5 and Zarr stores, plain or in AnnData's layout, as rows.

AnnData keeps its matrix as ``X``, dense or as a group of ``data``, ``indices`` and ``indptr``; the
names of rows and columns are in ``obs`` and ``var``, under the name that the attribute ``_index``
gives. In any other store the one two-dimensional array of numbers is meant; ``file.h5::group/name``
says which if there are several. Nothing outside of the store is followed.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gramian.data.block_rows import BlockRows, Rectangle
from gramian.data.npy import refuse_type
from gramian.data.rooms import block
from gramian.data.rows import RowBlocked
from gramian.data.sparse import SparseRows
from gramian.data.sparse_file import SparseFile, Stored
from gramian.errors import GramianWarning, InputError
from gramian.memory import budget

_names = 10_000  # that are decoded at a time
_library, _caches = 3_000_000, 4_000_000  # bytes that HDF5 and Zarr keep; and of chunks
_place = 600  # bytes for each file of a store, that is looked after during a run
Names = tuple[str, ...] | None


class Found(NamedTuple):
    """Rows of a store, with the names of its columns and rows."""

    rows: RowBlocked | SparseRows | SparseFile
    columns: Names
    labels: Names


def open_hdf5(path: Path, inside: str, memory: Any) -> Found:
    """Rows of an HDF5 file (``.h5``, ``.hdf5``, ``.h5ad``)."""
    there = path.absolute()
    files: Callable[[], list[Path]] = partial(list, (there,))
    return _Store(path, there, _hdf5_root, _hdf5_child, files, _in_hdf5).open(inside, memory)


def open_zarr(path: Path, inside: str, memory: Any) -> Found:
    """Rows of a Zarr store in a folder, format 2 or 3."""
    there = path.absolute()
    files = partial(_files_below, there)
    return _Store(path, there, _zarr_root, _zarr_child, files, _in_zarr).open(inside, memory)


def open_anndata(adata: Any, memory: Any) -> Found:
    """Rows of an AnnData object: its ``X``, from its file if that is where it is."""
    if getattr(adata, "isbacked", False):
        found = open_hdf5(Path(adata.filename), "", memory)
        if found.rows.shape == adata.shape:
            return found
        raise InputError("a view of a backed AnnData object: call .to_memory() first")
    from gramian.data.door import open_rows

    if adata.X is None:
        raise InputError(
            "the AnnData object has no X; pass a layer, such as adata.layers['counts']"
        )
    return Found(open_rows(adata.X, memory).rows, _text(adata.var_names), _text(adata.obs_names))


class _Store(NamedTuple):
    """A store that can be opened again for every read, so that threads share nothing.

    ``path`` is for messages, ``place`` is where it lies.
    """

    path: Path
    place: Path
    root: Callable[[Path], Any]  # a context manager
    child: Callable[[Path, Any, str], Any]
    files: Callable[[], list[Path]]
    packed: Callable[[int, int], int]  # what reading blocks of chunks takes, as in ``Rectangle``

    def read(self, name: str, rows: slice, columns: slice) -> np.ndarray:
        """A part of an array in it."""
        with self.root(self.place) as root:
            node = self._node(root, name)
            if not hasattr(node, "read_direct"):
                return np.asarray(node[rows, columns])
            shape = rows.stop - rows.start, columns.stop - columns.start
            out = block(shape, node.dtype)  # HDF5 writes into what it is given
            node.read_direct(out, (rows, columns))
            return out

    def read_stored(self, name: str, first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
        """Stored numbers of a sparse matrix in it, and their places in their lines."""
        with self.root(self.place) as root:
            group = self._node(root, name)
            data, indices = (self.child(self.path, group, part) for part in ("data", "indices"))
            return np.asarray(data[first:last]), np.asarray(indices[first:last])

    def open(self, inside: str, memory: Any) -> Found:
        """Find what is meant."""
        with self.root(self.place) as root:
            name, labels, columns = inside.strip("/"), None, None
            is_anndata = not hasattr(root, "shape") and {"X", "obs", "var"} <= set(root)
            if is_anndata:
                labels, columns = self._index(root, "obs"), self._index(root, "var")
            if not name and not hasattr(root, "shape"):
                name = "X" if is_anndata else self._only(root)
            node = self._node(root, name)
            sparse = not hasattr(node, "shape")
            held = sum(sys.getsizeof(each) + 8 for each in chain(labels or (), columns or ()))
            held += _place * len(self.files())
            rows = (self._sparse if sparse else self._dense)(node, name, memory, held)
        n, p = rows.shape
        return Found(
            rows,
            columns if columns is not None and len(columns) == p else None,
            labels if labels is not None and len(labels) == n else None,
        )

    def _node(self, root: Any, name: str) -> Any:
        node = root
        for part in filter(None, name.split("/")):
            if hasattr(node, "shape") or part not in node:
                held = ", ".join(self._arrays(root)) or "nothing that can be used"
                raise InputError(f"{self.path} has no {name!r}; it holds {held}")
            node = self.child(self.path, node, part)
        return node

    def _arrays(self, group: Any, above: str = "") -> Iterator[str]:
        """Names of what could be rows, at any depth."""
        for name in sorted(group):
            try:
                node = self.child(self.path, group, name)
            except InputError:  # a link: told if it is asked for
                continue
            if hasattr(node, "shape"):
                if len(node.shape) == 2 and node.dtype.kind in "fiub":
                    yield above + name
            elif "indptr" in node:
                yield above + name
            else:
                yield from self._arrays(node, f"{above}{name}/")

    def _only(self, root: Any) -> str:
        found = list(self._arrays(root))
        if len(found) == 1:
            return found[0]
        if not found:
            raise InputError(f"{self.path} holds no two-dimensional array of numbers")
        raise InputError(
            f"{self.path} holds {len(found)} arrays: {', '.join(found[:8])}; say which, such as "
            f"{self.path.name}::{found[0]}"
        )

    def _index(self, root: Any, which: str) -> Names:
        """Row or column names of AnnData."""
        frame = self.child(self.path, root, which)
        name = frame.attrs.get("_index", "_index")
        name = name.decode() if isinstance(name, bytes) else str(name)
        if hasattr(frame, "shape") or name not in frame:
            return None
        found = self.child(self.path, frame, name)
        if not hasattr(found, "shape") or len(found.shape) != 1:
            return None
        pieces = range(0, found.shape[0], _names)
        return tuple(name for a in pieces for name in _text(found[a : a + _names]))

    def _dense(self, node: Any, name: str, memory: Any, held: int) -> RowBlocked:
        what = f"{self.path}::{name}" if name else str(self.path)
        refuse_type(node.dtype, what)
        if len(node.shape) != 2:
            raise InputError(
                f"{what} holds an array with {len(node.shape)} dimensions {tuple(node.shape)}; "
                "rows by columns (2 dimensions) are needed"
            )
        _warn_unwritten(node, what)

        grain = getattr(node, "shards", None) or node.chunks
        n, p = node.shape
        rectangle = Rectangle(
            what,
            (n, p),
            node.dtype,
            partial(self.read, name),
            self.files,
            held=held,
            library=_library,
        )
        if grain is not None:
            grain = int(grain[0]), int(grain[1])
            kept = _library + (_caches if self.packed is _in_hdf5 else _caches // 2)
            rectangle = rectangle._replace(grain=grain, taken=self.packed, library=kept)
        return BlockRows(rectangle, memory)

    def _sparse(self, node: Any, name: str, memory: Any, held: int) -> SparseRows | SparseFile:
        """A group of ``data``, ``indices`` and ``indptr``."""
        what = f"{self.path}::{name}"
        kind = node.attrs.get("encoding-type", node.attrs.get("h5sparse_format", "csr_matrix"))
        kind = kind.decode() if isinstance(kind, bytes) else str(kind)
        shape = node.attrs.get("shape", node.attrs.get("h5sparse_shape"))
        if not {"data", "indices", "indptr"} <= set(node) or shape is None:
            raise InputError(f"{what} is a group, neither an array nor a sparse matrix")
        n, p = (int(each) for each in shape)
        names = "data", "indices", "indptr"
        parts = {part: self.child(self.path, node, part) for part in names}
        refuse_type(parts["data"].dtype, what)
        by_columns = kind.startswith("csc")
        ends = np.asarray(parts["indptr"][...], np.int64)
        stored = int(parts["data"].shape[0])  # a Zarr array has no length

        lying = (p, n) if by_columns else (n, p)
        read, kind = partial(self.read_stored, name), parts["data"].dtype
        each = kind.itemsize + parts["indices"].dtype.itemsize
        known = Stored(what, lying, ends, stored, kind, read, self.files, each, held, _library)
        found = SparseFile(known, memory)
        left = max(budget(memory) - found.held_bytes, 1_000_000)
        if by_columns or 16 * stored <= left // 3:
            found.refuse_beyond(budget(memory), by_columns)
            whole = found.whole()
            return SparseRows(whole.T.tocsr() if by_columns else whole, left)
        return found


# Functions that other machines know as well -------------------------------------------------------


@contextmanager
def _hdf5_root(path: Path) -> Iterator[Any]:
    try:
        import h5py
    except ImportError:
        raise InputError(
            f'{path}: HDF5 files need the package h5py: pip install "gramian[hdf5]"'
        ) from None
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        why = "the file is cut short" if "truncated" in str(error) else str(error)
        raise InputError(f"{path} cannot be read as HDF5: {why}") from None
    with file:
        yield file


def _hdf5_child(path: Path, group: Any, name: str) -> Any:
    import h5py

    link = group.get(name, getlink=True)
    if not isinstance(link, h5py.HardLink):
        raise InputError(
            f"{path}: {name!r} is a link to {getattr(link, 'filename', 'elsewhere')!r}, and "
            "links are not followed; name the data themselves, or copy them into one file"
        )
    found = group[name]
    if isinstance(found, h5py.Dataset) and (found.is_virtual or found.external):
        raise InputError(
            f"{path}: {name!r} is kept in other files, which are not followed; copy the data "
            "into one file"
        )
    return found


@contextmanager
def _zarr_root(path: Path) -> Iterator[Any]:
    try:
        import zarr
    except ImportError:
        raise InputError(
            f'{path}: Zarr stores need the package zarr: pip install "gramian[zarr]"'
        ) from None
    try:
        root = zarr.open(path, mode="r")
    except Exception as error:  # codecs, metadata: each has errors of its own
        why = str(error).partition("\n")[0] or type(error).__name__
        raise InputError(f"{path} cannot be read as a Zarr store: {why}") from error
    yield root


def _zarr_child(path: Path, group: Any, name: str) -> Any:
    return group[name]


def _files_below(path: Path) -> list[Path]:
    return sorted(Path(folder) / name for folder, _, names in os.walk(path) for name in names)


def _in_hdf5(size: int, threads: int) -> int:
    """Chunks as they are stored, beside those that are unpacked."""
    return threads * size


def _in_zarr(size: int, threads: int) -> int:
    """Chunks as they are stored: a few at a time."""
    return threads * size // 2


def _warn_unwritten(node: Any, what: str) -> None:
    """Chunks of a Zarr array that were never written read as its fill value: say so."""
    if not hasattr(node, "nchunks_initialized"):
        return
    sharded = getattr(node, "shards", None) is not None
    per = int(np.prod(node.shards) // np.prod(node.chunks)) if sharded else 1
    written, all_of_them = node.nchunks_initialized, node.nchunks
    if written < all_of_them:
        missing, fill = -(-(all_of_them - written) // per), node.fill_value
        warnings.warn(
            f"{what}: {missing} of {-(-all_of_them // per)} chunks were never written and count as "
            f"the fill value {fill}; if that is not what you meant, the store is incomplete",
            GramianWarning,
            stacklevel=2,
        )


def _text(values: Any) -> tuple[str, ...]:
    return tuple(each.decode() if isinstance(each, bytes) else str(each) for each in values)

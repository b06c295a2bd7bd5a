"""Files that workers read themselves, and tables that are sent to them, as Dask arrays."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from gramian.data.dask.blocks import equal_parts
from gramian.data.dask.cluster import sent_once
from gramian.data.dask.lazy import is_lazy
from gramian.data.dask.rows import DaskRows
from gramian.data.fingerprint import fingerprint
from gramian.data.plink import BedRows
from gramian.data.sparse import SparseRows
from gramian.data.sparse_file import SparseFile
from gramian.errors import InputError
from gramian.maps import Array

_sent = 8_000_000  # bytes of a block that is sent
_read = 32_000_000  # bytes of a block that a worker reads
_many = 1_000  # blocks above which they are larger: each costs the scheduler some milliseconds
_most = 128_000_000


class BedOnWorkers(DaskRows):
    """Genotypes of a .bed file that workers read, a part of the variants each; they stay packed."""

    two_bit = True

    def __init__(self, bed: BedRows) -> None:
        import dask.array as da

        n, m = bed.shape
        size = n * m * bed.dtype.itemsize
        sizes = equal_parts(m, -(-size // block_bytes(size)))
        lazy = da.map_blocks(
            _decoded,
            bed.part(0, m),
            chunks=((n,), tuple(sizes)),
            dtype=bed.dtype,
            meta=np.empty((0, 0), bed.dtype),
        )
        super().__init__(lazy, flip=True)
        self.bed, self._passes = bed, bed._passes
        self.path, self.variants, self.alleles = bed.path, bed.variants, bed.alleles
        self.samples, self.people, self.families = bed.samples, bed.people, bed.families

    @property
    def stored_bytes(self) -> int:
        """Bytes that one pass reads."""
        return int(self.shape[1] * self.bed.width)

    def _blocks(self) -> list[Any]:
        return [self.bed.part(a, b) for a, b in self.bounds]

    @contextmanager
    def _visit(self) -> Iterator[None]:
        with self.bed._visit():
            yield


def block_bytes(size: int) -> int:
    """Bytes of a block of a file of that size."""
    return min(max(_read, size // _many), _most)


def in_blocks(X: Any) -> Any:
    """An array, or rows of a file, in blocks: those of files are read by the workers."""
    import dask.array as da

    if is_lazy(X):
        return X
    rows = getattr(X, "rows", X)
    if isinstance(rows, BedRows):
        return X._replace(rows=BedOnWorkers(rows))
    if isinstance(rows, SparseRows):
        return _sparse_blocks(rows.X)
    if getattr(rows, "resident", True):
        held = rows if isinstance(rows, np.ndarray) else rows.read_rows(slice(0, rows.shape[0]))
        return da.from_array(held, chunks=_as_sent(held.shape[1], held.dtype))
    there = rows.sent()
    if there is None:
        raise InputError(
            "on a cluster a table that fits in memory can be used, or a file that workers read "
            "in parts: .npy, .parquet, .feather, .zarr, .h5, .h5ad or .bed; convert the data, or "
            "leave --scheduler out"
        )
    return _read_there(there)


def promised(shape: tuple[int, int], dtype: Any) -> Any:
    """What ``in_blocks`` makes of a table in memory, known by its size alone: for a plan."""
    import dask.array as da

    return da.zeros(shape, dtype=dtype, chunks=_as_sent(shape[1], np.dtype(dtype)))


def _as_sent(width: int, dtype: np.dtype[Any]) -> tuple[int, int]:
    return max(_sent // max(width * dtype.itemsize, 1), 1), -1


def _read_there(rows: Any) -> Any:
    """Rows of a file as a Dask array, whose blocks are read where they are needed."""
    import dask.array as da

    sparse = isinstance(rows, SparseFile)
    n, p = rows.shape
    size = 16 * rows.stored.entries if sparse else n * p * rows.dtype.itemsize
    sizes = tuple(b - a for a, b in rows.spans(block_bytes(size)))
    return da.map_blocks(
        _read_block,
        rows=sent_once(rows, f"file-{fingerprint(rows)}"),  # known again by a checkpoint
        chunks=((n,), sizes) if rows.flip else (sizes, (p,)),
        dtype=rows.dtype,
        meta=_no_rows(rows.dtype) if sparse else np.empty((0, 0), rows.dtype),
    )


def _sparse_blocks(X: Any) -> Any:
    """A sparse matrix in memory, sent in parts."""
    import dask.array as da
    from dask.base import tokenize

    each = max(_sent * X.shape[0] // max(12 * X.nnz, 1), 1)
    starts = range(0, X.shape[0], each)
    name = f"sparse-{tokenize(X)}"
    graph = {(name, i, 0): X[a : a + each] for i, a in enumerate(starts)}
    sizes = tuple(part.shape[0] for part in graph.values())
    return da.Array(graph, name, (sizes, (X.shape[1],)), meta=_no_rows(X.dtype))


def _no_rows(dtype: Any) -> Any:
    from scipy.sparse import csr_array

    return csr_array((0, 0), dtype=dtype)


def _decoded(bed: BedRows, block_info: Any = None) -> Array:
    a, b = block_info[None]["array-location"][1]
    return np.ascontiguousarray(bed.arrived()._lead(a, b).T)


def _read_block(rows: Any = None, block_info: Any = None) -> Any:
    """A block of a file, on a worker."""
    (a, b), (c, d) = block_info[None]["array-location"]
    rows = rows.arrived()
    if isinstance(rows, SparseFile):
        return rows.csr(a, b)
    return np.ascontiguousarray(rows._lead(c, d).T) if rows.flip else rows._lead(a, b)

"""Files that workers read themselves, and tables that are sent to them, as Dask arrays."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from gramian.data.dask.blocks import equal_parts
from gramian.data.dask.rows import DaskRows
from gramian.data.npy import NpyRows
from gramian.data.plink import BedRows
from gramian.data.pread import State, same_there, state_of
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
        self.path, self.samples, self.families = bed.path, bed.samples, bed.families
        self.variants, self.alleles = bed.variants, bed.alleles

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
    """An array, or rows of a .npy or .bed file, in blocks that workers read themselves."""
    import dask.array as da

    if isinstance(X, np.ndarray):
        return da.from_array(X, chunks=(max(_sent // max(X[:1].nbytes, 1), 1), -1))
    rows = getattr(X, "rows", None)
    if isinstance(rows, BedRows):
        return X._replace(rows=BedOnWorkers(rows))
    if not isinstance(rows, NpyRows):
        raise InputError(
            "on a cluster a table that fits in memory, a .npy file or a .bed file can be used; "
            "convert the data to .npy, or leave --scheduler out"
        )
    along = 1 if rows.flip else 0
    line = rows.shape[1 - along] * rows.dtype.itemsize
    size = rows.shape[along] * line
    sizes = equal_parts(rows.shape[along], -(-size // block_bytes(size)))
    chunks = ((rows.shape[0],), tuple(sizes)) if rows.flip else (tuple(sizes), (rows.shape[1],))
    return da.map_blocks(
        _read_block,
        Path(rows.path).resolve(),
        state_of(rows.path),
        chunks=chunks,
        dtype=rows.dtype,
        meta=np.empty((0, 0), rows.dtype),
    )


def _decoded(bed: BedRows, block_info: Any = None) -> Array:
    a, b = block_info[None]["array-location"][1]
    return np.ascontiguousarray(bed.arrived()._lead(a, b).T)


def _read_block(path: Path, state: State, block_info: Any = None) -> Array:
    (a, b), (c, d) = block_info[None]["array-location"]
    same_there(path, state)
    rows = NpyRows(path)
    return np.ascontiguousarray(rows._lead(c, d).T) if rows.flip else rows._lead(a, b)

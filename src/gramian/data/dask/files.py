"""Files that workers read themselves, and tables that are sent to them, as Dask arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gramian.data.dask.blocks import equal_parts
from gramian.data.npy import NpyRows
from gramian.errors import InputError
from gramian.maps import Array

_sent = 8_000_000  # bytes of a block that is sent
_read = 32_000_000  # bytes of a block that a worker reads


def in_blocks(X: Any) -> Any:
    """An array, or rows of a .npy file, as a Dask array; workers read the file themselves."""
    import dask.array as da

    if isinstance(X, np.ndarray):
        return da.from_array(X, chunks=(max(_sent // max(X[:1].nbytes, 1), 1), -1))
    rows = getattr(X, "rows", None)
    if not isinstance(rows, NpyRows):
        raise InputError(
            "on a cluster a table that fits in memory or a .npy file can be used; convert the data "
            "to .npy, or leave --scheduler out"
        )
    along = 1 if rows.flip else 0
    line = rows.shape[1 - along] * rows.dtype.itemsize
    sizes = equal_parts(rows.shape[along], -(-rows.shape[along] * line // _read))
    chunks = ((rows.shape[0],), tuple(sizes)) if rows.flip else (tuple(sizes), (rows.shape[1],))
    return da.map_blocks(
        _read_block,
        Path(rows.path).resolve(),
        chunks=chunks,
        dtype=rows.dtype,
        meta=np.empty((0, 0), rows.dtype),
    )


def _read_block(path: Path, block_info: Any = None) -> Array:
    (a, b), (c, d) = block_info[None]["array-location"]
    rows = NpyRows(path)
    return np.ascontiguousarray(rows._lead(c, d).T) if rows.flip else rows._lead(a, b)

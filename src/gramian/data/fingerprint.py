"""Whether data are the same as before: for the checkpoint of a run that is taken up again.

Numbers in memory are digested whole. Files are known by size, time of change and a sample of their
bytes, so that a terabyte need not be read once more; other sources by every number they hold.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from gramian.checkpoint import digest_of
from gramian.data.pread import state_of
from gramian.data.rows import RowBlocked
from gramian.data.sparse import SparseRows
from gramian.data.sparse_file import SparseFile

_places, _bytes = 64, 4096


def fingerprint(data: Any, *more: Any) -> str:
    """A digest of rows, distances, arrays or words, and of what comes with them."""
    return digest_of(*_parts(data), *(part for each in more for part in _parts(each)))


def _parts(data: Any) -> Iterator[Any]:
    if isinstance(data, SparseRows):
        data = data.X
    if hasattr(data, "indptr"):
        yield from (data.shape, data.data, data.indices, data.indptr)
        return
    if not isinstance(data, (RowBlocked, SparseFile)):
        yield data
        return
    yield f"{data.shape} {data.dtype} {data.flip}"
    files = _files(data)
    if files is None and hasattr(data, "lazy"):  # Dask names what it computes by its content
        yield data.lazy.name
        return
    if files is None and isinstance(data, RowBlocked):
        n = data.shape[0]
        for rows in data.row_blocks() if n else ():
            yield (data._minor if data.flip else data._lead)(rows.start, rows.stop)
        return
    for path in files or ():
        yield from (path.name, *state_of(path)[:2], _sampled(path))


def _files(rows: Any) -> list[Path] | None:
    """The files behind rows, if that is where they are."""
    if isinstance(rows, RowBlocked) and hasattr(rows, "parts"):
        found = [_files(part) for part in rows.parts]
        return None if None in found else [path for each in found for path in each or ()]
    if isinstance(getattr(rows, "path", None), Path):
        return [rows.path]
    listed = getattr(getattr(rows, "source", getattr(rows, "stored", None)), "files", None)
    return None if listed is None else list(listed())


def _sampled(path: Path) -> bytes:
    """Some bytes of a file: its beginning, its end, and places in between."""
    size = state_of(path)[0]
    with open(path, "rb") as file:
        found = []
        for at in np.linspace(0, max(size - _bytes, 0), _places).astype(np.int64).tolist():
            file.seek(at, os.SEEK_SET)
            found.append(file.read(_bytes))
    return b"".join(found)

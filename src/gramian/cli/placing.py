"""Rows of a file placed and written block by block: neither the file nor the result is held.

The result appears under its name when it is whole; nothing is left of it if the work ends early.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from gramian.cli.reading import Data
from gramian.files import replacing, write_npy
from gramian.progress import tick

if TYPE_CHECKING:
    from gramian.results import Embedding

__all__ = ["STREAMED", "place_to_file", "residuals"]


def residuals(fitted: Any, X: Any) -> dict[str, Any]:
    """The column that says how far rows lie outside the axes, where the model knows."""
    if not hasattr(fitted, "placement_residual") or not getattr(fitted, "residual_known_", True):
        return {}
    return {"placement_residual": fitted.placement_residual(X)}


def place_to_file(fitted: Any, data: Data, path: Path, *, excel_safe: bool) -> Embedding:
    """Write the coordinates of all rows; what is returned knows how many, not where each lies.

    Parameters
    ----------
    fitted : method
    data : Data
        Rows that stay in their file.
    path : Path
        Its ending is a key of ``STREAMED``.
    excel_safe : bool
        As for ``Embedding.write``.

    Returns
    -------
    Embedding
    """
    n, seen, before = data.shape[0], _Seen(), data.X.rows.passes
    with replacing(path) as file:
        STREAMED[path.suffix.lower()](file, seen.watch(_placed(fitted, data)), n, excel_safe)
    last = seen.last
    shape = n, last.coordinates.shape[1]
    columns: dict[str, Any] = {name: () for name in last.columns}
    if "placement_residual" in columns:
        columns["placement_residual"] = np.concatenate(seen.residuals)
    passes = data.X.rows.passes - before
    nowhere = np.broadcast_to(np.zeros(1), shape)
    return replace(last, coordinates=nowhere, columns=columns, passes=passes)


class _Seen:
    """What is kept of the blocks that went by."""

    last: Embedding

    def __init__(self) -> None:
        self.residuals: list[np.ndarray] = []

    def watch(self, blocks: Iterator[Embedding]) -> Iterator[Embedding]:
        for block in blocks:
            self.last = block
            if "placement_residual" in block.columns:
                self.residuals.append(np.asarray(block.columns["placement_residual"]))
            yield block


def _placed(fitted: Any, data: Data) -> Iterator[Embedding]:
    """The embedding of each block of rows, in order."""
    from gramian.data.array_rows import ArrayRows
    from gramian.data.door import Opened
    from gramian.data.moments import refuse

    n = data.shape[0]
    takes_gaps = fitted.__sklearn_tags__().input_tags.allow_nan
    for rows, block in data.X.rows.blocks():
        bad = ~np.isfinite(block)
        if takes_gaps:
            bad &= ~np.isnan(block)
        if bad.any():  # the method would name the row of the block
            row, column = np.argwhere(bad)[0]
            missing = int(np.isnan(block[bad]).sum())
            refuse(missing, int(bad.sum()) - missing, (rows.start + int(row), int(column)))
        opened = Opened(ArrayRows(block), data.variables, None)
        columns = {name: values[rows] for name, values in data.columns.items()}
        columns |= residuals(fitted, opened)
        labels = None if data.labels is None else data.labels[rows]
        yield fitted.to_embedding(opened, labels=labels, columns=columns)
        tick("placing rows", rows.stop, n)


def _npy(file: BinaryIO, blocks: Iterator[Embedding], n: int, _: bool) -> None:
    write_npy(file, (block.coordinates for block in blocks), n)


def _text(separator: str) -> Callable[..., None]:
    def write(file: BinaryIO, blocks: Iterator[Embedding], _: int, excel_safe: bool) -> None:
        for i, frame in enumerate(_frames(blocks, excel_safe)):
            frame.write_csv(file, separator=separator, include_header=i == 0)

    return write


def _parquet(file: BinaryIO, blocks: Iterator[Embedding], _: int, excel_safe: bool) -> None:
    from polars.io.plugins import register_io_source

    frames = _frames(blocks, False)
    first = next(frames)

    def source(*_: Any) -> Iterator[Any]:
        yield first
        yield from (frame.cast(dict(first.schema)) for frame in frames)

    register_io_source(source, schema=first.schema).sink_parquet(file)


def _frames(blocks: Iterator[Embedding], excel_safe: bool) -> Iterator[Any]:
    from gramian.show.tables import harmless

    for block in blocks:
        yield harmless(block.to_frame()) if excel_safe else block.to_frame()


#: What can be written in pieces, by ending.
STREAMED: dict[str, Callable[..., None]] = {
    ".npy": _npy,
    ".csv": _text(","),
    ".tsv": _text("\t"),
    ".parquet": _parquet,
}

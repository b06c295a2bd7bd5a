"""Rows computed from other rows whenever they are visited, and never stored."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from gramian.data.rows import RowBlocked
from gramian.maps import Array


class MappedRows(RowBlocked):
    """``f(block, rows)`` of every block of other rows, in a file.

    Parameters
    ----------
    source : RowBlocked
    f : function
        It gives as many rows as the block has.
    columns : int
    dtype
    """

    def __init__(
        self, source: RowBlocked, f: Callable[[Array, slice], Array], columns: int, dtype: Any
    ) -> None:
        super().__init__((source.shape[0], columns), dtype, False, source._allowed)
        self.source, self.f = source, f
        self.block_bytes = max(source.block_bytes * columns // source.shape[1], 1)  # as many rows
        self._passes = source._passes

    @property
    def resident(self) -> bool:
        """Not in memory."""
        return False

    @contextmanager
    def _visit(self) -> Iterator[None]:
        with self.source._visit():
            yield

    def _lead(self, start: int, stop: int) -> Array:
        rows = slice(start, stop)
        return self.f(self.source.read_rows(rows), rows)

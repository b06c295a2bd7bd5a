"""A ``.npy`` file larger than memory, as rows, read in blocks (``pread.py``).

A file by columns (Fortran order) is the same matrix lying on its side, unless its columns are long:
then blocks of rows are gathered from all columns, so that nothing as long as a column is ever held.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from gramian.data.pread import opened, read_items, refuse_changed, same_there, state_of
from gramian.data.rooms import block
from gramian.data.rows import RowBlocked
from gramian.errors import InputError
from gramian.maps import Array
from gramian.memory import in_one_pass

_column = 4_000_000  # bytes of the longest column that is read at a time


class NpyRows(RowBlocked):
    """The two-dimensional array of numbers in a ``.npy`` file, C or Fortran order."""

    def __init__(self, path: str | os.PathLike[str], memory: Any = None) -> None:
        self.path = Path(path)
        shape, fortran, self.stored, self.offset = _header(self.path)
        half = self.stored.kind == "f" and self.stored.itemsize in (2, 4)
        dtype = np.dtype(np.float32 if half else np.float64)
        super().__init__(shape, dtype, fortran, memory)
        long = shape[0] * dtype.itemsize > _column
        self.flip = fortran and not (long or in_one_pass(shape, False))
        self._by_columns = fortran
        self._state = state_of(self.path)
        refuse_short(self.path, shape, self.stored, self.offset)

    @property
    def resident(self) -> bool:
        """A file is not."""
        return False

    def sent(self) -> NpyRows | None:
        """The same rows, for other machines."""
        other = copy(self)
        other.path = self.path.resolve()
        return other

    def arrived(self) -> NpyRows:
        """The same rows on another machine."""
        other = copy(self)
        other._state = same_there(self.path, self._state)
        return other

    def _stored_type(self) -> np.dtype[Any]:
        return self.stored

    def _reader_bytes(self, threads: int) -> int:
        return 0 if self._by_columns == self.flip else threads * self._longest()

    @contextmanager
    def _visit(self) -> Iterator[None]:
        """One pass: the file must be the same before and after."""
        self._passes[0] += 1
        refuse_changed(self.path, self._state)
        yield
        refuse_changed(self.path, self._state)

    @contextmanager
    def _opened(self) -> Iterator[int]:
        """The file, opened here and now, so that threads share nothing."""
        with opened(self.path) as file:
            yield file

    def _lead(self, start: int, stop: int) -> Array:
        return self._lines(slice(start, stop), slice(0, self._lying()[1]))

    def _minor(self, start: int, stop: int) -> Array:
        return self._lines(slice(0, self._lying()[0]), slice(start, stop))

    def _lines(self, lines: slice, part: slice) -> Array:
        """A rectangle as the matrix lies for us, be it the transpose of what is stored."""
        if self._by_columns == self.flip:
            return self._part(lines, part)
        return np.ascontiguousarray(self._part(part, lines).T)

    @contextmanager
    def tiles(self) -> Iterator[Callable[[slice, slice], Array]]:
        """One pass by any tiles: ``with rows.tiles() as read: read(rows, columns)``."""

        def read(rows: slice, columns: slice) -> Array:
            by_columns = self._by_columns
            return self._part(columns, rows).T if by_columns else self._part(rows, columns)

        with self._visit():
            yield read

    def _part(self, lines: slice, part: slice) -> Array:
        """A rectangle of the storage."""
        width = self.shape[0] if self._by_columns else self.shape[1]
        many, length = lines.stop - lines.start, part.stop - part.start
        with self._opened() as file:
            if length == width:
                return self._read_from(file, lines.start * width, many * width).reshape(many, width)
            out = block((many, length), self.dtype)
            for i in range(many):
                first = (lines.start + i) * width + part.start
                out[i] = self._read_from(file, first, length)
        return out

    def _read_from(self, file: int, first: int, count: int) -> Array:
        at = self.offset + first * self.stored.itemsize
        items = read_items(self.path, file, at, count, self.stored)
        return items.astype(self.dtype, copy=False)


def read_header(path: Path) -> tuple[tuple[int, ...], bool, np.dtype[Any], int]:
    """Shape, order, item type and offset of the numbers; nothing is allocated or executed."""
    try:
        with path.open("rb") as file:
            version = np.lib.format.read_magic(file)
            read = {
                (1, 0): np.lib.format.read_array_header_1_0,
                (2, 0): np.lib.format.read_array_header_2_0,
            }.get(version, np.lib.format.read_array_header_2_0)
            shape, fortran, dtype = read(file)
            offset = file.tell()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    except ValueError as error:
        raise InputError(f"{path} is not a .npy file: {error}") from None
    refuse_type(dtype, str(path))
    if min(shape, default=0) < 0:
        raise InputError(f"{path} claims the shape {shape}; write it again")
    return shape, fortran, dtype, offset


def _header(path: Path) -> tuple[tuple[int, int], bool, np.dtype[Any], int]:
    shape, fortran, dtype, offset = read_header(path)
    if len(shape) != 2:
        raise InputError(
            f"{path} holds an array with {len(shape)} dimensions {shape}; "
            "rows by columns (2 dimensions) are needed"
        )
    return (shape[0], shape[1]), fortran, dtype, offset


def refuse_short(path: Path, shape: tuple[int, ...], stored: np.dtype[Any], offset: int) -> None:
    """Raise for a file that ends before its numbers do."""
    needed, found = offset + prod(shape) * stored.itemsize, state_of(path)[0]
    if found < needed:
        raise InputError(
            f"{path} is cut short: an array of shape {shape} and type {stored} "
            f"needs {needed} bytes, the file has {found}; write it again"
        )


def refuse_type(dtype: np.dtype[Any], what: str) -> None:
    """Raise for item types that are not real numbers."""
    if dtype.hasobject:
        raise InputError(
            f"{what} holds Python objects (pickled), which are never loaded; save plain numbers"
        )
    if dtype.kind == "c":
        raise InputError(
            f"Complex data not supported: {what} holds {dtype}; "
            "pass real and imaginary parts as columns"
        )
    if dtype.kind not in "fiub":
        raise InputError(f"{what} holds {dtype}, not numbers; convert it to float first")

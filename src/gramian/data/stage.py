"""A temporary copy of numbers that are slow to read: text is parsed, images are decoded once.

The copy has no name. It is removed from its folder as soon as it is open, so nothing is left behind
however the process ends; its space is free again when nobody reads it any more.
"""

from __future__ import annotations

import os
import secrets
import tempfile
import warnings
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from gramian.data.block_rows import computed_in
from gramian.data.npy import NpyRows
from gramian.data.rows import RowBlocked
from gramian.errors import GramianError, GramianWarning
from gramian.maps import Array
from gramian.memory import in_words

_left = 3_000_000  # bytes that making a copy leaves behind in an allocator
_making = 18_000_000  # and those it takes: 11 to 25 MB, as quickly as the allocator gives back


class Stage:
    """Rows written as they come; ``rows()`` reads them back.

    Parameters
    ----------
    name : str
        What is copied, for messages.
    beside : path or None
        The file or folder next to which the copy is kept, if one may write there; else the
        system's folder for temporary files (``TMPDIR``).
    width : int
        Numbers a row.
    dtype
        As stored.
    """

    def __init__(self, name: str, beside: Any, width: int, dtype: Any = np.float64) -> None:
        self.name, self.width, self.dtype = name, width, np.dtype(dtype)
        self.count = 0
        self.folder, self.file = _nameless(beside)

    def add(self, block: Array) -> None:
        """Write some more rows."""
        view = memoryview(np.ascontiguousarray(block, self.dtype).reshape(-1).view(np.uint8))  # type: ignore[arg-type]
        self._write(view, self.count * self.width * self.dtype.itemsize)
        self.count += len(block)

    def add_turned(self, rows: slice, block: Array) -> None:
        """Write a block of rows of a table of which a row is kept as a column."""
        lines = np.ascontiguousarray(block.T, self.dtype)
        for i, line in enumerate(lines):
            at = (i * self.width + rows.start) * self.dtype.itemsize
            self._write(memoryview(line.view(np.uint8)), at)
        self.count = len(lines)

    def rows(self, memory: Any) -> StagedRows:
        """What was written; that there is a copy is said aloud."""
        self.say(self.count * self.width * self.dtype.itemsize)
        return StagedRows(self, memory)

    def say(self, size: int) -> None:
        """Warn of the copy."""
        warnings.warn(
            f"{self.name} is larger than the memory it may use: it was copied once, as "
            f"{in_words(size)} of numbers, to a temporary file in {self.folder}, which is gone "
            "when the work is done",
            GramianWarning,
            stacklevel=3,
        )

    def _write(self, view: memoryview, at: int) -> None:
        try:
            while len(view):
                done = _write_at(self.file.descriptor, view, at)
                view, at = view[done:], at + done
        except OSError as error:
            raise GramianError(
                f"{self.name}: its temporary copy in {self.folder} cannot be written after "
                f"{self.count} rows ({error.strerror or error}); free some space, or name a folder "
                "with more (environment variable TMPDIR)"
            ) from error


@dataclass(frozen=True)
class Promised:
    """A copy that is yet to be made: enough for a plan."""

    name: str
    count: int
    width: int
    dtype: ClassVar[np.dtype[Any]] = np.dtype(np.float64)
    file: ClassVar[Any] = None


class StagedRows(NpyRows):
    """Rows of a temporary copy."""

    def __init__(self, stage: Stage | Promised, memory: Any = None) -> None:
        self.path, self.stored, self.offset = Path(stage.name), stage.dtype, 0
        self._file = stage.file
        shape = stage.count, stage.width
        RowBlocked.__init__(self, shape, computed_in(stage.dtype), False, memory)
        self._by_columns = False

    def sent(self) -> None:
        """Nobody else can reach the copy."""

    def lines(self, start: int, stop: int) -> Array:
        """Rows start:stop as they are stored."""
        return self._lead(start, stop)

    def slab(self, start: int, stop: int) -> Array:
        """Columns start:stop of all rows."""
        return self._minor(start, stop)

    @property
    def library_bytes(self) -> int:
        """What making the copy left behind."""
        return _left

    @property
    def opening_bytes(self) -> int:
        """What making the copy took."""
        return _making

    @contextmanager
    def _visit(self) -> Iterator[None]:
        """Nobody else can reach the copy, so nobody can change it."""
        self._passes[0] += 1
        yield

    @contextmanager
    def _opened(self) -> Iterator[int]:
        yield self._file.descriptor


def _write_at(file: int, view: memoryview, at: int) -> int:
    """Write from byte ``at`` of a file on; how many bytes went."""
    if hasattr(os, "pwrite"):
        return os.pwrite(file, view, at)
    os.lseek(file, at, os.SEEK_SET)  # Windows; a copy has one writer
    return os.write(file, view)


class _Descriptor:
    """An open file that closes when the last one who holds it lets go."""

    def __init__(self, descriptor: int, name: str | None) -> None:
        self.descriptor = descriptor
        self._close = weakref.finalize(self, _forget, descriptor, name)


def _forget(descriptor: int, name: str | None) -> None:
    with suppress(OSError):
        os.close(descriptor)
    if name is not None:
        with suppress(OSError):
            os.unlink(name)


def _nameless(beside: Any) -> tuple[str, _Descriptor]:
    """A new file without a name, and the folder it is in."""
    near = None if beside is None else os.path.dirname(os.path.abspath(beside))
    reasons = []
    for folder in dict.fromkeys(filter(None, (near, tempfile.gettempdir()))):
        name = os.path.join(folder, f".gramian-{secrets.token_hex(6)}.tmp")
        flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_BINARY", 0)
        try:
            descriptor = os.open(name, flags, 0o600)
        except OSError as error:
            reasons.append(f"{folder}: {error.strerror or error}")
            continue
        with suppress(OSError):
            os.unlink(name)
            return folder, _Descriptor(descriptor, None)
        return folder, _Descriptor(descriptor, name)  # Windows keeps the name while it is open
    raise GramianError(f"no folder for a temporary copy can be written to ({'; '.join(reasons)})")

"""Rows that a reader fetches block by block, and several such sources one after another.

A format says how a rectangle of its numbers is read (``Rectangle``); nothing else about it matters
here. What was opened must still be there, unchanged, at the start and the end of every pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from copy import copy
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gramian.data.pread import State, all_there, refuse_changed, state_of
from gramian.data.rows import RowBlocked
from gramian.errors import GramianError, InputError, MemoryRefusedError
from gramian.maps import Array
from gramian.memory import in_words

_spread = 16  # places from which a sample is taken: each costs a read


def _nothing(block: int, threads: int) -> int:
    return 0


class Rectangle(NamedTuple):
    """Numbers in a file and how a part of them is read.

    Its functions can be pickled, so that other machines can read as well; paths are absolute.

    Attributes
    ----------
    name : str
        How messages call it.
    shape, dtype
        As stored.
    read : function of (rows, columns), two slices
        Any exception it raises is about the file.
    files : function
        What must not change: the paths, listed anew each time it is called.
    mapped : bool
        Whether a file that is cut short while it is read ends the process: it is looked at before
        every read, then.
    grain : (int, int)
        What is stored together: rows and columns of a chunk, (1, 1) if any part can be read alone,
        and (rows, 0) if parts of so many rows are not unpacked whole.
    taken : function of (bytes of a block, threads)
        Bytes that so many threads take to read blocks of that size, beyond the blocks.
    held, library : int
        Bytes that are kept of the file (names, places of chunks), and by the package that reads it.
    """

    name: str
    shape: tuple[int, int]
    dtype: np.dtype[Any]
    read: Callable[[slice, slice], Array]
    files: Callable[[], list[Path]]
    mapped: bool = False
    grain: tuple[int, int] = (1, 1)
    taken: Callable[[int, int], int] = _nothing
    held: int = 0
    library: int = 0


class BlockRows(RowBlocked):
    """The numbers of a rectangle, visited in blocks as large as suits how they are stored."""

    def __init__(self, source: Rectangle, memory: Any = None) -> None:
        n, p = source.shape
        super().__init__((n, p), computed_in(source.dtype), False, memory)
        self.source = source
        allowed = self._allowed
        tall, wide = min(source.grain[0], n), min(source.grain[1], p)
        chunk = tall * wide * source.dtype.itemsize
        if chunk > max(allowed // 8, 1_000_000):
            raise MemoryRefusedError(
                f"{source.name} is stored in chunks of {tall:,} x {wide:,} numbers, "
                f"{in_words(chunk)} each, {in_words(allowed)} may be used; write it in smaller "
                f"chunks, or allow {in_words(8 * chunk)} (memory=)"
            )
        # Fewer, larger blocks than of a plain file: every read has to find its place anew.
        together = tall * p * self.dtype.itemsize
        self._grain, few = tall, min(4 * self.block_bytes, allowed // 32)
        self.block_bytes = max(self.block_bytes, few, min(together, allowed // 16))
        self._states = self._found()

    @property
    def resident(self) -> bool:
        """A file is not."""
        return False

    @contextmanager
    def _visit(self) -> Iterator[None]:
        """One pass: the files must be the same before and after."""
        self._passes[0] += 1
        self._refuse_changed()
        yield
        self._refuse_changed()

    def sent(self) -> BlockRows:
        """The same rows, for other machines."""
        return self

    def spans(self, size: int) -> list[tuple[int, int]]:
        """Parts along what is stored together."""
        return self._aligned(max(size // (self.shape[1] * self.dtype.itemsize), 1))

    def arrived(self) -> BlockRows:
        """The same rows on another machine."""
        other = copy(self)
        other._states = all_there(self._states)
        return other

    def _found(self) -> dict[Path, State]:
        return {path: state_of(path) for path in self.source.files()}

    def _refuse_changed(self) -> None:
        found = self.source.files()
        if len(found) != len(self._states):
            raise InputError(
                f"{self.source.name} had {len(self._states)} files and has {len(found)} now: it "
                "changed while it was read; run again when it is at rest"
            )
        for path in found:
            refuse_changed(path, self._states.get(path))

    def _lead(self, start: int, stop: int) -> Array:
        return self._part(slice(start, stop), slice(0, self.shape[1]))

    def _minor(self, start: int, stop: int) -> Array:
        return self._part(slice(0, self.shape[0]), slice(start, stop))

    def _part(self, rows: slice, columns: slice) -> Array:
        name = self.source.name
        if self.source.mapped:
            self._refuse_changed()
        try:
            block = self.source.read(rows, columns)
        except (GramianError, MemoryError):
            raise
        except BaseException as error:  # whatever a reader raises is about the file
            if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
                raise  # Ctrl-C; panics are what polars calls its own surprises
            why = str(error).partition("\n")[0] or type(error).__name__
            raise InputError(
                f"{name}: rows {rows.start} to {rows.stop - 1} cannot be read ({why}); the file "
                "is damaged or was changed"
            ) from error
        many = rows.stop - rows.start, columns.stop - columns.start
        if block.shape != many:
            raise InputError(
                f"{name} became shorter while it was read: {block.shape[0]} rows came where "
                f"{many[0]} were asked for, from row {rows.start} on; run again"
            )
        return np.ascontiguousarray(block, dtype=self.dtype)

    def _sample(self, most: int) -> Array:
        n = self.shape[0]
        each = -(-most // _spread)
        starts = np.unique(np.linspace(0, max(n - each, 0), _spread).astype(int))
        return np.concatenate([self._lead(a, min(a + each, n)) for a in starts.tolist()])

    def take(self, which: Array) -> Array:
        """The rows of Y with these numbers, in their order; neighbors are read together."""
        which = np.asarray(which)
        out = np.empty((len(which), self.shape[1]), self.dtype)
        for rows in self.row_blocks():
            here = np.flatnonzero((which >= rows.start) & (which < rows.stop))
            if len(here):
                first, last = int(which[here].min()), int(which[here].max())
                out[here] = self.read_rows(slice(first, last + 1))[which[here] - first]
        return out

    def row_blocks(self) -> list[slice]:
        """The fixed partition of the rows, along what is stored together."""
        return [slice(a, b) for a, b in self._aligned(super().row_blocks()[0].stop)]

    def _lead_blocks(self) -> list[tuple[int, int]]:
        return self._aligned(super()._lead_blocks()[0][1])

    def _aligned(self, step: int) -> list[tuple[int, int]]:
        """Whole grains if one is no longer than ``step``, else equal parts of each."""
        n, grain = self.shape[0], self._grain
        if step >= grain:
            step = step // grain * grain
            return [(a, min(a + step, n)) for a in range(0, n, step)]
        step = -(-grain // -(-grain // step))
        return [
            (a, min(a + step, begin + grain, n))
            for begin in range(0, n, grain)
            for a in range(begin, min(begin + grain, n), step)
        ]

    @property
    def held_bytes(self) -> int:
        """Names and places of chunks."""
        return self.source.held

    @property
    def library_bytes(self) -> int:
        """Of HDF5 or Zarr."""
        return self.source.library

    def _stored_type(self) -> np.dtype[Any]:
        return self.source.dtype

    def _reader_bytes(self, threads: int) -> int:
        return self.source.taken(self._longest(), threads)


class StackedRows(RowBlocked):
    """Several sources of rows with the same columns, one below the other."""

    def __init__(self, parts: Sequence[RowBlocked], memory: Any = None) -> None:
        self.parts = list(parts)
        self.ends = np.cumsum([0, *(part.shape[0] for part in parts)])
        dtype = np.result_type(*(part.dtype for part in parts))
        super().__init__((int(self.ends[-1]), parts[0].shape[1]), dtype, False, memory)

    @property
    def resident(self) -> bool:
        """Whether all parts are in memory."""
        return all(part.resident for part in self.parts)

    def sent(self) -> StackedRows | None:
        """The same rows, for other machines, if all parts can be read there."""
        parts = [part.sent() for part in self.parts]
        return None if None in parts else self._of(parts)

    def arrived(self) -> StackedRows:
        """The same rows on another machine."""
        return self._of([part.arrived() for part in self.parts])

    def _of(self, parts: list[Any]) -> StackedRows:
        other = copy(self)
        other.parts = parts
        return other

    @contextmanager
    def _visit(self) -> Iterator[None]:
        self._passes[0] += 1
        with ExitStack() as stack:
            for part in self.parts:
                stack.enter_context(part._visit())
            yield

    @property
    def held_bytes(self) -> int:
        """What all parts keep."""
        return sum(part.held_bytes for part in self.parts)

    @property
    def stored_bytes(self) -> int:
        """Of all parts."""
        return sum(part.stored_bytes for part in self.parts)

    @property
    def opening_bytes(self) -> int:
        """They are opened one after another."""
        return max(part.opening_bytes for part in self.parts)

    @property
    def library_bytes(self) -> int:
        """They share it."""
        return max(part.library_bytes for part in self.parts)

    def _reader_bytes(self, threads: int) -> int:
        return max(part._reader_bytes(threads) for part in self.parts)

    def _lead(self, start: int, stop: int) -> Array:
        out = np.empty((stop - start, self.shape[1]), self.dtype)
        for part, begin, end in zip(self.parts, self.ends[:-1], self.ends[1:], strict=True):
            a, b = max(start, int(begin)), min(stop, int(end))
            if a < b:
                lines = slice(a - int(begin), b - int(begin))
                # Not read_rows: that is of Y, and parts are never centered.
                raw = part._minor if part.flip else part._lead
                block = raw(lines.start, lines.stop)
                out[a - start : b - start] = block.T if part.flip else block
        return out

    def _minor(self, start: int, stop: int) -> Array:
        out = np.empty((self.shape[0], stop - start), self.dtype)
        for part, begin, end in zip(self.parts, self.ends[:-1], self.ends[1:], strict=True):
            out[begin:end] = part._lead(start, stop).T if part.flip else part._minor(start, stop)
        return out


def computed_in(stored: np.dtype[Any]) -> np.dtype[Any]:
    """float32 for float16 and float32, else float64."""
    small = stored.kind == "f" and stored.itemsize <= 4
    return np.dtype(np.float32 if small else np.float64)

"""Sparse rows in a file larger than memory: blocks of them are sparse rows in memory.

Y = D (X - 1 m') F as in ``sparse.py``. Every product of Y is one of its blocks of rows, stacked or
added up in order; pairs of blocks make Y Y'.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gramian.data.block_rows import computed_in
from gramian.data.centering import Centering
from gramian.data.moments import Moments, refuse, unit_for
from gramian.data.pread import all_there, refuse_changed, state_of
from gramian.data.sparse import SparseRows, cut
from gramian.errors import GramianError, InputError, MemoryRefusedError
from gramian.loops.sparse import sums
from gramian.loops.threads import ahead
from gramian.maps import Array, ImplicitMap
from gramian.memory import budget, in_words, sparse_block_bytes

_copies = 6  # of a block that are held at a time, the next one included


class Stored(NamedTuple):
    """A compressed sparse matrix in a file: where each line ends, and how a part is read.

    In bytes: ``each`` stored number with its place, what is ``held`` of the file (names), what the
    package that reads it keeps (``library``), and what it took to open it (``opening``).
    """

    name: str
    shape: tuple[int, int]
    ends: Array
    entries: int
    dtype: np.dtype[Any]
    read: Callable[[int, int], tuple[Array, Array]]
    files: Callable[[], list[Path]]
    each: int = 16
    held: int = 0
    library: int = 0
    opening: int = 0


class SparseFile(ImplicitMap):
    """Rows of a CSR matrix that stay in their file."""

    resident = False
    flip = False
    change: Callable[[Any], Any] | None = None
    moment_passes = 2

    def __init__(self, stored: Stored, memory: Any = None) -> None:
        self.stored, self.shape = stored, stored.shape
        self.dtype = computed_in(stored.dtype)
        self.centering = Centering.none(self.shape[1], self.dtype)
        self.block_bytes = sparse_block_bytes(budget(memory) - self.held_bytes)
        self._passes = [0]  # shared with the centered map that ``then`` makes
        self._refuse_wrong()
        self._states = {path: state_of(path) for path in stored.files()}

    @property
    def passes(self) -> int:
        """Visits to the data so far."""
        return self._passes[0]

    @property
    def stored_bytes(self) -> int:
        """Bytes that one pass reads."""
        return self.stored.entries * self.stored.each

    @property
    def held_bytes(self) -> int:
        """What is kept of the file: names, ends of rows."""
        return self.stored.held + self.stored.ends.nbytes

    @property
    def opening_bytes(self) -> int:
        """What it took to open the file."""
        return self.stored.opening

    def visiting(self, least: int = 2) -> tuple[int, int]:
        """Bytes for visits: as of other rows in files (``RowBlocked``), on any number of threads.

        A block that is worked on, with its copies, and one that is read ahead.
        """
        needed = self.held_bytes + _copies * min(self.block_bytes, 16 * self.stored.entries)
        return needed + self.stored.library, needed

    def then(self, centering: Centering, cross: Any = None) -> SparseFile:
        """The same rows, centered implicitly."""
        other = copy(self)
        other.centering = centering
        return other

    def sent(self) -> SparseFile | None:
        """The same rows, as another machine that sees the files can read them; or nothing."""
        return self if self._states else None

    def arrived(self) -> SparseFile:
        """The same rows on another machine."""
        other = copy(self)
        other._states = all_there(self._states)
        return other

    def whole(self) -> Any:
        """All of it, as a SciPy sparse array."""
        return self.csr(0, self.shape[0])

    def changed(self, change: Callable[[Any], Any]) -> SparseFile:
        """The same rows after ``change`` of each block (a CSR array), as it is read."""
        other = copy(self)
        other.change = change
        return other

    def parts(self) -> Iterator[tuple[int, Any]]:
        """One pass: every block as a CSR array, with the number of its first row."""
        return ((rows.start, part.X) for rows, part in self._each())

    def refuse_beyond(self, allowed: int, by_columns: bool) -> None:
        """Raise where all of it, twice if it has to be turned, would not fit."""
        needed = 12 * self.stored.entries * (1 + by_columns)
        if needed > allowed:
            raise MemoryRefusedError(
                f"{self.stored.name} is stored by columns (CSC) and needs {in_words(needed)} of "
                f"memory, {in_words(allowed)} may be used; write it by rows (CSR), which is read "
                "in blocks, or allow more (memory=)"
            )

    # Blocks ----------------------------------------------------------------------------------

    def spans(self, size: int) -> list[tuple[int, int]]:
        """A fixed partition of the rows: stored numbers of about so many bytes in each."""
        return cut(self.stored.ends, max(size // 16, 1))

    @contextmanager
    def _visit(self) -> Iterator[None]:
        self._passes[0] += 1
        self._refuse_changed()
        yield
        self._refuse_changed()

    def _each(self) -> Iterator[tuple[slice, SparseRows]]:
        """One pass: every block, centered, with its place."""
        with self._visit():
            for a, b, part in ahead(self._part, self.spans(self.block_bytes)):
                yield slice(a, b), part

    def _part(self, a: int, b: int) -> SparseRows:
        c = self.centering
        weight = c.weight if c.weight.size == 1 else c.weight[a:b]
        return SparseRows(self.csr(a, b)).then(replace(c, weight=weight))

    def csr(self, a: int, b: int) -> Any:
        """Rows a:b of X, as a SciPy sparse array."""
        import scipy.sparse

        ends, p = self.stored.ends[a : b + 1], self.shape[1]
        try:
            data, indices = self.stored.read(int(ends[0]), int(ends[-1]))
        except GramianError:
            raise
        except Exception as error:  # whatever a reader raises is about the file
            why = str(error).partition("\n")[0] or type(error).__name__
            raise InputError(
                f"{self.stored.name}: rows {a} to {b - 1} cannot be read ({why}); the file is "
                "damaged or was changed"
            ) from error
        many = int(ends[-1] - ends[0])
        if len(data) != many or len(indices) != many:
            raise InputError(f"{self.stored.name} became shorter while it was read; run again")
        if many and not (indices.min() >= 0 and indices.max() < p):
            raise InputError(
                f"{self.stored.name}: rows {a} to {b - 1} have column numbers from "
                f"{indices.min()} to {indices.max()}, but there are {p} columns; write it again"
            )
        small = np.int32 if max(many, p) < 2**31 else np.int64
        parts = data.astype(self.dtype, copy=False), indices.astype(small, copy=False)
        X = scipy.sparse.csr_array((*parts, (ends - ends[0]).astype(small)), shape=(b - a, p))
        return X if self.change is None else self.change(X).astype(self.dtype, copy=False)

    def _refuse_changed(self) -> None:
        for path in self.stored.files():
            refuse_changed(path, self._states.get(path))

    def _refuse_wrong(self) -> None:
        ends, n = self.stored.ends, self.shape[0]
        right = len(ends) == n + 1 and ends[0] == 0 and ends[-1] == self.stored.entries
        if not right or np.any(np.diff(ends) < 0):
            raise InputError(
                f"{self.stored.name} is no sparse matrix of {n} lines: indptr does not fit its "
                f"{self.stored.entries} stored numbers; write it again"
            )

    # The verbs of rows -----------------------------------------------------------------------

    def row_blocks(self) -> list[slice]:
        """A fixed partition of the rows, small enough to be dense."""
        n, p = self.shape
        step = max(self.block_bytes // (max(p, 1) * self.dtype.itemsize), 1)
        return [slice(a, min(a + step, n)) for a in range(0, n, step)]

    def read_rows(self, rows: slice) -> Array:
        """One block of Y, dense: for the few who need rows themselves."""
        part = self._part(rows.start, rows.stop)
        return part.read_rows(slice(0, rows.stop - rows.start))

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """One pass over the blocks of Y in order, dense, each with its place."""
        spans = [(rows.start, rows.stop) for rows in self.row_blocks()]
        with self._visit():
            for a, b, block in ahead(lambda a, b: self.read_rows(slice(a, b)), spans):
                yield slice(a, b), block

    def take(self, which: Array) -> Array:
        """The rows of Y with these numbers, in their order."""
        return np.concatenate([self.read_rows(slice(int(i), int(i) + 1)) for i in which])

    def map_rows(self, f: Callable[[Array, slice], Array], columns: int, dtype: Any) -> Array:
        """``f(block, rows)`` of every block of Y, stacked in order."""
        out = np.empty((self.shape[0], columns), dtype)
        for rows, block in self.blocks():
            out[rows] = f(block, rows)
        return out

    def sum_rows(self, f: Callable[[Array, slice], Array]) -> Array:
        """The sum of ``f(block, rows)`` over the blocks of Y, in a fixed order."""
        return np.asarray(sum(f(block, rows) for rows, block in self.blocks()))

    def refuse_non_finite(self) -> None:
        """Raise for NaN or infinity, naming the first cell."""
        missing = infinite = 0
        where: tuple[int, int] | None = None
        for rows, part in self._each():
            bad = np.flatnonzero(~np.isfinite(part.X.data))
            if len(bad):
                missing += int(np.isnan(part.X.data).sum())
                infinite += int(np.isinf(part.X.data).sum())
                row = int(np.searchsorted(part.X.indptr, bad[0], side="right")) - 1
                where = where or (rows.start + row, int(part.X.indices[bad[0]]))
        refuse(missing, infinite, where)

    def moments(self, weights: Array) -> Moments:
        """Mean and variance of every column, in two passes."""
        n, p = self.shape
        total, unit = float(weights[0]) * n if weights.size == 1 else float(weights.sum()), 1.0

        def found(rows: slice, part: SparseRows, about: Array) -> Array:
            return sums(part.X, weights if weights.size == 1 else weights[rows], unit, about)

        for _ in range(2):  # the second time only where squares would leave the range of floats
            first, peak = np.zeros((p, 3)), 0.0
            for rows, part in self._each():
                X = part.X.data
                if not np.isfinite(X).all():
                    self.refuse_non_finite()
                peak = max(peak, float(np.abs(X).max(initial=0.0)))
                first += found(rows, part, np.zeros(p))
            if unit == unit_for(peak, self.dtype):
                break
            unit = unit_for(peak, self.dtype)
        mean, stored = first[:, 1] / total, first[:, 0]
        squares = np.zeros(p)
        for rows, part in self._each():
            squares += found(rows, part, mean)[:, 2]
        variance = (squares + (total - stored) * mean**2) / total
        return Moments(mean, np.zeros_like(mean), variance, total, unit)

    # Products of Y ---------------------------------------------------------------------------

    def _times(self, V: Array) -> Array:
        out = np.empty((self.shape[0], V.shape[1]), self.dtype)
        for rows, part in self._each():
            out[rows] = part._times(V)
        return out

    def _times_T(self, U: Array) -> Array:
        return self.adjoint(U).astype(self.dtype, copy=False)

    def adjoint(self, U: Array) -> Array:
        """Y' U in float64."""
        return self._sum(lambda part, rows: part.adjoint(U[rows]), (self.shape[1], U.shape[1]))

    def gram(self, V: Array) -> Array:
        """Y' (Y V) in float64, reading Y once."""
        return self._sum(lambda part, _: part.gram(V), (self.shape[1], V.shape[1]))

    def cross(self) -> Array:
        """Y' Y, p x p, in float64."""
        return self._sum(lambda part, _: part.cross(), (self.shape[1], self.shape[1]))

    @property
    def outer_passes(self) -> int:
        """How often all that is stored is read for Y Y': a block for every pair it is in."""
        ends = self.stored.ends
        blocks = enumerate(self.spans(self.block_bytes), 1)
        read = sum(i * int(ends[b] - ends[a]) for i, (a, b) in blocks)
        return -(-read // max(self.stored.entries, 1)) or 1

    def outer(self) -> Array:
        """Y Y', n x n, in float64: of pairs of blocks."""
        n = self.shape[0]
        out = np.empty((n, n))
        spans = self.spans(self.block_bytes)
        self._passes[0] += self.outer_passes - 1
        with self._visit():
            for i, (a, b) in enumerate(spans):
                B, m, d = self._part(a, b)._scaled()
                Bm = B @ m
                for other in spans[i:]:
                    C, _, e = (B, m, d) if other == (a, b) else self._part(*other)._scaled()
                    G = (B @ C.T).toarray() - Bm[:, None] - C @ m + m @ m
                    out[a:b, slice(*other)] = G * d[:, None] * e
                    out[slice(*other), a:b] = out[a:b, slice(*other)].T
        return out

    def _sum(self, f: Callable[[SparseRows, slice], Array], shape: tuple[int, int]) -> Array:
        total = np.zeros(shape)
        for rows, part in self._each():
            total += f(part, rows)
        return total

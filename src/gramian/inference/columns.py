"""The variables of centered data, held as rows: what is permuted, multiplied and deflated.

Y' is p rows of n numbers. Where it fits into a quarter of the budget it is kept, else a block of
columns is read whenever it is needed. Products are those of the smaller side, Y'Y or YY'.

Tall data beyond the budget are copied once to a temporary file that lies by columns, and each
replicate goes to one as well: columns are permuted a few at a time, and multiplied all at once, a
slab of rows after the other.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from gramian.data.stage import Stage, StagedRows
from gramian.data.variables import read_variables
from gramian.errors import InputError, MemoryRefusedError
from gramian.loops.threads import thread_count
from gramian.maps import Array
from gramian.memory import budget, in_words
from gramian.show.text import count
from gramian.spectral.solvers import LAPACK_LIMIT

_block_bytes = 2**25  # of columns permuted at a time, were they float64; eight columns at least


class Columns:
    """The variables of centered data, a block of columns at a time, near 1 in size.

    ``gain`` is the power of two they are multiplied by: squares stay in the range of float32.
    """

    def __init__(self, Y: Any, memory: Any = None) -> None:
        self.Y, self.shape, self.room = Y, Y.shape, budget(memory)
        self.gain = 1.0
        self.kept: dict[Any, Array] = {}
        self._turn = threading.Lock()
        self.step = _step(self.shape, self.room)
        self._refuse_too_large()
        self.by_file, self._copy = self._set_aside()
        self._beside: tuple[Array, Array, Columns] | None = None
        self._measure()

    def blocks(self) -> list[tuple[int, int]]:
        """A fixed partition of the columns."""
        p = self.shape[1]
        return [(a, min(a + self.step, p)) for a in range(0, p, self.step)]

    def read(self, a: int, b: int, dtype: Any = np.float64) -> Array:
        """Columns a:b as rows; all are kept in float32 where they fit into a quarter of the budget.

        float64 is asked for rarely, and read anew where it takes more than a block.
        """
        dtype = np.dtype(dtype)
        n, p = self.shape
        most = self.room // 4 if dtype == np.float32 else min(self.room // 4, _block_bytes)
        if dtype not in self.kept and n * p * dtype.itemsize > most:
            return self._fetch(a, b, dtype)
        with self._turn:
            if dtype not in self.kept:
                self.kept[dtype] = self._fetch(0, p, dtype)
        return self.kept[dtype][a:b]

    def without(self, V: Array) -> Columns:
        """The columns of Y - Y V V', V orthonormal: what is left beside some axes."""
        other = object.__new__(Columns)
        other.__dict__.update(self.__dict__)
        other.kept, other._turn = {}, threading.Lock()
        scores = sum(V[a:b].T @ self.read(a, b) for a, b in self.blocks())
        other._beside = V, np.asarray(scores), self
        return other

    def products(self, read: Callable[[int, int], Array], dtype: Any) -> Array:
        """Y'Y or YY', the smaller, from blocks of columns given by ``read``."""
        n, p = self.shape
        blocks = self.blocks()
        if self.by_file and len(blocks) > 1:
            return self._products_by_file(read, dtype)
        if len(blocks) == 1:
            A = read(0, p) if p <= n else read(0, p).T
            return np.asarray(A @ A.T)
        C = np.zeros((min(n, p), min(n, p)), dtype)
        if n < p:
            for a, b in blocks:
                B = read(a, b)
                C += B.T @ B
            return C
        for i, (a, b) in enumerate(blocks):
            A = read(a, b).copy()
            C[a:b, a:b] = A @ A.T
            for c, d in blocks[:i]:
                C[a:b, c:d] = A @ read(c, d).T
                C[c:d, a:b] = C[a:b, c:d].T
        return C

    def spectrum(self) -> Array:
        """All min(n, p) eigenvalues of Y'Y, largest first."""
        return np.maximum(np.linalg.eigvalsh(self.own_products())[::-1], 0.0)

    def own_products(self) -> Array:
        """Y'Y or YY', the smaller, as the data are."""
        if self._copy is None:
            return self.products(self.read, np.float64)
        return self._slab_products(self._copy, np.float64) * self.gain**2

    def _products_by_file(self, read: Callable[[int, int], Array], dtype: Any) -> Array:
        """Y'Y of columns that are written to a temporary file first."""
        replicate = self._stage(dtype)
        for a, b in self.blocks():
            replicate.add(read(a, b))
        return self._slab_products(StagedRows(replicate, self.room), dtype)

    def _slab_products(self, turned: StagedRows, dtype: Any) -> Array:
        """Y'Y, in float64, of columns that lie one after the other in a file."""
        n, p = self.shape
        C = np.zeros((p, p))
        step = max(min(self.room // (128 * p), n), 1)
        for a in range(0, n, step):
            S = turned.slab(a, min(a + step, n)).astype(dtype, copy=False)
            C += S @ S.T
        return C

    def _set_aside(self) -> tuple[bool, StagedRows | None]:
        """Whether replicates go to a file, and Y by columns in one: tall data beyond the budget."""
        (n, p), resident = self.shape, getattr(self.Y, "resident", True)
        beyond = 8 * n * p > self.room if resident else 16 * n * p > self.room
        if n < p or not beyond:
            return False, None
        return True, None if resident or getattr(self.Y, "flip", False) else self._turned_copy()

    def _turned_copy(self) -> StagedRows:
        """One pass."""
        n, p = self.shape
        copy = self._stage(self.Y.dtype)
        for rows, block in self.Y.blocks():
            copy.add_turned(rows, block)
        copy.say(n * p * self.Y.dtype.itemsize)
        return StagedRows(copy, self.room)

    def _stage(self, dtype: Any) -> Stage:
        path = getattr(self.Y, "path", None)
        return Stage(path.name if path else "the table", path, self.shape[0], dtype)

    def _measure(self) -> None:
        """Sizes of the columns, and the gain that brings the largest near 1."""
        squares = np.concatenate([self._squares(a, b) for a, b in self.blocks()])
        self.sizes = np.sqrt(squares / self.shape[0])
        largest = float(self.sizes.max(initial=0.0))
        if largest > 0:
            self.gain = float(np.ldexp(1.0, -int(np.frexp(largest)[1])))
            self.sizes = self.sizes * self.gain

    def _refuse_too_large(self) -> None:
        """Before anything is read."""
        permuting_bytes(self.shape, self.room)

    def _fetch(self, a: int, b: int, dtype: Any) -> Array:
        out = np.empty((b - a, self.shape[0]), dtype)
        if self._beside is not None:
            V, scores, whole = self._beside
            for c in range(a, b, self.step):
                d = min(c + self.step, b)
                out[c - a : d - a] = whole.read(c, d) - V[c:d] @ scores
            return out
        if self.gain == 1 or dtype == np.float64:
            if self._copy is None:
                read_variables(self.Y, a, b, out)
            else:
                out[...] = self._copy.lines(a, b)
            out *= self.gain
            return out
        # values beyond the range of float32 must be scaled before they become float32
        return np.asarray(self._fetch(a, b, np.dtype(np.float64)), dtype)

    def _squares(self, a: int, b: int) -> Array:
        B = self._fetch(a, b, np.dtype(np.float64))
        return np.einsum("ij,ij->i", B, B)


class FarColumns(Columns):
    """The variables of rows that lie on workers: measured there, and fetched only if read."""

    def spectrum(self) -> Array:
        """All min(n, p) eigenvalues of Y'Y, largest first."""
        return self._values

    def _measure(self) -> None:
        ((self.gain, self.sizes, self._values),) = self.Y.spread(_measured, [self.Y.room])

    def _refuse_too_large(self) -> None:
        """A worker will, if it must."""

    def _set_aside(self) -> tuple[bool, StagedRows | None]:
        """Nor is anything copied here."""
        return False, None


def columns_of(Y: Any, memory: Any = None) -> Columns:
    """The variables of centered rows."""
    return (FarColumns if hasattr(Y, "spread") else Columns)(Y, memory)


def _measured(Y: Any, memory: int) -> tuple[float, Array, Array]:
    """Gain, sizes and spectrum: what a worker says of its rows."""
    columns = Columns(Y, memory)
    return columns.gain, columns.sizes, columns.spectrum()


def permuting_bytes(shape: tuple[int, int], room: int) -> int:
    """What replicates take beyond the data, on every thread; refused where that is too much."""
    (n, p), q, step = shape, min(shape), _step(shape, room)
    if q > LAPACK_LIMIT:
        raise InputError(
            f"the smaller side of the data is {q}, more than LAPACK can take ({LAPACK_LIMIT}); "
            "give a sample of the rows or of the columns"
        )
    needed = thread_count() * (16 * q * q + 8 * n * step)
    if needed > room // 2:
        raise MemoryRefusedError(
            f"products of {n} x {p} values, and {count(step, 'column')} at a time to be "
            f"permuted, need {in_words(needed)} beyond the data, which is more than half of "
            f"a budget of {in_words(room)}; raise memory= to {in_words(2.05 * needed)}, "
            "or give a sample of the rows"
        )
    return needed


def _step(shape: tuple[int, int], room: int) -> int:
    """Columns at a time."""
    n, p = shape
    return max(1, min(p, min(max(_block_bytes, 64 * n), room // 16) // (8 * n)))

"""The variables of centered data, held as rows: what is permuted, multiplied and deflated.

Y' is p rows of n numbers. Where it fits into a quarter of the budget it is kept, else a block of
columns is read whenever it is needed. Products are those of the smaller side, Y'Y or YY'.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from gramian.data.variables import read_variables
from gramian.errors import InputError, MemoryRefusedError
from gramian.loops.threads import thread_count
from gramian.maps import Array
from gramian.memory import budget, in_words
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
        n, p = self.shape
        self.step = max(1, min(p, min(max(_block_bytes, 64 * n), self.room // 16) // (8 * n)))
        self._refuse_too_large()
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
        rest = self.read(0, self.shape[1])
        rest = rest - V @ (V.T @ rest)
        other.kept = {np.dtype(np.float64): rest, np.dtype(np.float32): rest.astype(np.float32)}
        return other

    def products(self, read: Callable[[int, int], Array], dtype: Any) -> Array:
        """Y'Y or YY', the smaller, from blocks of columns given by ``read``."""
        n, p = self.shape
        blocks = self.blocks()
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
        C = self.products(self.read, np.float64)
        return np.maximum(np.linalg.eigvalsh(C)[::-1], 0.0)

    def _measure(self) -> None:
        """Sizes of the columns, and the gain that brings the largest near 1."""
        squares = np.concatenate([self._squares(a, b) for a, b in self.blocks()])
        self.sizes = np.sqrt(squares / self.shape[0])
        largest = float(self.sizes.max(initial=0.0))
        if largest > 0:
            self.gain = float(np.ldexp(1.0, -int(np.frexp(largest)[1])))
            self.sizes = self.sizes * self.gain

    def _refuse_too_large(self) -> None:
        """Before anything is read: products of the smaller side must fit, for every thread."""
        n, p = self.shape
        q = min(n, p)
        if q > LAPACK_LIMIT:
            raise InputError(
                f"the smaller side of the data is {q}, more than LAPACK can take ({LAPACK_LIMIT}); "
                "give a sample of the rows or of the columns"
            )
        needed = thread_count() * (16 * q * q + 8 * n * self.step)
        if needed > self.room // 2:
            raise MemoryRefusedError(
                f"the products of {n} x {p} values need {in_words(needed)} beyond the data, of a "
                f"budget of {in_words(self.room)}; raise memory=, or give a sample of the rows"
            )
        fit = max(1, self.room // (128 * n))
        if n >= p > 16 * fit:
            raise MemoryRefusedError(
                f"whole columns must be in memory to be permuted, and only {fit} of {p} fit "
                f"into a budget of {in_words(self.room)}; raise memory= to "
                f"{in_words(8 * n * p)}, or give a sample of the rows"
            )

    def _fetch(self, a: int, b: int, dtype: Any) -> Array:
        out = np.empty((b - a, self.shape[0]), dtype)
        if self.gain == 1 or dtype == np.float64:
            read_variables(self.Y, a, b, out)
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


def columns_of(Y: Any, memory: Any = None) -> Columns:
    """The variables of centered rows."""
    return (FarColumns if hasattr(Y, "spread") else Columns)(Y, memory)


def _measured(Y: Any, memory: int) -> tuple[float, Array, Array]:
    """Gain, sizes and spectrum: what a worker says of its rows."""
    columns = Columns(Y, memory)
    return columns.gain, columns.sizes, columns.spectrum()

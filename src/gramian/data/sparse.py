"""Sparse rows as a map, centered without ever becoming dense.

Y = D (X - 1 m') F        m = means, F = factors of columns, D = root weights of rows
Y V  = D (X (F V) - 1 (m' F V)),        Y' U = F (X' (D U) - m (1' D U))

Products are compiled and run on all threads (``loops.sparse``); Y'(Y V) visits X once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from gramian.data.centering import Centering
from gramian.data.moments import Moments, refuse_non_finite
from gramian.loops.sparse import adjoint, gram, sums, times
from gramian.loops.threads import one_blas_thread
from gramian.maps import Array, ImplicitMap, unit_for
from gramian.memory import budget, sparse_block_bytes


class SparseRows(ImplicitMap):
    """A SciPy sparse matrix or array of real numbers."""

    resident = True
    flip = False
    moment_passes = 2
    block = 8  # vectors multiplied for little more than the price of one

    def __init__(self, X: Any, memory: Any = None) -> None:
        dtype = np.float32 if X.dtype in (np.float16, np.float32) else np.float64
        self.X = X.tocsr().astype(dtype, copy=False)
        if not self.X.has_canonical_format:  # a cell may be stored in parts: it is their sum
            self.X = self.X.copy()
            self.X.sum_duplicates()
        self.shape, self.dtype = (X.shape[0], X.shape[1]), np.dtype(dtype)
        self.centering = Centering.none(self.shape[1], self.dtype)
        allowed = 2**62 if memory is None else budget(memory)
        self.block_bytes = min(sparse_block_bytes(allowed), 16 * self.X.nnz)
        self._passes = [0]  # shared with the centered map that ``then`` makes

    def then(self, centering: Centering, cross: Any = None) -> SparseRows:
        """The same rows, centered implicitly."""
        other = copy(self)
        other.centering = centering
        return other

    @property
    def passes(self) -> int:
        """Visits to the data so far."""
        return self._passes[0]

    @property
    def stored_bytes(self) -> int:
        """Bytes that one pass reads."""
        return int(self.X.data.nbytes + self.X.indices.nbytes)

    def moments(self, weights: Array) -> Moments:
        """Mean and variance of every column; the zeros that are not stored count."""
        refuse_non_finite(self)
        self._passes[0] += self.moment_passes
        X = self.X.data
        peak = float(max(X.max(initial=0.0), -X.min(initial=0.0)))
        unit = unit_for(peak, self.dtype)
        total = float(weights[0]) * self.shape[0] if weights.size == 1 else float(weights.sum())
        mean = sums(self.X, weights, unit, np.zeros(self.shape[1]))[:, 1] / total
        stored, _, squares = sums(self.X, weights, unit, mean).T
        variance = (squares + (total - stored) * mean**2) / total
        return Moments(mean, np.zeros_like(mean), variance, total, unit)

    def _times(self, V: Array) -> Array:
        self._passes[0] += 1
        c = self.centering
        FV = c.factor[:, None] * V.astype(self.dtype, copy=False)
        XV = times(self.X, FV)
        with one_blas_thread():
            XV -= self._mean @ FV
        XV *= c.weight[:, None]
        return XV

    def _times_T(self, U: Array) -> Array:
        return self.adjoint(U).astype(self.dtype, copy=False)

    def adjoint(self, U: Array) -> Array:
        """Y' U in float64."""
        self._passes[0] += 1
        c = self.centering
        DU = c.weight[:, None] * U.astype(self.dtype, copy=False)
        total = DU.sum(axis=0, dtype=np.float64)
        return np.asarray((adjoint(self.X, DU) - np.outer(self._mean, total)) * c.factor[:, None])

    def gram(self, V: Array) -> Array:
        """Y' (Y V) = F (X' Z - m 1' Z) with Z = D^2 (X F V - 1 m' F V), in one visit."""
        self._passes[0] += 1
        c = self.centering
        FV = c.factor[:, None] * V.astype(self.dtype, copy=False)
        with one_blas_thread():
            shift = self._mean @ FV
        XZ, total = gram(self.X, FV, shift, c.weight**2)
        if self._mean.any():
            XZ -= np.outer(self._mean, total)
        XZ *= c.factor[:, None]
        return XZ

    def cross(self) -> Array:
        """Y' Y = B' D^2 B - s m' - m s' + (1' D^2 1) m m' with B = X F, s = B' D^2 1, m = F m."""
        self._passes[0] += 1
        p = self.shape[1]
        most = max(self.block_bytes // 16, p * p // 2, 1)  # what is added up is no larger
        spans = cut(self.X.indptr, most)
        return np.asarray(sum(self._part(a, b)._cross() for a, b in spans))

    def _cross(self) -> Array:
        B, m, d = self._scaled()
        d2 = d**2
        sm = np.outer(B.T @ d2, m)
        weighted = B.data * np.repeat(d2, np.diff(B.indptr))
        C = (B.T @ with_data(B, weighted)).toarray()
        return np.asarray(C - sm - sm.T + d2.sum() * np.outer(m, m))

    def _part(self, a: int, b: int) -> SparseRows:
        """Rows a:b of Y."""
        if b - a == self.shape[0]:
            return self
        c, part = self.centering, copy(self)
        part.X, part.shape = self.X[a:b], (b - a, self.shape[1])
        part.centering = replace(c, weight=c.weight if c.weight.size == 1 else c.weight[a:b])
        return part

    def outer(self) -> Array:
        """Y Y' = D (B B' - a 1' - 1 a' + m' m) D with B = X F, a = B m, m = F m."""
        self._passes[0] += 1
        B, m, d = self._scaled()
        a = B @ m
        G = (B @ B.T).toarray() - a[:, None] - a + m @ m
        return np.asarray(G * d[:, None] * d)

    def _scaled(self) -> tuple[Any, Array, Array]:
        """X F, F m and the diagonal of D in float64: scaled before anything is squared."""
        c = self.centering
        f = c.factor.astype(np.float64)
        B = with_data(self.X, self.X.data * f[self.X.indices])
        d = np.broadcast_to(c.weight.astype(np.float64), self.shape[0])
        return B, self._mean.astype(np.float64) * f, d

    def row_blocks(self) -> list[slice]:
        """A fixed partition of the rows, about a million numbers each once dense."""
        n, p = self.shape
        step = max(1_000_000 // max(p, 1), 1)
        return [slice(a, min(a + step, n)) for a in range(0, n, step)]

    def read_rows(self, rows: slice) -> Array:
        """One block of Y, dense: for the few who need rows themselves."""
        c = self.centering
        dense = self.X[rows].toarray()
        w = c.weight if c.weight.size == 1 else c.weight[rows, None]
        return np.asarray((dense - self._mean) * c.factor * w)

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """The blocks of Y in order, dense, each with its place."""
        return ((rows, self.read_rows(rows)) for rows in self.row_blocks())

    def take(self, which: Array) -> Array:
        """The rows of Y with these numbers, in their order, dense."""
        c = self.centering
        w = c.weight if c.weight.size == 1 else c.weight[which, None]
        return np.asarray((self.X[which].toarray() - self._mean) * c.factor * w)

    def map_rows(self, f: Callable[[Array, slice], Array], columns: int, dtype: Any) -> Array:
        """``f(block, rows)`` of every block of Y, stacked in order."""
        out = np.empty((self.shape[0], columns), dtype)
        for rows, block in self.blocks():
            out[rows] = f(block, rows)
        return out

    def sum_rows(self, f: Callable[[Array, slice], Array]) -> Array:
        """The sum of ``f(block, rows)`` over the blocks of Y, in a fixed order."""
        return np.asarray(sum(f(block, rows) for rows, block in self.blocks()))

    @property
    def _mean(self) -> Array:
        return np.asarray(self.centering.high + self.centering.low)


def with_data(X: Any, data: Array) -> Any:
    """Other numbers in the places of those of ``X``."""
    return type(X)((data, X.indices, X.indptr), shape=X.shape)


def cut(ends: Array, most: int) -> list[tuple[int, int]]:
    """Rows in parts of at most so many stored numbers, or of one row; ``ends`` as ``indptr``."""
    n, spans, a = len(ends) - 1, [], 0
    while a < n:
        b = int(np.searchsorted(ends, ends[a] + most, "right")) - 1
        b = min(max(b, a + 1), n)
        spans.append((a, b))
        a = b
    return spans

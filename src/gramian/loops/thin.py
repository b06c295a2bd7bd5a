"""Products of matrices in memory with thin blocks, on all threads: what Krylov methods are made of.

    times(A, V)          A V              A dense, C or Fortran order
    project(Q, j, X)     Q[:, :j]' X      in float64
    subtract(Q, j, h, X) X -= Q[:, :j] h  in place

Small problems, and blocks too wide to be thin, go to BLAS.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.loops import products
from gramian.loops.threads import run
from gramian.maps import Array

_small = 200_000  # multiplications below which starting threads costs more than it saves
_slice = 4096  # rows whose products are summed in the precision of the block


def times(A: Array, V: Array) -> Array:
    """``A @ V`` for a dense A and a block V of a few dozen columns."""
    n, p = A.shape
    m = V.shape[1]
    plain = A.dtype == V.dtype and A.dtype in (np.float32, np.float64)
    if (
        not plain
        or m > 64
        or n * p * m < _small
        or not (A.flags.c_contiguous or A.flags.f_contiguous)
    ):
        return np.asarray(A @ V)
    block = _padded(V)
    if A.flags.c_contiguous:
        out = products.aligned(n, block.shape[1], A.dtype)
        pieces = _cut(n)
        run(lambda i: products.times(A, *pieces[i], block, out), len(pieces))
    else:
        out = project(A.T, n, block).astype(A.dtype)
    return np.ascontiguousarray(out[:, :m])


def project(Q: Array, used: int, X: Array) -> Array:
    """``Q[:, :used].T @ X`` in float64; Q is C-ordered."""
    n, m = len(Q), X.shape[1]
    if n * used * m < _small or m < products.lanes(X.dtype):  # narrow: one thread is as quick
        total = np.zeros((used, m))
        for a in range(0, n, _slice):
            total += Q[a : a + _slice, :used].T @ X[a : a + _slice]
        return total
    X = _padded(X)
    if used >= 8 * 512:  # wide: each piece its own columns
        out = products.aligned(used, X.shape[1], np.float64)
        columns = _cut(used)
        run(lambda i: products.project(Q, 0, n, *columns[i], X, out), len(columns))
        return np.asarray(out[:, :m])
    pieces = _cut(n, parts=8)
    totals = [products.aligned(used, X.shape[1], np.float64) for _ in pieces]
    run(lambda i: products.project(Q, *pieces[i], 0, used, X, totals[i]), len(pieces))
    for other in totals[1:]:
        totals[0] += other
    return np.asarray(totals[0][:, :m])


def subtract(Q: Array, used: int, h: Array, X: Array) -> None:
    """``X -= Q[:, :used] @ h`` in place; Q is C-ordered."""
    n, m = X.shape
    if n * used * m < _small or m % products.lanes(X.dtype) or not X.flags.c_contiguous:
        X -= Q[:, :used] @ h.astype(X.dtype)
        return
    taken = -h.astype(X.dtype)
    pieces = _cut(n)
    run(lambda i: products.add_times(Q, used, *pieces[i], taken, X), len(pieces))


def _padded(V: Array) -> Array:
    """V, C-ordered, its columns padded with zeros to whole vectors."""
    m, wide = V.shape[1], products.padded(V.shape[1], V.dtype)
    if m == wide and V.flags.c_contiguous and V.ctypes.data % 64 == 0:
        return V
    block: Any = products.aligned(len(V), wide, V.dtype)
    block[:, :m] = V
    return np.asarray(block)


def _cut(n: int, parts: int = 16) -> list[tuple[int, int]]:
    """A fixed partition of n rows in multiples of 8."""
    step = max(-(-n // parts) + 7 & ~7, 8)
    return [(a, min(a + step, n)) for a in range(0, n, step)]

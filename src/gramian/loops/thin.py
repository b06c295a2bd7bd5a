"""Products of matrices in memory with thin blocks, on all threads: what Krylov methods are made of.

    times(A, V)             A V               A dense, C or Fortran order
    project(Q, i, j, X)     Q[:, i:j]' X      in float64
    subtract(Q, i, j, h, X) X -= Q[:, i:j] h  in place
    gram(X)                 X' X              in float64
    turned(X, S)            X S               S small, sums in float64
    join(Q, i, j, X)        X less Q Q' X     in place; Q' X and X' X in float64

Small problems, and blocks too wide to be thin, go to BLAS. Blocks of four columns have loops of
their own, if Q's rows are whole pairs of vectors (``roomy``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.loops import fours, products
from gramian.loops.threads import run
from gramian.maps import Array

_small = 200_000  # multiplications below which starting threads costs more than it saves
_many = 1_000_000  # numbers of Q from which a block of four columns is worth several threads
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
        out = project(A.T, 0, n, block).astype(A.dtype)
    return np.ascontiguousarray(out[:, :m])


def roomy(n: int, columns: int, dtype: np.dtype[Any]) -> Array:
    """Zeros for a basis that grows: n rows, each of whole pairs of vectors."""
    pair = 2 * products.lanes(dtype)
    return np.asarray(products.aligned(n, -(-columns // pair) * pair, dtype))


def project(Q: Array, first: int, used: int, X: Array) -> Array:
    """``Q[:, first:used].T @ X`` in float64; Q is C-ordered."""
    n, m = X.shape
    if _by_fours(Q, X):
        begin, columns = _pairs(Q, first, used)
        pieces = _cut(n, parts=4 if n * columns >= _many else 1)
        totals = [products.aligned(4, columns, np.float64) for _ in pieces]
        run(lambda i: fours.project(Q, begin, *pieces[i], X, totals[i]), len(pieces))
        return np.asarray(sum(totals[1:], totals[0])[:, first - begin : used - begin].T)
    if n * used * m < _small or m < products.lanes(X.dtype):  # narrow: one thread is as quick
        total = np.zeros((used - first, m))
        for a in range(0, n, _slice):
            total += Q[a : a + _slice, first:used].T @ X[a : a + _slice]
        return total
    X = _padded(X)
    if used >= 8 * 512:  # wide: each piece its own columns
        out = products.aligned(used, X.shape[1], np.float64)
        ranges = _cut(used)
        run(lambda i: products.project(Q, 0, n, *ranges[i], X, out), len(ranges))
        return np.asarray(out[first:, :m])
    pieces = _cut(n, parts=8)
    totals = [products.aligned(used, X.shape[1], np.float64) for _ in pieces]
    run(lambda i: products.project(Q, *pieces[i], first, used, X, totals[i]), len(pieces))
    return np.asarray(sum(totals[1:], totals[0])[first:, :m])


def subtract(Q: Array, first: int, used: int, h: Array, X: Array) -> None:
    """``X -= Q[:, first:used] @ h`` in place; Q is C-ordered."""
    n, m = X.shape
    if _by_fours(Q, X):
        begin, columns = _pairs(Q, first, used)
        across = products.aligned(4, columns, X.dtype)
        across[:, first - begin : used - begin] = -h.T
        pieces = _cut(n, parts=4 if n * columns >= _many else 1)
        run(lambda i: fours.add_times(Q, begin, *pieces[i], across, X), len(pieces))
        return
    if n * used * m < _small or m % products.lanes(X.dtype) or not X.flags.c_contiguous:
        X -= Q[:, first:used] @ h.astype(X.dtype)
        return
    taken = -h.astype(X.dtype)
    pieces = _cut(n)
    run(lambda i: products.add_times(Q, first, used, *pieces[i], taken, X), len(pieces))


def join(Q: Array, first: int, used: int, X: Array) -> tuple[Array, Array, float]:
    """Make X orthogonal to the first ``used`` columns of Q, in place.

    What X has in columns ``first:used`` is taken away first, and then what rounding left in all.

    Returns
    -------
    array (used, m), array (m, m), float
        Q' X; X' X afterwards; how long X was, at most, when the second round began.
    """
    column, G = np.zeros((used, X.shape[1])), np.empty((4, 4))
    if _by_fours(Q, X) and len(X) * used < _many:
        room = 4 * Q.shape[1]
        inner, taken = np.empty(room), products.aligned(1, room, X.dtype)[0]
        fours.join(Q, first, used, X, inner, taken, column, G)
        across = -(-used // (2 * products.lanes(X.dtype))) * 2 * products.lanes(X.dtype)
        again = inner[: 4 * across].reshape(4, across)[:, :used].T
    else:
        for begin in (first, 0):
            again = project(Q, begin, used, X)
            subtract(Q, begin, used, again, X)
            column[begin:] += again
        G = gram(X)
    return column, G, float(np.sqrt((np.sum(again**2, axis=0) + np.diag(G)).max()))


def gram(X: Array) -> Array:
    """``X.T @ X`` in float64, a slice of rows at a time."""
    total = np.zeros((X.shape[1], X.shape[1]))
    if X.shape[1] == 4:
        fours.gram(X, total)
        return total
    for a in range(0, len(X), 16 * _slice):
        part = X[a : a + 16 * _slice].astype(np.float64)
        total += part.T @ part
    return total


def turned(X: Array, S: Array) -> Array:
    """``X @ S`` in the precision of X, for a small square S or some columns of it."""
    if X.shape[1] != 4:
        return np.asarray(X @ S.astype(X.dtype))
    out = np.empty((len(X), S.shape[1]), X.dtype)
    fours.turned(X, np.ascontiguousarray(S, np.float64), out)
    return out


def _by_fours(Q: Array, X: Array) -> bool:
    """Whether the loops for four columns can take them: they read whole pairs of vectors of Q."""
    whole = Q.shape[1] % (2 * products.lanes(X.dtype)) == 0 and Q.flags.c_contiguous
    return X.shape[1] == 4 and whole and Q.dtype == X.dtype and X.flags.c_contiguous


def _pairs(Q: Array, first: int, used: int) -> tuple[int, int]:
    """The pairs of vectors in which columns first:used of Q lie: where they begin, how many."""
    pair = 2 * products.lanes(Q.dtype)
    begin = first // pair * pair
    return begin, -(-(used - begin) // pair) * pair


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

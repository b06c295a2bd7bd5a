"""What workers run on one block. Sums of two blocks are in ``partials.py``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gramian.data import partials
from gramian.data.centering import Centering
from gramian.data.partials import NotFinite, as_rows, not_finite
from gramian.data.plink import BedRows
from gramian.loops.threads import limit_blas, limit_threads
from gramian.maps import Array


def on_block(
    block: Any,
    f: Callable[..., Any],
    center: Centering | None,
    dtype: Any,
    shape: tuple[int, int],
    number: int,
    threads: int,
    *arguments: Any,
) -> Any:
    """``f`` of one block of X, or of Y where a centering is given.

    A block is an array, a sparse matrix, or a part of a file that is read here.
    """
    with limit_threads(threads), limit_blas(threads):
        there = isinstance(block, BedRows)
        rows = block.arrived() if there else as_rows(block, dtype, shape, number)
        return f(rows if center is None else rows.then(center), *arguments)


def put_together(blocks: Sequence[Any], axis: int) -> Any:
    """All blocks as one, dense or sparse."""
    if hasattr(blocks[0], "tocsr"):
        import scipy.sparse

        return (scipy.sparse.hstack if axis else scipy.sparse.vstack)(blocks, format="csr")
    return np.concatenate(blocks, axis=axis)


def where_not_finite(rows: Any, begin: tuple[int, int]) -> NotFinite:
    """What is not finite in a block, or that nothing is."""
    return not_finite(rows, begin) or NotFinite()


def times(Y: Any, V: Array) -> Array:
    """Y V."""
    return np.asarray(Y @ np.ascontiguousarray(V, dtype=Y.dtype))


def adjoint(Y: Any, U: Array) -> Array:
    """Y' U in float64."""
    return np.asarray(Y.adjoint(np.ascontiguousarray(U, dtype=Y.dtype)))


def adjoint_in_float64(Y: Any, U: Array) -> Array:
    """Y' U, Y taken to float64 first."""
    return np.asarray(_dense(Y).T @ U)


def gram(Y: Any, V: Array) -> Array:
    """Y' (Y V)."""
    return np.asarray(Y.gram(np.ascontiguousarray(V, dtype=Y.dtype)))


def outer(Y: Any) -> Array:
    """Y Y'."""
    return np.asarray(Y.outer())


def triangle(Y: Any, turned: bool) -> Array:
    """R of Y = Q R, or of Y' = Q R if it is ``turned``."""
    return partials.triangle(_dense(Y).T if turned else _dense(Y))


def _dense(Y: Any) -> Array:
    return np.asarray(Y.read_rows(slice(0, Y.shape[0])), dtype=np.float64)


def mapped(
    block: Any,
    f: Callable[[Array, slice], Array],
    center: Centering,
    ends: Sequence[int],
    dtype: Any,
    block_info: Any = None,
) -> Array:
    """``f(block of Y, rows)``."""
    Y, where = centered_block(block, center, ends, dtype, block_info)
    return np.asarray(f(Y.read_rows(slice(0, Y.shape[0])), where))


def times_block(
    block: Any,
    center: Centering,
    ends: Sequence[int],
    dtype: Any,
    V: Any = None,
    block_info: Any = None,
) -> Array:
    """Block of Y times V."""
    return times(centered_block(block, center, ends, dtype, block_info)[0], V)


def centered_block(
    block: Any, c: Centering, ends: Sequence[int], dtype: Any, block_info: Any
) -> tuple[Any, slice]:
    """A block of Y, and which rows it has."""
    i = block_info[0]["chunk-location"][0] if block_info else 0
    where = slice(ends[i] - block.shape[0], ends[i])
    if c.weight.size > 1:
        c = Centering(c.high, c.low, c.factor, c.weight[where])
    return as_rows(block, dtype, tuple(block.shape), i).then(c), where

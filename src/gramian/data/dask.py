"""Rows in a Dask array or frame, visited where they are: on threads, processes or a cluster.

1. lay      blocks along the longer side, each with the whole of the shorter one; small chunks are
            joined, chunks across are put together
2. visit    every block gives one small part: p x p (or n x n, or p x m) numbers
3. add      parts are added in a binary tree by the number of the block: ((0 1)(2 3))((4 5) ...)
4. fetch    the root of the tree alone comes to this process

The tree depends on the blocks alone, and each part on its block and the number of threads that was
decided when the fit began; so the answer has the same bits whichever worker ends first, and after a
worker was lost and its blocks were visited again. Nothing is computed by ``dask.array.linalg``.

Functions that workers run are in ``partials.py``, which does not know Dask.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import copy
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from gramian import __version__
from gramian.data.centering import Centering
from gramian.data.moments import KnownCross, Moments, refuse
from gramian.data.npy import NpyRows
from gramian.data.partials import (
    NotFinite,
    Part,
    added,
    as_rows,
    beside,
    joined,
    not_finite,
    probed,
    triangle,
    triangle_of_both,
)
from gramian.data.rows import RowBlocked
from gramian.errors import ClusterError, GramianError, InputError, MemoryRefusedError, warn
from gramian.loops.threads import cores, limit_blas, limit_threads
from gramian.maps import Array
from gramian.memory import budget, in_words
from gramian.progress import tick
from gramian.show.text import count

_small = 8_000_000  # bytes: smaller chunks are joined
_large = 128_000_000  # bytes: no block is made larger than this by joining chunks
_tiny = 100_000  # bytes: chunks as small as this cost more to schedule than to read
_one_visit = 1024  # columns up to which cross products come with the moments
_patience = 45  # seconds without any worker before we give up


def is_lazy(X: Any) -> bool:
    """Whether ``X`` is a Dask array or frame; Dask is not imported to find out."""
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr") and hasattr(X, "dask")


def in_memory(value: Any) -> Any:
    """A Dask array computed, anything else as it is."""
    return fetched(value) if is_lazy(value) else value


class DaskRows(RowBlocked):
    """The rows of a two-dimensional Dask array: dense or sparse blocks, chunked in any way."""

    def __init__(self, X: Any, memory: Any = None, flip: bool | None = None) -> None:
        self.given = X = _with_known_chunks(X)
        n, p = X.shape
        dtype = np.float32 if X.dtype in (np.float16, np.float32) else np.float64
        super().__init__((n, p), dtype, p > n if flip is None else flip, memory)
        self.sparse = _is_sparse(X)
        self._given = tuple(np.cumsum(sizes) for sizes in X.chunks)
        self.lazy = X if 0 in X.shape else laid(X, self.flip)
        self._kept: dict[str, Any] = {}  # blocks and threads, shared with what ``then`` makes

    @property
    def resident(self) -> bool:
        """The blocks are where Dask has them."""
        return False

    @property
    def bounds(self) -> list[tuple[int, int]]:
        """Where the blocks begin and end along the longer side."""
        ends = np.cumsum(self.lazy.chunks[1 if self.flip else 0]).tolist()
        return list(zip([0, *ends[:-1]], ends, strict=True))

    def _lead(self, start: int, stop: int) -> Array:
        return self._fetched(self.lazy[:, start:stop].T if self.flip else self.lazy[start:stop])

    def _minor(self, start: int, stop: int) -> Array:
        return self._fetched(self.lazy[start:stop].T if self.flip else self.lazy[:, start:stop])

    def take(self, which: Array) -> Array:
        """The rows of Y with these numbers, in their order."""
        c, X = self.centering, self._fetched(self.lazy[np.asarray(which)])
        weight = c.weight if c.weight.size == 1 else c.weight[which, None]
        return np.asarray((X - c.high - c.low) * c.factor * weight)

    def _fetched(self, part: Any) -> Array:
        """Some of the numbers, here."""
        found = fetched(part)
        found = found.toarray() if hasattr(found, "toarray") else found
        return np.ascontiguousarray(found, dtype=self.dtype)

    # Moments ---------------------------------------------------------------------------------

    def moments(self, weights: Array) -> Moments:
        """Mean and variance of every column, and cross products if they are few: in one pass."""
        cross = not self.flip and not self.sparse and self.shape[1] <= _one_visit
        parts = [
            self._task(Part.of, i, self._weights(weights, i), cross, self._begin(i), plain=True)
            for i in range(len(self.bounds))
        ]
        found: Part = self._visited(parts, beside if self.flip else joined)
        if found.bad is not None:
            self._refuse(found.bad)
        return found.moments()

    def refuse_non_finite(self) -> None:
        """Find the first cell that is not finite, and say where: chunk, row and column."""
        parts = [
            self._task(_not_finite, i, self._begin(i), plain=True) for i in range(len(self.bounds))
        ]
        self._refuse(self._visited(parts, added))

    def _refuse(self, bad: NotFinite) -> None:
        if bad.where is not None:
            at = tuple(
                int(np.searchsorted(ends, here, side="right"))
                for ends, here in zip(self._given, bad.where, strict=True)
            )
            refuse(*bad, within=f" in block {at} of the Dask array")

    # Products of Y ---------------------------------------------------------------------------

    def _times(self, V: Array) -> Array:
        return np.asarray(self._thin(_times, V, along=self.flip), dtype=self.dtype)

    def _times_T(self, U: Array) -> Array:
        return self.adjoint(U).astype(self.dtype)

    def adjoint(self, U: Array) -> Array:
        """Y' U in float64."""
        return self._thin(_adjoint, U, along=not self.flip)

    def adjoint_in_float64(self, U: Array) -> Array:
        """Y' U with blocks taken to float64 before they are multiplied."""
        return self._thin(_adjoint_in_float64, U, along=not self.flip)

    def _thin(self, product: Callable[..., Array], V: Array, along: bool) -> Array:
        """A product with a block of vectors: ``along`` the blocks it is summed, else stacked."""
        if not along:
            shared = _shared(V)
            parts = [self._task(product, i, shared) for i in range(len(self.bounds))]
            return np.concatenate(self._visited(parts, None))
        parts = [self._task(product, i, V[a:b]) for i, (a, b) in enumerate(self.bounds)]
        return np.asarray(self._visited(parts, added))

    def gram(self, V: Array) -> Array:
        """Y' (Y V) in float64."""
        if self.flip:
            return self.adjoint(self._times(V))
        shared = _shared(V)
        parts = [self._task(_gram, i, shared) for i in range(len(self.bounds))]
        return np.asarray(self._visited(parts, added))

    def cross(self) -> Array:
        """Y' Y, p x p, in float64; with it comes a bound on its rounding."""
        if self.known_cross is None and not self.flip:
            parts = [self._task(probed, i) for i in range(len(self.bounds))]
            found: KnownCross = self._visited(parts, added)
            self.known_cross = found
        return super().cross()

    def outer(self) -> Array:
        """Y Y', n x n, in float64."""
        if not self.flip:
            return super().outer()
        parts = [self._task(_outer, i) for i in range(len(self.bounds))]
        return np.asarray(self._visited(parts, added))

    def triangle(self) -> Array:
        """R of Y = Q R, or of Y' = Q R where that is taller; in float64, nothing is squared."""
        parts = [self._task(_triangle, i, self.flip) for i in range(len(self.bounds))]
        return np.asarray(self._visited(parts, triangle_of_both))

    # Whatever has to be done with blocks of rows -----------------------------------------------

    def by_rows(self) -> DaskRows:
        """The same in blocks of whole rows, however many columns there are."""
        return DaskRows(self.given, flip=False) if self.flip else self

    def like(self, lazy: Any) -> DaskRows:
        """Other numbers of the same rows, in blocks of rows; passes are counted together."""
        other = DaskRows(lazy, flip=False)
        other._passes = self._passes
        return other

    def each(
        self, f: Callable[..., Any], *arguments: Any, apart: Sequence[Any] | None = None
    ) -> list[Any]:
        """``f(block of Y, first row, *arguments)`` of every block, in order.

        ``apart`` has one more argument for each block.
        """
        shared = [_shared(each) for each in arguments]
        more = [()] * len(self.bounds) if apart is None else [(each,) for each in apart]
        parts = [
            self._task(f, i, self.bounds[i][0], *shared, *more[i]) for i in range(len(self.bounds))
        ]
        found: list[Any] = self._visited(parts, None)
        return found

    # The whole of Y on every worker ------------------------------------------------------------

    def spread(self, f: Callable[..., Any], pieces: Sequence[Any], *arguments: Any) -> list[Any]:
        """``f(Y, piece, *arguments)`` of every piece, in order; workers have all of Y for it.

        One thread each, so that an answer does not depend on who gave it.
        """
        from dask import delayed

        self._refuse_smaller_than(3 * self.shape[0] * self.shape[1] * self.dtype.itemsize, "X")
        if "whole" not in self._kept:
            with _explained():
                whole = delayed(_put_together, pure=False)(self._blocks(), int(self.flip))
                self._kept["whole"] = whole.persist()
        how = _shared(self.centering), self.dtype, self.shape, 0, 1
        task = delayed(_on_block, pure=False)
        tasks = [task(self._kept["whole"], f, *how, piece, *arguments) for piece in pieces]
        with self._visit():
            found: list[Any] = fetched(tasks)
        return found

    def shared_out(self, items: Sequence[Any]) -> list[list[Any]]:
        """Items in groups, a few for each worker; at most eight in one."""
        client = _client()
        hands = sum(each["nthreads"] for each in _workers(client).values()) if client else cores()
        size = max(min(len(items) // (3 * max(hands, 1)), 8), 1)
        return [list(items[a : a + size]) for a in range(0, len(items), size)]

    @property
    def room(self) -> int:
        """Bytes that a task may use on any worker."""
        client = _client()
        each = [
            worker["memory_limit"] // worker["nthreads"]
            for worker in (_workers(client).values() if client else ())
            if worker.get("memory_limit")
        ]
        return max(int(0.6 * min(each)), 10**6) if each else budget(None) // cores()

    # Lazily ----------------------------------------------------------------------------------

    def map_rows(self, f: Callable[[Array, slice], Array], columns: int, dtype: Any) -> Any:
        """``f(block, rows)`` of every block of Y: a Dask array, computed when it is asked for."""
        X, center = by_rows(self.lazy), self.centering
        ends = np.cumsum(X.chunks[0]).tolist()
        return X.map_blocks(
            _mapped,
            f,
            center,
            ends,
            self.dtype,
            chunks=(X.chunks[0], (columns,)),
            dtype=dtype,
            meta=np.empty((0, columns), dtype),
        )

    def coordinates(self, V: Array) -> Any:
        """Y V as a Dask array, computed when it is asked for."""
        X = by_rows(self.lazy)
        return X.map_blocks(
            _times_block,
            self.centering,
            np.cumsum(X.chunks[0]).tolist(),
            self.dtype,
            V=_shared(V),
            chunks=(X.chunks[0], (V.shape[1],)),
            dtype=self.dtype,
            meta=np.empty((0, V.shape[1]), self.dtype),
        )

    # Tasks -----------------------------------------------------------------------------------

    def _task(self, f: Callable[..., Any], i: int, *arguments: Any, plain: bool = False) -> Any:
        """``f(block i of Y, *arguments)``, to be computed by a worker; ``plain`` is of X."""
        from dask import delayed

        a, b = self.bounds[i]
        n, p = self.shape
        shape = (n, b - a) if self.flip else (b - a, p)
        center = None if plain else self._center(i)
        return delayed(_on_block, pure=False)(
            self._blocks()[i], f, center, self.dtype, shape, i, self._threads(), *arguments
        )

    def _visited(self, parts: Sequence[Any], add: Callable[[Any, Any], Any] | None) -> Any:
        """One pass: all parts, or their sum in a tree by number."""
        self._refuse_small_workers()
        with self._visit():
            tick("passes over the data", self.passes, None)
            return fetched(list(parts) if add is None else tree(parts, add))

    def _blocks(self) -> list[Any]:
        if "blocks" not in self._kept:
            self._kept["blocks"] = self.lazy.to_delayed().ravel().tolist()
        found: list[Any] = self._kept["blocks"]
        return found

    def _threads(self) -> int:
        """BLAS and our own threads in a task: decided once, so that the bits stay the same."""
        if "threads" not in self._kept:
            self._kept["threads"] = threads_in_task()
        return int(self._kept["threads"])

    def _begin(self, i: int) -> tuple[int, int]:
        a = self.bounds[i][0]
        return (0, a) if self.flip else (a, 0)

    def _weights(self, weights: Array, i: int) -> Array:
        a, b = self.bounds[i]
        return weights if weights.size == 1 or self.flip else weights[a:b]

    def _center(self, i: int) -> Any:
        """The centering of one block; one for all, where all have the same."""
        c, (a, b) = self.centering, self.bounds[i]
        if self.flip:
            return Centering(c.high[a:b], c.low[a:b], c.factor[a:b], c.weight)
        if c.weight.size > 1:
            return Centering(c.high, c.low, c.factor, c.weight[a:b])
        if self._kept.get("center") is not c:
            self._kept["center"], self._kept["shared"] = c, _shared(c)
        return self._kept["shared"]

    def _refuse_small_workers(self) -> None:
        """A worker that cannot hold a block and its part would be killed again and again."""
        longest, side = max(b - a for a, b in self.bounds), min(self.shape)
        what = f"a block of {longest} x {side} {self.dtype}"
        self._refuse_smaller_than(2 * longest * side * self.dtype.itemsize, what)

    def _refuse_smaller_than(self, needed: int, what: str) -> None:
        """Raise if a worker may not use so many bytes."""
        client = _client()
        if client is None or self.sparse:
            return
        with _explained():
            workers = _workers(client)
        for address, worker in workers.items():
            limit = worker.get("memory_limit") or 0
            if limit and needed > limit:
                remedy = (
                    "give a sample of the rows, X[::10]"
                    if what == "X"
                    else "make the chunks smaller (X.rechunk)"
                )
                raise MemoryRefusedError(
                    f"{what} needs {in_words(needed)} on a worker, with room to work, and "
                    f"{address} may use {in_words(limit)}; {remedy}, or give the workers more "
                    "memory"
                )


def coordinates(Y: Any, V: Array) -> Any:
    """Y V: an array, or a Dask array that is not computed where the rows are one."""
    return Y.coordinates(V) if hasattr(Y, "coordinates") else np.asarray(Y @ V)


def row_by_row(model: Any, name: str, X: Any, columns: int | None, dtype: Any = None) -> Any:
    """``model.name(X)`` as a Dask array: a block of rows at a time, when it is asked for.

    Parameters
    ----------
    model : fitted method
    name : str
        Of a method of it that gives one row (or one number) for every row.
    X : Dask array or frame
    columns : int or None
        How many numbers a row; ``None`` for one without a dimension of its own.
    dtype : dtype, optional
        Of the answer; by default float32 for float32, else float64.
    """
    array, names = as_array(X)
    array = by_rows(array)
    if dtype is None:
        dtype = np.float32 if array.dtype in (np.float16, np.float32) else np.float64
    known = not np.isnan(array.chunks[0]).any()
    starts = np.cumsum([0, *array.chunks[0][:-1]]).tolist() if known else None
    shape = {"drop_axis": 1} if columns is None else {"chunks": (array.chunks[0], (columns,))}
    return array.map_blocks(
        _of_block,
        name,
        starts,
        names,
        np.empty((0,) if columns is None else (0, columns), dtype),
        model=_shared(_without_lazy(model)),
        dtype=dtype,
        meta=np.empty((0,) if columns is None else (0, columns), dtype),
        **shape,
    )


def _without_lazy(value: Any) -> Any:
    """A model as workers need it: without the coordinates of its data, which lie there."""
    if is_lazy(value):
        return np.empty((0, *value.shape[1:]), value.dtype)
    if is_dataclass(value) and not isinstance(value, type):
        inside = {each.name: getattr(value, each.name) for each in fields(value)}
        return replace(value, **{name: _without_lazy(each) for name, each in inside.items()})
    if hasattr(value, "get_params"):
        other = copy(value)
        vars(other).update({name: _without_lazy(each) for name, each in vars(value).items()})
        return other
    return value


# Blocks ------------------------------------------------------------------------------------------


def open_dask(X: Any, memory: Any = None) -> tuple[DaskRows, tuple[str, ...] | None]:
    """Rows of a Dask array or frame, and the names of its columns."""
    array, names = as_array(X)
    return DaskRows(array, memory), names


def as_array(X: Any) -> tuple[Any, tuple[str, ...] | None]:
    """A Dask frame as an array, with its names; an array as it is."""
    if not hasattr(X, "to_dask_array"):
        kind = np.dtype(X.dtype)
        if X.ndim != 2:
            raise InputError(
                f"Expected 2D array, got {X.ndim} dimensions {X.shape}; a Dask array of rows by "
                "columns is needed"
            )
        if kind.kind not in "fiub":
            raise InputError(
                f"the Dask array holds {kind}, not numbers; convert it: X.astype('float64')"
            )
        return X, None
    text = [str(name) for name, kind in X.dtypes.items() if not _is_number(kind)]
    if text:
        raise InputError(
            f"the Dask frame holds text in {text[0]!r}"
            f"{f' and {len(text) - 1} other columns' if len(text) > 1 else ''}; leave it out: "
            "frame.drop(columns=[...])"
        )
    names = tuple(map(str, X.columns))
    numbers = X.astype(np.result_type(*X.dtypes.map(np.dtype)))
    return numbers.to_dask_array(), names


def laid(X: Any, flip: bool) -> Any:
    """``X`` in blocks along one side, columns if ``flip``, with the whole of the other in each."""
    along, across = (1, 0) if flip else (0, 1)
    length, width = X.shape[along], X.shape[across]
    line = max(width * X.dtype.itemsize, 1)
    sizes = [size for size in X.chunks[along] if size]
    cut = len([size for size in X.chunks[across] if size]) > 1
    if cut:
        warn(
            f"the Dask array is chunked across its {'rows' if flip else 'columns'} "
            f"({count(len(X.chunks[across]), 'chunk')}): they are put together at every pass; "
            f"X.rechunk({{{across}: -1}}).persist() does it once"
        )
        most = max(_large // line, 1)
        sizes = [part for size in sizes for part in _equal(size, -(-size // most))]
    elif len(sizes) > 100 and length * line < _tiny * len(sizes):
        warn(
            f"the Dask array has {count(len(sizes), 'chunk')} of {in_words(line * sizes[0])}: "
            "they are joined; larger chunks are read faster"
        )
    least = min(max(_small, 8 * width * width), _large)
    joined_sizes = _joined_sizes(sizes, max(least // line, 1))
    if joined_sizes == list(X.chunks[along]) and not cut:
        return X
    return _rechunked(X, {along: tuple(joined_sizes), across: width})


def by_rows(X: Any) -> Any:
    """``X`` with whole rows in every block: lazily, and no block much larger than it was."""
    if len(X.chunks[1]) == 1:
        return X
    most = max(_large // max(X.shape[1] * X.dtype.itemsize, 1), 1)
    if np.isnan(X.chunks[0]).any():
        return _rechunked(X, {1: X.shape[1]})
    sizes = [part for size in X.chunks[0] for part in _equal(size, -(-max(size, 1) // most))]
    return _rechunked(X, {0: tuple(sizes), 1: X.shape[1]})


def _rechunked(X: Any, chunks: dict[int, Any]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # blocks may be larger than chunks: that is meant
        return X.rechunk(chunks, method="tasks")  # a lost worker's part can be made again


def _joined_sizes(sizes: Sequence[int], least: int) -> list[int]:
    """Neighbors joined until each has at least so many lines."""
    out: list[int] = []
    for size in sizes:
        if out and (out[-1] < least and size < least):
            out[-1] += size
        else:
            out.append(size)
    return out


def _equal(size: int, parts: int) -> list[int]:
    return [size * (i + 1) // parts - size * i // parts for i in range(max(parts, 1))]


def _with_known_chunks(X: Any) -> Any:
    if not np.isnan(sum(sum(sizes) for sizes in X.chunks)):
        return X
    warn(
        "the Dask array does not know the sizes of its chunks: it is computed once to count its "
        "rows; X.compute_chunk_sizes() or to_dask_array(lengths=True) does that beforehand"
    )
    with _explained():
        return X.compute_chunk_sizes()


def _is_sparse(X: Any) -> bool:
    return hasattr(X._meta, "nnz")


def _is_number(kind: Any) -> bool:
    try:
        return np.dtype(kind).kind in "fiub"
    except TypeError:
        return False


def in_blocks(X: Any) -> Any:
    """An array, or rows of a .npy file, as a Dask array; workers read the file themselves."""
    import dask.array as da

    if isinstance(X, np.ndarray):
        return da.from_array(X, chunks=(max(_small // max(X[:1].nbytes, 1), 1), -1))
    rows = getattr(X, "rows", None)
    if not isinstance(rows, NpyRows):
        raise InputError(
            "on a cluster a table that fits in memory or a .npy file can be used; convert the data "
            "to .npy, or leave --scheduler out"
        )
    along = 1 if rows.flip else 0
    line = rows.shape[1 - along] * rows.dtype.itemsize
    sizes = _equal(rows.shape[along], -(-rows.shape[along] * line // (4 * _small)))
    chunks = ((rows.shape[0],), tuple(sizes)) if rows.flip else (tuple(sizes), (rows.shape[1],))
    return da.map_blocks(
        _read_block,
        Path(rows.path).resolve(),
        chunks=chunks,
        dtype=rows.dtype,
        meta=np.empty((0, 0), rows.dtype),
    )


def _read_block(path: Path, block_info: Any = None) -> Array:
    (a, b), (c, d) = block_info[None]["array-location"]
    rows = NpyRows(path)
    return np.ascontiguousarray(rows._lead(c, d).T) if rows.flip else rows._lead(a, b)


# What workers run --------------------------------------------------------------------------------


def _on_block(
    block: Any,
    f: Callable[..., Any],
    center: Centering | None,
    dtype: Any,
    shape: tuple[int, int],
    number: int,
    threads: int,
    *arguments: Any,
) -> Any:
    """``f`` of one block of X, or of Y where a centering is given."""
    with limit_threads(threads), limit_blas(threads):
        rows = as_rows(block, dtype, shape, number)
        return f(rows if center is None else rows.then(center), *arguments)


def _of_block(
    block: Any,
    name: str,
    starts: Sequence[int] | None,
    names: tuple[str, ...] | None,
    empty: Array,
    model: Any = None,
    block_info: Any = None,
) -> Array:
    """``model.name(block)``; an error speaks of the rows of the whole array."""
    if not block.shape[0]:
        return empty
    X = block if names is None else _frame(block, names)
    with limit_threads(1), limit_blas(1):
        try:
            return np.asarray(getattr(model, name)(X), dtype=empty.dtype)
        except InputError:
            i = block_info[0]["chunk-location"][0] if block_info else 0
            bad = not_finite(as_rows(block, np.float64, tuple(block.shape), i), (0, 0))
            if bad is None or bad.where is None:
                raise
            row, column = bad.where
            where = row + (0 if starts is None else starts[i]), column
            refuse(*bad[:2], where, within=f" in block {i} of the Dask array")
            raise


def _frame(block: Any, names: tuple[str, ...]) -> Any:
    import polars

    return polars.DataFrame(np.asarray(block), schema=list(names), orient="row")


def _put_together(blocks: Sequence[Any], axis: int) -> Any:
    if hasattr(blocks[0], "tocsr"):
        import scipy.sparse

        return (scipy.sparse.hstack if axis else scipy.sparse.vstack)(blocks, format="csr")
    return np.concatenate(blocks, axis=axis)


def _not_finite(rows: Any, begin: tuple[int, int]) -> NotFinite:
    return not_finite(rows, begin) or NotFinite()


def _times(Y: Any, V: Array) -> Array:
    return np.asarray(Y @ np.ascontiguousarray(V, dtype=Y.dtype))


def _adjoint(Y: Any, U: Array) -> Array:
    return np.asarray(Y.adjoint(np.ascontiguousarray(U, dtype=Y.dtype)))


def _adjoint_in_float64(Y: Any, U: Array) -> Array:
    return np.asarray(_dense(Y).T @ U)


def _gram(Y: Any, V: Array) -> Array:
    return np.asarray(Y.gram(np.ascontiguousarray(V, dtype=Y.dtype)))


def _outer(Y: Any) -> Array:
    return np.asarray(Y.outer())


def _triangle(Y: Any, turned: bool) -> Array:
    return triangle(_dense(Y).T if turned else _dense(Y))


def _dense(Y: Any) -> Array:
    return np.asarray(Y.read_rows(slice(0, Y.shape[0])), dtype=np.float64)


def _mapped(
    block: Any,
    f: Callable[[Array, slice], Array],
    center: Centering,
    ends: Sequence[int],
    dtype: Any,
    block_info: Any = None,
) -> Array:
    Y, where = _centered_block(block, center, ends, dtype, block_info)
    return np.asarray(f(Y.read_rows(slice(0, Y.shape[0])), where))


def _times_block(
    block: Any,
    center: Centering,
    ends: Sequence[int],
    dtype: Any,
    V: Any = None,
    block_info: Any = None,
) -> Array:
    return _times(_centered_block(block, center, ends, dtype, block_info)[0], V)


def _centered_block(
    block: Any, c: Centering, ends: Sequence[int], dtype: Any, block_info: Any
) -> tuple[Any, slice]:
    """A block of Y, and which rows it has."""
    i = block_info[0]["chunk-location"][0] if block_info else 0
    where = slice(ends[i] - block.shape[0], ends[i])
    if c.weight.size > 1:
        c = Centering(c.high, c.low, c.factor, c.weight[where])
    return as_rows(block, dtype, tuple(block.shape), i).then(c), where


# The scheduler -----------------------------------------------------------------------------------


def tree(parts: Sequence[Any], add: Callable[[Any, Any], Any]) -> Any:
    """The sum of tasks, two neighbors at a time: the same tree for the same number of them."""
    from dask import delayed

    level, join = list(parts), delayed(add, pure=False)
    while len(level) > 1:
        pairs = [join(level[i], level[i + 1]) for i in range(0, len(level) - 1, 2)]
        level = [*pairs, *level[len(pairs) * 2 :]]
    return level[0]


def fetched(what: Any) -> Any:
    """Compute a task, a list of tasks or an array; by the cluster if there is one."""
    import dask

    client = _client()
    with _explained():
        if client is None:
            (found,) = dask.compute(what)
            return found
        (future,) = client.compute([dask.delayed(what) if isinstance(what, list) else what])
        try:
            _await(client, future)
            return future.result()
        finally:
            with suppress(Exception):
                future.release() if future.done() else future.cancel()


@contextmanager
def connected(address: str) -> Iterator[None]:
    """Use the workers of the scheduler at ``address`` inside the ``with`` block."""
    try:
        from distributed import Client
    except ImportError:
        raise ClusterError(
            "a cluster needs Dask, which is not installed: pip install 'gramian[dask]'"
        ) from None
    try:
        client = Client(address, timeout="10s")
    except (OSError, ValueError, TypeError) as error:
        raise ClusterError(
            f"no Dask scheduler answers at {address} ({error}); start one with dask scheduler, or "
            "mend the address, such as tcp://127.0.0.1:8786"
        ) from error
    try:
        yield
    finally:
        with suppress(Exception):
            client.close(timeout=2)


def threads_in_task() -> int:
    """Cores of a machine over the tasks it runs at a time; the fewest of all machines."""
    client = _client()
    if client is None:
        import dask

        one = dask.config.get("scheduler", None) in ("sync", "synchronous", "single-threaded")
        return max(cores() // (1 if one else dask.config.get("num_workers", None) or cores()), 1)
    with _explained():
        found = client.run(_question(), on_error="return")
        workers = _workers(client)
    busy: dict[str, int] = {}
    for worker in workers.values():
        busy[worker["host"]] = busy.get(worker["host"], 0) + worker["nthreads"]
    least = []
    for address, answer in found.items():
        if isinstance(answer, ImportError):
            raise _cannot_import(answer, address)
        if isinstance(answer, tuple) and answer[1] != __version__:
            raise ClusterError(
                f"worker {address} has gramian {answer[1]}, this process {__version__}; install "
                "the same version in both"
            )
        if isinstance(answer, tuple) and address in workers:
            least.append(answer[0] // busy[workers[address]["host"]])
    return max(min(least, default=1), 1)


def _question() -> Callable[[], tuple[int, str]]:
    """What a worker is asked first: its cores, and whether it has what our tasks need.

    An inner function travels whole, so it arrives where gramian cannot be imported too.
    """

    def about() -> tuple[int, str]:
        from importlib import import_module

        import_module("gramian.loops.products")  # needs numba
        return import_module("gramian.loops.threads").cores(), import_module("gramian").__version__

    return about


def _await(client: Any, future: Any) -> None:
    """Wait for an answer; not for ever, if nobody is left to give one."""
    from distributed import wait

    alone: float | None = None
    while True:
        try:
            wait(future, timeout=2)
            return
        except TimeoutError:
            pass
        if client.status not in ("running", "connecting"):
            raise ClusterError(_lost_scheduler)
        now = time.monotonic()
        alone = None if _workers(client) else alone or now
        if alone is not None and now - alone > _patience:
            raise ClusterError(
                f"the Dask cluster has had no worker for {_patience} seconds; start one with "
                "dask worker ADDRESS, and look at the logs for why the others ended"
            )


def _client() -> Any:
    """The distributed client of this process, if there is one and Dask would use it."""
    if "distributed" not in sys.modules:
        return None
    import dask
    from distributed import default_client

    if dask.config.get("scheduler", None) not in (None, "distributed", "dask.distributed"):
        return None
    try:
        return default_client()
    except ValueError:
        return None


def _workers(client: Any) -> dict[str, Any]:
    found: dict[str, Any] = client.scheduler_info(n_workers=-1)["workers"]
    return found


def _shared(value: Any) -> Any:
    """Something that many tasks need: sent once."""
    from dask import delayed

    return delayed(value, pure=False, traverse=False)


_lost_scheduler = (
    "the connection to the Dask scheduler was lost; nothing was written; see whether it still "
    "runs and can be reached, and start again"
)


@contextmanager
def _explained() -> Iterator[None]:
    """Whatever a cluster dies of, in one sentence."""
    try:
        yield
    except GramianError:
        raise
    except ImportError as error:
        raise _cannot_import(error) from error
    except MemoryError as error:
        raise MemoryRefusedError(
            f"the memory of a worker ran out ({error}); make the chunks smaller (X.rechunk), or "
            "give the workers more memory"
        ) from error
    except Exception as error:
        sentence = _sentence(error)
        if sentence is None:
            raise
        raise ClusterError(sentence) from error


def _sentence(error: Exception) -> str | None:
    """What a distributed error means, or ``None`` for errors of the user's own graph."""
    if "distributed" not in sys.modules:
        return None
    from asyncio import CancelledError as Cancelled

    from distributed import CancelledError, KilledWorker
    from distributed.comm import CommClosedError

    if isinstance(error, KilledWorker):
        return (
            f"{error.allowed_failures + 1} workers ended, one after another, while they computed "
            f"the same block (task {error.task}); most often a block does not fit into the memory "
            "of a worker: make the chunks smaller (X.rechunk), give the workers more memory, or "
            "look at their logs"
        )
    if isinstance(error, (CommClosedError, ConnectionError, TimeoutError)):
        return _lost_scheduler
    if isinstance(error, (CancelledError, Cancelled)):
        lost = "lost-data" in str(error) or "lost dependencies" in str(error)
        return _lost_data if lost else _lost_scheduler
    return None


_lost_data = (
    "data that lay on a worker were lost with it, and cannot be made again because they were "
    "scattered by hand; build the Dask array from files or functions instead of client.scatter"
)


def _cannot_import(error: ImportError, address: str = "") -> ClusterError:
    who = f"worker {address}" if address else "a Dask worker"
    missing = error.name or str(error)
    return ClusterError(
        f"{who} cannot import {missing}; install gramian and what it needs there too "
        "(pip install 'gramian[dask]'), in the same versions as here"
    )

"""Rows in a Dask array or frame, visited where they are: on threads, processes or a cluster.

1. lay      blocks along the longer side, each with the whole of the shorter one; small chunks are
            joined, chunks across are put together
2. visit    every block gives one small part: p x p (or n x n, or p x m) numbers
3. add      parts are added in a binary tree by the number of the block: ((0 1)(2 3))((4 5) ...)
4. fetch    the root of the tree alone comes to this process

The tree depends on the blocks alone, and each part on its block and the number of threads that was
decided when the fit began; so the answer has the same bits whichever worker ends first, and after a
worker was lost and its blocks were visited again. Nothing is computed by ``dask.array.linalg``.

Functions that workers run are in ``tasks.py`` and ``data/partials.py``, which do not know Dask.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gramian.data.centering import Centering
from gramian.data.dask import tasks
from gramian.data.dask.blocks import (
    as_array,
    as_computed,
    by_rows,
    is_sparse,
    laid,
    with_known_chunks,
)
from gramian.data.dask.cluster import (
    client_here,
    fetched,
    sent_once,
    threads_in_task,
    tree,
    workers_of,
)
from gramian.data.dask.failures import explained
from gramian.data.moments import KnownCross, Moments, refuse
from gramian.data.partials import NotFinite, Part, added, beside, joined, probed, triangle_of_both
from gramian.data.rows import RowBlocked
from gramian.errors import MemoryRefusedError
from gramian.loops.threads import cores
from gramian.maps import Array
from gramian.memory import budget, in_words
from gramian.progress import tick

_one_visit = 1024  # columns up to which cross products come with the moments


class DaskRows(RowBlocked):
    """The rows of a two-dimensional Dask array: dense or sparse blocks, chunked in any way."""

    two_bit = False
    workers: int | None = None  # to plan for; by default those that are there

    def __init__(self, X: Any, memory: Any = None, flip: bool | None = None) -> None:
        self.given = X = with_known_chunks(X)
        n, p = X.shape
        super().__init__((n, p), as_computed(X.dtype), p > n if flip is None else flip, memory)
        self.sparse = is_sparse(X)
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

    # What a plan asks ------------------------------------------------------------------------

    @property
    def hands(self) -> tuple[int, int]:
        """How many workers there are, and the tasks that each of them runs at a time."""
        if self.workers is not None:
            return self.workers, 1
        client = client_here()
        found = [each["nthreads"] for each in workers_of(client).values()] if client else []
        return (len(found), max(found)) if found else (1, cores())

    @property
    def stored_bytes(self) -> int:
        """Bytes that one pass reads."""
        return int(self.shape[0] * self.shape[1] * self.given.dtype.itemsize)

    @property
    def sums_at_once(self) -> bool:
        """Whether cross products come with the moments, in one pass."""
        return not self.flip and not self.sparse and self.shape[1] <= _one_visit

    # Moments ---------------------------------------------------------------------------------

    def moments(self, weights: Array) -> Moments:
        """Mean and variance of every column, and cross products if they are few: in one pass."""
        cross = self.sums_at_once
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
            self._task(tasks.where_not_finite, i, self._begin(i), plain=True)
            for i in range(len(self.bounds))
        ]
        self._refuse(self._visited(parts, added))

    def _refuse(self, bad: NotFinite) -> None:
        if bad.where is not None:
            refuse(*bad, within=self.place(*bad.where))

    def place(self, row: int, column: int) -> str:
        """In words, which of the given blocks a number is in."""
        at = tuple(
            int(np.searchsorted(ends, here, side="right"))
            for ends, here in zip(self._given, (row, column), strict=True)
        )
        return f" in block {at} of the Dask array"

    # Products of Y ---------------------------------------------------------------------------

    def _times(self, V: Array) -> Array:
        return np.asarray(self._thin(tasks.times, V, along=self.flip), dtype=self.dtype)

    def _times_T(self, U: Array) -> Array:
        return self.adjoint(U).astype(self.dtype)

    def adjoint(self, U: Array) -> Array:
        """Y' U in float64."""
        return self._thin(tasks.adjoint, U, along=not self.flip)

    def adjoint_in_float64(self, U: Array) -> Array:
        """Y' U with blocks taken to float64 before they are multiplied."""
        return self._thin(tasks.adjoint_in_float64, U, along=not self.flip)

    def _thin(self, product: Callable[..., Array], V: Array, along: bool) -> Array:
        """A product with a block of vectors: ``along`` the blocks it is summed, else stacked."""
        if not along:
            shared = sent_once(V)
            parts = [self._task(product, i, shared) for i in range(len(self.bounds))]
            return np.concatenate(self._visited(parts, None))
        parts = [self._task(product, i, V[a:b]) for i, (a, b) in enumerate(self.bounds)]
        return np.asarray(self._visited(parts, added))

    def gram(self, V: Array) -> Array:
        """Y' (Y V) in float64."""
        if self.flip:
            return self.adjoint(self._times(V))
        shared = sent_once(V)
        parts = [self._task(tasks.gram, i, shared) for i in range(len(self.bounds))]
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
        parts = [self._task(tasks.outer, i) for i in range(len(self.bounds))]
        return np.asarray(self._visited(parts, added))

    def triangle(self) -> Array:
        """R of Y = Q R, or of Y' = Q R where that is taller; in float64, nothing is squared."""
        parts = [self._task(tasks.triangle, i, self.flip) for i in range(len(self.bounds))]
        return np.asarray(self._visited(parts, triangle_of_both))

    # Whatever has to be done with blocks of rows -----------------------------------------------

    def by_rows(self) -> DaskRows:
        """The same in blocks of whole rows, however many columns there are."""
        return self._laid(False) if self.flip else self

    def by_columns(self) -> DaskRows:
        """The same in blocks of whole columns, however many rows there are."""
        return self if self.flip else self._laid(True)

    def _laid(self, flip: bool) -> DaskRows:
        other = DaskRows(self.given, flip=flip)
        other.workers = self.workers
        return other

    def over(
        self,
        f: Callable[..., Any],
        apart: dict[int, tuple[Any, ...]],
        *arguments: Any,
        add: Callable[[Any, Any], Any] | None = None,
    ) -> Any:
        """``f(block i of X, *apart[i], *arguments)`` of some blocks, in order, or their sum."""
        shared = [sent_once(each) for each in arguments]
        parts = [self._task(f, i, *apart[i], *shared, plain=True) for i in sorted(apart)]
        return self._visited(parts, add)

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
        shared = [sent_once(each) for each in arguments]
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
            with explained():
                whole = delayed(tasks.put_together, pure=False)(self._blocks(), int(self.flip))
                self._kept["whole"] = whole.persist()
        how = sent_once(self.centering), self.dtype, self.shape, 0, 1
        ask = delayed(tasks.on_block, pure=False)
        asked = [ask(self._kept["whole"], f, *how, piece, *arguments) for piece in pieces]
        with self._visit():
            found: list[Any] = fetched(asked)
        return found

    def shared_out(self, items: Sequence[Any]) -> list[list[Any]]:
        """Items in groups, a few for each worker; at most eight in one."""
        client = client_here()
        hands = sum(each["nthreads"] for each in workers_of(client).values()) if client else cores()
        size = max(min(len(items) // (3 * max(hands, 1)), 8), 1)
        return [list(items[a : a + size]) for a in range(0, len(items), size)]

    @property
    def room(self) -> int:
        """Bytes that a task may use on any worker."""
        client = client_here()
        each = [
            worker["memory_limit"] // worker["nthreads"]
            for worker in (workers_of(client).values() if client else ())
            if worker.get("memory_limit")
        ]
        return max(int(0.6 * min(each)), 10**6) if each else budget(None) // cores()

    # Lazily ----------------------------------------------------------------------------------

    def map_rows(self, f: Callable[[Array, slice], Array], columns: int, dtype: Any) -> Any:
        """``f(block, rows)`` of every block of Y: a Dask array, computed when it is asked for."""
        X, center = by_rows(self.lazy), self.centering
        ends = np.cumsum(X.chunks[0]).tolist()
        return X.map_blocks(
            tasks.mapped,
            f,
            center,
            ends,
            self.dtype,
            chunks=(X.chunks[0], (columns,)),
            dtype=dtype,
            meta=np.empty((0, columns), dtype),
        )

    def mapped(self, f: Callable[[Array, slice], Array], columns: int, dtype: Any) -> DaskRows:
        """The same as rows again, whose passes are counted with ours."""
        return self.like(self.map_rows(f, columns, dtype))

    def turned(self, mean: Array, V: Array) -> Any:
        """(Y - mean) V as a Dask array, in float64."""
        return (self.lazy - mean) @ V

    def coordinates(self, V: Array) -> Any:
        """Y V as a Dask array, computed when it is asked for."""
        X = by_rows(self.lazy)
        return X.map_blocks(
            tasks.times_block,
            self.centering,
            np.cumsum(X.chunks[0]).tolist(),
            self.dtype,
            V=sent_once(V),
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
        return delayed(tasks.on_block, pure=False)(
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
            self._kept["center"], self._kept["shared"] = c, sent_once(c)
        return self._kept["shared"]

    def _refuse_small_workers(self) -> None:
        """A worker that cannot hold a block and its part would be killed again and again."""
        longest, side = max(b - a for a, b in self.bounds), min(self.shape)
        what = f"a block of {longest} x {side} {self.dtype}"
        self._refuse_smaller_than(2 * longest * side * self.dtype.itemsize, what)

    def _refuse_smaller_than(self, needed: int, what: str) -> None:
        """Raise if a worker may not use so many bytes."""
        client = client_here()
        if client is None or self.sparse:
            return
        for address, worker in workers_of(client).items():
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


def open_dask(X: Any, memory: Any = None) -> tuple[DaskRows, tuple[str, ...] | None]:
    """Rows of a Dask array or frame, and the names of its columns."""
    array, names = as_array(X)
    return DaskRows(array, memory), names

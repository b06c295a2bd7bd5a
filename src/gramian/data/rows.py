"""Rows of numbers as a map, in memory or in a file, visited in blocks.

``RowBlocked`` is X. ``X.then(Centering(...))`` is Y = (X - mean) * factor, centered as each block
is read: before multiplying, so nothing cancels, and without a copy of X. The products of Y that
methods need are written once here, over two ways of visiting: *lead* blocks (contiguous in storage)
and *minor* blocks (across it). Storage by columns (Fortran order) is the same matrix lying on its
side: ``flip`` swaps the two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from itertools import pairwise
from math import ceil, prod
from typing import Any

import numpy as np

from gramian.checkpoint import is_kept, steps
from gramian.data import rooms
from gramian.data.centering import Centering
from gramian.data.moments import KnownCross, Moments, ProbedOuter, moments_of
from gramian.loops.threads import (
    ahead,
    limit_threads,
    ordered_sum,
    pause,
    run,
    thread_count,
)
from gramian.maps import Array, ImplicitMap
from gramian.memory import THIN, WIDE, block_bytes, budget, running_totals

_depth = 1_024  # rows that BLAS sums in the data's own precision, before a float64 total takes over
_segment = 128  # blocks of a pass between two looks at whether a checkpoint is due
_long = 20_000  # rows longer than this leave the cache before they can be used twice


class RowBlocked(ImplicitMap):
    """n x p numbers that are visited in blocks; a storage says how a block is read.

    Parameters
    ----------
    shape, dtype
        Of X; ``dtype`` is the one computed in, float32 or float64.
    flip : bool
        Whether the storage runs along columns.
    memory : int, str or None
        Budget for the blocks under way (see ``gramian.memory.budget``).
    """

    flip = False

    def __init__(self, shape: tuple[int, int], dtype: Any, flip: bool, memory: Any = None) -> None:
        self.shape, self.dtype, self.flip = shape, np.dtype(dtype), flip
        self.centering = Centering.none(shape[1], self.dtype)
        self.known_cross: KnownCross | None = None
        self._allowed = budget(memory)
        self.block_bytes = block_bytes(self._allowed)
        self._passes = [0.0]  # shared with the centered map that ``then`` makes

    # What a storage must say -----------------------------------------------------------------

    def _lead(self, start: int, stop: int) -> Array:
        """Lines start:stop of the storage, C-ordered, in ``dtype``; a view where one will do."""
        raise TypeError(f"{type(self).__name__} does not say how its blocks are read")

    def _minor(self, start: int, stop: int) -> Array:
        """Positions start:stop of every line, C-ordered, in ``dtype``."""
        raise TypeError(f"{type(self).__name__} does not say how its blocks are read")

    def _sample(self, most: int) -> Array:
        """Up to so many rows of X, spread over all of them."""
        step = -(-self.shape[0] // most)
        return np.concatenate([self._lead(a, a + 1) for a in range(0, self.shape[0], step)])

    @contextmanager
    def _visit(self) -> Iterator[None]:
        """Surround one pass over the data."""
        self._passes[0] += 1
        yield

    @property
    def passes(self) -> int:
        """Visits to the data so far, parts of one counted together."""
        return ceil(self._passes[0] - 1e-6)

    @property
    def resident(self) -> bool:
        """Whether the numbers are in memory already."""
        return True

    @property
    def threads(self) -> int:
        """How many threads read blocks of their own: those take an eighth of the budget at most."""
        return thread_count() if self.resident else min(thread_count(), self._most_threads())

    def visiting(self, least: int = 2) -> tuple[int, int]:
        """Bytes for visits to a file: on the threads there are now, and on any number of them.

        Two blocks for each thread, one of them read ahead (``least`` in any case), what their
        readers take, and what the open file keeps; the first with ``library_bytes``.
        """
        if self.resident:
            return 0, 0

        def at_once(threads: int) -> int:
            blocks = max(2 * threads, least) * self._longest()
            return self.held_bytes + blocks + self._reader_bytes(threads)

        now = at_once(min(self.threads, 8)) + self.library_bytes
        return now, at_once(min(self._most_threads(), 8))

    @property
    def stored_bytes(self) -> int:
        """Bytes that one pass reads."""
        return int(prod(self.shape)) * self._stored_type().itemsize

    def _stored_type(self) -> np.dtype[Any]:
        return self.dtype

    @property
    def opening_bytes(self) -> int:
        """What it took to open a file."""
        return 0

    @property
    def held_bytes(self) -> int:
        """What an open file keeps besides: names, places of blocks."""
        return 0

    @property
    def library_bytes(self) -> int:
        """What a package that reads keeps for itself: predicted, but no reason to refuse."""
        return 0

    def _reader_bytes(self, threads: int) -> int:
        """What it takes so many threads to read blocks, beyond the blocks."""
        return 0

    def _most_threads(self) -> int:
        return max(1, self._allowed // 8 // (2 * self._longest()))

    def _longest(self) -> int:
        """Bytes of the longest block."""
        lines, width = self._lying()
        return min(self._lead_blocks()[0][1], lines) * width * self.dtype.itemsize

    @property
    def whole(self) -> Array | None:
        """The storage itself, where it lies in memory as the loops want it."""
        return None

    def sent(self) -> RowBlocked | None:
        """The same rows, as another machine that sees the files can read them; or nothing."""
        return None

    def arrived(self) -> RowBlocked:
        """What was ``sent``, on the other machine: the files there must be as long."""
        return self

    def spans(self, size: int) -> list[tuple[int, int]]:
        """The lines of the storage in parts of about so many bytes, for other machines to read."""
        lines, width = self._lying()
        parts = -(-lines * width * self.dtype.itemsize // size)
        return list(pairwise(lines * i // parts for i in range(parts + 1)))

    # The design's three verbs ----------------------------------------------------------------

    def then(self, centering: Centering, cross: KnownCross | None = None) -> RowBlocked:
        """The same rows, centered and scaled as each block is read (``cross`` is Y'Y if known)."""
        other = copy(self)
        other.centering, other.known_cross = centering, cross
        return other

    def map_rows(self, f: Callable[[Array, slice], Array], columns: int, dtype: Any) -> Array:
        """``f(block, rows)`` of every block of Y, stacked in order."""
        out = np.empty((self.shape[0], columns), dtype)
        state: dict[str, Array] = {}
        for rows, block in self.blocks("mapped", state):
            _take_up(out, state)
            out[rows] = f(block, rows)
            state["out"] = out[: rows.stop]
        return _take_up(out, state)

    def each(
        self, f: Callable[..., Any], *arguments: Any, apart: Sequence[Any] | None = None
    ) -> list[Any]:
        """``f(block of Y, as rows, first row, *arguments)`` of every block, in order.

        ``apart`` has one more argument for each block.
        """
        from gramian.data.array_rows import ArrayRows

        found = []
        for i, (rows, block) in enumerate(self.blocks()):
            more = () if apart is None else (apart[i],)
            found.append(f(ArrayRows(block, self._allowed), rows.start, *arguments, *more))
        return found

    def beside(self, columns: int) -> RowBlocked:
        """The same rows in smaller blocks: so many float64 numbers a row are held beside them."""
        other = copy(self)
        row = self.shape[1] * self.dtype.itemsize
        other.block_bytes = max(self.block_bytes * row // (row + 8 * columns), row)
        return other

    def mapped(self, f: Callable[[Array, slice], Array], columns: int, dtype: Any) -> RowBlocked:
        """``f(block, rows)`` of every block of Y as rows again, computed when they are visited."""
        from gramian.data.mapped import MappedRows

        return MappedRows(self, f, columns, dtype)

    def turned(self, mean: Array, V: Array) -> Array:
        """(Y - mean) V in float64."""
        return self.map_rows(lambda block, _: (block - mean) @ V, V.shape[1], np.float64)

    def sum_rows(self, f: Callable[[Array, slice], Array]) -> Array:
        """The sum of ``f(block, rows)`` over the blocks of Y, in a fixed order."""
        state = {"total": np.asarray(0.0)}
        for rows, block in self.blocks("added", state):
            state["total"] = np.asarray(state["total"] + f(block, rows))
        return state["total"]

    def blocks(
        self, kind: str = "visited", state: dict[str, Array] | None = None
    ) -> Iterator[tuple[slice, Array]]:
        """One pass over the blocks of Y in order, each with its place.

        ``state`` is what is taken over from block to block, under which a checkpoint keeps it;
        without one, a run that is taken up again visits all blocks.
        """
        spans = [(rows.start, rows.stop) for rows in self.row_blocks()]

        def coming(first: int) -> Iterator[tuple[int, int, Array]]:
            return self._each(lambda a, b: self.read_rows(slice(a, b)), spans[first:])

        with self._visit():
            each = coming(0) if state is None else steps(kind, len(spans), state, coming)
            for a, b, block in each:
                yield slice(a, b), block

    def row_blocks(self) -> list[slice]:
        """The fixed partition of the rows."""
        n, p = self.shape
        step = max(self.block_bytes // (max(p, 1) * self.dtype.itemsize), 1)
        return [slice(a, min(a + step, n)) for a in range(0, n, step)]

    def read_rows(self, rows: slice) -> Array:
        """One block of Y, C-ordered."""
        a, b = rows.start, rows.stop
        block = self._minor(a, b) if self.flip else self._lead(a, b)
        Y = self._centered(block, **({"minor": (a, b)} if self.flip else {"lead": (a, b)}))
        return np.ascontiguousarray(Y.T) if self.flip else Y

    def take(self, which: Array) -> Array:
        """The rows of Y with these numbers, in their order."""
        return np.concatenate([self.read_rows(slice(int(i), int(i) + 1)) for i in which])

    # Moments ---------------------------------------------------------------------------------

    def moments(self, weights: Array) -> Moments:
        """Mean, variance and range of every column, in one pass (rarely two)."""
        return moments_of(self, weights)

    # Products of Y ---------------------------------------------------------------------------

    def _times(self, V: Array) -> Array:
        return self._lead_adjoint(V).astype(self.dtype) if self.flip else self._lead_times(V)

    def _times_T(self, U: Array) -> Array:
        return self._lead_times(U) if self.flip else self._lead_adjoint(U).astype(self.dtype)

    def adjoint(self, U: Array) -> Array:
        """Y' U in float64: as it was summed, before it is rounded to the precision of the data."""
        return self._lead_times(U).astype(np.float64) if self.flip else self._lead_adjoint(U)

    def gram(self, V: Array) -> Array:
        """Y' (Y V) in float64, reading Y once."""
        if self.flip or self.shape[1] > _long:
            return np.asarray(self._times_T(self._times(V)), dtype=np.float64)
        from gramian.loops import products

        one = products.lanes(self.dtype)
        if V.shape[1] > one:  # more than a vector of columns would not leave room for the rows
            parts = [self.gram(V[:, c : c + one]) for c in range(0, V.shape[1], one)]
            return np.concatenate(parts, axis=1)
        V, m = self._thin_block(V)
        depth = products.depth_for(self.shape[1], self.dtype)

        def step(block: Array, a: int, b: int, total: Array) -> None:
            Y = products.aligned(depth, products.padded(self.shape[1], self.dtype), self.dtype)
            Z = products.aligned(depth, V.shape[1], self.dtype)
            products.gram(block, *self._arguments(lead=(a, b)), V, Y, Z, total)

        return self._fold(step, (self.shape[1], V.shape[1]))[:, :m]

    def cross(self) -> Array:
        """Y' Y, p x p, in float64."""
        if self.known_cross is not None:
            return self.known_cross.matrix
        return self._lead_outer() if self.flip else self._lead_cross()

    def outer(self) -> Array:
        """Y Y', n x n, in float64."""
        return self._lead_cross() if self.flip else self._lead_outer()

    def probed_outer(self) -> ProbedOuter | None:
        """Y Y' with what certifies it, where both come in one pass."""
        whole, n = self.whole, self.shape[0]
        if self.flip or whole is None or n > THIN:
            return None
        return self._tiled_outer(whole)

    # The same products, of the storage as it lies: S (lines x width) ---------------------------

    def _lead_times(self, V: Array) -> Array:
        """S V, a block of lines at a time."""
        from gramian.loops import products

        lines, width = self._lying()
        V, m = self._thin_block(V)
        direct = m == V.shape[1]  # no columns were added
        out = products.aligned(lines, m, self.dtype) if direct else np.empty((lines, m), self.dtype)
        panel = min(width, products.PANEL)
        depth = products.depth_for(panel, self.dtype)
        segments = _segments(self._lead_blocks())
        state: dict[str, Array] = {}

        def piece(group: list[tuple[int, int]]) -> None:
            Y = products.aligned(depth, products.padded(panel, self.dtype), self.dtype)
            for a, b, block in self._each(self._lead, group):
                pause()
                step = b - a if direct else _depth
                for i in range(a, b, step):
                    j = min(i + step, b)
                    Z = out[i:j] if direct else products.aligned(j - i, V.shape[1], self.dtype)
                    where = self._arguments(lead=(i, j))
                    products.centered_times(block[i - a : j - a], *where, V, Y, Z)
                    if not direct:
                        out[i:j] = Z[:, :m]
                del block

        with self._visit(), limit_threads(self.threads):
            for i in steps("times", len(segments), state, lines=lines, columns=m):
                _take_up(out, state)
                groups = _cut(segments[i], len(segments[i]) if self.resident else 8)
                run(lambda g, groups=groups: piece(groups[g]), len(groups))  # type: ignore[misc]
                state["out"] = out[: segments[i][-1][1]]
        return _take_up(out, state)

    def _lead_adjoint(self, U: Array) -> Array:
        """S' U: summed over blocks of lines or, where they are long, by ranges of columns."""
        from gramian.loops import products

        width = self._lying()[1]
        U, m = self._thin_block(U)
        panel = min(width, products.PANEL)
        depth, wide = products.depth_for(panel, self.dtype), products.padded(panel, self.dtype)

        def step(block: Array, a: int, b: int, total: Array) -> None:
            Y = products.aligned(depth, wide, self.dtype)
            products.adjoint(block, 0, width, *self._arguments(lead=(a, b)), U[a:b], Y, total)

        if width < 16 * panel or self.whole is None:
            return self._fold(step, (width, U.shape[1]))[:, :m]
        return self._wide_adjoint(self.whole, U[:, :m], panel)

    def _wide_adjoint(self, S: Array, U: Array, panel: int) -> Array:
        """S' U for long lines: pieces own ranges of columns; the result lies column by column."""
        from gramian.loops import products

        width, m = S.shape[1], U.shape[1]
        fours = np.zeros((len(U), -(-m // 4) * 4), self.dtype)
        fours[:, :m] = U
        out = products.aligned(fours.shape[1], width + 2 * products.lanes(self.dtype), np.float64)
        depth, wide = products.depth_for(panel, self.dtype), products.odd_vectors(panel, self.dtype)

        def piece(i: int) -> None:
            Y = products.aligned(depth, wide, self.dtype)
            begin, end = i * panel, min((i + 1) * panel, width)
            products.turned_adjoint(S, begin, end, *self._arguments(), fours, Y, out)

        with self._visit():
            run(piece, -(-width // panel))
        return np.asarray(out[:m, :width].T)

    def _lead_cross(self) -> Array:
        """S' S, summed over blocks of lines."""
        width = self._lying()[1]
        if width > WIDE:
            return self._blas_sum(self._lead, self._lying(), "lead")
        return self._folded_cross(self._arguments, width, np.zeros((0, width), self.dtype))[0]

    def _folded_cross(
        self, arguments: Callable[..., Any], width: int, probes: Array
    ) -> tuple[Array, Array]:
        """S' S, and with ``probes`` g its products with the weights and with every S g."""
        side = width + (1 + len(probes)) * bool(len(probes))
        from gramian.loops import products

        wide = products.odd_vectors(side, self.dtype)
        given, probes = probes, products.aligned(len(probes), wide, self.dtype)
        probes[:, :width] = given
        depth = products.shallow_depth(wide, self.dtype)
        if width > THIN:  # totals leave the cache
            depth = 2 * products.DEPTH

        def step(block: Array, a: int, b: int, total: Array, part: int = 0, parts: int = 1) -> None:
            Y = products.aligned(depth, wide, self.dtype)
            products.cross(block, *arguments(lead=(a, b)), probes, Y, part, parts, total)

        size = products.packed_size(wide, self.dtype)
        room = None
        if self.resident:
            both = self._shared_fold(step, size)
            total, room = both[1], None if is_kept() else both.reshape(-1)
        else:
            total = self._fold(step, (size,))
        C, beside = products.unpacked(total, width, wide, self.dtype, room)
        return C, beside[:, : side - width]

    def _lead_outer(self) -> Array:
        """S S', summed over blocks across the lines."""
        lines, width = self._lying()
        if lines > THIN or self.whole is None:
            return self._blas_sum(self._minor, (width, lines), "minor")
        return self._tiled_outer(self.whole).matrix

    def _tiled_outer(self, S: Array) -> ProbedOuter:
        """S S' by our own tiles, with two probes of it and two of S riding along."""
        from gramian.loops import products

        lines, width = S.shape
        rng = np.random.default_rng(0)
        wide = products.odd_vectors(lines + 4, self.dtype)
        probes = products.aligned(2, wide, self.dtype)
        probes[:, :lines] = rng.standard_normal((2, lines))
        W = rng.standard_normal((width, 2), dtype=np.float32).astype(self.dtype)
        depth = max(min(400_000 // (wide * self.dtype.itemsize), products.DEPTH), 8)
        groups = max(1, min(8, width // depth))
        bounds = [width * g // groups for g in range(groups + 1)]

        def piece(g: int, total: Array) -> None:
            Y = products.aligned(8, depth, self.dtype)
            P = products.aligned(depth, wide, self.dtype)
            for a in range(bounds[g], bounds[g + 1], 4096):
                pause()
                b = min(a + 4096, bounds[g + 1])
                products.outer(S, a, b, *self._arguments(), probes, W, Y, P, total)

        size = products.packed_size(wide, self.dtype)
        with self._visit():
            total = ordered_sum(piece, groups, lambda: products.aligned(1, size, np.float64)[0])
        G, probed = products.unpacked(total, lines, wide, self.dtype)
        error = 5 * float(np.linalg.norm(G @ probes[:, :lines].T - probed[:, :2]) / np.sqrt(2))
        return ProbedOuter(G, error, W, probed[:, 2:4].copy())

    def _blas_sum(
        self, read: Callable[[int, int], Array], lying: tuple[int, int], side: str
    ) -> Array:
        """The wide products: blocks centered by us, multiplied by BLAS on all its threads."""
        length, width = lying
        total = np.zeros((width, width))
        state = {"total": total}
        # A kilo of products is summed in the data's own precision, the rest in float64.
        most = max(self.block_bytes // (width * self.dtype.itemsize), 8)
        step = min(_depth if side == "lead" else 2 * _depth, most)
        panel = max(512, -(-width // 8))  # columns of the result at a time, down to the diagonal
        spans = [(a, min(a + step, length)) for a in range(0, length, step)]

        def coming(first: int) -> Iterator[tuple[int, int, Array]]:
            return self._each(read, spans[first:])

        with self._visit():
            for a, b, block in steps("squared", len(spans), state, coming, step=step, side=side):
                total = state["total"]
                Y = self._centered(block, **{side: (a, b)})
                Y = Y if side == "lead" else Y.T
                for left in range(0, width, panel):
                    right = min(left + panel, width)
                    total[:right, left:right] += Y[:, :right].T @ Y[:, left:right]
        return _mirrored(state["total"])

    # Plumbing --------------------------------------------------------------------------------

    def _lying(self) -> tuple[int, int]:
        n, p = self.shape
        return (p, n) if self.flip else (n, p)

    def _thin_block(self, V: Array) -> tuple[Array, int]:
        """V in our dtype, its columns padded to whole vectors, and how many were asked for."""
        from gramian.loops.products import aligned, padded

        m = V.shape[1]
        wide = padded(m, self.dtype)
        whole = V.dtype == self.dtype and V.flags.c_contiguous and m == wide
        if whole and V.ctypes.data % 64 == 0:
            return V, m
        block = aligned(V.shape[0], wide, self.dtype)
        block[:, :m] = V
        return block, m

    def _arguments(
        self, lead: tuple[int, int] | None = None, minor: tuple[int, int] | None = None
    ) -> tuple[Any, ...]:
        """The centering of one block, as the loops take it."""
        c = self.centering
        of_variables, of_rows = (lead, minor) if self.flip else (minor, lead)
        v = slice(*of_variables) if of_variables else slice(None)
        r = slice(*of_rows) if of_rows and c.weight.size > 1 else slice(None)
        return c.high[v], c.low[v], c.factor[v], c.weight[r], self.flip

    def _centered(self, block: Array, **where: tuple[int, int]) -> Array:
        from gramian.loops.products import center

        Y = rooms.block(block.shape, block.dtype)
        center(block, *self._arguments(**where), Y)
        return Y

    def _lead_blocks(self) -> list[tuple[int, int]]:
        """A fixed partition of the lines: blocks of bounded size, eight or more where it pays."""
        lines, width = self._lying()
        line = max(width * self.dtype.itemsize, 1)
        step = max(min(self.block_bytes // line, max(-(-lines // 8), 300_000 // line)), 1)
        return [(a, min(a + step, lines)) for a in range(0, lines, step)]

    def _fold(
        self, step: Callable[[Array, int, int, Array], None], shape: tuple[int, ...]
    ) -> Array:
        """Sum over lead blocks: up to eight running totals, added up in a fixed order."""
        from gramian.loops.products import aligned

        segments = _segments(self._lead_blocks())
        state: dict[str, Array] = {}
        room = running_totals(self.block_bytes, 8 * prod(shape))

        def piece(group: list[tuple[int, int]], total: Array) -> None:
            for a, b, block in self._each(self._lead, group):
                pause()
                step(block, a, b, total)
                del block  # before the next one is read

        with self._visit(), limit_threads(min(self.threads, room)):
            for i in steps("summed", len(segments), state, shape=shape, step=segments[0][0][1]):
                groups = _cut(segments[i], room)
                state["total"] = ordered_sum(
                    lambda g, total, groups=groups: piece(groups[g], total),  # type: ignore[misc]
                    len(groups),
                    lambda: aligned(shape[0], prod(shape[1:]), np.float64).reshape(shape),
                    state.get("total"),
                )
        return np.asarray(state["total"])

    def _shared_fold(self, step: Callable[..., None], size: int) -> Array:
        """The same with two totals, whatever the threads: several share one, each a part of it.

        Each half of the blocks has a total; ``step(block, a, b, total, part, parts)`` adds to it.
        The sum is in the second one.
        """
        from gramian.loops.products import aligned

        totals = aligned(2, size, np.float64)
        segments = _segments(self._lead_blocks())
        state: dict[str, Array] = {}

        def piece(job: int) -> None:
            half, part = divmod(job, parts)
            for a, b, block in self._each(self._lead, halves[half]):
                pause()
                step(block, a, b, totals[1 - half], part, parts)

        with self._visit():
            for i in steps("summed", len(segments), state, size=size, step=segments[0][0][1]):
                halves = _cut(segments[i], 2)
                parts = -(-thread_count() // len(halves))
                totals[1] = state.get("total", totals[1])
                run(piece, len(halves) * parts)
                totals[1] += totals[0]
                totals[0] = 0
                state["total"] = totals[1]
        totals[1] = state["total"]
        return totals

    def _each(
        self, read: Callable[[int, int], Array], spans: list[tuple[int, int]]
    ) -> Iterator[tuple[int, int, Array]]:
        """The blocks of some spans; from a file, the next is read while one is worked on."""
        if self.resident:
            return ((a, b, read(a, b)) for a, b in spans)
        return ahead(read, spans)


def _cut(blocks: list[tuple[int, int]], most: int) -> list[list[tuple[int, int]]]:
    """The blocks in at most so many groups, in order and about equal."""
    groups = min(most, len(blocks))
    bounds = [len(blocks) * g // groups for g in range(groups + 1)]
    return [blocks[a:b] for a, b in pairwise(bounds)]


def _segments(blocks: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    """Blocks after which a pass can be taken up again."""
    return [blocks[i : i + _segment] for i in range(0, len(blocks), _segment)]


def _take_up(out: Array, state: dict[str, Array]) -> Array:
    """``out`` with the lines that an earlier run had done."""
    done = state.get("out")
    if done is not None and not np.may_share_memory(done, out):
        out[: len(done)] = done
        state["out"] = out[: len(done)]
    return out


def _mirrored(C: Array) -> Array:
    """C with its upper triangle copied to the lower one, in place."""
    for i in range(len(C) - 1):
        C[i + 1 :, i] = C[i, i + 1 :]
    return C

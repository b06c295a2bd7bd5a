"""Spectra of data whose variables have nothing to do with each other.

1. columns    Y' as p rows of n numbers, centered once: a permuted column keeps mean and variance
2. replicate  every column on its own: permuted, signs flipped, or drawn anew from a normal law
3. products   C = sum over columns or rows, whichever side is smaller; a block of columns at a time
4. keep       T, the tridiagonal form of C: 2 q numbers from which any eigenvalue is soon had

A replicate is drawn in float32. Where float32 could change a comparison with the observed spectrum
(an eigenvalue within 1e-4 of it, or 100 times smaller than the largest) the same draw is done again
in float64, so that counts are those of float64. Each replicate has its own key and one BLAS thread,
so they are the same on any number of threads.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from gramian.checkpoint import is_kept, steps
from gramian.errors import InputError
from gramian.inference.columns import Columns, FarColumns
from gramian.loops.threads import one_blas_thread, run
from gramian.maps import Array
from gramian.spectral.tridiagonal import largest_values, tridiagonal

KINDS = ("permutation", "signflip", "normal")

_together = 8  # replicates after which a run can be taken up again
_PARTS = "diagonal", "beside"  # of a tridiagonal form

Progress = Callable[[int, int], None]


class Null:
    """Replicates of one kind, drawn as they are needed.

    ``values(m)`` is (replicates so far) x m; ``draw(count)`` makes that many replicates.
    """

    def __init__(self, columns: Columns, kind: str, unit: bool, seed: int) -> None:
        self.columns, self.kind, self.unit, self.seed = columns, kind, unit, seed
        self.forms: list[tuple[Array, Array]] = []
        self.found: list[Array] = []
        self.exact: list[bool] = []
        self._spare: list[Array] = []

    def draw(self, count: int, progress: Progress | None = None, total: int = 0) -> None:
        """Draw until there are ``count`` replicates."""
        first = len(self.forms)
        self.forms += [(np.zeros(0), np.zeros(0))] * (count - first)
        self.found += [np.empty(0)] * (count - first)
        self.exact += [False] * (count - first)
        done = itertools.count(first + 1)

        def told() -> None:
            if progress is not None:
                progress(next(done), total)

        def piece(r: int) -> None:
            self.forms[r] = self._form(r, np.float32)
            told()

        if isinstance(self.columns, FarColumns):
            self._draw_far(list(range(first, count)), np.float32, told)
        else:
            self._each("replicates", range(first, count), piece)

    def values(self, m: int, observed: Array) -> Array:
        """The top ``m`` of every replicate, safe to compare with ``observed``."""
        every = range(len(self.forms))

        def piece(r: int) -> None:
            self._deepen(r, m)
            if not self.exact[r] and not _safe(self.found[r], observed[:m]):
                self.forms[r], self.exact[r] = self._form(r, np.float64), True
                self.found[r] = np.empty(0)
                self._deepen(r, m)

        if isinstance(self.columns, FarColumns):
            with one_blas_thread():
                run(lambda r: self._deepen(r, m), len(every))
            unsafe = [r for r in every if not (self.exact[r] or _safe(self.found[r], observed[:m]))]
            self._draw_far(unsafe, np.float64)
            for r in unsafe:
                self.exact[r], self.found[r] = True, np.empty(0)
        else:
            self._each("replicates compared", every, piece)
        for r in every:
            self._deepen(r, m)  # of those that a checkpoint knew, or that came from afar
        return np.array([found[:m] for found in self.found])

    def _draw_far(
        self, which: list[int], dtype: Any, told: Callable[[], None] = lambda: None
    ) -> None:
        """Replicates with these numbers, by the workers that have the rows."""
        Y = self.columns.Y
        few = Y.shared_out(which) if which else []
        how = self.kind, self.unit, self.seed, dtype, Y.room
        for group, forms in zip(few, Y.spread(_drawn, few, *how) if few else [], strict=True):
            for r, form in zip(group, forms, strict=True):
                self.forms[r] = form
                told()

    def _each(self, kind: str, which: range, piece: Callable[[int], None]) -> None:
        """Call ``piece`` for some replicates on all threads; a few at a time if they are kept."""
        kept = is_kept()
        together = _together if kept else max(len(which), 1)
        parts = [which[i : i + together] for i in range(0, len(which), together)]
        state: dict[str, Array] = {}
        with one_blas_thread():
            for i in steps(kind, len(parts), state, of=self.kind, seed=self.seed):
                self._take_up(which, state)
                run(lambda j, part=parts[i]: piece(part[j]), len(parts[i]))  # type: ignore[misc]
                done = range(which.start, parts[i].stop if kept else which.start)
                state["exact"] = np.array([self.exact[r] for r in done])
                for place, name in enumerate(_PARTS):
                    state[name] = np.array([self.forms[r][place] for r in done])
        self._take_up(which, state)

    def _take_up(self, which: range, state: dict[str, Array]) -> None:
        """The replicates that an earlier run drew."""
        for r, exact, *form in zip(
            which, *(state.get(name, ()) for name in ("exact", *_PARTS)), strict=False
        ):
            if not self.forms[r][0].size or bool(exact) != self.exact[r]:
                self.forms[r], self.exact[r] = (form[0], form[1]), bool(exact)
                self.found[r] = np.empty(0)

    def _deepen(self, r: int, m: int) -> None:
        """Find the eigenvalues of replicate r up to the m-th that are not known yet."""
        known = self.found[r]
        if len(known) < m:
            tolerance = 4.5e-16 if self.exact[r] else 1e-9
            more = largest_values(*self.forms[r], m, len(known), tolerance)
            self.found[r] = np.concatenate([known, more])

    def _form(self, r: int, dtype: Any) -> tuple[Array, Array]:
        """Replicate r as the tridiagonal form of its products."""
        from gramian.loops.permute import flip_signs, shuffle

        key = np.random.SeedSequence(self.seed, spawn_key=(r,)).generate_state(2, np.uint64)
        room = self._buffer(dtype)

        def read(a: int, b: int) -> Array:
            if self.kind == "normal":
                return self._normal(key, a, b).astype(dtype)
            loop = shuffle if self.kind == "permutation" else flip_signs
            loop(self.columns.read(a, b, dtype), key, a, room[: b - a])
            return room[: b - a]

        C = self.columns.products(read, dtype)
        self._spare.append(room)
        return tridiagonal(C)

    def _buffer(self, dtype: Any) -> Array:
        """Room for a block; taken from a replicate that is done, for memory is dear to touch."""
        try:
            room = self._spare.pop()
        except IndexError:
            room = np.empty(0, dtype)
        if room.dtype != dtype or not room.size:
            room = np.empty((self.columns.step, self.columns.shape[0]), dtype)
        return room

    def _normal(self, key: Array, a: int, b: int) -> Array:
        """Columns a:b of normal numbers, centered; with the variances of the data, or variance 1.

        With ``unit`` each is scaled to unit variance, as the data were.
        """
        n = self.columns.shape[0]
        out = np.empty((b - a, n))
        for j in range(a, b):
            rng = np.random.default_rng([int(key[0]), int(key[1]), j])
            rng.standard_normal(out=out[j - a])
        out -= out.mean(axis=1, keepdims=True)
        if self.unit:
            out /= np.sqrt(np.einsum("ij,ij->i", out, out) / n)[:, None]
        return np.asarray(out * self.columns.sizes[a:b, None] * (1 if self.unit else _unbiased(n)))


def _drawn(
    Y: Any, which: list[int], kind: str, unit: bool, seed: int, dtype: Any, memory: int
) -> list[tuple[Array, Array]]:
    """Replicates with these numbers: what a worker draws from its rows."""
    null = Null(Columns(Y, memory), kind, unit, seed)
    return [null._form(r, dtype) for r in which]


def _unbiased(n: int) -> float:
    """Sizes divide by n; numbers that vary as the data must vary by the divisor n - 1."""
    return float(np.sqrt(n / max(n - 1, 1)))


def _safe(values: Array, observed: Array) -> bool:
    largest = values[0]
    near = np.abs(values - observed) < 1e-4 * largest
    return bool(values[-1] > 0.01 * largest and not near.any())


def seed_of(random_state: Any) -> int:
    """A whole number from an int, a Generator, a RandomState, or ``None`` (which means 0)."""
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**62))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    if random_state is None:
        return 0
    if isinstance(random_state, bool) or not isinstance(random_state, (int, np.integer)):
        raise InputError(f"random_state={random_state!r}: give a whole number from 0, or None")
    if random_state < 0:
        raise InputError(f"random_state={random_state!r}: give a whole number from 0, or None")
    return int(random_state)

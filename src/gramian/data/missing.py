"""Rows with holes: NaN means missing, and rows with the same holes stand together.

    X = observed values, 0 where there are none        seen = which there are, one line a pattern

Work that depends on the pattern alone (a k x k inverse) is then done once for all of its rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.data.moments import refuse
from gramian.data.rows import RowBlocked
from gramian.errors import InputError, MemoryRefusedError
from gramian.maps import Array, unit_for
from gramian.memory import budget, in_words
from gramian.show.text import listed, visible

_rows_at_most = 512  # of one pattern in a group: larger patterns are several groups


@dataclass(frozen=True)
class Gaps:
    """Rows sorted by their pattern of holes.

    Attributes
    ----------
    X : array of shape (n, p)
        Zero where a value is missing.
    order : array of shape (n,)
        ``X[i]`` is row ``order[i]`` of what was given.
    seen : array of bool, of shape (groups, p)
    ends : array of shape (groups + 1,)
        Group g has the rows ``ends[g]:ends[g + 1]``.
    """

    X: Array
    order: Array
    seen: Array
    ends: Array

    @staticmethod
    def of(X: Array) -> Gaps:
        """Sort the rows of X, which holds NaN."""
        seen = ~np.isnan(X)
        bits = np.ascontiguousarray(np.packbits(seen, axis=1))
        keys = bits.view(np.dtype((np.void, bits.shape[1])))[:, 0]
        _, first, pattern = np.unique(keys, return_index=True, return_inverse=True)
        order = np.argsort(pattern, kind="stable")
        sizes = np.bincount(pattern)
        groups = -(-sizes // _rows_at_most)
        of_group = np.repeat(np.arange(len(sizes)), groups)
        begin = np.repeat(np.cumsum(sizes) - sizes, groups)
        within = np.arange(len(of_group)) - np.repeat(np.cumsum(groups) - groups, groups)
        ends = np.append(begin + within * _rows_at_most, len(X))
        return Gaps(np.nan_to_num(X[order], nan=0.0), order, seen[first][of_group], ends)

    @property
    def patterns(self) -> int:
        """How many different sets of holes there are."""
        return len(np.unique(self.seen, axis=0))

    @property
    def missing(self) -> int:
        """How many values there are not."""
        return int(self.X.size - self.counts().sum())

    def moments(self) -> tuple[Array, Array, float]:
        """Mean of what is observed of each variable; standard deviation times ``unit``; ``unit``.

        ``unit`` is the power of two that keeps squares in range, 1 for ordinary data.
        """
        counts = self.counts()
        unit = unit_for(float(np.abs(self.X).max(initial=0.0)), self.X.dtype)
        mean = (self.X * unit).sum(axis=0) / counts / unit
        Y = self.centered(mean, np.full(len(mean), unit))
        mean = mean + Y.X.sum(axis=0) / counts / unit  # what rounding left of the first
        Y = self.centered(mean, np.full(len(mean), unit))
        return mean, np.sqrt(np.einsum("ij,ij->j", Y.X, Y.X) / counts), unit

    def refuse_empty(self, *, columns: bool, names: Sequence[str] | None = None) -> None:
        """Raise where a row, or a variable if ``columns``, has no value at all, naming it."""
        if columns:
            _refuse_empty("column", np.flatnonzero(self.counts() == 0), names)
        empty = np.repeat(~self.seen.any(axis=1), np.diff(self.ends))
        _refuse_empty("row", np.sort(self.order[empty]), None)

    def filled(self, values: Array) -> Array:
        """In the order that was given, with a value for each variable where there is none."""
        there = np.repeat(self.seen, np.diff(self.ends), axis=0)
        return self.restored(np.where(there, self.X, values))

    def counts(self) -> Array:
        """How many rows have each variable."""
        return np.asarray(np.diff(self.ends) @ self.seen.astype(np.int64))

    def centered(self, mean: Array, factor: Array) -> Gaps:
        """(x - mean) * factor of what is observed, zero elsewhere."""
        Y = (self.X - mean) * factor
        Y *= np.repeat(self.seen, np.diff(self.ends), axis=0)
        return Gaps(Y, self.order, self.seen, self.ends)

    def blocks(self, width: int) -> list[tuple[int, int]]:
        """A fixed partition of the groups: at most 512 rows, or groups of ``width`` numbers."""
        most = max(2_000_000 // max(width, 1), 1)
        found, a = [], 0
        for b in range(1, len(self.ends)):
            last = b == len(self.ends) - 1
            if last or self.ends[b + 1] - self.ends[a] > _rows_at_most or b + 1 - a > most:
                found.append((a, b))
                a = b
        return found

    def restored(self, values: Array) -> Array:
        """Lines in our order, back in the order that was given."""
        out = np.empty_like(values)
        out[self.order] = values
        return out


def any_missing(rows: Any) -> bool:
    """Whether a value is NaN; one pass. Infinite values are refused."""
    stored = getattr(rows, "X", None)  # sparse: only what is stored can be wrong
    state = {"found": np.asarray(False)}
    kept = ("missing", state) if getattr(type(rows), "blocks", None) is RowBlocked.blocks else ()
    blocks = rows.blocks(*kept) if stored is None else [(None, stored.data)]
    for _, block in blocks:
        with np.errstate(over="ignore", invalid="ignore"):
            finite = np.isfinite(np.sum(block)) or np.isfinite(block).all()
        state["found"] = state["found"] | (not finite)
        if not finite and np.isinf(block).any():
            _refuse_infinite(rows)
    return bool(state["found"])


def _refuse_infinite(rows: Any) -> None:
    infinite, where = 0, None
    for place, block in rows.blocks():
        bad = np.argwhere(np.isinf(block))
        infinite += len(bad)
        if len(bad) and where is None:
            where = int(bad[0, 0]) + place.start, int(bad[0, 1])
    refuse(0, infinite, where)


def read_with_gaps(rows: Any, memory: Any) -> Array:
    """All rows in float64, NaN where a value is missing."""
    n, p = rows.shape
    needed, allowed = bytes_with_gaps(n, p), budget(memory)
    if needed > allowed:
        raise MemoryRefusedError(
            f"{n} x {p} values with holes need {in_words(needed)}, the budget is "
            f"{in_words(allowed)}; take fewer rows, or raise memory="
        )
    X = np.empty((n, p))
    for place, block in rows.blocks():
        X[place] = block
    if np.isinf(X).any():
        _refuse_infinite(rows)
    return X


def bytes_with_gaps(n: int, p: int) -> int:
    """What rows with holes take: a copy, one sorted, one centered, and what is missing."""
    return 4 * 8 * n * p


def _refuse_empty(what: str, which: Array, names: Sequence[str] | None) -> None:
    if len(which):
        called = [str(i) if names is None else repr(visible(names[i], 40)) for i in which]
        many = len(which) > 1
        counted = " (counted from 0)" if names is None else ""
        raise InputError(
            f"{what}{'s' * many} {listed(called)}{counted} {'have' if many else 'has'} no values: "
            f"all are missing (NaN); drop {'them' if many else 'it'}"
        )

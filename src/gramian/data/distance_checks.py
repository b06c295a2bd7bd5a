"""Is a square of numbers a matrix of distances? Looked at tile by tile, in memory or in a file.

1. survey   tiles A = D[I, J] and B = D[J, I]' side by side: missing, infinite, negative, |A - B|
2. verdict  the first thing that is wrong, in one sentence: what, where, what to do
3. mend     what rounding did (up to 1e-8 of the largest distance): mean of D and D', diagonal 0
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gramian.data.columns import shown
from gramian.errors import InputError
from gramian.maps import Array

Labels = tuple[str, ...] | None
Read = Callable[[slice, slice], Array]
_tile = 256


def rounding(dtype: Any) -> float:
    """What counts as rounding, relative to the largest distance: 1e-8, more for float32."""
    return max(1e-8, 8 * float(np.finfo(dtype).eps))


@dataclass
class Found:
    """How many cells are of a kind, and the first of them (row by row)."""

    count: int = 0
    cell: tuple[int, int] = (-1, -1)

    def add(self, mask: Array, row: int, column: int) -> None:
        """The marked cells of a block that begins at ``row`` and ``column``."""
        if not mask.any():
            return
        r, c = np.unravel_index(int(np.argmax(mask)), mask.shape)
        cell = (row + int(r), column + int(c))
        self.cell = min(self.cell, cell) if self.count else cell
        self.count += int(np.count_nonzero(mask))


@dataclass
class Survey:
    """What a square matrix was seen to hold."""

    dtype: np.dtype[Any]
    diagonal: Array
    reach: Array  # the size of the largest entry of each row
    largest: float = 0.0  # size of the largest finite entry
    lowest: float = 0.0
    missing: Found = field(default_factory=Found)
    one_sided: Found = field(default_factory=Found)  # missing on one side of the diagonal only
    infinite: Found = field(default_factory=Found)
    negative: Found = field(default_factory=Found)
    difference: float = 0.0  # the largest |D_ij - D_ji|, and where: row, column, both entries
    pair: tuple[int, int, float, float] = (0, 0, 0.0, 0.0)
    upper: bool = False  # whether anything but 0 stands above the diagonal, and below it
    lower: bool = False

    @classmethod
    def of(cls, read: Read, n: int, dtype: Any, height: int = _tile) -> Survey:
        """Look at every cell once; ``height`` rows and columns are read at a time."""
        found = cls(np.dtype(dtype), np.zeros(n), np.zeros(n))
        with np.errstate(invalid="ignore", over="ignore"):
            for i, j, A, B in _pairs(read, n, height):
                found._add(i, j, A, B)
        return found

    @property
    def clean(self) -> bool:
        """Exactly symmetric, zero on the diagonal, nothing negative: nothing to mend."""
        return self.difference == 0 and self.lowest >= 0 and not self.diagonal.any()

    def _add(self, i: int, j: int, A: Array, B: Array) -> None:
        if i == j:
            self.diagonal[i : i + len(A)] = np.diagonal(A)
        self.upper = self.upper or bool((np.triu(A, 1) if i == j else A).any())
        self.lower = self.lower or bool((np.triu(B, 1) if i == j else B).any())
        lows, highs = (A.min(axis=1), B.min(axis=0)), (A.max(axis=1), B.max(axis=0))
        for at, lowest, highest in zip((i, j), lows, highs, strict=True):
            reach = self.reach[at : at + len(lowest)]
            np.maximum(reach, np.maximum(highest, -lowest), out=reach)
        low = float(np.minimum(lows[0].min(), lows[1].min()))  # NaN, if there is one
        high = float(np.maximum(highs[0].max(), highs[1].max()))
        finite = bool(np.isfinite(low) and np.isfinite(high))
        if low < 0 or not finite:
            self._add_odd(i, j, A)
            if i != j:
                self._add_odd(j, i, B.T)
            self.one_sided.add(np.isnan(A) & ~np.isnan(B), i, j)
            self.one_sided.add((np.isnan(B) & ~np.isnan(A)).T, j, i)
        if finite:
            self.lowest, self.largest = min(self.lowest, low), max(self.largest, high, -low)
        gaps = np.abs(A - B)
        worst = float(gaps.max()) if finite else _largest(gaps)
        if worst > self.difference:
            r, c = (int(x) for x in np.argwhere(gaps == worst)[0])
            self.difference = worst
            self.pair = (i + r, j + c, float(A[r, c]), float(B[r, c]))

    def _add_odd(self, row: int, column: int, block: Array) -> None:
        self.missing.add(np.isnan(block), row, column)
        self.infinite.add(np.isinf(block), row, column)
        self.negative.add(block < 0, row, column)
        known = block[np.isfinite(block)]
        if known.size:
            self.lowest = min(self.lowest, float(known.min()))
            self.largest = max(self.largest, float(np.abs(known).max()))


def _pairs(read: Read, n: int, height: int) -> Iterator[tuple[int, int, Array, Array]]:
    """(i, j, D[I, J], D[J, I]') for the tiles on and above the diagonal."""
    for a in range(0, n, height):
        b = min(a + height, n)
        across, down = read(slice(a, b), slice(a, n)), read(slice(a, n), slice(a, b))
        for i in range(0, b - a, _tile):
            I = slice(i, i + _tile)
            for j in range(i, n - a, _tile):
                J = slice(j, j + _tile)
                yield a + i, a + j, across[I, J], down[J, I].T


def _largest(gaps: Array) -> float:
    known = gaps[np.isfinite(gaps)]
    return float(known.max()) if known.size else 0.0


def judge(found: Survey, what: str, labels: Labels, *, missing: bool = False) -> None:
    """Raise for the first thing that makes it no matrix of distances.

    Parameters
    ----------
    found : Survey
    what : str
        What messages call it: ``"the matrix"``, or its file.
    labels : tuple of str or None
    missing : bool
        Whether missing distances may pass, if they miss on both sides of the diagonal.
    """
    slack = rounding(found.dtype) * found.largest

    def at(cell: tuple[int, int]) -> str:
        return place(cell, labels)

    if found.missing.count and not missing:
        count = _count(found.missing.count, "missing value")
        raise InputError(
            f"{what} has {count} (NaN), the first {at(found.missing.cell)}; fill them in, or leave "
            "out the points that have them"
        )
    if found.one_sided.count:
        raise InputError(
            f"{what} has a missing value (NaN) {at(found.one_sided.cell)} but a number on the "
            "other side of the diagonal; let both be missing or both be known"
        )
    if found.infinite.count:
        raise InputError(
            f"{what} has {_count(found.infinite.count, 'infinite entry', 'infinite entries')} "
            f"(inf), the first {at(found.infinite.cell)}; points that cannot be reached from each "
            "other have no place in one map: leave them out, or use a large finite distance"
        )
    if np.all(np.abs(found.diagonal - 1.0) <= slack) and found.largest <= 1.0 + slack:
        raise InputError(
            f"{what} has ones on its diagonal and nothing above 1: this looks like similarities; "
            "use 1 - S, or sqrt(2 - 2 S) for correlations"
        )
    alike = (found.diagonal > slack) & (found.diagonal >= found.reach - slack)
    if 2 * np.count_nonzero(alike) >= len(alike):
        raise InputError(
            f"{what} has the largest entry of {_rows(alike)} on the diagonal: this looks like "
            "similarities k; use sqrt(k_ii + k_jj - 2 k_ij), or KernelPCA with the kernel "
            "'precomputed' (set the diagonal to 0 only if these are distances)"
        )
    if found.lowest < -slack:
        count = _count(found.negative.count, "negative distance")
        raise InputError(
            f"{what} has {count}, the first {at(found.negative.cell)}; a distance is never "
            "negative: if these are similarities or scores, turn them into distances first"
        )
    if found.upper != found.lower:
        known, empty = ("above", "below") if found.upper else ("below", "above")
        raise InputError(
            f"{what} has distances {known} its diagonal and only zeros {empty} it; "
            "fill the other half: D + D.T"
        )
    if found.difference > slack:
        i, j, there, back = found.pair
        raise InputError(
            f"{what} is not symmetric: the largest difference, {found.difference:.6g}, is between "
            f"{there:.6g} {at((i, j))} and {back:.6g} on the other side of the diagonal; "
            "mend it, or pass (D + D.T) / 2 if the mean is what you mean"
        )
    wrong = np.flatnonzero(~(np.abs(found.diagonal) <= slack))
    if len(wrong):
        i = int(wrong[0])
        raise InputError(
            f"{what} has {_count(len(wrong), 'entry', 'entries')} other than 0 on the diagonal, "
            f"the first {found.diagonal[i]:.6g} {at((i, i))}; a point has distance 0 to itself: "
            "set the diagonal to 0 if these are distances"
        )
    if found.largest == 0:
        raise InputError(
            f"{what} has only distances 0: all points are equal, and there is nothing to show"
        )


def place(cell: tuple[int, int], labels: Labels) -> str:
    """Where a cell is, by number and by label."""
    i, j = cell
    named = f", between {shown(labels[i])} and {shown(labels[j])}" if labels else ""
    return f"at row {i}, column {j} (counted from 0{named})"


def _rows(which: Array) -> str:
    return "every row" if which.all() else f"{int(which.sum())} of {len(which)} rows"


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def mend(D: Array) -> None:
    """Symmetric to the last bit, zero diagonal, nothing below 0: in place, on an array of ours."""
    for _, _, A, B in _pairs(lambda rows, columns: D[rows, columns], len(D), _tile):
        A[...] = np.maximum(A / 2 + B / 2, 0)
        B[...] = A
    np.fill_diagonal(D, 0)

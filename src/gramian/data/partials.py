"""What one block of rows contributes to the moments and products of all, and how two such join.

    W = a.W + b.W,    d = b.mean - a.mean
    mean = a.mean + d b.W / W
    Y'Y  = a.Y'Y + b.Y'Y + d d' a.W b.W / W        (each about its own mean)

Only positive terms are added, so nothing cancels, whatever the means are; and one visit to the data
gives means, variances and cross products together.

T. F. Chan, G. H. Golub & R. J. LeVeque, Algorithms for computing the sample variance, Am. Stat. 37
(1983).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from gramian.data.array_rows import ArrayRows
from gramian.data.centering import Centering
from gramian.data.moments import KnownCross, Moments
from gramian.data.sparse import SparseRows
from gramian.errors import InputError
from gramian.maps import Array, unit_for


class NotFinite(NamedTuple):
    """How many values are missing or infinite, and where the first is."""

    missing: int = 0
    infinite: int = 0
    where: tuple[int, int] | None = None

    def __add__(self, other: Any) -> NotFinite:
        found = [each for each in (self.where, other.where) if each is not None]
        return NotFinite(
            self.missing + other.missing,
            self.infinite + other.infinite,
            min(found, default=None),
        )


@dataclass(frozen=True)
class Part:
    """Moments of some of the rows, all of their columns; see ``Moments``.

    ``squares`` are sums of squared deviations; ``cross`` their products, if asked for.
    """

    high: Array
    low: Array
    squares: Array
    weight: float
    unit: float
    cross: KnownCross | None = None
    bad: NotFinite | None = None

    @staticmethod
    def of(
        rows: ArrayRows | SparseRows, weights: Array, cross: bool, begin: tuple[int, int]
    ) -> Part:
        """Of a block that begins at this row and column, with its own weights or one for all."""
        nothing = np.zeros(rows.shape[1])
        bad = not_finite(rows, begin)
        if bad is not None:
            return Part(nothing, nothing, nothing, 0.0, 1.0, bad=bad)
        if not np.any(weights):
            empty = KnownCross(np.zeros((len(nothing),) * 2), 0.0) if cross else None
            return Part(nothing, nothing, nothing, 0.0, 1.0, empty)
        m = rows.moments(weights)
        found = Part(m.high, m.low, m.variance * m.weight, m.weight, m.unit)
        return replace(found, cross=m.cross or _probed(rows, m, weights)) if cross else found

    def moments(self) -> Moments:
        """As the methods take them."""
        variance = self.squares / self.weight
        return Moments(self.high, self.low, variance, self.weight, self.unit, self.cross)

    def of_unit(self, unit: float) -> Part:
        """The same, told in other units (powers of two: exactly)."""
        by = unit / self.unit
        if by == 1:
            return self
        cross = self.cross and KnownCross(self.cross.matrix * by * by, self.cross.error * by * by)
        squares = self.squares * by * by
        return replace(
            self, high=self.high * by, low=self.low * by, squares=squares, unit=unit, cross=cross
        )

    @property
    def size(self) -> float:
        """About the largest deviation, in the units of the data."""
        if not self.weight:
            return 0.0
        return float(np.sqrt(self.squares.max(initial=0.0) / self.weight)) / self.unit


def joined(a: Part, b: Part) -> Part:
    """Moments of the rows of both."""
    if a.bad or b.bad:
        return replace(a, bad=(a.bad or NotFinite()) + (b.bad or NotFinite()))
    if not a.weight or not b.weight:
        return a if a.weight else b
    apart = float(np.max(np.abs(b.high / b.unit - a.high / a.unit), initial=0.0))
    if not np.isfinite(apart):
        raise InputError(
            "the values differ by more than the range of float64 (about 1.8e308); "
            "divide the data by a constant first"
        )
    unit = unit_for(max(a.size, b.size, apart), np.float64)
    a, b = a.of_unit(unit), b.of_unit(unit)
    weight = a.weight + b.weight
    d, share = (b.high - a.high) + (b.low - a.low), a.weight * b.weight / weight
    shift = a.low + d * (b.weight / weight)
    high = a.high + shift
    low = (a.high - high) + shift
    cross = None
    if a.cross is not None and b.cross is not None:
        C = a.cross.matrix + b.cross.matrix + np.outer(d, d * share)
        rounding = 3 * np.finfo(np.float64).eps * float(np.linalg.norm(C))
        cross = KnownCross(C, a.cross.error + b.cross.error + rounding)
    return Part(high, low, a.squares + b.squares + d * d * share, weight, unit, cross)


def beside(a: Part, b: Part) -> Part:
    """Moments of the columns of both, which have the same rows."""
    if a.bad or b.bad:
        return replace(a, bad=(a.bad or NotFinite()) + (b.bad or NotFinite()))
    unit = unit_for(max(a.size, b.size), np.float64)
    a, b = a.of_unit(unit), b.of_unit(unit)
    high, low, squares = (
        np.concatenate([getattr(a, name), getattr(b, name)]) for name in ("high", "low", "squares")
    )
    return Part(high, low, squares, a.weight, unit)


def as_rows(block: Any, dtype: Any, shape: tuple[int, int], number: int) -> ArrayRows | SparseRows:
    """A block that came from somewhere, as rows of the type that all are computed in.

    It must be what was promised: ``shape``, and real numbers that ``dtype`` holds.
    """
    found = tuple(getattr(block, "shape", ()))
    if found != shape:
        raise InputError(
            f"block {number} has shape {found}, the array says {shape}; its chunk sizes are "
            "wrong: X.compute_chunk_sizes() finds the true ones"
        )
    if hasattr(block, "todense") and not hasattr(block, "tocsr"):  # of the package sparse
        block = block.to_scipy_sparse()
    kind = np.dtype(block.dtype)
    if kind.kind not in "fiub":
        raise InputError(
            f"block {number} holds {kind}, not numbers; convert it: X.astype('float64')"
        )
    if dtype == np.float32 and kind not in (np.float16, np.float32):
        raise InputError(
            f"block {number} holds {kind}, the array says float32 or less; make the blocks of one "
            "type: X.astype('float64')"
        )
    if hasattr(block, "tocsr"):
        return SparseRows(block.astype(dtype, copy=False))
    return ArrayRows(np.asarray(block, dtype=dtype))


def not_finite(rows: ArrayRows | SparseRows, begin: tuple[int, int]) -> NotFinite | None:
    """What is missing or infinite in a block that begins at this row and column of all."""
    if isinstance(rows, SparseRows):
        values = rows.X.data
        bad = np.flatnonzero(~np.isfinite(values))
        if not len(bad):
            return None
        at = int(np.searchsorted(rows.X.indptr, bad[0], side="right")) - 1, rows.X.indices[bad[0]]
    else:
        values = rows.read_rows(slice(0, rows.shape[0])) if rows.whole is None else rows.whole
        values = values.T if rows.flip and rows.whole is not None else values
        with np.errstate(all="ignore"):
            if np.isfinite(values.sum(dtype=np.float64)):  # hardly ever a second look
                return None
        bad = ~np.isfinite(values)
        if not bad.any():
            return None
        at = tuple(np.argwhere(bad)[0])
        values = values[bad]
    missing = int(np.isnan(values).sum())
    infinite = int(np.isinf(values).sum())
    return NotFinite(missing, infinite, (int(at[0]) + begin[0], int(at[1]) + begin[1]))


def probed(Y: Any) -> KnownCross:
    """Y'Y of a block, and by two probes how far rounding may have taken it."""
    g = np.random.default_rng(0).standard_normal((Y.shape[1], 2)).astype(Y.dtype)
    C = Y.cross()
    error = 5 * float(np.linalg.norm(C @ g - Y.gram(g)) / np.sqrt(2))
    return KnownCross(C, error)


def added(a: Any, b: Any) -> Any:
    """The sum, of arrays or of what is known with its error."""
    if not isinstance(a, KnownCross):
        return a + b
    C = a.matrix + b.matrix
    rounding = np.finfo(np.float64).eps * float(np.linalg.norm(C))
    return KnownCross(C, a.error + b.error + rounding)


def stacked(a: Array, b: Array) -> Array:
    """One above the other."""
    return np.concatenate([a, b])


def triangle(block: Array) -> Array:
    """R of block = Q R."""
    return np.asarray(np.linalg.qr(block, mode="r"))


def triangle_of_both(a: Array, b: Array) -> Array:
    """R of two, from their own."""
    return triangle(np.concatenate([a, b]))


def _probed(rows: Any, m: Moments, weights: Array) -> KnownCross:
    center = Centering.of(
        m.high / m.unit,
        m.low / m.unit,
        np.full(rows.shape[1], m.unit),
        np.sqrt(weights),
        rows.dtype,
    )
    return probed(rows.then(center))

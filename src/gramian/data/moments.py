"""Mean, variance and range of columns: one pass, no cancellation, nothing non-finite passes.

    t = x * unit - pivot,   pivot = the first row
    mean = pivot + sum(w t) / sum(w),    variance = sum(w t^2) / sum(w) - (mean - pivot)^2

Taking the first row away leaves numbers of the size of the spread, whatever the mean. Where the
first row is itself far out, a second pass with pivot = mean restores the lost digits. ``unit`` is a
power of two that brings the data near 1: 1 unless its squares would leave the range of floats.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from gramian.checkpoint import steps
from gramian.errors import GramianWarning, InputError
from gramian.loops.threads import limit_threads, pause, run
from gramian.maps import Array, unit_for
from gramian.memory import in_one_pass

if TYPE_CHECKING:
    from gramian.data.rows import RowBlocked

_turn = 16  # blocks of each group between two looks at whether a checkpoint is due


@dataclass(frozen=True)
class KnownCross:
    """Y'Y as computed, with a measured bound on what rounding did to it.

    ``error`` bounds the Frobenius norm of C - Y'Y by two probes: for a random g, |C g - Y'(Y g)|
    has mean square |C - Y'Y|^2. Five times their root mean square is taken, which is too small by
    half less than once in a hundred times even if all the error lay in one direction.
    """

    matrix: Array
    error: float

    def scaled(self, factor: Array) -> KnownCross:
        """Of the data with each column multiplied by its factor."""
        if np.all(factor == 1):
            return self
        most = float(np.max(np.abs(factor)))
        return KnownCross(self.matrix * np.outer(factor, factor), self.error * most**2)


@dataclass(frozen=True)
class ProbedOuter:
    """YY' as computed, with a bound on what rounding did to it (see ``KnownCross``).

    ``YW`` is the product with two random vectors, made in the same pass: any other product with
    Y' can be checked by it, because W' (Y' U) = (Y W)' U.
    """

    matrix: Array
    error: float
    W: Array
    YW: Array


@dataclass(frozen=True)
class Moments:
    """Of every column, in units of ``unit``: mean = high + low (twice the precision), variance.

    ``unit`` is a power of two: ``x * unit`` is what the other numbers speak of. ``weight`` is the
    sum of the sample weights.
    """

    high: Array
    low: Array
    variance: Array
    weight: float
    unit: float
    cross: KnownCross | None = None  # where it came with the same pass

    @property
    def mean(self) -> Array:
        """In the data's own units, float64."""
        return np.asarray(self.high / self.unit)


def moments_of(rows: RowBlocked, weights: Array) -> Moments:
    """Moments of X, which must be finite; raises ``InputError`` naming the first cell that is not.

    ``weights`` has one entry a row, or a single one for all.
    """
    quick = _with_cross(rows, weights)
    if quick is not None:
        return quick
    first = rows._minor(0, 1)[:, 0] if rows.flip else rows._lead(0, 1)[0]
    pivot = first.astype(np.float64)
    if not np.isfinite(pivot).all():
        refuse_non_finite(rows)
    unit, total = 1.0, _total(weights, rows.shape[0])
    sums, squares, peak = _sums(rows, weights, unit, pivot)
    if not np.isfinite(sums).all():
        refuse_non_finite(rows)
    if not np.isfinite(peak):
        raise InputError(
            "the values differ by more than the range of float64 (about 1.8e308); "
            "divide the data by a constant first"
        )
    unit = unit_for(peak, rows.dtype)
    if unit != 1:
        if peak < np.finfo(np.float64).tiny:
            warnings.warn(
                f"the values vary by less than {np.finfo(np.float64).tiny:.1e} (subnormal): "
                "they carry fewer digits than usual; multiply the data by a constant if you can",
                GramianWarning,
                stacklevel=2,
            )
        pivot = pivot * unit
        sums, squares, _ = _sums(rows, weights, unit, pivot)
    shift = sums / total
    variance = squares / total - shift**2
    if np.any(shift**2 > 1e4 * variance):
        pivot, sums, squares = _again(rows, weights, unit, pivot, shift, total)
        shift = sums / total
        variance = squares / total - shift**2
    high = pivot + shift
    low = (pivot - high) + shift
    return Moments(high, low, np.maximum(variance, 0.0), total, unit)


def units_of(scale: str | None, deviations: Array, names: tuple[str, ...] | None) -> Array:
    """What variables are divided by: 1, or their standard deviations (``scale="unit"``)."""
    if scale is None:
        return np.ones_like(deviations)
    if scale != "unit":
        raise InputError(f"scale={scale!r}: use None or 'unit'")
    constant = np.flatnonzero(deviations == 0)
    if len(constant):
        first = constant[0] if names is None else repr(names[constant[0]])
        raise InputError(
            f"{len(constant)} constant column{'s' * (len(constant) > 1)} cannot be scaled to "
            f"unit variance, the first is column {first}; drop it, or use scale=None"
        )
    return deviations


def _total(weights: Array, n: int) -> float:
    return float(weights[0]) * n if weights.size == 1 else float(weights.sum())


def _with_cross(rows: RowBlocked, weights: Array) -> Moments | None:
    """Moments and cross products of tall data in one pass, or ``None`` if that would lose digits.

    The pivot is, for each column, the value nearest to the mean of a sample of rows; a column of
    weights beside the data gives the sums, so  Y'Y = sum w t t' - W d d'  with d = mean - pivot.
    That subtraction is harmless while d is small against the spread, and refused otherwise.
    """
    n, p = rows.shape
    if rows.flip or not in_one_pass(rows.shape, rows.resident):
        return None
    pivot, spread = _middle(rows._sample(200), rows.dtype)
    unit = unit_for(spread, rows.dtype)
    root = np.sqrt(weights).astype(rows.dtype)

    def arguments(lead: tuple[int, int]) -> tuple[Any, ...]:
        w = root if root.size == 1 else root[slice(*lead)]
        return pivot, np.zeros_like(pivot), np.full_like(pivot, unit), w, False

    with np.errstate(all="ignore"):
        probes = np.random.default_rng(0).standard_normal((2, p)).astype(rows.dtype)
        C, beside = rows._folded_cross(arguments, p, probes)
        total = _total(weights, n)
        shift = beside[:, 0] / total
        error = 5 * float(np.linalg.norm(C @ probes.T - beside[:, 1:]) / np.sqrt(2))
        for row, d in zip(C, shift, strict=True):
            row -= total * (d * shift)
        variance = np.diag(C) / total
        size = float(np.sqrt(variance.max(initial=0.0)))
        safe = 2.0**30 if rows.dtype == np.float32 else 2.0**100
        good = np.isfinite(C).all() and 1 / safe < size < safe
        if not good or np.any(shift**2 > 0.1 * variance):
            return None
    middle = pivot.astype(np.float64) * unit
    high = middle + shift
    low = (middle - high) + shift
    return Moments(high, low, np.maximum(variance, 0.0), total, unit, KnownCross(C, error))


def _middle(sample: Array, dtype: Any) -> tuple[Array, float]:
    """For each column the value nearest to the mean, and the largest distance from any of them."""
    pivot, spread = np.empty(sample.shape[1], dtype), 0.0
    with np.errstate(all="ignore"):
        for a in range(0, sample.shape[1], 4):  # a few columns at a time need no room
            some = sample[:, a : a + 4].astype(dtype)
            nearest = np.abs(some - some.mean(axis=0, dtype=np.float64)).argmin(axis=0)
            pivot[a : a + 4] = some[nearest, np.arange(some.shape[1])]
            spread = max(spread, float(np.abs(some - pivot[a : a + 4]).max(initial=0.0)))
    return pivot, spread


def _again(
    rows: RowBlocked, weights: Array, unit: float, pivot: Array, shift: Array, total: float
) -> tuple[Array, Array, Array]:
    """A second pass about the mean. A constant column keeps its value as pivot, and variance 0."""
    moved = np.where(shift == 0, pivot, pivot + shift)
    sums, squares, _ = _sums(rows, weights, unit, moved)
    return moved, sums, squares


def _sums(
    rows: RowBlocked, weights: Array, unit: float, pivot: Array
) -> tuple[Array, Array, float]:
    from gramian.loops import products

    p, whole = rows.shape[1], rows.whole
    if whole is not None and not rows.flip and p >= 16 * products.PANEL:  # pieces own columns
        found = np.zeros((3, p))

        def columns(i: int) -> None:
            a = i * products.PANEL
            products.moments(whole, a, min(a + products.PANEL, p), unit, pivot, weights, *found)

        with rows._visit():
            run(columns, -(-p // products.PANEL))
        return found[0], found[1], float(found[2].max())
    blocks = rows._lead_blocks()
    groups = min(8, len(blocks), max(2, rows.block_bytes // (24 * p)))
    bounds = [len(blocks) * g // groups for g in range(groups + 1)]
    turns = -(-max(b - a for a, b in pairwise(bounds)) // _turn)
    state = {"parts": np.zeros((groups, 3, p))}

    def piece(g: int, turn: int) -> None:
        sums, squares, peaks = state["parts"][g]
        first = bounds[g] + turn * _turn
        for a, b, block in rows._each(
            rows._lead, blocks[first : min(first + _turn, bounds[g + 1])]
        ):
            pause()
            if rows.flip:
                for i in range(a, b):  # one variable a line
                    t = block[i - a].astype(np.float64) * unit - pivot[i]
                    wt = weights * t
                    sums[i], squares[i], peaks[i] = wt.sum(), wt @ t, np.abs(t).max()
            else:
                w = weights if weights.size == 1 else weights[a:b]
                products.moments(block, 0, p, unit, pivot, w, sums, squares, peaks)
            del block

    quiet = np.errstate(over="ignore", invalid="ignore")
    with rows._visit(), quiet, limit_threads(rows.threads):
        for turn in steps("moments", turns, state, groups=groups, blocks=len(blocks)):
            run(lambda g, turn=turn: piece(g, turn), groups)  # type: ignore[misc]
    parts = state["parts"]
    sums, squares = parts[:, 0].sum(axis=0), parts[:, 1].sum(axis=0)
    return sums, squares, float(parts[:, 2].max())


def refuse_non_finite(rows: Any) -> None:
    """Find the first cell of X that is not finite, count its kind, and say so."""
    if hasattr(rows, "refuse_non_finite"):  # knows a better way
        rows.refuse_non_finite()
        return
    if hasattr(rows, "X"):  # sparse: only what is stored can be wrong
        with np.errstate(over="ignore", invalid="ignore"):
            if np.isfinite(rows.X.data.sum()):
                return
        bad = np.flatnonzero(~np.isfinite(rows.X.data))
        if bad.size:
            i = int(np.searchsorted(rows.X.indptr, bad[0], side="right")) - 1
            missing = int(np.isnan(rows.X.data).sum())
            refuse(missing, bad.size - missing, (i, int(rows.X.indices[bad[0]])))
        return
    if hasattr(rows, "refuse_non_finite"):  # sparse, in a file
        return rows.refuse_non_finite()
    missing = infinite = 0
    where: tuple[int, int] | None = None
    for block in rows.row_blocks():
        read = rows._minor if rows.flip else rows._lead
        X = read(block.start, block.stop)
        X = X.T if rows.flip else X
        bad = ~np.isfinite(X)
        if bad.any():
            missing += int(np.isnan(X).sum())
            infinite += int(np.isinf(X).sum())
            if where is None:
                i, j = np.argwhere(bad)[0]
                where = int(i) + block.start, int(j)
    refuse(missing, infinite, where)


def refuse(missing: int, infinite: int, where: Any, within: str = "") -> None:
    """Raise the one sentence about missing or infinite values; ``within`` says of what."""
    if where is None:
        return
    row, column = where
    place = f"the first at row {row}, column {column} (counted from 0){within}"
    if missing:
        raise InputError(
            f"X contains NaN: {missing} missing value{'s' * (missing > 1)}, {place}; drop those "
            "rows or columns, fill them in (impute), or use ProbabilisticPCA, which takes NaN"
        )
    raise InputError(
        f"X contains infinity (inf): {infinite} value{'s' * (infinite > 1)}, {place}; "
        "replace or drop them"
    )

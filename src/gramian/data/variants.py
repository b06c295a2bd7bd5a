"""Variants of genotypes: counted, chosen, and what is taken off and divided by.

1. survey   calls, copies and squares of each variant, missing calls of each sample: one pass
2. choose   variants that vary and pass the filters, their means and scales
3. match    the same variants in another file, which may count the other allele

Rows are those of a .bed file, of an array, or of either in blocks of variants on workers: these are
counted by the function of the same name in ``data/dask/genotypes.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from gramian.data.dask.rows import DaskRows
from gramian.data.plink import BedRows
from gramian.errors import InputError
from gramian.loops.threads import ordered_sum
from gramian.maps import Array
from gramian.show.text import count, percent, visible

_codes = frozenset({-9.0, -1.0, 3.0, 9.0})  # what other programs write for "no call"
_several = 8  # values that are remembered: more than there are codes


class NoCount(NamedTuple):
    """The first value that is no number of copies."""

    row: int
    column: int
    value: float


@dataclass(frozen=True)
class Calls:
    """What one pass tells: sums over the calls of each variant, missing calls of each sample."""

    called: Array
    copies: Array
    spread: Array  # sum of squared deviations from the mean
    missing: Array
    whole: bool  # whether all calls are 0, 1 or 2
    seen: frozenset[float] = frozenset()  # some of the values
    wrong: NoCount | None = None

    @property
    def mean(self) -> Array:
        """Mean number of copies of each variant; 0 where there is no call."""
        return self.copies / np.maximum(self.called, 1)

    def beside(self, other: Calls) -> Calls:
        """Of the variants of both, which have the same samples."""
        wrong = [each.wrong for each in (self, other) if each.wrong is not None]
        return Calls(
            np.concatenate([self.called, other.called]),
            np.concatenate([self.copies, other.copies]),
            np.concatenate([self.spread, other.spread]),
            self.missing + other.missing,
            self.whole and other.whole,
            self.seen | other.seen if len(self.seen) < _several else self.seen,
            min(wrong, default=None),
        )

    def refuse(self, dosages: bool, within: str = "") -> None:
        """Raise for what is no number of copies; with ``dosages`` they lie between 0 and 2."""
        if self.wrong is not None:
            row, column, value = self.wrong
            legal = (
                "copies of an allele are from 0 to 2 (NaN: no call); scaling='unit' takes any "
                "numbers"
                if dosages and np.isfinite(value)
                else "inf is no number of copies; NaN stands for a missing call"
            )
            raise InputError(
                f"X holds {value:g} at row {row}, column {column} (counted from 0){within}: {legal}"
            )
        if self.seen & _codes and self.seen <= _codes | {0.0, 1.0, 2.0}:
            raise InputError(
                f"the counts hold {min(self.seen & _codes):g} beside 0, 1 and 2, which looks like "
                "a code for a missing call; write NaN there"
            )


def in_variants(rows: Any) -> Any:
    """Rows on workers in blocks of variants, all samples in each; others as they are."""
    return rows.by_columns() if isinstance(rows, DaskRows) else rows


def survey(rows: Any, dosages: bool) -> Calls:
    """Count the calls; with ``dosages`` they must lie between 0 and 2."""
    within = ""
    if isinstance(rows, DaskRows):
        from gramian.data.dask.genotypes import counted as spread_counted

        found = spread_counted(rows, dosages)
        within = "" if found.wrong is None else rows.place(*found.wrong[:2])
    else:
        found = counted(rows, dosages)
    found.refuse(dosages, within)
    return found


def counted(rows: Any, dosages: bool) -> Calls:
    """The same of a file or an array, and nothing is refused yet."""
    return _counted_bed(rows) if isinstance(rows, BedRows) else _counted_array(rows, dosages)


def _counted_bed(rows: BedRows) -> Calls:
    from gramian.loops.genotypes import count_codes

    n, m = rows.shape
    counts = np.zeros((m, 4), np.int64)
    blocks = rows.variant_blocks(m)
    spoiled = np.full(len(blocks), -1)

    def piece(i: int, missing: Array) -> None:
        a, b = blocks[i]
        spoiled[i] = count_codes(rows.packed(a, b), n, counts[a:b], missing)

    with rows._visit():
        missing = ordered_sum(piece, len(blocks), lambda: np.zeros(n, np.int64))
    for (a, _), found in zip(blocks, spoiled, strict=True):
        if found >= 0:
            raise InputError(
                f"{rows.path}: variant {rows.begin + a + found + 1}{rows.named(a + found)} ends "
                f"in a byte whose {4 - n % 4} spare places are not zero: its {rows.width} bytes "
                f"hold more than {n} samples, so the .fam belongs to another file"
            )
    twos, none, ones = counts[:, 0], counts[:, 1], counts[:, 2]
    copies, called = 2 * twos + ones, n - none
    spread = (called * (copies + 2 * twos) - copies**2) / np.maximum(called, 1)  # whole numbers
    return Calls(called, copies.astype(np.float64), spread, missing, True)


def _counted_array(rows: Any, dosages: bool) -> Calls:
    n, p = rows.shape
    called, copies, spread = np.zeros(p, np.int64), np.zeros(p), np.zeros(p)
    missing, whole, seen = np.zeros(n, np.int64), True, set[float]()
    for block in rows.row_blocks():
        X = rows.read_rows(block).astype(np.float64)
        here = ~np.isnan(X)
        wrong = np.argwhere(here & ~((X >= 0) & (X <= 2) if dosages else np.isfinite(X)))
        if len(wrong):
            row, column = map(int, wrong[0])
            first = NoCount(block.start + row, column, float(X[row, column]))
            return Calls(called, copies, spread, missing, whole, wrong=first)
        g = np.where(here, X, 0.0)
        called += here.sum(axis=0)
        copies += g.sum(axis=0)
        missing[block] = p - here.sum(axis=1)
        found = np.unique(g)
        whole = whole and bool(np.isin(found, (0.0, 1.0, 2.0)).all())
        if len(seen) < _several:
            seen |= set(found[:_several].tolist())
    mean = copies / np.maximum(called, 1)
    for block in rows.row_blocks():
        apart = rows.read_rows(block).astype(np.float64) - mean
        spread += np.nansum(apart * apart, axis=0)
    spread[spread <= 1e-24 * called * mean**2] = 0.0  # what rounding of the mean leaves
    return Calls(called, copies, spread, missing, whole, frozenset(seen))


@dataclass(frozen=True)
class Variants:
    """Those that take part, and what standardizes the calls of all of them.

    Attributes
    ----------
    kept : array of int
    mean, scale : array of shape (p,)
        Mean number of copies, and what deviations from it are divided by (it may be 0 where a
        variant is left out).
    notes : tuple of str
        What was left out and what is missing, in sentences.
    """

    kept: Array
    mean: Array
    scale: Array
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        calls: Calls,
        scaling: str,
        *,
        min_frequency: float = 0.0,
        max_missing: float = 1.0,
        pulled: bool = False,
    ) -> Self:
        """Choose by the calls; ``pulled`` brings frequencies a little nearer to one half.

        Parameters
        ----------
        calls : Calls
        scaling : {"patterson", "unit", "none"}
        min_frequency, max_missing : float
        pulled : bool
            Scale by (1 + copies) / (2 + 2 calls) instead of copies / (2 calls), as smartpca.
        """
        called, f = calls.called, calls.mean / 2
        empty = called == 0
        constant = ~empty & (calls.spread <= 0)
        left = ~(empty | constant)
        gappy = left & (len(calls.missing) - called > max_missing * len(calls.missing))
        rarer = np.minimum(f, 1 - f)
        rare = left & ~gappy & (rarer < min_frequency) & (min_frequency > 0)
        kept = np.flatnonzero(left & ~gappy & ~rare)
        words = _dropped(*(int(np.sum(each)) for each in (constant, empty, rare, gappy)))
        if len(kept) == 0:
            raise InputError(f"no variant is left of {len(f)}: {words or 'none varies'}")
        q = (1 + calls.copies) / (2 + 2 * called) if pulled else f
        scale = {
            "patterson": np.sqrt(np.maximum(2 * q * (1 - q), 0.0)),
            "unit": np.sqrt(calls.spread / np.maximum(called - 1, 1)),
            "none": np.ones(len(f)),
        }[scaling]
        share = float(calls.missing.sum() / max(len(calls.missing) * len(f), 1))
        gaps = f"{percent(share)} of the calls are missing; a missing call counts as average"
        return cls(kept, calls.mean, scale, tuple(filter(None, (words, gaps if share else ""))))


def _dropped(constant: int, empty: int, rare: int, gappy: int) -> str:
    """How many variants were left out and why; empty if none."""
    parts = [
        f"{count(many, 'variant')} {why}"
        for many, why in (
            (empty, "without any call"),
            (constant, "with equal calls"),
            (rare, "of rare alleles"),
            (gappy, "with too many missing calls"),
        )
        if many
    ]
    return f"left out: {', '.join(parts)}" if parts else ""


def swapped_alleles(rows: Any, known: Sequence[str] | None) -> Array:
    """Which variants count the allele that the known ones do not; other alleles are refused."""
    there = getattr(rows, "alleles", None)
    swapped = np.zeros(rows.shape[1], bool)
    if known is None or there is None or there == known:
        return swapped
    for v, (here, old) in enumerate(zip(there, known, strict=True)):
        if here == old:
            continue
        if "/".join(reversed(here.split("/"))) != old:
            raise InputError(
                f"variant {v + 1} ({rows.variants[v]}) has the alleles {here}, in the fit it "
                f"had {old}; project samples of the same build and strand"
            )
        swapped[v] = True
    return swapped


def refuse_other_variants(rows: BedRows, p: int, known: Sequence[str] | None) -> None:
    """Raise unless a file has the ``p`` variants of a fit, in order if their names are known."""
    if rows.shape[1] != p or (known is not None and list(known) != list(rows.variants)):
        raise InputError(
            f"the {rows.shape[1]:,} variants of {rows.path.name} are not the {p:,} of the fit in "
            "their order; extract the same ones (plink2 --extract)"
        )


def describe(sample: int, labels: tuple[str, ...] | None) -> str:
    """A sample by name, or by number."""
    return f"sample {sample + 1}" if labels is None else f"sample {visible(labels[sample], 40)}"

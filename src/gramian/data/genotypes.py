"""Genotypes ready for eigenvectors: counted once, then standardized as they are decoded.

1. survey   calls, copies and squares of each variant, missing calls of each sample: one pass
2. choose   variants that vary and pass the filters, their means and scales
3. map      Z = (g - mean) / scale, a missing call 0; n samples x kept variants, never stored

Rows are those of a .bed file, of an array, or of either in blocks of variants on workers: these are
visited by the functions of the same names in ``data/dask/genotypes.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from gramian.data.array_rows import ArrayRows
from gramian.data.centering import Centering
from gramian.data.dask.rows import DaskRows
from gramian.data.plink import BedRows
from gramian.errors import InputError
from gramian.loops.threads import ordered_sum, pause, run
from gramian.maps import Array, ImplicitMap
from gramian.show.text import count, visible

_COPIES = np.array([2.0, 0.0, 1.0, 0.0])
_swapped = [3, 1, 2, 0]  # the codes, counting the other allele
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


def _there() -> Any:
    """The functions of the same names for rows on workers."""
    from gramian.data.dask import genotypes

    return genotypes


def survey(rows: Any, dosages: bool) -> Calls:
    """Count the calls; with ``dosages`` they must lie between 0 and 2."""
    within = ""
    if isinstance(rows, DaskRows):
        found = _there().counted(rows, dosages)
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
    blocks = variant_blocks(rows, m)
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


def variant_blocks(rows: BedRows, m: int) -> list[tuple[int, int]]:
    """A fixed partition of ``m`` variants: blocks of bounded size, sixteen or more."""
    step = max(1, min(rows.block_bytes // (4 * rows.width), -(-m // 16)))
    return [(a, min(a + step, m)) for a in range(0, m, step)]


class Standardized(ImplicitMap):
    """Z of a .bed file: n samples x the variants ``kept``, decoded through a table of values.

    Parameters
    ----------
    rows : BedRows
    kept : array of int
        Which variants.
    tables : array of shape (len(kept), 4)
        What each code is worth in each of them.
    """

    resident, two_bit = False, True
    block = 16  # vectors that cost little more than one

    def __init__(self, rows: BedRows, kept: Array, tables: Array) -> None:
        self.rows, self.kept = rows, kept
        self.shape, self.dtype = (rows.shape[0], len(kept)), rows.dtype
        self.block_bytes = rows.block_bytes
        self.tables = np.ascontiguousarray(tables, self.dtype)
        self._all = len(kept) == rows.shape[1]

    @property
    def passes(self) -> int:
        """Visits to the file so far."""
        return self.rows.passes

    def read(self, a: int, b: int) -> Array:
        """The bytes of kept variants a:b."""
        if self._all:
            return self.rows.packed(a, b)
        first, last = self.kept[a], self.kept[b - 1] + 1
        if last - first > 4 * (b - a):  # far apart: only those
            return np.concatenate([self.rows.packed(v, v + 1) for v in self.kept[a:b]])
        return self.rows.packed(first, last)[self.kept[a:b] - first]

    def _times(self, V: Array) -> Array:
        from gramian.loops import genotypes

        W, m = self._padded(V)

        def step(a: int, b: int, Z: Array, total: Array) -> None:
            genotypes.adjoint(self.read(a, b), self.tables[a:b], W[a:b], Z, total)

        return self._fold(step, W.shape[1])[:, :m].astype(self.dtype)

    def _times_T(self, U: Array) -> Array:
        return self.adjoint(U).astype(self.dtype)

    def adjoint(self, U: Array) -> Array:
        """Z' U in float64."""
        from gramian.loops import genotypes, products

        U, m = self._padded(U)
        out = products.aligned(self.shape[1], U.shape[1], np.float64)

        def step(a: int, b: int, Z: Array, total: Array) -> None:
            genotypes.times(self.read(a, b), self.tables[a:b], U, Z, out[a:b])

        self._fold(step, 0)
        return np.asarray(out[:, :m])

    def row_gram(self, U: Array) -> Array:
        """Z (Z' U) in one pass."""
        from gramian.loops import genotypes, products

        U, m = self._padded(U)

        def step(a: int, b: int, Z: Array, total: Array) -> None:
            Y = products.aligned(len(Z), U.shape[1], self.dtype)
            genotypes.gram(self.read(a, b), self.tables[a:b], U, Z, Y, total)

        return self._fold(step, U.shape[1])[:, :m]

    def outer(self) -> Array:
        """Z Z' in float64: blocks decoded by us, multiplied by BLAS on all its threads."""
        from scipy.linalg.blas import dsyrk, ssyrk

        from gramian.loops.genotypes import decode

        (n, m), multiply = self.shape, ssyrk if self.dtype == np.float32 else dsyrk
        step = max(256, min(4096, 64_000_000 // (n * self.dtype.itemsize)))
        total, part = np.zeros((n, n), order="F"), np.zeros((n, n), self.dtype, order="F")
        Z = np.empty((step, n), self.dtype)
        with self.rows._visit():
            for number, a in enumerate(range(0, m, step)):
                b = min(a + step, m)
                cuts = np.linspace(a, b, 17).astype(int)

                def piece(i: int, a: int = a, cuts: Array = cuts) -> None:
                    begin, end = cuts[i], cuts[i + 1]
                    if begin < end:
                        tables, into = self.tables[begin:end], Z[begin - a : end - a]
                        decode(self.read(begin, end), tables, 0, end - begin, 0, n, into)

                run(piece, 16)
                part = multiply(1.0, Z[: b - a].T, beta=1.0, c=part, overwrite_c=True)
                if number % 4 == 3 or b == m:  # short sums in the data's precision
                    total += part
                    part[...] = 0
        upper = np.triu(total)
        return upper + np.triu(upper, 1).T

    def lengths(self) -> Array:
        """|z|^2 of each sample."""
        ones = np.ones((self.shape[1], 1), self.dtype)
        squares = Standardized(self.rows, self.kept, self.tables.astype(np.float64) ** 2)
        return np.asarray((squares @ ones)[:, 0])

    def _padded(self, V: Array) -> tuple[Array, int]:
        """V in our dtype, its columns padded to whole vectors, and how many there are."""
        from gramian.loops.products import aligned, padded

        m = V.shape[1]
        block = aligned(V.shape[0], padded(m, self.dtype), self.dtype)
        block[:, :m] = V
        return block, m

    def _fold(self, step: Callable[[int, int, Array, Array], None], wide: int) -> Array:
        """The sum over blocks of variants: sixteen running totals, added up in a fixed order."""
        from gramian.loops.genotypes import PANEL
        from gramian.loops.products import aligned, depth_for, odd_vectors

        n, m = self.shape
        panel = min(n, PANEL)
        blocks = variant_blocks(self.rows, m)
        groups = min(16, len(blocks))
        bounds = [len(blocks) * g // groups for g in range(groups + 1)]

        def piece(g: int, total: Array) -> None:
            Z = aligned(depth_for(panel, self.dtype), odd_vectors(panel, self.dtype), self.dtype)
            for a, b in blocks[bounds[g] : bounds[g + 1]]:
                pause()
                step(a, b, Z, total)

        with self.rows._visit():
            return np.asarray(ordered_sum(piece, groups, lambda: aligned(n, wide, np.float64)))


def standardized(rows: Any, kept: Array, mean: Array, scale: Array, swapped: Array) -> Any:
    """Z of a file or an array; ``mean`` and ``scale`` are those of the kept variants.

    ``swapped`` marks kept variants of a file that count the other allele.
    """
    if isinstance(rows, DaskRows):
        return _there().SpreadStandardized(rows, kept, mean, scale, swapped)
    if isinstance(rows, BedRows):
        tables = (_COPIES - mean[:, None]) / scale[:, None]
        tables[:, 1] = 0.0
        tables[swapped] = tables[swapped][:, _swapped]
        return Standardized(rows, kept, tables)
    X = rows.read_rows(slice(0, rows.shape[0]))[:, kept]
    np.copyto(X, mean.astype(X.dtype), where=np.isnan(X))
    none, ones = np.zeros(len(kept)), np.ones(1)
    return ArrayRows(X).then(Centering.of(mean, none, 1 / scale, ones, X.dtype))


def lost_products(rows: Any, kept: Array, B: Array) -> Array:
    """For each sample b_i b_j summed over its missing calls, B (k, kept variants), i <= j.

    Pairs (i, j) are in the order of ``numpy.triu_indices``.
    """
    if isinstance(rows, DaskRows):
        return np.asarray(_there().lost_products(rows, kept, B))
    i, j = np.triu_indices(len(B))
    M = _missing_map(rows, kept)
    return np.asarray(M @ np.ascontiguousarray((B[i] * B[j]).T, M.dtype), np.float64)


def called_in_both(rows: Any, kept: Array) -> Array:
    """For each pair of samples the kept variants that were called in both (n, n)."""
    if isinstance(rows, DaskRows):
        return np.asarray(_there().called_in_both(rows, kept))
    M = _missing_map(rows, kept)
    both = _missing_in_both(M) if isinstance(M, Standardized) else M @ M.T
    own = np.diag(both).copy()
    return len(kept) - own[:, None] - own + both


def _missing_map(rows: Any, kept: Array) -> Any:
    """1 where a call is missing, else 0: n samples x kept variants."""
    if isinstance(rows, BedRows):
        return Standardized(rows, kept, np.tile([0.0, 1.0, 0.0, 0.0], (len(kept), 1)))
    return np.isnan(rows.read_rows(slice(0, rows.shape[0]))[:, kept]).astype(np.float64)


def _missing_in_both(M: Standardized) -> Array:
    from gramian.loops.genotypes import add_missing_pairs

    n, m = M.shape
    blocks = variant_blocks(M.rows, m)
    total = np.zeros((n, n), np.int32)
    with M.rows._visit():
        for a, b in blocks:
            add_missing_pairs(M.read(a, b), n, total)
    return (total + np.triu(total, 1).T).astype(np.float64)


def lengths(Z: Any) -> Array:
    """|z|^2 of each sample."""
    if hasattr(Z, "lengths"):
        return np.asarray(Z.lengths())
    blocks = (Z.read_rows(each).astype(np.float64) for each in Z.row_blocks())
    return np.concatenate([np.einsum("ij,ij->i", block, block) for block in blocks])


def packed_calls(rows: Any, chosen: Array) -> Array:
    """Some variants as a .bed file has them: a line each, four calls to a byte."""
    if isinstance(rows, DaskRows):
        return np.asarray(_there().packed_calls(rows, chosen))
    if isinstance(rows, BedRows):
        M = Standardized(rows, chosen, np.zeros((len(chosen), 4)))
        cuts = [*range(0, len(chosen), 64), len(chosen)]
        return np.concatenate([M.read(a, b) for a, b in pairwise(cuts)])
    X = rows.read_rows(slice(0, rows.shape[0]))[:, chosen].T
    codes = np.select([X == 2, X == 1, X == 0], [0, 2, 3], 1).astype(np.uint8)
    four = np.zeros((len(codes), -(-rows.shape[0] // 4), 4), np.uint8)
    four.reshape(len(codes), -1)[:, : rows.shape[0]] = codes
    return np.bitwise_or.reduce(four << np.array([0, 2, 4, 6], np.uint8), axis=2)


def describe(sample: int, labels: tuple[str, ...] | None) -> str:
    """A sample by name, or by number."""
    return f"sample {sample + 1}" if labels is None else f"sample {visible(labels[sample], 40)}"


def missing_share(calls: Calls) -> float:
    """Share of all calls that are missing."""
    return float(calls.missing.sum() / max(len(calls.missing) * len(calls.called), 1))


def dropped_words(constant: int, empty: int, rare: int, gappy: int) -> str:
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

"""Genotypes standardized as they are decoded, and what missing calls take from sums over them.

Z = (g - mean) / scale, a missing call 0; n samples x kept variants, never stored for a .bed file.
Rows are those of a .bed file, of an array, or of either in blocks of variants on workers: these are
visited by the functions of the same names in ``data/dask/genotypes.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from gramian.checkpoint import steps
from gramian.data.array_rows import ArrayRows
from gramian.data.centering import Centering
from gramian.data.dask.rows import DaskRows
from gramian.data.plink import BedRows
from gramian.data.rows import RowBlocked
from gramian.data.variants import Calls, describe
from gramian.errors import InputError, MemoryRefusedError
from gramian.loops.threads import ordered_sum, pause, run
from gramian.maps import Array, ImplicitMap
from gramian.memory import budget, in_words

_COPIES = np.array([2.0, 0.0, 1.0, 0.0])
_swapped = [3, 1, 2, 0]  # the codes, counting the other allele


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
    block = 8  # vectors beside which decoding costs little; more would need more products in all

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
        return self.rows.packed(a, b) if self._all else self.rows.chosen(self.kept[a:b])

    def _times(self, V: Array) -> Array:
        from gramian.loops import genotypes, products

        W = products.aligned(len(V), _fours(V), self.dtype)
        W[:, : V.shape[1]] = V

        def step(a: int, b: int, Z: Array, total: Array) -> None:
            tables = self.tables[a:b]
            genotypes.adjoint(self.read(a, b), tables, self.shape[0], W[a:b], Z, total)

        return self._upright(self._fold(step, W.shape[1]), V).astype(self.dtype)

    def _times_T(self, U: Array) -> Array:
        return self.adjoint(U).astype(self.dtype)

    def adjoint(self, U: Array) -> Array:
        """Z' U in float64."""
        from gramian.loops import genotypes

        V, out = self._turned(U), np.zeros((self.shape[1], U.shape[1]))

        def step(a: int, b: int, Z: Array, total: Array) -> None:
            Y = np.empty((len(V) // 4, len(Z), 4))
            tables = self.tables[a:b]
            genotypes.times(self.read(a, b), tables, self.shape[0], V, Z, Y, out[a:b])

        self._fold(step, 0)
        return out

    def row_gram(self, U: Array) -> Array:
        """Z (Z' U) in one pass, in float64."""
        from gramian.loops import genotypes

        V = self._turned(U)

        def step(a: int, b: int, Z: Array, total: Array) -> None:
            Y = np.empty((len(V) // 4, len(Z), 4), self.dtype)
            tables = self.tables[a:b]
            genotypes.gram(self.read(a, b), tables, self.shape[0], V, Z, Y, total)

        return self._upright(self._fold(step, len(V)), U)

    def outer(self) -> Array:
        """Z Z' in float64: blocks decoded by us, multiplied by BLAS on all its threads."""
        from scipy.linalg.blas import dsyrk, ssyrk

        from gramian.loops.genotypes import decode

        (n, m), multiply = self.shape, ssyrk if self.dtype == np.float32 else dsyrk
        step = max(256, min(4096, 64_000_000 // (n * self.dtype.itemsize)))
        state = {"total": np.zeros((n, n), order="F")}
        part = np.zeros((n, n), self.dtype, order="F")
        Z, starts = np.empty((step, n), self.dtype), range(0, m, step)
        with self.rows._visit():
            for four in steps("outer", -(-len(starts) // 4), state, n=n, m=m, step=step):
                for a in starts[4 * four : 4 * four + 4]:
                    b = min(a + step, m)
                    cuts = np.linspace(a, b, 17).astype(int)

                    def piece(i: int, a: int = a, cuts: Array = cuts) -> None:
                        begin, end = cuts[i], cuts[i + 1]
                        if begin < end:
                            packed, tables = self.read(begin, end), self.tables[begin:end]
                            decode(packed, tables, 0, end - begin, 0, n, Z, begin - a, 0)

                    run(piece, 16)
                    part = multiply(1.0, Z[: b - a].T, beta=1.0, c=part, overwrite_c=True)
                state["total"] += part  # short sums in the data's precision
                part[...] = 0
        upper = np.triu(state["total"])
        return upper + np.triu(upper, 1).T

    def lengths(self) -> Array:
        """|z|^2 of each sample."""
        ones = np.ones((self.shape[1], 1), self.dtype)
        squares = Standardized(self.rows, self.kept, self.tables.astype(np.float64) ** 2)
        return np.asarray((squares @ ones)[:, 0])

    @property
    def _far(self) -> int:
        """How long a row of a thin block over samples is, on its side."""
        from gramian.loops.products import lanes, odd_vectors

        return odd_vectors(self.shape[0] + 3 * lanes(self.dtype), self.dtype)

    def _turned(self, U: Array) -> Array:
        """A block over samples on its side, in our dtype, of fours of rows."""
        from gramian.loops.products import aligned

        out = aligned(_fours(U), self._far, self.dtype)
        out[: U.shape[1], : len(U)] = U.T
        return np.asarray(out)

    def _upright(self, out: Array, like: Array) -> Array:
        """The block over samples whose side ``out`` shows, with as many columns as ``like``."""
        return np.ascontiguousarray(out[: like.shape[1], : self.shape[0]].T)

    def _fold(self, step: Callable[[int, int, Array, Array], None], many: int) -> Array:
        """The sum over blocks of variants: sixteen running totals, added up in a fixed order."""
        from gramian.loops.genotypes import PANEL
        from gramian.loops.products import aligned, depth_for, lanes, odd_vectors

        n, m = self.shape
        panel = min(n, PANEL)
        wide = odd_vectors(panel + 3 * lanes(self.dtype), self.dtype)
        blocks = self.rows.variant_blocks(m)
        groups = min(16, len(blocks))
        bounds = [len(blocks) * g // groups for g in range(groups + 1)]

        def piece(g: int, total: Array) -> None:
            Z = aligned(depth_for(wide, self.dtype), wide, self.dtype)
            for a, b in blocks[bounds[g] : bounds[g + 1]]:
                pause()
                step(a, b, Z, total)

        with self.rows._visit():
            return np.asarray(ordered_sum(piece, groups, lambda: aligned(many, self._far, float)))


def _fours(V: Array) -> int:
    """As many columns as V has, in whole fours."""
    return -(-V.shape[1] // 4) * 4


def _there() -> Any:
    """The functions of the same names for rows on workers."""
    from gramian.data.dask import genotypes

    return genotypes


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
    blocks = M.rows.variant_blocks(m)
    total = np.zeros((n, n), np.int32)
    with M.rows._visit():
        for a, b in blocks:
            add_missing_pairs(M.read(a, b), n, total)
    return (total + np.triu(total, 1).T).astype(np.float64)


def outer_over_calls(Z: Any, rows: Any, kept: Array) -> tuple[Array, float]:
    """ZZ', each entry divided by the variants called in both samples; the mean of those."""
    both = called_in_both(rows, kept)
    return Z.outer() / np.maximum(both, 1.0), float(both.mean())


def fitted_to_calls(scores: Array, B: Array, rows: Any, kept: Array) -> tuple[Array, Array]:
    """argmin |z - B' a| over the called variants of each row: (I - B_m B_m') a = B z.

    Parameters
    ----------
    scores : array of shape (n, k)
        B z of each row, in which a missing call counts as average.
    B : array of shape (k, m)
        Orthonormal rows, some of which may be 0.
    rows : BedRows, ArrayRows or DaskRows
    kept : array of int
        The m variants.

    Returns
    -------
    array of shape (n, k), array of bool of shape (n,)
        The solutions, and which rows have too few calls to determine one: they keep their scores.
    """
    scores, used = scores.copy(), np.flatnonzero(B.any(axis=1))
    upper = np.triu_indices(len(used))
    lost = lost_products(rows, kept, B[used])
    grams = np.zeros((len(scores), len(used), len(used)))
    grams[:, upper[0], upper[1]] = grams[:, upper[1], upper[0]] = lost
    grams = np.eye(len(used)) - grams
    poor = np.linalg.eigvalsh(grams)[:, 0] < 1e-6
    grams[poor] = np.eye(len(used))
    scores[:, used] = np.linalg.solve(grams, scores[:, used, None])[:, :, 0]
    return scores, poor


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
        cuts = [*range(0, len(chosen), 64), len(chosen)]
        return np.concatenate([rows.chosen(chosen[a:b]) for a, b in pairwise(cuts)])
    X = rows.read_rows(slice(0, rows.shape[0]))[:, chosen].T
    codes = np.select([X == 2, X == 1, X == 0], [0, 2, 3], 1).astype(np.uint8)
    four = np.zeros((len(codes), -(-rows.shape[0] // 4), 4), np.uint8)
    four.reshape(len(codes), -1)[:, : rows.shape[0]] = codes
    return np.bitwise_or.reduce(four << np.array([0, 2, 4, 6], np.uint8), axis=2)


def refuse_samples_without_calls(
    rows: Any, calls: Calls, kept: Array, labels: tuple[str, ...] | None
) -> None:
    """Raise if a sample has no call among the variants that take part."""
    m = len(kept)
    if calls.missing.max() < m:
        return
    lost = lost_products(rows, kept, np.ones((1, m)))[:, 0]
    if lost.max() == m:
        raise InputError(
            f"{describe(int(np.argmax(lost)), labels)} has no call in the {m} variants "
            "that take part; leave it out (plink2 --remove)"
        )


def refuse_what_is_no_array(rows: Any, memory: Any) -> None:
    """Raise for what is no one array that fits the memory; a .bed file is not asked here."""
    if any(isinstance(part, BedRows) for part in getattr(rows, "parts", ())):
        raise InputError(
            "several .bed files may count different alleles; merge them into one first "
            "(plink --bmerge)"
        )
    if not isinstance(rows, RowBlocked):
        raise InputError("a sparse file is not supported: pass a .bed file, or a dense array")
    if hasattr(rows, "lazy"):  # on workers, a block at a time
        if getattr(rows, "sparse", False):
            raise InputError("sparse blocks are not supported: X.map_blocks(lambda b: b.toarray())")
        return
    needed, allowed = 3 * rows.dtype.itemsize * rows.shape[0] * rows.shape[1], budget(memory)
    if needed > allowed:
        raise MemoryRefusedError(
            f"standardized counts need {in_words(needed)}, the budget is {in_words(allowed)}; "
            "write the calls as a .bed file, which stays packed, or raise memory="
        )

"""Genotypes standardized as they are decoded, and what missing calls take from sums over them.

Z = (g - mean) / scale, a missing call 0; n samples x kept variants, never stored for a .bed file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gramian.data.array_rows import ArrayRows
from gramian.data.centering import Centering
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
        total, part = np.zeros((n, n), order="F"), np.zeros((n, n), self.dtype, order="F")
        Z = np.empty((step, n), self.dtype)
        with self.rows._visit():
            for number, a in enumerate(range(0, m, step)):
                b = min(a + step, m)
                cuts = np.linspace(a, b, 17).astype(int)

                def piece(i: int, a: int = a, cuts: Array = cuts) -> None:
                    begin, end = cuts[i], cuts[i + 1]
                    if begin < end:
                        packed, tables = self.read(begin, end), self.tables[begin:end]
                        decode(packed, tables, 0, end - begin, 0, n, Z, begin - a, 0)

                run(piece, 16)
                part = multiply(1.0, Z[: b - a].T, beta=1.0, c=part, overwrite_c=True)
                if number % 4 == 3 or b == m:  # short sums in the data's precision
                    total += part
                    part[...] = 0
        upper = np.triu(total)
        return upper + np.triu(upper, 1).T

    def with_tables(self, tables: Array) -> Standardized:
        """The same calls, worth something else."""
        return Standardized(self.rows, self.kept, tables)

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


def standardized(rows: Any, kept: Array, mean: Array, scale: Array, swapped: Array) -> Any:
    """Z of a file or an array; ``mean`` and ``scale`` are those of the kept variants.

    ``swapped`` marks kept variants of a file that count the other allele.
    """
    if isinstance(rows, BedRows):
        tables = (_COPIES - mean[:, None]) / scale[:, None]
        tables[:, 1] = 0.0
        tables[swapped] = tables[swapped][:, _swapped]
        return Standardized(rows, kept, tables)
    X = rows.read_rows(slice(0, rows.shape[0]))[:, kept]
    X = np.where(np.isnan(X), mean.astype(X.dtype), X)
    none, ones = np.zeros(len(kept)), np.ones(1)
    return ArrayRows(X).then(Centering.of(mean, none, 1 / scale, ones, X.dtype))


def missing_map(rows: Any, kept: Array) -> Any:
    """1 where a call is missing, else 0: n samples x kept variants."""
    if isinstance(rows, BedRows):
        return Standardized(rows, kept, np.tile([0.0, 1.0, 0.0, 0.0], (len(kept), 1)))
    return np.isnan(rows.read_rows(slice(0, rows.shape[0]))[:, kept]).astype(np.float64)


def called_in_both(rows: Any, kept: Array) -> Array:
    """For each pair of samples the kept variants that were called in both (n, n)."""
    M = missing_map(rows, kept)
    both = _missing_in_both(M) if isinstance(M, Standardized) else M @ M.T
    own = np.diag(both).copy()
    return len(kept) - own[:, None] - own + both


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


def fitted_to_calls(scores: Array, B: Array, missing: Any) -> tuple[Array, Array]:
    """argmin |z - B' a| over the called variants of each row: (I - B_m B_m') a = B z.

    Parameters
    ----------
    scores : array of shape (n, k)
        B z of each row, in which a missing call counts as average.
    B : array of shape (k, m)
        Orthonormal rows, some of which may be 0.
    missing : map (n, m)
        See ``missing_map``.

    Returns
    -------
    array of shape (n, k), array of bool of shape (n,)
        The solutions, and which rows have too few calls to determine one: they keep their scores.
    """
    scores, used = scores.copy(), np.flatnonzero(B.any(axis=1))
    upper = np.triu_indices(len(used))
    W = np.ascontiguousarray((B[used[upper[0]]] * B[used[upper[1]]]).T, B.dtype)
    lost = np.asarray(missing @ W, np.float64)
    grams = np.zeros((len(scores), len(used), len(used)))
    grams[:, upper[0], upper[1]] = grams[:, upper[1], upper[0]] = lost
    grams = np.eye(len(used)) - grams
    poor = np.linalg.eigvalsh(grams)[:, 0] < 1e-6
    grams[poor] = np.eye(len(used))
    scores[:, used] = np.linalg.solve(grams, scores[:, used, None])[:, :, 0]
    return scores, poor


def lengths(Z: Any) -> Array:
    """|z|^2 of each sample."""
    if isinstance(Z, Standardized):
        ones = np.ones((Z.shape[1], 1), Z.dtype)
        return np.asarray((Z.with_tables(Z.tables.astype(np.float64) ** 2) @ ones)[:, 0])
    blocks = (Z.read_rows(each).astype(np.float64) for each in Z.row_blocks())
    return np.concatenate([np.einsum("ij,ij->i", block, block) for block in blocks])


def refuse_samples_without_calls(
    rows: Any, calls: Calls, kept: Array, labels: tuple[str, ...] | None
) -> None:
    """Raise if a sample has no call among the variants that take part."""
    m = len(kept)
    if calls.missing.max() < m:
        return
    lost = np.asarray(missing_map(rows, kept) @ np.ones((m, 1)))[:, 0]
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
    needed, allowed = 3 * rows.dtype.itemsize * rows.shape[0] * rows.shape[1], budget(memory)
    if needed > allowed:
        raise MemoryRefusedError(
            f"standardized counts need {in_words(needed)}, the budget is {in_words(allowed)}; "
            "write the calls as a .bed file, which stays packed, or raise memory="
        )

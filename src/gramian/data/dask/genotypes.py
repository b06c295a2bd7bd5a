"""Genotypes in blocks of variants on workers: each is counted and standardized where it lies.

    survey     sums of each variant side by side, missing calls of each sample added
    Z Z'       n x n of every block, added
    Z (Z' U)   n x m of every block, added: one visit
    Z' U       side by side: only for loadings, which are as long as there are variants

What a block does is what ``data/variants.py`` and ``data/genotypes.py`` do with an array or a file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gramian.data import genotypes
from gramian.data.dask.cluster import kept_there
from gramian.data.dask.rows import DaskRows
from gramian.data.partials import added
from gramian.data.variants import Calls
from gramian.data.variants import counted as counted_here
from gramian.maps import Array, ImplicitMap

Settings = tuple[Array, Array, Array, Array]  # kept variants, their means, scales, swapped alleles


def counted(rows: DaskRows, dosages: bool) -> Calls:
    """Calls of all variants; what is no count is told by its place among all."""
    apart = {i: (dosages, a) for i, (a, _) in enumerate(rows.bounds)}
    found: Calls = rows.over(_counted, apart, add=Calls.beside)
    return found


class SpreadStandardized(ImplicitMap):
    """Z of rows on workers: n samples x the variants ``kept``, never stored.

    Parameters
    ----------
    rows : DaskRows
        In blocks of variants.
    kept : array of int
        Which variants.
    mean, scale, swapped : array
        Of each of them; see ``data.genotypes.standardized``.
    """

    resident = False
    block = 16  # vectors that cost little more than one

    def __init__(
        self, rows: DaskRows, kept: Array, mean: Array, scale: Array, swapped: Array
    ) -> None:
        self.rows, self.kept = rows, kept
        self.shape, self.dtype = (rows.shape[0], len(kept)), rows.dtype
        self.two_bit = rows.two_bit
        self.places = _places(rows, kept)
        settings = [
            (kept[at] - rows.bounds[i][0], mean[at], scale[at], swapped[at])
            for i, at in self.places.items()
        ]
        self.settings = dict(zip(self.places, kept_there(settings), strict=True))

    @property
    def passes(self) -> int:
        """Visits to the data so far."""
        return self.rows.passes

    def _times(self, V: Array) -> Array:
        return np.asarray(self._sum(_times, apart=V), self.dtype)

    def _times_T(self, U: Array) -> Array:
        return self.adjoint(U).astype(self.dtype)

    def adjoint(self, U: Array) -> Array:
        """Z' U in float64."""
        return np.concatenate(self._sum(_adjoint, U, add=None))

    def row_gram(self, U: Array) -> Array:
        """Z (Z' U) in one pass."""
        return np.asarray(self._sum(_row_gram, U))

    def outer(self) -> Array:
        """Z Z' in float64."""
        return np.asarray(self._sum(_outer))

    def lengths(self) -> Array:
        """|z|^2 of each sample."""
        return np.asarray(self._sum(_lengths))

    def _sum(
        self,
        f: Callable[..., Any],
        *shared: Array,
        apart: Array | None = None,
        add: Callable[[Any, Any], Any] | None = added,
    ) -> Any:
        """``f(Z of a block, *shared)``, added up; ``apart`` has a row for each variant."""
        each = {
            i: (f, self.settings[i], *(() if apart is None else (apart[at],)))
            for i, at in self.places.items()
        }
        return self.rows.over(_standardized, each, *shared, add=add)


def lost_products(rows: DaskRows, kept: Array, B: Array) -> Array:
    """For each sample b_i b_j summed over its missing calls; see ``data.genotypes``."""
    apart = {i: (kept[at] - rows.bounds[i][0], B[:, at]) for i, at in _places(rows, kept).items()}
    return np.asarray(rows.over(genotypes.lost_products, apart, add=added))


def called_in_both(rows: DaskRows, kept: Array) -> Array:
    """For each pair of samples the kept variants that were called in both (n, n)."""
    apart = {i: (kept[at] - rows.bounds[i][0],) for i, at in _places(rows, kept).items()}
    return np.asarray(rows.over(genotypes.called_in_both, apart, add=added))


def packed_calls(rows: DaskRows, chosen: Array) -> Array:
    """Some variants as a .bed file has them: a line each, four calls to a byte."""
    apart = {i: (chosen[at] - rows.bounds[i][0],) for i, at in _places(rows, chosen).items()}
    return np.concatenate(rows.over(genotypes.packed_calls, apart))


def _places(rows: DaskRows, kept: Array) -> dict[int, slice]:
    """Of each block that has any of these variants, which of them."""
    found = {}
    for i, (a, b) in enumerate(rows.bounds):
        first, last = np.searchsorted(kept, (a, b)).tolist()
        if first < last:
            found[i] = slice(first, last)
    return found


# What workers run --------------------------------------------------------------------------------


def _counted(rows: Any, dosages: bool, begin: int) -> Calls:
    from dataclasses import replace

    found = counted_here(rows, dosages)
    if found.wrong is None:
        return found
    wrong = found.wrong._replace(column=found.wrong.column + begin)
    return replace(found, wrong=wrong)


def _standardized(rows: Any, f: Callable[..., Any], settings: Settings, *more: Array) -> Any:
    return f(genotypes.standardized(rows, *settings), *more)


def _times(Z: Any, V: Array) -> Array:
    return np.asarray(Z @ np.ascontiguousarray(V, Z.dtype), np.float64)


def _adjoint(Z: Any, U: Array) -> Array:
    return np.asarray(Z.adjoint(np.ascontiguousarray(U, Z.dtype)))


def _row_gram(Z: Any, U: Array) -> Array:
    U = np.ascontiguousarray(U, Z.dtype)
    if hasattr(Z, "row_gram"):
        return np.asarray(Z.row_gram(U))
    return _times(Z, Z.adjoint(U))


def _outer(Z: Any) -> Array:
    return np.asarray(Z.outer())


def _lengths(Z: Any) -> Array:
    return genotypes.lengths(Z)

"""A column's groups or numbers, and the colors and shapes they are drawn with.

Okabe and Ito's palette stays distinct under the common color-vision deficiencies; every group has
a marker shape as well, so nothing is told by color alone.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.maps import Array
from gramian.show.text import visible

__all__ = ["MAX_GROUPS", "PALETTE", "SCALE", "Groups", "Numbers", "coloring", "grouping"]

# Ordered so that few groups get the pairs that differ most; black last (it vanishes on dark).
_OKABE_ITO = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#F0E442",
    "#000000",
)
# The command line hands a palette of the user's down this way.
_CHOSEN = tuple(re.findall(r"#[0-9a-fA-F]{6}", os.environ.get("GRAMIAN_PALETTE", "")))
PALETTE = _CHOSEN or _OKABE_ITO
SCALE = "viridis"
MAX_GROUPS = 20
_FEW_INTEGERS = 12


@dataclass(frozen=True)
class Groups:
    """A column of categories: ``levels[codes[i]]`` is the category of row i."""

    levels: tuple[str, ...]
    codes: Array

    @property
    def sizes(self) -> Array:
        """Number of rows in each level."""
        return np.bincount(self.codes, minlength=len(self.levels))


@dataclass(frozen=True)
class Numbers:
    """A column of numbers; NaN where a value is missing."""

    values: Array


def coloring(values: Any) -> Groups | Numbers | None:
    """Decide how a column colors points.

    Parameters
    ----------
    values : sequence, array or series of length n

    Returns
    -------
    Groups, Numbers or None
        ``Groups`` for text, booleans and a few distinct whole numbers; ``Numbers`` for other
        numbers; ``None`` where nearly every row has its own text (names, not groups).
    """
    column = _as_array(values)
    numbers = _as_numbers(column)
    if numbers is None:
        distinct = len(set(map(str, column.tolist())))
        names = distinct > MAX_GROUPS and 2 * distinct > len(column)
        return None if names else grouping(column)
    finite = numbers[np.isfinite(numbers)]
    whole = bool(np.all(finite == np.round(finite)))
    if finite.size and whole and len(np.unique(finite)) <= min(_FEW_INTEGERS, len(finite) - 1):
        return grouping([None if np.isnan(v) else int(v) for v in numbers.tolist()])
    return Numbers(numbers)


def grouping(values: Any) -> Groups:
    """Groups of a column, whatever it holds.

    Parameters
    ----------
    values : sequence, array or series of length n

    Returns
    -------
    Groups
        Levels in order; beyond ``MAX_GROUPS`` the rarest are gathered as "other"; absent values
        are "missing" and come last.
    """
    column = [None if _absent(value) else value for value in _as_array(values).tolist()]
    sizes = Counter(column)
    some_absent = sizes.pop(None, 0) > 0
    room = MAX_GROUPS - some_absent
    levels = _in_order(sizes)
    rest: list[Any] = []
    if len(levels) > room:
        by_size = sorted(levels, key=lambda level: -sizes[level])  # stable: ties in order
        levels, rest = _in_order(by_size[: room - 1]), by_size[room - 1 :]
    names = [visible(level) for level in levels]
    code = {level: i for i, level in enumerate(levels)}
    if rest:
        code.update(dict.fromkeys(rest, len(names)))
        names.append(f"other ({len(rest)} groups)")
    if some_absent:
        code[None] = len(names)
        names.append("missing")
    codes = np.fromiter((code[value] for value in column), dtype=np.intp, count=len(column))
    return Groups(tuple(names), codes)


def _absent(value: Any) -> bool:
    return value is None or value == "" or value != value


def _as_array(values: Any) -> Array:
    """One-dimensional array of a list, an array, or a series of any frame library."""
    if isinstance(values, (list, tuple)):
        column = np.empty(len(values), dtype=object)
        column[:] = values
        return column
    return np.asarray(values).ravel()


def _as_numbers(column: Array) -> Array | None:
    """The column as floats if all its present values are numbers."""
    if column.dtype.kind in "iuf":
        return column.astype(np.float64)
    if column.dtype.kind != "O":
        return None
    present = [value for value in column.tolist() if value is not None]
    if not present or not all(
        isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
        for value in present
    ):
        return None
    return np.array([np.nan if v is None else v for v in column.tolist()], dtype=np.float64)


def _in_order(levels: Any) -> list[Any]:
    """Sorted where the values allow it, by their text where they are mixed."""
    try:
        return sorted(levels)
    except TypeError:
        return sorted(levels, key=str)

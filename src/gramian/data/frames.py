"""Data frames of any library, through narwhals, and what their columns hold."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from decimal import Decimal
from numbers import Complex, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from gramian.data.columns import (
    Cell,
    Choice,
    Role,
    Table,
    TextRule,
    all_different,
    check_names,
    listing,
    refuse_text,
    shown,
)
from gramian.data.survey import is_number
from gramian.errors import GramianWarning, InputError

if TYPE_CHECKING:
    import narwhals as nw

TOGETHER = 64  # columns turned into rows at a time: fast, and little extra memory


@dataclass
class Frame:
    """A data frame on its way to becoming a table."""

    name: str
    frame: nw.DataFrame[Any]
    choice: Choice
    text: TextRule
    labels: tuple[str, ...] | None = None
    roles: list[Role] | None = None  # of the columns, where they are known already
    beside: bool = False  # the numbers are elsewhere: no column here has to hold any
    names_rows: bool = True  # whether our first column is the table's

    def table(self) -> Table:
        """Sort the columns into numbers and text, and convert them."""
        names = [str(column) for column in self.frame.columns]  # numbers, often, in pandas
        # All at once: asking a frame for one column takes longer the more of them it has.
        columns = list(self.frame.iter_columns())
        check_names(self.name, names)
        roles = self.roles
        if roles is None:
            roles = self.choice.roles(self.name, names) if names else []
        kinds = {
            i: _kind(self.name, names[i], columns[i])
            for i, role in enumerate(roles)
            if role == "feature"
        }
        words = {i: found for i, found in kinds.items() if isinstance(found, list)}
        if words and (self.text == "refuse" or self.choice.columns is not None):
            cells = [_example(names[i], values) for i, values in words.items()]
            raise refuse_text(self.name, cells, names[0])
        numeric = [i for i in kinds if i not in words]
        if words and not numeric and not self.beside:
            raise InputError(f"{self.name}: no column holds numbers; choose a table with numbers")
        for i, role in enumerate(roles):
            if role in ("label", "other"):
                words[i] = _words(columns[i])
        notes = []
        if "label" in roles:
            self.labels = tuple(words.pop(roles.index("label")))
        elif self._names_rows(kinds, words):
            self.labels = tuple(words.pop(0))
            notes.append(f"column 1 {shown(names[0])} taken as row names")
        if kept := [str(_example(names[i], words[i])) for i in kinds if i in words]:
            notes.append(f"not numbers, and kept apart: {listing(kept)}")
        return Table(
            numbers=self._numbers(names, columns, {i: kinds[i] for i in numeric}),
            columns=tuple(names[i] for i in numeric),
            labels=self.labels,
            others={names[i]: words[i] for i in sorted(words)},
            notes=tuple(notes),
        )

    def _names_rows(self, kinds: dict[int, Any], words: dict[int, list[str]]) -> bool:
        """Whether the first column is text that can name the rows."""
        first = self.names_rows and self.labels is None and 0 in kinds and 0 in words
        return first and all_different(words[0])

    def _numbers(
        self, names: list[str], columns: list[nw.Series[Any]], kinds: dict[int, Any]
    ) -> np.ndarray:
        """The numeric columns side by side; without a copy where the frame allows it."""
        dtypes = [each.dtype if isinstance(each, np.ndarray) else each for each in kinds.values()]
        if len(kinds) == len(names) and set(dtypes) in ({np.dtype("f4")}, {np.dtype("f8")}):
            whole = self.frame.to_numpy()
            if whole.dtype == dtypes[0]:  # not so where a library marks nulls by objects
                return whole
        self._warn_rounded(names, columns, kinds)
        numbers = np.empty((len(self.frame), len(kinds)), common_type(dtypes))
        positions = list(kinds)
        for begin in range(0, len(positions), TOGETHER):
            some = positions[begin : begin + TOGETHER]
            turned = np.empty((len(some), len(numbers)), numbers.dtype)
            for row, i in zip(turned, some, strict=True):
                kind = kinds[i]
                row[:] = kind if isinstance(kind, np.ndarray) else _values(columns[i])
            numbers[:, begin : begin + len(some)] = turned.T
        return numbers

    def _warn_rounded(
        self, names: list[str], columns: list[nw.Series[Any]], kinds: dict[int, Any]
    ) -> None:
        for i, kind in kinds.items():
            if not isinstance(kind, np.dtype) or kind not in (np.int64, np.uint64):
                continue
            values = columns[i].drop_nulls().to_numpy()
            values = values[(values > 2**53) | (values < -(2**53))]
            # An integer is a float64 exactly if its odd part has at most 53 bits.
            odd = values // (values & (~values + values.dtype.type(1)))
            if len(lost := np.flatnonzero(np.abs(odd) > 2**53)):
                warnings.warn(
                    f"{self.name}: integers beyond 2^53 are rounded, first {values[lost[0]]} in "
                    f"column {shown(names[i])}; leave the column out if it is an identifier",
                    GramianWarning,
                    stacklevel=5,
                )
                return


def common_type(dtypes: list[np.dtype[Any]]) -> np.dtype[Any]:
    """float32 where a column is and none needs more; else float64."""
    if any(dtype.kind == "f" for dtype in dtypes):
        return np.result_type(np.float32, *dtypes)
    return np.dtype(np.float64)


def _kind(name: str, column: str, series: nw.Series[Any]) -> np.dtype[Any] | np.ndarray | list[str]:
    """What a column holds: numbers of a type, numbers already converted, or words."""
    import narwhals as nw

    dtype = series.dtype
    if dtype == nw.Boolean:
        return np.dtype(bool)
    if dtype.is_numeric():
        try:
            return np.dtype(str(dtype).lower())
        except (TypeError, ValueError):  # decimals, integers of 128 bits
            return np.dtype(np.float64)
    refuse_nested(name, column, dtype)
    if series.null_count() == len(series):
        return np.full(len(series), np.nan)
    if dtype not in (nw.Object, nw.Unknown):
        return _words(series)
    values = series.to_numpy()
    if values.dtype.kind in "fiub":  # sparse columns, columns of nulls
        return values
    if values.dtype.kind == "c":
        raise _complex(name, column)
    return _objects(name, column, series, values)


def _values(series: nw.Series[Any]) -> np.ndarray:
    """A column of numbers, NaN where it is null."""
    values = series.to_numpy()
    if values.dtype.kind in "fiub":
        return values
    numbers = np.full(len(values), np.nan)  # nulls or decimals: Python objects, so far
    known = ~series.is_null().to_numpy().astype(bool)
    numbers[known] = values[known].astype(np.float64)
    return numbers


def _objects(
    name: str, column: str, series: nw.Series[Any], values: np.ndarray
) -> np.ndarray | list[str]:
    """Python objects: numbers if every one is, else words."""
    numbers = np.full(len(values), np.nan)
    for i in np.flatnonzero(~series.is_null().to_numpy().astype(bool)).tolist():
        value = values[i]
        if isinstance(value, (Real, Decimal, np.bool_)):
            numbers[i] = float(value)
        elif isinstance(value, Complex):
            raise _complex(name, column)
        elif isinstance(value, (list, tuple, dict, set, np.ndarray)):
            raise _nested(name, column, type(value).__name__)
        else:
            return _words(series)
    return numbers


def refuse_nested(name: str, column: str, dtype: Any) -> None:
    """Raise for a column whose cells are lists or records; any library's type will do."""
    if dtype.is_nested():
        raise _nested(name, column, str(dtype))


def _nested(name: str, column: str, kind: str) -> InputError:
    return InputError(
        f"{name}: column {shown(column)} is nested ({kind[:60]}), not one number per row; "
        "spread it over columns or leave it out"
    )


def _complex(name: str, column: str) -> InputError:
    return InputError(
        f"{name}: column {shown(column)} holds complex numbers (Complex data not supported); "
        "pass real and imaginary parts as two columns"
    )


def _words(series: nw.Series[Any]) -> list[str]:
    nulls = series.is_null().to_list()
    values = zip(series.to_list(), nulls, strict=True)
    return ["" if null else str(value) for value, null in values]


def _example(column: str, words: list[str]) -> Cell:
    """The first value that shows a column not to be numbers."""
    filled = [i for i, word in enumerate(words) if word]
    at = next((i for i in filled if not is_number(words[i])), filled[0] if filled else 0)
    return Cell(column, words[at] if words else "", f"in row {at}, counted from 0")

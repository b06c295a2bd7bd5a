"""Cells as numbers, and what the columns of a text file have shown.

One rule decides what a number is, for every cell of every file: an optional sign, digits with at
most one decimal sign, an optional exponent. What is neither number nor missing is counted per
column, because the whole column decides what it means: a word in a column of words is text, the
same word among a thousand numbers is a mistake.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gramian.data.columns import Cell, shown
from gramian.data.grid import Grid
from gramian.errors import GramianWarning, InputError

if TYPE_CHECKING:
    import polars as pl

MISTAKE = 0.9  # this share of numbers in a column makes the rest a mistake, not text
EXACT = 2.0**53  # beyond it not every integer is a float64
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
# 1,5 and 1,234.5 and 1 234: a person sees a number where no parser does.
COMMA_NUMBER = r"^[+-]?\d+,\d+([eE][+-]?\d+)?$|^[+-]?\d{1,3}([,'’\s]\d{3})+(\.\d+)?$"
POINT_NUMBER = r"^[+-]?\d+\.\d+([eE][+-]?\d+)?$|^[+-]?\d{1,3}([.'’\s]\d{3})+(,\d+)?$"


@dataclass(frozen=True)
class Dialect:
    """How numbers are written in a file."""

    decimal: str
    missing: tuple[str, ...]

    def numbers(self, cells: pl.Series) -> pl.Series:
        """Each cell as a float64; null where it is none, NaN where it is declared missing."""
        import polars as pl

        numbers = self._parsed(cells)
        # Codes such as -999 are numbers to the parser: compare by value, so that -999.0 is one too.
        codes = self._parsed(pl.Series(self.missing)).drop_nulls().drop_nans()
        finite = codes.filter(codes.is_finite())
        if len(finite):
            numbers = numbers.set(numbers.is_in(finite.to_list()), float("nan"))
        if len(codes) > len(finite):  # not by value: 1e400 must not pass as a declared "inf"
            numbers = numbers.set(cells.is_in(list(self.missing)), float("nan"))
        return numbers

    def _parsed(self, cells: pl.Series) -> pl.Series:
        import polars as pl

        if self.decimal == ",":
            # A point would be read as a decimal sign after all, or mean thousands: neither.
            cells = cells.str.replace_all(".", "x", literal=True)
            cells = cells.str.replace_all(",", ".", literal=True)
        return cells.cast(pl.Float64, strict=False)


@dataclass(frozen=True)
class Part:
    """A block whose cells have been parsed."""

    grid: Grid
    cells: pl.Series
    values: np.ndarray  # (rows, width), NaN where there is no number
    wrong: np.ndarray | None  # (rows, width), where a cell is neither number nor missing
    missing: tuple[str, ...]

    @classmethod
    def of(cls, grid: Grid, width: int, dialect: Dialect) -> Part:
        """Cut a block into cells and parse every one."""
        cells = grid.cells()
        numbers = dialect.numbers(cells)
        values = numbers.to_numpy().reshape(-1, width)
        wrong = None
        if numbers.null_count():
            found = numbers.is_null() & ~cells.is_in(list(dialect.missing))
            wrong = found.to_numpy().reshape(-1, width) if found.any() else None
        return cls(grid, cells, values, wrong, dialect.missing)

    def cell(self, names: Sequence[str], row: int, column: int) -> Cell:
        """One cell with its place in the file."""
        width = self.values.shape[1]
        value = self.cells[row * width + column]
        return Cell(names[column], value, f"on line {self.grid.line_of(row, width)}")

    def strings(self, column: int, names: bool) -> list[str]:
        """A column as text; missing values are empty, but in ``names``: NA is a country, too."""
        width = self.values.shape[1]
        found: list[str] = self.cells.gather_every(width, column).to_list()
        if names:
            return found
        return ["" if word in self.missing else word for word in found]


class Survey:
    """What the columns have shown so far."""

    def __init__(self, name: str, names: Sequence[str], dialect: Dialect) -> None:
        self.name = name
        self.names = names
        self.decimal = dialect.decimal
        self.rows = 0
        self.numbers = np.zeros(len(names), np.int64)  # cells that are numbers
        self.wrong = np.zeros(len(names), np.int64)  # neither number nor missing
        self.nearly = np.zeros(len(names), np.int64)  # of those, numbers to a person's eye
        self.first_wrong: dict[int, tuple[int, Cell]] = {}
        self.first_infinite: dict[int, tuple[int, Cell]] = {}
        self.first_rounded: dict[int, Cell] = {}

    def add(self, part: Part) -> None:
        """Count one more block."""
        rows, width = part.values.shape
        self.numbers += rows - np.isnan(part.values).sum(axis=0)
        if part.wrong is not None:
            self.wrong += part.wrong.sum(axis=0)
            where = np.flatnonzero(part.wrong)
            pattern = COMMA_NUMBER if self.decimal == "." else POINT_NUMBER
            nearly = part.cells.gather(where).str.contains(pattern).to_numpy()
            self.nearly += np.bincount(where[nearly] % width, minlength=width)
            for column in np.flatnonzero(part.wrong.any(axis=0)).tolist():
                if column not in self.first_wrong:
                    row = int(part.wrong[:, column].argmax())
                    cell = part.cell(self.names, row, column)
                    self.first_wrong[column] = self.rows + row, cell
        large = np.abs(part.values) >= EXACT  # 2^53 itself may be 2^53 + 1, rounded
        if large.any():
            self._add_large(part, large)
        self.rows += rows

    def _add_large(self, part: Part, large: np.ndarray) -> None:
        for column in np.flatnonzero(large.any(axis=0)).tolist():
            values = part.values[:, column]
            infinite = np.flatnonzero(np.isinf(values))
            if len(infinite) and column not in self.first_infinite:
                row = int(infinite[0])
                cell = part.cell(self.names, row, column)
                self.first_infinite[column] = self.rows + row, cell
            if column not in self.first_rounded:
                self._add_integers(part, column, np.flatnonzero(large[:, column]))

    def _add_integers(self, part: Part, column: int, rows: np.ndarray) -> None:
        """Remember the first integer that did not fit a float64."""
        cells = part.cells.gather(rows * part.values.shape[1] + column)
        whole = cells.str.contains(r"^[+-]?[0-9]+$").to_numpy()
        for row, cell in zip(rows[whole].tolist(), cells.filter(whole).to_list(), strict=True):
            value = part.values[row, column]
            digits = cell.lstrip("+-").lstrip("0")  # as many as a float64 has, if it is finite
            if np.isfinite(value) and int(digits) != abs(int(value)):
                self.first_rounded[column] = part.cell(self.names, row, column)
                return

    def is_suspicious(self) -> bool:
        """Whether any cell so far may have to be refused."""
        return bool(self.first_wrong or self.first_infinite)

    def is_text(self) -> np.ndarray:
        """Which columns hold text rather than numbers with mistakes among them."""
        share = self.numbers + self.nearly < MISTAKE * (self.numbers + self.wrong)
        return (self.wrong > 0) & share

    def mistakes(self, columns: Sequence[int]) -> None:
        """Raise for the first cell that makes a column of numbers unusable."""
        text = self.is_text()
        found = [
            (*first[column], first is self.first_infinite)
            for column in columns
            for first in (self.first_wrong, self.first_infinite)
            if column in first and not text[column]
        ]
        if not found:
            return
        _, cell, infinite = min(found, key=lambda each: each[0])
        why = _why_infinite(cell.value) if infinite else self._why_no_number(cell.value)
        raise InputError(
            f"{self.name}: {cell.place.removeprefix('on ')}, column {shown(cell.column)}: "
            f"{shown(cell.value)} {why}"
        )

    def _why_no_number(self, value: str) -> str:
        if self.decimal == "," and is_number(value):
            return "has a decimal point, but decimal=',' was given; write all numbers one way"
        if self.decimal == "." and is_number(value.replace(",", ".")):
            return (
                "is not a number; if the comma is a decimal comma, say so (decimal=','), "
                "else write the number without it, or leave the column out (drop=)"
            )
        plain = "".join(sign for sign in value if sign not in ",.'’" and not sign.isspace())
        if is_number(plain):
            return (
                "is not a number; write it without thousands separators, "
                "or leave the column out (drop=)"
            )
        return f"is not a number; mend it, or {_declare(value)}"

    def warn_rounded(self, columns: Sequence[int]) -> None:
        """Say once that integers did not fit; they are identifiers more often than numbers."""
        found = [self.first_rounded[column] for column in columns if column in self.first_rounded]
        if found:
            warnings.warn(
                f"{self.name}: integers beyond 2^53 are rounded, first {shown(found[0].value)} "
                f"{found[0].place} in column {shown(found[0].column)}; "
                "leave the column out (drop=) if it is an identifier",
                GramianWarning,
                stacklevel=5,
            )


def is_number(written: str) -> bool:
    """Whether a text is a number, written with a point."""
    return NUMBER.fullmatch(written) is not None


def _why_infinite(value: str) -> str:
    if "inf" in value.lower():
        return f"is infinite; leave the row out, or {_declare(value)}"
    return "overflows float64, whose largest number is 1.8e308; rescale the column"


def _declare(value: str) -> str:
    return f"declare it missing: add {shown(value)} to the words of missing="

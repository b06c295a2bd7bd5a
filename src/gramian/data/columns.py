"""Which columns of a table are used, and the sentences about those that cannot be.

Shared by text files, Parquet files and data frames, so that the same table gives the same answer
and the same refusal whatever it was kept in.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from gramian.errors import InputError

Role = Literal["feature", "label", "other", "skip"]
TextRule = Literal["refuse", "keep"]
Key = str | int


@dataclass(frozen=True)
class Table:
    """Numbers with the names that came with them.

    Attributes
    ----------
    numbers : ndarray of shape (n, p), or a ``RowBlocked`` where they stay in a file
        float64, or float32 where the source is float32. C-order, except where it is a view of a
        frame's own memory. NaN means missing.
    columns : tuple of str
        Names of the numeric columns.
    labels : tuple of str or None
        Row names, if a column was taken as such or a frame has a meaningful index.
    others : dict of str to list of str
        Columns that are not numbers, as text; missing values are empty.
    notes : tuple of str
        What was decided on the way and should be said aloud.
    """

    numbers: Any
    columns: tuple[str, ...]
    labels: tuple[str, ...] | None
    others: dict[str, list[str]]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Cell:
    """A value and where it stands; ``place`` is a line of a file or a row of a frame."""

    column: str
    value: str
    place: str

    def __str__(self) -> str:
        return f"{shown(self.column)} ({shown(self.value)} {self.place})"


@dataclass(frozen=True)
class Choice:
    """Which columns the caller wants, by name or by position counted from 0."""

    columns: tuple[Key, ...] | None = None
    drop: tuple[Key, ...] = ()
    labels: Key | None = None
    others: tuple[Key, ...] = ()

    @classmethod
    def of(
        cls,
        columns: Key | Iterable[Key] | None,
        drop: Key | Iterable[Key],
        labels: Key | None,
        others: Key | Iterable[Key],
    ) -> Choice:
        """Accept one name where several are possible."""
        wanted = None if columns is None else _several(columns)
        return cls(wanted, _several(drop), labels, _several(others))

    def roles(self, name: str, names: Sequence[str]) -> list[Role]:
        """What becomes of each column of ``names``; ``name`` is the table's, for messages."""
        positions = {known: i for i, known in enumerate(names)}

        def find(keys: Iterable[Key]) -> list[int]:
            return [_position(name, key, positions) for key in keys]

        roles: list[Role] = ["feature" if self.columns is None else "skip"] * len(names)
        for i in find(self.columns or ()):
            roles[i] = "feature"
        for i in find(self.drop):
            roles[i] = "skip"
        # Asked for by name: stronger than being dropped from the numbers.
        for i in find(self.others):
            roles[i] = "other"
        if self.labels is not None:
            roles[find([self.labels])[0]] = "label"
        if "feature" not in roles:
            left_out = listing([shown(known) for known in names])
            raise InputError(f"{name}: no columns are left to read; {left_out} were left out")
        return roles


def _several(keys: Key | Iterable[Key]) -> tuple[Key, ...]:
    return (keys,) if isinstance(keys, (str, int)) else tuple(keys)


def _position(name: str, key: Key, positions: dict[str, int]) -> int:
    if isinstance(key, str):
        if key in positions:
            return positions[key]
        near = difflib.get_close_matches(key, positions, n=1)
        hint = (
            f"did you mean {shown(near[0])}?"
            if near
            else f"it has {listing(map(shown, positions))}"
        )
        raise InputError(f"{name}: there is no column {shown(key)}; {hint}")
    if isinstance(key, bool) or not 0 <= key < len(positions):
        raise InputError(
            f"{name}: there is no column at position {key}; "
            f"its {len(positions)} columns are counted from 0, or can be named"
        )
    return int(key)


def shown(value: str) -> str:
    """A value of the user's for a message: quoted, short, control characters as escapes."""
    return repr(value if len(value) <= 40 else value[:39] + "…")


def listing(items: Iterable[str], most: int = 5) -> str:
    """``a, b and c``, or the first five and how many more."""
    items = list(items)
    if len(items) > most:
        items = [*items[:most], f"{len(items) - most} more"]
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


def check_names(name: str, names: Sequence[str]) -> None:
    """Two columns of one name cannot be told apart later: refuse them now."""
    if len(set(names)) == len(names):
        return
    seen: dict[str, list[int]] = {}
    for i, known in enumerate(names, start=1):
        seen.setdefault(known, []).append(i)
    twice = [
        f"{shown(known)} (columns {listing(map(str, places))})"
        for known, places in seen.items()
        if len(places) > 1
    ]
    raise InputError(
        f"{name}: column names must be different, but there are several of {listing(twice)}; "
        "rename them"
    )


def refuse_text(name: str, found: Sequence[Cell], first: str) -> InputError:
    """The refusal of columns that are not numbers; ``first`` is the table's first column."""
    several = len(found) > 1
    what = f"{len(found)} columns are not numbers" if several else "a column is not numbers"
    where = listing([str(cell) for cell in found])
    out = f"leave {'them' if several else 'it'} out (drop=, --drop on the command line)"
    rows = f", take {shown(first)} as row names (labels=, --id)" if found[0].column == first else ""
    return InputError(f"{name}: {what}: {where}; {out}{rows}, or turn text into numbers first")


def all_different(values: Sequence[str]) -> bool:
    """Whether a column can serve as row names: no value twice, none missing."""
    return "" not in values and len(set(values)) == len(values)

"""Square matrices in text files: CSV and its relatives, with labels or without, and PHYLIP.

1. first line     a single whole number: PHYLIP; else the cells of lines 1 and 2 say which of these
2. no labels      every cell of line 1 is a number, and there are as many lines as cells
3. both           line 1 begins with an empty cell (or has one cell less, as R writes it)
4. rows only      line 1 is a word and numbers, and the columns are as many as the lines
5. columns only   words in line 1, and as many lines below

Numbers may be labels too. What line 1 leaves open, the shape decides: one more look at the file.
Lines at the top that begin with # are comments; #name, with as many cells as the next, is line 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from gramian.data.columns import Choice, Table, listing, shown
from gramian.data.grid import Grid, records
from gramian.data.source import Source
from gramian.data.survey import Dialect
from gramian.data.tables import MISSING
from gramian.data.text import Reading, sniff
from gramian.errors import InputError, MemoryRefusedError, warn
from gramian.maps import Array
from gramian.memory import in_words

Square = tuple[Array, tuple[str, ...] | None, tuple[str, ...] | None]  # numbers, rows, columns
_strict = 10  # letters of a name in PHYLIP's original format


def read_square(source: Source, *, cross: bool = False, decimal: str = ".") -> Square:
    """Numbers of a text file with the labels of its rows and columns; not yet checked.

    ``cross``: distances of new points to old ones, which need not be square, so that the shape
    cannot tell whether numbers in line 1 are labels; they are taken as numbers. ``decimal``: the
    decimal sign, but for PHYLIP, which has a point.
    """
    start = next(records(source), None)
    if start is None:
        raise InputError(f"{source.name}: the file is empty; there are no distances to read")
    count = start[0].split(b"\n", 1)[0].strip()
    if count.isdigit() and count.strip(b"0") and not cross:  # 1
        return _read_phylip(source)
    dialect = Dialect(decimal, MISSING)
    skip, delimiter = _after_comments(source, start[0], dialect)
    lines = start[0][skip:].split(b"\n", 2)
    first, second = (_cells(source, line, delimiter) for line in lines[:2])
    if not first:
        raise InputError(f"{source.name}: line 1 is blank; delete it")
    numbers = [_is_number(cell, dialect) for cell in first]

    ended = False  # whether a delimiter at the end of every line makes an empty column

    def read(header: bool, labels: bool, short: bool = False) -> Square:
        nonlocal ended
        (X, rows, columns), ended = _read(
            source, delimiter, dialect, header=header, labels=labels, short=short, skip=skip
        )
        if not (ended or cross or short) and X.shape[1] > 1:
            ended = bool(np.isnan(X[:, -1]).all() and not np.isnan(X[-1]).all())
            if ended:
                X, columns = np.ascontiguousarray(X[:, :-1]), columns and columns[:-1]
        return X, rows, columns

    def surplus(found: Square) -> int:
        """How many lines there are more than columns."""
        return 0 if cross else found[0].shape[0] - found[0].shape[1]

    short = len(second) == len(first) + 1
    named = short or not first[0]
    if named:  # 3, as R's write.table does it if short
        found = read(header=True, labels=True, short=short)
    elif all(numbers) or (all(numbers[1:]) and len(first) > 2):
        labels = not numbers[0]
        found = read(header=False, labels=labels)  # 2 or 4
        found = read(header=True, labels=labels) if surplus(found) == 1 else found
    else:
        labels = bool(second) and not _is_number(second[0], dialect)
        found = read(header=True, labels=labels)  # 3 or 5
        if not labels and surplus(found) == -1:
            found = read(header=True, labels=True)
    if not named:
        _refuse_numbers(source.name, (*first, *(found[1] or ())), dialect)
    if ended:
        warn(f"{source.name}: the delimiter at the end of every line is ignored")
    return found


def _after_comments(source: Source, block: bytes, dialect: Dialect) -> tuple[int, str]:
    """How many bytes of comments there are at the top, and the delimiter of what follows."""
    begin = end = 0
    while block.startswith(b"#", end):
        begin, end = end, block.find(b"\n", end) + 1 or len(block)
    if not end or end == len(block):
        return 0, sniff(source, block, dialect)
    delimiter = sniff(source, block[end:], dialect)
    last, following = block[begin:end], block[end:].split(b"\n", 1)[0]
    cells = [len(_cells(source, line.rstrip(b"\n"), delimiter)) for line in (last, following)]
    named = cells[0] == cells[1] > 1 and not last.startswith((b"# ", b"#\t"))
    return begin if named else end, delimiter


def _refuse_numbers(name: str, labels: tuple[str, ...], dialect: Dialect) -> None:
    """A label that is a number by the other decimal sign is one that was read wrongly."""
    other = "," if dialect.decimal == "." else "."
    wrong = next((x for x in labels if re.fullmatch(rf"[+-]?\d+\{other}\d+", x)), None)
    if wrong is not None:
        raise InputError(
            f"{name}: {shown(wrong)} stands where a label is expected; if it is a number with a "
            f"decimal {'comma' if other == ',' else 'point'}, say so (decimal={other!r}), else "
            "begin line 1 with an empty cell and every other line with a label"
        )


def _cells(source: Source, line: bytes, delimiter: str) -> list[str]:
    if not line.strip():
        return []
    found: list[str] = Grid.of(source.name, line + b"\n", 1, delimiter).cells().to_list()
    return found


def _is_number(cell: str, dialect: Dialect) -> bool:
    import polars as pl

    return cell in dialect.missing or bool(dialect.numbers(pl.Series([cell])).is_not_null().all())


def _read(
    source: Source,
    delimiter: str,
    dialect: Dialect,
    *,
    header: bool,
    labels: bool,
    short: bool = False,
    skip: int = 0,
) -> tuple[Square, bool]:
    """One pass of the strict reader, and whether the last column, without a name, was empty.

    ``short``: the header lacks a cell for the row labels.
    """
    choice = Choice(labels=0 if labels and not short else None)
    reading = Reading(source, choice, "keep", delimiter, dialect, header, [], skip=skip)
    start = next(records(source))[0]
    reading.read_header(start)
    if short:
        reading.names.insert(0, "")
        reading.roles.insert(0, "label")
    held = reading.collect(None)
    as_text = reading.decide(held)
    if words := [str(held.survey.first_wrong[i][1]) for i in reading.features if as_text[i]]:
        raise InputError(
            f"{source.name}: distances are numbers, but there is text in {listing(words)}; labels "
            "belong in the first line and the first column; if this is a table of observations, "
            "compute distances between its rows first"
        )
    table: Table = reading.table(held)
    ended = reading.roles[-1] == "skip"
    return (table.numbers, table.labels, table.columns if header else None), ended


def _read_phylip(source: Source) -> Square:
    """PHYLIP: how many points, then for each a name and its distances.

    Square, or the triangle below the diagonal (with or without it); names end at a blank, or fill
    ten letters as in the original format; long records may go on on the next lines.
    """
    lines, name = _lines(source), source.name
    n = int(next(lines)[1])
    if 8 * n * n > source.max_bytes:
        raise MemoryRefusedError(
            f"{name}: {n} points need {in_words(8 * n * n)} of memory, "
            f"{in_words(source.max_bytes)} may be used; convert it to .npy, which is read in blocks"
        )
    D, names, lower, diagonal = np.zeros((n, n)), [], False, 0
    coming = next(lines, None)
    for i in range(n):
        if coming is None:
            raise InputError(
                f"{name}: line 1 says {n} points, but the file ends after {i}; it is cut short, "
                "or not in PHYLIP format"
            )
        at, line = coming
        word, values = _record(name, at, line, i + diagonal if lower else n)
        if i == 0 and n > 1 and len(values) < 2:
            lower, diagonal = True, len(values)
        wanted = i + diagonal if lower else n
        coming = next(lines, None)
        while len(values) < wanted and coming and (more := _numbers(coming[1].split())):
            values += more
            coming = next(lines, None)
        if len(values) != wanted:
            raise InputError(
                f"{name}: line {at} ({shown(word)}) has {len(values)} distances where {wanted} "
                f"are expected of point {i + 1} of {n}; mend the line"
            )
        D[i, :wanted] = values
        names.append(word)
    if coming is not None:
        raise InputError(
            f"{name}: line 1 says {n} points, but line {coming[0]} goes on; mend the number"
        )
    if lower:
        D += np.tril(D, -1).T
    return D, tuple(names), None


def _lines(source: Source) -> Iterator[tuple[int, str]]:
    """Lines that are not blank, with their numbers."""
    for block, at in records(source):
        for i, line in enumerate(block.decode().split("\n"), start=at):
            if line.strip():
                yield i, line


def _record(name: str, at: int, line: str, wanted: int) -> tuple[str, list[float]]:
    """The name at the beginning of a line and the numbers after it."""
    words = line.split()
    relaxed, strict = _numbers(words[1:]), _numbers(line[_strict:].split())
    if relaxed is not None and (len(relaxed) == wanted or strict is None):
        return words[0], relaxed
    if strict == [] and any(_numbers([word]) for word in words[1:]):
        strict = None  # a short line with a mistake in it, not a name of several words
    if strict is not None and (relaxed is None or len(strict) == wanted):
        return line[:_strict].strip(), strict
    if relaxed is not None:
        return words[0], relaxed
    wrong = next(word for word in words[1:] if _numbers([word]) is None)
    raise InputError(f"{name}: line {at} has {shown(wrong)} where a distance is expected; mend it")


def _numbers(words: list[str]) -> list[float] | None:
    """The words as numbers, or None if one of them is none."""
    try:
        return [np.nan if word in MISSING else float(word) for word in words]
    except ValueError:
        return None

"""Tables in text files: CSV, TSV and their relatives, read strictly.

1. delimiter  the candidate under which most lines agree with the header and most cells are numbers
2. header     the first line; never a line of numbers, unless the caller says so
3. blocks     whole records, every one as wide as the header, cut into cells
4. numbers    every cell parsed by one rule; what is neither number nor missing is counted
5. decide     per column, over the whole file: numbers, text, or a mistake worth an error

Nothing is repaired in silence: a file is read as it stands, or refused with its line and column.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from gramian.data.columns import (
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
from gramian.data.grid import SPACES, Grid, records
from gramian.data.source import Source
from gramian.data.stage import Stage
from gramian.data.survey import COMMA_NUMBER, Dialect, Part, Survey
from gramian.errors import InputError, MemoryRefusedError
from gramian.memory import in_words

DELIMITERS = (",", ";", "\t", "|", SPACES)
SPOKEN = {"\t": "tab", SPACES: "runs of blanks"}
SAMPLE = 1 << 18


def read_text(
    source: Source,
    choice: Choice,
    *,
    text: TextRule,
    delimiter: str | None,
    decimal: str,
    header: bool | None,
    missing: Sequence[str],
    blocks: bool = False,
) -> Table:
    """Read a delimited text file; see :func:`gramian.data.tables.read_table`."""
    words = tuple(dict.fromkeys(["", *(word.strip() for word in missing)]))
    dialect = Dialect(decimal, words)
    start = next(records(source), None)
    if start is None:
        raise InputError(f"{source.name}: the file is empty; there are no rows to read")
    notes = []
    if delimiter is None:
        delimiter = sniff(source, start[0], dialect)  # 1
        if delimiter != ",":
            notes.append(f"delimiter {SPOKEN.get(delimiter, repr(delimiter))}")
    reading = Reading(source, choice, text, delimiter, dialect, header, notes, blocks)
    reading.read_header(start[0])  # 2
    held = reading.collect(None)  # 3, 4
    as_text = reading.decide(held)  # 5
    if as_text[held.numeric].any() or (held.stage and held.numeric != reading.numeric(as_text)):
        # A column that began like numbers turned out to be text: its first values are gone.
        held = reading.collect(as_text)
    return reading.table(held)


@dataclass
class Held:
    """What one pass keeps: numbers of some columns, text of others."""

    survey: Survey
    numeric: list[int] = field(default_factory=list)
    numbers: list[np.ndarray] = field(default_factory=list)
    stage: Stage | None = None  # where the numbers are once they are too many to hold
    strings: dict[int, list[str]] = field(default_factory=dict)


@dataclass
class Reading:
    """One file on its way to becoming a table."""

    source: Source
    choice: Choice
    text: TextRule
    delimiter: str
    dialect: Dialect
    header: bool | None
    notes: list[str]
    blocks: bool = False  # whether numbers may stay in a file
    names: list[str] = field(default_factory=list)
    roles: list[Role] = field(default_factory=list)
    skip: int = 0  # bytes of the header; before it is read, of what comes before it
    trailing: bool = False  # the last column has no name: maybe a delimiter ends every line

    def read_header(self, block: bytes) -> None:
        """Name the columns by the first line, or by their numbers."""
        name, begin = self.source.name, self.skip
        end = block.find(b"\n", begin) + 1
        while block.count(b'"', begin, end) % 2:
            end = block.find(b"\n", end) + 1
        if not block[begin:end].strip():
            raise InputError(f"{name}: line 1 is blank; delete it")
        cells = Grid.of(name, block[begin:end], 1, self.delimiter).cells()
        first: list[str] = cells.to_list()
        if self.header is False:
            self.names = [f"x{i}" for i in range(1, len(first) + 1)]
            self.notes.append(f"no header: columns are called {listing(self.names, 3)}")
        else:
            self._check_header(first, self.dialect.numbers(cells).to_list())
            self.names = [cell or f"column {i}" for i, cell in enumerate(first, 1)]
            self.skip = end
        check_names(name, self.names)
        self.roles = self.choice.roles(name, self.names)
        if self.header is not False and len(first) > 1:
            self._read_unnamed(first)

    def _check_header(self, first: list[str], numbers: list[float | None]) -> None:
        """Refuse to take a line of data for names: the row would be lost in silence."""
        are_numbers = [number is not None and number == number for number in numbers]
        named = [word for word, cell in zip(first, are_numbers, strict=True) if cell]
        others = [word for word in first if word not in self.dialect.missing]
        if self.header or not named:
            return
        numbers_shown = listing(map(shown, named), 3)
        # A frame without column names, written with its index: ",0,1,2" is a header.
        counted = first == ["", *map(str, range(len(first) - 1))]
        if len(named) == len(others) and not counted:
            raise InputError(
                f"{self.source.name}: line 1 holds numbers ({numbers_shown}), not names; if "
                "the file has no header, say so (header=False, --no-header on the command line), "
                "or say header=True if these are names"
            )
        if not counted:
            self.notes.append(
                f"line 1 is taken as the header although {numbers_shown} in it "
                f"{'are numbers' if len(named) > 1 else 'is a number'}"
            )

    def _read_unnamed(self, first: list[str]) -> None:
        last = len(first) - 1
        self.trailing = not first[last] and self.roles[last] == "feature"
        if not first[0] and self.roles[0] == "feature" and "label" not in self.roles:
            self.roles[0] = "label"
            self.notes.append("column 1 has no name and is taken as row names")
        for i in range(1, last):
            if not first[i] and self.roles[i] == "feature":
                self.notes.append(f"column {i + 1} has no name and is called '{self.names[i]}'")

    def parts(self) -> Iterator[Part]:
        """The rows of the file, block by block, cut and parsed."""
        width = len(self.names)
        for block, line in records(self.source):
            begin = self.skip if line == 1 else 0
            line += block.count(b"\n", 0, begin)
            if begin < len(block):
                grid = Grid.of(self.source.name, block[begin:], line, self.delimiter)
                grid.check_widths(width, self.header is not False)
                yield Part.of(grid, width, self.dialect)

    @property
    def features(self) -> list[int]:
        """Columns that are wanted as numbers."""
        return [i for i, role in enumerate(self.roles) if role == "feature"]

    def numeric(self, as_text: np.ndarray) -> list[int]:
        """Columns that are numbers, given those that are text."""
        return [i for i in self.features if not as_text[i]]

    def collect(self, as_text: np.ndarray | None) -> Held:
        """Go through the file once; what the first block shows is expected of the rest."""
        held = Held(Survey(self.source.name, self.names, self.dialect))
        size, words, first = 0, 0, True
        once: dict[str, str] = {}  # equal words are kept once
        for part in self.parts():
            held.survey.add(part)
            if self.text == "refuse" and held.survey.is_suspicious():
                self._refuse(held.survey)
            if first:
                guess = held.survey.is_text() if as_text is None else as_text
                held.numeric = self.numeric(guess)
                held.strings = {
                    i: []
                    for i, role in enumerate(self.roles)
                    if role in ("label", "other") or (role == "feature" and guess[i])
                }
            whole = len(held.numeric) == len(self.names)
            held.numbers.append(part.values if whole else part.values[:, held.numeric])
            for i, strings in held.strings.items():
                found = part.strings(i, self.roles[i] == "label")
                strings.extend(once.setdefault(word, word) for word in found)
                words += 80 * len(part.values)  # at most, as Python keeps short text
            size += held.numbers[-1].nbytes
            if self.blocks and (held.stage or self._is_much(size, part.grid.text, first)):
                self._put_aside(held, words)
            elif not self.blocks:
                self._check_memory(size, len(part.grid.text) if first else None)
            first = False
        if not held.survey.rows:
            raise InputError(f"{self.source.name}: there is a header but no rows below it")
        return held

    def _is_much(self, size: int, text: bytes, first: bool) -> bool:
        """Whether the numbers take more than a quarter; the first block tells if that is clear."""
        whole = self.source.size
        expected = 0.8 * size * whole / len(text) if first and whole else float(size)
        return expected > self.source.max_bytes // 4

    def _put_aside(self, held: Held, words: int) -> None:
        """Write the numbers that are held to a temporary file; text has to stay in memory."""
        if held.stage is None:
            held.stage = Stage(self.source.name, self.source.path, len(held.numeric))
        while held.numbers:
            held.stage.add(held.numbers.pop(0))
        if words > self.source.max_bytes // 2:
            kept = listing([shown(self.names[i]) for i in held.strings])
            raise MemoryRefusedError(
                f"{self.source.name}: the text of its columns {kept} needs more than "
                f"{in_words(words)} of memory, {in_words(self.source.max_bytes)} may be used; "
                "leave them out (drop=, --drop), or allow more (memory=, --memory)"
            )

    def _check_memory(self, size: int, first: int | None) -> None:
        """Refuse as soon as it can be known; ``first`` is the length of the first block."""
        needed = float(size)
        if first and self.source.size:
            needed *= self.source.size / first
        # An estimate may be wrong, if later rows are longer: refuse by it only if it is clear.
        if size > self.source.max_bytes or 0.8 * needed > self.source.max_bytes:
            raise MemoryRefusedError(
                f"{self.source.name}: its numbers need {'about' if first else 'more than'} "
                f"{in_words(needed)} of memory, "
                f"{in_words(self.source.max_bytes)} may be used; read fewer columns (columns=), "
                "convert the file to .npy, which is read in blocks, or allow more (max_bytes=)"
            )

    def _refuse(self, survey: Survey) -> None:
        """Raise for mistakes, and for text where numbers are asked for."""
        survey.mistakes(self.features)
        text = survey.is_text()
        found = [i for i in self.features if text[i]]
        if found and (self.text == "refuse" or self.choice.columns is not None):
            cells = [survey.first_wrong[i][1] for i in found]
            raise refuse_text(self.source.name, cells, self.names[0])

    def decide(self, held: Held) -> np.ndarray:
        """Which columns are text, now that the whole file has been seen; raise for mistakes."""
        survey, last = held.survey, len(self.names) - 1
        if self.trailing and not (survey.numbers[last] or survey.wrong[last]):
            self.roles[last] = "skip"
            self.notes.append("the delimiter at the end of every line is ignored")
        elif self.trailing:
            self.notes.append(f"column {last + 1} has no name and is called '{self.names[last]}'")
        self._refuse(survey)
        as_text = survey.is_text()
        found = [survey.first_wrong[i][1] for i in self.features if as_text[i]]
        if len(found) == len(self.features):
            where = f": {listing(map(str, found))}" if found else ""
            raise InputError(
                f"{self.source.name}: no column holds numbers{where}; choose a file with numbers, "
                "or name its delimiter (delimiter=, --delimiter)"
            )
        return as_text

    def table(self, held: Held) -> Table:
        """Put the pieces together."""
        survey, as_text = held.survey, held.survey.is_text()
        numeric = self.numeric(as_text)
        survey.warn_rounded(numeric)
        strings, labels = held.strings, None
        if "label" in self.roles:
            taken = self.roles.index("label")
            labels = strings.pop(taken)
        elif self.roles[0] == "feature" and as_text[0] and all_different(strings[0]):
            labels = strings.pop(0)
            self.notes.append(f"column 1 {shown(self.names[0])} taken as row names")
        kept = [survey.first_wrong[i][1] for i in self.features if as_text[i] and i in strings]
        if kept:
            self.notes.append(f"not numbers, and kept apart: {listing(map(str, kept))}")
        return Table(
            numbers=_stacked(held, numeric)
            if held.stage is None
            else held.stage.rows(self.source.max_bytes),
            columns=tuple(self.names[i] for i in numeric),
            labels=None if labels is None else tuple(labels),
            others={self.names[i]: words for i, words in sorted(strings.items())},
            notes=tuple(self.notes),
        )


def _stacked(held: Held, numeric: list[int]) -> np.ndarray:
    """All blocks in one array; each is let go as soon as it is copied."""
    rows = held.survey.rows
    picked = None
    if numeric != held.numeric:
        picked = [held.numeric.index(i) for i in numeric]
    numbers = np.empty((rows, len(numeric)))
    held.numbers.reverse()
    begin = 0
    while held.numbers:
        block = held.numbers.pop()
        end = begin + len(block)
        numbers[begin:end] = block if picked is None else block[:, picked]
        begin = end
    return numbers


def sniff(source: Source, block: bytes, dialect: Dialect) -> str:
    """The delimiter under which the beginning of the file looks most like a table of numbers."""
    end = block.find(b"\n", block.find(b"\n") + 1) + 1  # two lines, however long
    end = max(end, block.rfind(b"\n", 0, SAMPLE) + 1) or len(block)
    while block.count(b'"', 0, end) % 2 and end < len(block):
        end = block.find(b"\n", end) + 1
    best, delimiter = 0.0, ","
    for candidate in DELIMITERS:
        if candidate == dialect.decimal:
            continue
        try:
            grid = Grid.of(source.name, block[:end], 1, candidate)
        except InputError:  # quotation marks that make no sense under this delimiter
            continue
        width = int(grid.widths[0])
        if width < 2:
            continue
        cells = grid.cells()[width:]
        found = dialect.numbers(cells).is_not_null() | cells.is_in(list(dialect.missing))
        found |= cells.str.contains(COMMA_NUMBER)
        score = float((grid.widths == width).mean()) + 0.5 * (int(found.sum()) / max(len(found), 1))
        # Ties go to the commoner delimiter, except that a .tsv file says what it is.
        if score > best or (score == best and candidate == "\t" and ".tsv" in source.name):
            best, delimiter = score, candidate
    return delimiter

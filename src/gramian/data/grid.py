"""Delimited text as a grid of cells: records, delimiters and quotes, nothing about numbers.

A block is whole records. Once every record is seen to have the same number of fields, the block is
cut into one long list of cells, row after row, by a single split; no reader that fills short rows
or guesses types is asked. Tall and wide files cost the same that way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gramian.data.columns import shown
from gramian.data.source import Source
from gramian.errors import InputError
from gramian.memory import in_words
from gramian.progress import tick

if TYPE_CHECKING:
    import polars as pl

BLOCK = 1 << 20  # larger blocks are not faster, and take more memory
LONGEST_RECORD = 256 << 20
SPACES = " "  # as a delimiter: any run of blanks and tabs
NEWLINE, QUOTE, BLANK, TAB = b'\n" \t'


@dataclass(frozen=True)
class Grid:
    """A block of whole records and where its cells end.

    Attributes
    ----------
    name : str
        The file, for messages.
    text : bytes
        The records, each ended by a newline.
    line : int
        The line of the file on which the block begins.
    delimiter : str
        One character, or ``SPACES``.
    """

    name: str
    text: bytes
    line: int
    delimiter: str

    @classmethod
    def of(cls, name: str, text: bytes, line: int, delimiter: str) -> Grid:
        """Find the cells; runs of blanks become single delimiters first."""
        if delimiter == SPACES:
            text = _single_blanks(text)
        grid = cls(name, text, line, delimiter)
        grid._check_quotes()
        return grid

    @cached_property
    def codes(self) -> np.ndarray:
        """The text as byte values."""
        return np.frombuffer(self.text, np.uint8)

    @cached_property
    def quotes(self) -> np.ndarray:
        """Where the quotation marks are."""
        return _positions(self.text, QUOTE)

    @cached_property
    def ends(self) -> np.ndarray:
        """Where each cell ends: delimiters and newlines outside quotation marks."""
        found = np.flatnonzero((self.codes == ord(self.delimiter)) | (self.codes == NEWLINE))
        return found[_outside(self.quotes, found)] if len(self.quotes) else found

    @cached_property
    def widths(self) -> np.ndarray:
        """How many cells each record has."""
        last = np.flatnonzero(self.codes[self.ends] == NEWLINE)
        return np.diff(last, prepend=-1)

    def line_at(self, offset: int) -> int:
        """The line of the file that holds the byte at ``offset``."""
        return self.line + self.text.count(b"\n", 0, int(offset))

    def line_of(self, record: int, width: int) -> int:
        """The line on which a record begins, where every record has ``width`` cells."""
        if not len(self.quotes):
            return self.line + record
        return self.line_at(self.ends[record * width - 1] + 1 if record else 0)

    def check_widths(self, width: int, header: bool) -> None:
        """Every record must have as many fields as the first line of the file."""
        wrong = np.flatnonzero(self.widths != width)
        if not len(wrong):
            return
        record = int(wrong[0])
        begin = int(self.widths[:record].sum())
        offset = int(self.ends[begin - 1]) + 1 if begin else 0
        line, found = self.line_at(offset), int(self.widths[record])
        if found == 1 and not self.text[offset : self.ends[begin]].strip():
            raise InputError(f"{self.name}: line {line} is blank; delete it")
        first = "the header" if header else "line 1"
        hint = "mend the line, or name the delimiter (delimiter=, --delimiter)"
        if header and found == width + 1 and (self.widths == found).all():
            hint = (
                "if each line begins with a row name, as R writes it, "
                "put a name for that column first in the header"
            )
        raise InputError(
            f"{self.name}: line {line} has {found} field{'s'[: found != 1]}, "
            f"{first} has {width}; {hint}"
        )

    def cells(self) -> pl.Series:
        """Every cell, row after row, without its quotation marks and surrounding blanks."""
        import polars as pl

        text = np.array(self.codes)
        text[self.ends] = 0  # NUL cannot be in the data: blocks that hold one are refused
        cells = pl.Series([text[:-1].tobytes().decode()]).str.split("\0").explode()
        if not self.text.isascii() or BLANK in self.text or TAB in self.text:
            cells = cells.str.strip_chars()
        if len(self.quotes):
            bare = cells.str.strip_prefix('"').str.strip_suffix('"')
            cells = bare.str.replace_all('""', '"', literal=True).str.strip_chars()
        return cells

    def _check_quotes(self) -> None:
        """Quotation marks must enclose whole fields; anything else is a field never closed."""
        if not len(self.quotes):
            return
        border = np.zeros(256, bool)
        border[[ord(self.delimiter), NEWLINE, QUOTE]] = True
        opening, closing = self.quotes[0::2], self.quotes[1::2]
        before = border[self.codes[opening - 1]] | (opening == 0)
        after = border[self.codes[closing + 1]]  # a newline follows at the latest
        wrong = np.flatnonzero(~(before & after))
        if not len(wrong):
            return
        pair = int(wrong[0])
        offset = int(closing[pair] if before[pair] else opening[pair])
        line, since = self.line_at(offset), self.line_at(opening[pair])
        opened = f" (opened on line {since})" if since != line else ""
        around = self.text[max(0, offset - 10) : offset + 10].decode(errors="replace")
        raise InputError(
            f"{self.name}: line {line} has a quotation mark that does not enclose a whole field"
            f"{opened}, near {shown(around)}; close the quoted field, "
            "and write a quotation mark inside one twice"
        )


def records(source: Source) -> Iterator[tuple[bytes, int]]:
    """Whole records of a text file, with LF line ends, and the line each block begins on.

    Blank lines at the end of the file belong to no block.
    """
    name = source.name
    mark = _mark(name, source.reader().read(4096))
    reader = source.reader()
    reader.read(mark)
    line, rest, want = 1, b"", BLOCK
    while True:
        more = reader.read(want)
        tick("reading", reader.taken, source.size)
        text = rest + more
        if not more and text and not text.endswith(b"\n"):
            text += b"\n"
        end = _end_of_records(text)
        if not more and end < len(text) and text[end:].strip():
            # Which mark is the wrong one only a person can tell; the record is sure.
            at = line + text.count(b"\n", 0, len(text) - len(text[end:].lstrip()))
            raise InputError(
                f"{name}: the record that begins on line {at} has a quotation mark that is never "
                "closed; close it, and write a quotation mark inside a quoted field twice"
            )
        if end:
            yield _checked(name, text[:end], line), line
            line += text.count(b"\n", 0, end)
        rest = text[end:]
        if not more:
            break
        if len(rest) > LONGEST_RECORD:
            raise InputError(
                f"{name}: line {line} is longer than {in_words(LONGEST_RECORD)}; "
                "this is not a table, or a quotation mark on this line is never closed"
            )
        # Twice as much whenever no record ended: a long line is not looked at again and again.
        want = BLOCK if end else max(BLOCK, len(rest))
    source.check_unchanged()


def _positions(text: bytes, byte: int) -> np.ndarray:
    if byte not in text:
        return np.empty(0, np.intp)
    return np.flatnonzero(np.frombuffer(text, np.uint8) == byte)


def _outside(quotes: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Which positions lie outside quotation marks: an even number of them comes before."""
    return np.searchsorted(quotes, positions) % 2 == 0


def _end_of_records(text: bytes) -> int:
    """Where the last record ends that is surely whole; blank lines after it are left for later."""
    quotes = _positions(text, QUOTE)
    if len(quotes):
        newlines = _positions(text, NEWLINE)
        newlines = newlines[_outside(quotes, newlines)]
        end = int(newlines[-1]) + 1 if len(newlines) else 0
    else:
        end = text.rfind(b"\n") + 1
    while end:
        before = text.rfind(b"\n", 0, end - 1) + 1
        if text[before:end].strip(b" \r\n"):
            break
        end = before
    return end


def _mark(name: str, head: bytes) -> int:
    """How long the UTF-8 byte order mark is; other encodings are named and refused."""
    found = None
    if head.startswith((b"\xff\xfe\0\0", b"\0\0\xfe\xff")):
        found = "UTF-32"
    elif head.startswith((b"\xff\xfe", b"\xfe\xff")):
        found = "UTF-16"
    elif head.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        raise InputError(
            f"{name}: this is a spreadsheet or a zip archive, not text; save the sheet as CSV"
        )
    elif max(head[0::2].count(0), head[1::2].count(0)) > 0.2 * len(head):
        found = "UTF-16"  # every other byte of plain text is NUL, whatever the byte order
    if found:
        raise InputError(f"{name}: the text is encoded as {found}; save it as UTF-8")
    if b"\r" in head[:-1] and b"\n" not in head:
        raise InputError(
            f"{name}: the lines end with a carriage return alone (CR, old Macintosh); "
            "save the file with LF or CRLF line ends"
        )
    return 3 if head.startswith(b"\xef\xbb\xbf") else 0


def _checked(name: str, text: bytes, line: int) -> bytes:
    """The block with LF line ends, if it is text in UTF-8."""
    if b"\0" in text:
        at = line + text.count(b"\n", 0, text.index(b"\0"))
        raise InputError(f"{name}: line {at} has a NUL byte; the file is binary or damaged")
    if not text.isascii():
        try:
            text.decode()
        except UnicodeDecodeError as error:
            at, byte = line + text.count(b"\n", 0, error.start), text[error.start]
            letter = bytes([byte]).decode("cp1252", "replace")
            raise InputError(
                f"{name}: line {at} is not UTF-8 (byte 0x{byte:02X}, {letter!r} in Latin-1 / "
                "Windows-1252, which the file seems to use); save it as UTF-8"
            ) from None
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n")
        alone = _positions(text, ord("\r"))
        if len(alone) and _outside(_positions(text, QUOTE), alone).any():
            at = line + text.count(b"\n", 0, int(alone[0]))
            raise InputError(
                f"{name}: line {at} has a carriage return (CR) in its middle; "
                "save the file with LF or CRLF line ends"
            )
    return text


def _single_blanks(text: bytes) -> bytes:
    """One blank between cells and none at the ends of lines, except inside quotation marks."""
    given = np.frombuffer(text, np.uint8)
    quotes = _positions(text, QUOTE)
    blank = (given == BLANK) | (given == TAB)
    if len(quotes):
        where = np.flatnonzero(blank)
        blank[where[~_outside(quotes, where)]] = False
    after = np.zeros_like(blank)
    after[1:] = blank[:-1]
    kept = ~(blank & after)
    given, blank = np.array(given[kept]), blank[kept]
    given[blank] = BLANK
    edge = given == NEWLINE
    beside = np.zeros_like(blank)
    beside[1:] |= edge[:-1]
    beside[:-1] |= edge[1:]
    beside[0] = True
    return given[~(blank & beside)].tobytes()

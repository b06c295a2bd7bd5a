"""How a Parquet or Arrow file is cut up, read from its footer: nothing of its numbers is touched.

Parquet: metadata in Thrift's compact protocol, its length in the last 8 bytes of the file.
Arrow IPC: a FlatBuffers table that lists the record batches, its length in the last 10.

Both are decoded whole, a row group or a record batch at a time, so their size is what decides how
much memory a reader takes.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import IO, Any, NamedTuple

_looked_at = 64  # row groups or batches whose size is asked for: writers make them alike


class Cut(NamedTuple):
    """Pieces that are decoded whole.

    Attributes
    ----------
    rows : int
        Of the longest piece.
    stored : int
        Bytes of the largest piece as it lies in the file.
    pieces : int
        How many there are.
    columns : int
    """

    rows: int
    stored: int
    pieces: int
    columns: int


def parquet_cut(file: IO[bytes]) -> Cut:
    """Row groups of a Parquet file; ``ValueError`` if its footer is not understood."""
    file.seek(0, 2)
    end = file.tell()
    file.seek(max(end - 8, 0))
    tail = file.read(8)
    if len(tail) < 8 or tail[4:] != b"PAR1":
        raise ValueError("no footer")
    length = int.from_bytes(tail[:4], "little")
    if length + 8 > end:
        raise ValueError("a footer longer than the file")
    file.seek(end - 8 - length)
    try:
        return _of_groups(_Compact(file.read(length)))
    except (IndexError, KeyError) as error:
        raise ValueError("a footer that ends too early") from error


def arrow_cut(file: IO[bytes]) -> Cut:
    """Record batches of an Arrow IPC file; ``ValueError`` if its footer is not understood."""
    file.seek(0, 2)
    end = file.tell()
    file.seek(max(end - 10, 0))
    tail = file.read(10)
    if tail[4:] != b"ARROW1":
        raise ValueError("no footer")
    length = int.from_bytes(tail[:4], "little")
    if length + 10 > end:
        raise ValueError("a footer longer than the file")
    file.seek(end - 10 - length)
    try:
        return _of_batches(file, file.read(length))
    except (struct.error, IndexError) as error:
        raise ValueError("a footer that ends too early") from error


# Thrift -------------------------------------------------------------------------------------------


class _Compact:
    """Thrift's compact protocol: fields of structs, one after the other."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def fields(self) -> Iterator[tuple[int, int]]:
        """Number and type of each field of a struct; its value comes next."""
        number = 0
        while head := self.byte():
            number = number + (head >> 4) if head >> 4 else self.integer()
            yield number, head & 15

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def varint(self) -> int:
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7

    def integer(self) -> int:
        value = self.varint()
        return (value >> 1) ^ -(value & 1)

    def listed(self) -> tuple[int, int]:
        """Length and type of the items of a list."""
        head = self.byte()
        return (self.varint() if head >> 4 == 15 else head >> 4), head & 15

    def skip(self, kind: int) -> None:
        if kind in (1, 2):  # booleans are in the type
            return
        if kind == 3:
            self.at += 1
        elif kind in (4, 5, 6):
            self.varint()
        elif kind == 7:
            self.at += 8
        elif kind == 8:
            length = self.varint()
            self.at += length
        elif kind in (9, 10):
            many, of = self.listed()
            for _ in range(many):
                self.skip(3 if of in (1, 2) else of)
        elif kind == 12:
            for _, each in self.fields():
                self.skip(each)
        else:
            raise ValueError(f"an item of type {kind}")


def _of_groups(found: _Compact) -> Cut:
    """FileMetaData: field 4 lists the row groups."""
    for number, kind in found.fields():
        if number != 4:
            found.skip(kind)
            continue
        pieces, _ = found.listed()
        groups = [_group(found) for _ in range(min(pieces, _looked_at))]
        rows, stored, columns = (max(each, default=0) for each in zip(*groups, strict=True))
        return Cut(rows, stored, pieces, columns)
    raise ValueError("no row groups")


def _group(found: _Compact) -> tuple[int, int, int]:
    """RowGroup: rows, bytes in the file, columns."""
    rows = stored = columns = 0
    for number, kind in found.fields():
        if number == 1:
            columns, _ = found.listed()
            stored = sum(_column(found) for _ in range(columns))
        elif number == 3:
            rows = found.integer()
        else:
            found.skip(kind)
    return rows, stored, columns


def _column(found: _Compact) -> int:
    """ColumnChunk: bytes in the file (field 7 of its ColumnMetaData, field 3)."""
    stored = 0
    for number, kind in found.fields():
        if number != 3:
            found.skip(kind)
            continue
        for inner, of in found.fields():
            if inner == 7:
                stored = found.integer()
            else:
                found.skip(of)
    return stored


# FlatBuffers --------------------------------------------------------------------------------------


def _of_batches(file: IO[bytes], footer: bytes) -> Cut:
    """Footer: field 3 lists the record batches as (offset, length of metadata, of body)."""
    root = _u32(footer, 0)
    at = _field(footer, root, 3)
    if at is None:
        return Cut(0, 0, 0, 0)
    begin = at + _u32(footer, at)
    many = _u32(footer, begin)
    rows = stored = columns = 0
    for i in range(min(many, _looked_at)):
        offset, length, body = struct.unpack_from("<qi4xq", footer, begin + 4 + 24 * i)
        file.seek(offset)
        here, fields = _batch(file.read(min(length, 1 << 20)))
        rows, stored, columns = max(rows, here), max(stored, body), max(columns, fields)
    return Cut(rows, stored, many, columns)


def _batch(message: bytes) -> tuple[int, int]:
    """Message: field 2 is a RecordBatch, whose fields 0 and 1 are rows and a node a column."""
    start = 8 if message[:4] == b"\xff\xff\xff\xff" else 4
    root = start + _u32(message, start)
    header = _field(message, root, 2)
    if header is None:
        raise ValueError("a message without a header")
    batch = header + _u32(message, header)
    at, nodes = _field(message, batch, 0), _field(message, batch, 1)
    rows: Any = 0 if at is None else struct.unpack_from("<q", message, at)[0]
    return rows, 0 if nodes is None else _u32(message, nodes + _u32(message, nodes))


def _u32(data: bytes, at: int) -> int:
    return int(struct.unpack_from("<I", data, at)[0])


def _field(data: bytes, table: int, number: int) -> int | None:
    """Where a field of a table is, if it is there."""
    entries = table - int(struct.unpack_from("<i", data, table)[0])
    slot = 4 + 2 * number
    if slot >= struct.unpack_from("<H", data, entries)[0]:
        return None
    offset = struct.unpack_from("<H", data, entries + slot)[0]
    return table + offset if offset else None

"""Tables stored by columns: Parquet and Arrow IPC (Feather) files, through polars.

A table that fits comes into memory. Of a larger one, if the caller can do with rows in a file, the
numbers stay where they are and are read in blocks; only its text comes into memory.

A row group of Parquet is fetched whole before some of its rows can be had, a record batch of Arrow
is unpacked whole, and the metadata are read anew each time: what that takes is known from the
footer, and a file whose pieces do not go into the budget is refused before any of them is read.

The allocator of polars (jemalloc) keeps what is freed for a second or so, which adds up to many
times what is in use. It can be told not to before polars is imported, and is, where that is for a
large file.
"""

from __future__ import annotations

import os
import sys
import threading
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from gramian.data.block_rows import BlockRows, Rectangle
from gramian.data.columns import Choice, Table, TextRule, check_names
from gramian.data.footers import Cut, arrow_cut, parquet_cut
from gramian.data.frames import Frame, common_type, refuse_nested
from gramian.data.source import ARROW, PARQUET, Source
from gramian.errors import GramianError, InputError, MemoryRefusedError
from gramian.memory import in_words
from gramian.show.text import count

KINDS = {PARQUET: "Parquet", ARROW: "Arrow"}
_pieces = {
    "Arrow": ("record batch", "record batches"),
    "Parquet": ("row group", "row groups"),
}
_packed = 32  # numbers may take so many times the bytes of their file
_entry = 450  # bytes for each column of each row group, while a part of the file is read
_floor = 16_000_000  # budgets below this are not told apart: small pieces may be read in any case
_arrow = 5_000_000  # bytes of pages around those that are asked for
_usual = "dirty_decay_ms:500,muzzy_decay_ms:1000"  # what polars sets, and a child inherits
_at_once = "narenas:1,dirty_decay_ms:0,muzzy_decay_ms:0"  # give back what is freed
_turn = threading.Lock()  # polars has threads of its own; two reads would take twice the memory


def read_columnar(source: Source, choice: Choice, text: TextRule, *, blocks: bool) -> Table:
    """The table of a Parquet or Arrow file; ``blocks`` lets large numbers stay in the file."""
    import narwhals as nw

    if blocks and _packed * (source.size or 0) > source.max_bytes:
        _import_frugally()
    import polars as pl

    name = source.name
    kind = next(KINDS[mark] for mark in KINDS if source.head.startswith(mark))
    try:
        whole = _scanned(kind, source.path or source.rewound())
        schema = whole.collect_schema()
        roles = choice.roles(name, list(schema)) if len(schema) else []
        wanted = {i: known for i, known in enumerate(schema) if roles[i] != "skip"}
        rows = int(whole.select(pl.len()).collect().item())
        if not rows:
            raise InputError(f"{name}: the {kind} file has no rows")
        needed = 2 * 8 * rows * len(wanted)  # once as columns, once as rows
        staying: dict[str, Any] = {}
        if blocks and source.path and needed > source.max_bytes // 3:
            staying = {
                known: schema[known]
                for i, known in wanted.items()
                if roles[i] == "feature" and _is_number(name, known, schema[known])
            }
        needed -= 2 * 8 * rows * len(staying)
        if needed > source.max_bytes:
            raise MemoryRefusedError(
                f"{name}: reading its {rows} rows of {len(wanted) - len(staying)} columns takes "
                f"about {in_words(needed)} of memory, {in_words(source.max_bytes)} may be used; "
                "read fewer columns (columns=), convert it to .npy, which is read in blocks, "
                "or allow more (max_bytes=)"
            )
        frame = whole.select([known for known in wanted.values() if known not in staying]).collect()
    except (pl.exceptions.PolarsError, OSError) as error:
        if isinstance(error, GramianError):
            raise
        why = str(error).partition("\n")[0]
        raise InputError(f"{name}: the {kind} file is damaged ({why}); write it again") from None
    left = [roles[i] for i, known in wanted.items() if known not in staying]
    first = schema.names()[0] not in staying
    wrapped = nw.from_native(frame, eager_only=True)
    table = Frame(name, wrapped, choice, text, None, left, bool(staying), first).table()
    if not staying:
        return table
    check_names(name, list(wanted.values()))
    numbers = BlockRows(_rectangle(source, kind, staying, rows), source.max_bytes)
    return replace(table, numbers=numbers, columns=tuple(staying))


def _import_frugally() -> None:
    """Import polars with an allocator that keeps nothing, unless it was imported before."""
    variable = "_RJEM_MALLOC_CONF"
    before = os.environ.get(variable)
    if "polars" in sys.modules or before not in (None, _usual):
        return
    os.environ[variable] = _at_once
    import polars  # noqa: F401  (which writes what it took into the variable)

    os.environ[variable] = _usual


def _is_number(name: str, column: str, dtype: Any) -> bool:
    refuse_nested(name, column, dtype)
    import polars as pl

    return bool(dtype.is_numeric() or dtype == pl.Boolean)


def _rectangle(source: Source, kind: str, schema: dict[str, Any], rows: int) -> Rectangle:
    dtype = common_type([_stored(each) for each in schema.values()])
    names, file = list(schema), Path(str(source.path)).absolute()
    cut = _cut(source, kind)
    taken = partial(_taken, kind, cut, len(names) * dtype.itemsize)
    _refuse_large_pieces(source, kind, cut, 2 * taken(0, 1))
    return Rectangle(
        source.name,
        (rows, len(names)),
        dtype,
        _Reader(kind, file, names, dtype == np.float32),
        partial(list, (file,)),
        True,
        (max(cut.rows, 1), 0),
        taken,
        library=_arrow if kind == "Arrow" else 0,
    )


@dataclass(frozen=True)
class _Reader:
    """Some rows of some columns of a file."""

    kind: str
    file: Path
    names: list[str]
    single: bool

    def __call__(self, lines: slice, columns: slice) -> np.ndarray:
        import polars as pl

        wanted = pl.col(self.names[columns]).cast(pl.Float32 if self.single else pl.Float64)
        some = _scanned(self.kind, self.file).select(wanted)
        with _turn:
            found = some.slice(lines.start, lines.stop - lines.start).collect()
        return np.asarray(found.to_numpy(order="c"))


def _scanned(kind: str, place: Any) -> Any:
    """The table, lazily; the path is known to be a file: never a pattern, never an address."""
    import polars as pl

    return pl.scan_ipc(place) if kind == "Arrow" else pl.scan_parquet(place, glob=False)


def _cut(source: Source, kind: str) -> Cut:
    """The pieces of the file, from its footer."""
    try:
        return (arrow_cut if kind == "Arrow" else parquet_cut)(source.rewound())
    except (OSError, ValueError) as error:
        raise InputError(
            f"{source.name}: the {kind} file is damaged ({error}); write it again"
        ) from None


def _taken(kind: str, cut: Cut, line: int, block: int, threads: int) -> int:
    """Bytes that reading a block from a piece takes beside it (measured in tests/scale).

    The metadata and a row group as it is stored; or a record batch as it is stored and unpacked.
    """
    if kind == "Parquet":
        return _entry * cut.pieces * cut.columns + cut.stored
    unpacked = cut.rows * line
    return cut.stored + max(unpacked - block, 0)


def _refuse_large_pieces(source: Source, kind: str, cut: Cut, needed: int) -> None:
    """Raise where reading would take more than half of what may be used, before anything is."""
    if needed <= max(source.max_bytes, _floor):
        return
    pieces = count(cut.pieces, *_pieces[kind])
    many = _entry * cut.pieces * cut.columns > cut.stored
    raise MemoryRefusedError(
        f"{source.name} is written in {pieces} of {cut.rows:,} rows, and reading "
        f"from there takes {in_words(needed // 2)}; allow {in_words(1.01 * needed)} (memory=), or "
        f"write it with {'more' if many else 'fewer'} rows in each"
    )


def _stored(dtype: Any) -> np.dtype[Any]:
    try:
        return np.dtype(str(dtype).lower())
    except TypeError:  # booleans, decimals, integers of 128 bits
        return np.dtype(np.float64)

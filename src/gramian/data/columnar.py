"""Tables stored by columns: Parquet and Arrow IPC (Feather) files, through polars.

A table that fits comes into memory. Of a larger one, if the caller can do with rows in a file, the
numbers stay where they are and are read in blocks; only its text comes into memory.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from gramian.data.block_rows import BlockRows, Rectangle
from gramian.data.columns import Choice, Table, TextRule, check_names
from gramian.data.frames import Frame, common_type, refuse_nested
from gramian.data.pread import refuse_changed, state_of
from gramian.data.source import ARROW, PARQUET, Source
from gramian.errors import GramianError, InputError, MemoryRefusedError
from gramian.memory import in_words

KINDS = {PARQUET: "Parquet", ARROW: "Arrow"}


def read_columnar(source: Source, choice: Choice, text: TextRule, *, blocks: bool) -> Table:
    """The table of a Parquet or Arrow file; ``blocks`` lets large numbers stay in the file."""
    import narwhals as nw
    import polars as pl

    name = source.name
    kind = next(KINDS[mark] for mark in KINDS if source.head.startswith(mark))
    try:
        # The path is known to be a file: never a pattern, never an address.
        place = source.path or source.rewound()
        whole = pl.scan_ipc(place) if kind == "Arrow" else pl.scan_parquet(place, glob=False)
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
    numbers = BlockRows(_rectangle(name, str(source.path), whole, staying, rows), source.max_bytes)
    return replace(table, numbers=numbers, columns=tuple(staying))


def _is_number(name: str, column: str, dtype: Any) -> bool:
    refuse_nested(name, column, dtype)
    import polars as pl

    return bool(dtype.is_numeric() or dtype == pl.Boolean)


def _rectangle(name: str, path: str, whole: Any, schema: dict[str, Any], rows: int) -> Rectangle:
    import polars as pl

    dtype = common_type([_stored(each) for each in schema.values()])
    to = pl.Float32 if dtype == np.float32 else pl.Float64
    names, file = list(schema), Path(path)
    state = state_of(file)

    def read(lines: slice, columns: slice) -> np.ndarray:
        refuse_changed(file, state)  # polars maps the file: cut short, it would end the process
        some = whole.select(pl.col(names[columns]).cast(to))
        found = some.slice(lines.start, lines.stop - lines.start).collect()
        return np.asarray(found.to_numpy())

    return Rectangle(name, (rows, len(names)), dtype, read, lambda: [file])


def _stored(dtype: Any) -> np.dtype[Any]:
    try:
        return np.dtype(str(dtype).lower())
    except TypeError:  # booleans, decimals, integers of 128 bits
        return np.dtype(np.float64)

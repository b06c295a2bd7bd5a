"""MatrixMarket files larger than memory: coordinates in any order become rows in a temporary copy.

1. parse   lines ``row column value``, a block at a time, to triplets in a temporary file; the
           entries of every row are counted
2. sort    as many rows at a time as fit are collected, put in order and written as a CSR matrix

Files that fit are read by SciPy.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from gramian.data.pread import read_items, refuse_changed, state_of
from gramian.data.sparse_file import SparseFile, Stored
from gramian.data.stage import Stage, StagedRows
from gramian.errors import InputError, MemoryRefusedError
from gramian.maps import Array
from gramian.memory import budget, in_words

_most = 1 << 20  # bytes of text in a block: larger ones are not faster, and take more memory
_triplet = np.dtype([("row", np.int64), ("column", np.int64), ("value", np.float64)])


def open_market(path: Path, memory: Any) -> SparseFile:
    """Rows of a coordinate file of real or whole numbers, or a pattern."""
    allowed, state = budget(memory), state_of(path)
    head, skip = _header(path, allowed)
    n, p, count = head["shape"]
    step = min(max(allowed // 80, 65_536), _most)
    triplets = Stage(str(path), path, 1, _triplet)
    sizes = np.zeros(n + 1, np.int64)
    spans: list[tuple[int, int]] = []  # lowest and highest row of each block of triplets
    counts: list[int] = []
    for block in _parsed(path, skip, step, n, p, head["pattern"]):
        sizes[1:] += np.bincount(block["row"], minlength=n)
        spans.append((int(block["row"].min()), int(block["row"].max())))
        counts.append(len(block))
        triplets.add(block)
    refuse_changed(path, state)
    if triplets.count != count:
        raise InputError(
            f"{path} should have {count:,} entries and has {triplets.count:,}; it is cut short"
        )
    ends = np.cumsum(sizes)
    data, indices = Stage(str(path), path, 1), Stage(str(path), path, 1, np.int64)
    most = max(allowed // 200, 4096)
    for values, columns in _sorted(triplets, spans, counts, ends, most):
        data.add(values)
        indices.add(columns)
        del values, columns
    data.say(24 * count)
    kept = StagedRows(data, memory), StagedRows(indices, memory)

    def read(first: int, last: int) -> tuple[Array, Array]:
        values, columns = (each._part(slice(first, last), slice(0, 1))[:, 0] for each in kept)
        return values, columns.astype(np.int64)

    opening = 24 * n + 15 * step + 48 * min(most, count)  # ends of rows; text; entries sorted
    known = Stored(str(path), (n, p), ends, count, np.dtype(np.float64), read, list)
    return SparseFile(known._replace(opening=opening), memory)


def _header(path: Path, allowed: int) -> tuple[dict[str, Any], int]:
    """What the first lines say, and how many bytes they are."""
    with path.open("rb") as file:
        first = file.readline(1000).decode("latin-1").lower().split()
        if first[:2] != ["%%matrixmarket", "matrix"] or len(first) != 5:
            raise InputError(f"{path} is not a MatrixMarket file: it does not begin as one")
        kind, field, symmetry = first[2:]
        if (kind, symmetry) != ("coordinate", "general") or field == "complex":
            raise MemoryRefusedError(
                f"{path} is larger than the {in_words(allowed)} that may be used and holds a "
                f"{field} {symmetry} {kind} matrix; only general coordinate files of real numbers "
                "are read in blocks: write it as one, or allow more (memory=)"
            )
        line = file.readline(10_000)
        while line.startswith(b"%") or (line and not line.strip()):
            line = file.readline(10_000)
        try:
            n, p, count = map(int, line.split())
        except ValueError:
            raise InputError(
                f"{path}: the line of sizes is {line[:60]!r}; write it again"
            ) from None
        return {"shape": (n, p, count), "pattern": field == "pattern"}, file.tell()


def _parsed(path: Path, skip: int, step: int, n: int, p: int, pattern: bool) -> Iterator[Array]:
    """Triplets, counted from 0, a block of whole lines at a time."""
    width = 2 if pattern else 3
    with path.open("rb") as file:
        file.seek(skip)
        rest, seen = b"", 0
        while text := file.read(step):
            text = rest + text
            end = text.rfind(b"\n") + 1
            text, rest = (text[:end], text[end:]) if end else (b"", text)
            if text.strip():
                yield _triplets(path, text, seen, width, n, p)
                seen += text.count(b"\n")
        if rest.strip():
            yield _triplets(path, rest, seen, width, n, p)


def _triplets(path: Path, text: bytes, seen: int, width: int, n: int, p: int) -> Array:
    """The entries of some lines; ``seen`` came before."""
    import polars

    cells = polars.Series([text.decode("latin-1").strip()]).str.extract_all(r"\S+").explode()
    numbers = cells.cast(polars.Float64, strict=False)
    lines = sum(1 for line in text.splitlines() if line.strip())
    where = f"{path}, entries {seen + 1:,} to {seen + lines:,}"
    if numbers.null_count() or len(numbers) != width * lines:
        raise InputError(f"{where}: not every line is {width} numbers; write the file again")
    found = numbers.to_numpy().reshape(-1, width)
    out = np.ones(len(found), _triplet)
    out["row"], out["column"] = found[:, 0] - 1, found[:, 1] - 1
    if width == 3:
        out["value"] = found[:, 2]
    inside = (out["row"] >= 0) & (out["row"] < n) & (out["column"] >= 0) & (out["column"] < p)
    if not inside.all():
        bad = found[int(np.argmin(inside))]
        raise InputError(f"{where}: ({bad[0]:g}, {bad[1]:g}) lies outside of {n} x {p}")
    return out


def _sorted(
    triplets: Stage, spans: list[tuple[int, int]], counts: list[int], ends: Array, most: int
) -> Iterator[tuple[Array, Array]]:
    """Values and columns in the order of rows, then columns: some rows at a time."""
    starts, n, a = np.cumsum([0, *counts]), len(ends) - 1, 0
    path = Path(triplets.name)
    while a < n:
        b = int(np.searchsorted(ends, ends[a] + most, "right")) - 1
        b = min(max(b, a + 1), n)
        some, filled = np.empty(int(ends[b] - ends[a]), _triplet), 0
        for start, count, (low, high) in zip(starts, counts, spans, strict=False):
            if low < b and high >= a:
                at = int(start) * _triplet.itemsize
                block = read_items(path, triplets.file.descriptor, at, count, _triplet)
                block = block[(block["row"] >= a) & (block["row"] < b)]
                some[filled : filled + len(block)] = block
                filled += len(block)
        order = np.lexsort((some["column"], some["row"]))
        yield some["value"][order], some["column"][order]
        a = b

"""Where distances come from: arrays, frames, scikit-bio and files, each as raw numbers with labels.

Nothing is judged here but whether it can be read; that the numbers are distances is seen to in
:mod:`gramian.data.dissimilarities`.
"""

from __future__ import annotations

import os
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gramian.data.columns import Table, shown
from gramian.data.distance_checks import Labels
from gramian.data.door import as_numbers, read_npz, refuse_absent
from gramian.data.npy import read_header, refuse_short, refuse_type
from gramian.errors import InputError, MemoryRefusedError
from gramian.maps import Array
from gramian.memory import budget, in_words


class Raw(NamedTuple):
    """Numbers as they came, with the labels of their rows and columns."""

    numbers: Array
    rows: Labels
    columns: Labels
    what: str
    ours: bool  # nobody else holds this memory: it may be written to


def path_of(source: Any) -> Path | None:
    """The path that a string or path names, if it is one and there is a file."""
    if not isinstance(source, (str, os.PathLike)) or source == "-":
        return None
    path = Path(source).expanduser()
    refuse_absent(path)
    return path


def open_raw(
    source: Any, path: Path | None, memory: Any, *, cross: bool = False, decimal: str = "."
) -> Raw:
    """Open whatever it is; shapes and values are not looked at yet."""
    if decimal not in (".", ","):
        raise InputError(f"decimal must be '.' or ',', got {decimal!r}")
    if hasattr(source, "ids") and hasattr(source, "data"):  # scikit-bio's, which have a read()
        ids = tuple(map(str, source.ids))
        return Raw(np.asarray(source.data), ids, ids, "the matrix", False)
    if path is not None or (isinstance(source, str) and source == "-") or hasattr(source, "read"):
        return _from_file(path or source, memory, cross=cross, decimal=decimal)
    if hasattr(source, "tocsr") and hasattr(source, "nnz"):
        raise InputError(
            "a sparse matrix cannot hold distances: pairs that are not stored would have distance "
            "0; pass .toarray() if zeros are meant"
        )
    if not isinstance(source, np.ndarray):
        from gramian.data.tables import is_frame

        if is_frame(source):
            return _from_frame(source, cross=cross)
    array = np.asarray(source) if _flat(source) else as_numbers(source)
    refuse_type(array.dtype, "the array")
    return Raw(array, None, None, "the matrix" if array.ndim > 1 else "the vector", False)


def _flat(source: Any) -> bool:
    """Whether it is a vector: an array of one dimension, or a list of numbers."""
    if isinstance(source, np.ndarray):
        return source.ndim == 1
    return isinstance(source, (list, tuple)) and all(np.isscalar(each) for each in source)


def _from_frame(frame: Any, *, cross: bool) -> Raw:
    from gramian.data.tables import frame_to_table

    table = frame_to_table(frame, text="keep")
    rows = table.labels
    if rows is None and hasattr(getattr(frame, "index", None), "nlevels"):  # pandas
        rows = _unless_counted(tuple(map(str, frame.index)))
    return _from_table(table, "the frame", rows, cross=cross, ours=False)


def _from_table(table: Table, what: str, rows: Labels, *, cross: bool, ours: bool) -> Raw:
    """Where there is one column too many and no row labels, the first column holds them."""
    if table.others:
        name = next(iter(table.others))
        raise InputError(
            f"{what}: column {shown(name)} holds text; distances are numbers, and only the "
            "first column may be labels"
        )
    X, columns = table.numbers, table.columns
    if rows is None and not cross and X.shape[1] == len(X) + 1:
        rows, columns = tuple(f"{value:.15g}" for value in X[:, 0]), columns[1:]
        X = X[:, 1:]
    return Raw(X, rows, _unless_counted(columns), what, ours)


def _unless_counted(names: tuple[str, ...]) -> Labels:
    """None for the names that libraries give to columns without any: 0, 1, 2 and the like."""
    for pattern in ("{}", "column_{}"):
        if all(name == pattern.format(i) for i, name in enumerate(names)):
            return None
    return names


def _from_file(path: Any, memory: Any, *, cross: bool, decimal: str) -> Raw:
    what = path.name if isinstance(path, Path) else "standard input"
    ending = path.suffix.lower() if isinstance(path, Path) else ""
    if ending == ".npy":
        return Raw(_from_npy(path, memory), None, None, what, True)
    if ending == ".npz":
        array = read_npz(path, memory, (1, 2))
        refuse_type(array.dtype, what)
        return Raw(array, None, None, what, True)
    from gramian.data.source import PARQUET, opened
    from gramian.data.squares import read_square
    from gramian.data.tables import read_table

    with opened(str(path) if isinstance(path, Path) else path, budget(memory)) as source:
        if not source.head.startswith(PARQUET):
            X, rows, columns = read_square(source, cross=cross, decimal=decimal)
            return Raw(X, rows, columns, source.name, True)
        place = path if isinstance(path, Path) else source.rewound()
        table = read_table(place, text="keep", max_bytes=budget(memory))
    return _from_table(table, what, table.labels, cross=cross, ours=True)


def _from_npy(path: Path, memory: Any) -> Array:
    shape, fortran, stored, offset = read_header(path)
    refuse_short(path, shape, stored, offset)
    size = prod(shape)
    refuse_large(size * stored.itemsize, path.name, memory)
    X = np.fromfile(path, stored, size, offset=offset)
    return X.reshape(shape, order="F" if fortran else "C")


def refuse_large(size: int, what: str, memory: Any) -> None:
    """Raise before memory is taken that the budget does not have."""
    if size > budget(memory):
        raise MemoryRefusedError(
            f"{what} needs {in_words(size)} of memory, {in_words(budget(memory))} may be used; "
            "save it as a square .npy file, which is read in blocks, or allow more (memory=)"
        )

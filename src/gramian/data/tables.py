"""Tables: numbers with names, from text files, Parquet and Arrow files, and data frames.

Everything becomes a :class:`Table`. Text files are read by :mod:`gramian.data.text`; files stored
by columns by :mod:`gramian.data.columnar`; frames of any library through narwhals, so that none of
them has to be installed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

from gramian.data.columnar import KINDS, read_columnar
from gramian.data.columns import Choice, Key, Table, TextRule, check_names
from gramian.data.frames import Frame
from gramian.data.grid import SPACES
from gramian.data.source import opened
from gramian.errors import InputError

__all__ = ["Table", "frame_to_table", "is_frame", "read_table"]

MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", ".")


def read_table(
    path: Any,
    *,
    text: TextRule = "refuse",
    delimiter: str | None = None,
    decimal: str = ".",
    header: bool | None = None,
    missing: str | Sequence[str] = MISSING,
    columns: Key | Iterable[Key] | None = None,
    drop: Key | Iterable[Key] = (),
    labels: Key | None = None,
    others: Key | Iterable[Key] = (),
    max_bytes: int | None = None,
    blocks: bool = False,
) -> Table:
    """Read a table of numbers from a file, strictly.

    Parameters
    ----------
    path : str, os.PathLike or binary file object
        A ``.csv``, ``.tsv``, ``.txt``, ``.parquet``, ``.feather`` or ``.arrow`` file; text may be
        compressed with gzip or Zstandard. ``"-"`` is standard input.
    text : {"refuse", "keep"}
        What to do with columns that are not numbers: an error, or keep them in ``others`` (and
        take the first column as row names if it is text and all different).
    delimiter : str, optional
        One character, or ``" "`` for any run of blanks; found out unless given.
    decimal : {".", ","}
        The decimal sign.
    header : bool, optional
        Whether the first line holds names. By default it must, and a line of numbers is an error.
    missing : sequence of str
        Cells that mean "no value"; an empty cell always does.
    columns : sequence of str or int, optional
        The columns to read as numbers, by name or by position from 0; all unless given. They
        come in the order of the file.
    drop : sequence of str or int
        Columns to leave out.
    labels : str or int, optional
        The column that names the rows.
    others : sequence of str or int
        Columns to hand over as text even if they hold numbers, for example to color by.
    max_bytes : int, optional
        How much memory the numbers, and what comes out of a compressed file, may take; 80 % of
        what is available unless given.
    blocks : bool
        Whether numbers that would take more than about a third of ``max_bytes`` may stay in a
        file: then ``numbers`` of the table is a ``RowBlocked``. Text is parsed once, to a temporary
        file; Parquet and Arrow files are read where they are.

    Returns
    -------
    Table

    Raises
    ------
    InputError
        The file cannot be read as a table; one sentence says where and what to do.
    MemoryRefusedError
        It would take more memory than ``max_bytes``.
    """
    _check_options(text, delimiter, decimal, header)
    choice = Choice.of(columns, drop, labels, others)
    with opened(path, max_bytes) as source:
        if source.head.startswith(tuple(KINDS)):
            return read_columnar(source, choice, text, blocks=blocks)
        named = os.path.splitext(source.path or "")[1].lower()
        if named in (".parquet", ".feather", ".arrow", ".ipc"):
            kind = "a Parquet" if named == ".parquet" else "an Arrow"
            raise InputError(
                f"{source.name}: this is not {kind} file, whatever its name says; "
                "write it again, or rename it if it is text"
            )
        from gramian.data.text import read_text

        return read_text(
            source,
            choice,
            text=text,
            delimiter=delimiter,
            decimal=decimal,
            header=header,
            missing=[missing] if isinstance(missing, str) else missing,
            blocks=blocks,
        )


def _check_options(text: str, delimiter: str | None, decimal: str, header: bool | None) -> None:
    if text not in ("refuse", "keep"):
        raise InputError(f"text must be 'refuse' or 'keep', got {text!r}")
    if decimal not in (".", ","):
        raise InputError(f"decimal must be '.' or ',', got {decimal!r}")
    if header not in (None, True, False):
        raise InputError(f"header must be True, False or None, got {header!r}")
    if delimiter is None:
        return
    plain = isinstance(delimiter, str) and len(delimiter) == 1 and delimiter.isascii()
    if not plain or delimiter.isalnum() or delimiter in '\r\n"\0+-.' or delimiter == decimal:
        raise InputError(
            f"delimiter must be one character such as ',' ';' '|' or '\\t', or {SPACES!r} for any "
            f"blanks, and not the decimal sign; got {delimiter!r}"
        )


def is_frame(X: Any) -> bool:
    """Whether ``X`` is a data frame or an Arrow table; imports neither pandas nor polars."""
    # Asked of the class: a lazy frame would begin to work if its own names were asked for.
    if not (hasattr(type(X), "columns") or hasattr(type(X), "column_names")):
        return False
    from narwhals import dependencies as known

    return known.is_into_dataframe(X) or known.is_polars_lazyframe(X)


def frame_to_table(frame: Any, *, text: TextRule = "refuse") -> Table:
    """The numbers of a data frame: pandas, polars, pyarrow, or whatever narwhals can wrap.

    Parameters
    ----------
    frame : data frame
        Integers, booleans and decimals become float64; float32 stays float32 where no column
        needs more. Null and NaN mean missing.
    text : {"refuse", "keep"}
        What to do with columns that are not numbers: an error, or keep them in ``others``.

    Returns
    -------
    Table
        ``numbers`` is a view of the frame's memory where all columns share one float type and lie
        in one block; it may be read-only then. ``labels`` is a pandas index that has a name or is
        not made of integers.
    """
    import narwhals as nw

    if nw.dependencies.is_polars_lazyframe(frame):
        raise InputError("the frame is lazy and holds no rows yet; call .collect() first")
    name = "the frame"
    try:
        wrapped = nw.from_native(frame, eager_only=True)
    except nw.exceptions.DuplicateError:
        names = getattr(frame, "column_names", None) or list(frame.columns)
        check_names(name, [str(column) for column in names])
        raise
    except TypeError:
        raise InputError(
            f"{type(frame).__module__}.{type(frame).__name__} is not a data frame held in memory; "
            "pass a pandas, polars or pyarrow table"
        ) from None
    return Frame(name, wrapped, Choice(), text, _index(frame)).table()


def _index(frame: Any) -> tuple[str, ...] | None:
    """The row names of a pandas frame, unless they only count."""
    index = getattr(frame, "index", None)
    if index is None or not hasattr(index, "nlevels"):
        return None
    if index.nlevels > 1:
        return tuple(" ".join(map(str, each)) for each in index)
    if index.name is None and getattr(index.dtype, "kind", "O") in "iu":
        return None
    return tuple(map(str, index))

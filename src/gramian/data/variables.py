"""Centered rows seen from the side: a few variables of all observations.

Storage by columns has them together. Storage by rows is read a piece of each row at a time, or
whole where the pieces would be shorter than a page of the file.
"""

from __future__ import annotations

import numpy as np

from gramian.data.rows import RowBlocked
from gramian.data.sparse import SparseRows
from gramian.maps import Array

_page = 4096


def read_variables(Y: RowBlocked | SparseRows, a: int, b: int, out: Array) -> None:
    """Columns a:b of Y as rows of ``out``, in its dtype; several threads may do it at once."""
    if isinstance(Y, SparseRows):
        _by_rows(Y, a, b, out)
        return
    with Y._visit():
        if Y.flip:
            out[...] = Y._centered(Y._lead(a, b), lead=(a, b))
        elif b - a < Y.shape[1] and (Y.resident or (b - a) * Y.dtype.itemsize >= _page):
            out[...] = Y._centered(Y._minor(a, b), minor=(a, b)).T
        else:
            _by_rows(Y, a, b, out)


def _by_rows(Y: RowBlocked | SparseRows, a: int, b: int, out: Array) -> None:
    for rows in Y.row_blocks():
        np.copyto(out[:, rows], Y.read_rows(rows)[:, a:b].T, casting="same_kind")

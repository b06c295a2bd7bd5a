"""Centered rows seen from the side: a few variables of all observations.

Storage by columns has them together. Storage by rows is read a piece of each row at a time, or
whole where the pieces would be shorter than a page of the file.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.data.rows import RowBlocked
from gramian.maps import Array

_page = 4096


def read_variables(Y: Any, a: int, b: int, out: Array) -> None:
    """Columns a:b of Y as rows of ``out``, in its dtype; several threads may do it at once."""
    few = b - a < Y.shape[1] and (Y.resident or (b - a) * Y.dtype.itemsize >= _page)
    if not isinstance(Y, RowBlocked) or not (Y.flip or few):
        _by_rows(Y, a, b, out)
        return
    with Y._visit():
        if Y.flip:
            out[...] = Y._centered(Y._lead(a, b), lead=(a, b))
        else:
            out[...] = Y._centered(Y._minor(a, b), minor=(a, b)).T
    Y._passes[0] -= 1 - (b - a) / Y.shape[1]  # a part of a visit


def _by_rows(Y: Any, a: int, b: int, out: Array) -> None:
    for rows, block in Y.blocks():
        np.copyto(out[:, rows], block[:, a:b].T, casting="same_kind")

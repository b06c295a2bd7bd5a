"""Rows of an array in memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.data.rows import RowBlocked
from gramian.maps import Array


class ArrayRows(RowBlocked):
    """An array of real numbers, any type, order and stride; never modified or copied whole."""

    def __init__(self, X: Array, memory: Any = None) -> None:
        flip = bool(X.flags.f_contiguous and not X.flags.c_contiguous)
        dtype = np.float32 if X.dtype in (np.float16, np.float32) else np.float64
        super().__init__((X.shape[0], X.shape[1]), dtype, flip, memory)
        self.storage = X.T if flip else X

    @property
    def whole(self) -> Array | None:
        """The array itself, if it is C-ordered (or its transpose is) and of our type."""
        S = self.storage
        return S if S.flags.c_contiguous and S.dtype == self.dtype else None

    def sent(self) -> ArrayRows:
        """The same rows, for other machines: a small part of several files."""
        return self

    def _sample(self, most: int) -> Array:
        step = -(-self.shape[0] // most)
        return self.storage[:, ::step] if self.flip else self.storage[::step]

    def _lead(self, start: int, stop: int) -> Array:
        return np.ascontiguousarray(self.storage[start:stop], dtype=self.dtype)

    def _minor(self, start: int, stop: int) -> Array:
        return np.ascontiguousarray(self.storage[:, start:stop], dtype=self.dtype)

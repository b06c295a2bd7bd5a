"""Nearest rows by cosine, a block of queries at a time."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gramian.errors import InputError
from gramian.maps import Array


class Matches(NamedTuple):
    """What a search found, best first: positions, and cosines between -1 and 1."""

    indices: Array
    cosines: Array

    def first(self) -> Matches:
        """Those of the first query."""
        return Matches(self.indices[0], self.cosines[0])


def nearest(Z: Array, Q: Array, k: Any, what: str) -> Matches:
    """Positions and cosines of the ``k`` rows of Z nearest to each row of Q, best first.

    A row of zeros has the cosine 0 with everything. Equal cosines come in the order of the rows.
    """
    n = len(Z)
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or not 1 <= k <= n:
        raise InputError(f"k={k!r}: a whole number from 1 to {n}, the number of {what}, is needed")
    indices, cosines = np.empty((len(Q), k), np.int64), np.empty((len(Q), k))
    A = _unit(Z)
    step = max(1, 10_000_000 // n)
    for a in range(0, len(Q), step):
        C = np.clip(_unit(Q[a : a + step]) @ A.T, -1.0, 1.0)
        if k < n:
            worst = -np.partition(-C, k - 1, axis=1)[:, k - 1]
        for i, row in enumerate(C, a):
            few = np.flatnonzero(row >= worst[i - a]) if k < n else np.arange(n)
            best = few[np.argsort(-row[few], kind="stable")[:k]]
            indices[i], cosines[i] = best, row[best]
    return Matches(indices, cosines)


def _unit(Z: Array) -> Array:
    """Rows of length 1; zeros stay zeros."""
    Z = np.asarray(Z, dtype=np.float64)
    lengths = np.linalg.norm(Z, axis=1, keepdims=True)
    return np.asarray(Z / np.where(lengths > 0, lengths, 1.0))

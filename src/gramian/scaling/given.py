"""What a picture is to be fitted to: distances, and how much each counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.errors import InputError
from gramian.maps import Array, unit_for

__all__ = ["Given"]


@dataclass(frozen=True)
class Given:
    """Distances and weights of all pairs, in rows.

    Attributes
    ----------
    D : array of shape (n, n)
        NaN where not known.
    W : array of shape (n, n) or None
        In the type of D.
    unit : float
        The power of two that D was multiplied by, so that squares are safe.
    missing : int
        Pairs that are not known.
    lacking : int
        Pairs that are not known or have no weight.
    """

    D: Array
    W: Array | None
    unit: float
    missing: int
    lacking: int

    @classmethod
    def of(cls, D: Array, weights: Any) -> Given:
        """Distances, of which some must be above 0, and weights of points or pairs.

        The known pairs must hold all points together.
        """
        D = D.T if D.flags.f_contiguous else D
        peak = float(D.max())
        missing = int(np.isnan(D).sum()) // 2 if np.isnan(peak) else 0
        peak = float(np.nanmax(D)) if missing else peak
        if not peak > 0:
            raise InputError("all distances are 0: all points are equal, nothing to embed")
        unit = unit_for(peak, D.dtype)
        D = np.ascontiguousarray(D if unit == 1 else D * D.dtype.type(unit))
        W = None if weights is None else _pair_weights(np.asarray(weights), len(D), D.dtype)
        return cls(D, W, unit, missing, _lacking(D, W) if missing or W is not None else 0)

    @property
    def pairs(self) -> int:
        """All of them."""
        return len(self.D) * (len(self.D) - 1) // 2

    @property
    def zeros(self) -> int:
        """Pairs of points that coincide."""
        return (int(np.count_nonzero(self.D == 0)) - len(self.D)) // 2


def _pair_weights(given: Array, n: int, dtype: Any) -> Array:
    """Weights of all pairs, in rows: symmetric, finite, at least 0; products of those of points."""
    if given.ndim == 1:
        return np.outer(given, given).astype(dtype)
    W = given.astype(dtype) if given.dtype.kind in "fiub" else np.empty(0)
    if W.shape != (n, n) or not np.isfinite(W).all() or (W < 0).any() or (W != W.T).any():
        raise InputError(
            f"weights must be {n} numbers, or {n} x {n}, symmetric, finite and at least 0; got "
            f"shape {given.shape}, type {given.dtype}"
        )
    return np.ascontiguousarray(W)


def _lacking(D: Array, W: Array | None) -> int:
    """How many distances are missing or count nothing; the known ones must hold all together."""
    counts = np.isfinite(D) if W is None else np.isfinite(D) & (W > 0)
    n = len(D)
    lacking = (n * n - int(np.count_nonzero(counts | np.eye(n, dtype=bool)))) // 2
    if lacking:
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        parts, which = connected_components(csr_array(counts.astype(np.int8)), directed=False)
        if parts > 1:
            first = int(np.flatnonzero(which != which[0])[0])
            raise InputError(
                f"the known distances fall into {parts} parts with nothing known between them "
                f"(points 0 and {first}, counted from 0, are in different ones); a picture needs "
                "at least one distance between any two parts: fill some in, or scale each part"
            )
    return lacking

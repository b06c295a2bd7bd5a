"""Similarities that were given: their labels, and what they must not be.

Labels are matched by the rules for distances (:mod:`gramian.data.dissimilarities`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.data.dissimilarities import _matched, _order
from gramian.data.distance_checks import Labels
from gramian.data.distance_sources import Raw, _unless_counted
from gramian.errors import InputError
from gramian.maps import Array


def labels_of(opened: Any) -> Labels:
    """What the points of a square of similarities are called, the same in rows and columns."""
    rows, columns = map(_names, (opened.labels, opened.columns))
    return _matched(
        Raw(np.broadcast_to(0.0, opened.rows.shape), rows, columns, "the kernel", False)
    )


def ordered(rows: Array, columns: Labels, labels: Labels) -> Array:
    """Similarities of new points, with columns in the order of the ``labels`` of the fit."""
    names = _names(columns)
    if names is None or labels is None or names == labels:
        return rows
    return np.asarray(rows[:, _order(names, labels, "the similarities")])


def _names(labels: Labels) -> Labels:
    return None if labels is None else _unless_counted(labels)


def own_of(own: Any, m: int) -> Array:
    """Similarities of ``m`` new points to themselves, checked."""
    given = np.asarray(own)
    if given.shape != (m,) or given.dtype.kind not in "fiub":
        raise InputError(
            f"own must be {m} numbers, k(x, x) of each new point; got shape {given.shape}, type "
            f"{given.dtype}"
        )
    if not np.isfinite(given).all():
        raise InputError("own holds NaN or infinity; k(x, x) is a finite number")
    return given.astype(np.float64)


def refuse_gaps(K: Array) -> None:
    """Given similarities must be numbers."""
    finite = np.isfinite(K)
    if not finite.all():
        i, j = np.argwhere(~finite)[0]
        raise InputError(
            f"the similarities hold NaN or infinity, first at row {i}, column {j} (counted from "
            "0); every pair of points needs one: fill it in, or leave the point out"
        )


def refuse_distances(diagonal: Array, least: float, most: float) -> None:
    """Raise for what has nothing on its diagonal and, between ``least`` and ``most``, no minus."""
    nothing = 1e-6 * most
    if nothing > 0 and np.abs(diagonal).max() <= nothing and least >= -nothing:
        raise InputError(
            "the precomputed kernel has a zero diagonal and nothing negative: it looks like "
            "distances; use ClassicalMDS(metric='precomputed'), or exp(-gamma D^2)"
        )

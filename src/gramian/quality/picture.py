"""A picture judged in about a second: the measures that a report shows of every method."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.maps import Array
from gramian.quality.neighborhoods import kept_neighbors
from gramian.quality.stress import stress_1

NEIGHBORS = 10
_PAIRS = 10_000_000  # distances worked out, a second or so
_FEW = 200  # points asked at least; where even these cost more, nothing is measured


def picture_measures(X: Any, Z: Array, metric: Any = "euclidean") -> dict[str, Any]:
    """Trustworthiness, continuity and stress-1 of the first two axes; none where that takes long.

    Parameters
    ----------
    X : array of shape (n, p)
        The data; distances (n, n) with ``metric="precomputed"``.
    Z : array of shape (n, k)
    metric : str or callable
        Which distances of the data count.

    Returns
    -------
    dict
        ``points_asked`` says how many points stand for all; empty for fewer than 25 points, for
        more than 50,000, and where all points of the picture are equal.
    """
    n, Z = len(Z), np.asarray(Z)[:, :2]
    rows = min(n, _PAIRS // max(n, 1))
    if n < 2 * NEIGHBORS + 5 or rows < min(n, _FEW) or not np.ptp(Z, axis=0).any():
        return {}
    kept = kept_neighbors(X, Z, NEIGHBORS, metric=metric, rows=rows)
    off = stress_1(X, Z, metric=metric, rows=rows)
    found = {"trustworthiness": kept.trustworthiness, "continuity": kept.continuity}
    return found | {"picture_stress": off, "points_asked": rows}

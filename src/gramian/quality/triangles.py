"""The triangle inequality, D_ij <= D_ik + D_kj, and the triangle that breaks it most.

Every pair is looked at. Up to 3000 points every third point is too; beyond, as many randomly
chosen third points as keep the work at 3000^3 steps, and the verdict says so.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramian.maps import Array
from gramian.show.text import count

_limit = 3000


@dataclass(frozen=True)
class Triangles:
    """What was found about the triangles of a distance matrix.

    Attributes
    ----------
    metric : bool
        Whether no triangle was found broken (beyond rounding).
    worst : tuple (i, j, k) or None
        The way from i to j over k is shorter than D_ij, by more than in any other triangle.
    excess : float
        By how much: D_ij - (D_ik + D_kj).
    broken : int
        Pairs i < j with a shorter way over some k.
    pairs : int
        All pairs.
    looked_at : int
        How many third points k were tried; n, if all.
    """

    metric: bool
    worst: tuple[int, int, int] | None
    excess: float
    broken: int
    pairs: int
    looked_at: int

    def __str__(self) -> str:
        """The worst in a sentence; empty if none is broken."""
        if self.worst is None:
            return ""
        i, j, k = self.worst
        return (
            f"{count(self.broken, 'pair')} of {self.pairs:,} are farther apart than by way of a "
            f"third point, most of all {i} and {j} by way of {k} (counted from 0)"
        )


def worst_triangle(D: Array, limit: int = _limit) -> Triangles:
    """Look for the triangle that breaks the inequality most.

    Parameters
    ----------
    D : ndarray of shape (n, n)
        Symmetric, zero diagonal.
    limit : int
        Points up to which all triangles are looked at.

    Returns
    -------
    Triangles
    """
    from gramian.loops.triangles import all_detours

    n, eps = len(D), float(np.finfo(D.dtype).eps)
    D = np.ascontiguousarray(D, dtype=np.float64)
    over = np.arange(n)
    if n > limit:
        some = max(int(limit**3 // n**2), 1)
        over = np.sort(np.random.default_rng(0).choice(n, some, replace=False))
    slack = 8 * eps * float(D.max())
    excess, partner, broken = all_detours(D, over, slack)
    i = int(np.argmax(excess))
    pairs = n * (n - 1) // 2
    if excess[i] <= slack:
        return Triangles(True, None, 0.0, 0, pairs, len(over))
    j = int(partner[i])
    k = int(over[np.argmin(D[i, over] + D[j, over])])
    return Triangles(False, (i, j, k), float(excess[i]), int(broken.sum()), pairs, len(over))

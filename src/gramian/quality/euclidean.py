"""Is it a metric, is it Euclidean, and what would repair it: ``check_distances`` says all at once.

1. distances   symmetric, zero diagonal, nothing negative (the door sees to it)
2. metric      no way from i to j over k is shorter than D_ij
3. Euclidean   B = -1/2 H D^2 H has no negative eigenvalue; else their share of the sum of sizes,
               and a vector v with 1'v = 0 and v'D^2 v > 0 that proves it
4. repairs     the constants of Cailliez and Lingoes, the largest power that is Euclidean
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gramian.errors import InputError
from gramian.maps import Array
from gramian.quality.definiteness import (
    Definiteness,
    HilbertTest,
    centered,
    conditionally_negative_definite,
    hilbert_embedding,
    positive_semidefinite,
    scaled,
)
from gramian.quality.repairs import (
    Repair,
    cailliez,
    cailliez_constant,
    clip,
    lingoes,
    power,
    power_exponent,
)
from gramian.quality.triangles import Triangles, worst_triangle
from gramian.show.text import count, number, percent, visible

__all__ = [
    "Definiteness",
    "DistanceCheck",
    "HilbertTest",
    "Repair",
    "Triangles",
    "cailliez",
    "centered",
    "check_distances",
    "clip",
    "conditionally_negative_definite",
    "hilbert_embedding",
    "lingoes",
    "positive_semidefinite",
    "power",
    "worst_triangle",
]

_spectrum = 3000  # points up to which all eigenvalues are computed
_repairs = 1500  # points up to which the constants of all repairs are


@dataclass(frozen=True)
class DistanceCheck:
    """What is true of a matrix of distances; ``print`` it.

    Attributes
    ----------
    n : int
    labels : tuple of str or None
    triangles : Triangles
        ``triangles.metric`` says whether it is a metric, ``triangles.worst`` which triangle breaks
        it most; excess in the unit of the distances.
    euclidean : Definiteness
        Of the squared distances; ``euclidean.smallest`` is the smallest eigenvalue of B.
    eigenvalues : ndarray or None
        Of B, largest first; None beyond 3000 points. Infinite where squares of the distances are
        (from 1e154 on); the verdicts do not depend on that.
    negative_share : float or None
        Sum of sizes of the negative eigenvalues over that of all; 0 if Euclidean.
    cailliez, lingoes, power : float or None
        What each repair would take; None beyond 1500 points (lingoes is always known).
    ways : tuple of three floats or None
        D_ij, D_ik and D_kj of the worst triangle.
    """

    n: int
    labels: tuple[str, ...] | None
    triangles: Triangles
    euclidean: Definiteness
    eigenvalues: Array | None
    negative_share: float | None
    cailliez: float | None
    lingoes: float
    power: float | None
    ways: tuple[float, float, float] | None

    @property
    def metric(self) -> bool:
        """Whether no broken triangle was found."""
        return self.triangles.metric

    @property
    def n_negative(self) -> int | None:
        """How many eigenvalues are negative beyond rounding; None where they are not known."""
        if self.eigenvalues is None:
            return None
        return int((self.eigenvalues < -self.euclidean.tolerance).sum())

    def name(self, i: int) -> str:
        """A point by its label, or by its number."""
        return visible(self.labels[i], 40) if self.labels else f"point {i}"

    def __str__(self) -> str:
        lines = [
            f"Distances between {count(self.n, 'point')}",
            "distances  yes: symmetric, zero diagonal, nothing negative",
            f"metric     {self._metric()}",
            f"Euclidean  {self._euclidean()}",
        ]
        if not self.euclidean.holds:
            lines += [f"{'repair' if i == 0 else '':9s}  {x}" for i, x in enumerate(self.repairs())]
        return "\n".join(lines)

    def _metric(self) -> str:
        found = self.triangles
        seen = (
            ""
            if found.looked_at == self.n
            else f" ({found.looked_at:,} of {self.n:,} third points looked at)"
        )
        if found.worst is None or self.ways is None:
            return f"yes: no way over a third point is shorter{seen}"
        i, j, k = map(self.name, found.worst)
        straight, there, on = self.ways
        return (
            f"no: {i} to {j} is {number(straight)}, but over {k} only {number(there + on)} "
            f"({number(there)} + {number(on)}); worst of {count(found.broken, 'broken pair')} "
            f"in {found.pairs:,}{seen}"
        )

    def _euclidean(self) -> str:
        if self.euclidean.holds:
            return "yes: no negative eigenvalue beyond rounding"
        smallest = f"the smallest eigenvalue is {number(self.euclidean.smallest)}"
        if self.eigenvalues is None or self.negative_share is None:
            return f"no: {smallest}"
        return (
            f"no: {self.n_negative} of {self.n} eigenvalues are negative, "
            f"{percent(self.negative_share)} of the spectrum; {smallest}, "
            f"the largest {number(float(self.eigenvalues[0]))}"
        )

    def repairs(self) -> list[str]:
        """What would make the distances Euclidean, one sentence each."""
        if self.euclidean.holds:
            return []
        out = []
        if self.cailliez is not None:
            out.append(f"add {number(self.cailliez)} to every distance (Cailliez)")
        out.append(f"add {number(2 * self.lingoes)} to every squared distance (Lingoes)")
        if self.power is not None:
            out.append(f"raise every distance to the power {number(self.power)} (Schoenberg)")
        out.append("or drop the negative part of the spectrum (clip), as classical MDS does")
        return out


def check_distances(D: Any, memory: Any = None) -> DistanceCheck:
    """Judge a matrix of distances.

    Parameters
    ----------
    D : distances, as :func:`gramian.data.dissimilarities.open_distances` takes them
    memory : int, str or None
        Budget.

    Returns
    -------
    DistanceCheck

    Raises
    ------
    InputError
        These are no distances; the sentence says why.

    Examples
    --------
    >>> from gramian.quality.euclidean import check_distances
    >>> print(check_distances([[0, 1, 3], [1, 0, 1], [3, 1, 0]]))
    Distances between 3 points
    distances  yes: symmetric, zero diagonal, nothing negative
    metric     no: point 0 to point 2 is 3, but over point 1 only 2 (1 + 1); worst of 1 broken \
pair in 3
    Euclidean  no: 1 of 3 eigenvalues are negative, 15.6% of the spectrum; the smallest \
eigenvalue is -0.83333, the largest 4.5
    repair     add 1 to every distance (Cailliez)
               add 1.6667 to every squared distance (Lingoes)
               raise every distance to the power 0.63093 (Schoenberg)
               or drop the negative part of the spectrum (clip), as classical MDS does
    """
    D, labels, unit = scaled(D, memory)
    n = len(D)
    triangles = worst_triangle(D)  # 2
    C = np.square(D)
    euclidean = conditionally_negative_definite(C, memory)  # 3
    values, share = None, 0.0 if euclidean.holds else None
    if n <= _spectrum:
        values = np.linalg.eigvalsh(centered(C))[::-1]
        if not euclidean.holds:
            share = float(-values[values < -euclidean.tolerance].sum() / np.abs(values).sum())
    c = p = None  # 4
    if n <= _repairs:
        c, p = cailliez_constant(D, memory) / unit, _power(D, memory)
    ways = None
    if triangles.worst is not None:
        i, j, k = triangles.worst
        ways = (float(D[i, j]) / unit, float(D[i, k]) / unit, float(D[k, j]) / unit)
    with np.errstate(over="ignore", under="ignore"):
        values = None if values is None else values / unit / unit
    return DistanceCheck(
        n,
        labels,
        replace(triangles, excess=triangles.excess / unit),
        _in_squared_units(euclidean, unit),
        values,
        share,
        c,
        0.0 if euclidean.holds else -euclidean.smallest / unit / unit,
        p,
        ways,
    )


def _power(D: Array, memory: Any) -> float | None:
    try:
        return power_exponent(D, memory)
    except InputError:  # twins: no power works
        return None


def _in_squared_units(found: Definiteness, unit: float) -> Definiteness:
    return replace(
        found,
        smallest=found.smallest / unit / unit,
        tolerance=found.tolerance / unit / unit,
        form=None if found.form is None else found.form / unit / unit,
    )

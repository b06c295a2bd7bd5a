"""Losses of a picture Z, each with its slope: what ``descend`` goes down.

    stress   sum w (d - D)^2 / sum w D^2            sammon   the same with w / D
    sstress  sum w (d^2 - D^2)^2 / sum w D^4        d = |z_i - z_j|
    fitted   min over dhat of sum w (d - dhat)^2 / sum w d^2      dhat monotone in D (disparities)

The first three are one sweep over D. The last is the squared distance of d from a convex cone; its
slope is known from the nearest point alone: 2 (d - dhat). Where Z is as large as fits best, all but
sstress are stress-1, squared (Sammon's with its weights).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from gramian.evidence import Shepard, sample_pairs
from gramian.loops.stress import constants, misfit
from gramian.maps import Array
from gramian.scaling.disparities import Curve, Ordinal, fit_for
from gramian.scaling.starts import upright

__all__ = ["FittedLoss", "Judged", "Loss", "MetricLoss"]

_many = 500  # points from which on the first steps are taken in float32


@dataclass(frozen=True)
class Judged:
    """The misfit of a picture in every usual form; sums have each pair once.

    Attributes
    ----------
    stresses : dict of float
        By name: ``"stress-1"`` sqrt(sum w (d - dhat)^2 / sum w d^2), dhat scaled to fit best;
        ``"stress-2"`` the same over sum w (d - mean d)^2; ``"raw"`` sum w (d - dhat)^2;
        ``"normalized"`` that over sum w dhat^2; ``"sstress"`` sum w (d^2 - dhat^2)^2.
    per_point : array of shape (n,)
        Share of the raw stress at each point: sums to 1.
    """

    stresses: dict[str, float]
    per_point: Array

    def in_units(self, unit: float) -> dict[str, float]:
        """The stresses, had distances not been multiplied by ``unit``."""
        found = dict(self.stresses)
        found["raw"] = found["raw"] / unit / unit
        found["sstress"] = found["sstress"] / unit / unit / unit / unit
        return found

    @classmethod
    def of(
        cls, off: Array, size: float, length: float, mass: float, target: float, squared: float
    ) -> Judged:
        """From sums over ordered pairs.

        Of w (d - dhat)^2 by point, w d^2, w d, w, w dhat^2, and w (d^2 - dhat^2)^2.
        """
        raw = float(off.sum())
        cross = (size + target - raw) / 2  # sum w d dhat
        best = max(1 - cross**2 / (size * target), 0.0) if raw > 1e-8 * size else raw / size
        spread = max(size - length**2 / mass, np.finfo(np.float64).tiny)
        return cls(
            {
                "stress-1": float(np.sqrt(best)),
                "stress-2": float(np.sqrt(best * size / spread)),
                "raw": raw / 2,
                "normalized": raw / target,
                "sstress": squared / 2,
            },
            off / raw if raw > 0 else np.full(len(off), 1 / len(off)),
        )


@dataclass(frozen=True)
class MetricLoss:
    """Stress, Sammon's stress or s-stress of a picture to distances.

    Attributes
    ----------
    D, W : array of shape (n, n), and weights or None
    name : {"stress", "sammon", "sstress"}
    sums : pair of arrays of shape (n,)
        What ``constants`` found.
    total : float
        What the misfit is divided by.
    steps : array of shape (n, 1)
        Of the plain step, a Guttman transform where all weights are 1.
    dtype : dtype
        What is computed in.
    """

    D: Array
    W: Array | None
    name: str
    sums: tuple[Array, Array]
    total: float
    steps: Array
    dtype: Any

    floor: ClassVar[float] = 1e-20

    @property
    def rough(self) -> MetricLoss | None:
        """The same in float32, for the first steps; ``None`` where that is no help."""
        quicker = self.dtype == np.float64 and len(self.D) >= _many
        return replace(self, dtype=np.dtype(np.float32)) if quicker else None

    def scale(self, Z: Array) -> Array:
        """Of the plain step from Z."""
        return self.steps

    def finished(self, Z: Array) -> Array:
        """The picture about its mean, on its principal axes, in the units of D."""
        return upright(Z)

    @classmethod
    def of(cls, D: Array, W: Array | None, name: str) -> MetricLoss:
        """With the sums that do not change."""
        n = len(D)
        total, mass = constants(D, W, name)
        everything = float(total.sum())
        pull = np.maximum(mass, 1e-3 * mass.mean())
        steps = (everything / _steep(name) / pull * (n - 1) / n)[:, None]
        return cls(D, W, name, (total, mass), everything, steps, D.dtype)

    def __call__(self, Z: Array) -> tuple[float, Array]:
        """The loss and its slope."""
        found = misfit(self.D, Z, self.W, self.name, self.dtype)
        return float(found.off.sum()) / self.total, found.slope * (_steep(self.name) / self.total)

    def judged(self, Z: Array) -> Judged:
        """Every form of stress, and what each point has of it."""
        D, W = self.D, self.W
        total, mass = self.sums if self.name == "stress" else constants(D, W, "stress")
        found, squared = misfit(D, Z, W), misfit(D, Z, W, "sstress")
        sums = (each.sum() for each in (found.size, found.length, mass, total, squared.off))
        return Judged.of(found.off, *map(float, sums))

    def compared(self, Z: Array, unit: float) -> Shepard:
        """Some dissimilarities beside distances, had they not been multiplied by ``unit``."""
        pairs = sample_pairs(len(self.D))
        known = pairs[np.isfinite(self.D[pairs[:, 0], pairs[:, 1]])]
        return Shepard.of(self.D[known[:, 0], known[:, 1]] / unit, Z / unit, known)


@dataclass(frozen=True)
class FittedLoss:
    """Stress-1, squared, of a picture to the best disparities.

    Attributes
    ----------
    D, W : array of shape (n, n), and weights or None
    fit : what finds disparities
    size : float
        Sum of w D^2 over pairs.
    mass : array of shape (n,)
        Sum of the weights of each point.
    """

    D: Array
    W: Array | None
    fit: Ordinal | Curve
    size: float
    mass: Array

    @property
    def floor(self) -> float:
        """A loss this small is as good as 0."""
        return self.fit.floor

    rough: ClassVar[None] = None
    dtype: ClassVar[Any] = np.dtype(np.float64)

    @classmethod
    def of(cls, D: Array, W: Array | None, measurement: str, ties: str) -> FittedLoss:
        """Of the known pairs of D."""
        total, mass = constants(D, W, "stress")
        return cls(D, W, fit_for(D, W, measurement, ties), float(total.sum()) / 2, mass)

    def __call__(self, Z: Array) -> tuple[float, Array]:
        """The loss and its slope."""
        Z = np.ascontiguousarray(Z, np.float64)
        off, size, toward, apart = self.fit.pull(Z, self.fit.nearest(Z))  # type: ignore[arg-type]
        share = off / size
        return share, (toward - share * apart) * (2 / size)

    def finished(self, Z: Array) -> Array:
        """The same, with the sum of squares of the dissimilarities: any size fits as well."""
        Z = upright(Z)
        return Z * np.sqrt(self.size / self._shown_size(Z))

    def scale(self, Z: Array) -> Array:
        """Of the plain step from Z, a Guttman transform where all weights are 1."""
        n, pull = len(Z), np.maximum(self.mass, 1e-3 * np.mean(self.mass))
        return np.asarray((self._shown_size(Z) / 2 / pull * (n - 1) / n)[:, None])

    def blocks(self, Z: Array) -> Iterator[tuple[Array, Array, Array, Array]]:
        """Some pairs after the other: their points i < j, distances and disparities."""
        Z = np.ascontiguousarray(Z, np.float64)
        yield from self.fit.blocks(Z, self.fit.nearest(Z))  # type: ignore[arg-type]

    def drawn(self, Z: Array) -> tuple[Array, Array]:
        """Disparities as a function: dissimilarities, ascending, and theirs."""
        Z = np.ascontiguousarray(Z, np.float64)
        return self.fit.drawn(Z, self.fit.nearest(Z))  # type: ignore[arg-type]

    def condensed(self, Z: Array) -> Array:
        """Disparities in the order of all pairs i < j, NaN where not known."""
        n = len(Z)
        found = np.full(n * (n - 1) // 2, np.nan, self.D.dtype)
        for i, j, _, fitted in self.blocks(Z):
            i, j = i.astype(np.int64), j.astype(np.int64)
            found[i * n - i * (i + 1) // 2 + j - i - 1] = fitted
        return found

    def compared(self, Z: Array, unit: float, most: int = 2000) -> Shepard:
        """Some dissimilarities, ascending, beside distances and disparities."""
        m, first, found = self.fit.count, 0, []
        wanted = np.unique(np.linspace(0, m - 1, min(most, m)).astype(int))
        for i, j, d, fitted in self.blocks(Z):
            here = wanted[(wanted >= first) & (wanted < first + len(d))] - first
            first += len(d)
            found.append(np.stack([self.D[i[here], j[here]], d[here], fitted[here]]))
        each = np.concatenate(found, axis=1).astype(np.float64) / unit
        order = np.lexsort((each[2], each[0]))
        given, shown, fitted = (row[order] for row in each)
        return Shepard(given, shown, fitted, m)

    def judged(self, Z: Array) -> Judged:
        """Every form of stress, and what each point has of it."""
        n = len(Z)
        by_point, sums = np.zeros(n), np.zeros(5)
        for i, j, d, fitted in self.blocks(Z):
            w = np.ones(len(d)) if self.W is None else self.W[i, j].astype(np.float64)
            off = w * (d - fitted) ** 2
            by_point += np.bincount(i, off, n) + np.bincount(j, off, n)
            squared = (d**2 - fitted**2) ** 2
            sums += [np.sum(w * each) for each in (d**2, d, np.ones(len(d)), fitted**2, squared)]
        return Judged.of(by_point, *(2 * float(each) for each in sums))

    def _shown_size(self, Z: Array) -> float:
        """Sum of w d^2 over pairs."""
        return float(misfit(self.D, Z, self.W).size.sum()) / 2


Loss = MetricLoss | FittedLoss


def _steep(name: str) -> float:
    """Every pair counts twice, and a square has slope two; s-stress has squares of squares."""
    return 8.0 if name == "sstress" else 4.0

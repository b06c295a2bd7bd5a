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
from typing import Any

import numpy as np

from gramian.loops.pairs import lengths, slopes
from gramian.loops.stress import constants, misfit
from gramian.maps import Array
from gramian.scaling.disparities import Fit, Pairs, fit_for
from gramian.scaling.starts import upright

__all__ = ["FittedLoss", "Judged", "MetricLoss"]

_block = 1 << 18  # pairs
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
    total: float
    steps: Array
    dtype: Any

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
        total, pull = constants(D, W, name)
        everything = float(total.sum())
        pull = np.maximum(pull, 1e-3 * pull.mean())
        steps = (everything / _steep(name) / pull * (n - 1) / n)[:, None]
        return cls(D, W, name, everything, steps, D.dtype)

    def __call__(self, Z: Array) -> tuple[float, Array]:
        """The loss and its slope."""
        found = misfit(self.D, Z, self.W, self.name, self.dtype)
        return float(found.off.sum()) / self.total, found.slope * (_steep(self.name) / self.total)

    def judged(self, Z: Array) -> Judged:
        """Every form of stress, and what each point has of it."""
        D, W = self.D, self.W
        total, mass = constants(D, W, "stress")
        found, squared = misfit(D, Z, W), misfit(D, Z, W, "sstress")
        sums = (each.sum() for each in (found.size, found.length, mass, total, squared.off))
        return Judged.of(found.off, *map(float, sums))


@dataclass(frozen=True)
class FittedLoss:
    """Stress-1, squared, of a picture to the best disparities.

    Attributes
    ----------
    pairs : Pairs
    fit : function that replaces distances by disparities
    room : array of shape (m,)
        Distances go in here, disparities come out.
    """

    pairs: Pairs
    fit: Fit
    room: Array

    @classmethod
    def of(cls, D: Array, W: Array | None, measurement: str, ties: str) -> FittedLoss:
        """Of the known pairs of D."""
        pairs = Pairs.of(D, W)
        return cls(pairs, fit_for(pairs, measurement, ties), np.empty(len(pairs.given), D.dtype))

    def __call__(self, Z: Array) -> tuple[float, Array]:
        """The loss and its slope."""
        heads, tails = self.pairs.heads, self.pairs.tails
        lengths(Z, heads, tails, self.room)
        off, size = self.fit(self.room)
        share = off / size
        return share, slopes(Z, heads, tails, self.room, self.pairs.weights, share) * (2 / size)

    rough = None

    @property
    def dtype(self) -> Any:
        """What distances are kept in."""
        return self.room.dtype

    def finished(self, Z: Array) -> Array:
        """The same, with the sum of squares of the dissimilarities: any size fits as well."""
        Z = upright(Z)
        lengths(Z, self.pairs.heads, self.pairs.tails, self.room)
        return Z * np.sqrt(self._size(self.pairs.given) / self._size(self.room))

    def scale(self, Z: Array) -> Array:
        """Of the plain step from Z, a Guttman transform where all weights are 1."""
        n, pairs = len(Z), self.pairs
        lengths(Z, pairs.heads, pairs.tails, self.room)
        pull = sum(np.bincount(each, pairs.weights, n) for each in (pairs.heads, pairs.tails))
        pull = np.maximum(pull, 1e-3 * np.mean(pull))
        return np.asarray((self._size(self.room) / 2 / pull * (n - 1) / n)[:, None])

    def blocks(self, Z: Array) -> Iterator[tuple[slice, Array, Array]]:
        """Some pairs after the other, with distances and disparities in float64."""
        self(Z)  # disparities are in the room now, and ties in their order
        heads, tails = self.pairs.heads, self.pairs.tails
        for a in range(0, len(self.room), _block):
            at = slice(a, a + _block)
            d = np.empty(len(self.room[at]))
            lengths(Z, heads[at], tails[at], d)
            yield at, d, self.room[at].astype(np.float64)

    def condensed(self, Z: Array) -> Array:
        """Disparities in the order of all pairs i < j, NaN where not known."""
        n = len(Z)
        found = np.full(n * (n - 1) // 2, np.nan, self.room.dtype)
        for at, _, fitted in self.blocks(Z):
            i, j = (each[at].astype(np.int64) for each in (self.pairs.heads, self.pairs.tails))
            found[i * n - i * (i + 1) // 2 + j - i - 1] = fitted
        return found

    def shepard(self, Z: Array, most: int = 2000) -> tuple[Array, ...]:
        """Dissimilarities, distances and disparities of some pairs, ascending."""
        self(Z)
        m, pairs = len(self.room), self.pairs
        some = np.unique(np.linspace(0, m - 1, min(most, m)).astype(int))
        d = np.empty(len(some))
        lengths(Z, pairs.heads[some], pairs.tails[some], d)
        return pairs.given[some].astype(np.float64), d, self.room[some].astype(np.float64)

    def judged(self, Z: Array) -> Judged:
        """Every form of stress, and what each point has of it."""
        n, pairs = len(Z), self.pairs
        by_point, sums = np.zeros(n), np.zeros(5)
        for at, d, fitted in self.blocks(Z):
            w = np.ones(len(d)) if pairs.weights is None else pairs.weights[at]
            off = w * (d - fitted) ** 2
            by_point += np.bincount(pairs.heads[at], off, n) + np.bincount(pairs.tails[at], off, n)
            squared = (d**2 - fitted**2) ** 2
            sums += [float(w @ each) for each in (d**2, d, np.ones(len(d)), fitted**2, squared)]
        return Judged.of(by_point, *(2 * float(each) for each in sums))

    def _size(self, values: Array) -> float:
        """Sum of weighted squares."""
        w = self.pairs.weights
        return float(
            sum(
                np.vdot(part * (1 if w is None else w[a : a + _block]), part)
                for a in range(0, len(values), _block)
                for part in (values[a : a + _block].astype(np.float64),)
            )
        )


def _steep(name: str) -> float:
    """Every pair counts twice, and a square has slope two; s-stress has squares of squares."""
    return 8.0 if name == "sstress" else 4.0

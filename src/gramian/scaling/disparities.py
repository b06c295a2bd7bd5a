"""Disparities: distances in a picture, made a function of the dissimilarities that never falls.

    ordinal    any such function (isotonic regression); of equal dissimilarities
                 primary    disparities may differ, in the order of the distances
                 secondary  disparities are equal
                 tertiary   their means do not fall, the rest stays
    interval   a + b D                b >= 0
    spline     a + sum of c_m I_m(D)  c_m >= 0: monotone splines, quadratic, two inner knots

``nearest`` finds the function for a picture, ``pull`` what is left and its slopes.

J. B. Kruskal, Psychometrika 29 (1964); J. O. Ramsay, Statistical Science 3 (1988).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gramian.errors import InputError
from gramian.loops import curves, ordinal
from gramian.loops.order import MOST
from gramian.loops.ordinal import TIES, Order, Steps
from gramian.maps import Array

__all__ = ["MEASUREMENTS", "TIES", "Curve", "Ordinal", "Pulls", "fit_for"]

MEASUREMENTS = ("ratio", "interval", "ordinal", "spline")
_block = 1 << 16  # pairs
_seen = 1 << 18  # pairs that knots are chosen by, about

#: sum w (d - dhat)^2, sum w d^2, and half of the slope of each.
Pulls = tuple[float, float, Array, Array]

#: Points i < j of some pairs, their distances and their disparities.
Block = tuple[Array, Array, Array, Array]


def fit_for(D: Array, W: Array | None, measurement: str, ties: str = "primary") -> Ordinal | Curve:
    """What finds the disparities of all known pairs of D."""
    if measurement == "ordinal":
        return Ordinal.of(D, W, ties)
    return Curve.of(D, W, *((1, 0) if measurement == "interval" else (2, 2)))


@dataclass(frozen=True)
class Ordinal:
    """Disparities by the order of the dissimilarities.

    Attributes
    ----------
    D : array of shape (n, n)
    order : Order
    ties : str
    """

    D: Array
    order: Order
    ties: str

    floor: ClassVar[float] = 1e-10

    @classmethod
    def of(cls, D: Array, W: Array | None, ties: str) -> Ordinal:
        """Of the known pairs of D."""
        if len(D) > MOST:
            raise InputError(f"ordinal MDS takes up to {MOST} points, got {len(D)}")
        return cls(D, Order.of(D, W), ties)

    @property
    def count(self) -> int:
        """Known pairs."""
        return len(self.order.pairs)

    def nearest(self, Z: Array) -> Steps:
        """The steps nearest to the distances in Z."""
        return ordinal.pool(Z, self.order, self.ties)

    def pull(self, Z: Array, steps: Steps) -> Pulls:
        """What is left of the distances, their size, and the slopes of both."""
        return ordinal.pull(Z, self.order, self.ties, steps)

    def blocks(self, Z: Array, steps: Steps) -> Iterator[Block]:
        """All pairs, ascending by dissimilarity."""
        for p in range(len(self.order.cuts) - 1):
            pairs = self.order.piece(p)[0]
            yield pairs >> 16, pairs & 0xFFFF, *ordinal.shown(Z, self.order, self.ties, steps, p)

    def drawn(self, Z: Array, steps: Steps) -> tuple[Array, Array]:
        """Dissimilarities and disparities at the ends of the steps, those of ties averaged."""
        found = []
        for i, j, _, y in self.blocks(Z, steps):
            x = self.D[i, j].astype(np.float64)
            first = np.flatnonzero(np.r_[True, x[1:] != x[:-1]])
            x, y = x[first], np.add.reduceat(y, first) / np.diff(np.r_[first, len(y)])
            new = np.r_[True, y[1:] != y[:-1], True]
            found.append(np.stack([x, y])[:, new[1:] | new[:-1]])
        x, y = np.concatenate(found, axis=1)
        return x, y


@dataclass(frozen=True)
class Curve:
    """Disparities by a monotone spline of the dissimilarities: polynomials between knots.

    Attributes
    ----------
    D, W : array of shape (n, n), and weights or None
    knots : array of shape (s + 1,)
    basis : array of shape (s, degree + 1, p)
        Coefficients of u^q, 0 <= u <= 1 between two knots, of each of p functions; the first is 1.
    root, inverse : array of shape (r, p)
        root' root = their inner products, and the transpose of what undoes it.
    """

    D: Array
    W: Array | None
    knots: Array
    basis: Array
    root: Array
    inverse: Array

    @classmethod
    def of(cls, D: Array, W: Array | None, degree: int, inner: int) -> Curve:
        """With knots at quantiles of the dissimilarities."""
        knots = _knots(D, W, inner)
        basis = _monotone(knots, degree)
        sums = curves.moments(D, W, None, knots, 2 * degree + 1)
        powers = np.arange(degree + 1)
        hankel = sums[:, powers[:, None] + powers]
        values, vectors = np.linalg.eigh(np.einsum("sap,sab,sbq->pq", basis, hankel, basis))
        kept = values > 1e-12 * values[-1]
        root, vectors = np.sqrt(values[kept])[:, None], vectors[:, kept].T
        return cls(D, W, knots, basis, root * vectors, vectors / root)

    @property
    def floor(self) -> float:
        """A loss this small is as good as 0."""
        return 1e-20 if self.basis.shape[1] == 2 else 1e-10

    @property
    def count(self) -> int:
        """Known pairs."""
        return sum(len(each[0]) for each in self._pairs())

    def nearest(self, Z: Array) -> Array:
        """The curve nearest to the distances in Z, as coefficients (s, degree + 1)."""
        from scipy.optimize import nnls

        sums = curves.moments(self.D, self.W, Z, self.knots, self.basis.shape[1])
        target = self.inverse @ np.einsum("sq,sqp->p", sums, self.basis)
        both = np.c_[self.root, -self.root[:, 0]]  # the constant may have either sign
        *found, negative = nnls(both, target)[0]
        found[0] -= negative
        return np.ascontiguousarray(self.basis @ np.array(found))

    def pull(self, Z: Array, curve: Array) -> Pulls:
        """What is left of the distances, their size, and the slopes of both."""
        return curves.pull(self.D, self.W, Z, self.knots, curve)

    def blocks(self, Z: Array, curve: Array) -> Iterator[Block]:
        """All pairs, row by row."""
        for i, j in self._pairs():
            apart = np.linalg.norm(Z[i] - Z[j], axis=1)
            yield i, j, apart, self._at(self.D[i, j].astype(np.float64), curve)

    def drawn(self, Z: Array, curve: Array) -> tuple[Array, Array]:
        """Dissimilarities and disparities, close enough for straight lines between them."""
        few = 2 if self.basis.shape[1] == 2 else 65
        ends = zip(self.knots[:-1], self.knots[1:], strict=True)
        x = np.unique(np.concatenate([np.linspace(a, b, few) for a, b in ends]))
        return x, self._at(x, curve)

    def _at(self, x: Array, curve: Array) -> Array:
        s = np.searchsorted(self.knots[1:-1], x, side="right")
        u = (x - self.knots[s]) / np.diff(self.knots)[s]
        return np.asarray(sum(curve[s, q] * u**q for q in range(curve.shape[1])))

    def _pairs(self) -> Iterator[tuple[Array, Array]]:
        n = len(self.D)
        step = max(1, _block // n)
        for a in range(0, n, step):
            known = np.isfinite(self.D[a : a + step])
            if self.W is not None:
                known &= self.W[a : a + step] > 0
            i, j = np.nonzero(np.triu(known, a + 1))
            yield i + a, j


def _knots(D: Array, W: Array | None, inner: int) -> Array:
    """Least and largest dissimilarity, and quantiles of (some of) them between."""
    n = len(D)
    rows = range(0, n, max(1, n * n // 2 // _seen))
    if inner == 0:
        rows = range(n)
    found = []
    for i in rows:
        row = D[i, i + 1 :] if W is None else D[i, i + 1 :][W[i, i + 1 :] > 0]
        row = row[np.isfinite(row)]
        found.append(row if inner else np.array([row.min(), row.max()]) if len(row) else row)
    given = np.sort(np.concatenate(found)).astype(np.float64)
    knots = np.unique(given[np.linspace(0, len(given) - 1, inner + 2).astype(int)])
    return knots if len(knots) > 1 else np.array([knots[0], knots[0] + 1.0])


def _monotone(knots: Array, degree: int) -> Array:
    """I-splines: sums of B-splines from the m-th on; the first is 1, none ever falls."""
    from scipy.interpolate import PPoly

    long = np.r_[[knots[0]] * degree, knots, [knots[-1]] * degree]
    count = len(long) - degree - 1
    found = np.zeros((len(knots) - 1, degree + 1, count))
    for m in range(count):
        above = (np.arange(count) >= m).astype(np.float64)
        whole = PPoly.from_spline((long, above, degree))
        for s, low in enumerate(knots[:-1]):
            at = np.searchsorted(whole.x, low, side="right") - 1
            width = knots[s + 1] - low
            found[s, :, m] = whole.c[::-1, at] * width ** np.arange(degree + 1)
    return found

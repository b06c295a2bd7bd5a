"""Disparities: distances in a picture, made a function of the dissimilarities that never falls.

    ordinal    any such function (isotonic regression); of equal dissimilarities
                 primary    disparities may differ, in the order of the distances
                 secondary  disparities are equal
                 tertiary   their means do not fall, the rest stays
    interval   a + b D                b >= 0
    spline     a + sum of c_m I_m(D)  c_m >= 0: monotone splines, quadratic, two inner knots

Each takes the distances of all pairs, ascending by dissimilarity, and puts the nearest disparities
in their place.

J. B. Kruskal, Psychometrika 29 (1964); J. O. Ramsay, Statistical Science 3 (1988).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.loops.isotonic import isotonic
from gramian.loops.ties import sort_ties
from gramian.maps import Array

__all__ = ["MEASUREMENTS", "TIES", "Fit", "Pairs", "fit_for"]

MEASUREMENTS = ("ratio", "interval", "ordinal", "spline")
_none = np.empty(0, np.int64)
TIES = ("primary", "secondary", "tertiary")

#: Replaces distances by disparities; sum w (d - dhat)^2 and sum w d^2.
Fit = Callable[[Array], tuple[float, float]]


@dataclass(frozen=True)
class Pairs:
    """The known pairs of points, ascending by dissimilarity; ties in any order, which may change.

    Attributes
    ----------
    heads, tails : array of unsigned int of shape (m,)
    given : array of shape (m,)
    weights : array of shape (m,) or None
    starts : array of int
        Where each different dissimilarity begins, and m; empty if all are different.
    """

    heads: Array
    tails: Array
    given: Array
    weights: Array | None
    starts: Array

    @classmethod
    def of(cls, D: Array, W: Array | None = None) -> Pairs:
        """Pairs i < j whose dissimilarity is known and whose weight is not 0."""
        n = len(D)
        kind = np.uint16 if n <= 1 << 16 else np.uint32
        heads = np.repeat(np.arange(n, dtype=kind), np.arange(n - 1, -1, -1))
        tails = np.concatenate([np.arange(i + 1, n, dtype=kind) for i in range(n)])
        given = np.concatenate([D[i, i + 1 :] for i in range(n)])
        weights = None if W is None else np.concatenate([W[i, i + 1 :] for i in range(n)])
        known = np.isfinite(given) if weights is None else np.isfinite(given) & (weights > 0)
        order = np.argsort(given) if known.all() else _known(given, known)
        given, heads, tails = given[order], heads[order], tails[order]
        tied = bool((given[1:] == given[:-1]).any())
        starts = np.flatnonzero(np.r_[True, given[1:] > given[:-1], True]) if tied else _none
        some = None if weights is None else weights[order].astype(np.float64)
        return cls(heads, tails, given, some, starts)

    @property
    def masses(self) -> Array:
        """The weights, 1 each where none are given."""
        return np.ones(len(self.given)) if self.weights is None else self.weights

    @property
    def tied(self) -> bool:
        """Whether some dissimilarities are equal."""
        return len(self.starts) > 0


def _known(given: Array, known: Array) -> Array:
    some = np.flatnonzero(known)
    return np.asarray(some[np.argsort(given[some])])


def fit_for(pairs: Pairs, measurement: str, ties: str = "primary") -> Fit:
    """The function that replaces distances of the pairs by disparities."""
    if measurement == "ordinal":
        return _ordinal(pairs, ties)
    degree, inner = (1, 0) if measurement == "interval" else (2, 2)
    return Curve.of(pairs, degree, inner).fit


def _ordinal(pairs: Pairs, ties: str) -> Fit:
    weights, starts = pairs.weights, pairs.starts
    if not pairs.tied:
        return lambda d: isotonic(d, weights)
    if ties == "primary":

        def fit(d: Array) -> tuple[float, float]:
            sort_ties(d, pairs.heads, pairs.tails, weights, starts)
            return isotonic(d, weights)

        return fit
    sizes = np.diff(starts)
    w = pairs.masses
    masses = np.add.reduceat(w, starts[:-1])

    def fit_groups(d: Array) -> tuple[float, float]:
        means = np.add.reduceat(w * d, starts[:-1]) / masses
        fitted = means.copy()
        isotonic(fitted, masses)
        size = float(np.sum(w * np.square(d, dtype=np.float64)))
        if ties == "secondary":
            new = np.repeat(fitted, sizes)
        else:
            new = d + np.repeat(fitted - means, sizes)
        off = float(np.sum(w * np.square(d - new)))
        d[:] = new
        return off, size

    return fit_groups


@dataclass(frozen=True)
class Curve:
    """Monotone splines of the dissimilarities: pieces of polynomials between knots.

    Attributes
    ----------
    given : array of shape (m,)
    weights : array of shape (m,) or None
    cuts : array of int of shape (s + 1,)
        Which pairs lie between which knots.
    knots : array of shape (s + 1,)
    basis : array of shape (s, degree + 1, p)
        Coefficients of u^q, 0 <= u <= 1 between two knots, of each of p functions; the first is 1.
    root : array of shape (p, p)
        root' root = their inner products.
    """

    given: Array
    weights: Array | None
    cuts: Array
    knots: Array
    basis: Array
    root: Array
    inverse: Array

    @classmethod
    def of(cls, pairs: Pairs, degree: int, inner: int) -> Curve:
        """With knots at quantiles of the dissimilarities."""
        given = pairs.given
        at = np.linspace(0, len(given) - 1, inner + 2).astype(int)
        knots = np.unique(given[at].astype(np.float64))
        if len(knots) < 2:
            knots = np.array([knots[0], knots[0] + 1.0])
        cuts = np.r_[0, np.searchsorted(given, knots[1:-1]), len(given)]
        basis = _monotone(knots, degree)
        found = cls(given, pairs.weights, cuts, knots, basis, np.empty(0), np.empty(0))
        return found._with_root()

    def fit(self, d: Array) -> tuple[float, float]:
        """Replace distances by the nearest curve."""
        from scipy.optimize import nnls

        degree = self.basis.shape[1] - 1
        target = np.zeros(self.basis.shape[2])
        for s, (part, u, w) in enumerate(self._pieces()):
            wd = w * d[part]
            target += np.array([np.vdot(wd, u**q) for q in range(degree + 1)]) @ self.basis[s]
        both = np.c_[self.root, -self.root[:, 0]]  # the constant may have either sign
        *found, negative = nnls(both, self.inverse @ target)[0]
        found[0] -= negative
        off = size = 0.0
        for s, (part, u, w) in enumerate(self._pieces()):
            new = np.polynomial.polynomial.polyval(u, self.basis[s] @ found)
            off += float(np.sum(w * np.square(d[part] - new)))
            size += float(np.sum(w * np.square(d[part], dtype=np.float64)))
            d[part] = new
        return off, size

    def _with_root(self) -> Curve:
        degree, p = self.basis.shape[1] - 1, self.basis.shape[2]
        inner = np.zeros((p, p))
        for s, (_, u, w) in enumerate(self._pieces()):
            moments = [float(np.sum(w * u**q)) for q in range(2 * degree + 1)]
            hankel = np.array(
                [[moments[a + b] for b in range(degree + 1)] for a in range(degree + 1)]
            )
            inner += self.basis[s].T @ hankel @ self.basis[s]
        values, vectors = np.linalg.eigh(inner)
        kept = values > 1e-12 * values[-1]
        root = np.sqrt(values[kept])
        return Curve(
            self.given,
            self.weights,
            self.cuts,
            self.knots,
            self.basis,
            root[:, None] * vectors[:, kept].T,
            vectors[:, kept].T / root[:, None],
        )

    def _pieces(self) -> Any:
        """Which pairs, where they are between their knots (0 to 1), and their weights."""
        for s in range(len(self.knots) - 1):
            part = slice(self.cuts[s], self.cuts[s + 1])
            low, high = self.knots[s : s + 2]
            u = (self.given[part].astype(np.float64) - low) / (high - low)
            yield part, u, 1.0 if self.weights is None else self.weights[part]


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

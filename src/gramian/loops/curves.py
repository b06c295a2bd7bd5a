"""Stress of a picture to a curve of the dissimilarities, by sweeps over the rows of D.

A curve is a polynomial between any two knots: dhat = sum over q of curve[s, q] u^q, where u goes
from 0 to 1 between knots s and s + 1.

    moments  sums of w d u^q of each piece, from which the nearest curve is found
    pull     sums of w (d - dhat)^2 and w d^2, and their slopes: r (z_i - z_j),
             r = w (1 - dhat / d)  and  r = w

Pairs i < j are met once; NaN counts nothing. Pieces are rows, and are added up in their order.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import numpy as np

from gramian.loops.threads import ordered_sum, pause
from gramian.loops.tile import compiled
from gramian.maps import Array

_cells = 1 << 18


@compiled
def _met(D, W, i, j, Z, axes):
    """Dissimilarity, weight (0 if not known) and distance of a pair."""
    given = float(D[i, j])
    weight = float(W[i, j]) if len(W) > 0 else 1.0
    square = 0.0
    for c in range(len(axes)):
        gap = Z[i, c] - Z[j, c]
        square += gap * gap
    return given, weight if given == given else 0.0, sqrt(square)


@compiled
def _between(knots, given):
    """Which piece of the curve, and where in it."""
    s = 0
    while s < len(knots) - 2 and given >= knots[s + 1]:
        s += 1
    return s, (given - knots[s]) / (knots[s + 1] - knots[s])


@compiled
def _moments(D, W, Z, axes, first, last, knots, plain, out):
    """Add w d u^q, or w u^q if ``plain``, of the pairs of some rows to ``out`` (pieces, powers)."""
    for i in range(first, last):
        for j in range(i + 1, len(D)):
            given, weight, d = _met(D, W, i, j, Z, axes)
            if weight > 0:
                s, u = _between(knots, given)
                value = weight if plain else weight * d
                for q in range(out.shape[1]):
                    out[s, q] += value
                    value *= u


@compiled
def _slopes(D, W, Z, axes, first, last, knots, curve, out):
    """Add to ``out`` (n + 1, 2 k): the two slopes, and in the last row the two sums."""
    n, k, powers = len(D), len(axes), curve.shape[1]
    off = size = 0.0
    for i in range(first, last):
        for j in range(i + 1, n):
            given, weight, d = _met(D, W, i, j, Z, axes)
            if weight > 0:
                s, u = _between(knots, given)
                fitted = 0.0
                for q in range(powers):
                    fitted = fitted * u + curve[s, powers - 1 - q]
                gone = d - fitted
                off += weight * gone * gone
                size += weight * d * d
                r = weight * gone / d if d > 0 else 0.0
                for c in range(k):
                    gap = Z[i, c] - Z[j, c]
                    out[i, c] += r * gap
                    out[j, c] -= r * gap
                    out[i, k + c] += weight * gap
                    out[j, k + c] -= weight * gap
    out[n, 0] += off
    out[n, 1] += size


def moments(D: Array, W: Array | None, Z: Array | None, knots: Array, powers: int) -> Array:
    """Sums of w d u^q, q < powers, in each piece between knots; of w u^q without a picture."""
    axes, weights = (0,) * (0 if Z is None else Z.shape[1]), _weights(D, W)
    picture = np.empty((len(D), 0)) if Z is None else Z

    def piece(first: int, last: int, total: Array) -> None:
        _moments(D, weights, picture, axes, first, last, knots, Z is None, total)

    return _over_rows(D, piece, (len(knots) - 1, powers))


def pull(
    D: Array, W: Array | None, Z: Array, knots: Array, curve: Array
) -> tuple[float, float, Array, Array]:
    """sum w (d - dhat)^2, sum w d^2, and half of the slope of each, for pairs i < j.

    Parameters
    ----------
    D : array of shape (n, n)
    W : array of shape (n, n) or None
    Z : array of shape (n, k)
        float64, in rows.
    knots : array of shape (s + 1,)
    curve : array of shape (s, powers)
    """
    n, k = Z.shape
    axes, weights = (0,) * k, _weights(D, W)

    def piece(first: int, last: int, total: Array) -> None:
        _slopes(D, weights, Z, axes, first, last, knots, curve, total)

    both = _over_rows(D, piece, (n + 1, 2 * k))
    return float(both[n, 0]), float(both[n, 1]), both[:n, :k], both[:n, k:]


def _weights(D: Array, W: Array | None) -> Array:
    return np.empty((0, 0), D.dtype) if W is None else W


def _over_rows(D: Array, piece: Callable[[int, int, Array], None], shape: tuple[int, int]) -> Array:
    """The sum of what ``piece(first, last, total)`` adds for pieces of the rows of D."""
    n = len(D)
    rows = max(1, _cells // n)

    def work(i: int, total: Array) -> None:
        pause()
        piece(i * rows, min((i + 1) * rows, n), total)

    return np.asarray(ordered_sum(work, -(-n // rows), lambda: np.zeros(shape)))

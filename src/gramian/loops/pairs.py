"""Misfit of a picture to disparities, for pairs (i, j) of points in any order.

    d_p = |z_i - z_j|                                            before disparities are found
    slope_i += r_p (z_i - z_j),   r_p = w_p (1 - dhat_p / d_p - share)        and after

The points are few enough for the first-level cache, the pairs stream by. Pieces are cut by the
number of pairs, and their slopes are added up in order.
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from gramian.loops.threads import ordered_sum, pause, run
from gramian.loops.tile import compiled
from gramian.maps import Array

_piece = 1 << 17  # pairs


@compiled
def _lengths(Z, axes, heads, tails, out):
    for p in range(len(out)):
        i, j = heads[p], tails[p]
        square = 0.0
        for c in range(len(axes)):
            gap = Z[i, c] - Z[j, c]
            square += gap * gap
        out[p] = sqrt(square)


@compiled
def _slopes(Z, axes, heads, tails, fitted, weights, share, out):
    weighted = len(weights) == len(fitted)
    for p in range(len(fitted)):
        i, j = heads[p], tails[p]
        square = 0.0
        for c in range(len(axes)):
            gap = Z[i, c] - Z[j, c]
            square += gap * gap
        if square > 0:
            r = 1.0 - fitted[p] / sqrt(square) - share
            if weighted:
                r *= weights[p]
            for c in range(len(axes)):
                pull = r * (Z[i, c] - Z[j, c])
                out[i, c] += pull
                out[j, c] -= pull


def lengths(Z: Array, heads: Array, tails: Array, out: Array) -> None:
    """Distances of the pairs into ``out``."""
    axes = (0,) * Z.shape[1]

    def piece(i: int) -> None:
        pause()
        at = slice(i * _piece, (i + 1) * _piece)
        _lengths(Z, axes, heads[at], tails[at], out[at])

    run(piece, -(-len(out) // _piece))


def slopes(
    Z: Array, heads: Array, tails: Array, fitted: Array, weights: Array | None, share: float
) -> Array:
    """Slope of half the misfit to the disparities ``fitted``, less ``share`` of the size's."""
    axes, none = (0,) * Z.shape[1], np.empty(0, fitted.dtype)

    def piece(i: int, total: Array) -> None:
        pause()
        at = slice(i * _piece, (i + 1) * _piece)
        some = none if weights is None else weights[at]
        _slopes(Z, axes, heads[at], tails[at], fitted[at], some, share, total)

    return np.asarray(ordered_sum(piece, -(-len(fitted) // _piece), lambda: np.zeros(Z.shape)))

"""Misfit of a picture to distances, and its slope, in one sweep that stores nothing of size n x n.

    misfit = sum over i, j of w_ij (d_ij - D_ij)^2     d_ij = |z_i - z_j|
    slope_i = sum over j of w_ij (1 - D_ij / d_ij) (z_i - z_j)

Every row of D is read once, in its own type, NaN counting as weight 0 (``pulls.py`` has losses);
sums over a block of columns are in that type, sums of blocks in float64.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gramian.loops.pulls import sammon_pulls, sstress_pulls, stress_pulls, weighted_pulls
from gramian.loops.threads import pause, run
from gramian.loops.tile import at, compiled, dot
from gramian.maps import Array

LOSSES = ("stress", "sammon", "sstress")
_cells = 1_000_000  # of D in a piece, at most
_few = 100_000  # cells that are not worth a thread of their own
_lanes = 16
_width = 1024  # columns of a block


class Misfit(NamedTuple):
    """Of each row of D: sums of w (d - D)^2, w d^2 and w d, and half of the slope of the first.

    For s-stress: sums of w (d^2 - D^2)^2, w d^4 and w d^2, and a quarter of the slope.
    """

    off: Array
    size: Array
    length: Array
    slope: Array


@compiled
def _pull(kind, given, weights, Z, axes, i, first, vectors, out):
    """Add what the points from ``first`` on do to point i, by the loss of that kind."""
    stride, z, o = Z.shape[1], at(Z, 0), at(out, 0)
    if kind == 0:
        stress_pulls(given, weights, z, stride, axes, i, first, vectors, o)
    elif kind == 1:
        sammon_pulls(given, weights, z, stride, axes, i, first, vectors, o)
    elif kind == 2:
        sstress_pulls(given, weights, z, stride, axes, i, first, vectors, o)
    else:
        weighted_pulls(given, weights, z, stride, axes, i, first, vectors, o)


@compiled
def _row(given, weights, kind, Z, axes, i, width, tail, out):
    """Misfit, size, length and slope of point i of Z (k, at least 16 more than n) into ``out``."""
    n, lanes = len(given), 64 // Z.itemsize
    whole = n - n % lanes
    out[:] = 0.0
    for j in range(0, whole, width):
        vectors = min(width, whole - j) // lanes
        _pull(kind, at(given, j), at(weights, j), Z, axes, i, j, vectors, out)
    if whole < n:
        tail[0, :] = np.nan
        for j in range(n - whole):
            tail[0, j] = given[whole + j]
            tail[1, j] = weights[whole + j]
        _pull(kind, at(tail, 0), at(tail, len(tail[0])), Z, axes, i, whole, 1, out)


@compiled
def _sweep(D, W, kind, Z, axes, first, last, width, tail, out):
    """Rows ``first:last`` of D into ``out``; W has a row for each of D, or one for all."""
    for i in range(first, last):
        _row(D[i], W[i if len(W) > 1 else 0], kind, Z, axes, i, width, tail, out[i])


@compiled
def _settle(D, W, kind, Z, axes, first, last, starts, steps, most, tol, width, tail, out):
    """Move new points ``first:last`` to where they fit the n points of Z best.

    Point n of Z is there to work in. ``starts`` (s, m, k) are tried one after the other, ``steps``
    (m) are the first steps; a step that helps is lengthened, one that does not is halved.
    """
    k, n = len(axes), D.shape[1]
    now, then = np.empty(3 + k), np.empty(3 + k)
    for i in range(first, last):
        weights = W[i if len(W) > 1 else 0]
        for s in range(len(starts)):
            for c in range(k):
                Z[c, n] = starts[s, i, c]
            _row(D[i], weights, kind, Z, axes, n, width, tail, now)
            step = steps[i]
            for _ in range(most):
                moved = size = 0.0
                for c in range(k):
                    way = step * now[3 + c]
                    Z[c, n] -= way
                    moved += way * way
                    size += Z[c, n] * Z[c, n]
                _row(D[i], weights, kind, Z, axes, n, width, tail, then)
                if then[0] <= now[0]:
                    now[:] = then
                    step *= 1.3
                    if moved <= tol * tol * size:
                        break
                else:
                    for c in range(k):
                        Z[c, n] += step * now[3 + c]
                    step *= 0.5
                    if moved <= 1e-6 * tol * tol * size:
                        break
            if s == 0 or now[0] < out[i, 0]:
                out[i, 0] = now[0]
                for c in range(k):
                    out[i, 3 + c] = Z[c, n]


@compiled
def _constants(D, W, kind, among, first, last, total, mass):
    """Sums of w D^2 and w (sammon: w D and w / D; sstress: w D^4 and w D^2) of rows."""
    n, plain = D.shape[1], kind == 0 and among and D.itemsize == 8
    for i in range(first, last):
        if plain:  # weights are 1, and all is known unless the sum says it is not
            whole, row = n - n % 8, D[i]
            powers = dot(at(row, 0), at(row, 0), whole // 8) - float(row[i]) * row[i]
            for j in range(whole, n):
                powers += float(row[j]) * row[j]
            if powers == powers:
                total[i], mass[i] = powers, n - 1
                continue
        weights = W[i if len(W) > 1 else 0]
        powers = pulls = 0.0
        for j in range(D.shape[1]):
            given, weight = float(D[i, j]), float(weights[j])
            if given == given and weight > 0 and not (among and i == j):
                if kind == 1:
                    powers += weight * given
                    pulls += weight / given if given > 0 else 0.0
                elif kind == 2:
                    powers += weight * given**4
                    pulls += weight * given**2
                else:
                    powers += weight * given * given
                    pulls += weight
        total[i] = powers
        mass[i] = pulls


def misfit(
    D: Array, Z: Array, W: Array | None = None, loss: str = "stress", dtype: Any = None
) -> Misfit:
    """How far a picture is from distances.

    Parameters
    ----------
    D : array of shape (n, n)
        float32 or float64, in rows; NaN where not known.
    Z : array of shape (n, k)
    W : array of shape (n, n), optional
        Weights, in the type of D.
    loss : {"stress", "sammon", "sstress"}
    dtype : dtype, optional
        What is computed in: float32 is quicker for D in float64; by default that of D.
    """
    n, k = Z.shape
    kind, weights = _kind(D, W, loss)
    lying, axes = _lying(D, Z, dtype), (0,) * k
    out = np.empty((n, 3 + k))

    def piece(first: int, last: int) -> None:
        tail = np.zeros((2, _lanes), D.dtype)
        _sweep(D, weights, kind, lying, axes, first, last, _width, tail, out)

    _on_rows(D, piece)
    return Misfit(out[:, 0], out[:, 1], out[:, 2], out[:, 3:])


def settle(
    D: Array,
    Z: Array,
    starts: Array,
    W: Array | None = None,
    loss: str = "stress",
    *,
    max_iter: int = 500,
    tol: float = 1e-9,
) -> tuple[Array, Array]:
    """New points where their distances to the points of a picture fit best, one by one.

    Parameters
    ----------
    D : array of shape (m, n)
        Distances of m new points to n; NaN where not known.
    Z : array of shape (n, k)
        The picture, which stays.
    starts : array of shape (s, m, k)
        Where to begin; the best end counts.
    W : array of shape (1, n) or (m, n), optional
    loss : as for ``misfit``
    max_iter : int
    tol : float
        A move shorter than this share of the distance from the origin ends it.

    Returns
    -------
    (array of shape (m, k), array of shape (m,))
        Coordinates, and the sums of w (d - D)^2.
    """
    m, k = len(D), Z.shape[1]
    kind, weights = _kind(D, W, loss)
    _, mass = constants(D, W, loss, among=False)
    steps = 1.0 / np.maximum(mass, np.finfo(np.float64).tiny)
    begin = np.ascontiguousarray(starts, np.float64)
    out, axes = np.empty((m, 3 + k)), (0,) * k

    def piece(first: int, last: int) -> None:
        own, tail = _lying(D, Z), np.zeros((2, _lanes), D.dtype)
        _settle(
            *(D, weights, kind, own, axes, first, last, begin, steps, max_iter, tol),
            *(_width, tail, out),
        )

    _on_rows(D, piece, 50)
    return out[:, 3:].copy(), out[:, 0].copy()


def constants(D: Array, W: Array | None, loss: str, *, among: bool = True) -> tuple[Array, Array]:
    """Of each row, what a misfit is divided by, and the pull of all points together.

    Sums of w D^2 and w for stress, w D and w / D for Sammon's, w D^4 and w D^2 for s-stress.
    ``among`` says that D holds distances among points, of which the diagonal does not count.
    """
    kind, weights = _kind(D, W, loss)
    total, mass = np.zeros((2, len(D)))

    def piece(first: int, last: int) -> None:
        _constants(D, weights, kind, among, first, last, total, mass)

    _on_rows(D, piece)
    return total, mass


def _kind(D: Array, W: Array | None, loss: str) -> tuple[int, Array]:
    kind = LOSSES.index(loss) if W is None or loss != "stress" else len(LOSSES)
    return kind, np.ones((1, D.shape[1]), D.dtype) if W is None else W


def _lying(D: Array, Z: Array, dtype: Any = None) -> Array:
    """Coordinates axis by axis, in the type of D or another, with room behind them."""
    lying = np.zeros((Z.shape[1], D.shape[1] + _lanes), dtype or D.dtype)
    lying[:, : len(Z)] = Z.T
    return lying


def _on_rows(D: Array, piece: Callable[[int, int], None], dearer: int = 1) -> None:
    """Call ``piece(first, last)`` for rows of D on the threads."""
    m, n = D.shape
    rows = max(1, min(_cells // (dearer * n), max(_few // (dearer * n), -(-m // 16))))

    def some(i: int) -> None:
        pause()
        piece(i * rows, min((i + 1) * rows, m))

    run(some, -(-m // rows))

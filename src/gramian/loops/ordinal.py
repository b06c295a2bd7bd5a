"""Stress of a picture to the order of the dissimilarities, in two sweeps over the sorted pairs.

    pool    d = |z_i - z_j| of a piece of the pairs; adjacent violators pooled (``isotonic.py``);
            only the steps that are left are kept, and pooled over all pieces
    pull    d again, dhat from the steps: sums of w (d - dhat)^2 and w d^2, and their slopes
            r (z_i - z_j),  r = w (1 - dhat / d)  and  r = w

Nothing is stored for a pair but its place in the order. Ties, dissimilarities that are equal:

    primary     sorted by d first, so that dhat may differ
    secondary   pooled as their mean: dhat is equal
    tertiary    the same, but dhat = d + (pooled mean - mean)

Pieces are cut by the number of pairs, where no tie is torn, and their slopes are added up in order.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from gramian.loops.isotonic import RUN, pooled, steps_of
from gramian.loops.order import ends_of, sort_ties, sorted_pairs
from gramian.loops.threads import ordered_sum, pause, run
from gramian.loops.tile import compiled
from gramian.maps import Array

TIES = ("primary", "secondary", "tertiary")
_piece = 1 << 15  # pairs


class Steps(NamedTuple):
    """Disparities, which never fall: ``means[b]`` of the pairs up to ``ends[b]``."""

    means: Array
    ends: Array


class Order(NamedTuple):
    """Pairs of points, ascending by dissimilarity; those of a tie may change places.

    Attributes
    ----------
    pairs : array of uint32 of shape (m,)
    same : array of uint8 of shape (m,) or (0,)
        Whether a dissimilarity equals the one before; empty if none does.
    weights : array of shape (m,) or (0,)
        Empty if all are 1.
    cuts : array of int
        Where pieces begin, and m.
    """

    pairs: Array
    same: Array
    weights: Array
    cuts: Array

    @classmethod
    def of(cls, D: Array, W: Array | None = None) -> Order:
        """The known pairs of D."""
        pairs, same = sorted_pairs(D, W)
        weights = np.empty(0, D.dtype) if W is None else W[pairs >> 16, pairs & 0xFFFF]
        m = len(pairs)
        cuts = np.arange(0, m, _piece)
        if len(same):  # a piece begins where a tie does
            cuts = np.unique([_fresh(same, a) for a in cuts])
        return cls(pairs, same, weights, np.r_[cuts[cuts < m], m])

    def piece(self, i: int) -> tuple[Array, Array, Array, int]:
        """Pairs, weights and ties of piece i, and where it begins."""
        at = slice(self.cuts[i], self.cuts[i + 1])
        return self.pairs[at], self.weights[at], self.same[at], int(at.start)


@compiled
def _fresh(same, p):
    """The first pair from p on that does not equal the one before."""
    while p < len(same) and same[p]:
        p += 1
    return p


@compiled
def _lengths(Z, axes, pairs, out):
    for p in range(len(pairs)):
        i, j = ends_of(pairs[p])
        square = 0.0
        for c in range(len(axes)):
            gap = Z[i, c] - Z[j, c]
            square += gap * gap
        out[p] = sqrt(square)


@compiled
def _grouped(d, weights, weighted, same, means, masses, ends):
    """Means of ties, their masses and ends; how many."""
    count = -1
    for p in range(len(d)):
        weight = float(weights[p]) if weighted else 1.0
        if not same[p]:
            count += 1
            means[count] = masses[count] = 0.0
        means[count] += weight * d[p]
        masses[count] += weight
        ends[count] = p + 1
    for g in range(count + 1):
        means[g] /= masses[g]
    return count + 1


@compiled
def _spread(d, weights, weighted, same, tertiary, means, ends, first, out):
    """Disparities of distances ``d`` of the pairs from ``first`` on, from the steps."""
    p, b = 0, np.searchsorted(ends, first, side="right")
    while p < len(d):
        end = min(ends[b] - first, len(d))
        out[p:end] = means[b]
        p, b = end, b + 1
    if tertiary:
        a = 0
        while a < len(d):
            total = mass = 0.0
            t = a
            while t < len(d) and (t == a or same[t]):
                weight = float(weights[t]) if weighted else 1.0
                total += weight * d[t]
                mass += weight
                t += 1
            for p in range(a, t):
                out[p] += d[p] - total / mass
            a = t


@compiled
def _slopes(Z, axes, pairs, weights, weighted, all_alike, d, fitted, out, sums):
    """Add slopes toward disparities and of the size into ``out`` (n, 2 k), and the two ``sums``.

    Where ``all_alike`` the slope of the size is known without: it is left out.
    """
    k = len(axes)
    off = size = 0.0
    for p in range(len(pairs)):
        i, j = ends_of(pairs[p])
        weight = float(weights[p]) if weighted else 1.0
        gone = d[p] - fitted[p]
        off += weight * gone * gone
        size += weight * d[p] * d[p]
        r = weight * gone / d[p] if d[p] > 0 else 0.0
        for c in range(k):
            gap = Z[i, c] - Z[j, c]
            out[i, c] += r * gap
            out[j, c] -= r * gap
            if not all_alike:
                out[i, k + c] += weight * gap
                out[j, k + c] -= weight * gap
    sums[0] += off
    sums[1] += size


@compiled
def _pooled(Z, axes, pairs, weights, weighted, same, primary, run):
    """Steps of a piece; of primary ties the pairs are put in order first."""
    d = np.empty(len(pairs))
    _lengths(Z, axes, pairs, d)
    if len(same) > 0 and not primary:
        means, masses, until = np.empty(len(d)), np.empty(len(d)), np.empty(len(d), np.int64)
        groups = _grouped(d, weights, weighted, same, means, masses, until)
        means, masses, ends = steps_of(means[:groups], masses[:groups], True, run)
        return means, masses, until[ends - 1]
    if len(same) > 0:
        sort_ties(d, pairs, weights, weighted, same)
    return steps_of(d, weights, weighted, run)


@compiled
def _pulled(
    Z, axes, pairs, weights, weighted, same, tertiary, means, ends, first, all_alike, out, sums
):
    """Slopes and sums of a piece into ``out`` and ``sums``."""
    d, fitted = np.empty(len(pairs)), np.empty(len(pairs))
    _lengths(Z, axes, pairs, d)
    _spread(d, weights, weighted, same, tertiary, means, ends, first, fitted)
    _slopes(Z, axes, pairs, weights, weighted, all_alike, d, fitted, out, sums)


def pool(Z: Array, order: Order, ties: str) -> Steps:
    """The steps nearest to the distances of a picture; primary ties are put in order.

    Parameters
    ----------
    Z : array of shape (n, k)
        float64, in rows.
    order : Order
    ties : {"primary", "secondary", "tertiary"}
    """
    axes, count = (0,) * Z.shape[1], len(order.cuts) - 1
    weighted = len(order.weights) > 0
    found: list[tuple[Array, Array, Array]] = [(np.empty(0),) * 3] * count

    def work(i: int) -> None:
        pause()
        pairs, weights, same, first = order.piece(i)
        means, masses, ends = _pooled(
            Z, axes, pairs, weights, weighted, same, ties == "primary", RUN
        )
        found[i] = means, masses, ends + first

    run(work, count)
    means, masses, ends = map(np.concatenate, zip(*found, strict=True))
    means, _, which = pooled(means, masses)
    return Steps(means, ends[which - 1])


def shown(Z: Array, order: Order, ties: str, steps: Steps, i: int) -> tuple[Array, Array]:
    """Distances and disparities of the pairs of piece i."""
    pairs, weights, same, first = order.piece(i)
    d, fitted = np.empty((2, len(pairs)))
    _lengths(Z, (0,) * Z.shape[1], pairs, d)
    tertiary = ties == "tertiary" and len(order.same) > 0
    _spread(d, weights, len(order.weights) > 0, same, tertiary, *steps, first, fitted)
    return d, fitted


def pull(Z: Array, order: Order, ties: str, steps: Steps) -> tuple[float, float, Array, Array]:
    """sum w (d - dhat)^2, sum w d^2, and half of the slope of each.

    Parameters
    ----------
    Z, order, ties
        As for ``pool``.
    steps : Steps
        What that found.
    """
    (n, k), weighted = Z.shape, len(order.weights) > 0
    axes, count = (0,) * k, len(order.cuts) - 1
    tertiary = ties == "tertiary" and len(order.same) > 0
    sums, all_alike = np.zeros((count, 2)), not weighted and 2 * len(order.pairs) == n * (n - 1)

    def work(i: int, total: Array) -> None:
        pause()
        pairs, weights, same, first = order.piece(i)
        _pulled(
            *(Z, axes, pairs, weights, weighted, same, tertiary, *steps, first, all_alike),
            *(total, sums[i]),
        )

    both = ordered_sum(work, count, lambda: np.zeros((n, 2 * k)))
    off, size = sums.sum(axis=0)
    apart = n * Z - Z.sum(axis=0) if all_alike else both[:, k:]
    return float(off), float(size), both[:, :k], apart

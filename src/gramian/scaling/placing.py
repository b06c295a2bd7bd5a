"""New points in a picture that stays as it is.

metric    each new point by itself, where its distances to the points of the picture fit best
fitted    the same with disparities in the place of dissimilarities: those of the fit, or, for
          few points, disparities fitted anew to all pairs with the new point among them
          (as vegan's MDSaddpoints does); a point of the picture is where the picture has it
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gramian.loops.stress import settle
from gramian.maps import Array
from gramian.progress import tick
from gramian.scaling.descent import descend
from gramian.scaling.losses import FittedLoss

__all__ = ["FittedCurve", "left_over", "place_again", "place_metric", "starts_for"]

_neighbors = 5
_equal = 1e-9  # share of the largest distance by which twins may differ


@dataclass(frozen=True)
class FittedCurve:
    """Disparities as a function of dissimilarities: straight lines between what was fitted.

    Attributes
    ----------
    given, fitted : array of shape (r,)
        Ascending. Disparities are those for which the picture has the right size: 1 - stress-1^2
        of them is what Kruskal's regression gives.
    """

    given: Array
    fitted: Array

    keeps: ClassVar[dict[str, Any]] = {"given": "r", "fitted": "r"}

    @classmethod
    def of(cls, loss: FittedLoss, Z: Array) -> FittedCurve:
        """The curve at a picture; only the ends of its steps are kept."""
        given, fitted = loss.drawn(Z)
        return cls(given, fitted / (1 - loss(Z)[0]))

    def __call__(self, d: Array) -> Array:
        """Disparities of dissimilarities, NaN where these are."""
        return np.where(np.isnan(d), np.nan, np.interp(d, self.given, self.fitted))


def starts_for(d: Array, Z: Array) -> Array:
    """Two places to begin for each row of d: beside the nearest point, and amid the nearest five.

    Parameters
    ----------
    d : array of shape (m, n)
        Dissimilarities of new points to those of the picture, NaN where not known.
    Z : array of shape (n, k)

    Returns
    -------
    array of shape (2, m, k)
    """
    few = min(_neighbors, d.shape[1])
    known = np.where(np.isnan(d), np.inf, d)
    near = np.argpartition(known, few - 1, axis=1)[:, :few]
    far = np.take_along_axis(known, near, axis=1)
    first = near[np.arange(len(d)), np.argmin(far, axis=1)]
    most = np.max(far, axis=1, where=np.isfinite(far), initial=0.0, keepdims=True)
    size = np.where(np.isfinite(far), far, 100 * most)
    weights = 1 / (size + 1e-3 * size.max(axis=1, keepdims=True) + np.finfo(np.float64).tiny)
    amid = np.einsum("mj,mjk->mk", weights, Z[near]) / weights.sum(axis=1, keepdims=True)
    aside = Z[first] + 1e-3 * (amid - Z[first])
    return np.stack([np.where(far.min(axis=1)[:, None] > 0, aside, Z[first]), amid])


def place_metric(
    d: Array, Z: Array, weights: Array | None = None, loss: str = "stress"
) -> tuple[Array, Array]:
    """Coordinates of new points, and the root mean square of what is left of their distances.

    Parameters
    ----------
    d : array of shape (m, n)
    Z : array of shape (n, k)
    weights : array of shape (n,), optional
    loss : {"stress", "sammon", "sstress"}
    """
    d = np.ascontiguousarray(d, np.float64)
    W = None if weights is None else np.ascontiguousarray(weights[None, :].astype(d.dtype))
    found, _ = settle(d, Z, starts_for(d, Z), W, loss)
    return found, left_over(d, found, Z, weights)


def place_again(d: Array, Z: Array, D: Array, measurement: str, ties: str) -> tuple[Array, Array]:
    """The same, with disparities fitted anew to all pairs of n + 1 points, for each new point.

    Parameters
    ----------
    d : array of shape (m, n)
    Z : array of shape (n, k)
    D : array of shape (n, n)
        What the picture was fitted to.
    measurement, ties : str
    """
    m, (n, k) = len(d), Z.shape
    found, left = np.empty((m, k)), np.empty(m)
    for i in range(m):
        whole = np.zeros((n + 1, n + 1))
        whole[:n, :n] = D
        whole[n, :n] = whole[:n, n] = d[i]
        loss = FittedLoss.of(whole, None, measurement, ties)
        twins = np.flatnonzero(np.abs(D - d[i]).max(axis=1) <= _equal * np.nanmax(D))
        found[i] = Z[twins[0]] if len(twins) else _settled(loss, Z, d[i])
        off = [
            (apart - fitted)[tail == n]
            for _, tail, apart, fitted in loss.blocks(np.vstack([Z, found[i]]))
        ]
        left[i] = np.sqrt(np.mean(np.concatenate(off) ** 2))
        tick("new points", i + 1, m)
    return found, left


def _settled(loss: FittedLoss, Z: Array, d: Array) -> Array:
    """Where the last of the points of a loss fits best, the others being Z."""
    n, size = len(Z), float(np.sqrt(np.mean(Z**2)))

    def moved(z: Array) -> tuple[float, Array]:
        value, slope = loss(np.vstack([Z, z]))
        return value, slope[n:]

    ends = []
    for start in starts_for(d[None, :], Z):
        scale = float(loss.scale(np.vstack([Z, start + 1e-9 * size]))[n, 0])
        ends.append(descend(moved, start, scale, max_iter=200, tol=1e-13))
    return min(ends, key=lambda end: end.loss).Z


def left_over(d: Array, new: Array, Z: Array, weights: Array | None) -> Array:
    """Root mean square of distance in the picture less distance given, of each new point."""
    found = np.empty(len(d))
    for i in range(len(d)):
        gaps = (np.linalg.norm(new[i] - Z, axis=1) - d[i].astype(np.float64)) ** 2
        known = np.isfinite(gaps)
        w = np.ones(len(gaps)) if weights is None else weights
        found[i] = np.sqrt(np.sum((w * gaps)[known]) / np.sum(w[known]))
    return found

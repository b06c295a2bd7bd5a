"""Points as weighted means of their neighbors, and what those weights carry over.

The weights w of a point x minimize |x - sum_j w_j y_j|^2 + r |w|^2 with sum w = 1, where r is
``reg`` times the trace of the neighbors' local Gram matrix. They do not change when everything is
rotated, moved or scaled, so they hold in the picture too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from gramian.gram.nearest import even, in_range, nearest
from gramian.loops.barycenter import weights
from gramian.loops.threads import run
from gramian.maps import Array

_block = 512  # points


def barycenter_weights(X: Array, Y: Array, indices: Array, reg: float = 1e-3) -> Array:
    """Weights (m, k) of the neighbors ``Y[indices]`` of each row of ``X``.

    Parameters
    ----------
    X : array of shape (m, p)
    Y : array of shape (n, p)
    indices : array of int, shape (m, k)
    reg : float

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.gram.barycenter import barycenter_weights
    >>> Y = np.array([[0.0], [4.0]])
    >>> barycenter_weights(np.array([[1.0]]), Y, np.array([[0, 1]]), reg=1e-9).round(6)
    array([[0.75, 0.25]])
    """
    out = np.empty(indices.shape)

    def piece(q: int) -> None:
        weights(X, Y, indices, reg, q * _block, min((q + 1) * _block, len(X)), out)

    run(piece, -(-len(X) // _block), "weights")
    return out


def carried(
    Z: Array, near: tuple[Array, Array, Array], W: Array, factor: Array | float = 1.0
) -> Array:
    """What weights make of ``Z``; a point at distance 0 of one of the data is that one.

    Parameters
    ----------
    Z : array of shape (n, d)
        Of the points of the data.
    near : tuple of three arrays
        Starts, indices and distances of neighbors, nearest first, as ``Neighbors.query`` gives.
    W : array
        The weight of each.
    factor : array of shape (d,) or float
        Multiplies the weighted means.
    """
    starts, indices, distances = near
    rows = sparse.csr_array((W, indices, starts), shape=(len(starts) - 1, len(Z)))
    first = starts[:-1]
    same = distances[first] == 0
    return np.asarray(np.where(same[:, None], Z[indices[first]], (rows @ Z) * factor))


def means(
    X: Array, Y: Array, Z: Array, k: int, metric: Any = "euclidean", reg: float = 1e-3
) -> Array:
    """What belongs to each row of ``X``, as the mean of what belongs to its nearest points.

    Parameters
    ----------
    X : array of shape (m, p)
        New points.
    Y : array of shape (n, p)
        Points of the data, and
    Z : array of shape (n, d)
        what belongs to them.
    k : int
        How many neighbors; all, if there are fewer points.
    metric : str or callable
        By which they are near.
    reg : float
    """
    indices, distances = nearest(X, Y, min(k, len(Y)), metric)
    W = barycenter_weights(*in_range(X, Y), indices, reg)
    return carried(Z, even(indices, distances), W.ravel())

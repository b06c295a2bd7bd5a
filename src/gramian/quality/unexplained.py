"""Residual variance: how much of the distances a map of 1, 2, ... k axes leaves unexplained.

    1 - r^2,    r = correlation of given distances with distances in the map, over pairs of points

The curve falls until there are as many axes as the data need, and is flat beyond: its elbow is the
dimension. J. B. Tenenbaum, V. de Silva and J. C. Langford, Science 290 (2000).
"""

from __future__ import annotations

import numpy as np

from gramian.errors import InputError
from gramian.maps import Array


def residual_variance(D: Array, Z: Array, rows: Array | None = None) -> Array:
    """1 - r^2 for the first 1, 2, ... k columns of ``Z``.

    Parameters
    ----------
    D : array of shape (n, n) or (m, n)
        Distances of all points, or of some, to all.
    Z : array of shape (n, k)
    rows : array of int, shape (m,), optional
        Which points the rows of D are; a pair of a point with itself does not count.

    Returns
    -------
    array of shape (k,)
        1 where the map shows all these pairs equally far apart.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.quality import residual_variance
    >>> D = np.array([[0.0, 3.0, 5.0], [3.0, 0.0, 4.0], [5.0, 4.0, 0.0]])
    >>> Z = np.array([[0.0, 0.0], [3.0, 0.0], [3.0, 4.0]])
    >>> residual_variance(D, Z).round(3)
    array([1., 0.])
    """
    Z = np.asarray(Z, np.float64)
    own = np.arange(len(Z)) if rows is None else np.asarray(rows)
    if D.shape != (len(own), len(Z)):
        raise InputError(f"{D.shape} distances do not go with {len(own)} of {len(Z)} points")
    pairs = own[:, None] != np.arange(len(Z))
    x = np.asarray(D, np.float64)[pairs]
    x -= x.mean()
    squares, found = np.zeros(len(x)), np.ones(Z.shape[1])
    for axis, z in enumerate(Z.T):
        apart = (z[own, None] - z)[pairs]
        squares += np.multiply(apart, apart, out=apart)
        y = np.sqrt(squares, out=apart)
        y -= y.mean()
        sizes = float(x @ x) * float(y @ y)
        if sizes > 0:
            found[axis] = max(1 - float(x @ y) ** 2 / sizes, 0.0)
    return found

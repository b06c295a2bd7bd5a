"""Landmarks: a few points that are far from each other and near to all others.

    next landmark = the point whose nearest landmark is farthest (max-min)

V. de Silva and J. B. Tenenbaum, Sparse multidimensional scaling using landmark points (2004);
T. F. Gonzalez, Theor. Comput. Sci. 38 (1985), proves that no choice is more than twice as good.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gramian.gram.distances import pairwise
from gramian.maps import Array


def spread_out(row: Callable[[int], Array], n: int, count: int, first: int = 0) -> Array:
    """Numbers of landmarks, ascending.

    Parameters
    ----------
    row : function
        ``row(i)``: distances of all points from point i.
    n : int
        How many points there are.
    count : int
        How many landmarks; fewer where all points coincide with those found.
    first : int
        Where to begin.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.gram.landmarks import spread_out
    >>> x = np.array([0.0, 1.0, 2.0, 10.0])
    >>> spread_out(lambda i: abs(x - x[i]), 4, 3)
    array([0, 2, 3])
    """
    chosen, nearest = [first], np.full(n, np.inf)
    while len(chosen) < count:
        np.minimum(nearest, row(chosen[-1]), out=nearest)
        following = int(np.argmax(nearest))
        if not nearest[following] > 0:
            break
        chosen.append(following)
    return np.sort(np.array(chosen))


def candidates(n: int, count: int) -> Array:
    """Which of n points landmarks are chosen among: all, or a hundred times as many, at random.

    Every landmark costs a look at all of them.
    """
    most = max(100 * count, 1000)
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, most, replace=False))


def row_of(X: Array, metric: object) -> Callable[[int], Array]:
    """Distances of all points from one: to choose by, so in the precision of the points."""
    if metric != "euclidean":
        return lambda i: pairwise(X[i : i + 1], X, metric)[0]
    columns = np.ascontiguousarray(X.T)

    def row(i: int) -> Array:
        total = np.zeros(len(X), X.dtype)
        for column in columns:
            apart = column - column[i]
            apart *= apart
            total += apart
        return np.sqrt(total)

    return row

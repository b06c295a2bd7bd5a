"""Stochastic descent on stress: pairs of points pushed and pulled to their distances, one by one.

    m = step w_ij (d_ij - D_ij) / (2 d_ij),   z_i -= m (z_i - z_j),   z_j += m (z_i - z_j)

With m = (d - D) / (2 d) a pair has its distance at once; smaller steps average over all pairs. What
a random order gives is noise, which carries a picture out of poor minima. Points are shuffled, and
each is paired with the one r places further on: for one r no pair waits for another.

J. X. Zheng, S. Pawar and D. F. M. Goodman, IEEE Transactions on Visualization and Computer Graphics
25 (2019).
"""

from __future__ import annotations

from math import sqrt

import numpy as np

from gramian.loops.threads import pause
from gramian.loops.tile import at, compiled, fetch
from gramian.maps import Array
from gramian.progress import tick

_visits = 7500  # of each point, about
_epochs = (15, 60)
_least = 0.1  # the last step
_partners = 500  # of each point in an epoch, at most
_ahead = 32  # pairs whose distances are on their way from memory
_some = 1_000_000  # pairs visited before anybody else is heard


@compiled
def _visit(D, W, Z, axes, order, shifts, step, ahead):
    """Pairs (order[a], order[a + r]) for a < n and the given r; order repeats after n items."""
    n, k = len(Z), len(axes)
    weighted = len(W) == n
    for r in shifts:
        for a in range(n // 2 if 2 * r == n else n):
            fetch(at(D, order[a + ahead] * n + order[a + ahead + r]))
            i, j = order[a], order[a + r]
            square = 0.0
            for c in range(k):
                gap = Z[i, c] - Z[j, c]
                square += gap * gap
            given = D[i, j]
            if square > 0 and given == given:
                d = sqrt(square)
                pull = min(step * W[i, j], 1.0) if weighted else step
                m = pull * (d - given) / (2 * d)
                for c in range(k):
                    move = m * (Z[i, c] - Z[j, c])
                    Z[i, c] -= move
                    Z[j, c] += move


def anneal(D: Array, Z: Array, rng: np.random.Generator, W: Array | None = None) -> Array:
    """A picture near a good minimum of stress, from the picture Z.

    Parameters
    ----------
    D : array of shape (n, n)
        Distances, NaN where not known.
    Z : array of shape (n, k)
    rng : Generator
    W : array of shape (n, n), optional
        Weights; the steps are for a mean of about 1.

    Returns
    -------
    array of shape (n, k)
        float64. The same for the same generator, however many threads there are: it uses one.
    """
    n, k = Z.shape
    Z = np.array(Z, np.float64)
    weights = np.ones((0, 0), D.dtype) if W is None else W
    few = max(1, _some // n)
    epochs = int(np.clip(_visits // min(n // 2, _partners), *_epochs))
    for epoch, step in enumerate(np.geomspace(1.0, _least, epochs)):
        order = np.resize(rng.permutation(n), 2 * n + _ahead)
        shifts = 1 + rng.permutation(n // 2)[:_partners]
        for a in range(0, len(shifts), few):
            pause()
            _visit(D, weights, Z, (0,) * k, order, shifts[a : a + few], step, _ahead)
        tick("stochastic start", epoch + 1, epochs)
    return Z

"""Weights that write each point as a weighted mean of its neighbors, a block of points at a time.

With c_j = y_j - x, G = C C' and r = reg * trace G, the weights solve (G + r I) w = 1 and are then
divided by their sum. The solve is a Cholesky factorization of a matrix as wide as a neighborhood.
"""

from __future__ import annotations

import numpy as np

from gramian.loops.tile import compiled


@compiled
def weights(X, Y, indices, reg, first, last, out):
    """Rows ``first`` to ``last`` of ``out`` (n x k): weights of ``Y[indices]`` for rows of X."""
    k, p = indices.shape[1], X.shape[1]
    C, G, w = np.empty((p, k)), np.empty((k, k)), np.empty(k)
    for i in range(first, last):
        for j in range(k):
            y = indices[i, j]
            for t in range(p):
                C[t, j] = np.float64(Y[y, t]) - np.float64(X[i, t])
        G[:] = 0.0
        for t in range(p):
            for a in range(k):
                c = C[t, a]
                for b in range(k):
                    G[a, b] += c * C[t, b]
        trace = 0.0
        for a in range(k):
            trace += G[a, a]
        ridge = reg * trace if trace > 0 else reg
        for a in range(k):
            G[a, a] += ridge
        # G = L L', in place; then L z = 1 and L' w = z
        for a in range(k):
            for b in range(a):
                G[a, a] -= G[a, b] * G[a, b]
            G[a, a] = np.sqrt(G[a, a])
            for c in range(a + 1, k):
                for b in range(a):
                    G[c, a] -= G[c, b] * G[a, b]
                G[c, a] /= G[a, a]
        for a in range(k):
            w[a] = 1.0
            for b in range(a):
                w[a] -= G[a, b] * w[b]
            w[a] /= G[a, a]
        total = 0.0
        for a in range(k - 1, -1, -1):
            for b in range(a + 1, k):
                w[a] -= G[b, a] * w[b]
            w[a] /= G[a, a]
            total += w[a]
        for a in range(k):
            out[i, a] = w[a] / total

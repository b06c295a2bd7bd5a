"""What rows with holes say of k Gaussian factors, for a block of patterns of holes.

    M = s I + W_o' W_o  (one a pattern),   E z = M^-1 W_o' (x_o - m_o),   Cov z = s M^-1

All matrices are k x k and small, so they are inverted here, one after the other in the first-level
cache; inner loops add a multiple of one line to another, which fills the vector unit.
"""

from __future__ import annotations

import numpy as np

from gramian.loops.tile import compiled


@compiled
def invert(M, noise, log_dets):
    """Each M (g, k, k) becomes (M + noise I)^-1; ``log_dets`` (g) those of M + noise I."""
    groups, k = M.shape[0], M.shape[1]
    C, inverse = np.empty((k, k)), np.empty((k, k))
    for g in range(groups):
        C[:, :] = M[g]
        inverse[:, :] = 0.0
        total = 0.0
        for a in range(k):  # C'C = M + noise I, C above the diagonal; inverse = C'^-1 on the way
            pivot = np.sqrt(C[a, a] + noise)
            total += 2 * np.log(pivot)
            inverse[a, a] = 1.0
            for c in range(a):
                factor = C[c, a]
                for j in range(c + 1):
                    inverse[a, j] -= factor * inverse[c, j]
            for j in range(a + 1):
                inverse[a, j] /= pivot
            C[a, a] = pivot
            for j in range(a + 1, k):
                C[a, j] /= pivot
            for b in range(a + 1, k):
                factor = C[a, b]
                for j in range(b, k):
                    C[b, j] -= factor * C[a, j]
        log_dets[g] = total
        for a in range(k - 1, -1, -1):  # inverse = C^-1 C'^-1
            for c in range(a + 1, k):
                factor = C[a, c]
                for j in range(k):
                    inverse[a, j] -= factor * inverse[c, j]
            for j in range(k):
                inverse[a, j] /= C[a, a]
        M[g] = inverse


@compiled
def latents(inverses, ends, first, noise, B, Z, moments):
    """E z of each row, and the sums over each pattern of E (z, 1)(z, 1)'.

    Pattern g has rows ``ends[g] - first`` to ``ends[g + 1] - first`` of B = rows W_o' (x_o - m_o)
    and of ``Z`` (rows, k + 1), whose last column is 1; ``moments`` is (g, k + 1, k + 1).
    """
    groups, k = inverses.shape[0], inverses.shape[1]
    for g in range(groups):
        S, inverse = moments[g], inverses[g]
        rows = ends[g + 1] - ends[g]
        S[:, :] = 0.0
        for a in range(k):
            for b in range(k):
                S[a, b] = rows * noise * inverse[a, b]
        for i in range(ends[g] - first, ends[g + 1] - first):
            z = Z[i]
            z[:] = 0.0
            for a in range(k):
                factor = B[i, a]
                for j in range(k):
                    z[j] += factor * inverse[a, j]
            z[k] = 1.0
            for a in range(k + 1):
                factor = z[a]
                for j in range(k + 1):
                    S[a, j] += factor * z[j]

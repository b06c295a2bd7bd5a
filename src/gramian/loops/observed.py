"""What the values that are there say of the rest, for a block of patterns of holes.

    of k Gaussian factors   M = s I + W_o' W_o,   E z = M^-1 W_o' (x_o - m_o),   Cov z = s M^-1
    of what is missing      Cov x_h = (P_hh)^-1,  E x_h = m_h - Cov x_h P_ho (x_o - m_o)

with P the inverse of the covariance of x. There is one matrix a pattern, and it is small: they are
inverted here, one after the other in the first-level cache; inner loops add a multiple of one line
to another, which fills the vector unit.
"""

from __future__ import annotations

import numpy as np

from gramian.loops.tile import compiled


@compiled
def _inverted(C, inverse, k, noise):
    """``inverse`` = (C + noise I)^-1 in their first k rows and columns; log det, C is spent."""
    total = 0.0
    for a in range(k):  # C'C = C + noise I, above the diagonal; inverse = C'^-1 on the way
        pivot = np.sqrt(C[a, a] + noise)
        total += 2 * np.log(pivot)
        inverse[a, :k] = 0.0
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
    for a in range(k - 1, -1, -1):  # inverse = C^-1 C'^-1
        for c in range(a + 1, k):
            factor = C[a, c]
            for j in range(k):
                inverse[a, j] -= factor * inverse[c, j]
        for j in range(k):
            inverse[a, j] /= C[a, a]
    return total


@compiled
def invert(M, noise, log_dets):
    """Each M (g, k, k) becomes (M + noise I)^-1; ``log_dets`` (g) those of M + noise I."""
    groups, k = M.shape[0], M.shape[1]
    C, inverse = np.empty((k, k)), np.empty((k, k))
    for g in range(groups):
        C[:, :] = M[g]
        log_dets[g] = _inverted(C, inverse, k, noise)
        M[g] = inverse


@compiled
def complete(P, seen, ends, first, Y, PY, covariance, variances, log_dets, distances):
    """Fill the holes of ``Y`` (deviations from the mean, 0 in holes) by what is expected there.

    Pattern g has rows ``ends[g] - first`` to ``ends[g + 1] - first`` of Y and of ``PY`` = Y P.
    ``covariance`` (p, p) grows by that of what is missing of each row, ``variances`` (g, p) come
    as zeros and are those of one row, ``log_dets`` (g) are of P_hh, and ``distances`` (rows), which
    come as y' P y, become those of what is there alone.
    """
    groups, p = seen.shape
    C, inverse = np.empty((p, p)), np.empty((p, p))
    holes, t = np.empty(p, np.uint64), np.empty(p)
    for g in range(groups):
        h = 0
        for j in range(p):
            if not seen[g, j]:
                holes[h] = j
                h += 1
        for a in range(h):
            for b in range(h):
                C[a, b] = P[holes[a], holes[b]]
        log_dets[g] = _inverted(C, inverse, h, 0.0)
        rows = ends[g + 1] - ends[g]
        for a in range(h):
            variances[g, holes[a]] = inverse[a, a]
            for b in range(h):
                covariance[holes[a], holes[b]] += rows * inverse[a, b]
        for i in range(ends[g] - first, ends[g + 1] - first):
            t[:h] = 0.0
            for a in range(h):
                factor = PY[i, holes[a]]
                for b in range(h):
                    t[b] += factor * inverse[a, b]
            for a in range(h):
                distances[i] -= PY[i, holes[a]] * t[a]
                Y[i, holes[a]] = -t[a]


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

"""Blocks of four vectors: what a Krylov method does with them between two products.

    project       Q' X      Q's rows are whole pairs of vectors (``thin.roomy``)
    add_times     Q h added to X
    gram          X' X
    turned        X S
    join          X less its part in Q, taken away twice; what that was, and X' X of what is left

A block of four is a quarter of a vector wide. So Q's own rows fill the processor's vectors; and
where X stands alone it is so short that plain loops, summing in float64, beat any call of BLAS.
"""

from __future__ import annotations

from gramian.loops.products import DEPTH
from gramian.loops.tile import at, compiled, dot, dots_4x4, tile_4x2


@compiled
def add_times(Q, first, start, stop, h, X):
    """X[start:stop] += Q[start:stop, first:] h'; h is whole vectors long."""
    across, (_, columns) = Q.shape[1], h.shape
    vectors = columns * Q.itemsize // 64
    whole = stop - (stop - start) % 4
    for i in range(start, whole, 4):
        q = at(Q, i * across + first)
        dots_4x4(q, across, at(h, 0), columns, vectors, at(X, i * 4), q, 0)
    for i in range(whole, stop):
        for c in range(4):
            X[i, c] += dot(at(Q, i * across + first), at(h, c * columns), vectors)


@compiled
def project(Q, first, start, stop, X, out):
    """out += X[start:stop]' Q[start:stop, first:]; out is vector pairs long."""
    across, columns = Q.shape[1], out.shape[1]
    for i in range(start, stop, DEPTH):
        rows, x = min(DEPTH, stop - i), at(X, i * 4)
        for j in range(0, columns, 128 // Q.itemsize):
            q, o = at(Q, i * across + first + j), at(out, j)
            tile_4x2(x, 1, 4, q, across, rows, o, columns, x, 0)


@compiled
def gram(X, out):
    """out = X' X."""
    aa = ab = ac = ad = bb = bc = bd = cc = cd = dd = 0.0
    for i in range(len(X)):
        a, b, c, d = float(X[i, 0]), float(X[i, 1]), float(X[i, 2]), float(X[i, 3])
        aa += a * a
        ab += a * b
        ac += a * c
        ad += a * d
        bb += b * b
        bc += b * c
        bd += b * d
        cc += c * c
        cd += c * d
        dd += d * d
    out[0, 0], out[0, 1], out[0, 2], out[0, 3] = aa, ab, ac, ad
    out[1, 0], out[1, 1], out[1, 2], out[1, 3] = ab, bb, bc, bd
    out[2, 0], out[2, 1], out[2, 2], out[2, 3] = ac, bc, cc, cd
    out[3, 0], out[3, 1], out[3, 2], out[3, 3] = ad, bd, cd, dd


@compiled
def turned(X, S, out):
    """out = X S, for S of four rows and at most four columns."""
    for c in range(S.shape[1]):
        s0, s1, s2, s3 = S[0, c], S[1, c], S[2, c], S[3, c]
        for i in range(len(X)):
            out[i, c] = (X[i, 0] * s0 + X[i, 1] * s1) + (X[i, 2] * s2 + X[i, 3] * s3)


@compiled
def join(Q, first, used, X, inner, taken, column, G):
    """X -= Q[:, begin:used] Q[:, begin:used]' X for begin = first, then for begin = 0.

    ``column`` (used, 4) gets the sum of both Q' X, ``G`` X' X of what is left. ``inner`` (float64)
    and ``taken`` (X's type) are room for four rows as long as Q's.
    """
    pair = 128 // Q.itemsize
    for low in (first, 0):
        begin = low // pair * pair
        columns = -(-(used - begin) // pair) * pair
        h, t = (
            inner[: 4 * columns].reshape((4, columns)),
            taken[: 4 * columns].reshape((4, columns)),
        )
        h[:] = 0
        project(Q, begin, 0, len(X), X, h)
        for c in range(4):
            for j in range(columns):
                t[c, j] = 0
                if low <= begin + j < used:
                    t[c, j] = -h[c, j]
                    column[begin + j, c] += h[c, j]
        add_times(Q, begin, 0, len(X), t, X)
    gram(X, G)

"""The largest eigenvalues of a symmetric tridiagonal matrix, all bisected at once.

The number of eigenvalues above x is the number of positive terms of

    q_1 = d_1 - x,    q_i = d_i - x - e_{i-1}^2 / q_{i-1}                     (Sylvester, Sturm)

One sweep counts for every interval at the same time, so that the divisions, which wait for each
other along i, overlap across the intervals.

W. Barth, R. S. Martin & J. H. Wilkinson, Numer. Math. 9 (1967).
"""

from __future__ import annotations

import numpy as np

from gramian.loops.tile import compiled


@compiled
def largest(d, e, first, tolerance, values):
    """Eigenvalues number ``first``, ``first`` + 1, ... (0 is the largest) into ``values``.

    Each to ``tolerance`` times the largest size there is.
    """
    n, m = len(d), len(values)
    low, high, most = d[0], d[0], 0.0
    for i in range(n):
        reach = (abs(e[i - 1]) if i > 0 else 0.0) + (abs(e[i]) if i < n - 1 else 0.0)
        low, high = min(low, d[i] - reach), max(high, d[i] + reach)
        if i < n - 1:
            most = max(most, e[i] * e[i])
    size = max(abs(low), abs(high))
    low, high = low - 1e-15 * n * size, high + 1e-15 * n * size
    tiny = max(most, 1.0) * 2.3e-308
    left, right = np.full(m, low), np.full(m, high)
    q, x, above = np.empty(m), np.empty(m), np.empty(m)
    for _ in range(128):
        widest = 0.0
        for k in range(m):
            x[k] = 0.5 * (left[k] + right[k])
            widest = max(widest, right[k] - left[k])
        if widest <= tolerance * size:
            break
        for k in range(m):
            q[k] = d[0] - x[k]
            above[k] = 1.0 if q[k] > 0 else 0.0
        for i in range(1, n):
            di, ei = d[i], e[i - 1] * e[i - 1]
            for k in range(m):
                t = q[k]
                t = -tiny if abs(t) < tiny else t
                t = di - x[k] - ei / t
                q[k] = t
                above[k] += 1.0 if t > 0 else 0.0
        for k in range(m):
            if above[k] > first + k:
                left[k] = x[k]
            else:
                right[k] = x[k]
    for k in range(m):
        values[k] = 0.5 * (left[k] + right[k])

"""How full a Cholesky factor will be, counted before anything is computed.

Row i of the factor holds the paths of the elimination tree from the entries of row i up to i. Each
entry of the factor is met once, so counting costs as much as one solve with it.

J. W. H. Liu, SIAM J. Matrix Anal. Appl. 11 (1990).
"""

from __future__ import annotations

import numpy as np

from gramian.loops.tile import compiled


@compiled
def factor_entries(starts, columns, most):
    """Entries of the factor of a symmetric pattern in rows (CSR); ``most`` + 1 if there are more.

    Parameters
    ----------
    starts, columns : array of int
        Of the whole pattern, both halves.
    most : int
        Counting ends when this is passed.
    """
    n = len(starts) - 1
    parent = np.full(n, -1)
    seen = np.full(n, -1)
    entries = n
    for i in range(n):
        seen[i] = i
        for e in range(starts[i], starts[i + 1]):
            j = columns[e]
            while j < i and seen[j] != i:
                seen[j] = i
                if parent[j] == -1:
                    parent[j] = i
                entries += 1
                j = parent[j]
        if entries > most:
            return most + 1
    return entries

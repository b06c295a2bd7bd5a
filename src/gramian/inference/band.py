"""Horn's band for a scree plot, where it can be had in about a second.

How many replicates are drawn follows from the shape of the data alone, so that the same data get
the same band on every machine; beyond what 19 replicates may cost there is none.
"""

from __future__ import annotations

from typing import Any

from gramian.data.door import open_rows
from gramian.errors import MemoryRefusedError
from gramian.evidence import ChanceSpectrum
from gramian.inference.horn import parallel_analysis

_PER_NUMBER = 1e-8  # seconds to permute one number, and to multiply it once, on two cores
_PER_PRODUCT = 4e-11
_SECONDS = 0.8


def chance_band(
    X: Any, *, scale: str | None = None, memory: Any = None, random_state: Any = None
) -> ChanceSpectrum | None:
    """Eigenvalues of permuted data; ``None`` where that takes over a second, or too much memory.

    Parameters
    ----------
    X : array, frame, sparse matrix or path
    scale, memory, random_state : as for ``parallel_analysis``

    Returns
    -------
    ChanceSpectrum or None
        Variances that divide by n - 1.
    """
    n, p = open_rows(X, memory).rows.shape
    each = n * p * (_PER_NUMBER + _PER_PRODUCT * min(n, p))
    affordable = [R for R in (199, 99, 39, 19) if R * each <= _SECONDS]
    if not affordable or min(n, p) < 2:
        return None
    how = {"scale": scale, "memory": memory, "random_state": random_state}
    try:
        found = parallel_analysis(X, n_permutations=affordable[0], **how)
    except MemoryRefusedError:
        return None
    low, middle, high = found.quantiles([0.05, 0.5, 0.95])
    return ChanceSpectrum(low, middle, high, found.n_components, found.n_permutations)

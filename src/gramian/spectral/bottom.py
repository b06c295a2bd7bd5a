"""The smallest pairs of a graph's map, beyond the one that is known beforehand.

1. search   two pairs more than wanted
2. drop     the known null vector u is rotated out of their span, wherever it is among them: with
            several values near zero, position says nothing
3. Ritz     of what is left, orthogonal to u; values and residuals anew
4. judge    residuals relative to the first value left out (``shift_invert``)
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gramian.maps import Array
from gramian.memory import budget
from gramian.spectral.krylov import audited, default_tolerance
from gramian.spectral.pairs import Eigenpairs
from gramian.spectral.plan import Plan, plan
from gramian.spectral.shift_invert import ROUNDING, ShiftInvert, judged, largest_sum
from gramian.spectral.solvers import LAPACK_LIMIT, Dense
from gramian.spectral.two_level import TwoLevel, is_laplacian


def bottom(
    A: Any,
    null: Array,
    k: int,
    *,
    solver: Any = "auto",
    memory: Any = None,
    rng: np.random.Generator | None = None,
) -> tuple[Eigenpairs, Plan]:
    """The ``k`` smallest pairs of a positive semidefinite sparse matrix, orthogonal to ``null``.

    Parameters
    ----------
    A : sparse matrix of shape (n, n)
    null : array of shape (n,)
        A vector with A null = 0.
    k : int
        At most n - 1.
    solver, memory, rng
        As for ``eigenpairs``.

    Returns
    -------
    pairs : Eigenpairs
        Smallest first; ``scale`` is the first value left out, or |A| if there is none. With
        solver="auto" pairs that miss the tolerance are sought again by LAPACK, if that fits.
    followed : Plan
    """
    n = A.shape[0]
    norm = largest_sum(A) or 1.0
    wanted = min(k + 2, n)
    followed = plan(A, wanted, "smallest", solver, memory, laplacian=is_laplacian(A))
    search = followed.solver
    if isinstance(search, ShiftInvert):
        search = replace(search, definite=True)
    start = None
    if isinstance(search, TwoLevel):
        search, start = replace(search, last_roughly=True), null[:, None]
    V = search(A, wanted, "smallest", rng, start).vectors  # 1
    found = _without(A, null, V, k, norm)
    fits = n <= LAPACK_LIMIT and 24 * n * n <= budget(memory)
    if not found.certified and solver == "auto" and fits:
        found = _without(A, null, Dense()(A, wanted, "smallest").vectors, k, norm)
    return found, followed


def zeros(A: Any, pairs: Eigenpairs) -> int:
    """How many values are zero to rounding."""
    return int(np.sum(pairs.values <= ROUNDING * largest_sum(A)))


def _without(A: Any, null: Array, V: Array, k: int, norm: float) -> Eigenpairs:
    """Steps 2 to 4."""
    V = V.astype(np.float64)
    along = V.T @ (null / np.linalg.norm(null))
    turn = np.linalg.qr(np.column_stack([along, np.eye(len(along))]))[0]  # first: along, others not
    tol = default_tolerance(np.dtype(np.float64))
    unit = float(np.ldexp(1.0, -int(np.frexp(norm)[1])))
    rest = audited(A, V @ turn[:, 1:], "smallest", tol, norm * unit, unit)
    return judged(rest, norm, tol) if len(rest) > k else rest

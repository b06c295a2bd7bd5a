"""``eigenpairs``: the front door for symmetric maps."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from gramian.errors import CertificateWarning, InputError
from gramian.maps import Array, LinearMap
from gramian.memory import budget
from gramian.spectral.pairs import Eigenpairs
from gramian.spectral.plan import plan
from gramian.spectral.solvers import LAPACK_LIMIT, Dense


def eigenpairs(
    A: LinearMap,
    k: int,
    *,
    which: str = "largest",
    solver: Any = "auto",
    memory: Any = None,
    rng: np.random.Generator | None = None,
) -> Eigenpairs:
    """The ``k`` algebraically largest (or smallest) eigenpairs of a symmetric map.

    Parameters
    ----------
    A : map
        Array, sparse matrix or ``ImplicitMap``; taken to be symmetric.
    k : int
    which : {"largest", "smallest"}
    solver : {"auto", "dense", "krylov", "arpack", "shift-invert"} or Solver
    memory : int, str or None
        Budget, e.g. ``"4GB"``.
    rng : numpy.random.Generator, optional

    Returns
    -------
    Eigenpairs
        Best first, each with its measured residual. "auto" falls back to LAPACK if a pair misses
        the tolerance; if that cannot be had, a ``CertificateWarning`` says so.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.spectral.eigenpairs import eigenpairs
    >>> pairs = eigenpairs(np.diag([1.0, 3.0, -7.0]), 2)
    >>> pairs.values
    array([3., 1.])
    """
    n = A.shape[0]
    if A.shape != (n, n):
        raise InputError(f"a square map is needed, got {A.shape}")
    if which not in ("largest", "smallest"):
        raise InputError(f"which={which!r}: use 'largest' or 'smallest'")
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or not 1 <= k <= n:
        raise InputError(f"k={k!r}: a whole number from 1 to {n} is needed")
    followed = plan(A, int(k), which, solver, memory)
    pairs = followed.solver(A, int(k), which, rng)
    fits = n <= LAPACK_LIMIT and 24 * n * n <= budget(memory)
    if not pairs.certified and solver == "auto" and fits:
        pairs = Dense()(A, int(k), which, rng)
    if not pairs.certified:
        warnings.warn(
            f"the worst of {k} pairs has residual {pairs.residuals.max():.1e}, "
            f"asked for {pairs.tolerance:.1e}; see .residuals",
            CertificateWarning,
            stacklevel=2,
        )
    return pairs


def symmetric(S: Array, what: str) -> Array:
    """``S`` as a symmetric float64 matrix; tiny differences are averaged, larger ones an error."""
    if S.ndim != 2 or S.shape[0] != S.shape[1]:
        raise InputError(f"{what} must be square, got shape {S.shape}")
    S = S.astype(np.float64)
    if not np.isfinite(S).all():
        i, j = np.argwhere(~np.isfinite(S))[0]
        raise InputError(f"{what} holds NaN or inf, first at row {i}, column {j}; fill it in")
    apart = np.abs(S - S.T)
    worst = float(apart.max(initial=0.0))
    if worst > 1e-8 * float(np.abs(S).max(initial=0.0)):
        i, j = np.unravel_index(np.argmax(apart), apart.shape)
        raise InputError(
            f"{what} is not symmetric: entries ({i}, {j}) and ({j}, {i}) differ by {worst:.3g}"
        )
    return np.asarray((S + S.T) / 2)

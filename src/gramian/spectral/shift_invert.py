"""Shift and invert: the smallest pairs of a sparse positive semidefinite map.

1. order    a minimum-degree ordering, and with it the entries that the factor will have
2. factor   A + s I = L U without pivoting, s a few roundings of |A|; a pivot that is not positive
            says that A has values below zero
3. null     solves with a random block, twice: what is left is the null space N, made too large to
            see past by any rounding; it is set aside
4. search   block Krylov on the inverse, orthogonal to N: small values are now large and far apart
5. audit    one more solve, which takes out what the search left of high frequencies; Rayleigh-Ritz
            on A itself; residuals measured

The smallest values of a graph's map can be 1e-10 of the largest, and a residual of 1e-6 |A| says
nothing about them. So pairs are judged by the first value that was left out: |A v - l v| / l_next
bounds the angle between what was found and what was wanted, up to the factor l_next / (l_next - l)
(Davis and Kahan, 1970). What float64 can resolve of that is 2e-16 |A| / l_next: the tolerance is at
least a few times this.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from gramian.errors import InputError
from gramian.maps import Array, ImplicitMap, LinearMap
from gramian.memory import budget
from gramian.spectral.arpack import Arpack
from gramian.spectral.krylov import BlockKrylov, audited, default_tolerance
from gramian.spectral.pairs import Eigenpairs

ROUNDING = 64 * float(np.finfo(np.float64).eps)  # of |A|: values below are zero
_symmetric: dict[str, Any] = {"diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}


@dataclass(frozen=True)
class ShiftInvert:
    """Block Krylov on the inverse of a sparse positive semidefinite matrix.

    Parameters
    ----------
    tol : float, optional
        Residual to reach, relative to the first value left out; by default 1e-6, or what rounding
        permits if that is more.
    block : int
        Vectors solved for at a time: the copies of one value that are seen at once.
    prove : bool
        Count the values below the first one left out by the inertia of a second factorization
        (Sylvester), instead of trusting that a random block misses none.
    definite : bool
        The matrix is known to have no value below zero, by the way it was built. Otherwise the
        pivots are looked at, for which the factor is copied.
    memory : int, str or None
        Budget for the factor.
    """

    tol: float | None = None
    block: int = 4
    prove: bool = False
    definite: bool = False
    memory: int | float | str | None = None

    name = "shift-invert"
    keeps: ClassVar[dict[str, Any]] = {
        "tol": float | None,
        "block": int,
        "prove": bool,
        "definite": bool,
        "memory": int | float | str | None,
    }

    def __call__(
        self,
        A: LinearMap,
        k: int,
        which: str = "largest",
        rng: np.random.Generator | None = None,
        start: Array | None = None,
    ) -> Eigenpairs:
        """The best ``k`` pairs of ``A``, audited; by ``Arpack`` where there is nothing to invert.

        That is: the largest are asked for, A is no sparse matrix or has negative values, nearly all
        pairs are wanted, or the factor exceeds the budget.
        """
        from scipy import sparse

        rng = np.random.default_rng(0) if rng is None else rng
        few = 2 * k + 4 * self.block < A.shape[0]
        if which == "smallest" and sparse.issparse(A) and few:
            given: Any = A
            matrix = sparse.csr_array(given).astype(np.float64, copy=False)
            with suppress(NothingToInvertError):
                return self._invert(matrix, k, rng)
        return Arpack(tol=self.tol)(A, k, which, rng, start)

    def _invert(self, A: Any, k: int, rng: np.random.Generator) -> Eigenpairs:
        if not np.isfinite(A.data).all():
            raise InputError(
                "the matrix holds NaN or infinity; check the numbers it was built from"
            )
        norm = largest_sum(A)
        if norm == 0:
            raise NothingToInvertError
        unit = float(np.ldexp(1.0, -int(np.frexp(norm)[1])))  # near 1, exactly
        tol = default_tolerance(np.dtype(np.float64)) if self.tol is None else self.tol
        order, A = ordered(A, budget(self.memory))  # 1
        A.data *= unit
        norm *= unit
        solve = factored(A, ROUNDING / 8 * norm, self.definite)  # 2
        N = self._null(A, solve, norm, k, rng)  # 3
        V = N
        if N.shape[1] <= k:
            inverse, wanted = _Inverse(solve, N), max(k - N.shape[1], 1)
            search = BlockKrylov(tol=0.3 * tol, block=self.block, basis=12 * self.block, floor=1e-6)
            more = k + 1 - N.shape[1] - wanted  # of which only its value matters
            V = search.ends(inverse, wanted, rng, both=False, more=more).vectors  # 4
            V = np.concatenate([N, inverse @ V], axis=1)  # 5
        pairs = judged(audited(A, V, "smallest", tol, norm, 1.0).first(k + 1), norm, tol)
        if self.prove and not _complete(A, pairs, norm):
            raise NothingToInvertError
        vectors = np.empty_like(pairs.vectors)
        vectors[order] = pairs.vectors
        return replace(pairs, vectors=vectors, values=pairs.values / unit, scale=pairs.scale / unit)

    def _null(self, A: Any, solve: Any, norm: float, k: int, rng: np.random.Generator) -> Array:
        """Step 3: an orthonormal basis of the null space, or of more than ``k`` vectors of it."""
        n, b = A.shape[0], self.block
        while True:
            X = rng.standard_normal((n, b))
            for _ in range(2):
                X = np.linalg.qr(solve(X))[0]
            values, S = np.linalg.eigh(X.T @ (A @ X))
            zero = values <= ROUNDING * norm
            if not zero.all() or b > k + self.block or 4 * b > n:
                return np.ascontiguousarray(X @ S[:, zero])
            b *= 2


class NothingToInvertError(Exception):
    """Where another route is needed."""


class _Inverse(ImplicitMap):
    """(A + s I)^-1 orthogonal to the null space N."""

    def __init__(self, solve: Any, N: Array) -> None:
        self.solve, self.N = solve, N
        self.shape, self.dtype = (len(N), len(N)), np.dtype(np.float64)

    def _times(self, V: Array) -> Array:
        X = self.solve(V - self.N @ (self.N.T @ V))
        for _ in range(2):  # rounding along N is magnified the most
            X = X - self.N @ (self.N.T @ X)
        return np.asarray(X)


def judged(pairs: Eigenpairs, norm: float, tol: float, whole: bool = False) -> Eigenpairs:
    """All but the last of smallest pairs, their residuals relative to the value of that last one.

    Parameters
    ----------
    pairs : Eigenpairs
    norm : float
        Of the map; values below its rounding count as zero.
    tol : float
        Asked for; raised to what rounding permits.
    whole : bool
        The last one as well.
    """
    following = max(float(pairs.values[-1]), ROUNDING * norm)
    return replace(
        pairs if whole else pairs.first(len(pairs) - 1),
        residuals=(pairs.residuals if whole else pairs.residuals[:-1]) * (pairs.scale / following),
        scale=following,
        tolerance=max(tol, ROUNDING * norm / following),
    )


def largest_sum(A: Any) -> float:
    """The largest sum of |entries| of a row: no value of a symmetric A is further from 0."""
    return float(np.bincount(A.indices, np.abs(A.data), minlength=1).max())  # columns are rows


def ordered(A: Any, allowed: int) -> tuple[Array, Any]:
    """Step 1: the order in which rows are eliminated, and A in that order."""
    from scipy import sparse
    from scipy.sparse.linalg import spilu

    from gramian.loops.elimination import factor_entries

    n = A.shape[0]
    pattern = sparse.csr_array((np.full(A.nnz, 1e-30), A.indices, A.indptr), shape=(n, n))
    pattern = _columns(pattern + sparse.eye_array(n, format="csr"))
    # an incomplete factor that drops all it can costs nothing but its ordering
    how: dict[str, Any] = {"drop_tol": 1.0, "fill_factor": 1.0, "permc_spec": "MMD_AT_PLUS_A"}
    order = np.argsort(spilu(pattern, **how, **_symmetric).perm_c)
    del pattern
    A = A[order][:, order]
    A.sort_indices()
    most = allowed // 32  # L and U, and as much again while they grow
    if factor_entries(A.indptr, A.indices, most) > most:
        raise NothingToInvertError
    return order, A


def factored(A: Any, shift: float, definite: bool) -> Any:
    """Step 2: the function that solves with A + shift I."""
    lu = _lu(A, shift)
    positive = definite or bool((lu.U.diagonal() > 0).all())
    if not (positive and np.array_equal(lu.perm_r, lu.perm_c)):
        raise NothingToInvertError
    return lambda B: np.asarray(lu.solve(np.asfortranarray(B)))


def _lu(A: Any, shift: float) -> Any:
    from scipy import sparse
    from scipy.sparse.linalg import splu

    shifted = _columns(A + shift * sparse.eye_array(A.shape[0], format="csr"))
    try:
        return splu(shifted, permc_spec="NATURAL", **_symmetric)
    except RuntimeError:  # exactly singular: a zero pivot
        raise NothingToInvertError from None


def _columns(A: Any) -> Any:
    """Rows of a symmetric matrix are its columns."""
    from scipy import sparse

    return sparse.csc_array((A.data, A.indices, A.indptr), shape=A.shape)


def _complete(A: Any, pairs: Eigenpairs, norm: float) -> bool:
    """Whether as many values lie below the first one left out as were found below it."""
    below = float(pairs.scale) - max(1e-3 * float(pairs.scale), ROUNDING * norm)
    inertia = _lu(A, -below).U.diagonal()
    return int(np.sum(inertia < 0)) == int(np.sum(pairs.values < below))

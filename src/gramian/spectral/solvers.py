"""Solvers: frozen settings that turn a symmetric map into audited eigenpairs.

``Dense`` is LAPACK on the whole matrix; ``BlockKrylov`` and ``Arpack`` need products only, with
blocks of vectors or one vector at a time; ``ShiftInvert`` factors a sparse matrix to find its
smallest pairs. All give the same answer to their tolerance; ``plan`` chooses.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

import numpy as np
import scipy.linalg

from gramian.errors import InputError
from gramian.loops.threads import one_blas_thread
from gramian.maps import Array, LinearMap, to_dense
from gramian.progress import tick
from gramian.spectral.arpack import Arpack
from gramian.spectral.krylov import BlockKrylov, default_tolerance
from gramian.spectral.pairs import Eigenpairs, size_of
from gramian.spectral.shift_invert import ShiftInvert

SMALL = 600  # a second thread gains less here than it costs whatever runs next
LAPACK_LIMIT = 32_000  # SciPy's LAPACK counts in 32 bits: larger matrices crash or answer wrongly


class Solver(Protocol):
    """Anything that finds the best ``k`` pairs of a symmetric map."""

    name: str

    def __call__(
        self,
        A: LinearMap,
        k: int,
        which: str = "largest",
        rng: np.random.Generator | None = None,
        start: Array | None = None,
    ) -> Eigenpairs:
        """The best ``k`` pairs of ``A``, audited."""


@dataclass(frozen=True)
class Dense:
    """LAPACK on the stored matrix, in float64: only the wanted pairs, exact to rounding.

    A matrix that is ``ours`` is worked on where it lies and restored, which spares a copy of it.
    """

    ours: bool = False

    name = "LAPACK"
    keeps: ClassVar[dict[str, Any]] = {}

    def __call__(
        self,
        A: LinearMap,
        k: int,
        which: str = "largest",
        rng: np.random.Generator | None = None,
        start: Array | None = None,
    ) -> Eigenpairs:
        """The best ``k`` pairs of ``A``, audited."""
        n = A.shape[0]
        if n > LAPACK_LIMIT:
            raise InputError(
                f"a dense eigenproblem of order {n} is beyond LAPACK's 32-bit limit "
                f"({LAPACK_LIMIT}); use solver='krylov'"
            )
        with one_blas_thread() if n <= SMALL else nullcontext():
            M = np.asarray(to_dense(A), dtype=np.float64)
        if not np.isfinite(M).all():
            raise InputError(
                "the matrix holds NaN or infinity; check the numbers it was built from"
            )
        power = int(np.frexp(max(M.max(initial=0.0), -M.min(initial=0.0)))[1])
        unit = float(np.ldexp(1.0, -power))
        # near 1, exactly: tiny and huge matrices give the same bits
        M = np.multiply(M, unit, out=M if self.ours else None)
        lend = lent if self.ours else nullcontext
        lowest = n - k if which == "largest" else 0
        tolerance = default_tolerance(np.dtype(A.dtype))
        tick("eigenpairs by LAPACK", 0, None)
        with one_blas_thread() if n <= SMALL else nullcontext():
            values, V = _eigh(M, lowest, lowest + k - 1, lend)
            pairs = Eigenpairs.of(M, values, V, which=which, tolerance=tolerance, scale=size_of(M))
        if self.ours:
            M /= unit
        return replace(pairs, values=pairs.values / unit, scale=pairs.scale / unit)


@contextmanager
def lent(M: Array) -> Iterator[Array]:
    """A symmetric matrix as LAPACK likes it: the lower half of it may be spoiled while inside."""
    diagonal = M.diagonal().copy()
    try:
        yield M.T
    finally:
        for i in range(len(M) - 1):
            M[i, i + 1 :] = M[i + 1 :, i]
        np.fill_diagonal(M, diagonal)


def _eigh(M: Array, first: int, last: int, lend: Any = nullcontext) -> tuple[Array, Array]:
    """Pairs first..last by LAPACK; divide and conquer on the whole if the quick way fails."""
    n = len(M)
    if last - first + 1 <= n // 2:
        how: dict[str, Any] = {"driver": "evr", "check_finite": False}
        how["overwrite_a"] = lend is lent
        try:
            with lend(M) as S:
                values, V = scipy.linalg.eigh(S, subset_by_index=(first, last), **how)
            if len(values) == last - first + 1 and np.isfinite(V).all():
                return values, V
        except scipy.linalg.LinAlgError:
            pass
    values, V = scipy.linalg.eigh(M, driver="evd", check_finite=False)
    return values[first : last + 1], V[:, first : last + 1]


_named: dict[str, Solver] = {
    "dense": Dense(),
    "krylov": BlockKrylov(),
    "arpack": Arpack(),
    "shift-invert": ShiftInvert(),
}


def solver_of(solver: Any) -> Solver | None:
    """The solver a parameter names; ``None`` for "auto", which leaves the choice to the plan."""
    if isinstance(solver, str):
        if solver == "auto":
            return None
        if solver in _named:
            return _named[solver]
    elif callable(solver) and not isinstance(solver, type):
        return solver  # type: ignore[no-any-return]
    names = ", ".join(repr(name) for name in ("auto", *_named))
    raise InputError(
        f"solver={solver!r} is not known; use one of {names}, or an instance such as "
        "BlockKrylov(tol=1e-8)"
    )

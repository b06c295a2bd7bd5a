"""Two levels: the smallest pairs of a large graph's normalized Laplacian, without a large factor.

1. groups     points are put into groups of strong neighbors (``loops.aggregates``)
2. coarse     P = (I - 2/3 A / a) T:  T spreads the null vector u of A over the groups, a is the
              diagonal of A.  P' A P is small, and is factored
3. correct    B r, about A^-1 r: three Chebyshev steps on the upper nine tenths of the spectrum,
              P (P' A P)^-1 P' of what is left, and the three steps again
4. search     Q = u and random vectors;  Ritz pairs of Q' A Q;  B (A x - l x), made orthogonal to Q,
              joins Q (Davidson);  a full Q is cut down to its best Ritz vectors
5. audit      as every solver

A Chebyshev step leaves what varies slowly along the graph, and that is what the groups can carry:
so the number of steps does not grow with the graph. All values of A are between 0 and 2 a, because
no row sum of |U^-1 A U|, U = diag(u), exceeds that. A random block starts the search, as in block
Krylov on the inverse, so a pair that the groups know nothing of is found as well.

Where it does not come near in a few dozen steps (links of very different strength, values that are
zero to rounding), where groups are no fewer than points, or where the map is no Laplacian with a
constant diagonal, ``ShiftInvert`` takes over.

E. R. Davidson, J. Comput. Phys. 17 (1975); P. Vanek, J. Mandel and M. Brezina, Computing 56 (1996).
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from gramian.loops.aggregates import aggregate, relaxed, residual, times
from gramian.loops.thin import project, roomy, subtract
from gramian.loops.threads import one_blas_thread, pause, run
from gramian.maps import Array, LinearMap
from gramian.memory import budget
from gramian.progress import Approach
from gramian.spectral.krylov import ROUGHLY, audited, default_tolerance, orthonormal
from gramian.spectral.pairs import Eigenpairs
from gramian.spectral.shift_invert import (
    ROUNDING,
    NothingToInvertError,
    ShiftInvert,
    factored,
    judged,
    largest_sum,
    ordered,
)

STRONG = 0.5  # of the strongest link
_blocks = 8  # of vectors that Q has room for
_smoothing = 3  # Chebyshev steps before the groups, and as many after
_steps = 40  # after which another route is taken


@dataclass(frozen=True)
class TwoLevel:
    """Davidson's method, preconditioned by a smoother and the factor of a coarse graph.

    Parameters
    ----------
    tol : float, optional
        Residual to reach, relative to the first value left out; by default 1e-6, or what rounding
        permits if that is more.
    last_roughly : bool
        The last of the pairs asked for is the first one left out: only its value matters.
    memory : int, str or None
        Budget for the factors.
    """

    tol: float | None = None
    last_roughly: bool = False
    memory: int | float | str | None = None

    name = "two levels"
    most: ClassVar[int] = 8  # pairs for which it is the quicker route
    keeps: ClassVar[dict[str, Any]] = {
        "tol": float | None,
        "last_roughly": bool,
        "memory": int | float | str | None,
    }

    @staticmethod
    def expected_bytes(n: int, k: int, nnz: int) -> int:
        """Q and a dozen blocks; P, and A P while P' A P is made; the coarse factor."""
        return 8 * n * (_blocks + 12) * _width(k) + 24 * nnz

    def __call__(
        self,
        A: LinearMap,
        k: int,
        which: str = "largest",
        rng: np.random.Generator | None = None,
        start: Array | None = None,
    ) -> Eigenpairs:
        """The best ``k`` pairs of ``A``, audited; ``start`` is its null vector, all above 0."""
        rng = np.random.default_rng(0) if rng is None else rng
        known = _known(A, start) if which == "smallest" else None
        if known is not None:
            with suppress(NothingToInvertError):
                return self._search(A, k, known, rng)
        other = ShiftInvert(self.tol, definite=known is not None, memory=self.memory)
        return other(A, k, which, rng)

    def _search(self, A: Any, k: int, u: Array, rng: np.random.Generator) -> Eigenpairs:
        n, norm, sure = A.shape[0], largest_sum(A), k - 1 - self.last_roughly
        tol = default_tolerance(np.dtype(np.float64)) if self.tol is None else self.tol
        b = _width(sure + 1)
        if _blocks * b > n // 2:
            raise NothingToInvertError
        space = _Space(A, u, b, rng)
        correct = _Correction(A, u, budget(self.memory))
        told, first = Approach("eigenpairs", tol), 0.0
        new = [rng.standard_normal((n, 4)) for _ in range(b // 4)]
        for step in range(_steps):
            pause()
            space.grow(new)
            values, X, R = space.ritz()
            following = max(float(values[sure]), ROUNDING * norm)
            goal = 0.5 * max(tol, ROUNDING * norm / following)
            left = np.sqrt(np.concatenate([np.einsum("ij,ij->j", r, r) for r in R])) / following
            worst = float(left[:sure].max(initial=0.0))
            told(step, worst)
            if worst <= goal and left[sure] <= ROUGHLY:
                unit = float(np.ldexp(1.0, -int(np.frexp(norm)[1])))
                V = np.column_stack([u, *X])[:, : sure + 2]
                pairs = audited(A, V, "smallest", tol, norm * unit, unit)
                return judged(pairs, norm, tol, self.last_roughly)
            first = first or worst
            if step > _steps // 4 and worst > first * (goal / first) ** (step / _steps):
                break  # it would not arrive
            new = [correct(r) for r in R]
        raise NothingToInvertError


def is_laplacian(A: Any) -> bool:
    """Whether A is sparse by rows, of constant diagonal near 1, and nowhere else positive."""
    if getattr(A, "format", "") != "csr" or A.shape[0] != A.shape[1]:
        return False
    diagonal = A.diagonal()
    same = bool(1e-100 < diagonal[0] < 1e100 and np.ptp(diagonal) <= 1e-12 * diagonal[0])
    return same and int(np.count_nonzero(A.data > 0)) == len(diagonal)


def _known(A: Any, start: Array | None) -> Array | None:
    """The null vector, of length 1, if A is the Laplacian of which it is: then A >= 0."""
    if start is None or not is_laplacian(A):
        return None
    u = np.ravel(start) / np.linalg.norm(start)
    null = u.min() > 1e-100 and np.linalg.norm(A @ u) <= ROUNDING * largest_sum(A)
    return u if null else None


class _Sparse:
    """A sparse matrix times four columns at a time, on the threads."""

    def __init__(self, A: Any) -> None:
        self.rows, self.shape = (A.indptr, A.indices, A.data), A.shape
        parts = min(16, max(1, A.nnz // 50_000))
        ends = np.searchsorted(A.indptr, np.arange(1, parts) * A.nnz // parts)
        self.pieces = list(pairwise([0, *ends.tolist(), A.shape[0]]))

    def run(self, loop: Any, *blocks: Any) -> None:
        run(lambda q: loop(*self.rows, *self.pieces[q], *blocks), len(self.pieces))

    def __matmul__(self, V: Array) -> Array:
        out = _block(self.shape[0])
        self.run(times, V, out)
        return out


class _Correction:
    """Steps 1 to 3: B r, for four columns; orthogonal to u, or nearly."""

    def __init__(self, A: Any, u: Array, allowed: int) -> None:
        n, size = len(u), float(A.diagonal()[0])
        labels = np.empty(n, A.indices.dtype)
        groups = aggregate(A.indptr, A.indices, A.data, STRONG, labels)
        if groups > n // 2:
            raise NothingToInvertError
        u = u / np.sqrt(np.bincount(labels, u * u))[labels]
        T = sparse.csr_array((u, labels, np.arange(n + 1, dtype=labels.dtype)), shape=(n, groups))
        P = T - (A @ T) * (2 / 3 / size)
        PT = P.T.tocsr()
        self.order, coarse = ordered(sparse.csr_array(PT @ (A @ P)), allowed)
        self.solve = factored(coarse, ROUNDING / 8 * size, True)
        self.A, self.P, self.PT = _Sparse(A), _Sparse(P), _Sparse(PT)
        keeps, gives = _chebyshev(_smoothing, 0.2)
        self.down = list(zip([*keeps, 0.0], [*(gives[1:] / size), 0.0], strict=True))
        self.up = list(zip([0.0, *keeps], gives / size, strict=True))

    def __call__(self, R: Array) -> Array:
        """B R."""
        left, new = R.copy(), _block(len(R))
        step = R * self.up[0][1]
        total: Array = step.copy()
        for keep, give in self.down:
            self.A.run(relaxed, step, left, keep, give, new, total)
            step, new = new, step
        coarse = self.PT @ left
        coarse[self.order] = self.solve(coarse[self.order])
        step = self.P @ coarse
        total += step
        for keep, give in self.up:
            self.A.run(relaxed, step, left, keep, give, new, total)
            step, new = new, step
        return total


class _Space:
    """Step 4: the basis Q, u its first column, and H = Q' A Q."""

    def __init__(self, A: Any, u: Array, b: int, rng: np.random.Generator) -> None:
        self.A, self.b, self.rng = _Sparse(A), b, rng
        self.Q = roomy(len(u), _blocks * b, np.dtype(np.float64))
        self.Q[:, 0] = u
        self.H = np.zeros((_blocks * b,) * 2)
        self.size = 1
        self.values = self.S = np.empty(0)

    @one_blas_thread()
    def grow(self, new: list[Array]) -> None:
        """Let what is new in these blocks of four columns join Q."""
        if self.size + self.b > self.Q.shape[1]:
            self._cut_down()
        for block in new:
            W, j = self._new(block), self.size
            self.size += 4
            self.Q[:, j : self.size] = W
            column = project(self.Q, 0, self.size, self.A @ W)
            self.H[: self.size, j : self.size] = column
            self.H[j : self.size, : self.size] = column.T

    @one_blas_thread()
    def ritz(self) -> tuple[Array, list[Array], list[Array]]:
        """The best values; their vectors x and A x - l x, four at a time."""
        self.values, self.S = np.linalg.eigh(self.H[1 : self.size, 1 : self.size])
        X = [self._turned(c) for c in range(0, self.b, 4)]
        R = [_block(len(self.Q)) for _ in X]
        for q, (x, r) in enumerate(zip(X, R, strict=True)):
            self.A.run(residual, x, self.values[4 * q : 4 * q + 4], r)
        return self.values[: self.b], X, R

    def _turned(self, first: int) -> Array:
        """Four Ritz vectors, from ``first`` on."""
        X = np.zeros((len(self.Q), 4))
        subtract(self.Q, 1, self.size, -self.S[:, first : first + 4], X)
        return X

    def _cut_down(self) -> None:
        kept = 2 * self.b
        best = [self._turned(c) for c in range(0, kept, 4)]
        self.Q[:, 1 : 1 + kept] = np.concatenate(best, axis=1)
        self.H[:] = 0
        self.H[1 : 1 + kept, 1 : 1 + kept] = np.diag(self.values[:kept])
        self.size = 1 + kept

    def _new(self, W: Array) -> Array:
        """An orthonormal block of what W adds to Q; random vectors where that is too little."""
        W = W / np.sqrt(np.maximum(np.einsum("ij,ij->j", W, W), 1e-300))
        along = project(self.Q, 0, self.size, W)
        for _ in range(4):  # mostly twice
            subtract(self.Q, 0, self.size, along, W)
            W = orthonormal(W, 1e-12)
            if W.shape[1] < 4:
                more = self.rng.standard_normal((len(W), 4 - W.shape[1])) / np.sqrt(len(W))
                W = np.concatenate([W, more], axis=1)
            along = project(self.Q, 0, self.size, W)
            if np.abs(along).max() < 1e-14:
                break
        return W


def _block(n: int) -> Array:
    return np.empty((n, 4))


def _chebyshev(steps: int, lowest: float) -> tuple[Array, Array]:
    """What each step keeps of the one before, and gives; for values from ``lowest`` to 2.

    The first step keeps nothing.
    """
    middle, half = 1 + lowest / 2, 1 - lowest / 2
    ratio = half / middle
    keeps, gives = [], [1 / middle]
    for _ in range(steps - 1):
        following = 1 / (2 * middle / half - ratio)
        keeps.append(following * ratio)
        gives.append(2 * following / half)
        ratio = following
    return np.array(keeps), np.array(gives)


def _width(wanted: int) -> int:
    """Columns of a block: some more than wanted, in fours."""
    return 4 if wanted <= 3 else -(-(wanted + 1) // 4) * 4

"""Block Krylov: the top k eigenpairs of a symmetric map from its products with thin blocks.

1. start     Q = an orthonormal block of random vectors
2. grow      X = A Q_last;  H = Q' X;  X - Q H, made orthogonal twice, is the next block of Q
3. Ritz      Q' A Q = H = S T S': values T, vectors Q S; |A q - t q| = |last coupling * s|
4. restart   when Q is full keep its best Ritz vectors and go on growing (thick restart)
5. audit     A V once more: the residuals reported are measured, not estimated

A block sees at most as many copies of a repeated eigenvalue as it has columns. So when that many
equal values appear among the wanted ones, or growing ends early because the space closes on itself,
a fresh random block joins.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from gramian.errors import InputError
from gramian.maps import Array, LinearMap
from gramian.spectral.pairs import Eigenpairs


def default_tolerance(dtype: np.dtype[np.float64] | np.dtype[np.float32]) -> float:
    """1e-6 for float64, 1e-4 for float32, relative to the size of the map."""
    return 1e-4 if dtype == np.float32 else 1e-6


@dataclass(frozen=True)
class BlockKrylov:
    """Thick-restart block Lanczos with full reorthogonalization.

    Parameters
    ----------
    tol : float, optional
        Residual to reach, relative to the size of the map; by default 1e-6 (float64) or 1e-4
        (float32).
    block : int, optional
        Vectors multiplied at a time; by default one 64-byte vector wide for dense maps (the price of
        a single product), four for sparse ones.
    basis : int, optional
        Most vectors kept at a time.
    max_products : int
        Most vectors multiplied in all; then the best pairs so far are returned, with their residuals.
    """

    tol: float | None = None
    block: int | None = None
    basis: int | None = None
    max_products: int = 100_000

    name = "block Krylov"

    def __call__(
        self,
        A: LinearMap,
        k: int,
        which: str = "largest",
        rng: np.random.Generator | None = None,
        start: Array | None = None,
    ) -> Eigenpairs:
        rng = np.random.default_rng(0) if rng is None else rng
        dtype = np.dtype(np.float32 if A.dtype == np.float32 else np.float64)
        tol = default_tolerance(dtype) if self.tol is None else self.tol
        budget = self.max_products
        while True:
            space = self._explore(A, k, which, tol, rng, start, dtype, budget)
            pairs = self._audited(A, space.best(k), which, tol, space)
            budget -= space.products
            if pairs.certified or budget <= 0 or len(pairs.vectors) == space.size:
                return pairs
            start = pairs.vectors  # rounding crept in: once more from what we have

    def _explore(
        self,
        A: LinearMap,
        k: int,
        which: str,
        tol: float,
        rng: np.random.Generator,
        start: Array | None,
        dtype: np.dtype[np.float32] | np.dtype[np.float64],
        budget: int,
    ) -> _Space:
        """Steps 1 to 4: a space that holds the wanted pairs, by its own estimate."""
        n = A.shape[0]
        b = min(self.block or self.natural_block(A), n)
        room = min(n, max(self.basis or max(2 * k + 4 * b, 20 * b), k + 3 * b))
        space = _Space(A, 1.0 if which == "largest" else -1.0, room, dtype, rng)
        space.begin(b, start)
        while True:
            space.grow()
            full = space.size + space.next.shape[1] > room or space.size == n
            if not full and (space.size < k or not space.worth_a_look()):
                continue
            values, S, residuals = space.ritz()
            if space.size == n or space.products >= budget:
                return space
            done = space.size >= k and _settled(values[:k], residuals[:k], tol, space.norm, dtype)
            if done and space.explored():
                if not space.may_hide(values[:k], tol):
                    return space
                space.restart(values, S, keep=k)
                space.search_elsewhere(b)
            elif full:
                keep = min(k + (room - k) // 3, room - space.next.shape[1])
                space.restart(values, S, keep)

    @staticmethod
    def natural_block(A: LinearMap) -> int:
        """As many vectors as the map multiplies for about the price of one."""
        return 4 if hasattr(A, "nnz") else 64 // (4 if A.dtype == np.float32 else 8)

    @staticmethod
    def _audited(A: LinearMap, V: Array, which: str, tol: float, space: _Space) -> Eigenpairs:
        """A last Rayleigh-Ritz on fresh products: values to second order, residuals measured."""
        V = np.ascontiguousarray(np.linalg.qr(V)[0])
        AV = np.asarray(A @ V)
        H = V.astype(np.float64).T @ (AV.astype(np.float64) * space.unit)
        values, S = np.linalg.eigh((H + H.T) / 2)
        S = S.astype(V.dtype)
        return Eigenpairs.of(
            A,
            values / space.unit,
            V @ S,
            which=which,
            tolerance=tol,
            scale=space.norm / space.unit,
            image=AV @ S,
        )


class _Space:
    """The growing basis Q, its projected map H = Q' A Q, and the block that comes next."""

    def __init__(
        self,
        A: LinearMap,
        sign: float,
        room: int,
        dtype: np.dtype[np.float32] | np.dtype[np.float64],
        rng: np.random.Generator,
    ) -> None:
        self.A, self.sign, self.rng, self.dtype = A, sign, rng, dtype
        n = A.shape[0]
        self.Q = np.empty((n, room), dtype, order="F")
        self.H = np.zeros((room, room))
        self.size = 0  # columns of Q in use
        self.random_columns = 0  # random vectors that entered: copies that can be seen
        self.norm = 0.0  # largest |Ritz value| or |column of A Q| seen: the size of A from below
        self.products = 0
        self.entered = 0  # products made when the last random block joined
        self.patience = 0  # products a random block must be followed for
        self.looks = 0
        self.unit = 0.0  # power of two that brings A near 1, known after the first product
        self.next: Array
        self.coupling: Array  # R in  A Q = Q H + next R e_last'

    def begin(self, b: int, start: Array | None) -> None:
        block = self._random(b)
        if start is not None:
            given = min(start.shape[1], self.Q.shape[1] // 2)
            block = np.concatenate([start[:, :given].astype(self.dtype), block], axis=1)
        self.next = np.ascontiguousarray(np.linalg.qr(block)[0][:, : len(block)], self.dtype)
        self.random_columns = b

    def grow(self) -> None:
        """Step 2: multiply the next block, project, and make what is left orthogonal."""
        j, b = self.size, self.next.shape[1]
        Q = self.Q[:, : j + b]
        Q[:, j:] = self.next
        X = np.asarray(self.A @ self.next).astype(self.dtype)
        if not np.isfinite(X).all():
            raise InputError(
                "the map returned NaN or infinity; check the numbers it was built from"
            )
        if self.sign < 0:
            X = -X
        self.norm = max(self.norm, float(np.linalg.norm(X, axis=0).max()))
        h = Q.T @ X
        X -= Q @ h
        again = Q.T @ X
        X -= Q @ again
        column = (h + again).astype(np.float64)
        self.H[: j + b, j : j + b] = column
        self.H[j : j + b, : j + b] = column.T
        last = column[j:]
        self.H[j : j + b, j : j + b] = (last + last.T) / 2
        self.size, self.products = j + b, self.products + b
        self._orthonormal_next(X)

    def _orthonormal_next(self, X: Array) -> None:
        """``next`` and ``coupling`` from X = next * coupling; spent directions become random ones."""
        n, most = self.Q.shape[0], min(X.shape[1], self.Q.shape[0] - self.size)
        self.last = X.shape[1]
        if most == 0:
            self.next, self.coupling = X[:, :0], np.zeros((0, X.shape[1]))
            return
        basis, R, pivots = scipy.linalg.qr(X, mode="economic", pivoting=True, check_finite=False)
        coupling = np.empty_like(R)
        coupling[:, pivots] = R
        noise = 10 * np.finfo(self.dtype).eps * max(self.norm, 1e-30)
        live = int(np.sum(np.abs(np.diag(R)) > noise * np.sqrt(n)))
        live = min(live, most)
        self.next = basis[:, :live]
        self.coupling = coupling[:live].astype(np.float64)
        if live == 0:  # the space is closed under A: look elsewhere
            self.invite(most)
        elif abs(R[live - 1, live - 1]) < 1e-3 * self.norm:
            # dividing by a small number magnified what rounding left of Q in X
            self.next = self._clean(self.next)
        self.next = np.ascontiguousarray(self.next)

    def search_elsewhere(self, b: int) -> None:
        """Go on from random vectors, for as long as it took to get here."""
        self.patience = max(self.patience, self.products - self.entered)
        self.entered = self.products
        self.invite(b)

    def invite(self, b: int) -> None:
        """Let the next block be random, orthogonal to Q."""
        b = min(b, self.Q.shape[0] - self.size)
        self.next = np.ascontiguousarray(self._clean(self._random(b)))
        self.coupling = np.zeros((b, self.last))
        self.random_columns += b

    def ritz(self) -> tuple[Array, Array, Array]:
        """Step 3: values (best first), coefficients, residual norms."""
        j = self.size
        values, S = np.linalg.eigh(self.H[:j, :j])
        values, S = values[::-1], S[:, ::-1]
        self.norm = max(self.norm, float(np.abs(values).max(initial=0.0)))
        tail = S[j - self.last :] if self.last <= j else S
        return values, S, np.linalg.norm(self.coupling @ tail, axis=0)

    def restart(self, values: Array, S: Array, keep: int) -> None:
        """Step 4: shrink Q to its best Ritz vectors; the next block stays as it is."""
        self.Q[:, :keep] = self.rotated(S[:, :keep])
        self.H[:] = 0
        np.fill_diagonal(self.H[:keep, :keep], values[:keep])
        self.size = keep

    def best(self, k: int) -> Array:
        """The best ``k`` Ritz vectors."""
        return self.rotated(self.ritz()[1][:, : min(k, self.size)])

    def rotated(self, S: Array) -> Array:
        """Q S."""
        return np.asarray(self.Q[:, : self.size] @ S.astype(self.dtype))

    def worth_a_look(self) -> bool:
        """Not after every block: solving the small problem costs as much as a product."""
        self.looks += 1
        return self.looks % 3 == 0

    def explored(self) -> bool:
        """Whether the last random block was followed for as long as the one before it needed."""
        return self.products - self.entered >= self.patience

    def may_hide(self, wanted: Array, tol: float) -> bool:
        """Whether so many wanted values are equal that more copies could be out of sight."""
        near = np.abs(np.diff(wanted)) <= tol * self.norm
        longest = run = 1
        for close in near:
            run = run + 1 if close else 1
            longest = max(longest, run)
        return longest >= self.random_columns

    def _random(self, b: int) -> Array:
        return self.rng.standard_normal((self.Q.shape[0], b)).astype(self.dtype)

    def _clean(self, X: Array) -> Array:
        """X made orthogonal to Q and to itself, to working precision."""
        Q = self.Q[:, : self.size]
        for _ in range(2):
            X = X - Q @ (Q.T @ X)
            X = np.linalg.qr(X)[0]
        return np.asarray(X.astype(self.dtype, copy=False))


def _settled(
    values: Array,
    residuals: Array,
    tol: float,
    norm: float,
    dtype: np.dtype[np.float32] | np.dtype[np.float64],
) -> bool:
    """Each residual within half the tolerance of its own value, or as small as makes sense.

    Asking relative to the pair's own value keeps small pairs accurate; below a thousandth of the
    largest, or at rounding, nobody gains from asking for more.
    """
    wanted = 0.5 * tol * np.maximum(np.abs(values), 1e-3 * norm)
    return bool(np.all(residuals <= np.maximum(wanted, 20 * np.finfo(dtype).eps * norm)))

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
from typing import Any, ClassVar

import numpy as np

from gramian.checkpoint import is_kept, rng_state, set_rng, stage
from gramian.errors import InputError
from gramian.loops.thin import gram, join, project, roomy, subtract, times, turned
from gramian.loops.threads import one_blas_thread
from gramian.maps import Array, LinearMap
from gramian.progress import Approach
from gramian.spectral.pairs import Eigenpairs

OTHER_END = 0.1, 1.6e-3  # residual of the least value, if negative: a share of it, or of |A|

ROUGHLY = 0.03  # residual, relative to its value, of a pair that only its value is wanted of

_tiny = float(np.finfo(np.float64).tiny)

OFTEN = 8_000  # rows from which a look at the Ritz pairs costs less than a product of 8 vectors


def default_tolerance(dtype: np.dtype[Any]) -> float:
    """1e-6 for float64, 1e-4 for float32, relative to the size of the map."""
    return 1e-4 if dtype == np.float32 else 1e-6


@dataclass(frozen=True)
class Ends:
    """Both ends of a spectrum: vectors of the largest pairs; values in one unknown unit."""

    vectors: Array
    largest: float
    least: float
    size: float


@dataclass(frozen=True)
class BlockKrylov:
    """Thick-restart block Lanczos with full reorthogonalization.

    Parameters
    ----------
    tol : float, optional
        Residual to reach, relative to the size of the map; by default 1e-6 (float64) or 1e-4
        (float32).
    block : int, optional
        Vectors multiplied at a time; by default one 64-byte vector wide for dense maps (the price
        of a single product), four for sparse ones.
    basis : int, optional
        Most vectors kept at a time.
    max_products : int
        Most vectors multiplied in all; then the best pairs so far are returned.
    floor : float
        Residuals are asked for relative to each value, but to no value below this share of the
        size of the map; 1 asks for residuals relative to that size alone.
    """

    tol: float | None = None
    block: int | None = None
    basis: int | None = None
    max_products: int = 100_000
    floor: float = 1e-3

    name = "block Krylov"
    keeps: ClassVar[dict[str, Any]] = {
        "tol": float | None,
        "block": int | None,
        "basis": int | None,
        "max_products": int,
        "floor": float | int,
    }

    def __call__(
        self,
        A: LinearMap,
        k: int,
        which: str = "largest",
        rng: np.random.Generator | None = None,
        start: Array | None = None,
    ) -> Eigenpairs:
        """The best ``k`` pairs of ``A``, audited."""
        rng = np.random.default_rng(0) if rng is None else rng
        dtype: np.dtype[Any] = np.dtype(np.float32 if A.dtype == np.float32 else np.float64)
        tol = default_tolerance(dtype) if self.tol is None else self.tol
        budget = self.max_products
        while True:
            space = self._explore(A, k, which, tol, rng, start, dtype, budget)
            pairs = audited(A, space.best(k), which, tol, space.norm, space.unit)
            budget -= space.products
            if pairs.certified or budget <= 0 or len(pairs.vectors) == space.size:
                return pairs
            start = pairs.vectors  # rounding crept in: once more from what we have

    def ends(
        self,
        A: LinearMap,
        k: int,
        rng: np.random.Generator | None = None,
        *,
        both: bool = True,
        more: int = 0,
    ) -> Ends:
        """The ``k`` largest pairs' vectors and, from the same space, the other end of the spectrum.

        A Krylov space holds both ends: the least value, to 3 % of itself or 0.002 of the largest,
        costs a few steps more and no search of its own; without ``both`` it is a rough one. So are
        the vectors of ``more`` pairs that follow the k. Nothing is audited here.
        """
        rng = np.random.default_rng(0) if rng is None else rng
        dtype: np.dtype[Any] = np.dtype(np.float32 if A.dtype == np.float32 else np.float64)
        tol = default_tolerance(dtype) if self.tol is None else self.tol
        budget = self.max_products
        space = self._explore(A, k, "largest", tol, rng, None, dtype, budget, both, more)
        values = space.ritz()[0]
        return Ends(space.best(k + more), values[0], values[-1], space.norm)

    def _explore(
        self,
        A: LinearMap,
        k: int,
        which: str,
        tol: float,
        rng: np.random.Generator,
        start: Array | None,
        dtype: np.dtype[Any],
        budget: int,
        both: bool = False,
        more: int = 0,
    ) -> _Space:
        """Steps 1 to 4: a space that holds the wanted pairs, by its own estimate."""
        n = A.shape[0]
        b = min(self.block or self.natural_block(A), n)
        usual = max(2 * k + 4 * b, (30 if both else 20) * b)  # restarts cost the other end most
        room = min(n, max(self.basis or usual, k + more + 3 * b))
        told = Approach("eigenpairs", tol)
        with stage("Krylov", n=n, k=k, block=b, room=room, which=which) as here:
            space = _Space(A, 1.0 if which == "largest" else -1.0, room, dtype, rng)
            if here.known is None:
                space.begin(b, start)
            else:
                space.take_up(here.known)
            while not here.finished:
                if is_kept():
                    here.keep(**space.state())
                space.grow()
                full = space.size + space.next.shape[1] > room or space.size == n
                if not full and (space.size < k + more or not space.worth_a_look()):
                    continue
                values, S, residuals = space.ritz()
                told(space.products, float(residuals[:k].max(initial=0.0)) / (space.norm or 1.0))
                if space.size == n or space.products >= budget:
                    break
                wanted = _allowed(values[:k], tol, space.norm, dtype, self.floor)
                least = OTHER_END[1] * space.norm if both else None
                worst = _worst(values, residuals, wanted, more, least)
                done = space.size >= k and worst <= 1
                space.look_after(worst)
                if done and space.explored():
                    if not space.may_hide(values[:k], tol, self.floor):
                        break
                    space.restart(values, S, np.arange(k))
                    space.search_elsewhere(b)
                elif full:
                    keep = np.arange(min(k + (room - k) // 3, room - space.next.shape[1]))
                    if both:
                        keep[-4:] = np.arange(-4, 0)  # the other end must not be forgotten
                    space.restart(values, S, keep)
            if is_kept():
                here.finish(**space.state())
            return space

    @staticmethod
    def natural_block(A: Any) -> int:
        """As many vectors as the map multiplies for about the price of one."""
        wide = 64 // (4 if A.dtype == np.float32 else 8)
        return getattr(A, "block", None) or (4 if hasattr(A, "nnz") else wide)


_COUNTS = (
    *("size", "random_columns", "waiting", "products", "entered", "patience", "looked"),
    *("fresh", "before", "last", "wait"),
)


class _Space:
    """The growing basis Q, its projected map H = Q' A Q, and the block that comes next."""

    def __init__(
        self,
        A: LinearMap,
        sign: float,
        room: int,
        dtype: np.dtype[Any],
        rng: np.random.Generator,
    ) -> None:
        self.A, self.sign, self.rng, self.dtype = A, sign, rng, dtype
        n = A.shape[0]
        self.Q = roomy(n, room, dtype)
        self.H = np.zeros((room, room))
        self.size = 0  # columns of Q in use
        self.random_columns = 0  # random vectors multiplied so far: copies that can be seen
        self.waiting = 0  # random vectors in the next block
        self.norm = 0.0  # largest |Ritz value| or |column of A Q| seen: the size of A from below
        self.products = 0
        self.entered = 0  # products made when the last random block joined
        self.patience = 0  # products a random block must be followed for
        self.looked = 0  # products made at the last look
        self.wait = 0  # blocks until the next one
        self.way = 0.0  # decades that residuals were too large by then
        self.fresh = True  # the next block may couple to all of Q, not to the last two blocks only
        self.before = 0  # where the block before the last begins
        self.unit = 0.0  # power of two that brings A near 1, known after the first product
        self.solved: tuple[Array, Array, Array] | None = None  # what ``ritz`` found of this H
        self.next: Array
        self.last = 0  # columns of the last block of Q
        self.coupling = np.zeros((0, 0))  # R in  A Q = Q H + next R e_last'

    @one_blas_thread()
    def begin(self, b: int, start: Array | None) -> None:
        block = self._random(b)
        if start is not None:
            given = min(start.shape[1], len(self.H) // 2)
            block = np.concatenate([start[:, :given].astype(self.dtype), block], axis=1)
        self.next = np.ascontiguousarray(np.linalg.qr(block)[0][:, : len(block)], self.dtype)
        self.waiting = b

    def state(self) -> dict[str, Any]:
        """All that the next step depends on."""
        used = self.size
        return {
            "Q": self.Q[:, :used],
            "H": self.H[:used, :used],
            "next": self.next,
            "coupling": self.coupling,
            "counts": np.array([getattr(self, name) for name in _COUNTS], np.int64),
            "sizes": np.array([self.norm, self.unit, self.way]),
            "rng": rng_state(self.rng),
        }

    def take_up(self, state: dict[str, Array]) -> None:
        """Go on from a state."""
        for name, value in zip(_COUNTS, state["counts"].tolist(), strict=True):
            setattr(self, name, value)
        self.Q[:, : self.size] = state["Q"]
        self.H[: self.size, : self.size] = state["H"]
        self.next, self.coupling = state["next"], state["coupling"]
        self.norm, self.unit, self.way = state["sizes"].tolist()
        set_rng(self.rng, state["rng"])

    def grow(self) -> None:
        """Step 2: multiply the next block, project, and make what is left orthogonal."""
        j, b = self.size, self.next.shape[1]
        self.Q[:, j : j + b] = self.next
        X = np.asarray(apply(self.A, self.next))
        if not np.isfinite(X).all():
            raise InputError("the map returned NaN or inf; check the numbers it was built from")
        if self.unit == 0:
            self.unit = float(np.ldexp(1.0, -int(np.frexp(np.abs(X).max(initial=0.0))[1])))
        X = np.ascontiguousarray(X * (self.sign * self.unit), dtype=self.dtype)
        with one_blas_thread():
            self._join(X)

    def _join(self, X: Array) -> None:
        """Project A's image of the next block on all blocks so far; the rest comes next."""
        j, b = self.size, self.next.shape[1]
        used = j + b
        # A is symmetric: its image couples to the last two blocks, and only rounding to the others
        column, G, left = join(self.Q, 0 if self.fresh else self.before, used, X)
        self.before, self.fresh = j, False
        self.H[: j + b, j : j + b] = column
        self.H[j : j + b, : j + b] = column.T
        last = column[j:]
        self.H[j : j + b, j : j + b] = (last + last.T) / 2
        self.size, self.products, self.solved = j + b, self.products + b, None
        self.random_columns, self.waiting = self.random_columns + self.waiting, 0
        # a column of A Q has a part in Q and a part in X
        self.norm = max(self.norm, float(np.sqrt((np.sum(column**2, axis=0) + np.diag(G)).max())))
        self._orthonormal_next(X, G, left)

    def _orthonormal_next(self, X: Array, G: Array, before: float) -> None:
        """``next`` and ``coupling`` from X = next * coupling, without what is rounding.

        X was about ``before`` long when it was last made orthogonal to Q.
        """
        noise = 2 * np.finfo(self.dtype).eps * max(self.norm, 1e-30)
        self.last = X.shape[1]
        self.next, self.coupling = _orthonormal(X, G, noise)
        most = len(X) - self.size
        self.next, self.coupling = self.next[:, :most], self.coupling[:most]
        if self.next.shape[1] == 0:  # the space is closed under A: look elsewhere
            self.invite(self.last)
            return
        magnified = before / np.linalg.norm(self.coupling, axis=1).min()
        if magnified > 1e3:  # dividing by a small number magnified what rounding left of Q in X
            again = 1 if magnified * np.finfo(self.dtype).eps < 1e-3 else 2
            self.next = self._clean(self.next, again)

    def search_elsewhere(self, b: int) -> None:
        """Go on from random vectors, for as long as it took to get here."""
        self.patience = max(self.patience, self.products - self.entered)
        self.entered = self.products
        self.invite(b)

    @one_blas_thread()
    def invite(self, b: int) -> None:
        """Let the next block be random, orthogonal to Q."""
        b = min(b, self.Q.shape[0] - self.size)
        self.next = np.ascontiguousarray(self._clean(self._random(b)))
        self.fresh = True
        self.coupling = np.zeros((b, self.last))
        self.waiting = b

    @one_blas_thread()
    def ritz(self) -> tuple[Array, Array, Array]:
        """Step 3: values (best first), coefficients, residual norms."""
        if self.solved is not None:
            return self.solved
        j = self.size
        values, S = np.linalg.eigh(self.H[:j, :j])
        values, S = values[::-1], S[:, ::-1]
        self.norm = max(self.norm, float(np.abs(values).max(initial=0.0)))
        tail = S[j - self.last :] if self.last <= j else S
        self.solved = values, S, np.linalg.norm(self.coupling @ tail, axis=0)
        return self.solved

    @one_blas_thread()
    def restart(self, values: Array, S: Array, keep: Array) -> None:
        """Step 4: shrink Q to the Ritz vectors ``keep``; the next block stays as it is."""
        kept = len(keep)
        self.Q[:, :kept] = self.rotated(S[:, keep])
        self.H[:] = 0
        np.fill_diagonal(self.H[:kept, :kept], values[keep])
        self.size, self.fresh, self.solved = kept, True, None

    @one_blas_thread()
    def best(self, k: int) -> Array:
        """The best ``k`` Ritz vectors."""
        return self.rotated(self.ritz()[1][:, : min(k, self.size)])

    def rotated(self, S: Array) -> Array:
        """Q S."""
        return np.asarray(self.Q[:, : self.size] @ S.astype(self.dtype))

    def worth_a_look(self) -> bool:
        """Not after every block of a small map: solving the small problem takes time too."""
        large = len(self.Q) * self.last > 8 * OFTEN
        return bool(self.products - self.looked >= self.last * (1 if large else self.wait))

    def look_after(self, worst: float) -> None:
        """When to look again, residuals being at worst so many times too large.

        They fall by a decade a block at most, as a rule, and hardly faster than lately.
        """
        way = float(np.log10(min(max(worst, 1.0), 1e12)))
        lately = (self.way - way) * self.last / max(self.products - self.looked, 1)
        blocks = min(max(way, 2.0), 0.6 * way / lately if lately > 0 else np.inf)
        self.wait, self.way, self.looked = int(min(max(blocks, 1), 4)), way, self.products

    def explored(self) -> bool:
        """Whether the last random block was followed for as long as the one before it needed."""
        return self.products - self.entered >= self.patience

    def may_hide(self, wanted: Array, tol: float, floor: float) -> bool:
        """Whether so many wanted values are equal that more copies could be out of sight."""
        size = np.maximum(np.abs(wanted[1:]), floor * self.norm)  # what residuals were judged by
        near = np.abs(np.diff(wanted)) <= tol * size
        longest = run = 1
        for close in near:
            run = run + 1 if close else 1
            longest = max(longest, run)
        return longest >= self.random_columns

    def _random(self, b: int) -> Array:
        return self.rng.standard_normal((self.Q.shape[0], b)).astype(self.dtype)

    def _clean(self, X: Array, rounds: int = 2) -> Array:
        """X made orthogonal to Q and to itself, to working precision."""
        X = np.ascontiguousarray(X)
        for _ in range(rounds):
            subtract(self.Q, 0, self.size, project(self.Q, 0, self.size, X), X)
            X = np.ascontiguousarray(np.linalg.qr(X)[0], dtype=self.dtype)
        return X


def audited(A: LinearMap, V: Array, which: str, tol: float, norm: float, unit: float) -> Eigenpairs:
    """A last Rayleigh-Ritz on fresh products: values to second order, residuals measured.

    ``unit`` is a power of two that brings A near 1, ``norm`` the size of A times ``unit``.
    """
    with one_blas_thread():
        V = _polished(V)
    AV = np.asarray(A @ V)
    with one_blas_thread():
        H = _inner(V, AV, unit)
        values, S = np.linalg.eigh((H + H.T) / 2)
        if which == "largest":
            values, S = values[::-1], S[:, ::-1]
        S = S.astype(V.dtype)
        V, AV = V @ S, AV @ S
    return Eigenpairs.of(
        A, values / unit, V, which=which, tolerance=tol, scale=norm / unit, image=AV
    )


def _polished(V: Array) -> Array:
    """An orthonormal basis of V's columns, which nearly are one."""
    G = gram(V)
    if np.abs(G - np.eye(len(G))).max(initial=0.0) < 1e-3:
        return np.asarray(V @ _inverse_root(G).astype(V.dtype))
    return np.ascontiguousarray(np.linalg.qr(V)[0])


def apply(A: LinearMap, V: Array) -> Array:
    """A V, by our own thin product where A is an array."""
    return times(A, V) if isinstance(A, np.ndarray) else A @ V


def orthonormal(X: Array, noise: float) -> Array:
    """An orthonormal basis of X's columns, without the directions shorter than ``noise``."""
    return _orthonormal(X, gram(X), noise)[0]


def _orthonormal(X: Array, G: Array, noise: float) -> tuple[Array, Array]:
    """B and R, X = B R: an orthonormal basis, without the directions shorter than ``noise``.

    G = X' X = E D E' gives the basis B = X E D^-1/2 and R = D^1/2 E'. Squaring blurs directions
    much shorter than the longest, so those are taken in a second round, after the long ones are
    removed from them.
    """
    D, E = np.linalg.eigh(G)
    longest = float(D[-1]) if len(D) else 0.0
    if longest <= noise**2:
        return X[:, :0], np.zeros((0, X.shape[1]))
    clear = max(noise**2, 1e-8 * longest) < D
    roots = np.sqrt(D[clear])
    B = turned(X, E[:, clear] / roots)
    if clear.all() and X.dtype == np.float32 and X.shape[1] == 4:  # D has digits to spare
        return B, roots[:, None] * E.T
    B = turned(B, _inverse_root(gram(B)))
    rest = np.ascontiguousarray(X @ E[:, ~clear].astype(X.dtype))
    if rest.shape[1] and longest * 1e-8 > noise**2:
        for _ in range(2):
            rest -= B @ (B.T @ rest)
        B = np.concatenate([B, orthonormal(rest, noise)], axis=1)
        B = turned(B, _inverse_root(gram(B)))
    B = np.ascontiguousarray(B)
    return B, project(B, 0, B.shape[1], X)


def _inner(X: Array, Y: Array, unit: float) -> Array:
    """X' Y times ``unit`` in float64, a slice of rows at a time."""
    total = np.zeros((X.shape[1], Y.shape[1]))
    step = max(1, 400_000 // max(X.shape[1], 1))
    for a in range(0, len(X), step):
        left, right = (np.asarray(part[a : a + step], np.float64) for part in (X, Y))
        total += left.T @ (right if unit == 1 else right * unit)
    return total


def _inverse_root(G: Array) -> Array:
    """G^-1/2 of a matrix near the identity."""
    D, E = np.linalg.eigh(G)
    return np.asarray((E / np.sqrt(D)) @ E.T)


def _allowed(values: Array, tol: float, norm: float, dtype: np.dtype[Any], floor: float) -> Array:
    """Residuals to reach: half the tolerance of each value, or as small as makes sense.

    Asking relative to the pair's own value keeps small pairs accurate; below a thousandth of the
    largest (``floor``), or at rounding, nobody gains from asking for more.
    """
    wanted = 0.5 * tol * np.maximum(np.abs(values), floor * norm)
    rounding = min(20 * float(np.finfo(dtype).eps), 0.5 * tol) * norm
    return np.maximum(wanted, max(rounding, _tiny))


def _worst(values: Array, residuals: Array, wanted: Array, more: int, least: float | None) -> float:
    """How many times too large a residual is, at most.

    Pairs are judged by the residuals ``wanted`` of them, ``more`` that follow by their own values,
    and the last, if ``least`` is given, by its value or by that.
    """
    k = len(wanted)
    rough = np.maximum(ROUGHLY * np.abs(values[k : k + more]), _tiny)
    found = [residuals[:k] / wanted, residuals[k : k + more] / rough]
    if least is not None:
        found.append(residuals[-1:] / max(-OTHER_END[0] * values[-1], least, _tiny))
    return float(np.concatenate(found).max())

"""Nystrom approximation from pivots chosen at random, a declared approximation with its own error.

1. pivots    again and again: draw points with probability proportional to what is left of the
             diagonal, and take their columns out of K (randomly pivoted Cholesky)
2. factor    K ~ F F',  F = K[:, P] L^-T  where  K[P, P] = L L'
3. embed     (H F)'(H F) = S M S',  Z = H F S: the pairs of H F F' H without forming it
4. new point f = k(x, P) L^-T,  z = (f - mean f) S
5. error     (trace K - trace F F') / trace K: the share of the diagonal that was not caught

Y. Chen, E. N. Epperly, J. A. Tropp and R. J. Webber, Randomly pivoted Cholesky (2022).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
import scipy.linalg

from gramian.errors import InputError, MemoryRefusedError
from gramian.maps import Array
from gramian.memory import budget, in_words
from gramian.spectral.pairs import Eigenpairs
from gramian.spectral.plan import Plan

Similarity = Callable[[Array, Array], Array]
_numbers = 400_000  # of F in float64 at a time
_rounding = 10  # units in the last place of the largest similarity, below which nothing is left


@dataclass(frozen=True)
class NystromEmbedding:
    """Coordinates from similarities to a few pivots; the verbs of ``GramEmbedding``.

    Attributes
    ----------
    pivots : array of int
        The points whose columns were used.
    pairs : Eigenpairs
        Of the approximation.
    trace : float
        Of the (centered) approximation.
    error : float
        Share of the trace of K that the approximation misses.
    """

    pivots: Array
    pairs: Eigenpairs
    factor: Array  # L^-T S, from similarities to coordinates
    mean: Array  # of those coordinates, before they are centered
    toward: Array  # L^-T (mean of F): a new point's similarity to the mean of all
    own: float  # of the mean of all with itself
    trace: float
    error: float
    plan: Plan

    keeps: ClassVar[dict[str, Any]] = {
        "pivots": "r -> n",
        "pairs": Eigenpairs,
        "factor": "r k",
        "mean": "k",
        "toward": "r",
        "own": float,
        "trace": float,
        "error": float,
        "plan": Plan,
    }

    @staticmethod
    def of(
        columns: Callable[[Array], Array],
        diagonal: Array,
        rank: int,
        k: int,
        plan: Plan,
        center: bool,
        rng: np.random.Generator,
        tolerance: float,
        *,
        definite: bool = True,
    ) -> NystromEmbedding:
        """From a function that gives columns of K, and K's diagonal.

        ``definite`` says that K is positive semi-definite by theorem; else it is refused if it is
        seen not to be, on the way.
        """
        F, pivots = pivoted_cholesky(columns, diagonal, rank, rng, definite=definite)
        L = F[pivots].astype(np.float64)  # lower triangular, as the pivots were taken
        caught = sum(float(np.vdot(part, part)) for _, part in _blocks(F))
        mean = F.mean(axis=0, dtype=np.float64) if center else np.zeros(F.shape[1])
        F -= mean.astype(F.dtype)  # now H F, in its own memory
        C = np.zeros((len(L), len(L)))
        for _, part in _blocks(F):
            C += part.T @ part
        M, S = np.linalg.eigh((C + C.T) / 2)
        M, S = np.maximum(M[::-1], 0.0), S[:, ::-1][:, :k]
        _refuse_equal(M, float(diagonal.sum()), F.dtype)
        Z = np.concatenate([part @ S for _, part in _blocks(F)])
        lengths = np.linalg.norm(Z, axis=0)
        V = np.divide(Z, lengths, out=np.zeros_like(Z), where=lengths > 1e-9 * lengths.max())
        FV = np.zeros((len(L), V.shape[1]))
        for rows, part in _blocks(F):
            FV += part.T @ V[rows]
        image = np.concatenate([part @ FV for _, part in _blocks(F)])
        pairs = Eigenpairs.of(C, M[:k], V, tolerance=tolerance, image=image)
        flip = np.sign(np.einsum("ij,ij->j", pairs.vectors, Z))
        S = S * np.where(flip == 0, 1, flip)
        factor = scipy.linalg.solve_triangular(L.T, S, lower=False)
        error = max(1 - caught / float(diagonal.sum()), 0.0)
        toward = scipy.linalg.solve_triangular(L.T, mean, lower=False)
        own = float(mean @ mean)
        trace = float(M.sum())
        return NystromEmbedding(pivots, pairs, factor, mean @ S, toward, own, trace, error, plan)

    @staticmethod
    def far(
        rows: Any,
        kernel: Similarity,
        diagonal: Callable[[Similarity, Array], Array],
        rank: int,
        k: int,
        center: bool,
        rng: np.random.Generator,
        tolerance: float,
        *,
        definite: bool = True,
    ) -> tuple[NystromEmbedding, Array]:
        """The same from rows on workers or in a file, and the pivots' own points.

        F is never stored: a block of it is k(x, P) L^-T, made anew whenever it is visited. What
        is held are sums over blocks, the points P, and C = (H F)'(H F).
        """
        P, L, total = far_pivots(rows, kernel, diagonal, rank, rng, definite=definite)
        lazily = rows.mapped(partial(_factor_rows, kernel, P, L), len(L), rows.dtype)
        m = lazily.moments(np.ones(1))
        mean, C = m.high / m.unit, _cross_of(lazily, m)
        caught = float(np.trace(C)) + m.weight * float(mean @ mean)
        if not center:
            C += m.weight * np.outer(mean, mean)
            mean = np.zeros_like(mean)
        M, S = np.linalg.eigh((C + C.T) / 2)
        M, S = np.maximum(M[::-1], 0.0), S[:, ::-1][:, :k]
        _refuse_equal(M, total, rows.dtype)
        extremes = np.stack(lazily.each(_extreme, mean, S))
        S = S * np.sign(extremes[np.argmax(np.abs(extremes), axis=0), np.arange(k)])
        beside = C @ S - S * M[:k]
        lengths = np.sqrt(np.where(M[:k] > 1e-18 * M[0], M[:k], np.inf))
        norms = np.sqrt(np.maximum(np.einsum("ij,ij->j", beside, C @ beside), 0.0)) / lengths
        V = lazily.turned(mean, S / lengths)
        pairs = Eigenpairs(M[:k], V, norms / M[0], float(M[0]), tolerance)
        factor = scipy.linalg.solve_triangular(L.T, S, lower=False)
        toward = scipy.linalg.solve_triangular(L.T, mean, lower=False)
        where = "on the workers" if hasattr(rows, "lazy") else "by visits to the file"
        route = f"{len(L)} landmarks by randomly pivoted Cholesky {where}"
        plan = Plan(route, "landmarks", None, 32 * len(L) ** 2, rows.passes)  # type: ignore[arg-type]
        error = max(1 - caught / total, 0.0)
        own, trace = float(mean @ mean), float(M.sum())
        found = NystromEmbedding(
            np.arange(len(L)), pairs, factor, mean @ S, toward, own, trace, error, plan
        )
        return found, P

    @property
    def coordinates(self) -> Array:
        """Z, of shape (n, k)."""
        return self.pairs.coordinates()

    def place(self, rows: Array) -> Array:
        """Coordinates of new points from their similarities to the pivots (m, r)."""
        return np.asarray(rows @ self.factor - self.mean)

    def residual(self, rows: Array, own: Array) -> Array:
        """How far new points lie outside the space of the axes, as far as the pivots see."""
        lengths = own - 2 * (rows @ self.toward) + self.own
        return np.asarray(np.sqrt(np.maximum(lengths - np.sum(self.place(rows) ** 2, axis=1), 0.0)))


def pivoted_cholesky(
    columns: Callable[[Array], Array],
    diagonal: Array,
    rank: int,
    rng: np.random.Generator,
    *,
    definite: bool = True,
) -> tuple[Array, Array]:
    """F (n x r) with K ~ F F' and its pivots, r <= rank, taken a block at a time."""
    n = len(diagonal)
    first = columns(np.array([0]))
    F = np.zeros((n, rank), first.dtype)
    most = float(np.abs(diagonal).max())
    least = _rounding * float(np.finfo(F.dtype).eps) * most
    left = _remaining(diagonal.astype(np.float64), least)
    floor = 1e-12 * left.sum()
    if not definite:
        refuse_indefinite(float(diagonal.min()), most, F.dtype)
    pivots: list[int] = []
    while len(pivots) < rank and left.sum() > floor:
        r = len(pivots)
        many = min(64, rank - r, int(np.count_nonzero(left)))
        drawn = np.unique(rng.choice(n, size=many, p=left / left.sum()))
        G = columns(drawn)
        taken = F[drawn, :r].T.astype(np.float64)
        L, order = _cholesky(G[drawn].astype(np.float64) - taken.T @ taken, least)
        drawn = drawn[order]
        for rows, part in _blocks(F[:, :r], len(L)):
            beside = G[rows].astype(np.float64) - part @ taken
            new = scipy.linalg.solve_triangular(L, beside[:, order].T, lower=True).T
            F[rows, r : r + len(drawn)] = new
            left[rows] -= np.einsum("ij,ij->i", new, new)
        if not definite:
            refuse_indefinite(float(left.min()), most, F.dtype)
        left = _remaining(left, least)
        left[drawn] = 0.0
        pivots += drawn.tolist()
    if not pivots:
        _refuse_nothing()
    return F[:, : len(pivots)], np.array(pivots)


def far_pivots(
    rows: Any,
    kernel: Similarity,
    diagonal: Callable[[Similarity, Array], Array],
    rank: int,
    rng: np.random.Generator,
    *,
    definite: bool = True,
) -> tuple[Array, Array, float]:
    """Points and Cholesky factor of pivots drawn as ``pivoted_cholesky`` does, and trace K.

    Two visits for every 64: how much of the diagonal is left in each block, and which points the
    draws fell on.
    """
    P, L = np.zeros((0, rows.shape[1]), rows.dtype), np.zeros((0, 0))
    taken = np.zeros(0, np.intp)
    total = most = least = 0.0
    while len(P) < rank:
        how = kernel, diagonal, P, L, taken, least
        left, nonzero, ends = map(np.array, zip(*rows.each(_left_over, *how), strict=True))
        if not len(P):
            total, most = float(left.sum()), float(np.abs(ends).max())
            if not np.isfinite([total, most]).all():
                raise InputError("the kernel is not finite; scale the data, or change gamma")
            least = _rounding * float(np.finfo(rows.dtype).eps) * most
        if not definite:
            refuse_indefinite(float(ends.min()), most, rows.dtype)
        if left.sum() <= 1e-12 * total:
            break
        ends = np.cumsum(left)
        targets = np.sort(rng.random(min(64, rank - len(P), int(nonzero.sum()))) * ends[-1])
        inside = np.minimum(np.searchsorted(ends, targets, side="right"), len(ends) - 1)
        wanted = [targets[inside == b] - (ends[b] - left[b]) for b in range(len(ends))]
        drawn = rows.each(_found_at, *how, apart=wanted)
        numbers = np.concatenate([found for found, _ in drawn])
        new = np.concatenate([points for _, points in drawn])
        B = _solved(L, kernel(new, P)) if len(P) else np.zeros((len(new), 0))
        fresh, order = _cholesky(np.asarray(kernel(new, new), np.float64) - B @ B.T, least)
        L = np.block([[L, np.zeros((len(L), len(fresh)))], [B[order], fresh]])
        P, taken = np.concatenate([P, new[order]]), np.concatenate([taken, numbers[order]])
    if not len(P):
        _refuse_nothing()
    return P, L, total


def refuse_indefinite(lowest: float, most: float, dtype: Any) -> None:
    """Raise if ``lowest``, an eigenvalue or what is left of a diagonal, is negative.

    ``most`` is the largest of them, which says what is rounding.
    """
    if lowest < -10 * np.sqrt(np.finfo(dtype).eps) * most:
        raise InputError(
            "landmarks are for positive semi-definite kernels, and of these points this one is "
            "not; use all points (no landmarks=), or another kernel"
        )


def _refuse_nothing() -> None:
    raise InputError("the kernel of every point with itself is 0: there is nothing to embed")


def _refuse_equal(values: Array, total: float, dtype: Any) -> None:
    """Of a centered kernel, by its eigenvalues and the trace it had before."""
    if values[0] <= (_rounding * np.finfo(dtype).eps) ** 2 * total:
        raise InputError("all points are equal (to this kernel): there is nothing to embed")


def _remaining(left: Array, least: float) -> Array:
    """What is left of a diagonal, without what is rounding alone."""
    return np.where(left > least, left, 0.0)


def _solved(L: Array, K: Array) -> Array:
    """K L^-T, in float64."""
    solved = scipy.linalg.solve_triangular(L, np.asarray(K, np.float64).T, lower=True)
    return np.asarray(solved.T)


def _left(
    Y: Any, begin: int, kernel: Any, diagonal: Any, P: Array, L: Array, taken: Array
) -> tuple[Array, Array]:
    """The points of a block, and what is left of their diagonal."""
    X = Y.read_rows(slice(0, Y.shape[0]))
    left = diagonal(kernel, X).astype(np.float64)
    if len(P):
        F = _solved(L, kernel(X, P))
        left -= np.einsum("ij,ij->i", F, F)
    here = taken[(taken >= begin) & (taken < begin + len(X))] - begin
    left[here] = 0.0
    return X, left


def _left_over(
    Y: Any, begin: int, kernel: Any, diagonal: Any, P: Array, L: Array, taken: Array, least: float
) -> tuple[float, int, tuple[float, float]]:
    """What is left in a block: its sum, of how many points, and its extremes."""
    left = _left(Y, begin, kernel, diagonal, P, L, taken)[1]
    remains = _remaining(left, least)
    return (
        float(remains.sum()),
        int(np.count_nonzero(remains)),
        (left.min(initial=0.0), left.max(initial=0.0)),
    )


def _found_at(
    Y: Any,
    begin: int,
    kernel: Any,
    diagonal: Any,
    P: Array,
    L: Array,
    taken: Array,
    least: float,
    targets: Array,
) -> tuple[Array, Array]:
    """Numbers and points that the draws, the ``targets``, fell on."""
    if not len(targets):
        return np.zeros(0, np.intp), np.zeros((0, Y.shape[1]), Y.dtype)
    X, left = _left(Y, begin, kernel, diagonal, P, L, taken)
    left = _remaining(left, least)
    at = np.searchsorted(np.cumsum(left), targets, side="right")
    at = np.unique(np.minimum(at, np.flatnonzero(left)[-1]))
    return at + begin, np.asarray(X[at])


def _factor_rows(kernel: Similarity, P: Array, L: Array, X: Array, _: slice) -> Array:
    return _solved(L, kernel(X, P)).astype(X.dtype)


def _extreme(F: Any, begin: int, mean: Array, S: Array) -> Array:
    """The entry of largest size in each column of (F - mean) S, with its sign."""
    Z = (F.read_rows(slice(0, F.shape[0])).astype(np.float64) - mean) @ S
    return np.asarray(Z[np.argmax(np.abs(Z), axis=0), np.arange(Z.shape[1])])


def _cross_of(rows: Any, m: Any) -> Array:
    """(H F)'(H F) in the units of the data."""
    if m.cross is not None:
        return np.asarray(m.cross.matrix / m.unit**2)
    mean = m.high / m.unit
    return np.asarray(rows.cross() - m.weight * np.outer(mean, mean))


def _blocks(F: Array, least: int = 1) -> Iterator[tuple[slice, Array]]:
    """Rows of F in float64, a few at a time, as if they were at least so long."""
    step = max(1, _numbers // max(F.shape[1], least))
    for a in range(0, len(F), step):
        yield slice(a, a + step), F[a : a + step].astype(np.float64)


def nystrom_plan(
    n: int, rank: int, k: int, itemsize: int, memory: Any = None, *, held: bool = True
) -> Plan:
    """What an approximation of that rank needs; refused if the budget does not hold it.

    ``held`` says whether F is: it is not of points that are visited again and again.
    """
    needs = nystrom_bytes(n, rank, k, itemsize) if held else 2 * 8 * n * k + 4 * 8 * rank**2
    allowed = budget(memory)
    if needs > allowed:
        raise MemoryRefusedError(
            f"{rank} landmarks of {n} points need {in_words(needs)}, the budget is "
            f"{in_words(allowed)}; use fewer, or raise memory="
        )
    route = f"{rank} landmarks by randomly pivoted Cholesky, then a {rank} x {rank} eigenproblem"
    return Plan(route, "landmarks", None, needs)  # type: ignore[arg-type]


def nystrom_bytes(n: int, rank: int, k: int, itemsize: int) -> int:
    """Memory an approximation of that rank needs.

    F and up to 64 columns of K; the diagonal, what is left of it and odds; coordinates, vectors and
    their images; squares of side r, and blocks of F.
    """
    wide = (rank + min(rank, 64)) * itemsize
    return n * (wide + 40 + 40 * k) + 4 * 8 * rank**2 + 16_000_000


def _cholesky(A: Array, least: float) -> tuple[Array, Array]:
    """L of the rows and columns of A that are independent to rounding, and which those are."""
    most = A.diagonal().max()
    tol = max(1e-9 * most, min(least, most / 2))
    L, order, rank, _ = scipy.linalg.lapack.dpstrf((A + A.T) / 2, lower=1, tol=tol)
    return np.tril(L)[:rank, :rank], order[:rank] - 1

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
from typing import Any, ClassVar

import numpy as np
import scipy.linalg

from gramian.errors import MemoryRefusedError
from gramian.maps import Array
from gramian.memory import budget, in_words
from gramian.spectral.pairs import Eigenpairs
from gramian.spectral.plan import Plan


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
    ) -> NystromEmbedding:
        """From a function that gives columns of K, and K's diagonal."""
        F, pivots = pivoted_cholesky(columns, diagonal, rank, rng)
        L = F[pivots].astype(np.float64)  # lower triangular, as the pivots were taken
        caught = sum(float(np.vdot(part, part)) for _, part in _blocks(F))
        mean = F.mean(axis=0, dtype=np.float64) if center else np.zeros(F.shape[1])
        F -= mean.astype(F.dtype)  # now H F, in its own memory
        C = np.zeros((len(L), len(L)))
        for _, part in _blocks(F):
            C += part.T @ part
        M, S = np.linalg.eigh((C + C.T) / 2)
        M, S = np.maximum(M[::-1], 0.0), S[:, ::-1][:, :k]
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
    columns: Callable[[Array], Array], diagonal: Array, rank: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """F (n x r) with K ~ F F' and its pivots, r <= rank, taken a block at a time."""
    n = len(diagonal)
    left = np.maximum(diagonal.astype(np.float64), 0.0)
    floor = 1e-12 * left.sum()
    first = columns(np.array([0]))
    F = np.zeros((n, rank), first.dtype)
    pivots: list[int] = []
    while len(pivots) < rank and left.sum() > floor:
        r = len(pivots)
        many = min(64, rank - r, int(np.count_nonzero(left)))
        drawn = np.unique(rng.choice(n, size=many, p=left / left.sum()))
        G = columns(drawn).astype(np.float64)
        taken = F[drawn, :r].T.astype(np.float64)
        for rows, part in _blocks(F[:, :r]):
            G[rows] -= part @ taken
        L, order = _cholesky(G[drawn])
        drawn = drawn[order]
        new = scipy.linalg.solve_triangular(L, G[:, order].T, lower=True).T
        F[:, r : r + len(drawn)] = new
        left = np.maximum(left - np.einsum("ij,ij->i", new, new), 0.0)
        left[drawn] = 0.0
        pivots += drawn.tolist()
    return F[:, : len(pivots)], np.array(pivots)


def _blocks(F: Array) -> Iterator[tuple[slice, Array]]:
    """Rows of F in float64, a few at a time."""
    step = max(1, 1_000_000 // max(F.shape[1], 1))
    for a in range(0, len(F), step):
        yield slice(a, a + step), F[a : a + step].astype(np.float64)


def nystrom_plan(n: int, rank: int, itemsize: int, memory: Any = None) -> Plan:
    """What an approximation of that rank needs; refused if the budget does not hold it."""
    needs, allowed = nystrom_bytes(n, rank, itemsize), budget(memory)
    if needs > allowed:
        raise MemoryRefusedError(
            f"{rank} landmarks of {n} points need {in_words(needs)}, the budget is "
            f"{in_words(allowed)}; use fewer, or raise memory="
        )
    route = f"{rank} landmarks by randomly pivoted Cholesky, then a {rank} x {rank} eigenproblem"
    return Plan(route, "landmarks", None, needs)  # type: ignore[arg-type]


def nystrom_bytes(n: int, rank: int, itemsize: int) -> int:
    """Memory an approximation of that rank needs: F, and six blocks of 64 columns in float64."""
    return n * rank * itemsize + 6 * 64 * 8 * n + 4 * 8 * rank**2 + 40_000_000


def _cholesky(A: Array) -> tuple[Array, Array]:
    """L of the rows and columns of A that are independent to rounding, and which those are."""
    L, order, rank, _ = scipy.linalg.lapack.dpstrf((A + A.T) / 2, lower=1, tol=1e-9 * A.max())
    return np.tril(L)[:rank, :rank], order[:rank] - 1

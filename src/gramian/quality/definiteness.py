"""Definiteness with certificates: a verdict, and the vector that proves a "no".

1. p.s.d.    v'K v >= 0 for every v
2. c.n.d.    v'C v <= 0 for every v with 1'v = 0
3. lemma     B_alpha = -1/2 H_alpha C H_alpha',  H_alpha = I - 1 alpha',  sum of alpha = 1:
             C is c.n.d. if and only if B_alpha is p.s.d., whatever alpha
4. theorem   C with zero diagonal is a matrix of squared Euclidean distances iff it is c.n.d.
5. Hilbert   ... and iff exp(-lambda C) is p.s.d. for a sequence of lambda that falls to 0

Young and Householder, Psychometrika 3 (1938); Schoenberg, Annals of Mathematics 36 (1935) and
Transactions of the AMS 44 (1938). A "yes" is up to rounding: eigenvalues above -n eps times the
largest in size (of the type of the data), and above the residual of an iterative solution. Once
lambda C is below rounding, 5 looks at -lambda C on vectors with 1'v = 0, as 2 does: they agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.data.dissimilarities import open_distances
from gramian.errors import InputError, MemoryRefusedError
from gramian.maps import Array
from gramian.memory import budget, in_words
from gramian.spectral.eigenpairs import eigenpairs, symmetric
from gramian.spectral.krylov import BlockKrylov

_dense = 4000  # points up to which LAPACK finds the smallest pair; beyond, block Krylov


@dataclass(frozen=True)
class Definiteness:
    """A verdict on a quadratic form.

    Attributes
    ----------
    holds : bool
    smallest : float
        The smallest eigenvalue of K (p.s.d.) or of -1/2 H C H (c.n.d.).
    tolerance : float
        What counts as rounding: ``holds`` means ``smallest >= -tolerance``.
    vector : ndarray of shape (n,) or None
        The proof of a "no": of unit length, v'K v < 0; or with 1'v = 0 and v'C v > 0.
    form : float or None
        That v'K v or v'C v, computed from the matrix itself.
    """

    holds: bool
    smallest: float
    tolerance: float
    vector: Array | None = None
    form: float | None = None


@dataclass(frozen=True)
class HilbertTest:
    """Schoenberg's test: is exp(-lambda d^2) p.s.d. for lambda falling to 0.

    Attributes
    ----------
    holds : bool
    lambdas : ndarray
        Falling; the first is 1 / (largest squared distance), the last decides.
    smallest : ndarray
        For each lambda the smallest v'K v / v'v that was found.
    """

    holds: bool
    lambdas: Array
    smallest: Array


def centered(C: Array, alpha: Array | None = None) -> Array:
    """B_alpha = -1/2 H_alpha C H_alpha' with H_alpha = I - 1 alpha'.

    Parameters
    ----------
    C : ndarray of shape (n, n)
        Squared distances.
    alpha : ndarray of shape (n,), optional
        Weights of either sign that sum to 1: where the origin lies. Default: 1/n each, the mean;
        the unit vector of a point makes that point the origin.

    Returns
    -------
    ndarray of shape (n, n), float64
    """
    C = _square(C, "the matrix of squared distances").astype(np.float64, copy=False)
    n = len(C)
    if not np.isfinite(C).all():
        i, j = np.argwhere(~np.isfinite(C))[0]
        raise InputError(
            f"the matrix of squared distances holds {C[i, j]} at row {i}, column {j}; fill it in"
        )
    alpha = np.full(n, 1.0 / n) if alpha is None else _numbers(alpha)
    if alpha is None or alpha.shape != (n,):
        raise InputError(f"alpha must be {n} weights that sum to 1, one a point")
    alpha = alpha.astype(np.float64, copy=False)
    if not abs(alpha.sum() - 1) <= n * 2.0**-50 * np.abs(alpha).sum():
        raise InputError(f"alpha must be {n} weights that sum to 1, got {alpha.sum():.6g}")
    B = C - alpha @ C  # H C, row by row: subtract the weighted mean of each column
    B -= (B @ alpha)[:, None]
    B *= -0.5
    return B


def positive_semidefinite(K: Any, memory: Any = None) -> Definiteness:
    """Whether a symmetric matrix is p.s.d., and a vector that proves it where it is not."""
    K = _square(K, "the kernel matrix")
    eps = eps_of(K.dtype)
    K = symmetric(K, "the kernel matrix")
    smallest, v, slack = smallest_pair(K, eps, memory)
    if smallest >= -slack:
        return Definiteness(True, smallest, slack)
    return Definiteness(False, smallest, slack, v, float(v @ K @ v))


def conditionally_negative_definite(C: Any, memory: Any = None) -> Definiteness:
    """Whether a symmetric matrix is c.n.d.: for squared distances, whether they are Euclidean."""
    C = _square(C, "the matrix of squared distances")
    eps = eps_of(C.dtype)
    C = symmetric(C, "the matrix of squared distances")
    smallest, v, slack = smallest_pair(centered(C), eps, memory)
    if smallest >= -slack:
        return Definiteness(True, smallest, slack)
    v = v - v.mean()
    v /= np.linalg.norm(v)
    return Definiteness(False, smallest, slack, v, float(v @ C @ v))


def hilbert_embedding(D: Any, steps: int = 12, memory: Any = None) -> HilbertTest:
    """Schoenberg's test that distances can be had in a Hilbert space.

    Parameters
    ----------
    D : distances, as :func:`gramian.data.dissimilarities.open_distances` takes them
    steps : int
        How many lambda are tried (1 to 100), each a 32nd of the one before. What is negative by
        less than about 32^(1 - steps) of the largest eigenvalue is not seen: with 12 or more, that
        is below rounding, and the answer is that of ``conditionally_negative_definite``.
    memory : int, str or None

    Returns
    -------
    HilbertTest

    Notes
    -----
    K = 1 1' + E with E = expm1(-lambda d^2), which keeps its digits for small lambda; on vectors
    with 1'v = 0 K and E are the same form, so E is looked at there, beside K on all vectors.
    """
    if isinstance(steps, bool) or not isinstance(steps, (int, np.integer)) or not 1 <= steps <= 100:
        raise InputError(f"steps={steps!r}: a whole number from 1 to 100 is needed")
    D, _, unit = scaled(D, memory)
    eps = eps_of(D.dtype)
    C = np.square(D, dtype=np.float64)
    lambdas, found, holds = 32.0 ** -np.arange(steps) / C.max(), np.empty(steps), True
    for i, step in enumerate(lambdas):
        E = np.expm1(-step * C)
        forms = [smallest_pair(1 + E, eps, memory), smallest_pair(-2 * centered(E), eps, memory)]
        found[i] = min(smallest for smallest, _, _ in forms)
        holds = holds and all(smallest >= -slack for smallest, _, slack in forms)
    return HilbertTest(holds, lambdas * unit**2, found)


def scaled(
    source: Any, memory: Any, matrices: int = 4
) -> tuple[Array, tuple[str, ...] | None, float]:
    """Distances near 1 (times a power of two, which is returned), with their labels.

    So that squares neither overflow nor vanish. ``matrices`` of float64 must fit the budget.
    """
    opened = open_distances(source, memory)
    n = opened.D.shape[0]
    needed = 8 * n * n * matrices
    if needed > budget(memory) or not isinstance(opened.D, np.ndarray):
        raise MemoryRefusedError(
            f"to judge distances between {n} points takes {in_words(needed)}, "
            f"{in_words(budget(memory))} may be used; take a sample of the points, or allow more "
            "(memory=)"
        )
    exponent = int(np.clip(-np.frexp(opened.D.max())[1], -1000, 1000))
    return np.ldexp(opened.D, exponent), opened.labels, 2.0**exponent


def smallest_pair(B: Array, eps: float, memory: Any) -> tuple[float, Array, float]:
    """The smallest eigenvalue of B, its vector, and what counts as rounding."""
    n = len(B)
    solver = "dense" if n <= _dense else BlockKrylov(tol=1e-9)
    pairs = eigenpairs(B, 1, which="smallest", solver=solver, memory=memory)
    size = max(float(np.abs(B).max()), pairs.scale)
    slack = max(8, n) * eps * size
    if solver != "dense":
        slack = max(slack, float(pairs.residuals[0]) * size)
    return float(pairs.values[0]), pairs.vectors[:, 0].astype(np.float64), slack


def _numbers(value: Any) -> Array | None:
    """Real numbers as an array; None if they are something else."""
    try:
        found = np.asarray(value)
    except ValueError:  # rows of unequal length
        return None
    return found if found.dtype.kind in "fiub" else None


def _square(value: Any, what: str) -> Array:
    """A square array of real numbers, at least one."""
    found = _numbers(value)
    if found is None:
        raise InputError(f"{what} must hold real numbers, rows of equal length")
    if found.ndim != 2 or found.shape[0] != found.shape[1] or not found.size:
        raise InputError(f"{what} must be square, got shape {found.shape}")
    return found


def eps_of(dtype: Any) -> float:
    """The rounding of a type; that of float64 for whole numbers."""
    return float(np.finfo(dtype).eps) if np.dtype(dtype).kind == "f" else 2.0**-52

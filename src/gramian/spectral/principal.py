"""Principal axes: the top eigenpairs of Y'Y, by the cheapest certified way.

    cross      C = Y'Y (p x p),  C = V L V'
    outer      G = YY' (n x n),  G = U L U',  V = Y' U L^-1/2
    products   block Krylov on v -> Y'(Y v), or on u -> Y(Y'u) where Y is sparse and wide
    refined    Y = Q R (blocks of rows, Householder),  R = . S V'   when squaring lost small values

Whatever the way, the pairs are audited on Y itself: |Y'Y v - l v| / l_1 is measured, or bounded by
what was measured.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg

from gramian.checkpoint import steps
from gramian.errors import MemoryRefusedError
from gramian.maps import Array, ImplicitMap
from gramian.memory import budget
from gramian.spectral.krylov import default_tolerance
from gramian.spectral.pairs import Eigenpairs, signs
from gramian.spectral.plan import DataMap, Plan, by_rows, plan_axes
from gramian.spectral.solvers import Dense, lent

Enough = Callable[[Array], int | None]


@dataclass(frozen=True)
class Axes:
    """Top eigenpairs of Y'Y with the plan that found them.

    ``log_volume`` is log det Y'Y where it came for free: minus infinity if Y'Y is singular,
    ``None`` where it would need the whole spectrum.
    """

    pairs: Eigenpairs
    plan: Plan
    log_volume: float | None = None

    def first(self, k: int) -> Axes:
        """The best ``k``."""
        return Axes(self.pairs.first(k), self.plan, self.log_volume)


class ColumnGram(ImplicitMap):
    """v -> Y'(Y v): symmetric, positive semi-definite, never formed."""

    def __init__(self, Y: DataMap) -> None:
        self.Y = Y
        self.shape = Y.shape[1], Y.shape[1]
        self.dtype = np.dtype(Y.dtype)
        self.block = getattr(Y, "block", None)

    def _times(self, V: Array) -> Array:
        return self.Y.gram(V)


class RowGram(ImplicitMap):
    """u -> Y (Y' u): the same for the other side."""

    def __init__(self, Y: DataMap) -> None:
        self.Y = Y
        self.shape = Y.shape[0], Y.shape[0]
        self.dtype = np.dtype(Y.dtype)
        self.block = getattr(Y, "block", None)

    def _times(self, U: Array) -> Array:
        if hasattr(self.Y, "row_gram"):  # in one visit
            return np.asarray(self.Y.row_gram(U))
        return np.asarray(self.Y @ self.Y.adjoint(U).astype(self.dtype, copy=False))


class Covariance(ImplicitMap):
    """Data known by Y'Y = S alone: stands where centered data would."""

    resident = True

    def __init__(self, S: Array) -> None:
        self.S, self.shape, self.dtype = S, (len(S), len(S)), S.dtype

    def gram(self, V: Array) -> Array:
        """Y'(Y V)."""
        return np.asarray(self.S @ V)

    def cross(self) -> Array:
        """Y'Y."""
        return self.S


def principal_axes(
    Y: DataMap,
    k: int,
    *,
    solver: Any = "auto",
    memory: Any = None,
    rng: np.random.Generator | None = None,
) -> Axes:
    """The top ``k`` eigenpairs of Y'Y, audited; beyond min(n, p) they are 0, in any direction."""
    reach = min(Y.shape)
    if k > reach:
        found = principal_axes(Y, reach, solver=solver, memory=memory, rng=rng)
        values = np.pad(found.pairs.values, (0, k - reach))
        return replace(found, pairs=_audited(Y, values, completed(found.pairs.vectors, k)))
    plan = plan_axes(Y, k, solver, memory)
    if plan.kind != "products":
        return _squared(Y, k, plan, rng)
    if by_rows(Y):
        pairs = plan.solver(RowGram(Y), k, "largest", rng)
        if not _lost(pairs, Y, k):
            return Axes(_turned(Y, pairs, None), plan)
    else:
        pairs = plan.solver(ColumnGram(Y), k, "largest", rng)
    if _lost(pairs, Y, k) and 24 * min(Y.shape) ** 2 < budget(memory):
        return _refined(Y, k, plan)
    if not pairs.certified and solver == "auto":
        # the exact way, if there is room for it; else the pairs go out with their residuals
        with suppress(MemoryRefusedError):
            return _squared(Y, k, plan_axes(Y, k, Dense(), memory), rng)
    return Axes(pairs, plan)


def principal_axes_until(
    Y: DataMap,
    enough: Enough,
    *,
    solver: Any = "auto",
    memory: Any = None,
    rng: np.random.Generator | None = None,
) -> Axes:
    """As many axes as ``enough(values)`` asks for: it returns how many, or ``None`` for "more".

    The whole spectrum is not needed to know that a share of it is reached: the total is known
    from the variances, so the number of axes grows until the sum says enough.
    """
    most = min(Y.shape)
    k = most if most <= 600 else min(most, 64)
    while True:
        found = principal_axes(Y, k, solver=solver, memory=memory, rng=rng)
        wanted = enough(found.pairs.values)
        if wanted is not None or k == most:
            return found.first(k if wanted is None else wanted)
        k = min(2 * k, most)


def row_pairs(
    Y: DataMap,
    k: int,
    *,
    solver: Any = "auto",
    memory: Any = None,
    rng: np.random.Generator | None = None,
) -> Axes:
    """The top ``k`` eigenpairs of YY', on the side of the rows, audited on products with Y."""
    plan = plan_axes(Y, k, solver, memory, rows=True)
    if plan.kind == "products":
        pairs = plan.solver(RowGram(Y), k, "largest", rng)
        if pairs.certified or solver != "auto":
            return Axes(pairs, plan)
        try:
            plan = plan_axes(Y, k, Dense(), memory, rows=True)
        except MemoryRefusedError:  # the pairs go out with their residuals
            return Axes(pairs, plan)
    found = plan.solver(Y.outer(), k, "largest", rng)
    tolerance = default_tolerance(np.dtype(Y.dtype))
    pairs = Eigenpairs.of(RowGram(Y), found.values, found.vectors, tolerance=tolerance)
    return Axes(pairs, plan)


def _squared(Y: DataMap, k: int, plan: Plan, rng: np.random.Generator | None) -> Axes:
    """By Y'Y or YY', whichever is smaller."""
    n, p = Y.shape
    if plan.kind == "cross":
        C, known = Y.cross(), getattr(Y, "known_cross", None)
        solver, ours = plan.solver, known is not None
        if ours and isinstance(solver, Dense):
            solver = replace(solver, ours=True)
        pairs = solver(C, k, "largest", rng)
        if _lost(pairs, Y, k):
            return _refined(Y, k, plan)
        if known is None:
            pairs = _audited(Y, pairs.values, pairs.vectors)
            return Axes(pairs, plan, _log_det(C, ours))
        # C came with a measured bound on its distance from Y'Y: that completes the certificate
        residuals = pairs.residuals + known.error / pairs.scale
        tolerance = default_tolerance(np.dtype(Y.dtype))
        pairs = replace(pairs, residuals=residuals, tolerance=tolerance)
        return Axes(pairs, plan, _log_det(C, ours))
    probed = getattr(Y, "probed_outer", lambda: None)()
    G = Y.outer() if probed is None else probed.matrix
    pairs = plan.solver(G, k, "largest", rng)
    if _lost(pairs, Y, k):
        return _refined(Y, k, plan)
    return Axes(_turned(Y, pairs, probed), plan, -np.inf if n <= p else None)


def _turned(Y: DataMap, pairs: Eigenpairs, probed: Any) -> Eigenpairs:
    """Right vectors V = Y' U S^-1 from the left ones, with a bound on their residuals.

    Y'Y v - l v = Y'(YY' u - l u) / s, if V is exact; what YY' and V have lost to rounding is known
    from probes, or else measured by one more product: then it is Y'(Y v - s u).
    """
    U, s = pairs.vectors, np.sqrt(pairs.values)
    V = np.ascontiguousarray(Y.adjoint(np.ascontiguousarray(U)))
    lengths = np.sqrt(np.einsum("ij,ij->j", V, V))
    if probed is None:
        V /= lengths
        YV = np.asarray(Y @ np.ascontiguousarray(V), np.float64)
        residuals = np.linalg.norm(YV - U * s, axis=0) / s[0]
    else:
        left = (pairs.residuals * pairs.scale + probed.error) / (s * s[0])
        missed = 5 * np.sqrt(np.mean((probed.W.T @ V - probed.YW.T @ U) ** 2, axis=0).max())
        residuals = left + (missed + np.abs(lengths - s)) / s
        V /= lengths
    tolerance = default_tolerance(np.dtype(Y.dtype))
    V *= signs(V)
    return Eigenpairs(pairs.values, V, residuals, pairs.scale, tolerance)


def _log_det(C: Array, ours: bool) -> float | None:
    """log det of a positive semi-definite matrix, by pivoted Cholesky; not for large ones."""
    if len(C) > 1000:
        return None
    with lent(C if ours else np.array(C, np.float64)) as S:
        factor, _, rank, _ = scipy.linalg.lapack.dpstrf(S, lower=1, overwrite_a=1)
        diagonal = np.diag(factor).copy()
    return -np.inf if rank < len(C) else 2 * float(np.sum(np.log(diagonal)))


def _lost(pairs: Eigenpairs, Y: DataMap, k: int) -> bool:
    """Whether the smallest wanted value is so small that squaring the data spoiled it."""
    if not hasattr(Y, "read_rows"):  # no data to go back to
        return False
    if len(pairs) < k or pairs.values[0] <= 0:
        return bool(pairs.scale > 0)
    # float64: s_k / s_1 < 1e-6. Squared float32 is good to about 1e-7, so 3e-3 there.
    least = 1e-5 if Y.dtype == np.float32 else 1e-12
    return bool(pairs.values[k - 1] < least * pairs.values[0])


def _refined(Y: DataMap, k: int, plan: Plan) -> Axes:
    """By orthogonal transformations of Y itself, in float64: nothing is squared."""
    n, p = Y.shape
    wide = n < p
    R = Y.triangle() if hasattr(Y, "triangle") else _triangle(Y, wide)
    _, s, Vt = scipy.linalg.svd(R, full_matrices=False, check_finite=False)
    nil = rank_tolerance(Y.shape, np.dtype(np.float64)) * s[0]
    singular = n <= p or s[-1] <= nil
    log_volume = -np.inf if singular else 2 * float(np.sum(np.log(s)))
    s = np.where(s > nil, s, 0.0)[:k]
    vectors = Vt[: np.count_nonzero(s)].T
    if wide:  # R came from Y', so its right vectors are the left vectors U of Y
        vectors = np.linalg.qr(_times_T64(Y, vectors) / s[: vectors.shape[1]])[0]
    vectors = completed(vectors, k)
    route = f"{plan.route}; refined by QR of the data, because small values matter"
    return Axes(_audited(Y, s**2, vectors), replace(plan, route=route), log_volume)


def rank_tolerance(shape: tuple[int, int], dtype: np.dtype[Any]) -> float:
    """Singular values below this share of the largest are rounding."""
    return float(8 * np.finfo(dtype).eps * np.sqrt(min(shape)))


def _triangle(Y: Any, wide: bool) -> Array:
    """R of Y = Q R, or of Y' if ``wide``: a block at a time, in float64."""
    state = {"R": np.zeros((0, min(Y.shape)))}
    blocks = _places(Y, wide)
    for i in steps("triangle", len(blocks), state, wide=wide):
        stacked = np.concatenate([state["R"], _slice(Y, wide, blocks[i])])
        R = scipy.linalg.qr(stacked, mode="r", check_finite=False)[0]
        state["R"] = R[: R.shape[1]]
    return state["R"]


def _places(Y: Any, wide: bool) -> list[slice]:
    """Blocks of rows of Y (of Y' if ``wide``), tall enough for LAPACK."""
    if not wide:
        return list(Y.row_blocks())
    n, p = Y.shape
    step = max(2 * n, 1024)
    return [slice(a, min(a + step, p)) for a in range(0, p, step)]


def _slice(Y: Any, wide: bool, block: slice) -> Array:
    """One such block, dense, in float64."""
    if not wide:
        return np.asarray(Y.read_rows(block), np.float64)
    pick = np.zeros((Y.shape[1], block.stop - block.start), Y.dtype)
    pick[np.arange(block.start, block.stop), np.arange(pick.shape[1])] = 1
    return np.asarray(Y @ pick, np.float64).T


def _times_T64(Y: Any, U: Array) -> Array:
    """Y' U summed in float64 from float64 blocks."""
    if hasattr(Y, "adjoint_in_float64"):
        return np.asarray(Y.adjoint_in_float64(U))
    total = np.zeros((Y.shape[1], U.shape[1]))
    for rows, block in Y.blocks():
        total += block.astype(np.float64).T @ U[rows]
    return total


def completed(V: Array, k: int) -> Array:
    """V's orthonormal columns, made up to ``k`` in a way that depends on their span alone.

    Directions that carry no variance are arbitrary; choosing the coordinate axis farthest from the
    span, again and again (the first of equals), makes them the same on every machine.
    """
    p, r = V.shape
    Q = np.zeros((p, k), order="F")
    Q[:, :r] = V
    left = 1.0 - np.einsum("ij,ij->i", V, V)
    for t in range(r, k):
        j = int(np.argmax(left >= (1 - 1e-6) * left.max()))
        q = -Q[:, :t] @ Q[j, :t]
        q[j] += 1.0
        q -= Q[:, :t] @ (Q[:, :t].T @ q)
        Q[:, t] = q / np.linalg.norm(q)
        left -= Q[:, t] ** 2
    return Q


def _audited(Y: DataMap, values: Array, V: Array) -> Eigenpairs:
    V = np.asarray(V, dtype=np.float64)
    tolerance = default_tolerance(np.dtype(Y.dtype))
    return Eigenpairs.of(ColumnGram(Y), values, V, tolerance=tolerance)

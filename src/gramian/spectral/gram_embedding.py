"""Center, take the top pairs, scale, extend: what every Gram method does, as a value.

1. center   B = H K H',   H = I - 1 a',  sum a = 1     (a = 1/n, or the weights of the points)
2. pairs    W^1/2 B W^1/2 = V L V',  largest algebraic first      (W = I without weights)
3. scale    Z = W^-1/2 V L^1/2,  so that  Z Z' is the best approximation of B of rank k
4. extend   a new point with similarities r_j = K(x, x_j):
            b = r - (K a)' - (r.a) 1' + a'K a,   z = b W^1/2 V L^-1/2
5. residual |x - its image|^2 = b(x, x) - |z|^2,   b(x, x) = K(x, x) - 2 r.a + a'K a

B is never formed: a product with it is one with K and two corrections of rank one.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from gramian.errors import InputError
from gramian.loops.threads import one_blas_thread
from gramian.maps import Array, ImplicitMap, LinearMap, to_dense
from gramian.spectral.eigenpairs import eigenpairs
from gramian.spectral.krylov import BlockKrylov, apply, audited, default_tolerance
from gramian.spectral.pairs import Eigenpairs
from gramian.spectral.plan import Plan, plan

QUICK = 5e-7  # residual asked of pairs that are found in float32 and certified in float64
SEARCH = 2e-6  # residual of pairs that are found and certified in float32
EXACT = 1000  # points up to which the other end of the spectrum is found by LAPACK


@dataclass(frozen=True)
class DoubleCentering:
    """What centering needs to know of the training points: a, K a and a'K a."""

    a: Array
    means: Array
    mean: float

    keeps: ClassVar[dict[str, Any]] = {"a": "n", "means": "n", "mean": float}

    @staticmethod
    def of(
        K: LinearMap, weights: Array | None = None, means: Array | None = None
    ) -> DoubleCentering:
        """About the (weighted) mean of the points; ``means`` are K a, if they are known."""
        a = shares(K.shape[0], weights)
        if means is None:
            means = apply(K, np.ascontiguousarray(a[:, None].astype(K.dtype)))[:, 0]
        means = means.astype(np.float64)
        return DoubleCentering(a, means, float(a @ means))

    @staticmethod
    def none(n: int) -> DoubleCentering:
        """K as it is."""
        return DoubleCentering(np.zeros(n), np.zeros(n), 0.0)

    def rows(self, rows: Array) -> Array:
        """Similarities of new points (m, n), centered as the training points were."""
        return np.asarray(rows - self.means - (rows @ self.a)[:, None] + self.mean)

    def own(self, own: Array, rows: Array) -> Array:
        """Similarity of each new point with itself, centered."""
        return np.asarray(own - 2 * (rows @ self.a) + self.mean)


class Centered(ImplicitMap):
    """W^1/2 H K H' W^1/2, never formed."""

    def __init__(self, K: LinearMap, centering: DoubleCentering, root: Array | None) -> None:
        self.K, self.centering, self.root = K, centering, root
        self.shape, self.dtype = K.shape, np.dtype(K.dtype)
        self.block = getattr(K, "block", None)

    def _times(self, V: Array) -> Array:
        a, root = self.centering.a, self.root
        if hasattr(self.K, "centered_times"):
            return np.asarray(self.K.centered_times(V, a, root).astype(self.dtype))
        U = np.asarray(V if root is None else V * root[:, None], np.float64)
        U = U - a[:, None] * U.sum(axis=0)
        X = np.asarray(apply(self.K, np.ascontiguousarray(U, dtype=self.dtype)), np.float64)
        with one_blas_thread():
            X -= a @ X
        if root is not None:
            X *= root[:, None]
        return X.astype(self.dtype, copy=False)


@dataclass(frozen=True)
class GramEmbedding:
    """Coordinates of points from their similarities, and the way to new points.

    Attributes
    ----------
    centering : DoubleCentering
    pairs : Eigenpairs
        Of the centered (and weighted) map.
    root : array of shape (n,) or None
        Square roots of the weights.
    trace : float
        Of the centered map: the sum of all its eigenvalues.
    plan : Plan
    least : float or None
        The least eigenvalue, if it was looked for on the way: to 3 % of itself or 0.002 of the
        largest, never too low; 0 if above -1e-5 of the largest.
    """

    centering: DoubleCentering
    pairs: Eigenpairs
    root: Array | None
    trace: float
    plan: Plan
    least: float | None = None

    keeps: ClassVar[dict[str, Any]] = {
        "centering": DoubleCentering,
        "pairs": Eigenpairs,
        "root": "n?",
        "trace": float,
        "plan": Plan,
    }

    @staticmethod
    def of(
        K: LinearMap,
        k: int,
        *,
        diagonal: Array,
        center: bool = True,
        weights: Array | None = None,
        solver: Any = "auto",
        memory: Any = None,
        rng: np.random.Generator | None = None,
        quick: Any = None,
        both_ends: bool = True,
    ) -> GramEmbedding:
        """The top ``k`` pairs of a symmetric map of similarities.

        Parameters
        ----------
        K : map
        k : int
        diagonal : array of shape (n,)
            Of K; a map that is never stored cannot be asked for it.
        center : bool
            Whether to take the mean point as origin.
        weights : array of shape (n,), optional
            Masses of the points.
        solver, memory, rng
            As for ``eigenpairs``.
        quick : map, optional
            K but for rounding and a constant that centering takes away; its ``sums`` are K times
            the shares of the points. Pairs are found on it and then certified on K itself.
        both_ends : bool
            Whether ``quick`` is searched for the least eigenvalue as well.
        """
        n = K.shape[0]
        centering = DoubleCentering.none(n)
        if center:
            centering = DoubleCentering.of(K, weights, None if quick is None else quick.sums)
        root = None if weights is None else np.sqrt(weights)
        B = Centered(K, centering, root)
        own = diagonal - 2 * centering.means + centering.mean if center else diagonal
        trace = float(np.sum(own if weights is None else own * weights))
        if quick is not None:
            near = Centered(quick, centering, root)
            pairs, least, followed = _by_quick(B, near, k, memory, rng, both_ends)
            if pairs.certified:
                return GramEmbedding(centering, pairs, root, trace, followed, least)
        followed = plan(B, k, "largest", solver, memory)
        pairs = eigenpairs(B, k, solver=solver, memory=memory, rng=rng)
        return GramEmbedding(centering, pairs, root, trace, followed)

    def first(self, k: int) -> GramEmbedding:
        """The best ``k`` axes."""
        return replace(self, pairs=self.pairs.first(k))

    @property
    def coordinates(self) -> Array:
        """Z, of shape (n, k); zero on axes whose eigenvalue is not positive."""
        Z = self.pairs.coordinates()
        return Z if self.root is None else _divided(Z, self.root)

    def place(self, rows: Array) -> Array:
        """Coordinates of new points from their similarities to the training points (m, n)."""
        b = self.centering.rows(np.asarray(rows, np.float64))
        return self.pairs.extend(b if self.root is None else b * self.root)

    def residual(self, rows: Array, own: Array) -> Array:
        """How far new points lie outside the space of the axes (0 where that has no meaning)."""
        rows = np.asarray(rows, np.float64)
        left = self.centering.own(own, rows) - np.sum(self.place(rows) ** 2, axis=1)
        return np.asarray(np.sqrt(np.maximum(left, 0.0)))


def shares(n: int, weights: Array | None = None) -> Array:
    """Share of each point in the mean."""
    return np.full(n, 1 / n) if weights is None else np.asarray(weights / weights.sum())


def _by_quick(
    B: LinearMap, quick: Centered, k: int, memory: Any, rng: Any, both: bool
) -> tuple[Eigenpairs, float | None, Plan]:
    """Pairs found on ``quick`` and certified on ``B``; its least eigenvalue if asked; the plan."""
    tolerance = default_tolerance(np.dtype(B.dtype))
    exact = np.dtype(B.dtype) == quick.dtype
    solver = BlockKrylov(tol=SEARCH if exact else QUICK, floor=1.0)
    with one_blas_thread():  # products are our own loops: BLAS sees small matrices alone
        ends = solver.ends(quick, k, rng, both=both)
    followed = plan(quick, k, "largest", "krylov", memory)
    if not exact:
        route = f"{followed.route} kept in float32, certified in float64"
        followed = replace(followed, route=route)
    pairs = audited(B, ends.vectors.astype(B.dtype), "largest", tolerance, 0.0, 1.0)
    if not ends.largest > 0:
        return pairs, 0.0, followed
    scale = max(pairs.scale, ends.size / ends.largest * float(pairs.values[0]))
    pairs = replace(pairs, residuals=pairs.residuals * (pairs.scale / scale), scale=scale)
    if not both:
        return pairs, None, followed
    least = ends.least / ends.largest * float(pairs.values[0])
    return pairs, least if least < -1e-5 * scale else 0.0, followed


def negativity(K: LinearMap, embedding: GramEmbedding, rng: Any = None) -> float:
    """The most negative eigenvalue of the centered map; 0 if there is none beyond rounding.

    A solve of its own, at the other end of the spectrum: the top pairs say nothing about it. Up to
    1,000 points it is exact; beyond, 3 % of it or 0.002 of the largest are enough to judge by, and
    an array K is used up: it is rewritten in float32, in its own memory, because half the bytes
    take half the time; what is above -1e-5 of the largest is 0 there.
    """
    if embedding.least is not None:
        return embedding.least
    n, centering, unit = K.shape[0], embedding.centering, 1.0
    noise = 100 * np.finfo(K.dtype).eps * embedding.pairs.scale * np.sqrt(n)
    solver: Any = "dense"
    if n > EXACT:
        solver = BlockKrylov(tol=3e-3, floor=1.0)
        if isinstance(K, np.ndarray) and K.dtype == np.float64:
            unit = float(np.ldexp(1.0, -int(np.frexp(embedding.pairs.scale / n)[1])))
            K, noise = _single(K, unit), max(noise, 1e-5 * embedding.pairs.scale)
            centering = DoubleCentering.of(K, None if embedding.root is None else embedding.root**2)
    B = Centered(K, centering, embedding.root)
    least = float(eigenpairs(B, 1, which="smallest", solver=solver, rng=rng).values[0]) / unit
    return least if least < -noise else 0.0


def _single(K: Array, unit: float) -> Array:
    """K times ``unit`` in float32, written over K itself from the front."""
    n = K.shape[1]
    out = K.reshape(-1).view(np.float32)[: K.size].reshape(K.shape)
    step = max(1, 200_000 // n)
    for a in range(0, len(K), step):
        # rows a.. of the result end where rows a.. of K begin, or earlier
        out[a : a + step] = (K[a : a + step] * unit).astype(np.float32)
    return out


def full_spectrum(K: LinearMap, embedding: GramEmbedding) -> Array:
    """All eigenvalues of the centered map, largest first: n^3 work, for a few thousand points."""
    with one_blas_thread() if K.shape[0] <= EXACT else nullcontext():
        B = to_dense(Centered(K, embedding.centering, embedding.root)).astype(np.float64)
        return np.linalg.eigvalsh((B + B.T) / 2)[::-1]


def _divided(Z: Array, root: Array) -> Array:
    if not np.all(root > 0):
        raise InputError("a weight is 0: that point has no coordinates; leave it out")
    return np.asarray(Z / root[:, None])

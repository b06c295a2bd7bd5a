"""``Eigenpairs``: values and vectors that never travel apart, with their certificate.

The residual of a pair (l, v) is |A v - l v| / |A|, measured by applying A once more. For a
symmetric A there is then an eigenvalue of A within residual * |A| of l: a theorem, not a hope.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from gramian.maps import Array, LinearMap


@dataclass(frozen=True)
class Eigenpairs:
    """Best first, sign-fixed, audited.

    Attributes
    ----------
    values : array of shape (k,)
    vectors : array of shape (n, k)
        Orthonormal columns; the largest entry of each is positive.
    residuals : array of shape (k,)
        ``|A v - l v| / scale``, measured.
    scale : float
        The size of A (its largest |eigenvalue|, or the best estimate from below); where the
        smallest pairs of a graph's map are wanted, the first value left out (``shift_invert``).
    tolerance : float
        What the residuals were asked to reach.
    """

    values: Array
    vectors: Array
    residuals: Array
    scale: float
    tolerance: float

    keeps: ClassVar[dict[str, Any]] = {  # in a model file
        "values": "k",
        "vectors": "n k",
        "residuals": "k",
        "scale": float,
        "tolerance": float,
    }

    @staticmethod
    def of(
        A: LinearMap,
        values: Array,
        vectors: Array,
        *,
        which: str = "largest",
        tolerance: float,
        scale: float = 0.0,
        image: Array | None = None,
    ) -> Eigenpairs:
        """Sort, fix signs, audit against ``A`` (``image`` is A @ vectors if known)."""
        order = np.argsort(-values if which == "largest" else values, kind="stable")
        values = np.asarray(values, dtype=np.float64)[order]
        V, AV = vectors, image
        if np.any(np.diff(order) < 0):
            V = np.take(V, order, axis=1)
            AV = None if AV is None else np.take(AV, order, axis=1)
        if AV is None:
            AV = A @ np.ascontiguousarray(V)
        norms = residual_norms(AV, V, values)
        scale = max(scale, float(np.abs(values).max(initial=0.0)))
        return Eigenpairs(
            values=values,
            vectors=V * signs(V),
            residuals=norms / scale if scale > 0 else norms,
            scale=scale,
            tolerance=tolerance,
        )

    def __len__(self) -> int:
        return len(self.values)

    @property
    def certified(self) -> bool:
        """Whether every residual meets the tolerance."""
        return bool(np.all(self.residuals <= self.tolerance))

    def first(self, k: int) -> Eigenpairs:
        """The best ``k`` of them."""
        return Eigenpairs(
            self.values[:k], self.vectors[:, :k], self.residuals[:k], self.scale, self.tolerance
        )

    def positive(self) -> int:
        """How many values are positive beyond rounding (they come first, if largest are best)."""
        noise = len(self.vectors) * np.finfo(np.float64).eps * self.scale
        return int(np.sum(self.values > noise))

    def coordinates(self) -> Array:
        """V L^1/2, columns zero whose value is not positive beyond rounding."""
        return self.vectors * self._roots()  # lazy where the vectors are

    def extend(self, rows: Array) -> Array:
        """Coordinates of new points from their rows of the map: rows V L^-1/2."""
        roots = self._roots()
        inverse = np.divide(1.0, roots, out=np.zeros_like(roots), where=roots > 0)
        return np.asarray((rows @ self.vectors) * inverse)

    def _roots(self) -> Array:
        return np.sqrt(np.where(np.arange(len(self)) < self.positive(), self.values, 0.0))

    def groups(self, closeness: float = 1e-6) -> list[range]:
        """Runs of values closer than ``closeness * scale``: directions inside one are arbitrary."""
        near = np.abs(np.diff(self.values)) <= closeness * self.scale
        starts = [0, *(int(i) + 1 for i in np.flatnonzero(~near)), len(self)]
        return [range(a, b) for a, b in pairwise(starts) if b - a > 1]


def signs(V: Array) -> Array:
    """+1 or -1 for each column, making its largest entry positive.

    Entries within rounding of the largest count as equal, and the first of them decides: so
    (1, -1) / sqrt 2 has the same sign on every machine.
    """
    if V.size == 0:
        return np.ones(V.shape[1], V.dtype)
    close = 1 - (1e-4 if V.dtype == np.float32 else 1e-8)
    up, down = V.max(axis=0), -V.min(axis=0)
    positive = up > down
    for j in np.flatnonzero(np.minimum(up, down) >= close * np.maximum(up, down)):
        size = np.abs(V[:, j])
        positive[j] = V[np.argmax(size >= close * size.max()), j] >= 0
    return np.where(positive, 1, -1).astype(V.dtype)


def residual_norms(AV: Array, V: Array, values: Array) -> Array:
    """|A v - l v| of each column, in float64 (a slice of rows at a time)."""
    total = np.zeros(V.shape[1])
    step = max(1, 200_000 // max(V.shape[1], 1))
    for a in range(0, len(V), step):
        part = AV[a : a + step].astype(np.float64) - V[a : a + step].astype(np.float64) * values
        total += np.einsum("ij,ij->j", part, part)
    return np.sqrt(total)


def size_of(A: LinearMap, steps: int = 4) -> float:
    """An estimate of |A| from below: a few power steps on a fixed random block."""
    n = A.shape[0]
    V = np.random.default_rng(0).standard_normal((n, min(4, n))).astype(A.dtype)
    size = 0.0
    for _ in range(steps):
        norm = np.linalg.norm(V, axis=0)
        if not norm.all():
            break
        V = np.ascontiguousarray(A @ np.ascontiguousarray(V / norm))
        size = max(size, float(np.linalg.norm(V, axis=0).max()))
    return size

"""ARPACK, made complete: for maps whose products are so cheap that blocks do not pay.

1. search    implicitly restarted Lanczos (SciPy's eigsh) from one random vector, on A + lift I:
             ARPACK's tolerance is relative to each value, and a value of 0 never meets it
2. look      the pairs found are moved to the far end of the spectrum, and the best pair of what is
             left is sought from another random vector: is it better than the worst one found?
3. join      if so it joins, the worst one leaves, and 2 again; if not, none is missing
4. audit     A V once more: the residuals reported are measured, not estimated

Step 2 is what ARPACK lacks. One vector sees one copy of a repeated eigenvalue, and small residuals
do not say that nothing was passed over: asked for the three smallest pairs of a path graph, ARPACK
alone returns the second to the fourth, each exact to 13 digits.
"""

from __future__ import annotations

from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gramian.errors import InputError
from gramian.maps import Array, LinearMap
from gramian.spectral.krylov import BlockKrylov, audited, default_tolerance
from gramian.spectral.pairs import Eigenpairs


@dataclass(frozen=True)
class Arpack:
    """Implicitly restarted Lanczos by SciPy, with a search for pairs it passed over.

    Parameters
    ----------
    tol : float, optional
        Residual to reach, relative to the size of the map; by default 1e-6 (float64) or 1e-4
        (float32).
    basis : int, optional
        Vectors kept at a time.
    """

    tol: float | None = None
    basis: int | None = None

    name = "ARPACK"
    keeps: ClassVar[dict[str, Any]] = {"tol": float | None, "basis": int | None}

    def __call__(
        self,
        A: LinearMap,
        k: int,
        which: str = "largest",
        rng: np.random.Generator | None = None,
        start: Array | None = None,
    ) -> Eigenpairs:
        """The best ``k`` pairs of ``A``, audited; by block Krylov where ARPACK gives up."""
        from scipy.sparse.linalg import ArpackError

        rng = np.random.default_rng(0) if rng is None else rng
        dtype = np.dtype(np.float32 if A.dtype == np.float32 else np.float64)
        tol = default_tolerance(dtype) if self.tol is None else self.tol
        upper = _Upper(A, which, dtype, rng)
        if 2 * k + 2 < A.shape[0] and upper.norm > 0:
            with suppress(ArpackError, np.linalg.LinAlgError):
                V = self._complete(upper, k, tol, rng)
                pairs = audited(A, V, which, tol, upper.norm, upper.unit)
                if pairs.certified:
                    return pairs
                start = pairs.vectors
        return BlockKrylov(tol=self.tol)(A, k, which, rng, start)

    def _complete(self, A: _Upper, k: int, tol: float, rng: np.random.Generator) -> Array:
        """Steps 1 to 3."""
        values, V = self._search(A, k, tol, rng)
        for _ in range(k + 2):
            best, found = self._search(A.without(values, V), 1, tol, rng)
            if best[0] <= values.min() + tol * A.norm:
                return V
            W = np.linalg.qr(np.concatenate([V, found], axis=1))[0]
            H = W.T @ np.stack([A.times(w) for w in W.T], axis=1)
            values, S = np.linalg.eigh((H + H.T) / 2)
            values, V = values[1:], W @ S[:, 1:]
        raise np.linalg.LinAlgError("one value has more copies than single vectors can gather")

    def _search(
        self, A: _Upper, k: int, tol: float, rng: np.random.Generator
    ) -> tuple[Array, Array]:
        """The ``k`` uppermost pairs that a single random vector leads to."""
        from scipy.sparse.linalg import LinearOperator, eigsh

        n = A.shape[0]
        start = rng.standard_normal(n).astype(A.dtype)
        basis = min(n, self.basis or max(2 * k + 1, 20))
        operator = LinearOperator(shape=A.shape, dtype=A.dtype, matvec=A.times)
        values, V = eigsh(operator, k, which="LA", v0=start, tol=tol / 2, ncv=basis)
        return values, V


class _Upper:
    """A near 1 by a power of two, turned so that the wanted end is the upper one, and lifted."""

    def __init__(
        self, A: LinearMap, which: str, dtype: np.dtype[Any], rng: np.random.Generator
    ) -> None:
        self.A, self.shape, self.dtype = A, A.shape, dtype
        self.factor, self.norm, self.lift = 1.0, 0.0, 0.0
        self.drop, self.V = np.zeros(0, dtype), np.zeros((A.shape[0], 0), dtype)
        image = self.times(rng.standard_normal(A.shape[0]).astype(dtype))
        self.unit = float(np.ldexp(1.0, -int(np.frexp(np.abs(image).max(initial=0.0))[1])))
        self.norm *= self.unit
        self.lift = 2 * self.norm  # no eigenvalue at the wanted end is then near 0
        self.factor = self.unit if which == "largest" else -self.unit

    def without(self, values: Array, V: Array) -> _Upper:
        """The same map with these pairs moved to the far end, near -|A|."""
        other = copy(self)
        other.drop, other.V = values - self.lift + self.norm, V
        return other

    def times(self, v: Array) -> Array:
        """The product with a single vector."""
        v = v.reshape(-1, 1)
        x = np.asarray(self.A @ v) * self.dtype.type(self.factor)
        if not np.isfinite(x).all():
            raise InputError("the map returned NaN or inf; check the numbers it was built from")
        self.norm = max(self.norm, float(np.linalg.norm(x) / np.linalg.norm(v)))
        x = x + self.lift * v - self.V @ (self.drop[:, None] * (self.V.T @ v))
        return np.asarray(x[:, 0], dtype=self.dtype)

"""Linear maps: anything with a shape, a dtype, ``@`` and ``.T``.

A NumPy array and a SciPy sparse matrix already are maps and need no wrapper. ``ImplicitMap`` is
the base for maps that are never stored: a centred matrix, a Gram product, rows in a file.
``@`` always takes a block of vectors, ``(columns, m)``, and returns ``(rows, m)``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from scipy.sparse.linalg import LinearOperator

Array = npt.NDArray[Any]


@runtime_checkable
class LinearMap(Protocol):
    """The strict subset of ``ndarray`` that solvers use."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """What products are computed in."""

    @property
    def T(self) -> LinearMap:
        """The transposed map."""

    def __matmul__(self, V: Array, /) -> Array: ...


class ImplicitMap:
    """Base of maps that are applied, never stored.

    A subclass sets ``shape`` and ``dtype`` and defines ``_times(V)``; it defines ``_times_T(U)``
    unless it is symmetric, in which case ``T`` is the map itself. A map whose products are as cheap
    as those of a sparse matrix says so as that does, by ``nnz``: its multiplications a vector.
    ``block`` is how many vectors it likes to multiply at a time, if that is known.
    """

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    block: int | None = None

    def _times(self, V: Array) -> Array:
        raise TypeError(f"{type(self).__name__} does not define its product")

    def _times_T(self, U: Array) -> Array:
        return self._times(U)

    def __matmul__(self, V: Array, /) -> Array:
        if V.ndim != 2 or V.shape[0] != self.shape[1]:
            raise ValueError(
                f"a map of shape {self.shape} multiplies a block of shape ({self.shape[1]}, m), "
                f"got {V.shape}; a single vector v is the block v[:, None]"
            )
        return self._times(V)

    @property
    def T(self) -> LinearMap:
        """The transposed map; itself, if no other was defined."""
        symmetric = type(self)._times_T is ImplicitMap._times_T
        return self if symmetric else Transposed(self)

    def __repr__(self) -> str:
        n, p = self.shape
        return f"{type(self).__name__}({n} x {p}, {self.dtype})"


class Transposed(ImplicitMap):
    """``A.T`` of an implicit map."""

    def __init__(self, of: ImplicitMap) -> None:
        self.of = of
        self.shape = of.shape[1], of.shape[0]
        self.dtype = of.dtype

    def _times(self, V: Array) -> Array:
        return self.of._times_T(V)

    def _times_T(self, U: Array) -> Array:
        return self.of._times(U)

    @property
    def T(self) -> LinearMap:
        """The map this is the transpose of."""
        return self.of


def to_dense(A: LinearMap) -> Array:
    """Every entry of ``A``: the map applied to the identity (tests, and maps small enough)."""
    if isinstance(A, np.ndarray):
        return A
    if hasattr(A, "toarray"):
        return np.asarray(A.toarray())
    return np.asarray(A @ np.eye(A.shape[1], dtype=A.dtype))


def as_scipy(A: LinearMap) -> LinearOperator:
    """``A`` as a SciPy ``LinearOperator``, for SciPy's solvers and for peers."""
    from scipy.sparse.linalg import LinearOperator

    def block(V: Array) -> Array:
        return A @ np.ascontiguousarray(V)

    def block_T(U: Array) -> Array:
        return A.T @ np.ascontiguousarray(U)

    return LinearOperator(
        shape=A.shape,
        dtype=A.dtype,
        matvec=lambda v: block(v.reshape(-1, 1))[:, 0],
        rmatvec=lambda u: block_T(u.reshape(-1, 1))[:, 0],
        matmat=block,
        rmatmat=block_T,
    )


def unit_for(peak: float, dtype: Any) -> float:
    """The power of two that brings ``peak`` near 1; 1 itself while squares stay in range."""
    safe, most = (30, 126) if dtype == np.float32 else (100, 1000)
    exponent = int(np.frexp(peak)[1]) if 0 < peak < np.inf else 0
    return float(np.ldexp(1.0, -max(min(exponent, most), -most))) if abs(exponent) > safe else 1.0

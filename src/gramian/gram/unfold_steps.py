"""The linear algebra of unfolding: Laplacians, their smallest pairs, and Newton's equations.

A step dR of the barrier function solves

    (L_w - M + damping) dR + sum_e h_e <E_e, dE_e> (e_i - e_j) E_e' = -slope,     E_e = r_i - r_j

for all of R at once: a sparse system of n r unknowns. -M makes the matrix negative in directions
that move all points alike, one for each column, and in no others near a minimum: the signs of the
pivots tell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg, sparse

from gramian.maps import Array

_small = 400  # points whose pairs are found by LAPACK


@dataclass(frozen=True)
class Program:
    """Edges (i < j), their longest squares, the mass of every point, the worth of every edge."""

    i: Array
    j: Array
    squares: Array
    masses: Array
    worth: Array

    def apart(self, R: Array) -> Array:
        """E_e = r_i - r_j."""
        return np.asarray(R[self.i] - R[self.j])

    def lengths(self, R: Array) -> Array:
        """|r_i - r_j|^2."""
        E = self.apart(R)
        return np.asarray(np.einsum("ij,ij->i", E, E))

    def value(self, R: Array) -> float:
        """<C, R R'>."""
        return float(self.masses @ np.einsum("ij,ij->i", R, R) + self.worth @ self.lengths(R))

    def pull(self, R: Array, E: Array, y: Array) -> Array:
        """(L_y - C) R: half the slope of the barrier function, if y = b / s."""
        forces, out = (y - self.worth)[:, None] * E, -self.masses[:, None] * R
        for column in range(R.shape[1]):
            out[:, column] += np.bincount(self.i, forces[:, column], len(R))
            out[:, column] -= np.bincount(self.j, forces[:, column], len(R))
        return out

    def laplacian(self, y: Array) -> Any:
        """L_y, sparse."""
        n, i, j = len(self.masses), self.i, self.j
        ends = np.concatenate([i, j, i, j]), np.concatenate([j, i, i, j])
        return sparse.coo_array((np.concatenate([-y, -y, y, y]), ends), shape=(n, n)).tocsc()

    def metric(self) -> Any:
        """C but for the mean, which is taken away elsewhere."""
        masses = sparse.diags_array(self.masses, format="csc")
        return masses + self.laplacian(self.worth) if self.worth.any() else masses


def smallest(program: Program, y: Array, k: int) -> tuple[Array, Array]:
    """The smallest ``k`` values and vectors of L_y v = l C v, the constant left out."""
    L, C, m = program.laplacian(y), program.metric(), program.masses
    n, k = len(m), min(k, len(m) - 1)
    if n <= _small:
        values, V = linalg.eigh(L.toarray(), C.toarray(), subset_by_index=(1, k))
    else:
        shift = 1e-8 * L.diagonal().mean()
        factors = _factor(L + shift * C)

        def inverse(x: Array) -> Array:
            found = factors.solve(x - m * (x.sum() / m.sum()))
            return np.asarray(found - m @ found / m.sum())

        values, V = sparse.linalg.eigsh(
            L,
            k,
            M=C,
            sigma=-shift,
            OPinv=sparse.linalg.LinearOperator((n, n), matvec=inverse, dtype=np.float64),
            v0=inverse(np.cos(np.arange(n))),
            ncv=min(n - 1, max(2 * k + 10, 30)),
            tol=1e-10,
        )
        order = np.argsort(values)
        values, V = values[order], V[:, order]
    return np.maximum(values, np.finfo(float).tiny), V / np.linalg.norm(V, axis=0)


def newton(
    program: Program, E: Array, w: Array, h: Array, damping: float, slope: Array
) -> Array | None:
    """The step dR; ``None`` where the matrix has a negative direction."""
    (m, r), n = E.shape, len(slope)
    ends = np.stack([program.i, program.j], axis=1)
    columns = (ends[:, :, None] * r + np.arange(r)).ravel()
    starts = np.arange(0, 2 * r * m + 1, 2 * r)
    J = sparse.csr_array((np.stack([E, -E], axis=1).ravel(), columns, starts), shape=(m, n * r))
    scaled = sparse.csr_array((J.data * np.repeat(h, 2 * r), columns, starts), shape=J.shape)
    L = program.laplacian(w) + sparse.diags_array(damping - program.masses)
    try:
        factors = _factor(sparse.kron(L, sparse.eye_array(r), format="csc") + J.T @ scaled)
    except RuntimeError:  # singular
        return None
    if np.sum(factors.U.diagonal() < 0) > r:
        return None
    step = factors.solve(-slope.ravel()).reshape(n, r)
    return np.asarray(step - program.masses @ step / program.masses.sum())


def proven(program: Program, y: Array) -> float:
    """A number that the smallest eigenvalue of L_y v = l C v is not below (Sylvester's law).

    L_y - l C has as many negative pivots as there are smaller eigenvalues: one, for the constant.
    """
    least = float(smallest(program, y, 1)[0][0])
    L, C = program.laplacian(y), program.metric()
    for short in (1e-10, 1e-8, 1e-6, 1e-4, 1e-2, 0.5):
        pivots = _factor(L - (1 - short) * least * C).U.diagonal()
        if np.sum(pivots < 0) <= 1:
            return (1 - short) * least
    return 0.0


def expected_bytes(n: int, columns: int, neighbors: int) -> int:
    """About what unfolding n points takes: two factors of Newton's matrix, and vectors of edges.

    Measured on a swiss roll and on digits: 3 to 6 n log n r^2 entries of 12 bytes.
    """
    factors = 2 * 12 * 6 * columns**2 * n * np.log2(max(n, 2))
    return int(factors + 8 * n * neighbors * (30 + 16 * columns**2))


def _factor(A: Any) -> Any:
    """Sparse LU without pivoting, in an order that keeps symmetric factors sparse."""
    return sparse.linalg.splu(
        sparse.csc_array(A),
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )

"""The model  x = m + W z + noise  of rows with holes, and EM over its factors z.

E  for each pattern of holes   M = s I + W_o' W_o,  E z = M^-1 W_o'(x_o - m_o),  Cov z = s M^-1
M  each variable is regressed on (z, 1) over the rows that have it; s is what is left over
X  the factors' own mean u and covariance R are estimated as well, and absorbed:
   m + W u,  W R^1/2  (parameter expansion: the same fixed points, far fewer steps)

Only values that are there are ever used: nothing is filled in. No step lowers the likelihood.

Tipping & Bishop (1999); Ilin & Raiko, J. Mach. Learn. Res. 11 (2010), eq. 13-17; parameter
expansion: Liu, Rubin & Wu, Biometrika 85 (1998).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from gramian.data.missing import Gaps
from gramian.loops.threads import one_blas_thread, ordered_sum, run
from gramian.maps import Array

_least_noise = 1e-10  # of the mean variance: below, the data lie in the plane of the factors


@dataclass(frozen=True)
class Factors:
    """x = mean + W z + noise: W (p, k), z of unit variance, noise of variance ``noise``."""

    W: Array
    mean: Array
    noise: float

    @property
    def least_noise(self) -> float:
        """Less noise than this is none: rounding would speak instead."""
        return _least_noise * (float(np.sum(self.W**2)) / len(self.mean) + self.noise)

    def floored(self) -> Factors:
        """With noise enough to divide by; 1 where nothing varies at all."""
        return replace(self, noise=max(self.noise, self.least_noise) or 1.0)

    def spectrum(self) -> tuple[Array, Array]:
        """All eigenvalues of the covariance, largest first, and their vectors."""
        p, k = self.W.shape
        V, D, _ = np.linalg.svd(self.W)
        return np.pad(D**2, (0, p - k)) + self.noise, V

    def squares(self) -> Array:
        """w w' of every variable, (p, k k): what M is the sum of."""
        return np.asarray(self.W[:, :, None] * self.W[:, None, :]).reshape(len(self.W), -1)

    def deviations(self) -> Array:
        """Standard deviation of every variable."""
        return np.sqrt(np.einsum("jk,jk->j", self.W, self.W) + self.noise)


@dataclass(frozen=True)
class Expected:
    """Of the factors of each row: mean (n, k), covariance of each group, log density (n)."""

    mean: Array
    covariances: Array
    log_density: Array

    def deviations(self, model: Factors) -> Array:
        """Standard deviation of every value given the rest of the row, one line a group."""
        groups = len(self.covariances)
        known = self.covariances.reshape(groups, -1) @ model.squares().T
        return np.sqrt(np.maximum(known, 0.0) + model.noise)


def expected(gaps: Gaps, model: Factors) -> Expected:
    """The factors of every row, in the order of ``gaps``."""
    model = model.floored()
    n, k = len(gaps.X), model.W.shape[1]
    blocks = gaps.blocks((k + 1) ** 2)
    Z, density = np.empty((n, k)), np.empty(n)
    covariances = np.empty((len(gaps.seen), k, k))

    def piece(i: int) -> None:
        found = _Block.of(gaps, model, *blocks[i])
        Z[found.rows], density[found.rows] = found.Z[:, :k], found.log_density
        covariances[slice(*blocks[i])] = found.covariances

    with one_blas_thread():
        run(piece, len(blocks))
    return Expected(Z, covariances, density)


def factor_step(gaps: Gaps, factors: Factors, floor: float) -> tuple[float, Factors]:
    """The log-likelihood of ``factors``, and the factors after one step."""
    (p, k), n = factors.W.shape, len(gaps.X)
    one = k + 1
    blocks = gaps.blocks(one**2)
    sizes = [(p + 1) * one * one, p * one, p, 1]

    def piece(i: int, total: Array) -> None:
        moments, products, squares, likelihood = np.split(total, np.cumsum(sizes)[:-1])
        found = _Block.of(gaps, factors, *blocks[i])
        S = found.moments.reshape(-1, one * one)
        moments[: -one * one] += (found.seen.T @ S).ravel()
        moments[-one * one :] += S.sum(axis=0)
        products += (found.Y.T @ found.Z).ravel()
        squares += np.einsum("ij,ij->j", found.Y, found.Y)
        likelihood += found.log_density.sum()

    with one_blas_thread():
        total = ordered_sum(piece, len(blocks), lambda: np.zeros(sum(sizes)))
        moments, products, squares, likelihood = np.split(total, np.cumsum(sizes)[:-1])
        S, B = moments.reshape(p + 1, one, one), products.reshape(p, one)
        T = np.linalg.solve(S[:p], B[:, :, None])[:, :, 0]  # M
        noise = float(np.sum(squares) - np.sum(T * B)) / float(gaps.counts().sum())
        W, u = T[:, :k], S[p, k, :k] / n  # X
        R = np.linalg.cholesky(S[p, :k, :k] / n - np.outer(u, u))
        moved = factors.mean + T[:, k] + W @ u
    return float(likelihood[0]), Factors(W @ R, moved, max(noise, floor))


@dataclass(frozen=True)
class _Block:
    """Step E for a block of groups."""

    rows: slice
    Y: Array
    seen: Array
    Z: Array
    moments: Array
    covariances: Array
    log_density: Array

    @staticmethod
    def of(gaps: Gaps, factors: Factors, first: int, last: int) -> _Block:
        from gramian.loops.observed import invert, latents

        W, noise = factors.W, factors.noise
        k = W.shape[1]
        ends = gaps.ends[first : last + 1]
        rows, sizes = slice(ends[0], ends[-1]), np.diff(ends)
        seen = gaps.seen[first:last].astype(np.float64)
        there = np.repeat(seen, sizes, axis=0)
        Y = (gaps.X[rows] - factors.mean) * there
        inverses = (seen @ factors.squares()).reshape(-1, k, k)
        log_dets = np.empty(len(seen))
        invert(inverses, noise, log_dets)
        Z = np.empty((len(Y), k + 1))
        moments = np.empty((len(seen), k + 1, k + 1))
        latents(inverses, ends, ends[0], noise, Y @ W, Z, moments)
        left = Y - (Z[:, :k] @ W.T) * there
        distance = np.einsum("ij,ij->i", left, left) / noise
        distance += np.einsum("ij,ij->i", Z[:, :k], Z[:, :k])
        count = seen.sum(axis=1)
        constant = count * np.log(2 * np.pi) + (count - k) * np.log(noise) + log_dets
        density = -0.5 * (np.repeat(constant, sizes) + distance)
        return _Block(rows, Y, seen, Z, moments, noise * inverses, density)

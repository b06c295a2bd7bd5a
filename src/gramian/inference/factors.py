"""Maximum likelihood of  x = m + W z + noise  when values are missing, by EM.

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
from typing import Any

import numpy as np

from gramian.data.array_rows import ArrayRows
from gramian.data.missing import Gaps, bytes_with_gaps
from gramian.loops.threads import one_blas_thread, ordered_sum, run
from gramian.maps import Array
from gramian.progress import Approach
from gramian.show.text import count
from gramian.spectral.pairs import Eigenpairs
from gramian.spectral.plan import Plan
from gramian.spectral.principal import Axes, principal_axes

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


@dataclass(frozen=True)
class Fitted:
    """Where EM ended: the factors, one step further, every log-likelihood, and why it ended."""

    factors: Factors
    further: Factors
    trace: Array
    stopped: str
    converged: bool
    plan: Plan

    def axes(self, n: int, tolerance: float) -> tuple[Axes, float]:
        """Eigenpairs of n Cov, audited by what one more step makes of them, and the trace."""
        model, p = self.factors, len(self.factors.mean)
        V, D, _ = np.linalg.svd(model.W, full_matrices=False)
        values = n * (D**2 + model.noise)
        image = n * (self.further.W @ (self.further.W.T @ V) + self.further.noise * V)
        pairs = Eigenpairs.of(model.W, values, V, tolerance=tolerance, image=image)
        return Axes(pairs, self.plan), n * float(np.sum(D**2) + p * model.noise)


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


def maximum_likelihood(gaps: Gaps, k: int, max_iter: int, tol: float, **how: Any) -> Fitted:
    """Climb until less than ``tol`` a row is left to gain, by Aitken's estimate.

    ``gaps`` are deviations from the mean; ``how`` says how the axes at the start are found.
    """
    factors, plan = _start(gaps, k, how)
    trace: list[float] = []
    floor = factors.least_noise
    told = Approach("filling in", tol)
    while True:
        likelihood, further = _step(gaps, factors, floor)
        trace.append(likelihood)
        steps = len(trace)
        left = _left_to_gain(trace)
        told(steps, left / len(gaps.X))
        if left < tol * len(gaps.X):
            why, converged = f"less than {tol:g} a row of log-likelihood was left to gain", True
        elif factors.noise <= floor:
            why, converged = "the noise vanished, the data lie in the plane of the axes", True
        elif steps >= max_iter:
            why, converged = f"more than {tol:g} a row of log-likelihood is left to gain", False
        else:
            factors = further
            continue
        stopped = f"after {steps} step{'s' * (steps > 1)}: {why}"
        return Fitted(factors, further, np.array(trace), stopped, converged, plan)


def _start(gaps: Gaps, k: int, how: dict[str, Any]) -> tuple[Factors, Plan]:
    """The axes of the data with holes at the mean."""
    n, p = gaps.X.shape
    found = principal_axes(ArrayRows(gaps.X), k, **how)
    values = found.pairs.values / n
    left = max(float(np.sum(gaps.X**2)) / n - float(np.sum(values)), 0.0)
    noise = max(left / (p - k), 1e-6 * float(values[0]))
    W = found.pairs.vectors * np.sqrt(np.maximum(values - noise, 1e-3 * noise))
    many = count(gaps.patterns, "pattern")
    route = f"EM over {many} of missing values, started at: {found.plan.route}"
    needs = found.plan.bytes + bytes_with_gaps(n, p)
    return Factors(W, np.zeros(p), noise), replace(found.plan, route=route, bytes=needs)


def _left_to_gain(trace: list[float]) -> float:
    """The last gain, and all that would follow if gains go on shrinking at their rate."""
    if len(trace) < 3:
        return np.inf
    before, gain = trace[-2] - trace[-3], trace[-1] - trace[-2]
    rate = min(max(gain / before, 0.0), 0.999) if before > 0 else 0.0
    return gain / (1 - rate)


def _step(gaps: Gaps, factors: Factors, floor: float) -> tuple[float, Factors]:
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

"""EM over the values that are missing, where there are so few variables that p x p is small.

E  for each pattern of holes   Cov x_h = (P_hh)^-1,  E x_h = m_h - Cov x_h P_ho (x_o - m_o),
   P = Cov(x)^-1; with them the mean and the scatter S of rows without holes are expected
M  closed form: Cov = V L V' of S, noise s = mean of the p - k smallest values, W = V (L - s)^1/2

Only what is missing is treated as unknown, and not the factors of what is there as well; where
there are many factors this takes far fewer steps than EM over them (``inference.factors``). Both
end at the same points.

A prior may say that there were ``rows`` more rows, which varied by ``variance`` in every direction
(an inverse Wishart law of the covariance): S becomes (n S + rows variance I) / (n + rows), shrunk.

Little & Rubin, Statistical Analysis with Missing Data (2002), 11.2; how much to shrink: Y. Chen,
A. Wiesel, Y. C. Eldar & A. O. Hero, Shrinkage algorithms for MMSE covariance estimation, IEEE
Transactions on Signal Processing 58 (2010), eq. 23.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gramian.data.missing import Gaps
from gramian.inference.factors import Factors
from gramian.loops.threads import one_blas_thread, ordered_sum, run
from gramian.maps import Array

_most = 0.99  # share of the prior
_spare = 8  # steps over the factors are this much more numerous, about


@dataclass(frozen=True)
class Prior:
    """``rows`` that vary by ``variance`` in every direction; none by default."""

    rows: float = 0.0
    variance: float = 0.0

    def log_density(self, values: Array) -> float:
        """Of a covariance with these eigenvalues, up to a constant."""
        if not self.rows:
            return 0.0
        return -0.5 * self.rows * float(np.sum(np.log(values) + self.variance / values))


class Scatter(NamedTuple):
    """Expected of complete rows: mean, covariance; log-likelihood of what was seen of them."""

    mean: Array
    covariance: Array
    log_likelihood: float


def completing_pays(gaps: Gaps, k: int) -> bool:
    """Whether inverting what is missing of each pattern is less work than regressing on factors."""
    p = gaps.X.shape[1]
    holes = np.sum(~gaps.seen, axis=1).astype(np.float64)
    return bool(p**3 + np.sum(holes**3) <= _spare * len(holes) * p * (k + 1) ** 2)


def completed(gaps: Gaps, model: Factors) -> Scatter:
    """Step E."""
    n, p = gaps.X.shape
    blocks, spectrum = gaps.blocks(p), model.spectrum()

    def piece(i: int, total: Array) -> None:
        block = _Block.of(gaps, model, spectrum, *blocks[i])
        total[:p] += block.Y.T @ block.Y + block.covariance
        total[p] += block.Y.sum(axis=0)
        total[p + 1, 0] += block.log_likelihood

    with one_blas_thread():
        total = ordered_sum(piece, len(blocks), lambda: np.zeros((p + 2, p)))
    moved = total[p] / n
    return Scatter(model.mean + moved, total[:p] / n - np.outer(moved, moved), total[p + 1, 0])


def completion(gaps: Gaps, model: Factors) -> tuple[Array, Array]:
    """Rows without holes in the order of ``gaps``, and standard deviations, one line a group."""
    Y, deviations = np.empty_like(gaps.X), np.empty(gaps.seen.shape)
    model = model.floored()
    blocks, spectrum = gaps.blocks(Y.shape[1]), model.spectrum()

    def piece(i: int) -> None:
        block = _Block.of(gaps, model, spectrum, *blocks[i])
        Y[block.rows] = block.Y + model.mean
        deviations[slice(*blocks[i])] = np.sqrt(block.variances)

    with one_blas_thread():
        run(piece, len(blocks))
    return Y, deviations


@dataclass(frozen=True)
class _Block:
    """A block of groups: deviations from the mean without holes, and how sure they are."""

    rows: slice
    Y: Array
    covariance: Array
    variances: Array
    log_likelihood: float

    @staticmethod
    def of(
        gaps: Gaps, model: Factors, spectrum: tuple[Array, Array], first: int, last: int
    ) -> _Block:
        from gramian.loops.observed import complete

        values, V = spectrum
        P = np.ascontiguousarray((V / values) @ V.T)
        ends, seen = gaps.ends[first : last + 1], gaps.seen[first:last]
        sizes, rows = np.diff(ends), slice(ends[0], ends[-1])
        Y = (gaps.X[rows] - model.mean) * np.repeat(seen, sizes, axis=0)
        PY = Y @ P
        distances = np.einsum("ij,ij->i", Y, PY)
        covariance, variances = np.zeros_like(P), np.zeros(seen.shape)
        log_dets = np.empty(len(seen))
        complete(P, seen, ends, ends[0], Y, PY, covariance, variances, log_dets, distances)
        logs = np.sum(seen, axis=1) * np.log(2 * np.pi) + np.sum(np.log(values)) + log_dets
        return _Block(rows, Y, covariance, variances, -0.5 * float(sizes @ logs + distances.sum()))


def best_factors(found: Scatter, n: int, k: int, prior: Prior, floor: float) -> Factors:
    """Step M."""
    p = len(found.mean)
    mixed = n * found.covariance + prior.rows * prior.variance * np.eye(p)
    with one_blas_thread():
        values, V = np.linalg.eigh(mixed / (n + prior.rows))
    values, V = values[::-1], V[:, ::-1]
    noise = max(float(np.mean(values[k:])), floor)
    W = V[:, :k] * np.sqrt(np.maximum(values[:k] - noise, 0.0))
    return Factors(W, found.mean, noise)


def share_of_prior(gaps: Gaps) -> float:
    """How much of the prior to mix in: the share that brings normal data nearest to the truth.

    Chen, Wiesel, Eldar & Hero's oracle approximation, from the covariances of pairs of variables
    over the rows that have both; n is how many rows have a variable, on average.
    """
    p, seen = gaps.X.shape[1], gaps.seen.astype(np.float64)
    both = (seen * np.diff(gaps.ends)[:, None]).T @ seen
    S = np.divide(gaps.X.T @ gaps.X, both, out=np.zeros((p, p)), where=both > 0)
    n, trace, squares = float(np.mean(np.diag(both))), float(np.trace(S)), float(np.sum(S**2))
    apart = squares - trace**2 / p
    wanted = (1 - 2 / p) * squares + trace**2
    return min(wanted / ((n + 1 - 2 / p) * apart), _most) if apart > 0 else _most

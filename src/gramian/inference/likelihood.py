"""Maximum likelihood of  x = m + W z + noise  when values are missing, by EM.

Every step looks at the values that are there, and none lowers the likelihood. What is treated as
unknown besides the model differs: what is missing, where there are few variables
(``inference.completion``), or the factors z of every row (``inference.factors``). With a prior the
likelihood is times its density.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gramian.checkpoint import stage
from gramian.data.array_rows import ArrayRows
from gramian.data.missing import Gaps, bytes_with_gaps
from gramian.inference.completion import (
    Prior,
    best_factors,
    completed,
    completing_pays,
    completion,
    share_of_prior,
)
from gramian.inference.factors import Factors, expected, factor_step
from gramian.maps import Array
from gramian.progress import Approach
from gramian.show.text import count
from gramian.spectral.pairs import Eigenpairs
from gramian.spectral.plan import Plan
from gramian.spectral.principal import Axes, principal_axes

Step = Callable[[Factors], tuple[float, Factors]]


@dataclass(frozen=True)
class Fitted:
    """Where EM ended: the factors, one step further, every log-likelihood, and why it ended."""

    factors: Factors
    further: Factors
    trace: Array
    stopped: str
    converged: bool
    plan: Plan
    shrinkage: float = 0.0

    def axes(self, n: int, tolerance: float) -> tuple[Axes, float]:
        """Eigenpairs of n Cov, audited by what one more step makes of them, and the trace."""
        model, p = self.factors, len(self.factors.mean)
        V, D, _ = np.linalg.svd(model.W, full_matrices=False)
        values = n * (D**2 + model.noise)
        image = n * (self.further.W @ (self.further.W.T @ V) + self.further.noise * V)
        pairs = Eigenpairs.of(model.W, values, V, tolerance=tolerance, image=image)
        return Axes(pairs, self.plan), n * float(np.sum(D**2) + p * model.noise)


def maximum_likelihood(
    gaps: Gaps, k: int, max_iter: int, tol: float, shrinkage: Any = None, **how: Any
) -> Fitted:
    """Climb until less than ``tol`` a row is left to gain, by Aitken's estimate.

    Parameters
    ----------
    gaps : Gaps
        Deviations from the mean.
    k, max_iter, tol
    shrinkage : None, "auto" or float
        Share of the prior in the covariance; "auto" asks the data.
    **how
        How the axes at the start are found.
    """
    factors, plan = _start(gaps, k, how)
    floor = factors.least_noise
    if shrinkage is None and not completing_pays(gaps, k):
        return _climb(gaps, lambda f: factor_step(gaps, f, floor), factors, plan, max_iter, tol)
    n, share = len(gaps.X), share_of_prior(gaps) if shrinkage == "auto" else shrinkage or 0.0
    variance = float(np.mean(np.einsum("ij,ij->j", gaps.X, gaps.X) / gaps.counts()))
    step = _completing(gaps, k, Prior(n * share / (1 - share), variance), floor)
    return replace(_climb(gaps, step, factors, plan, max_iter, tol), shrinkage=share)


def filled(gaps: Gaps, model: Factors) -> tuple[Array, Array]:
    """What is expected in every cell, in the order of ``gaps``; deviations, one line a group.

    Cells that are there have the deviation 0.
    """
    if completing_pays(gaps, model.W.shape[1]):
        return completion(gaps, model)
    found = expected(gaps, model)
    values = model.mean + found.mean @ model.W.T
    return values, np.where(gaps.seen, 0.0, found.deviations(model))


def _completing(gaps: Gaps, k: int, prior: Prior, floor: float) -> Step:
    def step(factors: Factors) -> tuple[float, Factors]:
        found = completed(gaps, factors)
        weighed = found.log_likelihood + prior.log_density(factors.spectrum()[0])
        return weighed, best_factors(found, len(gaps.X), k, prior, floor)

    return step


def _climb(
    gaps: Gaps, step: Step, factors: Factors, plan: Plan, max_iter: int, tol: float
) -> Fitted:
    floor = factors.least_noise
    told = Approach("filling in", tol)
    with stage("EM", shape=gaps.X.shape, max_iter=max_iter, tol=tol) as here:
        trace: list[float] = []
        if here.known is not None:
            W, mean, noise = (here.known[name] for name in ("W", "mean", "noise"))
            factors, trace = Factors(W, mean, float(noise)), here.known["trace"].tolist()
        while True:
            here.keep(W=factors.W, mean=factors.mean, noise=factors.noise, trace=np.array(trace))
            likelihood, further = step(factors)
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

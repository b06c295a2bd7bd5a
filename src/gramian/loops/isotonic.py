"""Isotonic regression: the nearest sequence that never falls, by pooling adjacent violators.

    pool    walk on; whenever a mean is not above the one before, the two become one (weighted) mean
    sieve   first for runs of 32 values, whose sums come quickly; a block of the answer can end only
            where the sum of the values so far is not above that of the pooled runs, which is seldom
    join    pieces may be pooled on their own, and then their means, with their masses, by the same
            function: the answer is the same

R. E. Barlow, D. J. Bartholomew, J. M. Bremner and H. D. Brunk, Statistical Inference under Order
Restrictions (1972); J. B. Kruskal, Psychometrika 29 (1964), who lists the ways to treat ties.
"""

from __future__ import annotations

import numpy as np

from gramian.loops.tile import compiled
from gramian.maps import Array

RUN = 32


@compiled
def _pool(values, weights, sums, masses, ends):
    """Pool ``values``; the blocks' sums, masses and ends are written, their number returned."""
    top = -1
    for t in range(len(values)):
        mass = weights[t]
        total = values[t] * mass
        while top >= 0 and sums[top] * mass >= total * masses[top]:  # means, without dividing
            total += sums[top]
            mass += masses[top]
            top -= 1
        top += 1
        sums[top] = total
        masses[top] = mass
        ends[top] = t + 1
    return top + 1


@compiled
def _sieve(values, weights, weighted, run, means, run_ends, slack, sums, masses, ends):
    """Cut ``values`` wherever a block may end, given the pooled means of runs of ``run`` values."""
    count, t = 0, 0
    for b in range(len(means)):
        mean = means[b]
        mass = excess = before = 0.0
        end = min(run_ends[b] * run, len(values))
        while t < end:
            weight = float(weights[t]) if weighted else 1.0
            excess += weight * (values[t] - mean)
            mass += weight
            t += 1
            if excess <= slack or t == end:
                sums[count] = excess - before + mean * mass
                masses[count] = mass
                ends[count] = t
                before, mass = excess, 0.0
                count += 1
    return count


@compiled
def _run_sums(values, weights, weighted, run, sums, masses):
    """Sums and masses of runs of ``run`` values."""
    for b in range(len(sums)):
        total = mass = 0.0
        for t in range(b * run, min((b + 1) * run, len(values))):
            weight = float(weights[t]) if weighted else 1.0
            total += weight * values[t]
            mass += weight
        sums[b] = total
        masses[b] = mass


@compiled
def steps_of(values, weights, weighted, run):
    """Means, masses and ends of the steps of the nearest sequence that never falls."""
    m = len(values)
    sums, masses, ends = np.empty(m), np.empty(m), np.empty(m, np.int64)
    runs = -(-m // run)
    _run_sums(values, weights, weighted, run, sums[:runs], masses[:runs])
    few, heavy, until = np.empty(runs), np.empty(runs), np.empty(runs, np.int64)
    found = _pool(sums[:runs] / masses[:runs], masses[:runs], few, heavy, until)
    slack = 1e-14 * np.abs(sums[:runs]).sum()
    means = few[:found] / heavy[:found]
    cuts = _sieve(values, weights, weighted, run, means, until[:found], slack, sums, masses, ends)
    means, cut_masses = sums[:cuts] / masses[:cuts], masses[:cuts].copy()
    cut_ends = ends[:cuts].copy()
    found = _pool(means, cut_masses, sums, masses, ends)
    return sums[:found] / masses[:found], masses[:found].copy(), cut_ends[ends[:found] - 1]


def pooled(values: Array, weights: Array | None = None) -> tuple[Array, Array, Array]:
    """The nearest sequence that never falls, as steps.

    Parameters
    ----------
    values : array of shape (m,)
        float32 or float64.
    weights : array of shape (m,), optional
        Above 0.

    Returns
    -------
    (array of shape (s,), array of shape (s,), array of int of shape (s,))
        Means, masses and ends of the steps: the first step is of ``values[: ends[0]]``.
    """
    some = np.empty(0) if weights is None else weights
    means, masses, ends = steps_of(values, some, weights is not None, RUN)
    return means, masses, ends

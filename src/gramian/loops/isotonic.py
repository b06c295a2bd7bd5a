"""Isotonic regression: the nearest sequence that never falls, by pooling adjacent violators.

    pool    walk on; whenever a mean is not above the one before, the two become one (weighted) mean
    sieve   first for runs of 32 values, whose sums come quickly; a block of the answer can end only
            where the sum of the values so far is not above that of the pooled runs, which is seldom
    join    pieces are pooled on their own, then their means are pooled the same way: the answer is
            the same, and pieces can run side by side

R. E. Barlow, D. J. Bartholomew, J. M. Bremner and H. D. Brunk, Statistical Inference under Order
Restrictions (1972); J. B. Kruskal, Psychometrika 29 (1964), who lists the ways to treat ties.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.loops.threads import pause, run
from gramian.loops.tile import compiled
from gramian.maps import Array

_piece = 1 << 16
_run = 32


@compiled
def _pool(values, weights, weighted, sums, masses, ends):
    """Pool ``values``; the blocks' sums, masses and ends are written, their number returned."""
    top = -1
    for t in range(len(values)):
        mass = float(weights[t]) if weighted else 1.0
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
def _spread(values, weights, weighted, means, ends, first):
    """Replace values by the means of their blocks; what that changed, and the size before."""
    misfit, size = 0.0, 0.0
    b = np.searchsorted(ends, first, side="right")
    mean, end = means[b], ends[b]
    for t in range(len(values)):
        if first + t >= end:
            b += 1
            mean, end = means[b], ends[b]
        value = float(values[t])
        weight = float(weights[t]) if weighted else 1.0
        misfit += weight * (value - mean) * (value - mean)
        size += weight * value * value
        values[t] = mean
    return misfit, size


def isotonic(values: Array, weights: Array | None = None) -> tuple[float, float]:
    """Replace ``values`` by the nearest sequence that never falls.

    Parameters
    ----------
    values : array of shape (m,)
        float32 or float64; changed.
    weights : array of shape (m,), optional
        Above 0.

    Returns
    -------
    (float, float)
        sum w (value - fitted)^2 and sum w value^2.
    """
    m, weighted = len(values), weights is not None
    parts = [slice(a, min(a + _piece, m)) for a in range(0, m, _piece)]
    w = np.empty(0) if weights is None else weights
    found: list[Any] = [None] * len(parts)

    def pool(i: int) -> None:
        pause()
        at = parts[i]
        means, masses, ends = _pooled(values[at], w[at], weighted)
        found[i] = means, masses, ends + at.start

    run(pool, len(parts))
    means, masses, ends = map(np.concatenate, zip(*found, strict=True))
    if len(parts) > 1:
        means, _, which = _pooled(means, masses, True)
        ends = ends[which - 1]
    sums = np.empty((len(parts), 2))

    def spread(i: int) -> None:
        at = parts[i]
        sums[i] = _spread(values[at], w[at], weighted, means, ends, at.start)

    run(spread, len(parts))
    misfit, size = sums.sum(axis=0)
    return float(misfit), float(size)


def _pooled(values: Array, weights: Array, weighted: bool) -> tuple[Array, Array, Array]:
    """Means, masses and ends of the blocks."""
    m = len(values)
    sums, masses, ends = np.empty(m), np.empty(m), np.empty(m, np.int64)
    runs = -(-m // _run)
    _run_sums(values, weights, weighted, _run, sums[:runs], masses[:runs])
    few, heavy, until = np.empty(runs), np.empty(runs), np.empty(runs, np.int64)
    found = _pool(sums[:runs] / masses[:runs], masses[:runs], True, few, heavy, until)
    slack = 1e-14 * float(np.abs(sums[:runs]).sum())
    cuts = _sieve(
        *(values, weights, weighted, _run, few[:found] / heavy[:found], until[:found], slack),
        *(sums, masses, ends),
    )
    means, cut_masses, cut_ends = (
        sums[:cuts] / masses[:cuts],
        masses[:cuts].copy(),
        ends[:cuts].copy(),
    )
    found = _pool(means, cut_masses, True, sums, masses, ends)
    return sums[:found] / masses[:found], masses[:found].copy(), cut_ends[ends[:found] - 1]

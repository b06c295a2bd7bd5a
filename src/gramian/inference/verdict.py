"""How many components? Every rule at once, and what to make of them.

The rules answer different questions, so they may differ and all be right:

    beyond chance    parallel analysis, the same deflated, Tracy-Widom, Marchenko-Pastur's edge
    best prediction  cross-validation of single cells, Gavish and Donoho's threshold, Minka
    description      share of variance, Kaiser, broken stick

The recommendation is parallel analysis': it assumes least (no law, no equal variances) and its
error rate is known. The others say how far one might go beyond it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from textwrap import fill
from typing import Any

import numpy as np

from gramian.checkpoint import checkpointing
from gramian.data.door import open_rows
from gramian.errors import MemoryRefusedError
from gramian.inference.deflation import deflated
from gramian.inference.holdout import left_out
from gramian.inference.horn import ParallelAnalysis, Test, checked, horn, identity
from gramian.inference.largest_root import tracy_widom
from gramian.inference.minka import minka_dimension
from gramian.inference.noise import gavish_donoho, marchenko_pastur
from gramian.inference.null import Progress, seed_of
from gramian.inference.rules import broken_stick, kaiser, share_of_variance
from gramian.inference.spectrum import Centered, center
from gramian.maps import Array
from gramian.show.text import count, listed

_further = 10  # axes beyond Horn's answer that the deflated analysis may test


@dataclass(frozen=True)
class Rule:
    """One rule's answer; ``None`` where it does not apply, and ``note`` says why."""

    name: str
    asks: str
    n_components: int | None
    note: str = ""


@dataclass(frozen=True)
class HowMany:
    """Answers of all rules, and a recommendation in words."""

    n_components: int
    rules: tuple[Rule, ...]
    recommendation: str
    eigenvalues: Array = field(repr=False)
    analysis: ParallelAnalysis = field(repr=False)
    shape: tuple[int, int]
    scale: str | None

    def __str__(self) -> str:
        wide = max(len(rule.name) for rule in self.rules)
        ask = max(len(rule.asks) for rule in self.rules)
        lines = [f"{'rule':<{wide}}  {'components':>10}  asks"]
        for rule in self.rules:
            answer = "-" if rule.n_components is None else f"{rule.n_components:,}"
            note = f"  ({rule.note})" if rule.note else ""
            lines.append(f"{rule.name:<{wide}}  {answer:>10}  {rule.asks:<{ask}}{note}".rstrip())
        return "\n".join([*lines, "", fill(self.recommendation, 100)])


def how_many(
    X: Any,
    *,
    scale: str | None = None,
    n_permutations: int = 199,
    alpha: float = 0.05,
    share: float = 0.9,
    memory: Any = None,
    random_state: Any = None,
    progress: Progress | None = None,
    checkpoint: Any = None,
) -> HowMany:
    """How many components these data have, by every rule in use.

    Parameters
    ----------
    X : array, frame, sparse matrix or path
    scale : {None, "unit"}
        "unit" for the correlation matrix: do this when units differ.
    n_permutations, alpha
        Of the parallel analysis; alpha of the Tracy-Widom test, too. The deflated analysis draws 39
        replicates an axis (at level 0.05) and tests at most 10 axes beyond parallel analysis.
    share : float
        Of the variance, for the rule of that name.
    memory : int, str or None
    random_state : int, Generator, RandomState or None
        ``None`` means 0.
    progress : function of (done, total), optional
    checkpoint : path, Checkpoint or None
        As for ``parallel_analysis``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gramian.inference import how_many
    >>> how_many(load_iris().data, scale="unit").n_components
    1
    """
    R, alpha = checked(n_permutations, alpha, "permutation", "sequential")
    opened, seed = open_rows(X, memory), seed_of(random_state)
    settings = {"R": R, "alpha": alpha, "scale": scale, "seed": seed, "memory": memory}
    with checkpointing(checkpoint, partial(identity, "how_many", settings, opened)):
        return _asked(center(opened, scale, memory), Test(R, alpha), seed, share, progress, scale)


def _asked(
    data: Centered, how: Test, seed: int, share: float, progress: Any, scale: str | None
) -> HowMany:
    """Every rule on centered data."""
    R, alpha = how.R, how.alpha
    parallel = horn(data, how, seed, progress)
    fewest = 2 * int(np.ceil(1 / alpha - 1e-9)) - 1  # each axis is a test of its own: 39 at 0.05
    rules = (
        Rule("parallel analysis", "beyond chance", parallel.n_components),
        *_deflated(data, Test(min(R, fewest), alpha, early_stop=True), seed, parallel.n_components),
        *_of_the_spectrum(data, alpha, share),
        _cross_validated(data, seed),
    )
    order = ("beyond chance", "best prediction", "description")
    rules = tuple(sorted(rules, key=lambda rule: order.index(rule.asks)))
    return HowMany(
        n_components=parallel.n_components,
        rules=rules,
        recommendation=_recommendation(parallel, rules),
        eigenvalues=parallel.eigenvalues,
        analysis=parallel,
        shape=data.shape,
        scale=scale,
    )


def _deflated(data: Centered, how: Test, seed: int, kept: int) -> list[Rule]:
    name, asks = "deflated parallel analysis", "beyond chance"
    if min(data.shape) < 20:
        return [Rule(name, asks, None, "needs 20 or more variables")]
    most = kept + _further
    found = deflated(data, how, seed, most).n_components
    stopped = found == most < min(data.rank, *data.shape)
    return [Rule(name, asks, found, "stopped there, there may be more" if stopped else "")]


def _of_the_spectrum(data: Centered, alpha: float, share: float) -> list[Rule]:
    """Rules that need the eigenvalues alone, in any unit."""
    (n, p), values = data.shape, data.values[: max(min(data.shape[0] - 1, data.shape[1]), 1)]
    every = np.pad(values, (0, p - len(values)))
    varied, rank = values[0] > 0, data.rank

    def from_many(name: str, asks: str, least: int, rule: Callable[[], int]) -> Rule:
        """Laws for large tables say nothing on a few axes."""
        if rank < least:
            return Rule(name, asks, None, f"needs {least} or more axes")
        return Rule(name, asks, rule())

    chance, prediction = "beyond chance", "best prediction"
    return [
        from_many(
            "Tracy-Widom test", chance, 30, lambda: tracy_widom(values[:rank], alpha).n_components
        ),
        from_many("Marchenko-Pastur edge", chance, 10, lambda: marchenko_pastur(values, n, p)),
        from_many("Gavish-Donoho threshold", prediction, 10, lambda: gavish_donoho(values, n, p)),
        _minka(values / (n - 1), n, p, rank),
        Rule("Kaiser (above average)", "description", kaiser(every)),
        Rule("broken stick", "description", broken_stick(every) if varied else 0),
        Rule(
            f"{100 * share:g}% of the variance",
            "description",
            share_of_variance(values, share) if varied else 0,
        ),
    ]


def _minka(values: Array, n: int, p: int, rank: int) -> Rule:
    name, asks = "Minka's evidence", "best prediction"
    if n <= p or p < 2:
        return Rule(name, asks, None, "needs more rows than columns, and 2 columns")
    if rank < p:
        return Rule(name, asks, None, "needs data of full rank")
    if p > 1000:
        return Rule(name, asks, None, "takes too long beyond 1,000 columns")
    return Rule(name, asks, minka_dimension(values, n))


def _cross_validated(data: Centered, seed: int) -> Rule:
    name, asks = "cross-validation of cells", "best prediction"
    try:
        return Rule(name, asks, left_out(data, 10, seed).n_components)
    except MemoryRefusedError:
        return Rule(name, asks, None, "needs more memory than allowed")


def _recommendation(parallel: ParallelAnalysis, rules: tuple[Rule, ...]) -> str:
    k = parallel.n_components
    others = [rule for rule in rules[1:] if rule.asks != "description" and rule.n_components]
    same = [rule.name for rule in others if rule.n_components == k]
    more = [rule for rule in others if (rule.n_components or 0) > k]
    if k == 0:
        first = (
            "Keep none: no axis carries more variance than unrelated variables would give it. "
            "Axes drawn anyway show chance."
        )
    else:
        first = (
            f"Keep {count(k, 'component')}: that many carry more variance than unrelated variables "
            f"would (parallel analysis, level {parallel.alpha:g})."
        )
    agree = f" So say{'s' * (len(same) == 1)} {listed(same)}." if same else ""
    if not more:
        return first + agree
    answers = [rule.n_components for rule in more]
    common = max(set(answers), key=answers.count)
    if answers.count(common) >= 3:
        names = listed([rule.name for rule in more if rule.n_components == common])
        return (
            f"{first}{agree} But {names} agree on {common:,}: strong axes can hide weaker ones "
            f"from parallel analysis, so up to {common:,} may be real."
        )
    names = listed([f"{rule.name} ({rule.n_components:,})" for rule in more])
    return (
        f"{first}{agree} More would be kept by {names}: weaker axes may be real, and for "
        "prediction or compression it may pay to keep them."
    )

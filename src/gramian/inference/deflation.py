"""Deflated parallel analysis: test each axis after those found are taken away.

1. test      the first axis by permutations, as Horn
2. deflate   if it is kept, Y <- Y - Y v v': what is left beside it
3. again     permute what is left, compare its first axis; stop at the first that fails

A strong axis gives every variable it touches a large variance, and permuting spreads that over the
null: weaker axes are then judged too severely (shadowing). Without the strong axis they are not.

E. Dobriban & A. B. Owen, Deterministic parallel analysis: an improved method for selecting factors
and principal components, J. R. Stat. Soc. B 81 (2019).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gramian.inference.horn import Test, checked
from gramian.inference.null import Null, Progress, seed_of
from gramian.inference.spectrum import Centered, center
from gramian.inference.table import axis_table
from gramian.maps import Array


@dataclass(frozen=True)
class DeflatedAnalysis:
    """Axes kept one after another; the last of ``p_values`` belongs to the axis that failed."""

    n_components: int
    eigenvalues: Array = field(repr=False)
    null_mean: Array = field(repr=False)
    p_values: Array = field(repr=False)
    alpha: float

    def __str__(self) -> str:
        columns = {
            "eigenvalue": self.eigenvalues,
            "null mean": self.null_mean,
            "p": self.p_values,
        }
        kept = np.arange(len(self.p_values)) < self.n_components
        return "\n".join(axis_table(columns, kept, len(kept)))


def deflated_parallel_analysis(
    X: Any,
    *,
    n_permutations: int = 199,
    alpha: float = 0.05,
    scale: str | None = None,
    null: str = "permutation",
    max_components: int | None = None,
    memory: Any = None,
    random_state: Any = None,
    progress: Progress | None = None,
) -> DeflatedAnalysis:
    """Parallel analysis with the axes found removed before the next is tested.

    Parameters
    ----------
    X : array, frame, sparse matrix or path
    n_permutations, alpha, scale, null, memory, random_state, progress
        As for ``parallel_analysis``. Replicates stop once the decision on an axis is made.
    max_components : int, optional
        Test no more axes than this.
    """
    R, alpha = checked(n_permutations, alpha, null, "sequential")
    data = center(X, scale, memory)
    how = Test(R, alpha, null, early_stop=True)
    return deflated(data, how, seed_of(random_state), max_components, progress)


def deflated(
    data: Centered,
    how: Test,
    seed: int,
    most: int | None = None,
    progress: Progress | None = None,
) -> DeflatedAnalysis:
    """Deflated parallel analysis of centered data (steps 1 to 3)."""
    n, p = data.shape
    most = min(n - 1, p, data.rank if most is None else min(most, data.rank))
    columns, V = data.columns, np.zeros((p, 0))
    means, p_values, kept = [], [], 0
    while kept < max(most, 1):
        if V.shape[1] < kept:
            V = data.axes(min(2 * kept + 4, data.rank))
        left = columns if kept == 0 else columns.without(V[:, :kept])
        observed = data.values[kept : kept + 1]
        source = Null(left, how.null, False, seed + kept)
        found = how.result(source, observed, (n, p), floor=data.floor, progress=progress)
        means.append(float(found.null_mean[0]))
        p_values.append(float(found.p_values_unbiased[0]))
        if not found.n_components:
            break
        kept += 1
    tested = len(p_values)
    return DeflatedAnalysis(
        n_components=kept,
        eigenvalues=data.in_units(data.values[:tested]),
        null_mean=data.in_units(np.array(means)),
        p_values=np.array(p_values),
        alpha=how.alpha,
    )

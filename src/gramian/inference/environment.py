"""Environment fits (envfit): which variables go with a configuration, and in which direction.

1. vectors    regress a variable on the axes: x = Z b; the arrow points along b / |b|, and r^2 is
              the share of the variable's variance that the axes explain
2. factors    a level lies at the mean of its points; r^2 = 1 - (squares within) / (squares in all)
3. permute    exchange the rows of the table against the points: p = share of r^2 as large

All permutations are sums of products: of the rows of M = [Q, Z, 1] (Q an orthonormal basis of the
centered axes), permuted, with the columns of T = [variables, their squares, levels as 0 and 1].
Weights w enter as means and sums do: r^2 is that of weighted least squares.

J. Oksanen and others, vegan: Community Ecology Package (function envfit).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from gramian.inference.choose import checked_count
from gramian.inference.null import seed_of
from gramian.inference.permutations import orders, p_value, strata_of
from gramian.inference.surroundings import Surroundings
from gramian.maps import Array
from gramian.show.text import visible

__all__ = ["EnvironmentFit", "FittedFactor", "FittedVector", "envfit"]


@dataclass(frozen=True)
class FittedVector:
    """A variable of numbers: the direction in which it rises (unit length), r^2 and p."""

    name: str
    direction: Array
    r_squared: float
    p_value: float

    @property
    def arrow(self) -> Array:
        """The direction times r: as long as the correlation with the axes."""
        return np.asarray(np.sqrt(self.r_squared) * self.direction)


@dataclass(frozen=True)
class FittedFactor:
    """A variable of levels: the mean of the points of each, r^2 and p."""

    name: str
    levels: tuple[str, ...]
    centroids: Array
    r_squared: float
    p_value: float


@dataclass(frozen=True)
class EnvironmentFit:
    """Variables fitted to a configuration; ``fit["pH"]`` is one of them.

    Attributes
    ----------
    vectors : tuple of FittedVector
    factors : tuple of FittedFactor
    n : int
        Points used.
    left_out : tuple of int
        Rows left out because a value is missing.
    n_permutations : int
    """

    vectors: tuple[FittedVector, ...]
    factors: tuple[FittedFactor, ...]
    n: int
    left_out: tuple[int, ...] = field(repr=False)
    n_permutations: int

    def __getitem__(self, name: str) -> FittedVector | FittedFactor:
        fitted: tuple[FittedVector | FittedFactor, ...] = (*self.vectors, *self.factors)
        for each in fitted:
            if each.name == name:
                return each
        raise KeyError(name)

    def __str__(self) -> str:
        lines = [f"{'vector':<16} {'r2':>7} {'p':>7}   direction"] if self.vectors else []
        for vector in self.vectors:
            direction = " ".join(f"{each:8.5f}" for each in vector.direction)
            lines.append(f"{_row(vector)}   {direction}")
        lines += [f"{'factor':<16} {'r2':>7} {'p':>7}   levels"] if self.factors else []
        lines += [f"{_row(each)}   {len(each.levels)}" for each in self.factors]
        end = f"{self.n} points, {self.n_permutations:,} permutations"
        if self.left_out:
            end += f"; rows left out for a missing value: {len(self.left_out)}"
        return "\n".join([*lines, end])


def envfit(
    Z: Any,
    table: Any,
    *,
    factors: Sequence[str] = (),
    n_permutations: int = 999,
    strata: Any = None,
    weights: Any = None,
    missing: Literal["refuse", "drop"] = "refuse",
    random_state: Any = None,
) -> EnvironmentFit:
    """Fit variables to a configuration: arrows for numbers, centroids for groups.

    Parameters
    ----------
    Z : array of shape (n, k)
        The configuration.
    table : frame, dict of columns, array of shape (n, p), or path
        One row a point. Columns of numbers become vectors, of text and booleans factors.
    factors : sequence of str
        Columns of numbers to be read as groups.
    n_permutations : int
        0 for none: then p is NaN.
    strata : sequence of length n, optional
        Rows are exchanged within their stratum only.
    weights : array of shape (n,), optional
        Of the points.
    missing : {"refuse", "drop"}
        "drop" leaves out rows with a missing value; ``left_out`` says which.
    random_state : int, Generator, RandomState or None
        ``None`` means 0.

    Returns
    -------
    EnvironmentFit

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.inference import envfit
    >>> Z = np.random.default_rng(0).normal(size=(40, 2))
    >>> table = {"slope": Z[:, 0] + Z[:, 1], "side": np.where(Z[:, 0] > 0, "east", "west")}
    >>> fit = envfit(Z, table)
    >>> fit["slope"].direction.round(4), round(fit["slope"].r_squared, 4), fit["slope"].p_value
    (array([0.7071, 0.7071]), 1.0, 0.001)
    >>> fit["side"].levels
    ('east', 'west')
    """
    around = Surroundings.of(Z, table, factors, weights, missing)
    R = checked_count(n_permutations, "n_permutations", 0)
    seed, groups = seed_of(random_state), strata_of(strata, around.n_rows)
    groups = None if groups is None else groups[around.kept]
    n = len(around.Z)
    observed = around.r_squared(np.arange(n)[None])[0]
    p = np.full(len(observed), np.nan)
    if R:
        blocks = orders(n, R, seed, strata=groups, width=around.M.shape[1])
        p = p_value(np.concatenate([around.r_squared(order) for order in blocks]), observed)
    q = len(around.names)
    return EnvironmentFit(
        tuple(map(FittedVector, around.names, around.directions(), observed.tolist(), p.tolist())),
        tuple(
            FittedFactor(name, levels, around.centroids(codes, len(levels)), *each)
            for (name, levels, codes), *each in zip(
                around.factors, observed[q:].tolist(), p[q:].tolist(), strict=True
            )
        ),
        n,
        around.left_out,
        R,
    )


def _row(each: FittedVector | FittedFactor) -> str:
    return f"{visible(each.name, 16):<16} {each.r_squared:7.4f} {each.p_value:7.3g}"

"""Eigenvalues: scree with Horn's band, the whole spectrum, and what more axes would explain."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from gramian.maps import Array
from gramian.report.html import table
from gramian.report.parts import TABLE_ROWS, Part, details, figure, part
from gramian.report.sentences import about_scree
from gramian.results import Embedding
from gramian.show.text import count, number, percent, visible

__all__ = ["residual_variance_part", "scree_part", "whole_spectrum_part"]


def scree_part(embedding: Embedding) -> Part | None:
    """Eigenvalues of the axes with shares, and Horn's band where it is known."""
    if embedding.eigenvalues is None:
        return None
    axes, chance = embedding.axes, embedding.chance
    headings = ["axis", "eigenvalue", "share", "cumulative"]
    rows = [
        [visible(a.name), number(a.eigenvalue, 6), percent(a.share), percent(a.cumulative)]
        for a in axes[:TABLE_ROWS]
    ]
    sentence = about_scree(axes)
    if chance is not None:
        headings += ["by chance", "chance, 95%"]
        bounds = [*zip(chance.middle.tolist(), chance.high.tolist(), strict=True)]
        bounds += [(np.nan, np.nan)] * len(rows)
        for row, (middle, high) in zip(rows, bounds, strict=False):
            row += [number(middle, 6), number(high, 6)]
        kept = chance.n_components
        sentence += (
            f" Horn's parallel analysis with {chance.replicates} permuted copies of the data finds "
            f"{count(kept, 'axis', 'axes') if kept else 'no axis'} above chance."
        )
    return part(
        "scree",
        "Scree",
        figure("scree-chart", sentence, "the scree plot"),
        details("The scree plot as a table", table("Eigenvalues", headings, rows)),
    )


def whole_spectrum_part(embedding: Embedding) -> Part | None:
    """All eigenvalues, and whether distances with such a spectrum are Euclidean."""
    if embedding.spectrum is None:
        return None
    values = np.asarray(embedding.spectrum, dtype=np.float64)
    order = range(len(values))
    shown = order if len(values) <= TABLE_ROWS else [*order[:150], *order[-50:]]
    some = "" if len(values) <= TABLE_ROWS else ": the first 150 and the last 50"
    rows = [(str(i + 1), number(float(values[i]), 6)) for i in shown]
    return part(
        "spectrum",
        "Whole spectrum",
        figure("spectrum-chart", _about_spectrum(values), "the spectrum"),
        details(
            "The spectrum as a table",
            table(f"All {len(values):,} eigenvalues{some}", ("rank", "eigenvalue"), rows),
        ),
    )


def residual_variance_part(embedding: Embedding) -> Part | None:
    """What maps of 1, 2, ... axes leave unexplained."""
    if embedding.residual_variance is None:
        return None
    values = np.asarray(embedding.residual_variance, dtype=np.float64)
    rows = [(str(i + 1), percent(v)) for i, v in enumerate(values.tolist())]
    caption = "Residual variance by number of axes"
    return part(
        "residual-variance",
        "Residual variance",
        figure("residual-chart", _about_residual_variance(values), "the residual variance"),
        details(
            "The residual variance as a table",
            table(caption, ("axes", "residual variance"), rows),
        ),
    )


def _about_spectrum(values: Array) -> str:
    """The Euclidean certificate in a sentence."""
    rounding = len(values) * np.finfo(np.float64).eps * max(float(np.abs(values).max()), 0.0)
    negative = values[values < -rounding]
    whole = f"{count(len(values), 'eigenvalue')} from {number(values[0], 3)}"
    if not len(negative):
        return (
            f"{whole} down to 0: none is negative beyond rounding, so the distances are Euclidean "
            "and enough axes show them exactly."
        )
    sizes = float(np.abs(negative).sum() / np.abs(values).sum())
    return (
        f"{whole} down to {number(values[-1], 3)}: {len(negative):,} "
        f"{'is' if len(negative) == 1 else 'are'} negative and make "
        f"{percent(sizes)} of the sum of sizes, so the distances are not Euclidean and no map "
        "shows that part."
    )


def _about_residual_variance(values: Array) -> str:
    """Where the curve has its elbow: the last axis that still halves what is left, or nearly."""
    first = f"One axis leaves {percent(float(values[0]))} of the variance of distances unexplained"
    if len(values) == 1:
        return first + "."
    gains = [before - after for before, after in pairwise(values.tolist())]
    large = [i for i, gain in enumerate(gains) if gain > 0.25 * max([*gains, 1e-12])]
    elbow = (large[-1] if large else 0) + 2
    told = f"{first}, {len(values)} leave {percent(float(values[-1]))}"
    if elbow == len(values):
        return f"{told}; the curve still falls, so more axes may show more."
    return f"{told}; after {count(elbow, 'axis', 'axes')} the curve flattens."

"""What a chart shows, in one sentence, for readers who cannot see it.

The same sentences stand under the charts: whoever can see them reads faster with a hint.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gramian.maps import Array
from gramian.results import Axis, Embedding
from gramian.show.colors import Groups, Numbers
from gramian.show.text import count, listed, number, percent, visible

__all__ = [
    "about_certificate",
    "about_circle",
    "about_contributions",
    "about_map",
    "about_scree",
]


def about_map(embedding: Embedding) -> str:
    """Axes, size, coloring, and which groups lie apart."""
    axes = embedding.axes
    n = count(len(embedding.coordinates), "observation")
    if len(axes) == 1:
        place = f"{visible(axes[0].title)} across, row order up"
    else:
        place = f"{visible(axes[0].title)} across, {visible(axes[1].title)} up"
    name = embedding.color_column()
    if name is None:
        return f"Map of {n}: {place}."
    groups = embedding.coloring(name)
    if isinstance(groups, Numbers):
        return f"Map of {n}: {place}; colored by {visible(name)}{_range(groups.values)}."
    assert groups is not None  # color_column names only columns that can color
    sizes = [f"{level} ({size:,})" for level, size in zip(groups.levels, groups.sizes, strict=True)]
    apart = _apart(embedding.coordinates, axes, groups)
    return f"Map of {n}: {place}; colored by {visible(name)}: {listed(sizes)}.{apart}"


def about_scree(axes: Sequence[Axis]) -> str:
    """How fast the eigenvalues fall and how much they carry together."""
    values = [axis.eigenvalue for axis in axes]
    if len(axes) == 1:
        first = f"One eigenvalue, {number(values[0], 3)}"
    else:
        first = (
            f"{len(axes)} eigenvalues from {number(values[0], 3)} down to {number(values[-1], 3)}"
        )
    if axes[0].share != axes[0].share:
        return first + "."
    text = f"{first}: {visible(axes[0].name)} carries {percent(axes[0].share)} of the total"
    if len(axes) > 1:
        text += f", two axes {percent(axes[1].cumulative)}"
    if len(axes) > 2:
        text += f", all {len(axes)} together {percent(axes[-1].cumulative)}"
    return text + "."


def about_circle(embedding: Embedding, correlations: Array) -> str:
    """The variable that goes most with each of the first two axes."""
    names = embedding.variable_names
    parts = []
    for axis, values in zip(embedding.axes[:2], correlations.T, strict=False):
        best = int(np.argmax(np.abs(values)))
        parts.append(
            f"{visible(axis.name)} goes most with {visible(names[best])} ({_r(values[best])})"
        )
    return f"Correlations of {count(len(names), 'variable')} with the axes: {listed(parts)}."


def about_contributions(embedding: Embedding) -> str:
    """The variables that make the first axis."""
    shares = np.square(np.asarray(embedding.loadings, dtype=np.float64)[:, 0])
    names = embedding.variable_names
    most = np.argsort(-shares, kind="stable")[:3].tolist()
    made = [f"{visible(names[j])} ({percent(float(shares[j]))})" for j in most]
    return f"{visible(embedding.axes[0].name)} is made most by {listed(made)}."


def about_certificate(embedding: Embedding) -> str:
    """What the residuals guarantee."""
    if embedding.residuals is None or len(embedding.residuals) == 0:
        return "This method returns no eigenpairs, so there are no residuals to check."
    worst = float(np.max(embedding.residuals))
    text = (
        "Every eigenpair was checked after it was computed: the residual is |A v − λ v| "
        "divided by the largest |λ|. "
    )
    if not embedding.certified:
        return text + (
            "Not all pairs reached the tolerance. Read the axes marked “no” as estimates, "
            "or ask for a stronger solver."
        )
    bound = "to rounding" if worst < 1e-13 else f"within {number(worst, 2)} of the largest"
    return text + (
        f"For a symmetric A each eigenvalue shown is then right {bound}. "
        "Where two eigenvalues are nearly equal, the directions between them are arbitrary."
    )


def _r(correlation: float) -> str:
    """``r = −0.84`` on one line, with a true minus sign."""
    return f"r = {correlation:.2f}".replace("-", "−").replace(" ", "\u00a0")


def _range(values: Array) -> str:
    finite = values[np.isfinite(values)]
    if not finite.size:
        return ""
    return f" from {number(finite.min(), 4)} to {number(finite.max(), 4)}"


def _apart(coordinates: Array, axes: Sequence[Axis], groups: Groups) -> str:
    """The group that lies apart from most others along an axis: the plainest separation."""
    present = [code for code, size in enumerate(groups.sizes) if size]
    if not 1 < len(present) <= 8:
        return ""
    for j, axis in enumerate(axes[:2]):
        spans = {code: _span(coordinates[groups.codes == code, j]) for code in present}
        apart = {
            a: [b for b in present if spans[a][1] < spans[b][0] or spans[b][1] < spans[a][0]]
            for a in present
        }
        best = max(apart, key=lambda code: len(apart[code]))
        on = f" On {visible(axis.name)}"
        if len(present) > 2 and all(len(others) == len(present) - 1 for others in apart.values()):
            return f"{on} no two groups overlap."
        if apart[best]:
            others = listed([f"“{groups.levels[b]}”" for b in apart[best]])
            return f"{on} “{groups.levels[best]}” does not overlap {others}."
    return " On both axes every group overlaps every other."


def _span(values: Array) -> tuple[float, float]:
    return float(values.min()), float(values.max())

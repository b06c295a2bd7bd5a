"""The map of the observations, alone or with the variables on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from gramian.errors import GramianError
from gramian.inference.uncertainty import ellipses_of
from gramian.maps import Array
from gramian.plot.style import (
    BLUE,
    GRAY,
    INK,
    MARKERS,
    axis_pair,
    map_frame,
    name_points,
    new_axes,
    plain,
)
from gramian.plot.variables import arrows, common_length, variable_names
from gramian.results import Embedding, as_embedding
from gramian.show.colors import PALETTE, SCALE, Groups, Numbers, coloring, grouping

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["biplot", "map"]


def map(
    result: Any,
    axes: tuple[int, int] = (0, 1),
    color: str | Sequence[Any] | None = None,
    labels: bool = False,
    ax: Axes | None = None,
    *,
    outline: Literal["ellipse", "hull"] | None = None,
) -> Axes:
    """Scatter of the observations on two axes, at the same scale.

    Parameters
    ----------
    result : Embedding
    axes : pair of int
        Counted from 0.
    color : str, sequence of length n, or None
        A column that came with the data, or values of your own: groups get colors and shapes,
        numbers a color scale. Default: the embedding's own color column, if it has one.
    labels : bool
        Write the names of the points, as many as find room.
    ax : matplotlib Axes, optional
        Default: those of a new figure.
    outline : {"ellipse", "hull"}, optional
        Draw round each group, with a cross at its mean: the ellipse that holds 95 % of a normal
        distribution with the group's mean and covariance, or the smallest convex polygon.

    Returns
    -------
    matplotlib Axes
    """
    embedding = as_embedding(result)
    a, b = axis_pair(embedding, axes)
    if outline not in (None, "ellipse", "hull"):
        raise GramianError(f'outline is "ellipse", "hull" or None, got {outline!r}')
    ax = new_axes(ax, (6.0, 4.5))
    points = np.asarray(embedding.coordinates)[:, [a, b]]
    name, column = _color(embedding, color)
    _scatter(ax, points, name, column)
    if outline is not None:
        _outline(ax, points, column, outline)
    map_frame(ax, embedding, (a, b))
    if labels:
        name_points(ax, embedding, points)
    return ax


def biplot(
    result: Any,
    axes: tuple[int, int] = (0, 1),
    color: str | Sequence[Any] | None = None,
    labels: bool = False,
    ax: Axes | None = None,
    *,
    scaling: Literal[1, 2] = 1,
    most: int = 15,
) -> Axes:
    """The map with the variables as arrows.

    Parameters
    ----------
    result : Embedding
        With ``loadings``.
    axes, color, labels, ax
        As for ``map``.
    scaling : {1, 2}
        1: distances between points are true, arrows are loadings. 2: axes of points are brought to
        unit variance and arrows multiplied by the standard deviations taken from them, so that
        arrows of correlated variables point the same way and their lengths compare as standard
        deviations do.
    most : int
        Draw at most so many variables, the heaviest ones.

    Returns
    -------
    matplotlib Axes
        Directions and relative lengths of the arrows are true; their common length is chosen to
        fit the map.
    """
    embedding = as_embedding(result)
    if embedding.loadings is None:
        raise GramianError(f"{embedding.method} has no loadings for a biplot")
    pair = list(axis_pair(embedding, axes))
    points = np.asarray(embedding.coordinates)
    tips = np.nan_to_num(np.asarray(embedding.loadings, dtype=np.float64))
    if scaling == 2:
        spread = np.std(points, axis=0, dtype=np.float64, ddof=1)
        points = np.divide(points, spread, out=np.zeros(points.shape), where=spread > 0)
        tips = tips * spread
    elif scaling != 1:
        raise GramianError(f"scaling is 1 or 2, got {scaling!r}")
    ax = map(replace(embedding, coordinates=points), axes, color, labels, ax)
    scale = common_length(points[:, pair], tips[:, pair])
    names = variable_names(embedding, len(tips))
    arrows(ax, names, scale * tips[:, pair], most, INK)
    return ax


def _color(
    embedding: Embedding, color: str | Sequence[Any] | None
) -> tuple[str, Groups | Numbers | None]:
    """Name and content of what colors the points."""
    if color is None:
        name = embedding.color_column()
        return ("", None) if name is None else (name, embedding.coloring(name))
    if isinstance(color, str):
        if color not in embedding.columns:
            known = ", ".join(plain(name) for name in embedding.columns) or "none"
            raise GramianError(f"there is no column {plain(color)!r} to color by; known: {known}")
        values: Any = embedding.columns[color]
    else:
        values = color
        if len(values) != len(embedding.coordinates):
            raise GramianError(
                f"color holds {len(values)} values for {len(embedding.coordinates)} points"
            )
    return color if isinstance(color, str) else "", coloring(values) or grouping(values)


def _scatter(ax: Axes, points: Array, name: str, column: Groups | Numbers | None) -> None:
    size = 30.0 if len(points) <= 500 else 12.0 if len(points) <= 5000 else 4.0
    style: dict[str, Any] = {
        "s": size,
        "alpha": 0.85,
        "linewidths": 0.4 if len(points) <= 500 else 0.0,
    }
    if column is None:
        ax.scatter(*points.T, color=BLUE, edgecolors="white", **style)
        return
    if isinstance(column, Numbers):
        _scatter_numbers(ax, points, name, column, style)
        return
    for code, level in enumerate(column.levels):
        members = column.codes == code
        ax.scatter(
            *points[members].T,
            color=PALETTE[code % len(PALETTE)],
            marker=MARKERS[code % len(MARKERS)],
            edgecolors="white",
            label=plain(level, 30),
            **style,
        )
    many = len(column.levels) > 6
    ax.legend(
        title=plain(name, 30) if name else None,
        frameon=False,
        fontsize=8.5,
        title_fontsize=9,
        markerscale=(30.0 / size) ** 0.5,
        loc="upper left" if many else "best",
        bbox_to_anchor=(1.0, 1.0) if many else None,
    )


def _scatter_numbers(
    ax: Axes, points: Array, name: str, column: Numbers, style: dict[str, Any]
) -> None:
    present = np.isfinite(column.values)
    if not present.all():
        ax.scatter(*points[~present].T, color=GRAY, marker="x", label="missing", **style)
    x, y = points[present].T
    drawn = ax.scatter(x, y, c=column.values[present], cmap=SCALE, **style)
    bar = ax.figure.colorbar(drawn, ax=ax, label=plain(name, 30), shrink=0.8)
    bar.outline.set_visible(False)


def _outline(ax: Axes, points: Array, column: Groups | Numbers | None, outline: str) -> None:
    """An ellipse or a polygon round each group that has enough points for one."""
    from matplotlib.patches import Ellipse, Polygon
    from scipy.spatial import ConvexHull, QhullError

    if not isinstance(column, Groups):
        column = Groups(("all",), np.zeros(len(points), dtype=np.intp))
    for code in range(len(column.levels)):
        members = np.asarray(points[column.codes == code], np.float64)
        paint = PALETTE[code % len(PALETTE)]
        look: dict[str, Any] = {
            "edgecolor": paint,
            "facecolor": (paint, 0.08),
            "linewidth": 1,
            "zorder": 0.5,
        }
        if len(members) < 3:
            continue
        ax.plot(*members.mean(axis=0), "+", color=INK, markersize=9, zorder=4)
        if outline == "hull":
            try:
                around = members[ConvexHull(members).vertices]
            except QhullError:  # all on one line
                continue
            ax.add_patch(Polygon(around, **look))
        else:
            ((x, y, long, short, angle),) = ellipses_of(
                members.mean(axis=0)[None], np.cov(members.T)[None], 0.95
            )
            ax.add_patch(Ellipse((x, y), 2 * long, 2 * short, angle=angle, **look))
    ax.autoscale_view()

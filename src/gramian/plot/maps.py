"""The map of the observations, alone or with the variables on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gramian.errors import GramianError
from gramian.maps import Array
from gramian.plot.style import BLUE, GRAY, INK, MARKERS, axis_pair, new_axes, place_texts, plain
from gramian.plot.variables import arrows
from gramian.results import Embedding, as_embedding
from gramian.show.colors import PALETTE, SCALE, Groups, Numbers, coloring, grouping

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["biplot", "map"]

_MOST_LABELS = 300


def map(
    result: Any,
    axes: tuple[int, int] = (0, 1),
    color: str | Sequence[Any] | None = None,
    labels: bool = False,
    ax: Axes | None = None,
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

    Returns
    -------
    matplotlib Axes
    """
    embedding = as_embedding(result)
    a, b = axis_pair(embedding, axes)
    ax = new_axes(ax, (6.0, 4.5))
    points = np.asarray(embedding.coordinates)[:, [a, b]]
    name, column = _color(embedding, color)
    _scatter(ax, points, name, column)
    for line in (ax.axhline, ax.axvline):
        line(0, color="#d5dce3", linewidth=0.8, zorder=0)
    ax.set_xlabel(plain(embedding.axes[a].title))
    ax.set_ylabel(plain(embedding.axes[b].title))
    # Distances on the map mean something only if both axes share a scale.
    ax.set_aspect("equal", adjustable="datalim")
    if labels:
        shown = slice(_MOST_LABELS)
        names = embedding.labels or tuple(str(i + 1) for i in range(len(points)))
        texts = [plain(text, 24) for text in names[shown]]
        place_texts(ax, points[shown], texts, fontsize=7.5, color=INK)
    return ax


def biplot(
    result: Any,
    axes: tuple[int, int] = (0, 1),
    color: str | Sequence[Any] | None = None,
    labels: bool = False,
    ax: Axes | None = None,
    *,
    most: int = 15,
) -> Axes:
    """The map with the variables as arrows, their loadings stretched to the size of the map.

    Parameters
    ----------
    result : Embedding
        With ``loadings``.
    axes, color, labels, ax
        As for ``map``.
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
    a, b = axis_pair(embedding, axes)
    ax = map(embedding, axes, color, labels, ax)
    loadings = np.nan_to_num(np.asarray(embedding.loadings, dtype=np.float64)[:, [a, b]])
    reach = np.abs(np.asarray(embedding.coordinates)[:, [a, b]]).max(axis=0)
    longest = np.abs(loadings).max(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        stretch = np.nanmin(np.where(longest > 0, reach / longest, np.nan))
    scale = 0.85 * float(stretch) if np.isfinite(stretch) else 1.0
    arrows(ax, embedding, scale * loadings, most, INK)
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

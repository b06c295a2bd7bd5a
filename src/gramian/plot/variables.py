"""Correlation circle: which variables go with which axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gramian.errors import GramianError
from gramian.maps import Array
from gramian.plot.style import BLUE, GRAY, INK, axis_pair, map_frame, new_axes, place_texts, plain
from gramian.results import Embedding, as_embedding

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["arrows", "common_length", "correlation_circle", "strongest", "variable_names"]


def correlation_circle(
    result: Any, axes: tuple[int, int] = (0, 1), ax: Axes | None = None, *, most: int = 30
) -> Axes:
    """Variables as arrows of their correlations with two axes, inside the unit circle.

    Parameters
    ----------
    result : Embedding
        With ``correlations``.
    axes : pair of int
        Counted from 0.
    ax : matplotlib Axes, optional
        Default: those of a new figure.
    most : int
        Draw at most so many variables, the best represented ones.

    Returns
    -------
    matplotlib Axes
    """
    embedding = as_embedding(result)
    if embedding.correlations is None:
        raise GramianError(f"{embedding.method} has no correlations of variables with axes")
    a, b = axis_pair(embedding, axes)
    ax = new_axes(ax, (5.0, 5.0))
    turn = np.linspace(0, 2 * np.pi, 361)
    ax.plot(np.cos(turn), np.sin(turn), color=GRAY, linewidth=1)
    map_frame(ax, embedding, (a, b))
    ticks = [-1, -0.5, 0, 0.5, 1]
    ax.set(xlim=(-1.2, 1.2), ylim=(-1.2, 1.2), xticks=ticks, yticks=ticks)
    ax.set_aspect("equal", adjustable="box")
    tips = np.nan_to_num(np.asarray(embedding.correlations, dtype=np.float64)[:, [a, b]])
    arrows(ax, variable_names(embedding, len(tips)), tips, most, BLUE)
    return ax


def arrows(
    ax: Axes, names: Sequence[str], tips: Array, most: int, color: str, start: Any = (0.0, 0.0)
) -> None:
    """Draw the longest arrows from ``start`` and name them."""
    kept, start = strongest(tips, most), np.asarray(start, np.float64)
    ends = tips[kept] + start
    for x, y in ends:
        ax.annotate(
            "",
            (x, y),
            xytext=(start[0], start[1]),
            arrowprops={"arrowstyle": "-|>", "color": color, "lw": 1.3, "shrinkA": 0, "shrinkB": 0},
        )
    texts = [plain(names[j], 24) for j in kept]
    place_texts(ax, ends, texts, away_from=start, fontsize=9, color=INK)


def variable_names(embedding: Embedding, m: int) -> tuple[str, ...]:
    """Names of the variables, or their numbers."""
    return embedding.variables or tuple(f"variable {j + 1}" for j in range(m))


def common_length(points: Array, tips: Array) -> float:
    """A factor that makes the longest arrows reach as far as the points do."""
    reach, longest = np.abs(points).max(axis=0), np.abs(tips).max(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        stretch = np.nanmin(np.where(longest > 0, reach / longest, np.nan))
    return 0.85 * float(stretch) if np.isfinite(stretch) else 1.0


def strongest(tips: Array, most: int) -> list[int]:
    """Numbers of the longest arrows, longest first, so that they get the best places."""
    order: list[int] = np.argsort(-np.hypot(tips[:, 0], tips[:, 1]), kind="stable").tolist()
    return order[:most]

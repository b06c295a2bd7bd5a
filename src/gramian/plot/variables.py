"""Correlation circle: which variables go with which axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gramian.errors import GramianError
from gramian.maps import Array
from gramian.plot.style import BLUE, GRAY, INK, axis_pair, new_axes, place_texts, plain
from gramian.results import Embedding, as_embedding

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["arrows", "correlation_circle", "strongest"]


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
    for line in (ax.axhline, ax.axvline):
        line(0, color="#d5dce3", linewidth=0.8, zorder=0)
    ax.set(xlim=(-1.2, 1.2), ylim=(-1.2, 1.2), aspect="equal")
    ax.set_xticks([-1, -0.5, 0, 0.5, 1])
    ax.set_yticks([-1, -0.5, 0, 0.5, 1])
    ax.set_xlabel(plain(embedding.axes[a].title))
    ax.set_ylabel(plain(embedding.axes[b].title))
    tips = np.nan_to_num(np.asarray(embedding.correlations, dtype=np.float64)[:, [a, b]])
    arrows(ax, embedding, tips, most, BLUE)
    return ax


def arrows(ax: Axes, embedding: Embedding, tips: Array, most: int, color: str) -> None:
    """Draw the longest arrows from the origin and name them."""
    kept = strongest(tips, most)
    for x, y in tips[kept]:
        ax.annotate(
            "",
            (x, y),
            xytext=(0, 0),
            arrowprops={"arrowstyle": "-|>", "color": color, "lw": 1.3, "shrinkA": 0, "shrinkB": 0},
        )
    names = embedding.variables or tuple(f"variable {j + 1}" for j in range(len(tips)))
    texts = [plain(names[j], 24) for j in kept]
    place_texts(ax, tips[kept], texts, away_from=np.zeros(2), fontsize=9, color=INK)


def strongest(tips: Array, most: int) -> list[int]:
    """Numbers of the longest arrows, longest first, so that they get the best places."""
    order: list[int] = np.argsort(-np.hypot(tips[:, 0], tips[:, 1]), kind="stable").tolist()
    return order[:most]

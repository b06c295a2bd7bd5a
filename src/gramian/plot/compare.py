"""Two maps of the same points laid on each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gramian.errors import GramianError
from gramian.plot.style import (
    BLUE,
    GRAY,
    VERMILION,
    axis_pair,
    map_frame,
    name_points,
    new_axes,
    plain,
)
from gramian.quality.procrustes import procrustes as laid_on
from gramian.results import as_embedding

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["procrustes"]


def procrustes(
    result: Any,
    other: Any,
    axes: tuple[int, int] = (0, 1),
    labels: bool = False,
    ax: Axes | None = None,
    *,
    scale: bool = True,
) -> Axes:
    """The map of ``result``, with an arrow from each point to where ``other`` has it.

    Parameters
    ----------
    result, other : Embedding
        Of the same points in the same order, with the same number of axes. ``other`` is moved,
        turned, mirrored, and with ``scale`` stretched, so that the arrows are as short as can be.
    axes : pair of int
        Counted from 0.
    labels : bool
        Write the names of the points, as many as find room.
    ax : matplotlib Axes, optional
        Default: those of a new figure.
    scale : bool
        Whether ``other`` may be stretched.

    Returns
    -------
    matplotlib Axes
        The title says how much differs: 0 % where both maps have the same shape.
    """
    embedding, moved = as_embedding(result), as_embedding(other)
    a, b = axis_pair(embedding, axes)
    if embedding.labels and moved.labels and embedding.labels != moved.labels:
        raise GramianError("the two maps name their points differently; bring them into one order")
    found = laid_on(np.asarray(embedding.coordinates), np.asarray(moved.coordinates), scale=scale)
    start = np.asarray(embedding.coordinates, np.float64)[:, [a, b]]
    end = found.fitted[:, [a, b]]
    ax = new_axes(ax, (6.0, 4.5))
    ax.quiver(
        *start.T,
        *(end - start).T,
        angles="xy",
        scale_units="xy",
        scale=1,
        width=0.004,
        color=VERMILION,
    )
    ax.plot(*start.T, "o", color=BLUE, markersize=4 if len(start) <= 500 else 2)
    ax.update_datalim(end)
    ax.autoscale_view()
    map_frame(ax, embedding, (a, b))
    ax.set_title(
        f"dots {plain(embedding.method, 20)}, arrows to {plain(moved.method, 20)}; "
        f"{100 * found.symmetric:.2g}% of the squares differ",
        fontsize=9,
        color=GRAY,
    )
    if labels:
        name_points(ax, embedding, start)
    return ax

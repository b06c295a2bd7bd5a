"""Variables fitted to a map: arrows for numbers, names at centroids for groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gramian.errors import GramianError
from gramian.plot.maps import map as draw_map
from gramian.plot.style import INK, VERMILION, axis_pair, place_texts, plain
from gramian.plot.variables import arrows, common_length
from gramian.results import as_embedding

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from gramian.inference.environment import EnvironmentFit

__all__ = ["envfit"]


def envfit(
    result: Any,
    fit: EnvironmentFit,
    axes: tuple[int, int] = (0, 1),
    color: str | Sequence[Any] | None = None,
    labels: bool = False,
    ax: Axes | None = None,
    *,
    p_max: float = 1.0,
    most: int = 30,
) -> Axes:
    """The map with an arrow for each fitted variable and a cross for each level of a factor.

    Parameters
    ----------
    result : Embedding
        What the variables were fitted to.
    fit : EnvironmentFit
        From ``gramian.inference.envfit``, over all axes of the map.
    axes, color, labels, ax
        As for ``map``.
    p_max : float
        Draw variables whose p is at most this.
    most : int
        Draw at most so many arrows, the longest ones.

    Returns
    -------
    matplotlib Axes
        An arrow is as long as the correlation of its variable with the axes; their common length
        is chosen to fit the map.
    """
    embedding = as_embedding(result)
    pair = list(axis_pair(embedding, axes))
    points = np.asarray(embedding.coordinates, np.float64)
    k = points.shape[1]
    sizes = {each.direction.size for each in fit.vectors}
    sizes |= {each.centroids.shape[1] for each in fit.factors}
    if sizes - {k}:
        raise GramianError(f"the variables were fitted to {max(sizes)} axes, and the map has {k}")
    ax = draw_map(embedding, axes, color, labels, ax)
    vectors = [each for each in fit.vectors if not each.p_value > p_max]
    factors = [each for each in fit.factors if not each.p_value > p_max]
    if factors:
        centers = np.vstack([each.centroids for each in factors])[:, pair]
        names = [f"{each.name} {level}" for each in factors for level in each.levels]
        ax.plot(*centers.T, "x", color=VERMILION, markersize=7, markeredgewidth=1.8, zorder=4)
        texts = [plain(name, 24) for name in names]
        place_texts(ax, centers, texts, fontsize=9, color=VERMILION)
    if vectors:
        tips = np.array([each.arrow for each in vectors])[:, pair]
        middle = points[:, pair].mean(axis=0)
        length = common_length(points[:, pair] - middle, tips)
        names = [each.name for each in vectors]
        arrows(ax, names, length * tips, most, INK, start=middle)
    return ax

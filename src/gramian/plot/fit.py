"""How well a map keeps distances: Shepard's diagram, and what is left with more axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gramian.data.dissimilarities import open_distances
from gramian.errors import GramianError
from gramian.evidence import Shepard
from gramian.maps import Array
from gramian.plot.bars import measured
from gramian.plot.style import BLUE, GRAY, GRID, VERMILION, new_axes
from gramian.quality.regression import ShepardFit
from gramian.results import Embedding, as_embedding
from gramian.show.colors import SCALE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["residual_variance", "shepard", "stress_scree"]

_MOST_DOTS = 20_000


def shepard(
    distances: Any, fitted: Any = None, ax: Axes | None = None, *, disparities: Any = None
) -> Axes:
    """Shepard's diagram: distances on the map against those that were given, a dot a pair.

    Parameters
    ----------
    distances : distances as for ``ClassicalMDS(metric="precomputed")``, or Shepard
        What was given: a square matrix, the condensed vector, a frame, a path. Or all of it at
        once, from ``gramian.quality.shepard``: then the title says how well the regression fits.
    fitted : Embedding, fitted method, or distances
        The map (all of its axes count), or the distances on it.
    ax : matplotlib Axes, optional
        Default: those of a new figure.
    disparities : distances, optional
        What the map was fitted to, if that is not the distances themselves (ordinal and spline
        MDS): drawn as a line. Without it the line is where both agree.

    Returns
    -------
    matplotlib Axes
        Beyond 20,000 pairs the dots become a density of all pairs.
    """
    if isinstance(distances, Shepard):
        given, shown, disparities = distances.dissimilarities, distances.distances, None
        line = given if distances.disparities is None else distances.disparities
        name = "exact" if distances.disparities is None else "disparities"
    else:
        given, shown = _pairs(distances), _shown(fitted)
        line = given if disparities is None else _pairs(disparities)
        name = "exact" if disparities is None else "disparities"
    if not len(given) == len(shown) == len(line):
        raise GramianError(
            f"{len(given):,} pairs have distances and {len(shown):,} are on the map"
            + ("" if disparities is None else f", with {len(line):,} disparities")
        )
    ax = new_axes(ax, (5.0, 4.5))
    if len(given) > _MOST_DOTS:
        drawn = ax.hexbin(given, shown, gridsize=60, bins="log", mincnt=1, cmap=SCALE)
        bar = ax.figure.colorbar(drawn, ax=ax, label="pairs", shrink=0.8)
        bar.outline.set_visible(False)
    else:
        size = 14.0 if len(given) < 500 else 4.0
        ax.scatter(given, shown, s=size, color=BLUE, alpha=0.5, linewidths=0)
    order = np.lexsort((line, given))
    ax.plot(given[order], line[order], color=VERMILION, linewidth=1.3, label=name)
    ax.set_xlim(left=0)
    ax.set_ylim(bottom=0)
    ax.set_xlabel("distance given")
    ax.set_ylabel("distance on the map")
    ax.grid(color=GRID)
    ax.legend(frameon=False, fontsize=9, loc="upper left")
    if isinstance(distances, ShepardFit):
        ax.set_title(
            f"stress-1 {distances.stress_1:.3g}; nonmetric fit {distances.nonmetric_fit:.3f}, "
            f"linear fit {distances.linear_fit:.3f}",
            fontsize=9,
            color=GRAY,
        )
    return ax


def residual_variance(result: Any, ax: Axes | None = None) -> Axes:
    """What maps of 1, 2, ... axes leave unexplained: look for the bend.

    Parameters
    ----------
    result : array of shape (m,), or Embedding with the measure ``residual_variance``
        Between 0 and 1, for one axis, two axes, and so on.
    ax : matplotlib Axes, optional
        Default: those of a new figure.

    Returns
    -------
    matplotlib Axes
    """
    values = measured(result, "residual_variance")
    return _falling(np.arange(1, len(values) + 1), values, "residual variance", ax)


def stress_scree(result: Any, ax: Axes | None = None) -> Axes:
    """The stress of maps of 1, 2, ... axes: look for the bend.

    Parameters
    ----------
    result : StressScree, or array of shape (m,)
        From ``gramian.inference.stress_by_dimension``, or the stress of one axis, two, and so on.
    ax : matplotlib Axes, optional
        Default: those of a new figure.

    Returns
    -------
    matplotlib Axes
    """
    if hasattr(result, "dimensions"):
        return _falling(result.dimensions, result.stress, "stress", ax)
    values = measured(result, "stress")
    return _falling(np.arange(1, len(values) + 1), values, "stress", ax)


def _falling(axes: Array, values: Array, what: str, ax: Axes | None) -> Axes:
    """A line over numbers of axes, from 0."""
    ax = new_axes(ax, (5.0, 3.6))
    ax.plot(axes, values, color=BLUE, marker="o", markersize=5)
    ax.set_ylim(0, max(1.08 * float(values.max()), 1e-12))
    ax.locator_params(axis="x", integer=True)
    ax.set_xlabel("number of axes")
    ax.set_ylabel(what)
    ax.grid(axis="y", color=GRID)
    return ax


def _shown(fitted: Any) -> Array:
    """Distances of all pairs on a map, or given as such."""
    if fitted is None:
        raise GramianError("what is on the map is not given: pass the embedding, or its distances")
    if not (isinstance(fitted, Embedding) or hasattr(fitted, "to_embedding")):
        return _pairs(fitted)
    from scipy.spatial.distance import pdist

    return np.asarray(pdist(np.asarray(as_embedding(fitted).coordinates, np.float64)))


def _pairs(source: Any) -> Array:
    """Distances of all pairs i < j, in one order whatever they came in."""
    D = open_distances(source).D
    if not isinstance(D, np.ndarray):
        raise GramianError("these distances are too many for a diagram; draw those of a sample")
    return np.asarray(D[np.triu_indices(len(D), 1)], np.float64)

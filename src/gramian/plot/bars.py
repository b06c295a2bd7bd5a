"""What each variable or point brings, as bars from the largest down, with the average as a line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gramian.errors import GramianError
from gramian.maps import Array
from gramian.plot.style import BLUE, GRAY, GRID, VERMILION, new_axes, plain
from gramian.results import Embedding, as_embedding
from gramian.show.text import count, listed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["contributions", "cos2", "procrustes_residuals", "stress_per_point"]


def contributions(
    result: Any,
    axes: Sequence[int] = (0,),
    ax: Axes | None = None,
    *,
    values: Any = None,
    most: int = 20,
) -> Axes:
    """How much of an axis each variable makes; bars beyond the line make more than the average.

    Parameters
    ----------
    result : Embedding
    axes : sequence of int
        Counted from 0. Several are averaged, each weighted by its eigenvalue.
    ax : matplotlib Axes, optional
        Default: those of a new figure.
    values : array of shape (m, k), optional
        Contributions of the observations, from ``model.contributions(X)``. Default: those of the
        variables, their squared loadings.
    most : int
        Draw at most so many bars, the largest ones.

    Returns
    -------
    matplotlib Axes
    """
    embedding = as_embedding(result)
    if values is None and embedding.loadings is None:
        raise GramianError(f"{embedding.method} has no loadings, of which contributions are made")
    shares, names = _chosen(embedding, axes, values, embedding.loadings)
    chosen = list(axes)
    weights = np.ones(len(chosen))
    if len(chosen) > 1 and embedding.eigenvalues is not None:
        weights = np.maximum(np.asarray(embedding.eigenvalues, np.float64)[chosen], 0.0)
    total = float(weights.sum())
    heights = shares @ (weights / total) if total > 0 else shares.mean(axis=1)
    what = f"contribution to {_listed(embedding, chosen)}"
    return _bars(heights, names, what, most, ax, percent=True)


def cos2(
    result: Any,
    axes: Sequence[int] = (0, 1),
    ax: Axes | None = None,
    *,
    values: Any = None,
    most: int = 20,
) -> Axes:
    """How well axes together show each variable: 1 is perfectly, 0 is not at all.

    Parameters
    ----------
    result : Embedding
    axes : sequence of int
        Counted from 0. Several are added up.
    ax : matplotlib Axes, optional
        Default: those of a new figure.
    values : array of shape (m, k), optional
        Of the observations, from ``model.cos2(X)``. Default: those of the variables, their squared
        correlations.
    most : int
        Draw at most so many bars, the largest ones.

    Returns
    -------
    matplotlib Axes
    """
    embedding = as_embedding(result)
    if values is None and embedding.correlations is None:
        raise GramianError(f"{embedding.method} has no correlations of variables with axes")
    squares, names = _chosen(embedding, axes, values, embedding.correlations)
    what = f"cos² on {_listed(embedding, list(axes))}"
    ax = _bars(squares.sum(axis=1), names, what, most, ax)
    ax.set_xlim(0, 1.02)
    return ax


def stress_per_point(
    result: Any, labels: Sequence[str] | None = None, ax: Axes | None = None, *, most: int = 30
) -> Axes:
    """Share of the stress that each point causes: long bars are points the map shows badly.

    Parameters
    ----------
    result : array of shape (n,), or Embedding with the measure ``stress_per_point``
        Stress of each point, in any unit; drawn as shares of their sum.
    labels : sequence of str, optional
        Names of the points; by default those of the embedding.
    ax : matplotlib Axes, optional
        Default: those of a new figure.
    most : int
        Draw at most so many bars, the largest ones.

    Returns
    -------
    matplotlib Axes
    """
    values = measured(result, "stress_per_point")
    if (values < 0).any():
        raise GramianError("stress per point holds a negative number; stress is at least 0")
    if labels is None:
        labels = getattr(result, "labels", None)
    names = _names(labels, len(values), "point")
    total = float(values.sum())
    shares = values / total if total > 0 else values
    return _bars(shares, names, "share of the stress", most, ax, percent=True)


def procrustes_residuals(
    result: Any, labels: Sequence[str] | None = None, ax: Axes | None = None, *, most: int = 30
) -> Axes:
    """How far each point of one map lies from that of the other: long bars disagree.

    Parameters
    ----------
    result : Protest, Procrustes, or array of shape (n,)
        From ``gramian.inference.protest`` or ``gramian.quality.procrustes.procrustes``.
    labels : sequence of str, optional
        Names of the points.
    ax : matplotlib Axes, optional
        Default: those of a new figure.
    most : int
        Draw at most so many bars, the largest ones.

    Returns
    -------
    matplotlib Axes
    """
    fit = getattr(result, "fit", result)
    values = measured(getattr(fit, "residuals", fit), "procrustes_residuals")
    return _bars(values, _names(labels, len(values), "point"), "Procrustes residual", most, ax)


def measured(result: Any, name: str) -> Array:
    """Numbers given as such, or the measure of this name of an embedding."""
    if isinstance(result, Embedding) or hasattr(result, "to_embedding"):
        embedding = as_embedding(result)
        if embedding.measures.get(name) is None:
            raise GramianError(f"{embedding.method} did not measure {name}; pass it as an array")
        result = embedding.measures[name]
    values = np.asarray(result, dtype=np.float64)
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
        raise GramianError(
            f"{name.replace('_', ' ')} is a row of finite numbers, got shape {values.shape}"
            + ("" if np.isfinite(values).all() else " with NaN or inf")
        )
    return values


def _chosen(
    embedding: Embedding, axes: Sequence[int], values: Any, roots: Array | None
) -> tuple[Array, list[str]]:
    """Columns of ``values``, or of the squares of ``roots``, and the names of their rows."""
    k = len(embedding.axis_names)
    if not len(axes) or not all(isinstance(a, (int, np.integer)) and 0 <= a < k for a in axes):
        raise GramianError(f"axes are numbers from 0 to {k - 1}, got {axes!r}")
    if values is None:
        squares = np.nan_to_num(np.asarray(roots, np.float64)) ** 2
        names = _names(embedding.variables, len(squares), "variable")
    else:
        squares = np.asarray(values, np.float64)
        if squares.ndim != 2 or squares.shape[1] != k or not np.isfinite(squares).all():
            raise GramianError(
                f"values needs a row of {k} finite numbers per observation, one an axis; "
                f"got shape {squares.shape}"
            )
        names = _names(embedding.labels, len(squares), "row")
    return squares[:, list(axes)], names


def _names(names: Sequence[str] | None, m: int, noun: str) -> list[str]:
    if names is None:
        return [f"{noun} {i + 1}" for i in range(m)]
    if len(names) != m:
        raise GramianError(f"{len(names)} names for {count(m, noun)}")
    return [plain(name, 24) for name in names]


def _listed(embedding: Embedding, axes: Sequence[int]) -> str:
    return listed([plain(embedding.axis_names[a], 16) for a in axes])


def _bars(
    values: Array,
    names: Sequence[str],
    what: str,
    most: int,
    ax: Axes | None,
    percent: bool = False,
) -> Axes:
    """Bars lying down, so that names can be read; the line is the average of all, drawn or not."""
    order = np.argsort(-values, kind="stable")[:most]
    ax = new_axes(ax, (6.0, max(1.6, 0.9 + 0.23 * len(order))))
    average = float(values.mean())
    colors = [BLUE if value > average else "#8fb8d6" for value in values[order]]
    ax.barh(np.arange(len(order)), values[order], color=colors, height=0.7)
    ax.axvline(average, color=VERMILION, linestyle="--", linewidth=1.2)
    shown = f"{100 * average:.2g}%" if percent else f"{average:.2g}"
    more = len(values) - len(order)
    ax.set_title(
        f"dashed: average {shown}" + (f"; {more:,} smaller not drawn" if more else ""),
        fontsize=9,
        color=GRAY,
        loc="right",
    )
    ax.set_yticks(np.arange(len(order)), [names[i] for i in order])
    ax.set_ylim(len(order) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", color=GRID)
    ax.set_xlabel(what)
    if percent:
        ax.xaxis.set_major_formatter(lambda share, _: f"{100 * share:.3g}%")
    return ax

"""The spectrum: how much each axis carries, and the eigenvalues below zero."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gramian.errors import GramianError
from gramian.plot.style import BLUE, GRAY, GRID, INK, VERMILION, new_axes, plain
from gramian.results import Embedding, as_embedding

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from gramian.inference.horn import ParallelAnalysis

__all__ = ["scree", "spectrum"]

_SAME = 1e-3  # shares of an analysis of the same data agree with the embedding's to this


def scree(result: Any, ax: Axes | None = None, *, parallel: ParallelAnalysis | None = None) -> Axes:
    """Bars of the shares (or eigenvalues) of the axes, with the cumulative share as a line.

    Parameters
    ----------
    result : Embedding
    ax : matplotlib Axes, optional
        Default: those of a new figure.
    parallel : ParallelAnalysis, optional
        Of the same data at the same scale: adds the band in which the middle 90 % of the
        eigenvalues of unrelated variables lie. Bars above it are more than chance.

    Returns
    -------
    matplotlib Axes
    """
    embedding = as_embedding(result)
    if embedding.eigenvalues is None:
        raise GramianError(f"{embedding.method} has no eigenvalues to plot")
    axes = embedding.axes
    ax = new_axes(ax, (6.0, 3.6))
    known = embedding.explained is not None
    heights = np.array([axis.share if known else axis.eigenvalue for axis in axes])
    positions = np.arange(1, len(axes) + 1)
    bars = ax.bar(positions, heights, color=BLUE, width=0.65, label="share")
    step = 1 if len(axes) <= 10 else -(-len(axes) // 8)  # more names would collide
    ax.set_xticks(positions[::step], [plain(axis.name, 12) for axis in axes[::step]])
    ax.tick_params(axis="x", length=0)
    ax.grid(axis="y", color=GRID)
    if parallel is not None:
        _band(ax, parallel, heights, known)
    if not known:
        ax.set_ylabel("eigenvalue")
        return ax
    cumulative = [axis.cumulative for axis in axes]
    ax.plot(positions, cumulative, color=VERMILION, marker="D", markersize=4, label="cumulative")
    ax.set_ylim(0, 1.08)
    ax.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.0f}%")
    ax.set_ylabel("share of the total")
    ax.legend(frameon=False, fontsize=9, loc="center right")
    if len(axes) <= 10:
        _label_bars(ax, bars, heights)
    return ax


def _band(ax: Axes, parallel: ParallelAnalysis, heights: Any, shares: bool) -> None:
    """Horn's band, in the unit of the bars."""
    total = float(np.sum(parallel.eigenvalues)) if shares else 1.0
    m = min(len(parallel.p_values), len(heights))
    observed = np.asarray(parallel.eigenvalues)[: len(heights)] / total
    apart = np.abs(observed - heights[: len(observed)]).max()
    if not apart <= _SAME * np.max(heights):
        raise GramianError(
            "the parallel analysis is of other data or another scale: its first axis has "
            f"{observed[0]:.4g}, the embedding's {heights[0]:.4g}"
        )
    low, high = parallel.quantiles([0.05, 0.95])[:, :m] / total
    # As wide as the bars, so that one axis alone has a band too.
    edges = np.repeat(np.arange(1, m + 1), 2) + np.tile([-0.42, 0.42], m)
    ax.fill_between(
        edges, np.repeat(low, 2), np.repeat(high, 2), color=INK, alpha=0.28, linewidth=0, zorder=3
    )
    ax.plot(
        edges,
        np.repeat(np.asarray(parallel.null_mean)[:m] / total, 2),
        color=INK,
        linewidth=1.2,
        linestyle="--",
        zorder=3.1,
        label="unrelated variables",
    )


def spectrum(result: Any, ax: Axes | None = None) -> Axes:
    """All eigenvalues over the largest, the negative ones in another color and hatched.

    Parameters
    ----------
    result : array of shape (m,), result of ``check_distances``, or Embedding
        An embedding has only the eigenvalues it kept.
    ax : matplotlib Axes, optional
        Default: those of a new figure.

    Returns
    -------
    matplotlib Axes
        The scale is logarithmic on both sides of 0 if eigenvalues differ much. Distances are
        Euclidean if nothing reaches below 0 by more than rounding.
    """
    if not isinstance(result, Embedding) and hasattr(result, "to_embedding"):
        result = as_embedding(result)
    given = getattr(result, "eigenvalues", result)
    if given is None:
        raise GramianError("the eigenvalues were not computed; pass them as an array")
    values = np.sort(np.asarray(given, dtype=np.float64))[::-1]
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
        raise GramianError(f"eigenvalues are a row of finite numbers, got shape {values.shape}")
    sizes = values / (np.abs(values).max() or 1.0)
    ax = new_axes(ax, (6.0, 3.6))
    positions = np.arange(1, len(values) + 1)
    below = sizes < -len(values) * np.finfo(np.float64).eps  # beyond rounding
    wide = 0.7 if len(values) <= 60 else 1.0
    ax.bar(positions[~below], sizes[~below], color=BLUE, width=wide)
    ax.bar(
        positions[below],
        sizes[below],
        color=VERMILION,
        width=wide,
        hatch="////" if len(values) <= 60 else None,
        edgecolor="white",
        linewidth=0,
    )
    ax.axhline(0, color=GRAY, linewidth=0.8)
    large = np.abs(sizes[np.abs(sizes) > 1e-12])
    if len(large) and large.min() < 0.02:
        ax.set_yscale("symlog", linthresh=max(10.0 ** np.floor(np.log10(large.min())), 1e-3))
    ax.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.3g}%")
    if len(values) <= 20:
        ax.set_xticks(positions)
    ax.grid(axis="y", color=GRID)
    ax.set_xlabel("eigenvalue, in order")
    ax.set_ylabel("size / the largest")
    ax.set_title(
        f"{int(below.sum())} of {len(values)} negative" if below.any() else "none is negative",
        fontsize=9,
        color=GRAY,
        loc="right",
    )
    return ax


def _label_bars(ax: Axes, bars: Any, heights: Any) -> None:
    """Shares inside tall bars and above low ones; the first low one would meet the line."""
    for i, (bar, height) in enumerate(zip(bars, heights, strict=True)):
        tall = height > 0.15
        if i == 0 and not tall:
            continue
        ax.annotate(
            _percent(height),
            (bar.get_x() + bar.get_width() / 2, height),
            xytext=(0, -4 if tall else 3),
            textcoords="offset points",
            ha="center",
            va="top" if tall else "bottom",
            fontsize=8,
            color="white" if tall else GRAY,
        )


def _percent(share: float) -> str:
    """Two digits: short enough for a narrow bar."""
    return f"{100 * share:.2g}%" if share < 0.995 else "100%"

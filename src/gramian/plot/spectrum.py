"""Scree plot: how much each axis carries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gramian.errors import GramianError
from gramian.plot.style import BLUE, GRAY, VERMILION, new_axes, plain
from gramian.results import as_embedding

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["scree"]


def scree(result: Any, ax: Axes | None = None) -> Axes:
    """Bars of the shares (or eigenvalues) of the axes, with the cumulative share as a line.

    Parameters
    ----------
    result : Embedding
    ax : matplotlib Axes, optional
        Default: those of a new figure.

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
    ax.set_xticks(positions, [plain(axis.name, 12) for axis in axes])
    if len(axes) > 12:  # names would run into each other
        ax.set_xticks(positions[:: max(1, len(axes) // 10)])
        ax.set_xticklabels([plain(axis.name, 12) for axis in axes[:: max(1, len(axes) // 10)]])
    ax.tick_params(axis="x", length=0)
    ax.grid(axis="y", color="#e8ecf0")
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

"""Which neighborhoods a map keeps, from the nearest neighbor to all points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from gramian.errors import GramianError
from gramian.plot.style import BLUE, GRAY, GRID, new_axes, plain
from gramian.show.colors import PALETTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from gramian.quality.neighborhoods import CoRanking

__all__ = ["coranking"]


def coranking(result: CoRanking | Mapping[str, CoRanking], ax: Axes | None = None) -> Axes:
    """Share of neighbors kept above chance (R_NX) over the size of the neighborhood.

    Parameters
    ----------
    result : CoRanking, or dict of name to CoRanking
        From ``gramian.quality.coranking``; several maps make several lines.
    ax : matplotlib Axes, optional
        Default: those of a new figure.

    Returns
    -------
    matplotlib Axes
        Over log K, so that the area under a line is its ``auc``; a dot marks its ``best_k``.
    """
    several = dict(result) if isinstance(result, Mapping) else {"": result}
    if not several:
        raise GramianError("there is no map to draw neighborhoods of")
    ax = new_axes(ax, (6.0, 3.8))
    longest = 3
    for i, (name, each) in enumerate(several.items()):
        color = BLUE if len(several) == 1 else PALETTE[i % len(PALETTE)]
        style = ("-", "--", "-.", ":")[i // len(PALETTE) % 4]
        K, values = np.arange(1, each.n - 1), each.r_nx
        label = f"{plain(name, 24)} " if name else ""
        ax.plot(K, values, style, color=color, label=f"{label}AUC {each.auc:.3f}")
        if len(several) == 1:
            ax.fill_between(K, 0, values, color=color, alpha=0.12, linewidth=0)
        at = min(each.best_k, each.n - 2)
        ax.plot(at, values[at - 1], "o", color=color, markersize=5)
        longest = max(longest, each.n)
    ax.axhline(0, color=GRAY, linewidth=0.8)
    ax.set_xscale("log")
    ax.set_xlim(1, max(longest - 2, 2))
    ax.set_ylim(top=1.02)
    if ax.get_ylim()[0] > -0.02:
        ax.set_ylim(bottom=-0.02)
    ax.set_xlabel("neighbors K (log scale)")
    ax.set_ylabel("kept above chance, R$_{NX}$")
    ax.grid(axis="y", color=GRID)
    ax.legend(frameon=False, fontsize=9)
    return ax

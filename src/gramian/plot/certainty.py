"""How many axes and how sure, as figures: Horn's band, and ellipses of points."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gramian.plot.style import BLUE, GRAY, GRID, VERMILION, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from gramian.inference.concordance import Protest
    from gramian.inference.horn import ParallelAnalysis
    from gramian.inference.stability import Stability
    from gramian.inference.stress import StressTest
    from gramian.inference.uncertainty import Uncertainty

__all__ = ["ellipses", "parallel", "permutations"]


def parallel(result: ParallelAnalysis, ax: Axes | None = None) -> Axes:
    """Eigenvalues beside those of unrelated variables: a line, and the band of their middle 90 %.

    Parameters
    ----------
    result : ParallelAnalysis
    ax : matplotlib Axes, optional
        Default: those of a new figure.

    Returns
    -------
    matplotlib Axes
    """
    ax = new_axes(ax, (6.0, 3.6))
    m = len(result.p_values)
    axes = np.arange(1, m + 1)
    low, high = result.quantiles([0.05, 0.95])
    ax.fill_between(
        axes, low, high, color=VERMILION, alpha=0.25, linewidth=0, label="their middle 90 %"
    )
    ax.plot(axes, result.null_mean, color=VERMILION, label="unrelated variables: mean")
    values = result.eigenvalues[:m]
    ax.plot(axes, values, color=BLUE, linewidth=1)
    for kept, face, name in ((True, BLUE, "kept"), (False, "white", "not kept")):
        here = result.kept == kept
        ax.plot(axes[here], values[here], "o", color=BLUE, markerfacecolor=face, label=name)
    ax.set_xlabel("axis")
    ax.set_ylabel("eigenvalue")
    if m <= 20:
        ax.set_xticks(axes)
    ax.grid(axis="y", color=GRID)
    ax.legend(frameon=False, fontsize=9)
    return ax


def ellipses(
    result: Uncertainty | Stability,
    axes: tuple[int, int] = (0, 1),
    level: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """The map with a confidence ellipse round every point.

    Parameters
    ----------
    result : Uncertainty or Stability
        From ``bootstrap`` or ``jackknife``; from ``bootstrap_configuration`` or
        ``jackknife_stability``.
    axes : pair of int
        Counted from 0.
    level : float, optional
        Default: the level of the result.
    ax : matplotlib Axes, optional
        Default: those of a new figure.

    Returns
    -------
    matplotlib Axes
    """
    drawn = result.ellipses(axes, level)
    ax = new_axes(ax, (6.0, 4.5))
    from matplotlib.patches import Ellipse

    look = {"facecolor": BLUE, "edgecolor": BLUE, "alpha": 0.15, "linewidth": 0.5}
    for x, y, long, short, angle in drawn:
        ax.add_patch(Ellipse((x, y), 2 * long, 2 * short, angle=angle, **look))
    ax.plot(drawn[:, 0], drawn[:, 1], ".", color=GRAY, markersize=3)
    ax.set_xlabel(f"axis {axes[0] + 1}")
    ax.set_ylabel(f"axis {axes[1] + 1}")
    ax.set_aspect("equal", adjustable="datalim")
    return ax


def permutations(result: Protest | StressTest, ax: Axes | None = None) -> Axes:
    """What chance gives as bars, and what was observed as a line: beyond the bars is no chance.

    Parameters
    ----------
    result : Protest or StressTest
    ax : matplotlib Axes, optional
        Default: those of a new figure.

    Returns
    -------
    matplotlib Axes
    """
    ax = new_axes(ax, (5.0, 3.4))
    known = hasattr(result, "correlation")
    observed = result.correlation if known else result.stress  # type: ignore[union-attr]
    ax.hist(result.permuted, bins="auto", color="#8fb8d6", label="permuted")
    ax.axvline(observed, color=VERMILION, linewidth=1.6, label=f"observed, {observed:.3g}")
    ax.set_title(f"p = {result.p_value:.3g}", fontsize=9, color=GRAY, loc="right")
    ax.set_xlabel("Procrustes correlation" if known else "stress")
    ax.set_ylabel("permutations")
    ax.grid(axis="y", color=GRID)
    ax.set_ylim(top=1.3 * ax.get_ylim()[1])  # room for the legend, away from the line
    right = observed < float(np.mean(ax.get_xlim()))
    ax.legend(frameon=False, fontsize=9, loc="upper right" if right else "upper left")
    return ax

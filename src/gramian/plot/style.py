"""One look for all figures: quiet axes, readable in print, safe for color-blind readers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gramian.errors import GramianError
from gramian.maps import Array
from gramian.results import Embedding
from gramian.show.text import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    *("BLUE", "GRAY", "GRID", "INK", "MARKERS", "VERMILION"),
    *("axis_pair", "map_frame", "name_points", "new_axes", "place_texts", "plain"),
]

BLUE, VERMILION = "#0072B2", "#D55E00"
INK, GRAY, GRID = "#1b1f24", "#6b7580", "#e8ecf0"
MARKERS = ("o", "s", "^", "D", "P", "*", "v")
_EDGE = "#c3cad1"
_MOST_LABELS = 300


def new_axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """The given axes, or those of a new figure; either way in the house style.

    Parameters
    ----------
    ax : matplotlib Axes or None
    size : tuple of float
        Of the new figure, in inches.
    """
    if ax is None:
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            raise GramianError(
                "plots need matplotlib, which is not installed: pip install gramian[plot]"
            ) from error
        _, ax = plt.subplots(figsize=size, layout="constrained")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("bottom", "left"):
        ax.spines[side].set_color(_EDGE)
    ax.tick_params(colors=GRAY, labelsize=9)
    ax.xaxis.label.set(color=INK, size=10)
    ax.yaxis.label.set(color=INK, size=10)
    ax.set_axisbelow(True)
    return ax


def axis_pair(embedding: Embedding, axes: Sequence[int]) -> tuple[int, int]:
    """Two valid axis numbers, or an error that says which there are.

    Parameters
    ----------
    embedding : Embedding
    axes : pair of int
        Counted from 0.
    """
    k = len(embedding.axis_names)
    if k < 2:
        raise GramianError("a map needs two axes, and this embedding has one; ask for more")
    pair = tuple(axes)
    if len(pair) != 2 or not all(isinstance(a, (int, np.integer)) and 0 <= a < k for a in pair):
        raise GramianError(f"axes is a pair of numbers from 0 to {k - 1}, got {axes!r}")
    return int(pair[0]), int(pair[1])


def map_frame(ax: Axes, embedding: Embedding, pair: tuple[int, int]) -> None:
    """Lines through the origin, titles of two axes, and one scale for both.

    Distances on a map mean something only if both axes share a scale.
    """
    for line in (ax.axhline, ax.axvline):
        line(0, color="#d5dce3", linewidth=0.8, zorder=0)
    across, up = (plain(embedding.axes[i].title) for i in pair)
    ax.set(xlabel=across, ylabel=up)
    ax.set_aspect("equal", adjustable="datalim")


def name_points(ax: Axes, embedding: Embedding, points: Array) -> None:
    """Names of the first points of an embedding, or their numbers, as many as find room."""
    shown = slice(_MOST_LABELS)
    names = embedding.labels or tuple(str(i + 1) for i in range(len(points)))
    texts = [plain(text, 24) for text in names[shown]]
    place_texts(ax, points[shown], texts, fontsize=7.5, color=INK)


def plain(text: object, limit: int = 40) -> str:
    """Text for a figure, with ``$`` kept from starting mathematics."""
    return visible(text, limit).replace("$", r"\$")


def place_texts(
    ax: Axes, points: Array, texts: Sequence[str], *, away_from: Array | None = None, **style: Any
) -> list[Any]:
    """Write names beside points so that none covers another; what finds no room is left out.

    Greedy: each text tries eight places around its point and takes the first that is free. Cheap,
    and good enough for some hundred names.

    Parameters
    ----------
    ax : matplotlib Axes
        With its limits final.
    points : array of shape (m, 2)
        In data coordinates.
    texts : sequence of str
    away_from : array of shape (2,), optional
        Prefer the side that looks away from this point.
    **style
        For ``Axes.annotate``.

    Returns
    -------
    list of matplotlib texts
    """
    from matplotlib.patheffects import withStroke

    halo = [withStroke(linewidth=2.5, foreground="white", alpha=0.85)]
    figure: Any = ax.figure
    # Settles the layout, so that sizes in pixels are true; a subfigure asks the whole one.
    getattr(figure, "figure", figure).draw_without_rendering()
    frame = ax.get_window_extent()
    # The points themselves are taken: a name must not cover another point.
    taken: list[tuple[float, ...]] = [
        (x - 2, y - 2, x + 2, y + 2) for x, y in ax.transData.transform(points)
    ]
    before = [text.get_window_extent() for text in ax.texts if text.get_text()]
    taken += [(box.x0, box.y0, box.x1, box.y1) for box in before]
    written = []
    for point, text in zip(points, texts, strict=True):
        note = ax.annotate(
            text,
            point,
            textcoords="offset points",
            xytext=(0, 0),
            annotation_clip=False,
            path_effects=halo,
            zorder=5,
            **style,
        )
        for dx, dy, ha, va in _places(point, away_from):
            note.set(ha=ha, va=va)
            note.xyann = (dx, dy)
            box = note.get_window_extent()
            corners = (box.x0, box.y0, box.x1, box.y1)
            inside = (
                box.x0 >= frame.x0
                and box.x1 <= frame.x1 + 2
                and box.y0 >= frame.y0
                and box.y1 <= frame.y1 + 2
            )
            if inside and not any(_overlap(corners, other) for other in taken):
                taken.append(corners)
                written.append(note)
                break
        else:
            note.remove()
    return written


def _places(point: Array, away_from: Array | None) -> list[tuple[float, float, str, str]]:
    """Offsets in points with alignments: beside first, then above, below and the corners."""
    around = [
        (5.0, 0.0, "left", "center"),
        (-5.0, 0.0, "right", "center"),
        (0.0, 5.0, "center", "bottom"),
        (0.0, -5.0, "center", "top"),
        (4.0, 4.0, "left", "bottom"),
        (4.0, -4.0, "left", "top"),
        (-4.0, 4.0, "right", "bottom"),
        (-4.0, -4.0, "right", "top"),
    ]
    if away_from is None:
        return around
    x, y = np.asarray(point) - away_from
    return sorted(around, key=lambda place: -(place[0] * x + place[1] * y))


def _overlap(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]

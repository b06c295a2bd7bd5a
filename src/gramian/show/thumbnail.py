"""A small static picture of a map, as inline SVG.

It needs no script, so it shows in notebooks, in previews that block scripts, and on paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from gramian.maps import Array
from gramian.show.colors import PALETTE, Groups
from gramian.show.text import visible

__all__ = ["thin", "thumbnail"]

_MARGIN = 22
_GRAY = "#808080"


def thin(n: int, limit: int, groups: Groups | None = None) -> Array:
    """Row numbers of at most ``limit`` of n rows, a fixed fair sample.

    Parameters
    ----------
    n, limit : int
    groups : Groups, optional
        Each group keeps its share of the sample.

    Returns
    -------
    array of int, ascending
        The same for the same arguments: the seed is fixed.
    """
    if n <= limit:
        return np.arange(n)
    shuffled = np.random.default_rng(0).permutation(n)
    if groups is not None:
        shuffled = shuffled[np.argsort(groups.codes[shuffled], kind="stable")]
    # Even steps through rows laid out group by group take from each in proportion.
    return np.sort(shuffled[np.arange(limit) * n // limit])


def thumbnail(
    coordinates: Array,
    axis_titles: Sequence[str],
    groups: Groups | None = None,
    *,
    width: int = 360,
    height: int = 240,
    limit: int = 600,
) -> str:
    """SVG scatter of the first two columns (of the first against row order if there is one).

    Parameters
    ----------
    coordinates : array of shape (n, k)
    axis_titles : sequence of str
        Not yet escaped.
    groups : Groups, optional
        Colors and shapes.
    width, height : int
        In pixels.
    limit : int
        The most points drawn; more are thinned.

    Returns
    -------
    str
        An ``<svg>`` element, every text in it escaped.
    """
    rows = thin(len(coordinates), limit, groups)
    points = np.asarray(coordinates, dtype=np.float64)[rows, :2]
    if points.shape[1] < 2:
        points = np.column_stack([points, rows])
        axis_titles = [*axis_titles[:1], "row"]
    codes = np.zeros(len(rows), dtype=np.intp) if groups is None else groups.codes[rows]
    x, y = _to_pixels(points, width, height)
    marks = "".join(_mark(*point) for point in zip(x, y, codes.tolist(), strict=True))
    across, up = (escape(visible(title, 40)) for title in axis_titles[:2])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{across} against {up}" '
        f'width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="system-ui, sans-serif" font-size="11" fill="{_GRAY}">'
        f'<path d="M{_MARGIN} 6V{height - _MARGIN}H{width - 6}" fill="none" stroke="{_GRAY}"/>'
        f"{marks}"
        f'<text x="{width - 6}" y="{height - 7}" text-anchor="end">{across}</text>'
        f'<text x="-6" y="14" text-anchor="end" transform="rotate(-90)">{up}</text></svg>'
    )


def _to_pixels(points: Array, width: int, height: int) -> tuple[list[float], list[float]]:
    """Scale each column into the frame; a constant column sits in the middle."""
    low, high = points.min(axis=0), points.max(axis=0)
    # Halved before subtracting, so that a range near the largest float does not overflow.
    half = np.where(high > low, high / 2 - low / 2, 1.0)
    share = np.where(high > low, (points / 2 - low / 2) / half, 0.5)
    room = np.array([width - _MARGIN - 18, height - _MARGIN - 18])
    pixels = np.round(share * room, 1)
    return (_MARGIN + 8 + pixels[:, 0]).tolist(), (height - _MARGIN - 8 - pixels[:, 1]).tolist()


def _mark(x: float, y: float, code: int) -> str:
    """One marker: color and shape change together."""
    # The palette's black gives way to the page's text color, which also shows on dark pages.
    colors = (*PALETTE[:-1], "currentColor")
    paint = f'fill="{colors[code % len(colors)]}"'
    at = f"M{x:.1f} {y:.1f}"
    shapes = (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.6" {paint}/>',
        f'<path d="{at}m-2.4-2.4h4.8v4.8h-4.8z" {paint}/>',
        f'<path d="{at}m0-3.2l3.2 5.6h-6.4z" {paint}/>',
        f'<path d="{at}m0-3.4l3.4 3.4l-3.4 3.4l-3.4-3.4z" {paint}/>',
        f'<path d="{at}m0 3.2l3.2-5.6h-6.4z" {paint}/>',
    )
    return shapes[code % len(shapes)]  # 8 colors and 5 shapes: 40 different markers

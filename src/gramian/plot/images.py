"""Rows that are pictures, drawn as pictures: images, and components of images (eigenfaces)."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from gramian.errors import GramianError
from gramian.plot.style import INK, new_axes, plain
from gramian.results import as_embedding

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["component_images", "images"]


def component_images(
    result: Any,
    shape: tuple[int, int],
    ax: Axes | None = None,
    *,
    most: int = 12,
    columns: int | None = None,
) -> Axes:
    """The loadings of each axis as an image; of faces these are called eigenfaces.

    Parameters
    ----------
    result : Embedding
        With ``loadings``, whose variables are the pixels.
    shape : pair of int
        Height and width of an image.
    ax : matplotlib Axes, optional
        Default: those of a new figure.
    most : int
        Draw the first so many axes.
    columns : int, optional
        Images beside each other; by default about a square.

    Returns
    -------
    matplotlib Axes
        One color scale for all, white at 0; which sign is orange is a convention.
    """
    embedding = as_embedding(result)
    if embedding.loadings is None:
        raise GramianError(f"{embedding.method} has no loadings to draw as images")
    titles = [axis.title for axis in embedding.axes[:most]]
    V = np.asarray(embedding.loadings).T[:most]
    return images(V, shape, ax, titles=titles, columns=columns, signed=True)


def images(
    rows: Any,
    shape: tuple[int, int],
    ax: Axes | None = None,
    *,
    titles: Sequence[str] | None = None,
    columns: int | None = None,
    signed: bool = False,
    limits: tuple[float, float] | None = None,
) -> Axes:
    """Rows of pixels as images on a grid, all on one scale.

    Parameters
    ----------
    rows : array of shape (m, height * width), or of any shape with so many numbers per entry
    shape : pair of int
        Height and width of an image.
    ax : matplotlib Axes, optional
        Default: those of a new figure.
    titles : sequence of str, optional
        Written above the images.
    columns : int, optional
        Images beside each other; by default about a square.
    signed : bool
        Purple to orange with white at 0, instead of black to white.
    limits : pair of float, optional
        Values drawn in the first and last color; by default the extremes.

    Returns
    -------
    matplotlib Axes
    """
    pictures = np.asarray(rows, dtype=np.float64)
    height, width = shape
    m = len(pictures) if pictures.ndim else 0
    if m == 0 or height * width * m != pictures.size:
        raise GramianError(
            f"images of {height} x {width} pixels are rows of {height * width} numbers, "
            f"got shape {pictures.shape}"
        )
    if titles is not None and len(titles) != m:
        raise GramianError(f"{len(titles)} titles for {m} images")
    columns = min(columns or ceil(m**0.5), m)
    lines = ceil(m / columns)
    side = 1.15
    ax = new_axes(ax, (side * columns, side * lines * (height / width) + 0.25 * lines))
    for edge in ax.spines.values():
        edge.set_visible(False)
    ax.set_xticks([])
    ax.set_yticks([])
    # Every image has room for one unit of width, and above it a line for its title.
    tall = height / width
    step = tall + (0.24 if titles is not None else 0.06)
    reach = float(np.abs(pictures).max()) or 1.0
    low, high = limits or ((-reach, reach) if signed else (pictures.min(), pictures.max()))
    for i, picture in enumerate(pictures.reshape(m, height, width)):
        left, top = (i % columns) * 1.06, (i // columns) * step
        ax.imshow(
            picture,
            cmap="PuOr_r" if signed else "gray",
            vmin=low,
            vmax=high,
            extent=(left, left + 1, top + tall, top),
            interpolation="nearest",
        )
        if titles is not None:
            middle = (left + 0.5, top - 0.03)
            ax.text(*middle, plain(titles[i], 24), ha="center", va="bottom", fontsize=8, color=INK)
    above = 0.2 if titles is not None else 0.02
    ax.set(xlim=(-0.02, columns * 1.06 - 0.04), ylim=(lines * step - step + tall + 0.02, -above))
    ax.set_aspect("equal")
    return ax

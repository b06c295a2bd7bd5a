"""Variables: the correlation circle, loadings, contributions, cos2, and loadings as images."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gramian.errors import GramianError
from gramian.maps import Array
from gramian.report.drawn import MAX_AXES, MAX_VARIABLES, Drawing
from gramian.report.html import Html, element, table
from gramian.report.parts import Part, details, figure, part, select
from gramian.report.picture import diverging_png
from gramian.report.sentences import about_circle, about_contributions
from gramian.results import Embedding
from gramian.show.text import count, percent, visible

__all__ = ["images_part", "variables_part"]

_MAX_IMAGES = 24
_MAX_PIXELS = 256 * 256


def variables_part(embedding: Embedding, drawn: Drawing) -> Part | None:
    """Circle and contributions as charts; loadings, correlations, shares as tables."""
    if embedding.loadings is None and embedding.correlations is None:
        return None
    circle = bars = None
    if drawn.data["variables"] is not None:
        circle = _circle(embedding)
        bars = None if embedding.loadings is None else _contributions(embedding)
    tables = []
    if embedding.loadings is not None:
        text = "Loadings: the weight of each variable on each axis. A column has length one."
        loadings = np.asarray(embedding.loadings, dtype=np.float64)
        tables.append(details(text, _weights("Loadings", loadings, embedding)))
        text = "Contributions: the share of each axis that a variable makes. A column sums to 100%."
        made = _weights("Contributions", loadings**2, embedding, percent)
        tables.append(details(text, made))
    if embedding.correlations is not None:
        values = np.nan_to_num(np.asarray(embedding.correlations, dtype=np.float64))
        text = "Correlations of variables with axes: the arrows of the circle."
        tables.append(details(text, _weights("Correlations", values, embedding)))
        text = "Quality (cos2): the share of a variable that each axis shows."
        tables.append(details(text, _weights("cos2", values**2, embedding, percent)))
    both = circle is not None and bars is not None
    pair = element("div", circle, bars, class_="pair" if both else None)
    return part("variables", "Variables", pair, *tables)


def _circle(embedding: Embedding) -> Html:
    """The correlation circle and how to read it."""
    values = np.nan_to_num(np.asarray(embedding.correlations, dtype=np.float64))
    hint = (
        "An arrow that reaches the circle is fully represented by the two axes of the map. Arrows "
        "close together go together, opposite arrows go against each other."
    )
    return element(
        "div",
        figure("circle-chart", about_circle(embedding, values), "the correlation circle"),
        element("p", hint, class_="remark"),
    )


def _contributions(embedding: Embedding) -> Html:
    """Bars of the variables that make an axis, with what equal shares would be."""
    axes = list(enumerate(visible(axis.title) for axis in embedding.axes[:MAX_AXES]))
    hint = "The dashed line is what each would make if all made the same."
    return element(
        "div",
        figure("contributions-chart", about_contributions(embedding), "the contributions"),
        element("div", select("contributions-axis", "Axis", axes, 0), class_="controls"),
        element("p", hint, class_="remark"),
    )


def images_part(embedding: Embedding) -> Part | None:
    """Loadings drawn as the images that rows are."""
    if embedding.image_shape is None or embedding.loadings is None:
        return None
    height, width = embedding.image_shape
    p = len(embedding.loadings)
    if height * width != p:
        raise GramianError(
            f"image_shape={height}x{width} has {height * width:,} pixels, but there are "
            f"{count(p, 'variable')}"
        )
    if p > _MAX_PIXELS:
        raise GramianError(
            f"images of {height}x{width} are too large for a report; at most 65,536 pixels"
        )
    # At most about a megabyte of pixels in all.
    shown = embedding.axes[: max(1, min(_MAX_IMAGES, 1_000_000 // p))]
    scale = 1 if max(height, width) > 96 else 96 // max(height, width)
    pictures = [
        element(
            "figure",
            element(
                "img",
                src=diverging_png(np.asarray(embedding.loadings)[:, j].reshape(height, width)),
                width=width * scale,
                height=height * scale,
                alt=f"Loadings of {visible(axis.name)} as an image of {height} by {width} pixels",
            ),
            element("figcaption", visible(axis.title)),
        )
        for j, axis in enumerate(shown)
    ]
    text = (
        f"The first {len(shown)} of {count(len(embedding.axes), 'axis', 'axes')} as images: blue "
        "pixels add to the coordinate, orange pixels take from it, pale ones do not matter. The "
        "numbers are the loadings above."
    )
    return part(
        "images",
        "Component images",
        element("p", text, class_="lead"),
        element("div", *pictures, class_="images"),
    )


def _signed(value: float) -> str:
    return f"{value:+.3f}"


def _weights(
    caption: str,
    weights: Array,
    embedding: Embedding,
    shown: Callable[[float], str] = _signed,
) -> Html:
    """Variables by axes, the heavy cells shaded."""
    values = np.nan_to_num(np.asarray(weights, dtype=np.float64)[:, :MAX_AXES])
    names = embedding.variable_names
    kept = np.arange(len(values))
    if len(values) > MAX_VARIABLES:
        heaviest = np.argsort(-np.abs(values).max(axis=1), kind="stable")[:MAX_VARIABLES]
        kept = np.sort(heaviest)
        caption += f": the heaviest {MAX_VARIABLES} of {len(values):,} variables"
    rows = [(visible(names[j], 60), *map(shown, values[j].tolist())) for j in kept.tolist()]
    shades = [[_shade(v) for v in values[j].tolist()] for j in kept.tolist()]
    titles = [visible(axis.name) for axis in embedding.axes[:MAX_AXES]]
    return table(caption, ("variable", *titles), rows, shades=shades)


def _shade(weight: float) -> str:
    """Class of a cell: sign and strength; the number stays readable on each."""
    strength = min(int(abs(weight) * 5), 4)
    return f"{'plus' if weight > 0 else 'minus'}{strength}" if strength else ""

"""The map: points with their controls, and the same as tables."""

from __future__ import annotations

import numpy as np

from gramian.maps import Array
from gramian.report.drawn import MAX_AXES, Drawing
from gramian.report.html import Html, element, table
from gramian.report.parts import TABLE_ROWS, Part, chart, details, numbers, part, select
from gramian.report.sentences import about_map
from gramian.results import Embedding
from gramian.show.text import percent, visible
from gramian.show.thumbnail import thumbnail

__all__ = ["map_part"]


def map_part(embedding: Embedding, drawn: Drawing) -> Part:
    """The map with its controls, what is selected on it, and the same as tables."""
    sentence = about_map(embedding)
    titles = [axis.title for axis in embedding.axes[:2]]
    still = thumbnail(embedding.coordinates, titles, embedding.groups(), width=720, height=440)
    stage = element(
        "div",
        element("canvas", id="map-canvas", aria_hidden="true"),
        chart("map-chart", sentence, Html(still)),
        id="map-stage",
        class_="stage",
    )
    return part(
        "map",
        "Map",
        element("p", sentence, class_="lead", id="map-sentence"),
        _controls(embedding, drawn),
        element(
            "figure",
            _view(embedding, drawn),
            stage,
            element("div", id="map-legend", class_="legend"),
            _tools(),
            *(element("p", remark, class_="remark") for remark in drawn.remarks),
        ),
        element("div", id="map-picked", class_="picked", aria_live="polite"),
        details("The map as a table", *_tables(embedding)),
    )


def _controls(embedding: Embedding, drawn: Drawing) -> Html:
    """What is on the axes, in the colors and at the points."""
    axes = list(enumerate(visible(axis.title) for axis in embedding.axes[:MAX_AXES]))
    across = select("map-x", "Across", axes, 0)
    up = select("map-y", "Up", axes, 1) if len(axes) > 1 else None
    deep = select("map-z", "Toward you", axes, 2) if len(axes) > 2 else None
    color = select("map-color", "Color", _color_options(drawn), drawn.data["color"])
    written = [(-2, "none"), (-1, "names" if embedding.labels is not None else "row numbers")]
    label = select(
        "map-label",
        "Labels",
        [*written, *enumerate(drawn.column_names)],
        drawn.data["label"],
    )
    search = element(
        "div",
        element("label", "Find a point", for_="map-search"),
        element(
            "input",
            type="search",
            id="map-search",
            autocomplete="off",
            spellcheck="false",
            placeholder="name" if embedding.labels is not None else "row number",
        ),
    )
    found = element("output", id="map-found", for_="map-search", class_="remark")
    controls = element("div", across, up, deep, color, label, search, class_="controls")
    return element("div", controls, found, class_="panel")


def _view(embedding: Embedding, drawn: Drawing) -> Html:
    """Flat or in space, what dragging does, and what else is drawn."""
    flat = _radios("map-view", "View", (("flat", "2-D"), ("space", "3-D")))
    drag = _radios("map-drag", "Drag to", (("zoom", "zoom"), ("lasso", "select")))
    turns = element(
        "div",
        *(
            element("button", sign, type="button", id=f"turn-{way}", aria_label=f"Turn {way}")
            for way, sign in (("left", "←"), ("right", "→"), ("up", "↑"), ("down", "↓"))
        ),
        id="map-turns",
        class_="turns",
        hidden=True,
    )
    boxes = [_box("map-equal", "same scale on all axes", checked=True)]
    if drawn.data["variables"] is not None:
        boxes.append(_box("map-arrows", "variables as arrows (biplot)"))
    if drawn.data["edges"] is not None:
        boxes.append(_box("map-graph", "graph of neighbors", checked=True))
    three = flat if embedding.coordinates.shape[1] > 2 else None
    return element("div", three, drag, turns, *boxes, class_="tools view")


def _radios(name: str, legend: str, options: tuple[tuple[str, str], ...]) -> Html:
    """Buttons of which one is down: real radio buttons, so that arrow keys work."""
    buttons = [
        element(
            "label",
            element(
                "input",
                type="radio",
                name=name,
                id=f"{name}-{value}",
                value=value,
                checked=i == 0,
            ),
            element("span", text),
            for_=f"{name}-{value}",
        )
        for i, (value, text) in enumerate(options)
    ]
    return element("fieldset", element("legend", legend), *buttons, class_="switch")


def _box(identity: str, text: str, *, checked: bool = False) -> Html:
    box = element("input", type="checkbox", id=identity, checked=checked)
    return element("label", box, element("span", text), for_=identity)


def _tools() -> Html:
    tools = (
        ("zoom-in", "Zoom in"),
        ("zoom-out", "Zoom out"),
        ("zoom-reset", "Show all"),
        ("save-csv", "Coordinates (CSV)"),
        ("save-png", "Picture (PNG)"),
        ("save-svg", "Picture (SVG)"),
    )
    buttons = [element("button", text, type="button", id=identity) for identity, text in tools]
    return element("div", *buttons, class_="tools")


def _tables(embedding: Embedding) -> list[Html]:
    """Group centers, the first rows, and how well each is shown."""
    axes = embedding.axes[: min(5, MAX_AXES)]
    k = len(axes)
    titles = [visible(axis.name) for axis in axes]
    tables = []
    groups = embedding.groups()
    if groups is not None:
        rows = [
            (level, f"{size:,}", *numbers(_center(embedding.coordinates, groups.codes == i, k)))
            for i, (level, size) in enumerate(zip(groups.levels, groups.sizes, strict=True))
        ]
        name = visible(embedding.color_column())
        tables.append(table(f"Group centers by {name}", (name, "rows", *titles), rows))
    n = len(embedding.coordinates)
    shown = range(min(n, TABLE_ROWS))
    labels = embedding.labels or tuple(f"row {i + 1}" for i in shown)
    some = "" if n <= TABLE_ROWS else f": the first {TABLE_ROWS} of {n:,}"
    points = [(visible(labels[i], 60), *numbers(embedding.coordinates[i, :k])) for i in shown]
    tables.append(table(f"Points{some}", ("point", *titles), points))
    if embedding.point_cos2 is not None:
        quality = np.asarray(embedding.point_cos2, dtype=np.float64)[:TABLE_ROWS, :k]
        squares = np.square(np.asarray(embedding.coordinates[:, :k], dtype=np.float64))
        made = squares / np.maximum(squares.sum(axis=0), np.finfo(np.float64).tiny)
        for caption, values in (
            ("Quality of the points (cos2): share of its squared length each axis shows", quality),
            ("Contributions of the points: share of each axis that a point makes", made),
        ):
            rows = [(visible(labels[i], 60), *map(percent, values[i].tolist())) for i in shown]
            tables.append(table(caption + some, ("point", *titles), rows))
    return tables


def _color_options(drawn: Drawing) -> list[tuple[int, str]]:
    columns = zip(drawn.column_names, drawn.data["columns"], strict=True)
    named = [(i, name) for i, (name, column) in enumerate(columns) if column["kind"] != "text"]
    return [(-1, "one color"), *named]


def _center(coordinates: Array, members: Array, k: int) -> Array:
    if not members.any():
        return np.full(k, np.nan)
    center: Array = coordinates[members, :k].mean(axis=0)
    return center

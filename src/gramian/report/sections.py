"""The parts of a report, each a function from an embedding to HTML."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from gramian.maps import Array
from gramian.report.drawn import MAX_AXES, MAX_VARIABLES, Drawing
from gramian.report.html import Html, element, table
from gramian.report.sentences import about_certificate, about_circle, about_map, about_scree
from gramian.results import Embedding
from gramian.show.text import number, percent, visible
from gramian.show.thumbnail import thumbnail

__all__ = [
    "certificate_section",
    "header",
    "map_section",
    "notes_section",
    "reproduce_section",
    "scree_section",
    "variables_section",
]

_TABLE_ROWS = 200
_VERSIONS = ("gramian", "numpy", "scipy", "scikit-learn", "numba", "polars", "plotly")


def header(embedding: Embedding, title: str, written: str) -> Html:
    """Title, what was done and when, the main figures, links to the parts."""
    n, k = embedding.coordinates.shape
    axes = embedding.axes
    facts = [("observations", f"{n:,}")]
    if embedding.loadings is not None:
        facts.append(("variables", f"{len(embedding.loadings):,}"))
    facts.append(("axes", f"{k:,}"))
    if embedding.explained is not None:
        shown = axes[min(2, k) - 1]
        facts.append((f"on {'two axes' if k > 1 else 'one axis'}", percent(shown.cumulative)))
    tiles = [
        element("div", element("dt", name), element("dd", value), class_="fact")
        for name, value in facts
    ]
    links = [("map", "Map")]
    if embedding.eigenvalues is not None:
        links.append(("scree", "Spectrum"))
    if embedding.loadings is not None or embedding.correlations is not None:
        links.append(("variables", "Variables"))
    links += [("certificate", "Certificate"), ("reproduce", "Reproduce")]
    what = f"{visible(embedding.method)} · written {written}"
    return element(
        "header",
        element("p", what, class_="eyebrow"),
        element("h1", title),
        element("dl", *tiles, class_="facts"),
        _badge(embedding),
        element(
            "nav",
            *(element("a", text, href=f"#{identity}") for identity, text in links),
            aria_label="Parts of this report",
        ),
    )


def map_section(embedding: Embedding, drawn: Drawing) -> Html:
    """The map with its controls, and the same as tables."""
    sentence = about_map(embedding)
    titles = [axis.title for axis in embedding.axes[:2]]
    picture = thumbnail(embedding.coordinates, titles, embedding.groups(), width=720, height=440)
    return element(
        "section",
        element("h2", "Map"),
        element("p", sentence, class_="lead", id="map-sentence"),
        _map_controls(embedding, drawn),
        element(
            "figure",
            _chart("map-chart", sentence, Html(picture)),
            element("div", id="map-legend", class_="legend"),
            _map_tools(),
            *(element("p", remark, class_="remark") for remark in drawn.remarks),
        ),
        _details("The map as a table", *_map_tables(embedding)),
        id="map",
    )


def scree_section(embedding: Embedding) -> Html | None:
    """Eigenvalues with shares."""
    if embedding.eigenvalues is None:
        return None
    axes = embedding.axes
    sentence = about_scree(axes)
    rows = [
        (visible(a.name), number(a.eigenvalue, 6), percent(a.share), percent(a.cumulative))
        for a in axes[:_TABLE_ROWS]
    ]
    return element(
        "section",
        element("h2", "Spectrum"),
        element("p", sentence, class_="lead"),
        element("figure", _chart("scree-chart", sentence)),
        _details(
            "The spectrum as a table",
            table("Eigenvalues", ("axis", "eigenvalue", "share", "cumulative"), rows),
        ),
        id="scree",
    )


def variables_section(embedding: Embedding, drawn: Drawing) -> Html | None:
    """Loadings as a table, correlations as a circle and a table."""
    if embedding.loadings is None and embedding.correlations is None:
        return None
    circle = _circle(embedding) if drawn.data["variables"] is not None else None
    weights = None
    if embedding.loadings is not None:
        text = "Loadings: the weight of each variable on each axis. A column has length one."
        weights = element(
            "div", element("p", text), _weights("Loadings", embedding.loadings, embedding)
        )
    pair = element("div", circle, weights, class_="pair" if circle and weights else None)
    return element("section", element("h2", "Variables"), pair, id="variables")


def _circle(embedding: Embedding) -> Html:
    """The correlation circle, how to read it, and its numbers."""
    values = np.nan_to_num(np.asarray(embedding.correlations, dtype=np.float64))
    sentence = about_circle(embedding, values)
    hint = (
        "An arrow that reaches the circle is fully represented by the two axes. Arrows close "
        "together go together, opposite arrows go against each other."
    )
    return element(
        "div",
        element("p", sentence, class_="lead"),
        element("figure", _chart("circle-chart", sentence)),
        element("p", hint, class_="remark"),
        _details("The correlations as a table", _weights("Correlations", values, embedding)),
    )


def certificate_section(embedding: Embedding) -> Html:
    """Residuals in words and numbers, and the plan that led to them."""
    parts: list[Html | None] = [
        element("h2", "Certificate"),
        element("p", embedding.certificate, class_="lead"),
        element("p", about_certificate(embedding)),
    ]
    if embedding.residuals is not None and len(embedding.residuals):
        rows = [
            (
                visible(axis.name),
                number(axis.residual, 3),
                number(embedding.tolerance, 3),
                "yes" if axis.residual <= embedding.tolerance else "no",
            )
            for axis in embedding.axes[:_TABLE_ROWS]
        ]
        headings = ("axis", "residual", "tolerance", "met")
        parts.append(table("Residuals, measured", headings, rows))
    if embedding.plan:
        parts += [element("h3", "Plan"), element("p", visible(embedding.plan, 2000))]
    return element("section", *parts, id="certificate")


def notes_section(embedding: Embedding) -> Html | None:
    """What was decided on the way."""
    if not embedding.notes:
        return None
    items = [element("li", visible(note, 500)) for note in embedding.notes[:50]]
    return element("section", element("h2", "Notes"), element("ul", *items), id="notes")


def reproduce_section(embedding: Embedding) -> Html:
    """Command, Python, parameters, versions."""
    parameters = [(visible(k), visible(repr(v), 200)) for k, v in embedding.parameters.items()]
    parts: list[Html | None] = [element("h2", "Reproduce")]
    if embedding.command:
        parts += [element("h3", "Command"), _code(visible(embedding.command, 2000))]
    parts += [element("h3", "Python"), _code(_python(embedding))]
    columns: list[Html] = []
    if parameters:
        columns.append(
            table("Parameters", ("parameter", "value"), parameters, sortable=False),
        )
    versions = [("Python", platform.python_version()), *_versions()]
    columns.append(table("Versions", ("package", "version"), versions, sortable=False))
    parts.append(element("div", *columns, class_="columns"))
    return element("section", *parts, id="reproduce")


def _badge(embedding: Embedding) -> Html | None:
    if embedding.residuals is None or not len(embedding.residuals):
        return None
    worst = number(float(np.max(embedding.residuals)), 2)
    if embedding.certified:
        return element("p", f"✓ Certified: largest residual {worst}", class_="badge good")
    return element("p", f"✗ Not certified: largest residual {worst}", class_="badge bad")


def _chart(identity: str, sentence: str, still: Html | None = None) -> Html:
    """Where the script draws; before it does (or if it may not) the still picture stands there."""
    return element("div", still, id=identity, class_="chart", role="img", aria_label=sentence)


def _map_controls(embedding: Embedding, drawn: Drawing) -> Html:
    axes = [visible(axis.title) for axis in embedding.axes[:MAX_AXES]]
    across = _select("map-x", "Across", list(enumerate(axes)), 0)
    up = _select("map-y", "Up", list(enumerate(axes)), 1) if len(axes) > 1 else None
    color = _select("map-color", "Color", _color_options(drawn), drawn.data["color"])
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
    controls = element("div", across, up, color, search, class_="controls")
    return element("div", controls, found, class_="panel")


def _color_options(drawn: Drawing) -> list[tuple[int, str]]:
    columns = zip(drawn.column_names, drawn.data["columns"], strict=True)
    named = [(i, name) for i, (name, column) in enumerate(columns) if column["kind"] != "text"]
    return [(-1, "one color"), *named]


def _map_tools() -> Html:
    tools = (
        ("zoom-in", "Zoom in"),
        ("zoom-out", "Zoom out"),
        ("zoom-reset", "Show all"),
        ("save-csv", "Coordinates (CSV)"),
        ("save-png", "Picture (PNG)"),
        ("save-svg", "Picture (SVG)"),
    )
    buttons = [element("button", text, type="button", id=identity) for identity, text in tools]
    equal = element(
        "label",
        element("input", type="checkbox", id="map-equal", checked=True),
        " same scale on both axes",
    )
    return element("div", *buttons, equal, class_="tools")


def _select(identity: str, label: str, options: Sequence[tuple[int, str]], chosen: int) -> Html:
    choices = [
        element("option", text, value=value, selected=value == chosen) for value, text in options
    ]
    return element(
        "div",
        element("label", label, for_=identity),
        element("select", *choices, id=identity),
    )


def _map_tables(embedding: Embedding) -> list[Html]:
    """Group centers, then the first rows."""
    axes = embedding.axes[: min(5, MAX_AXES)]
    k = len(axes)
    titles = [visible(axis.name) for axis in axes]
    tables = []
    groups = embedding.groups()
    if groups is not None:
        rows = [
            (level, f"{size:,}", *_numbers(_center(embedding.coordinates, groups.codes == i, k)))
            for i, (level, size) in enumerate(zip(groups.levels, groups.sizes, strict=True))
        ]
        name = visible(embedding.color_column())
        tables.append(table(f"Group centers by {name}", (name, "rows", *titles), rows))
    n = len(embedding.coordinates)
    labels = embedding.labels or tuple(f"row {i + 1}" for i in range(min(n, _TABLE_ROWS)))
    points = [
        (visible(labels[i], 60), *_numbers(embedding.coordinates[i, :k]))
        for i in range(min(n, _TABLE_ROWS))
    ]
    whole = "Points" if n <= _TABLE_ROWS else f"Points: the first {_TABLE_ROWS} of {n:,}"
    tables.append(table(whole, ("point", *titles), points))
    return tables


def _center(coordinates: Array, members: Array, k: int) -> Array:
    if not members.any():
        return np.full(k, np.nan)
    center: Array = coordinates[members, :k].mean(axis=0)
    return center


def _weights(caption: str, weights: Array, embedding: Embedding) -> Html:
    """Variables by axes, the heavy cells shaded."""
    values = np.nan_to_num(np.asarray(weights, dtype=np.float64)[:, :MAX_AXES])
    names = embedding.variables or tuple(f"variable {j + 1}" for j in range(len(values)))
    kept = np.arange(len(values))
    if len(values) > MAX_VARIABLES:
        heaviest = np.argsort(-np.abs(values).max(axis=1), kind="stable")[:MAX_VARIABLES]
        kept = np.sort(heaviest)
        caption += f": the heaviest {MAX_VARIABLES} of {len(values):,} variables"
    rows = [
        (visible(names[j], 60), *(f"{v:+.3f}" for v in values[j].tolist())) for j in kept.tolist()
    ]
    shades = [[_shade(v) for v in values[j].tolist()] for j in kept.tolist()]
    titles = [visible(axis.name) for axis in embedding.axes[:MAX_AXES]]
    return table(caption, ("variable", *titles), rows, shades=shades)


def _shade(weight: float) -> str:
    """Class of a cell: sign and strength; the number stays readable on each."""
    strength = min(int(abs(weight) * 5), 4)
    return f"{'plus' if weight > 0 else 'minus'}{strength}" if strength else ""


def _numbers(values: Array) -> list[str]:
    return [number(float(value), 4) for value in values]


def _details(summary: str, *children: Html) -> Html:
    return element("details", element("summary", summary), *children)


def _code(text: str) -> Html:
    return element("pre", element("code", text), tabindex=0)


def _python(embedding: Embedding) -> str:
    """The lines that repeat this in Python, with every setting written out."""
    settings = ", ".join(
        f"{visible(name)}={visible(repr(value), 200)}"
        for name, value in embedding.parameters.items()
    )
    method = visible(embedding.method)
    return (
        f"from gramian import {method}\n\nmodel = {method}({settings})\nZ = model.fit_transform(X)"
    )


def _versions() -> list[tuple[str, str]]:
    found = []
    for name in _VERSIONS:
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:
            continue
    return found

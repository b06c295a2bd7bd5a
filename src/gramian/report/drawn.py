"""The data of the map as plain JSON values, within a size budget.

Text in here is meant for Plotly, which reads labels as a kind of HTML: ``&``, ``<`` and ``>`` are
escaped already, so that a label can never be more than text, whatever the script does with it.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import combinations
from typing import Any

import numpy as np

from gramian.maps import Array
from gramian.report.charts import charts, figure_text, finite
from gramian.report.picture import density
from gramian.results import Embedding
from gramian.show.colors import PALETTE, Groups, Numbers
from gramian.show.text import count, visible
from gramian.show.thumbnail import thin

__all__ = ["MAX_AXES", "MAX_POINTS", "MAX_VARIABLES", "Drawing", "drawing"]

MAX_POINTS = 50_000
MAX_AXES = 10
MAX_VARIABLES = 200
_MAX_EDGES = 20_000
_DENSE_AXES = 3
_GRID = (160, 120)
# Plotly's script is 4.8 MB; with these a report stays under 6 MB at 10,000 points and under 10 MB
# at any number. Bytes, and bytes per drawn point.
_LABEL_ROOM = (200_000, 24)
_COLUMN_ROOM = (300_000, 24)
_LENGTHS = (60, 40, 24, 16, 10, 6, 3)


@dataclass(frozen=True)
class Drawing:
    """What goes into the page for the script, and what had to stay out."""

    data: dict[str, Any]
    rows: Array
    column_names: tuple[str, ...]
    remarks: tuple[str, ...]


def drawing(embedding: Embedding, title: str) -> Drawing:
    """Choose the points, axes and columns to draw.

    Parameters
    ----------
    embedding : Embedding
    title : str
        Names the files the reader saves.

    Returns
    -------
    Drawing
        The same for the same arguments.
    """
    n, k = embedding.coordinates.shape
    rows = thin(n, MAX_POINTS, embedding.groups())
    remarks = []
    if len(rows) < n:
        remarks.append(
            f"{len(rows):,} of {n:,} points drawn: a fixed random sample, each group in "
            f"proportion. The shade behind them counts all {n:,}, on the first "
            f"{min(k, _DENSE_AXES)} axes."
        )
    if k > MAX_AXES:
        remarks.append(f"The map offers the first {MAX_AXES} of {k} axes.")
    labels, limit = _labels(embedding, rows)
    if limit:
        remarks.append(f"Row names are shortened to {limit} characters here.")
    columns, left_out = _columns(embedding, rows)
    names = list(columns)
    if left_out:
        remarks.append(
            f"{count(len(left_out), 'column')} left out for size: {', '.join(left_out[:5])}"
            f"{' ...' if len(left_out) > 5 else ''}."
        )
    edges = _edges(embedding, rows)
    if embedding.edges is not None and len(embedding.edges) > _MAX_EDGES:
        remarks.append(
            f"At most {_MAX_EDGES:,} of {len(embedding.edges):,} edges drawn, between drawn points."
        )
    first = embedding.color_column()
    data = {
        "file": _file_name(title),
        "n": n,
        "rows": None if len(rows) == n else _packed(rows, "<i4"),
        "axes": [
            {"name": figure_text(axis.name), "title": figure_text(axis.title)}
            for axis in embedding.axes[:MAX_AXES]
        ],
        "coordinates": [_floats(embedding.coordinates[rows, j]) for j in range(min(k, MAX_AXES))],
        "labels": labels,
        "columns": [{"name": figure_text(name), **columns[name]} for name in names],
        "color": names.index(first) if first in names else -1,
        "palette": PALETTE,
        "label": names.index(embedding.label) if embedding.label in names else -2,
        "edges": edges,
        "density": _density(embedding) if len(rows) < n else [],
        "variables": _variables(embedding),
        **charts(embedding),
    }
    return Drawing(data, rows, tuple(map(visible, names)), tuple(remarks))


def _labels(embedding: Embedding, rows: Array) -> tuple[list[str] | None, int]:
    """Labels of the drawn rows, and the length they were cut to (0 if uncut)."""
    if embedding.labels is None:
        return None, 0
    chosen = [embedding.labels[i] for i in rows.tolist()]
    return _fitting(chosen, _room(_LABEL_ROOM, len(rows)))


def _columns(embedding: Embedding, rows: Array) -> tuple[dict[str, Any], list[str]]:
    """Columns for color and hover that fit, and the names of those that do not."""
    room = _room(_COLUMN_ROOM, len(rows))
    first = embedding.color_column()
    fitting: dict[str, Any] = {}
    # The column that colors the map is first in line for the room; the sort keeps the others.
    for name in sorted(embedding.columns, key=lambda name: name != first):
        column = _column(embedding, name, rows, room)
        size = 0 if column is None else _size(column)
        if column is not None and size <= room:
            room -= size
            fitting[name] = column
    kept = {name: fitting[name] for name in embedding.columns if name in fitting}
    return kept, [visible(name) for name in embedding.columns if name not in fitting]


def _column(embedding: Embedding, name: str, rows: Array, room: int) -> dict[str, Any] | None:
    kind = embedding.coloring(name)
    if isinstance(kind, Numbers):
        return {"kind": "numbers", "values": _floats(kind.values[rows])}
    if isinstance(kind, Groups):
        levels = [escape(level, quote=False) for level in kind.levels]
        return {"kind": "groups", "levels": levels, "codes": _packed(kind.codes[rows], "u1")}
    if room <= 0:
        return None
    values = np.asarray(embedding.columns[name], dtype=object)[rows].tolist()
    texts, _ = _fitting(["" if value is None else value for value in values], room)
    return {"kind": "text", "values": texts}


def _size(column: dict[str, Any]) -> int:
    """Bytes a column takes in the page, about."""
    if column["kind"] == "groups":
        return len(column["codes"])
    if column["kind"] == "numbers":
        return len(column["values"]["data"])
    return _bytes(column["values"])


def _edges(embedding: Embedding, rows: Array) -> str | None:
    """Edges between drawn points, by their place among these."""
    if embedding.edges is None:
        return None
    place = np.full(len(embedding.coordinates), -1)
    place[rows] = np.arange(len(rows))
    edges = place[np.asarray(embedding.edges, dtype=np.intp)]
    edges = edges[(edges >= 0).all(axis=1)]
    return _packed(edges[thin(len(edges), _MAX_EDGES)], "<i4")


def _density(embedding: Embedding) -> list[dict[str, Any]]:
    """Counts of all points on a grid, for each pair of the first axes."""
    Z = embedding.coordinates
    found = []
    for a, b in combinations(range(min(Z.shape[1], _DENSE_AXES)), 2):
        edges, levels = density(Z[:, a], Z[:, b], *_GRID)
        found.append({"x": a, "y": b, "range": edges, "levels": _packed(levels, "u1")})
    return found


def _variables(embedding: Embedding) -> dict[str, Any] | None:
    if embedding.correlations is None:
        return None
    values = np.nan_to_num(np.asarray(embedding.correlations, dtype=np.float64)[:, :MAX_AXES])
    if values.shape[0] < 2 or values.shape[1] < 2:
        return None  # a circle needs two axes, and one variable is a point
    given = values if embedding.loadings is None else embedding.loadings
    loadings = np.nan_to_num(np.asarray(given, dtype=np.float64)[:, :MAX_AXES])
    kept = np.sort(np.argsort(-np.square(values).sum(axis=1), kind="stable")[:MAX_VARIABLES])
    return {
        "names": [figure_text(embedding.variable_names[j], 30) for j in kept.tolist()],
        "correlations": [[finite(v, 4) for v in row] for row in values[kept].tolist()],
        "loadings": [[finite(v, 4) for v in row] for row in loadings[kept].tolist()],
        "total": len(values),
    }


def _fitting(texts: Sequence[object], room: int) -> tuple[list[str], int]:
    """The texts, all cut to the longest length at which together they fit the room."""
    whole = ["" if text == "" else visible(text, _LENGTHS[0]) for text in texts]
    sample = whole[:: max(1, len(whole) // 1000)]
    shown: list[str] = []
    for limit in _LENGTHS:
        # A thousand texts tell whether it is worth trying all.
        if limit > _LENGTHS[-1] and _bytes(_cut(sample, limit)) * len(whole) > room * len(sample):
            continue
        shown = _cut(whole, limit)
        if _bytes(shown) <= room:
            break
    longest = max(map(len, map(str, texts)), default=0)
    return shown, limit if longest > limit else 0


def _cut(texts: Sequence[str], limit: int) -> list[str]:
    return [
        escape(text if len(text) <= limit else text[: limit - 1] + "…", quote=False)
        for text in texts
    ]


def _bytes(texts: Sequence[str]) -> int:
    # Quotes and comma; an escaped "&" takes five characters more in the script block.
    return sum(len(text.encode("utf-8", "replace")) + 3 + 5 * text.count("&") for text in texts)


def _room(room: tuple[int, int], points: int) -> int:
    return max(room[0], room[1] * points)


def _floats(values: Array) -> dict[str, str]:
    """Floats packed in single precision, or in double where single would show."""
    # Halves, so that a range near the largest float stays a number.
    present = np.isfinite(values)
    halves = np.asarray(values, dtype=np.float64)[present] / 2
    with np.errstate(over="ignore"):
        error = np.abs(halves.astype("<f4") - halves)
        good = bool(np.all(error <= 1e-6 * np.ptp(halves))) if halves.size else True
        return (
            {"type": "f4", "data": _packed(values, "<f4")}
            if good
            else {
                "type": "f8",
                "data": _packed(values, "<f8"),
            }
        )


def _packed(values: Array, dtype: str) -> str:
    """An array as base64 of its bytes: half the size of digits, and no rounding twice."""
    return base64.b64encode(np.ascontiguousarray(values, dtype=dtype).tobytes()).decode()


def _file_name(title: str) -> str:
    """Lowercase letters, digits and hyphens only: safe on every system."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60] or "gramian"

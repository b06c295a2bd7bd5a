"""``write_report``: one HTML file with the map, the spectrum, the certificate and how to repeat it.

The page is static HTML that reads well without a script; the script then draws the charts with
Plotly, whose script comes from the installed plotly package. Nothing is ever fetched.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import replace
from importlib.resources import files
from typing import Any

from gramian import __version__
from gramian.errors import GramianError
from gramian.files import replacing
from gramian.report.distances import shepard_part, stress_part
from gramian.report.drawn import Drawing, drawing
from gramian.report.html import data_block, element, policy, script, style
from gramian.report.measures import measures_part
from gramian.report.parts import Part
from gramian.report.points import map_part
from gramian.report.record import certificate, header, notes, reproduce
from gramian.report.spectrum import residual_variance_part, scree_part, whole_spectrum_part
from gramian.report.variables import images_part, variables_part
from gramian.results import Embedding, as_embedding
from gramian.show.text import visible

__all__ = ["render", "write_report"]

# One script, cut by what its parts do; they share one scope, in this order.
_SCRIPT = ("data", "look", "space", "map", "paint", "pick", "save", "charts", "tables", "start")


def write_report(result: Any, path: str | os.PathLike[str], *, title: str | None = None) -> None:
    """Write a report on an embedding as one HTML file that opens without a network.

    Parameters
    ----------
    result : Embedding
        Anything with ``to_embedding()`` will do.
    path : path
        Ends in ``.html`` or ``.htm``. An existing file is replaced, in one step.
    title : str, optional
        Default: the method and where the data came from.

    Notes
    -----
    The same input gives the same bytes, but for the time of writing; with the environment
    variable ``SOURCE_DATE_EPOCH`` set, that is fixed too. At most 50,000 points are drawn, and
    the report says so when it thins.

    Examples
    --------
    >>> from gramian.report import write_report
    >>> write_report(model.to_embedding(X), "iris.html", title="Fisher's irises")  # doctest: +SKIP
    """
    if not os.fspath(path).lower().endswith((".html", ".htm")):
        raise GramianError(f"a report is an .html file, got {visible(path, 200)}")
    page = render(as_embedding(result), title=title)
    with replacing(path) as file:
        file.write(page.encode("utf-8", "backslashreplace"))


def render(embedding: Embedding, *, title: str | None = None) -> str:
    """The report as text.

    Parameters
    ----------
    embedding : Embedding
    title : str, optional
    """
    if min(embedding.coordinates.shape) == 0:
        raise GramianError("a report needs at least one observation and one axis")
    if title is None:
        of = f" of {embedding.source}" if embedding.source else ""
        title = f"{embedding.method}{of}"
    if embedding.point_stress is not None:
        columns = {**embedding.columns, "stress per point": embedding.point_stress}
        embedding = replace(embedding, columns=columns)
    drawn = drawing(embedding, title)
    parts = _parts(embedding, drawn)
    ours = "".join(_asset(f"script/{name}.js") for name in _SCRIPT)
    scripts = (_plotly(), f'(() => {{\n"use strict";\n{ours}}})();\n')
    head = element(
        "head",
        element("meta", charset="utf-8"),
        policy(scripts),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="generator", content=f"gramian {__version__}"),
        element("meta", name="referrer", content="no-referrer"),
        element("link", rel="icon", href="data:,"),
        element("title", visible(title, 200)),
        style(_asset("report.css")),
    )
    body = element(
        "body",
        element("a", "Skip to the map", href="#map", class_="skip"),
        header(embedding, visible(title, 200), _written(), parts),
        element("main", *(each.html for each in parts)),
        element("footer", f"Written by gramian {__version__}. This file needs no network."),
        data_block("data", drawn.data),
        *map(script, scripts),
    )
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def _parts(embedding: Embedding, drawn: Drawing) -> list[Part]:
    parts = [
        map_part(embedding, drawn),
        scree_part(embedding),
        residual_variance_part(embedding),
        whole_spectrum_part(embedding),
        shepard_part(embedding),
        stress_part(embedding),
        variables_part(embedding, drawn),
        images_part(embedding),
        measures_part(embedding),
        certificate(embedding),
        notes(embedding),
        reproduce(embedding),
    ]
    return [each for each in parts if each is not None]


def _plotly() -> str:
    from plotly.offline import get_plotlyjs

    source: str = get_plotlyjs()
    # An HTML parser turns \r\n into \n, and the hash in the policy is taken of what it reads.
    return source.replace("\r\n", "\n").replace("\r", "\n")


def _asset(name: str) -> str:
    source = files("gramian.report").joinpath(name).read_text(encoding="utf-8")
    return source.replace("\r\n", "\n")


def _written() -> str:
    """Date and time of writing, in UTC; fixed where a reproducible build asks for it."""
    moment = time.time()
    with suppress(KeyError, ValueError):
        moment = float(os.environ["SOURCE_DATE_EPOCH"])
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(moment))

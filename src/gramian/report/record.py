"""The parts of a report that are words: title, certificate, notes, how to repeat it."""

from __future__ import annotations

import platform
from collections.abc import Sequence

import numpy as np

from gramian.report.html import Html, element, table
from gramian.report.parts import TABLE_ROWS, Part, part
from gramian.report.sentences import about_certificate
from gramian.results import Embedding
from gramian.show.text import number, percent, visible
from gramian.show.versions import versions

__all__ = ["certificate", "header", "notes", "reproduce"]


def header(embedding: Embedding, title: str, written: str, parts: Sequence[Part]) -> Html:
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
    links = [element("a", each.link, href=f"#{each.identity}") for each in parts]
    return element(
        "header",
        element("p", f"{visible(embedding.method)} · written {written}", class_="eyebrow"),
        element("h1", title),
        element("dl", *tiles, class_="facts"),
        _badge(embedding),
        element("nav", *links, aria_label="Parts of this report"),
    )


def certificate(embedding: Embedding) -> Part:
    """Residuals in words and numbers, and the plan that led to them."""
    parts: list[Html | None] = [
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
            for axis in embedding.axes[:TABLE_ROWS]
        ]
        headings = ("axis", "residual", "tolerance", "met")
        parts.append(table("Residuals, measured", headings, rows))
    if embedding.plan:
        parts += [element("h3", "Plan"), element("p", visible(embedding.plan, 2000))]
    return part("certificate", "Certificate", *parts)


def notes(embedding: Embedding) -> Part | None:
    """What was decided on the way."""
    if not embedding.notes:
        return None
    items = [element("li", visible(note, 500)) for note in embedding.notes[:50]]
    return part("notes", "Notes", element("ul", *items))


def reproduce(embedding: Embedding) -> Part:
    """Command, Python, parameters, versions."""
    parameters = [(visible(k), visible(repr(v), 200)) for k, v in embedding.parameters.items()]
    parts: list[Html | None] = []
    if embedding.command:
        parts += [element("h3", "Command"), _code(visible(embedding.command, 2000))]
    parts += [element("h3", "Python"), _code(_python(embedding))]
    columns: list[Html] = []
    if parameters:
        columns.append(
            table("Parameters", ("parameter", "value"), parameters, sortable=False),
        )
    packages = [("Python", platform.python_version()), *versions().items()]
    columns.append(table("Versions", ("package", "version"), packages, sortable=False))
    if embedding.provenance.get("sha256"):
        known = [
            (name, visible(embedding.provenance[name], 80))
            for name in ("sha256", "bytes", "threads")
        ]
        columns.append(table("Data as read", ("of the file", "value"), known, sortable=False))
    parts.append(element("div", *columns, class_="columns"))
    return part("reproduce", "Reproduce", *parts)


def _badge(embedding: Embedding) -> Html | None:
    if embedding.residuals is None or not len(embedding.residuals):
        return None
    worst = number(float(np.max(embedding.residuals)), 2)
    if embedding.certified:
        return element("p", f"✓ Certified: largest residual {worst}", class_="badge good")
    return element("p", f"✗ Not certified: largest residual {worst}", class_="badge bad")


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

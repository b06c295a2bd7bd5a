"""Pieces that the parts of a report share: charts, folded tables, choices, numbers as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gramian.maps import Array
from gramian.report.html import Html, element
from gramian.show.text import number

__all__ = ["TABLE_ROWS", "Part", "chart", "details", "figure", "numbers", "part", "select"]

#: The most rows of a table.
TABLE_ROWS = 200


@dataclass(frozen=True)
class Part:
    """One part of the report: where its link goes, what the link says, and its HTML."""

    identity: str
    link: str
    html: Html


def part(identity: str, heading: str, *children: Html | None) -> Part:
    """A section under its heading."""
    html = element("section", element("h2", heading), *children, id=identity)
    return Part(identity, heading, html)


def chart(identity: str, sentence: str, still: Html | None = None) -> Html:
    """Where the script draws; before it does (or if it may not) the still picture stands there."""
    return element("div", still, id=identity, class_="chart", role="img", aria_label=sentence)


def figure(identity: str, sentence: str, what: str) -> Html:
    """A chart under its sentence, with buttons that save it as a picture."""
    buttons = [
        element(
            "button",
            kind.upper(),
            type="button",
            data_save=identity,
            data_kind=kind,
            aria_label=f"Save {what} as {kind.upper()}",
        )
        for kind in ("png", "svg")
    ]
    return element(
        "figure",
        element("p", sentence, class_="lead"),
        chart(identity, sentence),
        element("div", element("span", "Save as"), *buttons, class_="tools saving"),
    )


def details(summary: str, *children: Html) -> Html:
    """Children folded away until asked for."""
    return element("details", element("summary", summary), *children)


def select(identity: str, label: str, options: Sequence[tuple[int, str]], chosen: int) -> Html:
    """A choice with its label."""
    choices = [
        element("option", text, value=value, selected=value == chosen) for value, text in options
    ]
    return element(
        "div",
        element("label", label, for_=identity),
        element("select", *choices, id=identity),
    )


def numbers(values: Array) -> list[str]:
    """Numbers for the cells of a table."""
    return [number(float(value), 4) for value in values]

"""HTML built from elements, so that text is escaped unless it already is HTML.

There is no template to forget an escape in: a plain ``str`` is always escaped, and only this
module makes ``Html``.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

__all__ = ["Html", "data_block", "element", "policy", "script", "style", "table", "verbatim"]

_VOID = frozenset({"meta", "link", "input", "br", "img"})
# What would end a script element or be read as markup inside it; JSON allows the escapes.
_SCRIPT_UNSAFE = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


class Html(str):
    """Text that is HTML already and goes into the page as it is."""

    __slots__ = ()


def element(name: str, /, *children: str | None, **attributes: str | int | bool | None) -> Html:
    """One element: children and attributes escaped, ``None`` left out.

    Parameters
    ----------
    name : str
        Tag name.
    *children : str, Html or None
        A plain string is escaped.
    **attributes : str, int, bool or None
        ``class_`` and ``for_`` stand for the reserved words; other underscores become hyphens.
        ``True`` writes the bare attribute.
    """
    written = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        return Html(f"<{name}{written}>")
    inner = "".join(map(_as_html, children))
    return Html(f"<{name}{written}>{inner}</{name}>")


def table(
    caption: str,
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    sortable: bool = True,
    shades: Sequence[Sequence[str]] | None = None,
    words: bool = False,
) -> Html:
    """A table with a caption, column headings, and the first cell of a row as its heading.

    Parameters
    ----------
    caption : str
    headings : sequence of str
    rows : iterable of sequences of str
        As many cells as headings.
    sortable : bool
        Whether the reader may sort it by a click on a heading.
    shades : sequence of sequences of str, optional
        A class for each cell after the first.
    words : bool
        Cells hold sentences: they may break into lines and start at the left.
    """
    head = element("tr", *(element("th", heading, scope="col") for heading in headings))
    body = [
        element(
            "tr",
            element("th", first, scope="row"),
            *(
                element("td", cell, class_=shades[i][j] or None if shades else None)
                for j, cell in enumerate(rest)
            ),
        )
        for i, (first, *rest) in enumerate(rows)
    ]
    kinds = ["sortable"] * (sortable and len(body) > 1) + ["words"] * words
    whole = element(
        "table",
        element("caption", caption),
        element("thead", head),
        element("tbody", *body),
        class_=" ".join(kinds) or None,
    )
    # Wide tables scroll by themselves, also by keyboard: the page never does sideways.
    return element("div", whole, class_="scroll", tabindex=0, role="region", aria_label=caption)


def data_block(identity: str, data: Any) -> Html:
    """Data for our script, as JSON that cannot end the element it stands in."""
    written = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return element(
        "script",
        Html(written.translate(_SCRIPT_UNSAFE)),
        type="application/json",
        id=identity,
    )


def script(source: str) -> Html:
    """Our own script, verbatim; ``policy`` lets it run by its hash."""
    return element("script", verbatim(source, "</script"))


def style(source: str) -> Html:
    """Our own style sheet, verbatim."""
    return element("style", verbatim(source, "</style"))


def verbatim(source: str, end: str) -> Html:
    """Source text that goes into the page as it is; refused if it could end its element."""
    if end in source.lower():
        raise ValueError(f"source contains {end}")
    return Html(source)


def policy(scripts: Iterable[str]) -> Html:
    """The Content-Security-Policy: these scripts run, nothing else does, nothing is fetched.

    Styles cannot be held to hashes: Plotly sets style attributes while it draws. A style alone
    cannot run code, and with every source closed it cannot send anything either.
    """
    hashes = " ".join(f"'sha256-{_sha256(source)}'" for source in scripts)
    rules = (
        "default-src 'none'",
        f"script-src {hashes}",
        "style-src 'unsafe-inline'",
        "img-src data: blob:",
        "connect-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
    )
    return element("meta", http_equiv="Content-Security-Policy", content="; ".join(rules))


def _attribute(key: str, value: str | int | bool | None) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{escape(str(value), quote=True)}"'


def _as_html(child: str | None) -> str:
    if child is None:
        return ""
    return child if isinstance(child, Html) else escape(child)


def _sha256(source: str) -> str:
    return base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()

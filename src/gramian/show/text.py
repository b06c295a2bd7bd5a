r"""Text from a user's file, made safe and short enough to show.

Names come from files that anybody may have written. A terminal obeys escape sequences in them,
and a right-to-left override reverses what follows, so both are shown as what they are: ``\x1b``,
``\u202e``. Where text goes into HTML it is escaped there as well; this module does not know HTML.
"""

from __future__ import annotations

import math
import os
import unicodedata
from collections.abc import Sequence

__all__ = ["count", "listed", "number", "percent", "visible"]

# Joiners shape letters and emoji and cannot reorder text: the only format characters let through.
_JOINERS = "\u200c\u200d"
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp"})


def visible(text: object, limit: int = 80) -> str:
    r"""Text with invisible characters as escapes, shortened with an ellipsis.

    Parameters
    ----------
    text : object
        A name, a label, a path; anything with ``str``.
    limit : int
        The most characters returned.

    Returns
    -------
    str
        On one line, with nothing in it that a terminal or a browser would obey.

    Examples
    --------
    >>> visible("a\x1b[2Jb")
    'a\\x1b[2Jb'
    >>> visible("x" * 100, limit=5)
    'xxxx…'
    """
    plain = os.fspath(text) if isinstance(text, os.PathLike) else str(text)
    if plain == "":
        return "(empty)"
    # Cut first: escaping a million characters to show eighty would be a way to hang the program.
    shown = plain[: limit + 1]
    if not shown.isprintable():
        shown = "".join(map(_visible_character, shown))
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def _visible_character(character: str) -> str:
    if character in _JOINERS or unicodedata.category(character) not in _HIDDEN:
        return character
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def number(value: float, digits: int = 5) -> str:
    """A number with so many significant digits; ``-`` where there is none."""
    return f"{value:.{digits}g}" if math.isfinite(value) else "-"


def percent(share: float) -> str:
    """A share between 0 and 1 as ``92.5%``; ``-`` where there is none."""
    if 0 < share < 0.0005:
        return "<0.1%"
    return f"{100 * share:.1f}%" if math.isfinite(share) else "-"


def count(n: int, noun: str, plural: str | None = None) -> str:
    """``1 axis``, ``12,000 observations``: the number with its noun."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def listed(items: Sequence[str], limit: int = 8) -> str:
    """Items joined as a sentence would: ``a, b and c``; the tail counted, not named."""
    if len(items) > limit:
        items = [*items[:limit], f"{len(items) - limit:,} more"]
    return " and ".join(filter(None, [", ".join(items[:-1]), *items[-1:]]))

"""Axes and their numbers as lines of text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gramian.show.text import number


def axis_table(columns: Mapping[str, Any], kept: Any, most: int) -> list[str]:
    """A line of names, then one for each of the first ``most`` axes; those kept are marked."""
    lines = [" ".join(["axis", *(f"{name:>12}" for name in columns)])]
    for i in range(min(most, len(kept))):
        cells = [f"{i + 1:>4}", *(f"{number(values[i]):>12}" for values in columns.values())]
        lines.append(" ".join(cells) + "  kept" * bool(kept[i]))
    return lines

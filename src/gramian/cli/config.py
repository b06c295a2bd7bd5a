"""Settings that need not be typed: options > ``GRAMIAN_*`` in the environment > a file.

The file is the nearest ``gramian.toml``, or ``pyproject.toml`` with a table ``[tool.gramian]``, in
the current folder or above it. It may hold four settings::

    memory = "4GB"
    threads = 2
    missing = ["?", "n.d."]
    palette = ["#0072B2", "#D55E00", "#009E73"]
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from gramian.cli.names import did_you_mean
from gramian.errors import GramianError
from gramian.show.text import visible

__all__ = ["SETTINGS", "Setting", "described", "environment", "from_file", "settings"]

SETTINGS = ("memory", "threads", "palette", "missing")


class Setting(NamedTuple):
    """A value as text, and where it comes from."""

    value: str
    origin: str


def settings() -> dict[str, Setting]:
    """What holds where no option is given."""
    found = dict(from_file())
    for name in SETTINGS:
        value = os.environ.get(f"GRAMIAN_{name.upper()}")
        if value:
            found[name] = Setting(
                _checked(name, value, "the environment"), f"GRAMIAN_{name.upper()}"
            )
    return found


def from_file() -> dict[str, Setting]:
    """The settings of the nearest file, if there is one."""
    for folder in (Path.cwd(), *Path.cwd().parents):
        for name in ("gramian.toml", "pyproject.toml"):
            path = folder / name
            if path.is_file() and (table := _table(path)) is not None:
                return {key: _setting(path, key, value) for key, value in table.items()}
    return {}


def described() -> str:
    """All settings as text, each with its origin."""
    found = settings()
    lines = []
    for name in SETTINGS:
        value, origin = found.get(name, Setting("not set", "default"))
        lines.append(f"{name:<8} {visible(value, 200):<20} {visible(origin, 200)}")
    return "\n".join(lines)


@contextmanager
def environment(found: Mapping[str, Setting]) -> Iterator[None]:
    """The palette has no option; drawing code reads it from the environment."""
    if "palette" not in found or "GRAMIAN_PALETTE" in os.environ:
        yield
        return
    os.environ["GRAMIAN_PALETTE"] = found["palette"].value
    try:
        yield
    finally:
        os.environ.pop("GRAMIAN_PALETTE", None)


def _table(path: Path) -> dict[str, Any] | None:
    import tomllib

    try:
        with path.open("rb") as file:
            table: Any = tomllib.load(file)
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        if path.name == "pyproject.toml":  # somebody else's file: not ours to judge
            return None
        raise GramianError(f"{visible(path, 200)} cannot be read: {error}") from None
    if path.name == "pyproject.toml":
        table = table.get("tool", {}).get("gramian")
    return table if isinstance(table, dict) else None


def _setting(path: Path, name: str, value: Any) -> Setting:
    if name not in SETTINGS:
        raise GramianError(
            f"{visible(path, 200)} holds {visible(name)!r}, which is no setting; "
            f"{did_you_mean(name, SETTINGS)}"
        )
    if isinstance(value, list) and name in ("missing", "palette"):
        value = _joined(map(str, value))
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise GramianError(
            f"{visible(path, 200)}: {name} = {visible(value)} is not a value it can have"
        )
    return Setting(_checked(name, str(value), visible(path, 200)), str(path))


def _checked(name: str, value: str, where: str) -> str:
    if name == "memory":
        from gramian.memory import budget

        try:
            budget(value)
        except GramianError as error:
            raise GramianError(f"{where}: {error}") from None
    if name == "threads" and not (value.isdigit() and int(value) > 0):
        raise GramianError(
            f"{where}: threads is a whole number of at least 1, got {visible(value)}"
        )
    if name == "palette" and not re.fullmatch(r"(#[0-9a-fA-F]{6}\s*,\s*)+#[0-9a-fA-F]{6}", value):
        raise GramianError(
            f"{where}: palette is two or more colors such as '#0072B2,#D55E00', "
            f"got {visible(value)}"
        )
    return value


def _joined(words: Any) -> str:
    """Words as the option ``--missing`` takes them."""
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(list(words))
    return text.getvalue()

"""What ``n_components`` may say, and what it comes to."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from gramian.errors import InputError
from gramian.maps import Array


def checked_components(said: Any, most: int) -> int | float | str:
    """An int from 1 to ``most``, a share between 0 and 1, "mle" or "horn"; ``None`` is all."""
    if said is None:
        return most
    if isinstance(said, str) and said in ("mle", "horn"):
        return said
    if not isinstance(said, bool) and isinstance(said, numbers.Integral) and 1 <= int(said) <= most:
        return int(said)
    if isinstance(said, (float, np.floating)) and 0 < said < 1:
        return float(said)
    raise InputError(
        f"n_components={said!r}: give a whole number from 1 to {most} (the most these data allow), "
        "a share of variance between 0 and 1, 'mle', 'horn', or None for all"
    )


def share_reached(values: Array, total: float, share: float) -> int | None:
    """How many leading values exceed ``share`` of ``total``; ``None`` if they do not yet."""
    if total <= 0:
        return 1
    k = int(np.searchsorted(np.cumsum(values) / total, share, side="right")) + 1
    return k if k <= len(values) else None


def checked_level(level: Any, name: str = "level", example: float = 0.95) -> float:
    """A number between 0 and 1."""
    real = isinstance(level, numbers.Real) and not isinstance(level, bool)
    if not real or not 0 < float(level) < 1:
        raise InputError(f"{name}={level!r}: give a number between 0 and 1, such as {example:g}")
    return float(level)

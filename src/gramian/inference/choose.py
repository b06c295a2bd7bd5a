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


def counted_components(said: Any, most: int) -> int:
    """An int from 1 to ``most``; ``None`` is all."""
    if said is None:
        return most
    whole = isinstance(said, numbers.Integral) and not isinstance(said, bool)
    if not whole or not 1 <= int(said) <= most:
        raise InputError(
            f"n_components={said!r}: give a whole number from 1 to {most} (the most these data "
            "allow), or None for all"
        )
    return int(said)


def checked_iterations(max_iter: Any, tol: Any) -> None:
    """``max_iter`` is a whole number of at least 1, ``tol`` a number of at least 0."""
    if isinstance(max_iter, bool) or not isinstance(max_iter, numbers.Integral) or max_iter < 1:
        raise InputError(f"max_iter={max_iter!r}: give a whole number of at least 1")
    real = isinstance(tol, numbers.Real) and not isinstance(tol, bool)
    if not real or not 0 <= float(tol) < np.inf:
        raise InputError(f"tol={tol!r}: give a number of at least 0, such as 1e-6")


def checked_shrinkage(share: Any) -> float | str | None:
    """``None``, "auto", or a number from 0 to below 1."""
    real = isinstance(share, numbers.Real) and not isinstance(share, bool)
    if share is None or share == "auto" or (real and 0 <= float(share) < 1):
        return share
    raise InputError(f"shrinkage={share!r}: give None, 'auto', or a number from 0 to below 1")


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


def checked_count(count: Any, name: str, least: int) -> int:
    """A whole number of at least ``least``."""
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < least:
        raise InputError(f"{name}={count!r}: give a whole number of at least {least}")
    return int(count)

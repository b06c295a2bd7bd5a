"""How good a picture is, and what it is made from: measures that know arrays, not methods."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_home = dict.fromkeys(
    (
        "cailliez",
        "check_distances",
        "clip",
        "conditionally_negative_definite",
        "hilbert_embedding",
        "lingoes",
        "positive_semidefinite",
        "power",
        "worst_triangle",
    ),
    "gramian.quality.euclidean",
)

__all__ = sorted(_home)


def __getattr__(name: str) -> Any:
    if name in _home:
        return getattr(import_module(_home[name]), name)
    raise AttributeError(f"module 'gramian.quality' has no attribute {name!r}")

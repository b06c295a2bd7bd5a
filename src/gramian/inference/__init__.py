"""How many components, and how sure."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_home = {
    "ParallelAnalysis": "horn",
    "parallel_analysis": "horn",
}

__all__ = sorted(_home)


def __getattr__(name: str) -> Any:
    if name in _home:
        return getattr(import_module(f"gramian.inference.{_home[name]}"), name)
    raise AttributeError(f"module 'gramian.inference' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__

"""How many components, and how sure."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_home = {
    "CrossValidation": "holdout",
    "DeflatedAnalysis": "deflation",
    "HowMany": "verdict",
    "ParallelAnalysis": "horn",
    "TracyWidom": "largest_root",
    "Uncertainty": "uncertainty",
    "bootstrap": "resampling",
    "broken_stick": "rules",
    "broken_stick_values": "rules",
    "close_axes": "uncertainty",
    "cross_validation": "holdout",
    "deflated_parallel_analysis": "deflation",
    "gavish_donoho": "noise",
    "how_many": "verdict",
    "jackknife": "resampling",
    "kaiser": "rules",
    "marchenko_pastur": "noise",
    "marchenko_pastur_edge": "noise",
    "minka_dimension": "minka",
    "noise_variance": "noise",
    "parallel_analysis": "horn",
    "share_of_variance": "rules",
    "tracy_widom_survival": "largest_root",
    "tracy_widom": "largest_root",
}

__all__ = sorted(_home)


def __getattr__(name: str) -> Any:
    if name in _home:
        return getattr(import_module(f"gramian.inference.{_home[name]}"), name)
    raise AttributeError(f"module 'gramian.inference' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__

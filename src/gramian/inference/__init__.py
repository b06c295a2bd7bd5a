"""How many components, how sure, and what chance would do."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_home = {
    "CrossValidation": "holdout",
    "DeflatedAnalysis": "deflation",
    "EnvironmentFit": "environment",
    "HowMany": "verdict",
    "IntrinsicDimension": "intrinsic",
    "ParallelAnalysis": "horn",
    "Protest": "concordance",
    "Stability": "stability",
    "StressScree": "stress",
    "StressTest": "stress",
    "TracyWidom": "largest_root",
    "Uncertainty": "uncertainty",
    "bootstrap": "resampling",
    "bootstrap_configuration": "stability",
    "broken_stick": "rules",
    "broken_stick_values": "rules",
    "close_axes": "uncertainty",
    "cross_validation": "holdout",
    "deflated_parallel_analysis": "deflation",
    "envfit": "environment",
    "gavish_donoho": "noise",
    "how_many": "verdict",
    "intrinsic_dimension": "intrinsic",
    "jackknife": "resampling",
    "jackknife_stability": "stability",
    "kaiser": "rules",
    "marchenko_pastur": "noise",
    "marchenko_pastur_edge": "noise",
    "minka_dimension": "minka",
    "noise_variance": "noise",
    "parallel_analysis": "horn",
    "protest": "concordance",
    "share_of_variance": "rules",
    "stress_by_dimension": "stress",
    "stress_permutation_test": "stress",
    "tracy_widom": "largest_root",
    "tracy_widom_survival": "largest_root",
}

__all__ = sorted(_home)


def __getattr__(name: str) -> Any:
    if name in _home:
        return getattr(import_module(f"gramian.inference.{_home[name]}"), name)
    raise AttributeError(f"module 'gramian.inference' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__

"""How good a picture is, and what it is made from: measures that know arrays, not methods."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_home = {
    name: f"gramian.quality.{module}"
    for module, names in {
        "euclidean": (
            *("cailliez", "check_distances", "clip", "conditionally_negative_definite"),
            *("hilbert_embedding", "lingoes", "positive_semidefinite", "power", "worst_triangle"),
        ),
        "lindenstrauss": ("distortion", "johnson_lindenstrauss"),
        "neighborhoods": (
            *("CoRanking", "continuity", "coranking", "kept_neighbors", "trustworthiness"),
        ),
        "procrustes": ("Procrustes",),
        "regression": ("ShepardFit", "shepard"),
        "stress": (
            *("Stresses", "normalized_stress", "raw_stress", "s_stress", "stress_1", "stress_2"),
            *("stress_per_point", "stresses"),
        ),
        "unexplained": ("residual_variance",),
    }.items()
    for name in names
}

__all__ = sorted(_home)


def __getattr__(name: str) -> Any:
    if name in _home:
        return getattr(import_module(_home[name]), name)
    raise AttributeError(f"module 'gramian.quality' has no attribute {name!r}")

"""The data of all charts but the map, as plain JSON values.

Text in here is meant for Plotly, which reads labels as a kind of HTML: ``&``, ``<`` and ``>`` are
escaped already, so that a label can never be more than text, whatever the script does with it.
"""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from gramian.results import Embedding
from gramian.show.text import visible
from gramian.show.thumbnail import thin

__all__ = ["charts", "figure_text", "finite"]

_MAX_SCREE = 60
_MAX_PAIRS = 2000
_MAX_SPECTRUM = 1000
_MOST_STRESSED = 25


def figure_text(text: object, limit: int = 60) -> str:
    """Text for a figure: visible, short, and with nothing Plotly would read as markup."""
    return escape(visible(text, limit), quote=False)


def finite(value: float, digits: int) -> float | None:
    """A number of so many digits, or nothing: JSON knows no NaN."""
    return float(f"{value:.{digits}g}") if np.isfinite(value) else None


def charts(embedding: Embedding) -> dict[str, Any]:
    """What each chart shows; ``None`` where the method has nothing for it."""
    return {
        "scree": _scree(embedding),
        "spectrum": _spectrum(embedding),
        "residual": _listed(embedding.residual_variance),
        "shepard": _shepard(embedding),
        "stress": _stress(embedding),
    }


def _scree(embedding: Embedding) -> dict[str, Any] | None:
    if embedding.eigenvalues is None:
        return None
    axes = embedding.axes[:_MAX_SCREE]
    return {
        "names": [figure_text(axis.name) for axis in axes],
        "values": [finite(axis.eigenvalue, 6) for axis in axes],
        "shares": [finite(axis.share, 6) for axis in axes],
        "cumulative": [finite(axis.cumulative, 6) for axis in axes],
        "chance": _chance(embedding, len(axes)),
    }


def _chance(embedding: Embedding, k: int) -> dict[str, Any] | None:
    """Horn's band in the units of the bars: shares where those are known."""
    chance = embedding.chance
    if chance is None or embedding.eigenvalues is None:
        return None
    unit = 1.0
    if embedding.explained is not None and embedding.explained[0] > 0:
        unit = float(embedding.eigenvalues[0] / embedding.explained[0])
    bounds = {"low": chance.low, "middle": chance.middle, "high": chance.high}
    return {name: _listed(values[:k] / unit) for name, values in bounds.items()}


def _spectrum(embedding: Embedding) -> dict[str, Any] | None:
    if embedding.spectrum is None:
        return None
    values = np.asarray(embedding.spectrum, dtype=np.float64)
    kept = np.arange(len(values))
    if len(values) > _MAX_SPECTRUM:  # both ends are what matters
        half = _MAX_SPECTRUM // 2
        kept = np.concatenate([kept[:half], kept[-half:]])
    return {"ranks": (kept + 1).tolist(), "values": _listed(values[kept])}


def _shepard(embedding: Embedding) -> dict[str, Any] | None:
    pairs = embedding.shepard
    if pairs is None or not len(pairs.distances):
        return None
    kept = thin(len(pairs.distances), _MAX_PAIRS)
    fitted = pairs.disparities
    return {
        "given": _listed(pairs.dissimilarities[kept]),
        "shown": _listed(pairs.distances[kept]),
        "fitted": None if fitted is None else _listed(fitted[kept]),
    }


def _stress(embedding: Embedding) -> dict[str, Any] | None:
    if embedding.point_stress is None:
        return None
    shares = np.asarray(embedding.point_stress, dtype=np.float64)
    most = np.argsort(-shares, kind="stable")[:_MOST_STRESSED]
    labels = embedding.labels
    names = [f"row {i + 1}" if labels is None else labels[i] for i in most.tolist()]
    return {
        "names": [figure_text(name, 30) for name in names],
        "values": _listed(shares[most]),
        "even": 1 / len(shares),
    }


def _listed(values: Any) -> list[float | None] | None:
    return None if values is None else [finite(v, 5) for v in np.asarray(values).tolist()]

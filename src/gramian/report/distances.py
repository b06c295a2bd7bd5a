"""How well a map keeps distances: the Shepard diagram, and where the misfit sits."""

from __future__ import annotations

import numpy as np

from gramian.evidence import Shepard
from gramian.maps import Array
from gramian.report.html import table
from gramian.report.parts import TABLE_ROWS, Part, details, figure, part
from gramian.results import Embedding
from gramian.show.text import count, listed, number, percent, visible

__all__ = ["shepard_part", "stress_part"]

_BINS = 10


def shepard_part(embedding: Embedding) -> Part | None:
    """Dissimilarities against distances in the map, and the same in ten steps."""
    pairs = embedding.shepard
    if pairs is None or not len(pairs.distances):
        return None
    return part(
        "shepard",
        "Shepard diagram",
        figure("shepard-chart", _about_shepard(pairs), "the Shepard diagram"),
        details("The diagram as a table", table(*_steps(pairs))),
    )


def stress_part(embedding: Embedding) -> Part | None:
    """The points with most misfit."""
    if embedding.point_stress is None:
        return None
    shares = np.asarray(embedding.point_stress, dtype=np.float64)
    order = np.argsort(-shares, kind="stable")[:TABLE_ROWS].tolist()
    labels = embedding.labels
    names = [visible(f"row {i + 1}" if labels is None else labels[i], 60) for i in order]
    rows = [(name, percent(float(shares[i]))) for name, i in zip(names, order, strict=True)]
    some = "" if len(shares) <= TABLE_ROWS else f": the {TABLE_ROWS} with most"
    sentence = (
        f"Stress per point: {listed(names[:3])} fit worst, with "
        f"{percent(float(shares[order[:3]].sum()))} of the misfit together; "
        f"an even share would be {percent(1 / len(shares))} each."
    )
    return part(
        "stress",
        "Stress per point",
        figure("stress-chart", sentence, "the stress per point"),
        details(
            "Stress per point as a table",
            table(f"Share of the misfit{some}", ("point", "share"), rows),
        ),
    )


def _about_shepard(pairs: Shepard) -> str:
    m = len(pairs.distances)
    target = pairs.dissimilarities if pairs.disparities is None else pairs.disparities
    off = float(np.sqrt(np.mean((pairs.distances - target) ** 2)))
    size = float(np.sqrt(np.mean(np.square(target))))
    sampled = "all" if m >= pairs.n_pairs else f"a sample of {m:,} of"
    which = "the diagonal" if pairs.disparities is None else "the line"
    miss = percent(off / size) if size > 0 else number(off, 2)
    return (
        f"Given dissimilarity across, distance in the map up, {sampled} "
        f"{count(pairs.n_pairs, 'pair')}: a perfect map lies on {which}; this one misses it by "
        f"{miss} of the typical size."
    )


def _steps(pairs: Shepard) -> tuple[str, tuple[str, ...], list[tuple[str, ...]]]:
    """Ten equal steps of dissimilarity with the distances found there."""
    edges = np.linspace(pairs.dissimilarities.min(), pairs.dissimilarities.max(), _BINS + 1)
    bins = np.clip(np.searchsorted(edges, pairs.dissimilarities, side="right") - 1, 0, _BINS - 1)
    rows = [
        (
            f"{number(edges[i], 3)} to {number(edges[i + 1], 3)}",
            f"{members.size:,}",
            *(number(value, 4) for value in _quartiles(members)),
        )
        for i in range(_BINS)
        if (members := pairs.distances[bins == i]).size
    ]
    headings = ("dissimilarity", "pairs", "lower quarter", "median distance", "upper quarter")
    return "Distances in the map by dissimilarity", headings, rows


def _quartiles(values: Array) -> list[float]:
    found: list[float] = np.quantile(values, [0.25, 0.5, 0.75]).tolist()
    return found

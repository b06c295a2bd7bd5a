"""Quality measures, each with one sentence on how to read it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gramian.report.html import table
from gramian.report.parts import Part, part
from gramian.results import Embedding
from gramian.show.text import number, visible

__all__ = ["measures_part"]

# What a measure is called and how it is read; a method may bring others, shown by their names.
_READING = {
    "trustworthiness": (
        "Trustworthiness",
        "1 is best: the ten nearest neighbors on the first two axes are near in the data too. "
        "Below 0.9 do not trust small clusters.",
    ),
    "continuity": (
        "Continuity",
        "1 is best: the ten nearest neighbors in the data are near on the first two axes. Low "
        "values mean torn groups.",
    ),
    "neighborhood_preservation": (
        "Neighborhood preservation",
        "The share of each point's nearest neighbors that the map keeps; 1 is all of them.",
    ),
    "stress": (
        "Stress",
        "0 is a perfect map. For Kruskal's stress-1, 0.05 is good, 0.1 fair, 0.2 poor; it grows "
        "with the number of points.",
    ),
    "goodness_of_fit": (
        "Goodness of fit",
        "Kept eigenvalues over the sum of the sizes of all, and over the sum of the positive ones: "
        "1 means that nothing is left out.",
    ),
    "negativity": (
        "Negativity",
        "The most negative eigenvalue as a share of the largest: 0 says the distances are "
        "Euclidean, above 0.2 the map leaves out what matters.",
    ),
    "proportion_formula": (
        "Meaning of the shares",
        "What the share of each axis is a share of.",
    ),
    "constant": ("Added constant", "What the correction added to make the distances Euclidean."),
    "landmark_error": (
        "Error of the landmarks",
        "How far placements by two halves of the landmarks differ, as a share of the size of the "
        "map: a cautious estimate; below 0.05 the map is as good as exact to the eye.",
    ),
    "duality_gap": (
        "Gap to the bound",
        "How much more variance any drawing could have, as a share: 0 is proven to be the optimum.",
    ),
    "bound": ("Bound of the variance", "No drawing that keeps to the edges has more."),
    "variance": ("Variance", "What was maximized: the sum of squared distances to the mean."),
    "shortening": (
        "Shortening of the edges",
        "By what share edges are shorter in all axes than in the data (root mean square). Near 0 "
        "the sheet was stretched flat; above 0.3 it has slack.",
    ),
    "steps": ("Newton steps", "How many it took."),
    "approximation_error": (
        "Error of the approximation",
        "The share of the kernel's trace that the landmarks miss: 0 is exact.",
    ),
    "residual_variance": (
        "Residual variance",
        "1 minus the squared correlation of distances in the data and in the map: 0 is perfect.",
    ),
    "reconstruction_error": (
        "Reconstruction error",
        "The variance that the axes leave out, in the units of the data squared.",
    ),
}
_READING["stress_1"] = ("Stress-1", _READING["stress"][1])
_READING["picture_stress"] = (
    "Stress-1 of the first two axes",
    "How far distances are off, whatever the size of the map. 0 is perfect, 0.05 good, 0.1 fair, "
    "0.2 poor; it grows with the number of points.",
)
_READING["points_asked"] = (
    "Points asked",
    "How many points these measures were taken at; where not all, they were drawn at random.",
)

_READING |= {
    "stress_2": (
        "Stress-2",
        "As stress-1, over the variance of the distances: about twice as large.",
    ),
    "raw": ("Raw stress", "The sum of squared misfits itself; compare it only for the same data."),
    "normalized": ("Normalized stress", "The square of stress-1: the share of squares not fitted."),
    "sstress": ("S-stress", "The sum of squared misfits of squared distances."),
    "n_iterations": ("Steps", "How many the best start took."),
    "start_stresses": ("Stress of every start", "Equal numbers are the same picture found again."),
    "n_agreeing": (
        "Starts that agree",
        "How many ended in this picture; more than one is reassuring.",
    ),
    "n_missing": ("Missing distances", "Pairs without a distance, which count nothing."),
    "parts": ("Parts of the graph", "1 is whole; more were joined or left out, as the notes say."),
    "edges": ("Edges of the graph", "Pairs of neighbors that are joined."),
    "gamma": ("Gamma", "Of the kernel: the larger, the more local."),
    "zero_eigenvalues": ("Zero eigenvalues", "1 is right for a graph in one part."),
    "shrinkage": (
        "Shrinkage",
        "Share of a covariance that is alike in all directions, mixed into that of the data; near "
        "0 the rows are many, near 1 they say little.",
    ),
    "singular values": (
        "Singular values",
        "How strongly each axis joins documents and terms, largest first; where they level off, "
        "axes say little more.",
    ),
    "dimension_promised": (
        "Dimensions for a promise",
        "So many keep every squared distance of as many points within eps, by the bound of "
        "Johnson and Lindenstrauss; fewer are often enough.",
    ),
    "density": (
        "Density",
        "Share of the projection that is not 0; 1 is Gaussian, less is quicker on sparse data.",
    ),
    "noise_variance": ("Noise variance", "Mean variance in the directions left out."),
    "log_likelihood": (
        "Log-likelihood",
        "Of all rows under the model; higher is better, for the same data only.",
    ),
    "variants": ("Variants used", "Those that vary and passed the filters."),
    "effective_variants": (
        "Effective variants",
        "How many independent variants would spread the eigenvalues as these do; linkage makes it "
        "smaller.",
    ),
    "placement_shrinkage": (
        "Shrinkage of new samples",
        "How far out a sample outside of the fit comes to lie on each axis, as a share of where it "
        "belongs; projection undoes it.",
    ),
    "related_pairs": (
        "Related pairs",
        "Pairs of samples that look like first-degree relatives or duplicates; they can draw axes "
        "of their own.",
    ),
    "negentropy": (
        "Negentropy",
        "How far each source is from Gaussian; 0 cannot be told from noise.",
    ),
}


def measures_part(embedding: Embedding) -> Part | None:
    """A table of what the method measured of itself."""
    rows = [
        (visible(title, 60), shown, reading)
        for title, shown, reading in map(_row, *_columns(embedding.measures))
        if shown
    ]
    if not rows:
        return None
    headings = ("measure", "value", "how to read it")
    shown = table("Quality of the map", headings, rows, sortable=False, words=True)
    return part("quality", "Quality", shown)


def _columns(measures: Mapping[str, Any]) -> tuple[list[str], list[Any]]:
    return list(measures), list(measures.values())


def _row(name: str, value: Any) -> tuple[str, str, str]:
    title, reading = _READING.get(name, (name.replace("_", " "), ""))
    return title, _text(value), reading


def _text(value: Any) -> str:
    """A number, a few of them, or words; empty where there is none."""
    if value is None:
        return ""
    if isinstance(value, str):
        return visible(value, 200)
    if isinstance(value, Sequence | np.ndarray) and np.ndim(value):
        values = list(value)
        more = " ..." if len(values) > 8 else ""
        return ", ".join(map(_text, values[:8])) + more
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return f"{value:,}"
    try:
        return number(float(value), 4)
    except (TypeError, ValueError):
        return visible(value, 200)

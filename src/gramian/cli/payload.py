"""Results as JSON for programs, in a versioned shape.

``schema`` grows when a field changes its meaning or goes away; new fields may join at any time.
Numbers that do not exist are ``null``, never NaN.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gramian import __version__

if TYPE_CHECKING:
    from gramian.inference.verdict import HowMany
    from gramian.quality.euclidean import DistanceCheck
    from gramian.results import Embedding

__all__ = ["SCHEMA", "as_json", "check_as_json", "components_as_json", "envelope", "to_json"]

SCHEMA = 1


def envelope(command: str) -> dict[str, Any]:
    """What every answer begins with."""
    return {"schema": SCHEMA, "gramian": __version__, "answers": command}


def as_json(embedding: Embedding, outputs: Mapping[str, str]) -> str:
    """The result as one JSON object.

    Parameters
    ----------
    embedding : Embedding
    outputs : mapping of str to str
        The files that were written, by kind.

    Returns
    -------
    str
    """
    n, k = embedding.coordinates.shape
    facts = {
        **envelope("embedding"),
        "method": embedding.method,
        "source": embedding.source or None,
        "command": embedding.command or None,
        "n_observations": n,
        "n_variables": None if embedding.loadings is None else len(embedding.loadings),
        "n_axes": k,
        "axes": [
            {
                "name": axis.name,
                "eigenvalue": axis.eigenvalue,
                "share": axis.share,
                "cumulative": axis.cumulative,
                "residual": axis.residual,
            }
            for axis in embedding.axes
        ],
        "certified": embedding.certified,
        "tolerance": embedding.tolerance,
        "measures": dict(embedding.measures),
        "plan": embedding.plan or None,
        "passes": embedding.passes,
        "parameters": dict(embedding.parameters),
        "notes": list(embedding.notes),
        "outputs": dict(outputs),
        "provenance": dict(embedding.provenance),
    }
    return to_json(facts)


def components_as_json(
    found: HowMany, *, source: str, command: str, seed: int, notes: Sequence[str]
) -> str:
    """The answers to "how many components" as one JSON object.

    Parameters
    ----------
    found : HowMany
    source, command : str
    seed : int
    notes : sequence of str

    Returns
    -------
    str
    """
    parallel = found.analysis
    tested = zip(
        parallel.null_mean,
        parallel.null_quantile,
        parallel.p_values,
        parallel.p_values_unbiased,
        parallel.kept,
        strict=True,
    )
    names = ("null_mean", "null_limit", "p_plain", "p", "kept")
    return to_json(
        {
            **envelope("components"),
            "source": source or None,
            "command": command or None,
            "n_observations": found.shape[0],
            "n_variables": found.shape[1],
            "scale": found.scale,
            "n_components": found.n_components,
            "recommendation": found.recommendation,
            "rules": [
                {
                    "name": rule.name,
                    "asks": rule.asks,
                    "n_components": rule.n_components,
                    "note": rule.note or None,
                }
                for rule in found.rules
            ],
            "parallel_analysis": {
                "alpha": parallel.alpha,
                "n_permutations": parallel.n_permutations,
                "null": parallel.null,
                "stop": parallel.stop,
                "seed": seed,
                "axes": [
                    {
                        "eigenvalue": parallel.eigenvalues[i],
                        **{name: each.item() for name, each in zip(names, facts, strict=True)},
                    }
                    for i, facts in enumerate(tested)
                ],
            },
            "eigenvalues": found.eigenvalues.tolist(),
            "notes": list(notes),
        }
    )


def check_as_json(check: DistanceCheck, source: str, command: str) -> str:
    """The verdict on a matrix of distances as one JSON object."""
    found, values = check.triangles, check.eigenvalues
    names = check.labels or range(check.n)
    facts = {
        **envelope("check"),
        "method": "check",
        "source": source,
        "command": command,
        "n_points": check.n,
        "metric": {
            "holds": check.metric,
            "worst": None if found.worst is None else [names[i] for i in found.worst],
            "excess": found.excess,
            "broken_pairs": found.broken,
            "pairs": found.pairs,
            "third_points": found.looked_at,
        },
        "euclidean": {
            "holds": check.euclidean.holds,
            "smallest_eigenvalue": check.euclidean.smallest,
            "largest_eigenvalue": None if values is None else values[0],
            "n_negative": check.n_negative,
            "negative_share": check.negative_share,
            "tolerance": check.euclidean.tolerance,
        },
        "repairs": {
            "cailliez": check.cailliez,
            "lingoes": check.lingoes,
            "power": check.power,
        },
    }
    return to_json(facts)


def to_json(facts: Mapping[str, Any]) -> str:
    """Facts as JSON that every program can read."""
    return json.dumps(_plain(facts), indent=2, ensure_ascii=True, allow_nan=False)


def _plain(value: Any) -> Any:
    """Only what JSON knows: NumPy scalars as numbers, NaN as null, anything odd as its text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        value = value.item()
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return str(value)

"""The result as JSON for programs, in a versioned shape.

``schema`` grows when a field changes its meaning or goes away; new fields may join at any time.
Numbers that do not exist are ``null``, never NaN.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from gramian import __version__
from gramian.results import Embedding

__all__ = ["SCHEMA", "as_json"]

SCHEMA = 1


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
        "schema": SCHEMA,
        "gramian": __version__,
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
        "plan": embedding.plan or None,
        "parameters": dict(embedding.parameters),
        "notes": list(embedding.notes),
        "outputs": dict(outputs),
    }
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

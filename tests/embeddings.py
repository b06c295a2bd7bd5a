"""Small embeddings for the tests of what shows them: made with NumPy alone, no method involved."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gramian.data.examples import iris_path
from gramian.results import Embedding


def embed(
    X: np.ndarray,
    variables: Sequence[str],
    *,
    k: int | None = None,
    labels: Sequence[str] | None = None,
    columns: Mapping[str, Any] | None = None,
    residual: float = 2e-16,
    **more: Any,
) -> Embedding:
    """PCA by SVD, as a value."""
    Y = X - X.mean(axis=0)
    U, s, Vt = np.linalg.svd(Y, full_matrices=False)
    values = s**2 / (len(X) - 1)
    k = k or len(s)
    spread = np.where(Y.std(axis=0, ddof=1) > 0, Y.std(axis=0, ddof=1), 1.0)
    settings = {
        "plan": "dense, one pass",
        "parameters": {"n_components": k, "scale": None, "random_state": 0},
        **more,
    }
    return Embedding(
        "PCA",
        (U * s)[:, :k],
        tuple(f"PC{i + 1}" for i in range(k)),
        eigenvalues=values[:k],
        explained=(values / values.sum())[:k],
        residuals=np.full(k, residual),
        tolerance=1e-6,
        labels=None if labels is None else tuple(labels),
        variables=tuple(variables),
        loadings=Vt.T[:, :k],
        correlations=Vt.T[:, :k] * np.sqrt(values[:k]) / spread[:, None],
        columns=columns or {},
        **settings,
    )


def iris(**more: Any) -> Embedding:
    """Fisher's irises with their species."""
    with iris_path() as path:
        head, *rows = csv.reader(path.read_text().splitlines())
    X = np.array([row[:4] for row in rows], dtype=float)
    species = [row[4] for row in rows]
    area = X[:, 2] * X[:, 3]
    settings = {"columns": {"species": species, "petal area": area}, "source": "iris.csv", **more}
    return embed(X, head[:4], **settings)


def cloud(n: int, k: int = 10, **more: Any) -> Embedding:
    """n points in twelve clusters with names, groups and a number."""
    rng = np.random.default_rng(5)
    kind = rng.integers(0, 12, n)
    X = rng.normal(size=(n, 20)) + 2 * rng.normal(size=(12, 20))[kind]
    settings = {
        "labels": [f"sample_{i:06d}" for i in range(n)],
        "columns": {
            "kind": [f"type {'ABCDEFGHIJKL'[c]}" for c in kind],
            "depth": rng.gamma(2, 2, n),
        },
        "k": k,
        **more,
    }
    return embed(X, [f"gene {j}" for j in range(20)], **settings)

"""The swiss roll, unrolled: four forms of locally linear embedding and Laplacian eigenmaps.

Prints how well the true coordinates, length along the spiral and height, are linear in each
picture (R squared), and writes two pictures.

    python examples/local_geometry.py [lle.png [laplacian.png]]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np

from gramian import LaplacianEigenmaps, LocallyLinearEmbedding
from gramian.plot.style import new_axes

RNG = np.random.default_rng(0)
T, HEIGHT = 1.5 * np.pi * (1 + 2 * RNG.random(2000)), 21 * RNG.random(2000)
X = np.column_stack([T * np.cos(T), HEIGHT, T * np.sin(T)])
LENGTH = 0.5 * (T * np.sqrt(1 + T * T) + np.arcsinh(T))
MODELS = {
    **{
        form: LocallyLinearEmbedding(2, n_neighbors=12, method=form)
        for form in ("standard", "modified", "hessian", "ltsa")
    },
    "laplacian": LaplacianEigenmaps(2),
    "diffusion, time 500": LaplacianEigenmaps(2, time=500),
}


def r_squared(Z: np.ndarray, y: np.ndarray) -> float:
    """How much of ``y`` is linear in the coordinates."""
    A = np.column_stack([np.ones(len(Z)), Z])
    return float(1 - (y - A @ np.linalg.lstsq(A, y, rcond=None)[0]).var() / y.var())


def picture(path: Path, names: list[str]) -> None:
    """Write maps of the named models to ``path``, colored along the roll."""
    figure, places = plt.subplots(1, len(names), figsize=(2.9 * len(names), 2.9))
    for place, name in zip(places, names, strict=True):
        place.scatter(*MODELS[name].embedding_.T, s=4, c=T, cmap="viridis", linewidths=0)
        place.set_title(name, fontsize=10)
        new_axes(place, (2.9, 2.9)).grid(visible=False)
        place.set_xticks([])
        place.set_yticks([])
    figure.tight_layout()
    figure.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(figure)


if __name__ == "__main__":
    matplotlib.use("Agg")
    targets = [Path(name) for name in (*sys.argv[1:], "lle.png", "laplacian.png")[:2]]
    if len(sys.argv) == 2:
        targets[1] = targets[0].with_name("laplacian.png")
    for name, model in MODELS.items():
        Z = model.fit_transform(X)
        print(f"{name:20} length {r_squared(Z, LENGTH):.4f}  height {r_squared(Z, HEIGHT):.4f}")
    picture(targets[0], ["standard", "modified", "hessian", "ltsa"])
    picture(targets[1], ["laplacian", "diffusion, time 500"])
    print(f"written to {targets[0]} and {targets[1]}")

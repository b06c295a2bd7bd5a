"""A swiss roll, unrolled: the widest drawing in which no two neighbors are further apart.

Prints how well the two axes tell where on the sheet a point lies, and how near the drawing is to
the widest; writes a picture of the roll and of the sheet.

    python examples/unrolled.py [unrolled.png]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np

from gramian import MaximumVarianceUnfolding
from gramian.plot.style import new_axes

rng = np.random.default_rng(0)
ANGLE, HEIGHT = 1.5 * np.pi * (1 + 2 * rng.random(1000)), 21 * rng.random(1000)
ARC = (ANGLE * np.sqrt(1 + ANGLE**2) + np.arcsinh(ANGLE)) / 2  # length of the spiral
X = np.column_stack([ANGLE * np.cos(ANGLE), HEIGHT, ANGLE * np.sin(ANGLE)])


def fitted() -> MaximumVarianceUnfolding:
    """Two axes, twelve neighbors."""
    return MaximumVarianceUnfolding(2, n_neighbors=12, tol=1e-5).fit(X)


def told(Z: np.ndarray, truth: np.ndarray) -> float:
    """Share of the variance of ``truth`` that a linear function of the axes explains (R^2)."""
    A = np.column_stack([Z, np.ones(len(Z))])
    left = truth - A @ np.linalg.lstsq(A, truth, rcond=None)[0]
    return float(1 - left.var() / truth.var())


def picture(model: MaximumVarianceUnfolding, path: Path) -> None:
    """Write the figure to ``path``."""
    figure = plt.figure(figsize=(9.6, 4.2), layout="constrained")
    left = figure.add_subplot(1, 2, 1, projection="3d")
    right = figure.add_subplot(1, 2, 2)
    left.scatter(*X.T, c=ARC, s=8, cmap="viridis", linewidths=0)
    left.view_init(12, -72)
    left.set_title("the roll", fontsize=10)
    right.scatter(*model.embedding_.T, c=ARC, s=8, cmap="viridis", linewidths=0)
    right.set_aspect("equal", adjustable="datalim")
    new_axes(right, (4.8, 4.2))
    right.set(xlabel="MVU1", ylabel="MVU2")
    right.set_title("unfolded", fontsize=10)
    figure.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(figure)


if __name__ == "__main__":
    matplotlib.use("Agg")
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "unrolled.png")
    unrolled = fitted()
    picture(unrolled, target)
    Z = unrolled.embedding_
    print(f"R^2 of arc length {told(Z, ARC):.4f}, of height {told(Z, HEIGHT):.4f}")
    widest = unrolled.duality_gap_ <= 1e-5
    print(f"variance {unrolled.variance_ / 1000:.1f} thousand; the widest to 1e-5: {widest}")
    print(f"written to {target}")

"""The swiss roll: a sheet rolled up in space, unrolled by Isomap.

Prints how well the map shows the sheet's own coordinates (arc length along the roll, and height),
and the intrinsic dimension. Writes a picture: the roll, the map, and the residual variance of maps
of 1 to 6 axes.

    python examples/swiss_roll.py [swiss-roll.png]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_swiss_roll

from gramian import PCA, Isomap, plot
from gramian.inference import intrinsic_dimension
from gramian.plot.style import INK
from gramian.quality.procrustes import procrustes

X, angle = make_swiss_roll(2000, random_state=0)
ARC = (angle * np.sqrt(1 + angle**2) + np.arcsinh(angle)) / 2
SHEET = np.column_stack([ARC, X[:, 1]])


def agreement(Z: np.ndarray) -> float:
    """Share of the sheet's variance that a rotated and moved map explains."""
    return procrustes(SHEET, Z).correlation ** 2


def picture(path: Path, model: Isomap) -> None:
    """Write the figure to ``path``."""
    figure = plt.figure(figsize=(11.5, 3.9), layout="constrained")
    space = figure.add_subplot(1, 3, 1, projection="3d")
    space.scatter(*X.T, c=ARC, s=4, cmap="viridis", linewidths=0)
    space.view_init(8, -80)
    space.set_axis_off()
    space.set_title("2,000 points of a swiss roll", fontsize=10)
    two = Isomap(2, n_neighbors=10).fit(X)
    sheet = plot.map(two.to_embedding(columns={"arc length": ARC}), ax=figure.add_subplot(1, 3, 2))
    sheet.set_title("Isomap", fontsize=10)
    curve = plot.residual_variance(model.residual_variance_, ax=figure.add_subplot(1, 3, 3))
    curve.annotate("two axes are enough", (2, model.residual_variance_[1]), (2.4, 0.006), color=INK)
    figure.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(figure)


if __name__ == "__main__":
    matplotlib.use("Agg")
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "swiss-roll.png")
    model = Isomap(6, n_neighbors=10).fit(X)
    few = Isomap(2, n_neighbors=10, landmarks=100).fit(X)
    print(f"PCA:                    {agreement(PCA(2).fit_transform(X)):.3f} of the sheet")
    print(f"Isomap:                 {agreement(model.embedding_[:, :2]):.4f}")
    print(f"Isomap, 100 landmarks:  {agreement(few.embedding_):.4f}")
    print("residual variance:     ", ", ".join(f"{v:.4f}" for v in model.residual_variance_))
    print(intrinsic_dimension(X))
    print(intrinsic_dimension(X, "two neighbors"))
    picture(target, model)
    print(f"written to {target}")

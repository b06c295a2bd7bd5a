"""Two concentric circles: no straight axis tells them apart, one axis of kernel PCA does.

Prints how many points a threshold on the first axis puts on the wrong side, and writes a picture:
the first axis as a function of the plane, and the map.

    python examples/circles.py [circles.png]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_circles

from gramian import PCA, KernelPCA, plot
from gramian.plot.style import INK, new_axes

X, y = make_circles(400, factor=0.3, noise=0.05, random_state=0)
CIRCLE = np.where(y == 1, "inner", "outer")


def fitted() -> KernelPCA:
    """Three axes of the rbf kernel."""
    return KernelPCA(3, kernel="rbf", gamma=2.0).fit(X)


def misplaced(z: np.ndarray) -> int:
    """Points on the wrong side of the best threshold on one axis."""
    inner = (CIRCLE == "inner")[np.argsort(z)]
    right = np.cumsum(inner) + np.cumsum(~inner[::-1])[::-1] - ~inner
    return int(len(z) - max(right.max(), (len(z) - right).max()))


def picture(path: Path) -> None:
    """Write the figure to ``path``."""
    model = fitted()
    across = np.linspace(-1.3, 1.3, 121)
    plane = np.stack(np.meshgrid(across, across), axis=-1)
    height = model.transform(plane.reshape(-1, 2))[:, 0].reshape(121, 121)
    reach = np.abs(height).max()

    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.2), layout="constrained")
    drawn = left.contourf(
        across, across, height, levels=np.linspace(-reach, reach, 15), cmap="PuOr_r"
    )
    bar = figure.colorbar(drawn, ax=left, shrink=0.85, label="KPC1", ticks=[-0.5, 0, 0.5])
    bar.outline.set_visible(False)
    for name, marker, color in (("outer", "s", "white"), ("inner", "o", INK)):
        left.scatter(*X[name == CIRCLE].T, s=9, marker=marker, color=color, linewidths=0)
    left.set_aspect("equal")
    new_axes(left, (4.8, 4.2)).grid(visible=False)
    left.set_title("the first axis as a function of the plane", fontsize=10)
    plot.map(model.to_embedding(columns={"circle": CIRCLE}), ax=right)
    right.get_legend().set_loc("upper center")
    right.set_title("kernel PCA of the points", fontsize=10)
    figure.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(figure)


if __name__ == "__main__":
    matplotlib.use("Agg")
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "circles.png")
    picture(target)
    straight, curved = PCA(1).fit_transform(X)[:, 0], fitted().embedding_[:, 0]
    print(f"PCA:        {misplaced(straight):3} of 400 points on the wrong side")
    print(f"kernel PCA: {misplaced(curved):3} of 400 points on the wrong side")
    print(f"written to {target}")

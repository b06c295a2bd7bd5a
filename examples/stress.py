"""Three hundred handwritten digits drawn by classical, metric and non-metric MDS.

Prints the stress of each map and how many starts agree on it, places fifty more digits by their
distances, and writes a picture: the classical and the non-metric map, and the Shepard diagram of
the latter, which shows what became of the distances.

    python examples/stress.py [stress.png]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits

from gramian import MDS, plot

KINDS = {
    "classical (strain)": {"loss": "strain"},
    "metric (ratio)": {},
    "interval": {"measurement": "interval"},
    "spline": {"measurement": "spline"},
    "non-metric (ordinal)": {"measurement": "ordinal"},
}


def fits() -> tuple[dict[str, MDS], np.ndarray, list[str], np.ndarray]:
    """A model of each kind, distances, the digits' names, and distances of fifty more."""
    X, targets = load_digits(return_X_y=True)
    D = cdist(X[:300], X[:300])
    models = {
        name: MDS(2, metric="precomputed", n_init=8, **options).fit(D)
        for name, options in KINDS.items()
    }
    return models, D, [str(digit) for digit in targets[:300]], cdist(X[300:350], X[:300])


def picture(models: dict[str, MDS], D: np.ndarray, names: list[str], path: Path) -> None:
    """Two maps and a Shepard diagram."""
    figure, axes = plt.subplots(1, 3, figsize=(12.6, 4.2), layout="constrained")
    for name, ax in zip(("classical (strain)", "non-metric (ordinal)"), axes, strict=False):
        plot.map(models[name].to_embedding(columns={"digit": names}), ax=ax)
        ax.set_title(f"{name}: stress-1 {models[name].stress_:.3f}", fontsize=10)
    last = models["non-metric (ordinal)"]
    plot.shepard(D, last, axes[2], disparities=last.disparities_)
    figure.savefig(path, dpi=100, metadata={"Software": None})
    plt.close(figure)


if __name__ == "__main__":
    matplotlib.use("Agg")
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "stress.png")
    models, D, names, new = fits()
    for name, model in models.items():
        starts = len(model.start_stresses_)
        print(f"{name:21} stress-1 {model.stress_:.3f}, {starts} start{'s' * (starts > 1)}")
    metric = models["metric (ratio)"]
    placed = metric.transform(new)
    off = cdist(placed, metric.embedding_) - new
    share = np.sqrt(np.mean(off**2) / np.mean(new**2))
    print(f"fifty more digits, placed: distances off by {100 * share:.0f} % of their size")
    picture(models, D, names, target)
    print(f"written to {target}")

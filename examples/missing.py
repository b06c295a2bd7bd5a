"""Wines with holes: probabilistic PCA fills them in, and says how sure it is.

Hides three of ten values of the wine data, prints the error of what is filled in, and writes a
picture: the map of the wines with holes, and what was filled in beside the truth.

    python examples/missing.py [missing.png]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from gramian import ProbabilisticPCA, plot
from gramian.plot.style import INK, new_axes

WINE = load_wine()
X = WINE.data / WINE.data.std(axis=0)
HIDDEN = np.random.default_rng(0).random(X.shape) < 0.3
GIVEN = np.where(HIDDEN, np.nan, X)


def fitted() -> ProbabilisticPCA:
    """Three axes of what is left."""
    return ProbabilisticPCA(3).fit(GIVEN)


def picture(path: Path) -> None:
    """Write the figure to ``path``."""
    model = fitted()
    filled, deviation = model.impute(GIVEN, return_std=True)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.2), layout="constrained")
    cultivar = np.array([f"cultivar {i + 1}" for i in WINE.target])
    plot.map(model.to_embedding(GIVEN, columns={"cultivar": cultivar}), ax=left)
    left.set_title("178 wines, three of ten values missing", fontsize=10)
    alcohol = HIDDEN[:, 0]
    right.errorbar(
        X[alcohol, 0],
        filled[alcohol, 0],
        deviation[alcohol, 0],
        fmt="o",
        color=INK,
        markersize=4,
        elinewidth=0.6,
    )
    ends = [X[alcohol, 0].min(), X[alcohol, 0].max()]
    right.plot(ends, ends, color="0.6", linewidth=1)
    new_axes(right, (4.8, 4.2))
    right.set_xlabel("alcohol as it was")
    right.set_ylabel("filled in, ± one deviation")
    right.set_title("what was hidden", fontsize=10)
    figure.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(figure)


def root_mean_square(values: np.ndarray) -> float:
    """Of the hidden values."""
    return float(np.sqrt(np.mean(values[HIDDEN] ** 2)))


if __name__ == "__main__":
    matplotlib.use("Agg")
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "missing.png")
    picture(target)
    filled, deviation = fitted().impute(GIVEN, return_std=True)
    within = np.mean((np.abs(filled - X) < deviation)[HIDDEN])
    print(f"{HIDDEN.sum()} of {HIDDEN.size} values hidden")
    print(f"error of the mean:  {root_mean_square(np.nanmean(GIVEN, axis=0) - X):.2f} deviations")
    print(f"error of the model: {root_mean_square(filled - X):.2f} deviations")
    print(f"within one stated deviation: {within:.0%} (68% if the model is right)")
    print(f"written to {target}")

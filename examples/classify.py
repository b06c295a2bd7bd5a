"""Does a classifier need the pixels, or do a few coordinates do?

Pedestrians against other street scenes (1,000 images of each, 36 x 18 pixels) if a file of them is
given or lies beside the checkout, else the handwritten digits that scikit-learn ships. The same two
classifiers are trained on the raw pixels, on principal components, and on classical MDS of
city-block distances; new images are placed by ``transform`` alone.

    python examples/classify.py [classify.png] [pedestrians.npz | digits]

The pedestrians do not come with gramian (they are for non-commercial research only). The file holds
arrays ``images`` and ``label``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier

from gramian import PCA, ClassicalMDS
from gramian.plot.style import BLUE, GRAY, GRID, VERMILION, new_axes

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data" / "pedestrians_A"
STEPS = (2, 5, 10, 20, 40)


def load(source: str) -> tuple[str, np.ndarray, np.ndarray]:
    """Name, rows of pixels, labels."""
    if source == "digits":
        digits = load_digits()
        return "digits", digits.data, digits.target
    with np.load(source, allow_pickle=False) as file:
        images = file["images"].astype(np.float64)
        return "pedestrians", images.reshape(len(images), -1), file["label"]


def scores(train: np.ndarray, test: np.ndarray, y: np.ndarray, z: np.ndarray) -> list[float]:
    """Share of test images named rightly by a linear rule and by five neighbors."""
    rules = (LinearDiscriminantAnalysis(), KNeighborsClassifier(5))
    return [float(rule.fit(train, y).score(test, z)) for rule in rules]


def measured(source: str) -> tuple[str, dict[str, list[list[float]]]]:
    """Scores (linear, neighbors) of the pixels, and of k coordinates for every k of STEPS."""
    name, X, y = load(source)
    order = np.random.default_rng(0).permutation(len(X))
    train, test = order[: len(X) // 2], order[len(X) // 2 :]
    found = {"pixels": [scores(X[train], X[test], y[train], y[test])]}
    most = max(STEPS)
    for method, model in (("PCA", PCA(most)), ("MDS", ClassicalMDS(most, metric="cityblock"))):
        Z, new = model.fit_transform(X[train]), model.transform(X[test])
        found[method] = [scores(Z[:, :k], new[:, :k], y[train], y[test]) for k in STEPS]
    return name, found


def picture(path: Path, name: str, found: dict[str, list[list[float]]]) -> None:
    """Scores against the number of coordinates, one panel a classifier."""
    figure, panels = plt.subplots(1, 2, figsize=(9.6, 3.8), layout="constrained", sharey=True)
    for i, (ax, rule) in enumerate(zip(panels, ("linear rule", "five neighbors"), strict=True)):
        new_axes(ax, (4.8, 3.8)).grid(color=GRID)
        raw = found["pixels"][0][i]
        ax.axhline(raw, color=GRAY, linestyle="--", label="all pixels")
        for method, marker, color in (("PCA", "o", BLUE), ("MDS", "s", VERMILION)):
            ax.plot(STEPS, [s[i] for s in found[method]], marker=marker, color=color, label=method)
        ax.set_xlabel("coordinates")
        ax.set_title(f"{name}: {rule}", fontsize=10)
        ax.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.0f}%")
    panels[0].set_ylabel("new images named rightly")
    panels[0].legend(frameon=False, fontsize=9)
    figure.savefig(path, dpi=100, metadata={"Software": None})
    plt.close(figure)


if __name__ == "__main__":
    matplotlib.use("Agg")
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "classify.png")
    there = BESIDE / "pedestrians.npz"
    chosen = sys.argv[2] if len(sys.argv) > 2 else str(there) if there.is_file() else "digits"
    name, found = measured(chosen)
    picture(target, name, found)
    print(f"{name:20} linear rule  five neighbors")
    for method, rows in found.items():
        for k, (linear, near) in zip(STEPS, rows, strict=False):
            what = "all pixels" if method == "pixels" else f"{method}, {k} coordinates"
            print(f"{what:20} {100 * linear:9.1f} %  {100 * near:12.1f} %")
    print(f"written to {target}")

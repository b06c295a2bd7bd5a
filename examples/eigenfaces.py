"""Eigenfaces, and compressing images to a few numbers each.

Images are rows of pixels; their principal axes are images too. The Olivetti faces (400 of 64 x 64
pixels) are used if a file of them is given or lies beside the checkout, else the handwritten digits
that scikit-learn ships. Half of the images make the axes, the other half is compressed with them.

    python examples/eigenfaces.py [eigenfaces.png] [olivetti.npz | digits]

The faces do not come with gramian (their terms are AT&T's). The file holds an array ``images``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from gramian import PCA, plot

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data" / "olivetti" / "olivetti.npz"
STEPS = (1, 4, 16, 48)


def load(source: str) -> tuple[str, np.ndarray]:
    """Name and images (n, height, width)."""
    if source == "digits":
        return "digits", load_digits().images
    with np.load(source, allow_pickle=False) as file:
        return "faces", file["images"].astype(np.float64)


def compressed(model: PCA, X: np.ndarray, k: int) -> np.ndarray:
    """The rows rebuilt from their first k coordinates: m + V_k V_k'(x - m)."""
    Z = model.transform(X)
    Z[:, k:] = 0
    return model.inverse_transform(Z)


def picture(path: Path, source: str) -> list[str]:
    """Fit, draw, and return what was found, a line each."""
    name, images = load(source)
    shape = images.shape[1:]
    X = images.reshape(len(images), -1)
    train, test = X[::2], X[1::2]
    model = PCA(max(STEPS)).fit(train)
    lines = [f"{len(train)} {name} of {shape[0]} x {shape[1]} pixels make the axes"]
    some = slice(None, None, len(test) // 6 + 1)
    rows, titles = [test[some]], ["as it is"] * 6
    for k in reversed(STEPS):
        again = compressed(model, test, k)
        left_over = np.sum((test - again) ** 2) / np.sum((test - train.mean(axis=0)) ** 2)
        lines.insert(
            1,
            f"{k:3} numbers instead of {X.shape[1]}: {100 * (1 - left_over):5.1f} % of the "
            f"variance of {len(test)} other {name}",
        )
        rows.append(again[some])
        titles += [f"{k} numbers" if k > 1 else "1 number"] * 6

    figure, (left, right) = plt.subplots(
        1, 2, figsize=(9.6, 5.2), layout="constrained", width_ratios=(4, 5)
    )
    plot.component_images(model.to_embedding(train), shape, left, most=16, columns=4)
    stacked = np.clip(np.concatenate(rows), X.min(), X.max())
    plot.images(stacked, shape, right, titles=titles, columns=6)
    left.set_title(f"principal axes of {name}", fontsize=10)
    right.set_title(f"{name} that the axes have not seen", fontsize=10)
    figure.savefig(path, dpi=100, metadata={"Software": None})
    plt.close(figure)
    return lines


if __name__ == "__main__":
    matplotlib.use("Agg")
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "eigenfaces.png")
    chosen = sys.argv[2] if len(sys.argv) > 2 else str(BESIDE) if BESIDE.is_file() else "digits"
    print("\n".join(picture(target, chosen)))
    print(f"written to {target}")

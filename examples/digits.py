"""Handwritten digits: how many axes, and what the axes look like.

1,797 images of 8 x 8 pixels, shipped with scikit-learn. Prints the shares and writes a picture: the
map of the images, and the first components drawn as images themselves.

    python examples/digits.py [digits.png]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from gramian import PCA, plot


def picture(path: Path) -> PCA:
    """Fit, draw, and return the model."""
    digits = load_digits()
    model = PCA(n_components=0.95).fit(digits.data)
    names = [str(target) for target in digits.target]
    embedding = model.to_embedding(digits.data, columns={"digit": names})

    figure = plt.figure(figsize=(9.6, 4.4), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=(3, 2))
    plot.map(embedding, ax=left.subplots())
    reach = np.abs(model.components_[:9]).max()
    for i, ax in enumerate(right.subplots(3, 3).flat):
        ax.imshow(model.components_[i].reshape(8, 8), cmap="PuOr_r", vmin=-reach, vmax=reach)
        ax.set_title(f"PC{i + 1}  {100 * model.explained_variance_ratio_[i]:.1f}%", fontsize=9)
        ax.set_axis_off()
    figure.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(figure)
    return model


if __name__ == "__main__":
    matplotlib.use("Agg")
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "digits.png")
    model = picture(target)
    shares = np.cumsum(model.explained_variance_ratio_)
    for k in (1, 2, 5, 10, model.n_components_):
        print(f"{k:3} axes carry {100 * shares[k - 1]:5.1f} % of the variance")
    print(f"largest residual {model.residuals_.max():.1e} (certified below {model.tolerance_:.0e})")
    print(f"written to {target}")

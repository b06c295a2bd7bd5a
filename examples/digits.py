"""Handwritten digits: how many axes, and what the axes look like.

1,797 images of 8 x 8 pixels, shipped with scikit-learn. Prints the shares and what parallel
analysis keeps, and writes a picture: the map of the images, the first components drawn as images
themselves, and the eigenvalues beside those of unrelated pixels. The threes of the USPS postal
codes are asked as well if a file of them is given or lies beside the checkout: 658 rows of 256
pixels, no header.

    python examples/digits.py [digits.png] [usps_threes.csv]

The postal codes do not come with gramian (their terms are unclear).
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from gramian import PCA, parallel_analysis, plot
from gramian.inference import ParallelAnalysis

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
BESIDE = SHARED / "usps_digit3" / "zip_train_digit3.csv"


def picture(path: Path) -> tuple[PCA, ParallelAnalysis]:
    """Fit, ask, draw; return the model and the analysis."""
    digits = load_digits()
    model = PCA(n_components=0.95).fit(digits.data)
    found = parallel_analysis(digits.data)
    names = [str(target) for target in digits.target]
    embedding = model.to_embedding(digits.data, columns={"digit": names})

    figure = plt.figure(figsize=(9.6, 7.2), layout="constrained")
    above, below = figure.subfigures(2, 1, height_ratios=(3, 2))
    left, right = above.subplots(1, 2, width_ratios=(3, 2))
    plot.map(embedding, ax=left)
    plot.component_images(embedding, (8, 8), right, most=9)
    plot.parallel(found, below.subplots())
    figure.savefig(path, dpi=100, metadata={"Software": None})
    plt.close(figure)
    return model, found


if __name__ == "__main__":
    matplotlib.use("Agg")
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "digits.png")
    threes = Path(sys.argv[2]) if len(sys.argv) > 2 else BESIDE
    model, found = picture(target)
    shares = np.cumsum(model.explained_variance_ratio_)
    for k in (1, 2, 5, 10, model.n_components_):
        print(f"{k:3} axes carry {100 * shares[k - 1]:5.1f} % of the variance")
    print(f"largest residual {model.residuals_.max():.1e} (certified below {model.tolerance_:.0e})")
    print(f"parallel analysis keeps {found.n_components} axes of the 64")
    if threes.is_file():
        X = np.loadtxt(threes, delimiter=",")
        kept = parallel_analysis(X, n_permutations=100).n_components
        print(f"parallel analysis keeps {kept} axes of the {X.shape[1]} of {len(X)} USPS threes")
    else:
        print("no file of the USPS threes: give its path as the second argument to ask them too")
    print(f"written to {target}")

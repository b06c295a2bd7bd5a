"""Places Rated: 329 American cities on nine criteria (Boyer and Savageau, 1985).

The classic of lecture notes: take logarithms, then PCA of the covariance. The table printed is the
correlation of each criterion with each of the first three axes; the picture has the cities and the
criteria on two axes, and what makes the first axis.

    python examples/places_rated.py [places.csv] [places.png]

The data do not come with gramian (they are Rand McNally's, reproduced by permission in several
teaching collections). The file needs the columns named below; other columns are ignored.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import polars

from gramian import PCA, plot

NINE = ["climate", "housingcost", "hlthcare", "crime", "transp", "educ", "arts", "recreat", "econ"]
BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data" / "places_rated" / "places.csv"


def picture(model: PCA, X: polars.DataFrame, path: Path) -> None:
    """Write the figure to ``path``."""
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(9.6, 4.2), layout="constrained", width_ratios=(3, 2)
    )
    embedding = model.to_embedding(X)
    plot.biplot(embedding, ax=left)
    plot.contributions(embedding, ax=right)
    figure.savefig(path, dpi=100, metadata={"Software": None})
    plt.close(figure)


def main(path: Path, target: Path) -> None:
    """Print shares and correlations, and draw."""
    if not path.is_file():
        print(f"no file {path}: give the path of a Places Rated table as the first argument")
        return
    X = polars.read_csv(path).select(NINE).select(polars.all().log10())
    model = PCA().fit(X)
    print("axis   variance    share  cumulative")
    total = np.cumsum(model.explained_variance_ratio_)
    for i, (variance, share) in enumerate(
        zip(model.explained_variance_, model.explained_variance_ratio_, strict=True)
    ):
        print(f"PC{i + 1}  {variance:9.6f}  {100 * share:6.2f}%     {100 * total[i]:6.2f}%")
    print("\ncorrelation with   PC1     PC2     PC3")
    for name, row in zip(NINE, model.correlations_, strict=True):
        print(f"{name:14} " + " ".join(f"{value:+7.3f}" for value in row[:3]))
    print(f"\nlargest residual {model.residuals_.max():.1e}")
    picture(model, X, target)
    print(f"written to {target}")


if __name__ == "__main__":
    matplotlib.use("Agg")
    main(
        Path(sys.argv[1]) if len(sys.argv) > 1 else BESIDE,
        Path(sys.argv[2] if len(sys.argv) > 2 else "places.png"),
    )

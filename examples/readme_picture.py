"""The picture of the README: Fisher's irises on two axes, and how much each axis carries.

python examples/readme_picture.py [docs/images/iris.png]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import polars

from gramian import PCA, plot
from gramian.data.examples import iris_path


def picture(path: Path) -> None:
    """Write the figure to ``path``."""
    with iris_path() as file:
        frame = polars.read_csv(file)
    X = frame.drop("species")
    irises = PCA().fit(X).to_embedding(X, columns={"species": frame["species"]})
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(9.6, 4.2), layout="constrained", width_ratios=(3, 2)
    )
    plot.biplot(irises, ax=left)
    plot.scree(irises, ax=right)
    # No date and no version inside: the same picture is the same file.
    figure.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(figure)


if __name__ == "__main__":
    matplotlib.use("Agg")
    images = Path(__file__).resolve().parent.parent / "docs" / "images"
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else images / "iris.png"
    picture(target)
    print(f"written to {target}")

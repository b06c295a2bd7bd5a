"""How many components have the wines, and how sure are their places on the map?

178 wines of three growers, 13 measurements, shipped with scikit-learn. Prints the answers of all
rules and writes a picture: the eigenvalues beside those of unrelated variables, and the map with an
ellipse of 95 % confidence round each wine.

    python examples/how_many.py [how-many.png]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

from gramian import plot
from gramian.inference import bootstrap, how_many


def picture(path: Path) -> str:
    """Ask, draw, and return the answers."""
    X = load_wine().data
    found = how_many(X, scale="unit")
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(9.6, 4.0), layout="constrained", width_ratios=(4, 5)
    )
    plot.parallel(found.analysis, ax=left)
    plot.ellipses(bootstrap(X, 2, scale="unit"), ax=right)
    figure.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(figure)
    return str(found)


if __name__ == "__main__":
    matplotlib.use("Agg")
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "how-many.png")
    print(picture(target))
    print(f"written to {target}")

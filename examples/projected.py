"""Random projections: distances of 300 points in 10,000 dimensions, kept in a few hundred.

Prints the distortion for several dimensions and writes a picture: ratios of squared distances, with
the band that Johnson and Lindenstrauss promise.

    python examples/projected.py [projected.png]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np

from gramian import RandomProjection
from gramian.plot.style import INK, new_axes
from gramian.quality import johnson_lindenstrauss

X = np.random.default_rng(1).standard_normal((300, 10_000))
DIMENSIONS = (30, 100, 300, 1000, 3000)


def picture(path: Path) -> None:
    """Write the figure to ``path``."""
    reports = [RandomProjection(k).fit(X).distortion_report(X) for k in DIMENSIONS]
    figure, axes = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
    middle = np.array([report.median for report in reports])
    low = middle - [report.smallest for report in reports]
    high = np.array([report.largest for report in reports]) - middle
    axes.errorbar(DIMENSIONS, middle, [low, high], fmt="o", color=INK, label="10,000 pairs")
    eps = np.geomspace(0.12, 0.95, 50)
    promised = [johnson_lindenstrauss(300, float(each)) for each in eps]
    axes.fill_between(promised, 1 - eps, 1 + eps, color="0.9", label="promised")
    axes.set_xscale("log")
    axes.set_xlabel("dimensions")
    axes.set_ylabel("squared distance after / before")
    new_axes(axes, (6.4, 4.2))
    axes.legend(frameon=False)
    figure.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(figure)


if __name__ == "__main__":
    matplotlib.use("Agg")
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "projected.png")
    picture(target)
    for k in DIMENSIONS:
        report = RandomProjection(k).fit(X).distortion_report(X)
        print(f"{k:5} dimensions: {report.smallest:.2f} to {report.largest:.2f}")
    print(f"written to {target}")

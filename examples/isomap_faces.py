"""Images as points of a curved sheet: what turns and lights them comes out as axes.

The 698 faces of the paper on Isomap (32 x 32 pixels, turned left and right, up and down, and lit
from a side) are used if a file of them is given or lies beside the checkout; else 700 images of a
bright disc, which moves across, up and down, and grows.

    python examples/isomap_faces.py [isomap-faces.png] [isomap_faces32.npz | discs]

The faces do not come with gramian. The file holds ``images`` and ``params_standardised``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np

from gramian import PCA, Isomap, plot
from gramian.plot.style import BLUE, INK
from gramian.quality import residual_variance

NAME = Path("isomap_faces") / "isomap_faces32.npz"
BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data" / NAME


def load(source: str) -> tuple[str, np.ndarray, np.ndarray]:
    """Name, images as rows, and the three parameters they were made with."""
    if source != "discs":
        with np.load(source, allow_pickle=False) as file:
            images, made = file["images"].astype(np.float64), file["params_standardised"]
        return "faces", images.reshape(len(images), -1), made
    made = np.random.default_rng(0).uniform([-1, -0.7, -0.4], [1, 0.7, 0.4], (700, 3))
    x, y = np.meshgrid(*[np.linspace(-2, 2, 32)] * 2)
    apart = (x - made[:, 0, None, None]) ** 2 + (y - made[:, 1, None, None]) ** 2
    images = np.exp(-4 * apart * np.exp(-2 * made[:, 2, None, None]))
    return "discs", images.reshape(700, -1), made


def explained(made: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """R^2 of each parameter in a linear regression on the coordinates."""
    A = np.column_stack([np.ones(len(Z)), Z])
    left = made - A @ np.linalg.lstsq(A, made, rcond=None)[0]
    return 1 - left.var(axis=0) / made.var(axis=0)


def picture(path: Path, source: str) -> list[str]:
    """Fit, draw, and return what was found, a line each."""
    name, X, made = load(source)
    model = Isomap(8, n_neighbors=6, keep_distances=True).fit(X)
    straight = PCA(8).fit_transform(X)
    of_pca = residual_variance(model.dist_matrix_, straight)
    figure, axes = plt.subplots(1, 2, figsize=(9.6, 4.0), layout="constrained")
    shown = Isomap(2, n_neighbors=6).fit(X).to_embedding(columns={"first parameter": made[:, 0]})
    plot.map(shown, ax=axes[0])
    plot.residual_variance(model.residual_variance_, ax=axes[1])
    axes[1].plot(range(1, 9), of_pca, color=INK, marker="s", markersize=4)
    axes[1].set_ylim(0, 1.08 * of_pca.max())
    axes[1].annotate("PCA", (6, of_pca[5]), (6, of_pca[5] + 0.03), color=INK)
    axes[1].annotate("Isomap", (6, 0), (6, model.residual_variance_[5] + 0.03), color=BLUE)
    figure.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(figure)
    return [
        f"{len(X)} {name}; {model.to_embedding().notes[0]}",
        "residual variance of 1 to 5 axes: "
        + ", ".join(f"{v:.3f}" for v in model.residual_variance_[:5]),
        *(
            f"{what:6} 3 axes explain of the three parameters "
            + ", ".join(f"{v:.2f}" for v in explained(made, Z[:, :3]))
            for what, Z in (("PCA", straight), ("Isomap", model.embedding_))
        ),
    ]


if __name__ == "__main__":
    matplotlib.use("Agg")
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "isomap-faces.png")
    given = sys.argv[2] if len(sys.argv) > 2 else str(BESIDE) if BESIDE.is_file() else "discs"
    for line in picture(target, given):
        print(line)
    print(f"written to {target}")

"""A cocktail party: three signals, three microphones, and ICA tells the signals apart.

Prints how well each source is found by PCA and by ICA, and writes a picture of the signals, the
microphones and the sources.

    python examples/cocktail.py [cocktail.png]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np

from gramian import ICA, PCA
from gramian.plot.style import INK, new_axes

T = np.linspace(0, 8, 2000)
NOISE = np.random.default_rng(0).laplace(size=len(T))
SIGNALS = np.column_stack([np.sin(2 * T), np.sign(np.sin(3 * T)), NOISE])
MIXING = np.array([[1.0, 1.0, 0.5], [0.5, 2.0, 1.0], [1.5, 1.0, 1.0]])
X = SIGNALS @ MIXING.T


def found(Z: np.ndarray) -> np.ndarray:
    """The largest correlation of each signal with a column of Z, in size."""
    R = np.corrcoef(SIGNALS.T, Z.T)[: SIGNALS.shape[1], SIGNALS.shape[1] :]
    return np.abs(R).max(axis=1)


def picture(path: Path) -> None:
    """Write the figure to ``path``."""
    columns = {"signals": SIGNALS, "microphones": X, "PCA": PCA().fit_transform(X)}
    columns["ICA"] = ICA().fit_transform(X)
    figure, axes = plt.subplots(3, 4, figsize=(9.6, 4.2), layout="constrained", sharex=True)
    for j, (name, signals) in enumerate(columns.items()):
        axes[0, j].set_title(name, fontsize=10)
        for i in range(3):
            axes[i, j].plot(T, signals[:, i], color=INK, linewidth=0.6)
            new_axes(axes[i, j], (2.4, 1.4)).grid(visible=False)
            axes[i, j].set_xticks([])
            axes[i, j].set_yticks([])
    figure.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(figure)


if __name__ == "__main__":
    matplotlib.use("Agg")
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "cocktail.png")
    picture(target)
    print("signal    by PCA  by ICA")
    for name, old, new in zip(
        ("sine", "square", "noise"),
        found(PCA().fit_transform(X)),
        found(ICA().fit_transform(X)),
        strict=True,
    ):
        print(f"{name:8}  {old:.3f}   {new:.3f}")
    print(f"written to {target}")

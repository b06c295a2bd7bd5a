"""Genes mirror geography: six peoples along a coast, from a PLINK file to a map.

Simulates neighbors that exchange people (their allele frequencies drift together), writes them as a
.bed file, finds the axes of ancestry, and projects samples that took no part in the fit. Scaled
down from J. Novembre et al., Genes mirror geography within Europe, Nature 456 (2008).
With a path, the samples of that .bed file are drawn instead.

    python examples/genes_and_geography.py [genes_and_geography.png] [people.bed]
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np

from gramian import GenotypePCA
from gramian.errors import GramianWarning
from gramian.plot.style import new_axes

PEOPLES, EACH, VARIANTS, FST = 6, 60, 8000, 0.05
COLORS = ("#1f6f8b", "#c1440e", "#5b8c3a", "#7b4fa3", "#c99700", "#666666")


def simulated(path: Path, names: list[str], people: np.ndarray, X: np.ndarray) -> Path:
    """Write counts X (samples x variants) as a PLINK file."""
    codes = np.array([3, 2, 0], np.uint8)[X]
    padded = np.zeros((-(-len(X) // 4) * 4, X.shape[1]), np.uint8)
    padded[: len(X)] = codes
    four = padded.reshape(-1, 4, X.shape[1])
    packed = four[:, 0] | four[:, 1] << 2 | four[:, 2] << 4 | four[:, 3] << 6
    path.write_bytes(b"\x6c\x1b\x01" + packed.T.tobytes())
    lines = [f"people{g + 1} {name} 0 0 0 -9\n" for g, name in zip(people, names, strict=True)]
    path.with_suffix(".fam").write_text("".join(lines))
    lines = [f"1\trs{j}\t0\t{j + 1}\tA\tC\n" for j in range(X.shape[1])]
    path.with_suffix(".bim").write_text("".join(lines))
    return path


def drawn() -> tuple[np.ndarray, np.ndarray]:
    """Counts of six peoples in a row, and who is of which; neighbors drift together."""
    rng = np.random.default_rng(2008)
    f = rng.uniform(0.1, 0.9, VARIANTS)
    along = np.cumsum(rng.normal(size=(PEOPLES, VARIANTS)), axis=0)
    drift = (along - along.mean(axis=0)) / along.std()
    p = np.clip(f + np.sqrt(FST * f * (1 - f)) * drift, 0.01, 0.99)
    people = np.repeat(np.arange(PEOPLES), EACH)
    return rng.binomial(2, p[people]), people


def picture(
    Z: np.ndarray, groups: np.ndarray, new: np.ndarray | None, model: GenotypePCA, path: Path
) -> None:
    """Write the figure to ``path``."""
    figure, ax = plt.subplots(figsize=(7.2, 4.8), layout="constrained")
    for g, name in enumerate(np.unique(groups)):
        ax.scatter(*Z[groups == name, :2].T, s=14, color=COLORS[g % 6], label=str(name))
    if new is not None:
        ax.scatter(*new[:, :2].T, s=36, marker="x", color="#111111", label="projected")
    new_axes(ax, (7.2, 4.8))
    share = 100 * model.explained_variance_ratio_
    ax.set(xlabel=f"PC1 ({share[0]:.1f}%)", ylabel=f"PC2 ({share[1]:.1f}%)")
    ax.legend(frameon=False, fontsize=8)
    figure.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(figure)


if __name__ == "__main__":
    matplotlib.use("Agg")
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "genes_and_geography.png")
    if len(sys.argv) > 2:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", GramianWarning)
            model = GenotypePCA(4).fit(sys.argv[2])
        for each in said:
            print(each.message)
        print("eigenvalues", *(f"{value:.3f}" for value in model.eigenvalues_))
        groups = np.repeat("samples", model.n_samples_)
        picture(model.embedding_, groups, None, model, target)
    else:
        X, people = drawn()
        old = np.arange(len(X)) % 10 > 0  # one in ten is kept aside
        names = [f"s{i}" for i in range(len(X))]
        with tempfile.TemporaryDirectory() as folder:
            kept = [name for name, taken in zip(names, old, strict=True) if taken]
            path = simulated(Path(folder) / "fit.bed", kept, people[old], X[old])
            model = GenotypePCA(4).fit(path)
            aside = [name for name, taken in zip(names, old, strict=True) if not taken]
            other = simulated(Path(folder) / "new.bed", aside, people[~old], X[~old])
            plain, new = model.transform(other), model.project(other)
        groups = np.array([f"people {g + 1}" for g in people[old]])
        print("eigenvalues", *(f"{value:.1f}" for value in model.eigenvalues_))
        print("shrinkage  ", *(f"{value:.2f}" for value in model.shrinkage_[:2]))
        order = [model.embedding_[people[old] == g, 0].mean() for g in range(PEOPLES)]
        print("peoples along PC1:", *(int(g) + 1 for g in np.argsort(order)))
        for name, Z in (("placed", plain), ("projected", new)):
            off = [Z[people[~old] == g, 1].mean() for g in range(PEOPLES)]
            here = [model.embedding_[people[old] == g, 1].mean() for g in range(PEOPLES)]
            ratio = float(np.linalg.norm(off) / np.linalg.norm(here))
            print(f"{name}: PC2 of new samples is {ratio:.2f} of those in the fit")
        picture(model.embedding_, groups, new, model, target)
    print(f"written to {target}")

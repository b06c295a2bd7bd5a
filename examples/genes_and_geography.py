"""Genes mirror geography: six peoples along a coast, from a PLINK file to a map.

Simulates neighbors that exchange people (their allele frequencies drift together), writes them as a
.bed file, finds the axes of ancestry, and projects samples that took no part in the fit. After
J. Novembre et al., Genes mirror geography within Europe, Nature 456 (2008): a small sample of small
peoples, or with "european" as many people and variants as theirs (half a minute). With a path, the
samples of that .bed file are drawn instead, colored by populations.csv where that lies beside it.

    python examples/genes_and_geography.py [genes_and_geography.png] [european | people.bed]
"""

from __future__ import annotations

import csv
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

PEOPLES = 6
SMALL, EUROPEAN = (60, 8000, 0.05), (532, 197_146, 0.01)  # people each, variants, FST
COLORS = ("#1f6f8b", "#c1440e", "#5b8c3a", "#7b4fa3", "#c99700", "#666666")


def simulate(each: int, variants: int, fst: float, files: dict[Path, np.ndarray]) -> np.ndarray:
    """Write who is marked for each .bed file; which of six peoples in a row everybody is of.

    Neighbors drift together: frequencies of the next people are those of the last and a step.
    """
    rng = np.random.default_rng(2008)
    people = np.repeat(np.arange(PEOPLES), each)
    for path, who in files.items():
        path.write_bytes(b"\x6c\x1b\x01")
        lines = [f"people{people[i] + 1} s{i} 0 0 0 -9\n" for i in np.flatnonzero(who)]
        path.with_suffix(".fam").write_text("".join(lines))
        lines = [f"1\trs{j}\t0\t{j + 1}\tA\tC\n" for j in range(variants)]
        path.with_suffix(".bim").write_text("".join(lines))
    for a in range(0, variants, 4000):
        many = min(4000, variants - a)
        f = rng.uniform(0.1, 0.9, (many, 1))
        along = np.cumsum(rng.normal(size=(many, PEOPLES)), axis=1)
        drift = (along - along.mean(axis=1, keepdims=True)) / along.std()
        p = np.clip(f + np.sqrt(fst * f * (1 - f)) * drift, 0.01, 0.99).astype(np.float32)
        q = p[:, people]
        u = rng.random(q.shape, np.float32)
        copies = (u < q * q).astype(np.uint8) + (u < q * (2 - q))
        for path, who in files.items():
            with path.open("ab") as file:
                file.write(packed(copies[:, who]))
    return people


def packed(copies: np.ndarray) -> bytes:
    """Counts (variants x samples), four to a byte."""
    codes = np.zeros((len(copies), -(-copies.shape[1] // 4) * 4), np.uint8)
    codes[:, : copies.shape[1]] = np.array([3, 2, 0], np.uint8)[copies]
    four = codes.reshape(len(codes), -1, 4)
    return (four[..., 0] | four[..., 1] << 2 | four[..., 2] << 4 | four[..., 3] << 6).tobytes()


def populations(path: Path, samples: tuple[str, ...]) -> np.ndarray:
    """Of each sample, from the last column of populations.csv beside the file."""
    table = path.with_name("populations.csv")
    if not table.is_file():
        return np.repeat("samples", len(samples))
    with table.open(encoding="utf-8", newline="") as file:
        known = {row[0]: row[-1] for row in csv.reader(file) if row[-1] != "NA"}
    return np.array([known.get(name, "not said") for name in samples])


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


def draw_file(path: Path, target: Path) -> None:
    """The axes of a .bed file, and what is said of it."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", GramianWarning)
        model = GenotypePCA(4).fit(path)
    for each in said:
        print(each.message)
    print("eigenvalues", *(f"{value:.3f}" for value in model.eigenvalues_))
    groups = populations(path, model.samples_)
    for name in np.unique(groups):
        here = model.embedding_[groups == name, :2]
        print(f"{name}: {len(here)} samples about", *(f"{mean:.2f}" for mean in here.mean(axis=0)))
    picture(model.embedding_, groups, None, model, target)


def draw_coast(size: tuple[int, int, float], target: Path) -> None:
    """Six peoples along a coast; one in ten is kept aside and projected."""
    old = np.arange(PEOPLES * size[0]) % 10 > 0
    with tempfile.TemporaryDirectory() as folder:
        path, other = Path(folder) / "fit.bed", Path(folder) / "new.bed"
        people = simulate(*size, {path: old, other: ~old})
        model = GenotypePCA(4).fit(path)
        plain, new = model.transform(other), model.project(other)
    print(f"{model.n_samples_} samples, {model.n_variants_} variants")
    print("eigenvalues", *(f"{value:.1f}" for value in model.eigenvalues_))
    print("shrinkage  ", *(f"{value:.2f}" for value in model.shrinkage_[:2]))
    order = [model.embedding_[people[old] == g, 0].mean() for g in range(PEOPLES)]
    print("peoples along PC1:", *(int(g) + 1 for g in np.argsort(order)))
    for name, Z in (("placed", plain), ("projected", new)):
        off = [Z[people[~old] == g, 1].mean() for g in range(PEOPLES)]
        here = [model.embedding_[people[old] == g, 1].mean() for g in range(PEOPLES)]
        ratio = float(np.linalg.norm(off) / np.linalg.norm(here))
        print(f"{name}: PC2 of new samples is {ratio:.2f} of those in the fit")
    groups = np.array([f"people {g + 1}" for g in people[old]])
    picture(model.embedding_, groups, new, model, target)


if __name__ == "__main__":
    matplotlib.use("Agg")
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "genes_and_geography.png")
    what = sys.argv[2] if len(sys.argv) > 2 else ""
    if what and what != "european":
        draw_file(Path(what), target)
    else:
        draw_coast(EUROPEAN if what else SMALL, target)
    print(f"written to {target}")

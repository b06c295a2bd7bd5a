"""Which pages of a web site matter: PageRank, and hubs and authorities.

Reads links of the Hollins University web (edges.csv and nodes.csv) from the folder given or found
beside the checkout; without it, a made-up site of 400 pages. Writes a picture.

    python examples/web_graph.py [web-graph.png [FOLDER]]
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np

from gramian.plot.style import new_axes
from gramian.rank import HubsAndAuthorities, Ranking, hits, pagerank

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data" / "hollins"


def made_up(n: int = 400) -> tuple[np.ndarray, list[str]]:
    """A site that grew page by page, each linking to pages that many link to, and to the start."""
    rng = np.random.default_rng(0)
    pages, links = [0, 0], []
    for page in range(1, n):
        for target in {0, *rng.choice(pages, 3).tolist()}:
            links.append((page, target))
            pages.append(target)
        pages.append(page)
    return np.array(links), [f"page {i}" for i in range(n)]


def read(folder: Path) -> tuple[np.ndarray, list[str]]:
    """Links, counted from 0, and addresses."""
    links = np.loadtxt(folder / "edges.csv", delimiter=",", skiprows=1, dtype=int) - 1
    with (folder / "nodes.csv").open(newline="", encoding="utf-8") as file:
        return links, [row["url"] for row in csv.DictReader(file)]


def picture(ranks: Ranking, both: HubsAndAuthorities, links: np.ndarray, path: Path) -> None:
    """Write the figure to ``path``."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.2), layout="constrained")
    incoming = np.bincount(links[:, 1], minlength=len(ranks.scores))
    left.loglog(incoming + 1, ranks.scores, "o", ms=3, alpha=0.5, color="#1f6f8b", mec="none")
    left.set(xlabel="links to a page, and 1", ylabel="PageRank")
    right.plot(both.hubs.scores, both.authorities.scores, "o", ms=3, color="#c1440e", mec="none")
    right.set(xlabel="hub", ylabel="authority")
    for ax in (left, right):
        new_axes(ax, (4.8, 4.2))
    figure.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(figure)


if __name__ == "__main__":
    matplotlib.use("Agg")
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "web-graph.png")
    folder = Path(sys.argv[2]) if len(sys.argv) > 2 else BESIDE
    links, names = read(folder) if folder.is_dir() else made_up()
    ranks = pagerank(links, nodes=range(len(names)))
    both = hits(links, nodes=range(len(names)))
    print(f"{len(names)} pages, {len(links)} links")
    for what, ranking in (
        ("PageRank", ranks),
        ("authorities", both.authorities),
        ("hubs", both.hubs),
    ):
        print(what)
        for page, score in ranking.top(3):
            print(f"  {score:.5f}  {names[page]}")
    print(ranks.certificate)
    picture(ranks, both, links, target)
    print(f"written to {target}")

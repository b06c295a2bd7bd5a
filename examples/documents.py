"""Nine titles and twelve terms: documents, terms and a query in one plane.

S. Deerwester et al., Indexing by latent semantic analysis, J. Am. Soc. Inf. Sci. 41 (1990): five
titles on how people and computers meet (c), four on graphs (m). Prints what the query "human
computer interaction" finds, and writes a picture.

    python examples/documents.py [documents.png]
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np

from gramian import LSI
from gramian.plot.style import INK, new_axes

TITLES = {
    "c1": "human machine interface for lab abc computer applications",
    "c2": "a survey of user opinion of computer system response time",
    "c3": "the EPS user interface management system",
    "c4": "system and human system engineering testing of EPS",
    "c5": "relation of user-perceived response time to error measurement",
    "m1": "the generation of random, binary, unordered trees",
    "m2": "the intersection graph of paths in trees",
    "m3": "graph minors IV: widths of trees and well-quasi-ordering",
    "m4": "graph minors: a survey",
}
TERMS = (
    *("human", "interface", "computer", "user", "system", "response"),
    *("time", "EPS", "survey", "trees", "graph", "minors"),
)
QUERY = "human computer interaction"


def fitted() -> LSI:
    """Two concepts; rows are documents."""
    words = [
        title.replace(",", " ").replace(":", " ").replace("-", " ") for title in TITLES.values()
    ]
    counts = [[title.split().count(term) for term in TERMS] for title in words]
    return LSI(2).fit(np.array(counts), terms=TERMS)


def picture(model: LSI, place: np.ndarray, path: Path) -> None:
    """Write the figure to ``path``."""
    figure, ax = plt.subplots(figsize=(7.2, 4.8), layout="constrained")
    Z, T = model.documents_, model.terms_
    ax.scatter(*T.T, s=16, marker="s", color="#9a9a9a", label="terms")
    ax.scatter(*Z.T, s=26, color="#1f6f8b", label="titles")
    ax.scatter(*place, s=70, marker="*", color="#c1440e", label="query")
    ax.plot([0, 1.35 * place[0]], [0, 1.35 * place[1]], lw=0.8, color="#c1440e", ls=":")
    for name, point in zip(TITLES, Z, strict=True):
        ax.annotate(name, point, xytext=(5, 3), textcoords="offset points", color=INK, fontsize=9)
    for name, point in zip(TERMS, T, strict=True):
        below = (4, -9) if name not in ("response", "trees") else (4, 3)
        name = "response, time" if name == "response" else "" if name == "time" else name
        ax.annotate(name, point, xytext=below, textcoords="offset points", color="#777", fontsize=8)
    new_axes(ax, (7.2, 4.8))
    ax.set(xlabel="Concept 1", ylabel="Concept 2")
    ax.legend(frameon=False, loc="upper right")
    figure.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(figure)


if __name__ == "__main__":
    matplotlib.use("Agg")
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "documents.png")
    model = fitted()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        row = model.query(QUERY)
        found = model.search(QUERY, len(TITLES))
    print(f"singular values {model.singular_values_[0]:.2f} and {model.singular_values_[1]:.2f}")
    print(said[0].message)
    for i, cosine in zip(*found, strict=True):
        name, title = list(TITLES.items())[i]
        print(f"{cosine:5.2f}  {name}  {title}")
    picture(model, model.transform(row)[0], target)
    print(f"written to {target}")

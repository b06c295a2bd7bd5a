"""Nine American cities drawn from the road miles between them alone.

Prints how far the map is from the miles, whether the miles can be Euclidean, and where Denver lands
if it is placed on a map of the other eight. The picture has the map and all nine eigenvalues, the
negative ones too.

    python examples/nine_cities.py [nine-cities.png]
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import polars

from gramian import ClassicalMDS, plot
from gramian.quality.euclidean import check_distances

CITIES = "Boston,New York,Washington,Miami,Chicago,Seattle,San Francisco,Los Angeles,Denver"
MILES = """
   0  206  429 1504  963 2976 3095 2979 1949
 206    0  233 1308  802 2815 2934 2786 1771
 429  233    0 1075  671 2684 2799 2631 1616
1504 1308 1075    0 1329 3273 3053 2687 2037
 963  802  671 1329    0 2013 2142 2054  996
2976 2815 2684 3273 2013    0  808 1131 1307
3095 2934 2799 3053 2142  808    0  379 1235
2979 2786 2631 2687 2054 1131  379    0 1059
1949 1771 1616 2037  996 1307 1235 1059    0
"""


def miles() -> polars.DataFrame:
    """The distances, with the names of the cities as first column and as header."""
    names = CITIES.split(",")
    D = np.array(MILES.split(), dtype=float).reshape(9, 9)
    return polars.DataFrame({"city": names, **dict(zip(names, D, strict=True))})


def picture(path: Path) -> ClassicalMDS:
    """Fit, draw, and return the model."""
    table = miles()
    model = ClassicalMDS(2, metric="precomputed").fit(table)
    # Signs are a convention: turned by 180 degrees, north is up and west is left.
    turned = replace(model.to_embedding(), coordinates=-model.embedding_)

    figure, (left, right) = plt.subplots(
        1, 2, figsize=(9.6, 4.0), layout="constrained", width_ratios=(3, 2)
    )
    plot.map(turned, labels=True, ax=left)
    left.margins(0.12)
    left.set_title("from road miles alone", fontsize=10)
    plot.spectrum(check_distances(table), ax=right)
    figure.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(figure)
    return model


def place_denver() -> tuple[np.ndarray, np.ndarray]:
    """Denver's distances on a map of the other eight cities, and the miles."""
    D = miles().drop("city").to_numpy()
    model = ClassicalMDS(2, metric="precomputed").fit(D[:8, :8])
    denver = model.transform(D[8:, :8])
    return np.linalg.norm(denver - model.embedding_, axis=1), D[8, :8]


if __name__ == "__main__":
    matplotlib.use("Agg")
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "nine-cities.png")
    model = picture(target)
    print(model.to_embedding().summary())
    print("\nDenver, placed on a map of the other eight:")
    for name, found, given in zip(CITIES.split(","), *place_denver(), strict=False):
        print(f"{name:14}{found:6.0f} miles on the map, {given:5.0f} by road")
    print(f"written to {target}")

"""MDS by stress: numbers of smacof, vegan and MASS, reached or bettered."""

import csv
import json
import warnings

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from gramian import MDS, ClassicalMDS
from gramian.data.tables import read_table
from gramian.errors import GramianWarning
from gramian.gram.distances import pairwise
from tests.spectral.test_solvers import CITIES

CLOSE = 1 + 1e-4


def fitted(D, **options):
    options = {"n_init": 1, "metric": "precomputed"} | options
    return MDS(2, **options).fit(D)


@pytest.fixture
def distances(shared_data):
    def read(name):
        with open(shared_data / name, newline="") as file:
            lines = list(csv.reader(file))[1:]
        return np.array([[float(cell) for cell in line[-len(lines) :]] for line in lines])

    return read


# smacof 2.1-7 (eps 1e-13, from torgerson) and vegan 2.6-4 monoMDS; reference_R.json of each folder
@pytest.mark.parametrize("name", ["ekman", "kinship", "wish", "morse"])
@pytest.mark.parametrize(
    ("measurement", "ties", "key"),
    [
        ("ratio", "primary", "smacof_ratio"),
        ("interval", "primary", "smacof_interval"),
        ("ordinal", "primary", "smacof_ordinal_primary"),
        ("ordinal", "secondary", "smacof_ordinal_secondary"),
    ],
)
def test_smacof(shared_data, distances, name, measurement, ties, key):
    wanted = json.loads((shared_data / name / "reference_R.json").read_text())[key]["stress1"]
    model = fitted(distances(f"{name}/dissimilarity.csv"), measurement=measurement, ties=ties)
    assert model.stress_ <= wanted * CLOSE
    assert model.stress_ >= wanted * 0.999  # the same minimum, not a degenerate one
    assert model.stopping_.startswith(("five steps", "no step"))


def test_nine_cities_of_the_lecture():
    # smacof 2.1-7 with eps 1e-14; MASS::sammon(niter = 1000, tol = 1e-12)
    assert np.isclose(fitted(CITIES).stress_, 0.013991, atol=5e-7)
    sammon = fitted(CITIES, loss="sammon")
    assert sammon.stresses_["sammon"] <= 0.0002509117 * CLOSE
    strain = fitted(CITIES, loss="strain")
    assert np.allclose(
        strain.embedding_, ClassicalMDS(2, metric="precomputed").fit_transform(CITIES)
    )
    # raw stress, and equation (4) of the lecture, which has every pair twice, at that picture
    assert np.isclose(strain.stresses_["raw"], 56124.6557, atol=5e-5)
    assert np.isclose(2 * strain.stresses_["sstress"], 880913704849, atol=1)
    with pytest.warns(GramianWarning, match="nearly 0"):
        assert fitted(CITIES, measurement="ordinal").stress_ < 1e-4


def test_eurodist(distances):
    D = distances("eurodist/eurodist.csv")
    wanted = {"ratio": 0.072190, "interval": 0.071271, "ordinal": 0.0580070553}
    for measurement, stress in wanted.items():
        assert fitted(D, measurement=measurement).stress_ <= stress * CLOSE
    assert fitted(D, loss="sammon").stresses_["sammon"] <= 0.0094139152 * CLOSE


def test_dune_and_varespec(shared_data, distances):
    dune, bray = distances("dune/bray_curtis.csv"), distances("varespec/bray_curtis.csv")
    assert np.isclose(fitted(dune, measurement="ordinal").stress_, 0.119267829, rtol=1e-6)
    assert np.isclose(fitted(dune, measurement="interval").stress_, 0.13727651, rtol=1e-6)
    assert np.isclose(fitted(bray, measurement="ordinal").stress_, 0.100021071, rtol=1e-6)
    # metaMDS: the better of two minima, found by restarts
    best = fitted(dune, measurement="ordinal", n_init=10)
    assert np.isclose(best.stress_, 0.1183186, atol=5e-8)
    assert best.n_agreeing_ >= 2
    counts = read_table(shared_data / "varespec" / "varespec.csv", labels=None).numbers
    root = np.sqrt(np.asarray(counts, float)[:, -44:])
    scaled = root / root.max(axis=0)
    wisconsin = pairwise(scaled / scaled.sum(axis=1, keepdims=True), metric="braycurtis")
    assert fitted(wisconsin, measurement="ordinal").stress_ <= 0.184319584 * CLOSE
    many = fitted(wisconsin, measurement="ordinal", n_init=20)
    assert many.stress_ <= 0.1825658 * CLOSE  # metaMDS's best


def test_swiss(shared_data):
    table = read_table(shared_data / "swiss" / "swiss.csv")
    X = np.asarray(table.numbers, float)[:, -5:]  # swiss[, -1]
    D = squareform(pdist(X))
    assert fitted(D, loss="sammon").stresses_["sammon"] <= 0.003826093396 * CLOSE
    # isoMDS: 2.338839 % by default, 2.319023 % with a tight tolerance
    assert fitted(D, measurement="ordinal").stress_ <= 0.02319022924 * CLOSE


def test_the_third_site_of_dune_is_placed_as_vegan_does(distances):
    # vegan 2.8-0: metaMDS of 19 sites, MDSaddpoints(mod3, dist2xy(d, 3))
    D = distances("dune/bray_curtis.csv")
    rest = np.delete(np.arange(20), 2)
    model = fitted(D[np.ix_(rest, rest)], measurement="ordinal", n_init=12, tol=1e-12)
    z = model.transform(D[2:3, rest])[0]
    # metaMDS shows half changes: one unit halves the similarity of sites nearer than 0.8, by a line
    apart, given = pdist(model.embedding_), squareform(model._D, checks=False)
    slope, least = np.polyfit(apart[given < 0.8], given[given < 0.8], 1)
    half_change = (1 - least) / 2 / slope
    printed = np.array([0.09726945, 0.4560911])
    assert np.allclose(np.abs(z) / half_change, printed, atol=2e-5)
    # vegan stops when stress falls by less than 1e-5 of itself; its point is no better than ours
    at_printed = np.sign(z) * printed * half_change
    all_sites = D[np.ix_([*rest, 2], [*rest, 2])]
    worse = kruskal(all_sites, np.vstack([model.embedding_, at_printed]))
    assert 0 <= worse - kruskal(all_sites, np.vstack([model.embedding_, z])) < 1e-8
    # what the point adds to stress-1, by scikit-learn's isotonic regression of all 190 pairs
    added = kruskal(all_sites, np.vstack([model.embedding_, z]))
    assert np.isclose(added - model.stress_, 0.001811369, atol=2e-7)


def kruskal(D, Z):
    """Stress-1 with ties by the primary rule, from scikit-learn's isotonic regression."""
    from sklearn.isotonic import IsotonicRegression

    given, d = squareform(D, checks=False), pdist(Z)
    order = np.lexsort((d, given))
    d = d[order]
    fitted = IsotonicRegression().fit_transform(np.arange(len(d)), d)
    return np.sqrt(np.sum((d - fitted) ** 2) / np.sum(d**2))


def test_stress_1_is_kruskals(distances):
    D = distances("dune/bray_curtis.csv")
    model = fitted(D, measurement="ordinal")
    assert np.isclose(model.stress_, kruskal(D, model.embedding_), rtol=1e-10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GramianWarning)
        tied = np.round(D, 1)
        model = fitted(tied, measurement="ordinal")
    assert np.isclose(model.stress_, kruskal(tied, model.embedding_), rtol=1e-8)

"""Numbers about distances from R (cmdscale, vegan::wcmdscale), with their origin."""

import json

import numpy as np
import pytest

from gramian.data.dissimilarities import open_distances
from gramian.quality.euclidean import cailliez, centered, check_distances, lingoes

MILES = [  # Boston, NY, DC, Miami, Chicago, Seattle, SF, LA, Denver: above the diagonal
    *(206, 429, 1504, 963, 2976, 3095, 2979, 1949),
    *(233, 1308, 802, 2815, 2934, 2786, 1771),
    *(1075, 671, 2684, 2799, 2631, 1616),
    *(1329, 3273, 3053, 2687, 2037),
    *(2013, 2142, 2054, 996),
    *(808, 1131, 1307),
    *(379, 1235),
    1059,
]


def test_nine_cities():
    # R cmdscale(eig=TRUE) and cmdscale(add=TRUE)
    check = check_distances(MILES)
    expected = [13949791.25, 2124813.269, 183009.1307, 90600.52117, 37352.79277]
    expected += [0, -412.2324646, -62312.06813, -323706.7717]
    assert np.allclose(check.eigenvalues, expected, rtol=5e-10, atol=1e-6)
    assert check.metric
    assert not check.euclidean.holds
    assert np.isclose(check.cailliez, 372.4722654, rtol=2e-10)
    values = np.linalg.eigvalsh(centered(cailliez(MILES).D ** 2))[::-1]
    assert np.isclose(values[:2].sum() / values.sum(), 0.9193833525, rtol=1e-9)


@pytest.mark.parametrize("name", ["eurodist", "dune", "varespec"])
def test_repairs_of_r(name, shared_data):
    # R cmdscale(add=TRUE), vegan::wcmdscale(add="cailliez" and "lingoes")
    file = "eurodist.csv" if name == "eurodist" else "bray_curtis.csv"
    reference = json.loads((shared_data / name / "reference_R.json").read_text())
    found = open_distances(shared_data / name / file)
    for repair, method in ((cailliez, "wcmdscale_cailliez"), (lingoes, "wcmdscale_lingoes")):
        done = repair(found.D)
        assert np.isclose(done.amount, reference[method]["ac"], rtol=1e-11)
        wanted = np.array(reference[method]["eig"])
        values = np.sort(np.linalg.eigvalsh(centered(done.D**2)))[::-1]
        assert np.allclose(values[: len(wanted)], wanted, rtol=1e-10, atol=1e-10 * wanted[0])
    check = check_distances(found)
    eig = reference["cmdscale" if name == "eurodist" else "wcmdscale"]["eig_all"]
    assert np.isclose(check.euclidean.smallest, min(eig), rtol=1e-12)


def test_published_constants(shared_data):
    # printed in R's documentation and vegan's output
    assert np.isclose(cailliez(shared_data / "eurodist" / "eurodist.csv").amount, 2132.678495)
    dune = shared_data / "dune" / "bray_curtis.csv"
    assert np.isclose(cailliez(dune).amount, 0.286337992, atol=5e-10)
    assert np.isclose(lingoes(dune).amount, 0.0967856711, atol=5e-11)
    check = check_distances(dune)
    assert check.n_negative == 5
    assert not check.metric  # Bray-Curtis breaks one triangle here

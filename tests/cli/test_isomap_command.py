"""``gramian isomap`` as a user meets it."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import make_swiss_roll

from gramian import Isomap
from gramian.gram.distances import pairwise
from gramian.testing import same_up_to_signs

X = make_swiss_roll(600, random_state=0)[0]


@pytest.fixture(autouse=True)
def roll(folder):
    pl.DataFrame(X, schema=["x", "y", "z"]).write_csv("roll.csv")


@pytest.fixture
def facts(run):
    def run_command(*arguments):
        code, out, err = run(*arguments, "--json")
        assert code == 0, err
        return json.loads(out)

    return run_command


def test_same_numbers_as_in_python(facts):
    found = facts("isomap", "roll.csv", "--neighbors", "8", "-k", "3", "-o", "map.csv")
    model = Isomap(3, n_neighbors=8).fit(X)
    values = [axis["eigenvalue"] for axis in found["axes"]]
    np.testing.assert_allclose(values, model.eigenvalues_, rtol=1e-9)
    same_up_to_signs(pl.read_csv("map.csv").to_numpy(), model.embedding_, rtol=1e-9)
    assert found["measures"]["residual_variance"] == pytest.approx(model.residual_variance_[-1])
    assert found["measures"]["parts"] == 1
    assert found["measures"]["edges"] == len(model.edges_)


def test_landmarks_radius_and_distances(facts, run):
    found = facts("isomap", "roll.csv", "--landmarks", "60")
    assert 0 < found["measures"]["landmark_error"] < 0.5
    assert any("60 landmarks of 600 points" in note for note in found["notes"])
    assert facts("isomap", "roll.csv", "--landmarks", "auto")["measures"]["landmark_error"] is None
    near = facts("isomap", "roll.csv", "--radius", "5")
    assert near["measures"]["edges"] == len(Isomap(2, radius=5.0).fit(X).edges_)
    np.save("D.npy", pairwise(X))
    given = facts("isomap", "D.npy", "--metric", "precomputed")
    whole = facts("isomap", "roll.csv")
    for a, b in zip(given["axes"], whole["axes"], strict=True):
        assert a["eigenvalue"] == pytest.approx(b["eigenvalue"], rel=1e-6)


def test_parts_are_said_in_one_sentence(run, facts):
    two = np.concatenate([X, X[:50] + 1000])
    pl.DataFrame(two, schema=["x", "y", "z"]).write_csv("two.csv")
    code, out, err = run("isomap", "two.csv")
    assert code == 2 and not out
    assert "2 parts, of 600 and 50 points" in err and "Traceback" not in err
    assert "--disconnected" in err and "--neighbors" in err and "n_neighbors" not in err
    assert facts("isomap", "two.csv", "--disconnected", "join")["measures"]["parts"] == 2
    code, _, err = run("isomap", "roll.csv", "--landmarks", "many")
    assert code == 2 and "--landmarks" in err
    code, _, err = run("isomap", "roll.csv", "--neighbors", "600")
    assert code == 2 and "599" in err


def test_a_report_with_the_graph_and_the_curve(run):
    code, _, err = run("isomap", "roll.csv", "-k", "4", "--report", "r.html", "--save", "m.gramian")
    assert code == 0, err
    page = Path("r.html").read_text(encoding="utf-8")
    assert "Residual variance" in page and "Shepard" in page
    code, _, err = run("transform", "m.gramian", "roll.csv", "-o", "again.csv")
    assert code == 0, err
    again = pl.read_csv("again.csv").to_numpy()[:, :4]  # and how far outside the map they are
    assert np.allclose(again, Isomap(4, n_neighbors=10).fit(X).embedding_, atol=1e-4)

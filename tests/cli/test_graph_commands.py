"""``gramian lle`` and ``gramian laplacian`` as a user meets them."""

import json

import numpy as np
import polars as pl
import pytest

from gramian import LaplacianEigenmaps, LocallyLinearEmbedding


@pytest.fixture
def roll(folder):
    rng = np.random.default_rng(0)
    t, height = 1.5 * np.pi * (1 + 2 * rng.random(400)), 21 * rng.random(400)
    X = np.column_stack([t * np.cos(t), height, t * np.sin(t)])
    pl.DataFrame(X, schema=["x", "y", "z"]).write_csv("roll.csv")
    return X


def test_commands_are_the_library(run, roll):
    code, out, err = run("lle", "roll.csv", "--method", "ltsa", "--neighbors", 12, "--json")
    assert code == 0, err
    found, model = json.loads(out), LocallyLinearEmbedding(2, n_neighbors=12, method="ltsa")
    assert np.isclose(found["measures"]["reconstruction_error"], model.fit(roll).eigenvalues_.sum())
    code, out, err = run("laplacian", "roll.csv", "--time", 3, "-o", "z.csv", "--json")
    assert code == 0, err
    model = LaplacianEigenmaps(2, time=3).fit(roll)
    assert np.isclose(json.loads(out)["measures"]["gamma"], model.gamma_)
    Z = pl.read_csv("z.csv").select(pl.col(pl.Float64)).to_numpy()
    assert np.allclose(Z, model.embedding_)


def test_save_and_transform_give_the_same_points(run, roll):
    for command in ("lle", "laplacian"):
        assert run(command, "roll.csv", "--save", "m.gramian", "-o", "a.npy", "--force")[0] == 0
        assert run("transform", "m.gramian", "roll.csv", "-o", "b.npy", "--force")[0] == 0
        assert np.array_equal(np.load("a.npy"), np.load("b.npy")[:, :2])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["lle", "iris.csv"], "parts"),
        (["lle", "roll.csv", "--method", "hessan"], "did you mean 'hessian'"),
        (["lle", "roll.csv", "--method", "hessian", "--neighbors", "5"], "needs at least 6"),
        (["laplacian", "roll.csv", "--affinity", "rbf"], "--affinity rbf is not known"),
        (["laplacian", "roll.csv", "--disconnected", "jion"], "did you mean 'join'"),
        (["laplacian", "roll.csv", "--neighbors", "400"], "from 1 to n - 1 = 399"),
    ],
)
def test_bad_requests_in_one_sentence(run, roll, arguments, words):
    code, _, err = run(*arguments)
    assert code == 2 and words in err and "Traceback" not in err

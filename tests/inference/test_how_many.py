"""All rules together, and every bad input of the house against every public function."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import gramian
from gramian import inference, parallel_analysis
from gramian.errors import GramianWarning, InputError
from gramian.inference import (
    bootstrap,
    cross_validation,
    deflated_parallel_analysis,
    how_many,
    jackknife,
)
from gramian.inference.minka import minka_dimension

X = np.random.default_rng(0).standard_normal((30, 4))
CALLS = [
    parallel_analysis,
    deflated_parallel_analysis,
    how_many,
    cross_validation,
    bootstrap,
    jackknife,
]


def with_cell(value):
    data = X.copy()
    data[17, 2] = value
    return data


BAD = {
    "one NaN": (with_cell(np.nan), "1 missing value, the first at row 17, column 2"),
    "inf": (with_cell(np.inf), "infinity.*row 17, column 2"),
    "-inf": (with_cell(-np.inf), "infinity.*row 17, column 2"),
    "sparse NaN": (sp.csr_array(with_cell(np.nan)), "row 17, column 2"),
    "no rows": (np.empty((0, 3)), "no rows"),
    "no columns": (np.empty((5, 0)), "0 feature"),
    "one row": (X[:1], "at least 2 observations"),
    "1-D": (X[:, 0], "reshape"),
    "3-D": (X.reshape(5, 6, 4), "reshape"),
    "complex": (X * 1j, "Complex"),
    "strings": (np.array([["1", "a"], ["2", "b"]]), "'1' at row 0"),
    "dates": (np.array([["2020-01-01"] * 2] * 3, "M8[D]"), "datetime64"),
    "ragged": ([[1.0, 2.0], [3.0]], "unequal length"),
    "text column": (pd.DataFrame({"a": [1.0, 2, 3], "b": ["x", "y", "z"]}), "'b'"),
    "no file": ("nothing.csv", "no file"),
    "beyond float64": (np.array([[1.7e308], [-1.7e308], [0.0]]), "range of float64"),
}


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
@pytest.mark.parametrize("name", BAD)
def test_bad_data(call, name):
    data, sentence = BAD[name]
    with pytest.raises(InputError, match=sentence) as caught:
        call(data)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__)
def test_constant_column_cannot_be_scaled(call):
    frame = pd.DataFrame({"a": [1.0, 2, 3, 5], "b": [2.0, 1, 4, 3], "flat": [5.0] * 4})
    with pytest.raises(InputError, match="1 constant column .*'flat'.*drop it"):
        call(frame, scale="unit")
    with pytest.raises(InputError, match="None or 'unit'"):
        call(X, scale="std")


ODD = {
    "two rows": X[:2],
    "two columns": X[:, :2],
    "one column": X[:, :1],
    "constant column": np.column_stack([X, np.full(30, 1 / 3)]),
    "equal rows": np.repeat(X, 2, axis=0),
    "rank one": np.outer(X[:, 0], [1.0, 2.0, 3.0]),
    "wide": np.random.default_rng(1).standard_normal((6, 40)),
    "integers": (X * 10).astype(int),
    "booleans": X > 0,
    "bytes": (X * 20 + 100).astype(np.uint8),
    "float16": X.astype(np.float16),
    "large mean": X.astype(np.float32) + np.float32(1e6),
    "orthogonal": np.linalg.qr(X - X.mean(axis=0))[0],
    "read-only": np.broadcast_to(X, X.shape),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_data_are_answered_in_finite_numbers(name):
    found = how_many(ODD[name], n_permutations=19)
    n, p = ODD[name].shape
    assert len(found.eigenvalues) == min(n - 1, p)
    for array in (found.eigenvalues, found.analysis.null_mean, found.analysis.p_values):
        assert np.isfinite(array).all()
    for rule in found.rules:
        assert (rule.n_components is None) == bool(rule.note and "there may be" not in rule.note)
        assert rule.n_components is None or 0 <= rule.n_components <= min(n - 1, p)
    assert found.analysis.p_values_unbiased.min() > 0


def test_equal_eigenvalues_and_constant_data():
    assert how_many(ODD["orthogonal"]).n_components == 0
    with pytest.warns(GramianWarning, match="every column is constant"):
        found = how_many(np.full((9, 30), 0.1), n_permutations=19)
    assert {rule.n_components for rule in found.rules} <= {0, None}
    assert "Keep none" in found.recommendation


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_extreme_scales_do_not_change_answers(size):
    rng = np.random.default_rng(2)
    data = rng.standard_normal((60, 25)) + 2 * rng.standard_normal((60, 1))
    answers = {rule.name: rule.n_components for rule in how_many(data, n_permutations=39).rules}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GramianWarning)
        found = how_many(data * size, n_permutations=39)
    assert {rule.name: rule.n_components for rule in found.rules} == answers
    assert np.isfinite(found.eigenvalues).all()


def test_rules_stand_for_their_functions():
    rng = np.random.default_rng(3)
    data = rng.standard_normal((200, 30)) + rng.standard_normal((200, 2)) @ np.ones((2, 30))
    found = how_many(data, n_permutations=39, random_state=5, share=0.8)
    answers = {rule.name: rule.n_components for rule in found.rules}
    values = np.linalg.eigvalsh(np.cov(data.T))[::-1]
    assert np.allclose(found.eigenvalues, values)
    assert answers == {
        "parallel analysis": parallel_analysis(
            data, n_permutations=39, random_state=5
        ).n_components,
        "deflated parallel analysis": deflated_parallel_analysis(
            data, n_permutations=39, random_state=5
        ).n_components,
        "Tracy-Widom test": inference.tracy_widom(values).n_components,
        "Marchenko-Pastur edge": inference.marchenko_pastur(values, 200, 30),
        "Gavish-Donoho threshold": inference.gavish_donoho(values, 200, 30),
        "Minka's evidence": minka_dimension(values, 200),
        "cross-validation of cells": cross_validation(data, random_state=5).n_components,
        "Kaiser (above average)": inference.kaiser(values),
        "broken stick": inference.broken_stick(values),
        "80% of the variance": inference.share_of_variance(values, 0.8),
    }
    assert "Keep 1 component:" in found.recommendation
    assert str(found).splitlines()[1].split() == ["parallel", "analysis", "1", "beyond", "chance"]


def test_rules_that_agree_on_more_are_heard():
    # ten axes, the first so strong that permuting it hides the last ones from parallel analysis
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((60, 10)))[0]
    sizes = np.sqrt([4000.0, 2000, 1000, 40, 35, 30, 25, 20, 15, 12])
    data = (rng.standard_normal((400, 10)) * sizes) @ Q.T + rng.standard_normal((400, 60))
    found = how_many(data, n_permutations=39)
    assert found.n_components < 10
    assert "agree on 10" in found.recommendation and "up to 10 may be real" in found.recommendation


def test_public_names():
    assert gramian.parallel_analysis is inference.parallel_analysis
    for name in inference.__all__:
        assert getattr(inference, name) is not None
    with pytest.raises(AttributeError, match="no_such"):
        _ = inference.no_such

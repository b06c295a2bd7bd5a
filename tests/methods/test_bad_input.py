"""Bad input: one sentence that says what was found, where, and what to do."""

import os

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from gramian import PCA
from gramian.errors import GramianError, InputError, MemoryRefusedError
from gramian.memory import available, budget, in_words

X = np.random.default_rng(0).standard_normal((30, 4))


def with_cell(value, dtype=float, row=17, column=2, n=30):
    bad = np.random.default_rng(0).standard_normal((n, 4)).astype(dtype)
    bad[row, column] = value
    return bad


CASES = {
    "NaN": (with_cell(np.nan), "1 missing value, the first at row 17, column 2.*drop.*fill"),
    "NaN float32": (with_cell(np.nan, np.float32), "row 17, column 2"),
    "NaN in tall data": (with_cell(np.nan, n=5000, row=4321), "row 4321, column 2"),
    "NaN in the first row": (with_cell(np.nan, row=0), "row 0, column 2"),
    "NaN in Fortran order": (np.asfortranarray(with_cell(np.nan)), "row 17, column 2"),
    "infinity": (with_cell(np.inf), "infinity.*row 17, column 2"),
    "minus infinity": (with_cell(-np.inf), "inf.*row 17, column 2"),
    "sparse NaN": (sp.csr_array(with_cell(np.nan)), "row 17, column 2"),
    "no rows": (np.empty((0, 3)), "no rows"),
    "no columns": (np.empty((5, 0)), "0 feature"),
    "one row": (X[:1], "at least 2 observations"),
    "1-D": (X[:, 0], "X.reshape\\(-1, 1\\)"),
    "3-D": (X.reshape(5, 6, 4), "reshape"),
    "complex": (X * 1j, "Complex data not supported"),
    "complex sparse": (sp.csr_array(X * 1j), "Complex"),
    "strings": (np.array([["1", "a"], ["2", "b"]]), "'1' at row 0, column 0"),
    "objects": (np.array([[1, 2.0], [3, "x"]], object), "'x' at row 1, column 1"),
    "dates": (np.array([["2020-01-01"] * 2] * 3, "M8[D]"), "datetime64"),
    "ragged": ([[1.0, 2.0], [3.0]], "unequal length"),
    "text column": (pd.DataFrame({"a": [1.0, 2, 3], "b": ["x", "y", "z"]}), "'b'"),
    "beyond float64": (np.array([[1.7e308], [-1.7e308], [0.0]]), "range of float64"),
}


@pytest.mark.parametrize("name", CASES)
def test_bad_data(name):
    data, sentence = CASES[name]
    with pytest.raises(InputError, match=sentence) as caught:
        PCA(1).fit(data)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        *(
            ({"n_components": k}, "1 to 4")
            for k in (0, -1, 1.5, "two", True, float("nan"), 5, 1.0, 0.0)
        ),
        ({"scale": "std"}, "None or 'unit'"),
        ({"ddof": 30}, "less than n = 30"),
        ({"ddof": "one"}, "usually 1 or 0"),
        ({"solver": "magic"}, "'auto', 'dense', 'krylov'"),
        ({"memory": "lots"}, "'4GB'"),
        ({"memory": 0}, "'4GB'"),
        ({"memory": "-3GB"}, "'4GB'"),
        ({"memory": True}, "'4GB'"),
    ],
)
def test_bad_parameters(options, sentence):
    with pytest.raises(InputError, match=sentence):
        PCA(**options).fit(X)


def test_parameters_are_checked_at_fit_not_before():
    PCA(n_components="two", scale="std")


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        (np.r_[-1.0, np.ones(29)], "-1 at position 0"),
        (np.r_[np.ones(29), np.nan], "nan at position 29"),
        (np.ones(7), "30 numbers"),
        (np.zeros(30), "zero"),
        (["a"] * 30, "30 numbers"),
    ],
)
def test_bad_weights(weights, sentence):
    with pytest.raises(InputError, match=sentence):
        PCA(1).fit(X, sample_weight=weights)


def test_two_rows_allow_one_axis():
    assert PCA().fit(X[:2]).n_components_ == 1
    with pytest.raises(InputError, match="from 1 to 1"):
        PCA(2).fit(X[:2])


def test_constant_column_cannot_be_scaled():
    frame = pd.DataFrame({"a": [1.0, 2, 3], "flat": [5.0, 5, 5]})
    with pytest.raises(InputError, match="1 constant column .*'flat'.*drop it"):
        PCA(1, scale="unit").fit(frame)
    tall = np.column_stack([np.random.default_rng(0).standard_normal(5000), np.full(5000, 0.1)])
    with pytest.raises(InputError, match="constant.*column 1"):
        PCA(1, scale="unit").fit(tall)


def test_mle_needs_rows():
    with pytest.raises(InputError, match="at least as many rows"):
        PCA("mle").fit(X[:3])


def test_transform_refuses_and_leaves_the_model_alone():
    model = PCA(2).fit(X)
    before = model.mean_.copy(), model.components_.copy()
    for bad in (with_cell(np.nan), with_cell(np.inf)):
        for method in (model.transform, model.score_samples, model.placement_residual, model.cos2):
            with pytest.raises(InputError, match="row 17, column 2"):
                method(bad)
    assert np.array_equal(before[0], model.mean_) and np.array_equal(before[1], model.components_)
    with pytest.raises(InputError, match="3 columns, the model has 2 axes"):
        model.inverse_transform(np.ones((4, 3)))
    with pytest.raises(InputError, match="row 0, column 1"):
        model.inverse_transform([[0.0, np.nan]])


def test_covariance_input():
    S = np.cov(X.T)
    for bad, sentence in (
        (S[:3], "square"),
        (np.triu(S), "not symmetric"),
        (S - 5 * np.eye(4), "negative eigenvalue"),
        (np.where(np.eye(4) > 0, np.nan, S), "NaN"),
    ):
        with pytest.raises(InputError, match=sentence):
            PCA.from_covariance(bad)
    with pytest.raises(InputError, match="3 entries for 4"):
        PCA.from_covariance(S, mean=np.zeros(3))
    with pytest.raises(InputError, match="number of rows"):
        PCA.from_covariance(S, n_components="mle")


def test_singular_data_have_no_density():
    with pytest.raises(InputError, match="no density"):
        PCA(2).fit(np.column_stack([X[:, 0], 2 * X[:, 0], X[:, 1]])).score(X[:, :3])


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.csv", "a,b\n1,2\n3\n", "line 3"),
        ("a.csv", "a,b\n1,x\n3,y\n", "'b'"),
        ("a.csv", "", "empty"),
        ("a.csv", "a,b\n1,2\n3,\n", "missing value.*row 1, column 1"),
        ("a.xyz", "hello", "ending"),
        ("a.npy", "hello", "not a .npy file"),
        ("a.npz", "hello", "cannot read"),
    ],
)
def test_bad_files(tmp_path, name, content, sentence):
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(InputError, match=sentence):
        PCA(1).fit(path)


def test_missing_folder_unreadable(tmp_path):
    with pytest.raises(InputError, match="no file .*nothing.csv"):
        PCA().fit(tmp_path / "nothing.csv")
    with pytest.raises(InputError, match="is a folder"):
        PCA().fit(tmp_path)
    locked = tmp_path / "locked.npy"
    np.save(locked, X)
    locked.chmod(0)
    if os.access(locked, os.R_OK):
        pytest.skip("running as a user who may read everything")
    with pytest.raises(InputError, match="cannot read"):
        PCA().fit(locked)


def test_npy_traps(tmp_path):
    def saved(array, **options):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.npy"
        np.save(path, array, **options)
        return path

    whole = saved(X).read_bytes()
    (tmp_path / "short.npy").write_bytes(whole[:-100])
    (tmp_path / "claims.npy").write_bytes(whole.replace(b"(30, 4)", b"(99, 4)"))
    for path, sentence in (
        (tmp_path / "short.npy", "cut short.*needs 1088 bytes, the file has 988"),
        (tmp_path / "claims.npy", "cut short"),
        (saved(np.array([[1, "a"]], object), allow_pickle=True), "pickled.*never loaded"),
        (saved(np.array([["a", "b"]])), "not numbers"),
        (saved(np.zeros(3, [("a", float)])), "not numbers"),
        (saved(X * 1j), "Complex"),
        (saved(X[0]), "2 dimensions"),
        (saved(X[:0]), "no rows"),
    ):
        with pytest.raises(InputError, match=sentence):
            PCA(1).fit(path)
    np.savez(tmp_path / "o.npz", a=np.array([[1, "a"]], object), allow_pickle=True)
    with pytest.raises(InputError, match="pickled"):
        PCA().fit(tmp_path / "o.npz")
    np.savez(tmp_path / "two.npz", a=X, b=X)
    with pytest.raises(InputError, match="exactly one"):
        PCA().fit(tmp_path / "two.npz")


def test_file_that_changes_between_passes(tmp_path):
    from gramian.data.door import open_rows

    path = tmp_path / "x.npy"
    np.save(path, X)
    rows = open_rows(path).rows
    np.save(path, X + 1)
    os.utime(path, ns=(1, 1))
    with pytest.raises(InputError, match="changed while it was read"):
        rows.moments(np.ones(1))


def test_refused_for_memory():
    wide = np.broadcast_to(1.0, (3000, 3000))
    with pytest.raises(MemoryRefusedError, match="needs .*B beyond the data, the budget is 50 MB"):
        PCA(solver="dense", memory="50MB").fit(wide + np.random.default_rng(0).random(3000))
    assert issubclass(MemoryRefusedError, GramianError) and MemoryRefusedError.exit_code == 4


def test_sizes():
    assert budget("4GB") == 4 * 10**9 and budget("2GiB") == 2 * 2**30 and budget(5e6) == 5_000_000
    assert budget("1.5 MB") == 1_500_000 and 0 < budget(None) <= available()
    assert (
        in_words(1_234_567_890) == "1.23 GB"
        and in_words(12) == "12 B"
        and in_words(2e13) == "20 TB"
    )

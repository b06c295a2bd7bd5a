"""Columns of centered rows, from every kind of storage."""

import numpy as np
import pytest
import scipy.sparse as sp

from gramian.data.centering import Centering
from gramian.data.door import open_rows
from gramian.data.variables import read_variables


@pytest.mark.parametrize("kind", ["C", "F", "strided", "npy", "npy F", "sparse", "float32"])
@pytest.mark.parametrize(("a", "b"), [(0, 700), (3, 9), (10, 640)])
def test_columns_are_the_transposed_rows(tmp_path, kind, a, b):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 700)) + 3
    data = X
    if kind in ("F", "npy F"):
        data = np.asfortranarray(X)
    if kind == "strided":
        data = np.repeat(X, 2, axis=1)[:, ::2]
    if kind.startswith("npy"):
        np.save(tmp_path / "x.npy", data)
        data = tmp_path / "x.npy"
    if kind == "sparse":
        data = sp.csr_array(X)
    if kind == "float32":
        data = X.astype(np.float32)
    rows = open_rows(data).rows
    mean, factor = X.mean(axis=0), rng.random(700) + 0.5
    Y = rows.then(Centering.of(mean, np.zeros(700), factor, np.ones(1), rows.dtype))
    out = np.empty((b - a, 50))
    read_variables(Y, a, b, out)
    wanted = ((X - mean) * factor).T[a:b]
    assert np.allclose(out, wanted, rtol=0, atol=1e-6 if kind == "float32" else 1e-13)


def test_threads_may_read_one_file_at_once(tmp_path):
    from gramian.loops.threads import limit_threads, run

    X = np.random.default_rng(0).standard_normal((40, 3000))
    np.save(tmp_path / "x.npy", X)
    Y = open_rows(tmp_path / "x.npy").rows
    out = np.zeros((60, 600, 40))
    with limit_threads(4):
        run(lambda i: read_variables(Y, 600 * (i % 5), 600 * (i % 5 + 1), out[i]), 60)
    for i in range(60):
        assert np.array_equal(out[i], X.T[600 * (i % 5) : 600 * (i % 5 + 1)])

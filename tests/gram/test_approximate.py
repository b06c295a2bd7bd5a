"""Neighbors by nearest-neighbor descent: most are found, with exact distances; no package."""

import sys

import numpy as np
import pytest

from gramian import Isomap
from gramian.errors import InputError
from gramian.gram.neighbors import Neighbors
from gramian.quality.procrustes import procrustes


@pytest.mark.slow  # pynndescent compiles for some 20 seconds
def test_most_neighbors_are_found_and_their_distances_are_exact():
    pytest.importorskip("pynndescent")
    rng = np.random.default_rng(0)
    T = rng.random((3000, 3))
    X = np.hstack([np.sin(T @ rng.standard_normal((3, 30))), T])
    for metric in ("euclidean", "cityblock"):  # called manhattan there
        found = Neighbors.of(X, 10, metric=metric, approximate=True)
        exact = Neighbors.of(X, 10, metric=metric)
        indices, distances = found.table
        right = [len(set(a) & set(b)) for a, b in zip(indices, exact.table[0], strict=True)]
        assert np.mean(right) > 9.5 and not (indices == np.arange(3000)[:, None]).any()
        order = 2 if metric == "euclidean" else 1
        apart = np.linalg.norm(X[indices] - X[:, None], ord=order, axis=2)
        assert np.allclose(distances, apart, rtol=1e-12) and (np.diff(distances) >= 0).all()
    with pytest.raises(InputError, match="metric='cosine': use one of"):  # angles are not its own
        Neighbors.of(X, 10, metric="cosine", approximate=True)
    rough = Isomap(2, n_neighbors=10, approximate=True).fit(X)
    same = Isomap(2, n_neighbors=10, approximate=True).fit(X)
    assert np.array_equal(rough.embedding_, same.embedding_)
    whole = Isomap(2, n_neighbors=10).fit(X)
    assert procrustes(whole.embedding_, rough.embedding_).rms < 0.02


def test_without_the_package_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynndescent", None)
    X = np.random.default_rng(0).random((30, 3))
    with pytest.raises(InputError, match=r"pip install gramian\[approx\]"):
        Isomap(2, n_neighbors=5, approximate=True).fit(X)

"""Parallel analysis of distance and kernel spectra: the same test wherever the geometry is."""

import numpy as np

from gramian import ClassicalMDS, KernelPCA, parallel_analysis

rng = np.random.default_rng(0)
X = rng.standard_normal((80, 6))
X[:, 1], X[:, 2] = X[:, 0] + 0.3 * X[:, 1], X[:, 0] - 0.3 * X[:, 2]
HOW = {"n_permutations": 39, "random_state": 0}


def test_euclidean_distances_and_the_linear_kernel_give_the_p_values_of_pca():
    direct = parallel_analysis(X, **HOW)
    for method in (ClassicalMDS(4), KernelPCA(4, kernel="linear")):
        found = parallel_analysis(X, method=method, **HOW)
        assert np.array_equal(found.p_values_unbiased[:4], direct.p_values_unbiased[:4])
        assert found.n_components == direct.n_components == 1


def test_other_geometries_find_the_one_relation_there_is():
    for method in (ClassicalMDS(4, metric="cityblock"), KernelPCA(4, kernel="rbf", gamma=0.05)):
        assert parallel_analysis(X, method=method, **HOW).n_components == 1

"""Cross-validation of cells and deflated parallel analysis."""

import numpy as np
import pytest

from gramian import parallel_analysis
from gramian.errors import InputError, MemoryRefusedError
from gramian.inference import cross_validation, deflated_parallel_analysis
from gramian.inference.holdout import cell_errors


def test_a_cell_left_out_is_predicted_by_least_squares_on_the_others():
    rng = np.random.default_rng(0)
    V = np.linalg.qr(rng.standard_normal((7, 4)))[0]
    Y = rng.standard_normal((5, 7))
    wanted = []
    for k in range(5):
        total = 0.0
        for y in Y:
            for j in range(7):
                others = np.delete(np.arange(7), j)
                z = np.linalg.lstsq(V[others, :k], y[others], rcond=None)[0]
                total += (y[j] - V[j, :k] @ z) ** 2
        wanted.append(total)
    assert np.allclose(cell_errors(Y, V), wanted, rtol=1e-10)


@pytest.mark.parametrize(("n", "p", "k"), [(100, 20, 3), (40, 90, 2), (200, 12, 0)])
def test_finds_the_rank_of_the_signal(n, p, k):
    rng = np.random.default_rng(1)
    X = 2 * rng.standard_normal((n, k)) @ rng.standard_normal((k, p)) + rng.standard_normal((n, p))
    found = cross_validation(X)
    assert found.n_components == k
    assert np.argmin(found.errors) == k and np.isfinite(found.errors).all()
    # without axes a cell is predicted by its mean: the error is the total variance
    assert np.isclose(found.errors[0], X.var(axis=0, ddof=1).mean(), rtol=0.05)
    assert cross_validation(X, scale="unit").n_components == k
    again = cross_validation(X)
    assert np.array_equal(again.errors, found.errors)


def test_columns_that_nothing_predicts():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 5))
    X = np.column_stack([X, np.zeros((60, 2))])  # constant columns: rank 5 of 7
    assert cross_validation(X).n_components == 0
    assert cross_validation(X[:, :1]).n_components == 0
    assert cross_validation(X[:3, :2], n_folds=3).errors.shape == (2,)


def test_bad_parameters():
    X = np.random.default_rng(0).standard_normal((4000, 50))
    for folds in (1, 2.5, True, "ten"):
        with pytest.raises(InputError, match="n_folds"):
            cross_validation(X[:9, :3], n_folds=folds)
    with pytest.raises(MemoryRefusedError, match="cross-validation needs"):
        cross_validation(X, memory="7MB")


def shadowed(seed=0, n=300, p=60):
    """One axis so strong that permuting it hides a second one."""
    rng = np.random.default_rng(seed)
    strong, weak = np.ones((1, p)), np.tile([1.0, -1.0], (1, p // 2))
    return (
        4 * rng.standard_normal((n, 1)) @ strong
        + 0.6 * rng.standard_normal((n, 1)) @ weak
        + rng.standard_normal((n, p))
    )


def test_deflation_brings_a_shadowed_axis_to_light():
    X = shadowed()
    assert parallel_analysis(X).n_components == 1
    found = deflated_parallel_analysis(X)
    assert found.n_components == 2
    assert len(found.p_values) == 3 and found.p_values[2] > 0.05
    assert np.all(found.p_values[:2] <= 0.05)
    assert "kept" in str(found)


def test_deflated_axes_are_the_spectrum_of_what_is_left():
    X = shadowed(1, 100, 20)
    Y = X - X.mean(axis=0)
    found = deflated_parallel_analysis(X, n_permutations=39)
    U, s, Vt = np.linalg.svd(Y, full_matrices=False)
    assert np.allclose(found.eigenvalues, s[: len(found.eigenvalues)] ** 2 / 99)
    # the null of axis 2 is that of data without axis 1
    rest = Y - s[0] * np.outer(U[:, 0], Vt[0])
    alone = parallel_analysis(rest, n_permutations=39, random_state=1, early_stop=True)
    assert np.isclose(found.null_mean[1], alone.null_mean[0], rtol=1e-5)
    assert np.isclose(found.p_values[1], alone.p_values_unbiased[0])


def test_deflation_tests_no_more_than_asked_and_ends_at_the_rank():
    X = shadowed()
    assert deflated_parallel_analysis(X, max_components=1).n_components == 1
    rng = np.random.default_rng(0)
    low = rng.standard_normal((40, 2)) @ rng.standard_normal((2, 30))
    assert deflated_parallel_analysis(low, n_permutations=39).n_components == 2

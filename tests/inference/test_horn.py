"""Parallel analysis: equal to its plain twin, on every kind of data, thread and block."""

import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.decomposition import KernelPCA
from sklearn.manifold import LocallyLinearEmbedding
from threadpoolctl import threadpool_info, threadpool_limits

from gramian import PCA, parallel_analysis
from gramian.errors import GramianWarning, InputError, MemoryRefusedError
from gramian.loops.permute import flip_signs, shuffle
from gramian.loops.threads import _blas_controller, limit_threads, one_blas_thread


def signal(n=120, p=15, k=3, seed=0, size=0.8):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, k)) @ (size * rng.standard_normal((k, p)))
    return X + rng.standard_normal((n, p)) + 5


def twin(X, R, seed, unit=False, kind="permutation"):
    """Null eigenvalues by numpy, all in float64, from the same draws."""
    n, p = X.shape
    Y = X - X.mean(axis=0)
    if unit:
        Y = Y / Y.std(axis=0, ddof=1)
    Yt, P, found = np.ascontiguousarray(Y.T), np.empty((p, n)), []
    for r in range(R):
        key = np.random.SeedSequence(seed, spawn_key=(r,)).generate_state(2, np.uint64)
        (shuffle if kind == "permutation" else flip_signs)(Yt, key, 0, P)
        found.append(np.linalg.eigvalsh(P @ P.T)[::-1] / (n - 1))
    return np.linalg.eigvalsh(Yt @ Yt.T)[::-1] / (n - 1), np.array(found)


@pytest.mark.parametrize("kind", ["permutation", "signflip"])
@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize(("n", "p"), [(120, 15), (30, 60), (25, 25)])
def test_equals_the_plain_loop(n, p, unit, kind):
    X = signal(n, p) * np.linspace(0.5, 2, p)
    observed, null = twin(X, 39, 4, unit, kind)
    found = parallel_analysis(
        X, n_permutations=39, scale="unit" if unit else None, null=kind, random_state=4
    )
    m = len(found.p_values)
    most = min(n - 1, p)
    assert np.allclose(found.eigenvalues, observed[:most], rtol=1e-10, atol=1e-12 * observed[0])
    assert np.allclose(found.null_eigenvalues, null[:, :m], rtol=3e-5)
    above = np.sum(null[:, :m] > observed[:m], axis=0)
    assert np.array_equal(found.p_values, above / 39)
    assert np.array_equal(found.p_values_unbiased, (1 + above) / 40)
    assert np.allclose(found.null_mean, null[:, :m].mean(axis=0), rtol=3e-5)
    assert np.allclose(found.null_quantile, np.quantile(null[:, :m], 0.95, axis=0), rtol=3e-5)
    assert np.allclose(found.quantiles([0.5])[0], np.median(null[:, :m], axis=0), rtol=3e-5)


def test_columns_of_very_different_size_lose_nothing_to_float32():
    X = signal(80, 8) * 10.0 ** np.linspace(-2, 2, 8)
    observed, null = twin(X, 39, 0)
    found = parallel_analysis(X, n_permutations=39, stop="each")
    assert np.allclose(found.null_eigenvalues[:, :6], null[:, :6], rtol=1e-7)
    count = np.sum(null > observed, axis=0)[:6]
    tied = np.abs(null - observed).min(axis=0)[:6] < 1e-9 * observed[0]
    assert np.array_equal(found.p_values[:6][~tied], (count / 39)[~tied])


def test_sequential_stop_deepens_as_far_as_it_must():
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((60, 12)))[0]  # twelve axes of equal strength
    X = 4 * rng.standard_normal((400, 12)) @ Q.T + rng.standard_normal((400, 60))
    found = parallel_analysis(X, n_permutations=39)
    assert found.n_components == 12
    assert len(found.p_values) == 16  # 8 were not enough, 16 were
    assert np.array_equal(found.kept, np.arange(16) < 12)


def test_all_axes_can_be_kept_when_each_is_judged_alone():
    X = signal()
    each = parallel_analysis(X, n_permutations=39, stop="each")
    chain = parallel_analysis(X, n_permutations=39)
    assert len(each.p_values) == 15
    assert np.array_equal(each.p_values[:8], chain.p_values)
    assert each.n_components == int(np.sum(each.p_values_unbiased <= 0.05))


def test_rounding_is_never_kept():
    # three columns vary, the others are constant: their eigenvalues are rounding on both sides
    X = np.full((60, 12), 1 / 3)
    X[:, :3] = signal(60, 3, 1)
    for stop in ("sequential", "each"):
        found = parallel_analysis(X, n_permutations=39, stop=stop)
        assert found.n_components <= 3
        assert not found.kept[3:].any()
    copies = np.repeat(signal(50, 3, 1), 4, axis=1)  # rank 3 in 12 columns
    found = parallel_analysis(copies, n_permutations=39, stop="each")
    assert not found.kept[3:].any() and found.kept[0]


def test_early_stop_never_changes_the_decision():
    rng = np.random.default_rng(3)
    for i in range(30):
        X = rng.standard_normal((40, 6)) + rng.standard_normal((40, 1)) * (0.0, 0.35, 1.0)[i % 3]
        whole = parallel_analysis(X, random_state=i)
        early = parallel_analysis(X, random_state=i, early_stop=True)
        assert early.n_components == whole.n_components
        assert early.n_permutations <= whole.n_permutations == 199
    noise = rng.standard_normal((40, 6))
    assert parallel_analysis(noise, early_stop=True).n_permutations < 199


def test_early_stop_waits_for_what_could_still_change():
    from gramian.inference.horn import Test

    how = Test(199, 0.05)  # an axis may be reached 9 times
    assert how._decided(np.array([10]), 150)
    assert not how._decided(np.array([9]), 1)
    assert how._decided(np.array([9]), 0)
    assert how._decided(np.array([0, 10]), 9)
    assert not how._decided(np.array([1, 10]), 9)
    assert not how._decided(np.array([0, 10]), 100)


@pytest.mark.parametrize("null", ["permutation", "signflip", "normal"])
def test_same_on_any_number_of_threads(null):
    X = signal(200, 40)
    found = []
    for threads in (1, 2, 5):
        with limit_threads(threads):
            found.append(parallel_analysis(X, n_permutations=39, null=null, random_state=9))
    for other in found[1:]:
        assert np.array_equal(other.null_eigenvalues, found[0].null_eigenvalues)
        assert np.array_equal(other.p_values, found[0].p_values)
    other = parallel_analysis(X, n_permutations=39, null=null, random_state=10)
    assert not np.array_equal(other.null_eigenvalues, found[0].null_eigenvalues)


def test_several_at_once_leave_blas_as_it_was():
    with one_blas_thread():
        ours = {pool["filepath"] for pool in _blas_controller().info()}  # NumPy's and SciPy's

    def threads():
        found = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
        return [pool["num_threads"] for pool in found if pool["filepath"] in ours]

    X = signal(200, 20)
    wanted = parallel_analysis(X, n_permutations=39)
    with threadpool_limits(2, user_api="blas"):
        before = threads()
        with ThreadPoolExecutor(4) as pool:
            found = list(
                pool.map(
                    lambda R: parallel_analysis(X, n_permutations=R), [39, 199, 19, 99, 39, 299]
                )
            )
        assert threads() == before
    assert np.array_equal(found[0].p_values, wanted.p_values)
    assert np.array_equal(found[4].null_eigenvalues, wanted.null_eigenvalues)
    with pytest.raises(InputError), one_blas_thread():
        raise InputError("inside")
    with threadpool_limits(2, user_api="blas"):
        with one_blas_thread():
            with one_blas_thread():
                assert set(threads()) == {1}
            assert set(threads()) == {1}
        assert threads() == before


def test_every_kind_of_data_gives_the_same_answer(tmp_path):
    X = np.round(signal(90, 12))
    X[X < 6] = 0
    wanted = parallel_analysis(X, n_permutations=39)
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "f.npy", np.asfortranarray(X))
    kinds = [
        X.astype(int),
        X.astype(np.float32),
        np.asfortranarray(X),
        X[:, ::-1][:, ::-1],
        X.tolist(),
        pd.DataFrame(X),
        sp.csr_array(X),
        sp.csc_matrix(X),
        tmp_path / "x.npy",
        str(tmp_path / "f.npy"),
        np.load(tmp_path / "x.npy", mmap_mode="r"),
    ]
    for data in kinds:
        found = parallel_analysis(data, n_permutations=39)
        assert np.array_equal(found.p_values, wanted.p_values), type(data)
        assert np.allclose(found.eigenvalues, wanted.eigenvalues, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("shape", [(2000, 30), (30, 2000)])
def test_blocks_of_columns_change_nothing(shape, tmp_path):
    X = signal(*shape)
    np.save(tmp_path / "x.npy", X)
    wanted = parallel_analysis(X, n_permutations=19)
    with limit_threads(2):
        found = parallel_analysis(tmp_path / "x.npy", n_permutations=19, memory="1MB")
    assert np.array_equal(found.p_values, wanted.p_values)
    assert np.allclose(found.null_mean, wanted.null_mean, rtol=1e-5)


def test_input_is_left_alone():
    X = signal()
    before = X.copy()
    parallel_analysis(X, n_permutations=19)
    assert np.array_equal(X, before)


@pytest.mark.parametrize("power", [-600, -100, 100, 600])
def test_powers_of_two_change_nothing(power):
    X = signal(50, 6)
    wanted = parallel_analysis(X, n_permutations=39)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GramianWarning)
        found = parallel_analysis(X * 2.0**power, n_permutations=39)
    assert np.array_equal(found.p_values, wanted.p_values)
    assert found.n_components == wanted.n_components
    assert np.isfinite(found.eigenvalues).all() and np.isfinite(found.null_eigenvalues).all()
    if abs(power) == 600:
        with pytest.warns(GramianWarning, match="leave the range"):
            parallel_analysis(X * 2.0**power, n_permutations=39)
    else:
        assert np.allclose(found.eigenvalues, wanted.eigenvalues * 4.0**power, rtol=1e-12)


def test_shift_changes_nothing():
    X = signal(60, 8)
    wanted = parallel_analysis(X, n_permutations=39)
    found = parallel_analysis(X + 2.0**30, n_permutations=39)
    assert np.allclose(found.p_values, wanted.p_values)


def test_what_has_no_structure_keeps_nothing():
    rng = np.random.default_rng(0)
    one = parallel_analysis(rng.standard_normal((20, 1)), n_permutations=39)
    assert one.n_components == 0 and one.p_values_unbiased[0] == 1  # permuting leaves the variance
    two = parallel_analysis(rng.standard_normal((2, 9)), n_permutations=39)
    assert two.n_components == 0 and len(two.eigenvalues) == 1
    with pytest.warns(GramianWarning, match="constant"):
        flat = parallel_analysis(np.full((9, 4), 0.1), n_permutations=39)
    assert flat.n_components == 0 and not flat.eigenvalues.any()
    assert flat.p_values_unbiased[0] == 1


@pytest.mark.parametrize("method", [PCA(4), PCA(4, solver="dense")])
def test_reembedding_pca_is_parallel_analysis(method):
    X = signal(60, 8)
    wanted = parallel_analysis(X, n_permutations=39, random_state=2)
    found = parallel_analysis(X, n_permutations=39, random_state=2, method=method)
    assert np.array_equal(found.p_values, wanted.p_values[:4])
    assert np.allclose(found.null_eigenvalues, wanted.null_eigenvalues[:, :4], rtol=1e-5)
    for null in ("signflip", "normal"):
        found = parallel_analysis(X, n_permutations=39, method=method, null=null)
        assert found.n_components == wanted.n_components


def test_kernel_spectra():
    X = signal(50, 6, k=1, size=1.5)
    found = parallel_analysis(
        X, method=KernelPCA(5, kernel="rbf", gamma=0.02), n_permutations=39, random_state=1
    )
    P, n = np.empty((6, 50)), 50
    key = np.random.SeedSequence(1, spawn_key=(0,)).generate_state(2, np.uint64)
    shuffle(np.ascontiguousarray(X.T), key, 0, P)
    D = np.sum((P.T[:, None] - P.T) ** 2, axis=2)
    H = np.eye(n) - 1 / n
    K = H @ np.exp(-0.02 * D) @ H
    assert np.allclose(found.null_eigenvalues[0], np.linalg.eigvalsh(K)[::-1][:5], rtol=1e-8)
    assert found.n_components >= 1


def test_methods_that_have_no_such_spectrum_are_refused():
    X = signal(40, 5)
    for method, sentence in (
        (object(), "unfitted estimator"),
        (KernelPCA(2, kernel="precomputed"), "precomputed"),
        (LocallyLinearEmbedding(), "no explained_variance_"),
    ):
        with pytest.raises(InputError, match=sentence):
            parallel_analysis(X, method=method, n_permutations=19)
    with pytest.raises(InputError, match="on the method itself"):
        parallel_analysis(X, method=PCA(2), scale="unit", n_permutations=19)


def test_bad_parameters():
    X = signal(20, 3)
    for options, sentence in (
        ({"n_permutations": 0}, "whole number"),
        ({"n_permutations": 1.5}, "whole number"),
        ({"n_permutations": True}, "whole number"),
        ({"n_permutations": 10}, "at least 19"),
        ({"alpha": 0}, "between 0 and 1"),
        ({"alpha": "small"}, "between 0 and 1"),
        ({"alpha": float("nan")}, "between 0 and 1"),
        ({"scale": "std"}, "None or 'unit'"),
        ({"null": "shuffle"}, "'permutation', 'signflip'"),
        ({"stop": "never"}, "'sequential' or 'each'"),
        ({"random_state": "x"}, "random_state"),
        ({"random_state": -1}, "random_state"),
        ({"memory": "lots"}, "'4GB'"),
    ):
        with pytest.raises(InputError, match=sentence):
            parallel_analysis(X, **options)


def test_refused_for_memory():
    with pytest.raises(MemoryRefusedError, match="products of 600 x 600 values, and"):
        parallel_analysis(np.random.default_rng(0).random((600, 600)), memory="2MB")


def test_progress_is_told_and_ends():
    told = []
    parallel_analysis(signal(30, 4), n_permutations=39, progress=lambda *done: told.append(done))
    assert sorted(told) == [(i, 39) for i in range(1, 40)]


def test_reads_well():
    found = parallel_analysis(signal(), n_permutations=39)
    text = str(found)
    assert "The first 3 axes carry more variance" in found.reading
    assert text.count("kept") == 3 and "Axis 4 does not" in text
    nothing = parallel_analysis(np.random.default_rng(0).standard_normal((50, 5)))
    assert "no sign of joint structure" in nothing.reading
    assert "n_components=3" in repr(found) and len(repr(found)) < 300


def test_pca_keeps_what_horn_keeps(tmp_path):
    X = signal()
    assert PCA("horn").fit(X).n_components_ == 3
    assert PCA("horn", scale="unit").fit(X).n_components_ == 3
    assert PCA("horn").fit(X.astype(np.float32)).n_components_ == 3
    assert PCA("horn").fit(sp.csr_array(X)).n_components_ == 3
    np.save(tmp_path / "x.npy", X)
    assert PCA("horn").fit(tmp_path / "x.npy").n_components_ == 3
    noise = np.random.default_rng(0).standard_normal((50, 5))
    with pytest.warns(GramianWarning, match="no axis beyond chance"):
        assert PCA("horn").fit(noise).n_components_ == 1
    with pytest.warns(GramianWarning) as said:
        assert PCA("horn").fit(np.full((9, 4), 0.1)).n_components_ == 1
    assert len(said) == 1 and "all observations are equal" in str(said[0].message)
    with pytest.raises(InputError, match="the data themselves and no sample_weight"):
        PCA("horn").fit(X, sample_weight=np.arange(120.0))
    with pytest.raises(InputError, match="the data themselves"):
        PCA.from_covariance(np.cov(X.T), n_samples=120, n_components="horn")

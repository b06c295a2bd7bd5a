"""The thin products against NumPy, on odd shapes, both precisions, any number of threads."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramian.data.array_rows import ArrayRows
from gramian.data.centering import Centering
from gramian.loops import products
from gramian.loops.threads import (
    limit_threads,
    one_blas_thread,
    ordered_sum,
    run,
    thread_count,
)
from gramian.loops.tile import at, compiled, dot
from gramian.testing import tolerance

SHAPES = [
    (1, 1),
    (2, 3),
    (7, 5),
    (8, 8),
    (9, 17),
    (64, 33),
    (300, 1),
    (3, 700),
    (1031, 130),
    (130, 1031),
]


def centered(X, seed=0):
    """A map Y over X with a non-trivial mean, factor and weight, and its NumPy twin."""
    rng = np.random.default_rng(seed)
    n, p = X.shape
    mean, factor, weight = X.mean(axis=0), rng.uniform(0.5, 2, p), rng.uniform(0.5, 2, n)
    rows = ArrayRows(X)
    Y = rows.then(Centering.of(mean.astype(float), np.zeros(p), factor, weight, rows.dtype))
    return Y, (X.astype(np.float64) - mean.astype(np.float64)) * factor * weight[:, None]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("m", [1, 8, 16, 19, 40])
def test_products_equal_numpy(shape, dtype, order, m):
    rng = np.random.default_rng(1)
    X = np.asarray(rng.standard_normal(shape) + 3, dtype=dtype, order=order)
    Y, twin = centered(X)
    n, p = shape
    V, U = rng.standard_normal((p, m)).astype(dtype), rng.standard_normal((n, m)).astype(dtype)
    for found, wanted in (
        (Y @ V, twin @ V),
        (Y.T @ U, twin.T @ U),
        (Y.gram(V), twin.T @ (twin @ V)),
        (Y.cross(), twin.T @ twin),
        (Y.outer(), twin @ twin.T),
    ):
        size = np.abs(wanted).max(initial=0) + np.linalg.norm(twin)
        assert np.abs(found - wanted).max(initial=0) <= tolerance(dtype, max(shape)) * size


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("m", [1, 4, 9])
def test_adjoint_where_lines_are_long(dtype, m):
    rng = np.random.default_rng(2)
    X = (rng.standard_normal((131, 32_801)) + 3).astype(dtype)
    Y, twin = centered(X)
    U = rng.standard_normal((131, m)).astype(dtype)
    found = []
    for threads in (1, 8):
        with limit_threads(threads):
            found.append(Y.T @ U)
    assert found[0].shape == (32_801, m) and np.array_equal(*found)
    wanted = twin.T @ U
    assert np.abs(found[0] - wanted).max() <= tolerance(dtype, 131, 10) * np.abs(wanted).max()


@settings(max_examples=60, deadline=None)
@given(n=st.integers(1, 70), p=st.integers(1, 70), m=st.integers(1, 40), double=st.booleans())
def test_plain_product_any_shape(n, p, m, double):
    dtype = np.float64 if double else np.float32
    rng = np.random.default_rng(n * 71 + p)
    M = rng.standard_normal((n, p)).astype(dtype)
    wide = products.padded(m, np.dtype(dtype))
    V = np.zeros((p, wide), dtype)
    V[:, :m] = rng.standard_normal((p, m))
    out = np.zeros((n, wide), dtype)
    products.times(M, 0, n, V, out)
    assert np.allclose(out[:, :m], M @ V[:, :m], rtol=0, atol=tolerance(dtype, p) * 5)
    assert not out[:, m:].any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_same_bits_on_any_number_of_threads(dtype, order):
    rng = np.random.default_rng(2)
    X = np.asarray(rng.standard_normal((5000, 100)) + 1, dtype=dtype, order=order)
    V, U = (
        rng.standard_normal((100, 12)).astype(dtype),
        rng.standard_normal((5000, 3)).astype(dtype),
    )
    answers = []
    for threads in (1, 2, 8):
        with limit_threads(threads):
            Y, _ = centered(X)
            m = Y.moments(np.ones(5000))
            answers.append((Y @ V, Y.T @ U, Y.gram(V), Y.cross(), m.high, m.low, m.variance))
    for other in answers[1:]:
        for a, b in zip(answers[0], other, strict=True):
            assert np.array_equal(a, b)


def test_float32_sums_are_kept_in_float64():
    # a million products of size 1 with signs: single precision alone would lose the fourth digit
    rng = np.random.default_rng(3)
    X = (rng.standard_normal((400_000, 3)) + 0).astype(np.float32)
    C = ArrayRows(X).cross()
    exact = X.astype(np.float64).T @ X.astype(np.float64)
    assert np.abs(C - exact).max() <= 3e-8 * exact.max()


def test_run_covers_every_piece_once_and_raises():
    seen = []
    with limit_threads(4):
        run(seen.append, 100)
        assert sorted(seen) == list(range(100))
        with pytest.raises(KeyError):
            run(lambda i: {}[i], 10)
    assert thread_count() >= 1


def test_nested_runs_do_not_deadlock():
    out = np.zeros((6, 6))

    def inner(i, j):
        out[i, j] = i * j

    with limit_threads(3):
        run(lambda i: run(lambda j: inner(i, j), 6), 6)
    assert np.array_equal(out, np.outer(range(6), range(6)))


def test_ordered_sum_has_the_same_bits_on_any_number_of_threads():
    parts = np.random.default_rng(4).standard_normal((50, 7)) * 10.0 ** np.arange(50)[:, None]

    def add(i, total):
        total += parts[i]

    wanted = parts[0].copy()
    for part in parts[1:]:
        wanted += part
    made = []

    def zeros():
        made.append(1)
        return np.zeros(7)

    for threads in (1, 2, 8):
        with limit_threads(threads):
            assert np.array_equal(ordered_sum(add, 50, zeros), wanted)
    assert len(made) < 3 * 50  # totals are used again


def blas_threads():
    from threadpoolctl import threadpool_info

    return [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]


def test_one_blas_thread_comes_and_goes_with_the_outermost():
    before = blas_threads()
    with one_blas_thread():
        with one_blas_thread():
            pass
        assert set(blas_threads()) == {1}
    assert blas_threads() == before
    run(lambda i: _enter_and_leave(), 64)
    assert blas_threads() == before


def _enter_and_leave():
    with one_blas_thread():
        pass


@compiled
def dot_of(a, b, out):
    out[0] = dot(at(a, 0), at(b, 0), len(a) * a.itemsize // 64)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("vectors", [0, 1, 2, 7, 33])
def test_dot_equals_numpy(dtype, vectors):
    rng = np.random.default_rng(vectors)
    a, b = rng.standard_normal((2, vectors * 64 // np.dtype(dtype).itemsize)).astype(dtype)
    out = np.full(1, np.nan, dtype)
    dot_of(a, b, out)
    exact = float(a.astype(np.float64) @ b.astype(np.float64))
    assert abs(out[0] - exact) <= tolerance(dtype, len(a)) * (1 + np.abs(a) @ np.abs(b))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(2, 9), (60, 1031), (500, 3000)])
def test_probes_of_the_outer_product_are_honest(shape, dtype):
    X = (np.random.default_rng(5).standard_normal(shape) + 3).astype(dtype)
    Y, twin = centered(X)
    probed = Y.probed_outer()
    true = np.linalg.norm(probed.matrix - twin @ twin.T)
    assert true <= probed.error <= 1e3 * np.finfo(dtype).eps * np.linalg.norm(twin) ** 2
    size = np.linalg.norm(twin) * np.linalg.norm(probed.W)
    assert np.abs(probed.YW - twin @ probed.W).max() <= tolerance(dtype, shape[1]) * size


def test_probes_notice_a_spoiled_product(monkeypatch):
    X = np.random.default_rng(6).standard_normal((40, 900))
    plain = products.outer

    def spoiled(*arguments):
        plain(*arguments)
        arguments[-1][5] += 1e-3  # one entry of 1,600 is wrong

    monkeypatch.setattr(products, "outer", spoiled)
    Y, twin = centered(X)
    probed = Y.probed_outer()
    assert probed.error >= np.linalg.norm(probed.matrix - twin @ twin.T) > 1e-3


def test_threads_setting_from_the_environment(monkeypatch):
    monkeypatch.setenv("GRAMIAN_THREADS", "3")
    assert thread_count() == 3
    monkeypatch.setenv("GRAMIAN_THREADS", "many")
    assert thread_count() >= 1

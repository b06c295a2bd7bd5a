"""Dask arrays as rows: the same answers as in memory, however they are chunked."""

import warnings

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars
import pytest
import scipy.sparse as sp

import gramian.data.dask.blocks as dask_blocks
import gramian.data.dask.files as dask_files
from gramian import LSI, PCA, KernelPCA, load, parallel_analysis
from gramian.data.door import open_rows
from gramian.data.fingerprint import fingerprint
from gramian.data.partials import Part, beside, joined
from gramian.errors import GramianError, GramianWarning
from gramian.testing import same_up_to_signs
from tests.data.sources import SPARSE, STAGED, WRITERS, numbers
from tests.data.test_plink import genotypes, write

across = pytest.mark.filterwarnings("ignore:the Dask array is chunked across")


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Every chunk is a block, however small; all tasks run in this thread."""
    import dask

    monkeypatch.setattr(dask_blocks, "_small", 1)
    with dask.config.set(scheduler="synchronous"):
        yield


def data(n, p, seed=0):
    rng = np.random.default_rng(seed)
    strong = rng.standard_normal((n, 6)) * [9, 7, 5, 4, 3, 2]
    return strong @ rng.standard_normal((6, p)) + rng.standard_normal((n, p)) + 1e3


CHUNKS = {"rows": (41, -1), "columns": (-1, 23), "both": (50, 30), "uneven": ((1, 0, 99, 200), -1)}


@across
@pytest.mark.parametrize("solver", ["auto", "dense", "krylov"])
@pytest.mark.parametrize("chunks", CHUNKS)
@pytest.mark.parametrize("p", [40, 700])
def test_pca_equals_memory(p, chunks, solver):
    X = data(300, p)
    lazy = da.from_array(X, chunks=CHUNKS[chunks])
    inside, outside = PCA(4, solver=solver).fit(X), PCA(4, solver=solver).fit(lazy)
    assert np.allclose(outside.explained_variance_, inside.explained_variance_, rtol=1e-10)
    assert np.abs(outside.mean_ - inside.mean_).max() < 1e-10
    tight = 1e-4 if solver == "krylov" else 1e-10  # solved to 1e-6, from another way of adding up
    assert np.abs(outside.components_ - inside.components_).max() < tight
    assert outside.residuals_.max() < 1e-6
    Z = outside.transform(lazy)
    assert isinstance(Z, da.Array) and Z.shape == (300, 4)
    assert np.abs(Z.compute() - outside.transform(X)).max() < 1e-9


@across
@pytest.mark.parametrize("chunks", CHUNKS)
def test_scaled_weighted_float32_and_whitened(chunks):
    X = data(300, 12).astype(np.float32)
    weights = np.random.default_rng(0).integers(0, 3, 300)
    weights[:100] = 0  # whole blocks without weight
    lazy = da.from_array(X, chunks=CHUNKS[chunks])
    how = {"scale": "unit", "whiten": True}
    inside = PCA(3, **how).fit(X, sample_weight=weights)
    outside = PCA(3, **how).fit(lazy, sample_weight=weights)
    assert outside.components_.dtype == np.float32
    assert np.allclose(outside.explained_variance_, inside.explained_variance_, rtol=1e-6)
    found = outside.transform(lazy)
    assert found.dtype == np.float32
    same_up_to_signs(found.compute(), inside.transform(X), rtol=1e-4)


@pytest.mark.parametrize("name", ["cos2", "contributions", "score_samples", "placement_residual"])
def test_whatever_belongs_to_a_row_is_lazy(name):
    X = data(300, 12)
    lazy = da.from_array(X, chunks=(70, -1))
    model = PCA(3).fit(lazy)
    found = getattr(model, name)(lazy)
    assert isinstance(found, da.Array)
    assert np.allclose(found.compute(), getattr(model, name)(X), rtol=1e-8)
    back = model.inverse_transform(model.transform(lazy))
    assert isinstance(back, da.Array) and back.shape == X.shape
    assert np.isclose(model.score(lazy), model.score(X))


@across
@pytest.mark.parametrize("shape", [(400, 90), (90, 400)])
@pytest.mark.parametrize("chunks", [(60, -1), (-1, 37), (60, 37)])
def test_small_singular_values_are_refined_on_the_data(shape, chunks):
    rng = np.random.default_rng(0)
    s = 10.0 ** -np.arange(12)
    U, V = (np.linalg.qr(rng.standard_normal((m, 12)))[0] for m in shape)
    X = (U - U.mean(axis=0)) * s @ V.T
    inside, outside = PCA(10).fit(X), PCA(10).fit(da.from_array(X, chunks=chunks))
    assert "refined" in outside.plan_.route
    assert np.allclose(outside.singular_values_, inside.singular_values_, rtol=1e-5)


@pytest.mark.filterwarnings("ignore:the variances")
@pytest.mark.parametrize("scale", [1e-170, 1e170])
def test_extreme_units(scale):
    X = data(200, 8) * scale
    inside, outside = PCA(3).fit(X), PCA(3).fit(da.from_array(X, chunks=(30, -1)))
    assert np.allclose(outside.singular_values_, inside.singular_values_, rtol=1e-10)
    assert np.abs(outside.components_ - inside.components_).max() < 1e-10


def test_joined_moments_are_those_of_all_rows():
    """However the rows are cut, and even where one block lies far from the others."""
    X = data(200, 5)
    X[:50] += 1e9
    whole = open_rows(X).rows
    m = whole.moments(np.ones(1))
    exactly = X.astype(np.longdouble)
    Y = exactly - exactly.mean(axis=0)
    C = (Y.T @ Y).astype(np.float64)
    for cut in (1, 50, 120):
        parts = [Part.of(open_rows(x).rows, np.ones(1), True, (0, 0)) for x in (X[:cut], X[cut:])]
        found = joined(*parts).moments()
        assert np.allclose(found.high, exactly.mean(axis=0).astype(np.float64), rtol=1e-14)
        assert np.allclose(found.variance, m.variance, rtol=1e-12)
        assert np.abs(found.cross.matrix - C).max() < 1e-12 * np.abs(C).max()
    left, right = (
        Part.of(open_rows(np.ascontiguousarray(x)).rows, np.ones(1), False, (0, 0))
        for x in (X[:, :2], X[:, 2:])
    )
    assert np.allclose(beside(left, right).moments().variance, m.variance, rtol=1e-12)


def test_one_pass_for_moments_and_products():
    lazy = da.from_array(data(300, 40), chunks=(50, -1))
    visits = []
    counted = lazy.map_blocks(
        lambda x: visits.append(len(x)) or x, dtype=float, meta=np.empty((0, 0))
    )
    assert PCA(3).fit(counted).plan_.passes == 1
    assert sorted(visits) == [50] * 6


@across
@pytest.mark.parametrize("form", [sp.csr_matrix, sp.csr_array, sp.csc_matrix])
@pytest.mark.parametrize("shape", [(300, 80), (80, 300)])
def test_lsi_of_sparse_blocks(shape, form, tmp_path):
    X = sp.random_array(shape, density=0.1, rng=np.random.default_rng(0), format="csr")
    lazy = da.from_array(X.toarray(), chunks=(70, -1)).map_blocks(form)
    inside, outside = LSI(4).fit(X), LSI(4).fit(lazy)
    assert np.abs(outside.components_ - inside.components_).max() < 1e-10
    assert np.allclose(outside.explained_variance_, inside.explained_variance_, rtol=1e-10)
    assert isinstance(outside.documents_, da.Array)  # not gathered
    assert np.abs(outside.documents_.compute() - inside.documents_).max() < 1e-10
    assert np.abs(outside.transform(lazy).compute() - inside.documents_).max() < 1e-10
    found = outside.search(X[:2], 3)
    assert (found.indices == inside.search(X[:2], 3).indices).all()
    outside.save(tmp_path / "m.gramian")  # this gathers
    assert np.array_equal(load(tmp_path / "m.gramian").documents_, outside.documents_.compute())


def test_a_frame_brings_its_names_and_its_length():
    frame = pd.DataFrame(data(120, 3), columns=["a", "b", "c"])
    frame["whole"] = np.arange(120, dtype=np.int32)
    lazy = dd.from_pandas(frame, npartitions=4)
    with pytest.warns(GramianWarning, match="computed once to count its rows"):
        model = PCA(2).fit(lazy)
    assert list(model.feature_names_in_) == ["a", "b", "c", "whole"]
    same_up_to_signs(model.transform(lazy).compute(), PCA(2).fit_transform(frame), rtol=1e-9)
    words = lazy.assign(name="x")
    with pytest.raises(GramianError, match=r"text in 'name'; leave it out: frame.drop"):
        PCA(2).fit(words)
    with pytest.raises(ValueError, match="feature names"):
        model.transform(lazy.rename(columns={"a": "z"})).compute()


def test_partitions_without_rows():
    frame = pd.DataFrame(data(120, 3), columns=["a", "b", "c"])
    frame["d"] = np.arange(120.0)
    lazy = dd.from_pandas(frame, npartitions=4)
    some = lazy[lazy.d >= 35]  # nothing is left of the first partition, a part of the second
    with pytest.warns(GramianWarning, match="computed once to count its rows"):
        model = PCA(2).fit(some)
    kept = frame[frame.d >= 35]
    assert model.n_samples_ == 85
    same_up_to_signs(model.transform(kept), PCA(2).fit_transform(kept), rtol=1e-9)
    assert np.abs(model.transform(some).compute() - model.transform(kept)).max() < 1e-9
    with (
        pytest.warns(GramianWarning, match="computed once"),
        pytest.raises(GramianError, match=r"0 sample\(s\)"),
    ):
        PCA(2).fit(lazy[lazy.d > 1e9])


def test_odd_chunks_are_laid_anew_with_a_note(monkeypatch):
    X = data(300, 40)
    with pytest.warns(GramianWarning, match=r"chunked across its columns \(4 chunks\)"):
        PCA(2).fit(da.from_array(X, chunks=(100, 10)))
    with pytest.warns(GramianWarning, match=r"chunked across its rows"):
        PCA(2).fit(da.from_array(X.T, chunks=(10, 100)))
    monkeypatch.setattr(dask_blocks, "_small", 10_000)
    one_row = da.from_array(X, chunks=(1, -1))
    with pytest.warns(GramianWarning, match=r"300 chunks of 320 B: they are joined"):
        rows = open_rows(one_row).rows
    assert len(rows.bounds) < 12
    assert rows.bounds[-1][1] == 300


def test_unknown_chunks_are_counted_once():
    X = data(300, 6)
    lazy = da.from_array(X, chunks=(100, -1))
    unknown = lazy[lazy[:, 0] > 1e3]
    assert np.isnan(unknown.shape[0])
    with pytest.warns(GramianWarning, match="does not know the sizes of its chunks"):
        model = PCA(2).fit(unknown)
    assert model.n_samples_ == int(np.sum(X[:, 0] > 1e3))
    kept = X[X[:, 0] > 1e3]
    assert np.abs(model.transform(unknown).compute() - PCA(2).fit_transform(kept)).max() < 1e-9


@across
@pytest.mark.parametrize("chunks", [(7, -1), (-1, 4), (7, 4)])
@pytest.mark.parametrize("shape", [(60, 9), (9, 60)])
def test_nan_is_named_by_block_row_and_column(shape, chunks):
    X = data(*shape)
    X[8, 5] = X[8, 6] = np.nan
    lazy = da.from_array(X, chunks=chunks)
    tall, wide = chunks
    block = 8 // tall if tall > 0 else 0, 5 // wide if wide > 0 else 0
    told = rf"2 missing values, the first at row 8, column 5 .* in block \({block[0]}, {block[1]}\)"
    with pytest.raises(GramianError, match=told):
        PCA(2).fit(lazy)
    X[8, 5:7] = 0, np.inf
    with pytest.raises(
        GramianError, match=r"infinity \(inf\): 1 value, the first at row 8, column 6"
    ):
        PCA(2).fit(da.from_array(X, chunks=chunks))
    model = PCA(2).fit(data(*shape))
    with pytest.raises(GramianError, match="infinity.*row 8, column 6.*block"):
        model.transform(da.from_array(X, chunks=chunks)).compute()


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (lambda X: da.from_array(X[0], chunks=5), "Expected 2D array"),
        (lambda X: da.from_array(X, chunks=(9, -1)).astype(complex), "complex128, not numbers"),
        (lambda X: da.from_array(X, chunks=(9, -1))[:0], r"0 sample\(s\)"),
        (lambda X: da.from_array(X, chunks=(9, -1))[:1], "at least 2 observations"),
        (
            lambda X: blocks_of(X, lambda i, x: x[: 9 - i]),
            r"block \d has shape \(\d, 6\).*says \(9, 6\)",
        ),
        (lambda X: blocks_of(X, lambda i, x: x.astype(str)), r"block \d holds <U\d+, not numbers"),
        (lambda X: blocks_of(X.astype("f4"), lambda i, x: x.astype(float)), "says float32 or less"),
    ],
)
def test_what_cannot_be_used_is_refused_in_a_sentence(made, told):
    with pytest.raises(GramianError, match=told):
        PCA(2).fit(made(data(36, 6)))


def blocks_of(X, change):
    """A Dask array whose blocks are not what it says."""
    lazy = da.from_array(X, chunks=(9, -1))

    def changed(x, block_info=None):
        return change(block_info[0]["chunk-location"][0], x)

    return lazy.map_blocks(changed, dtype=lazy.dtype, meta=np.empty((0, 0), lazy.dtype))


def test_whole_numbers_and_blocks_of_several_types():
    X = np.arange(90).reshape(30, 3) ** 2 % 17
    kinds = [np.int8, np.int64, np.float32, np.float64, bool, np.uint8]

    def change(i, x):
        return x.astype(kinds[i % len(kinds)]) if kinds[i % len(kinds)] is not bool else x

    mixed = da.concatenate(
        [da.from_array(X[a : a + 5].astype(kinds[a // 5 % 4])) for a in range(0, 30, 5)]
    )
    same_up_to_signs(PCA(2).fit(mixed).transform(X), PCA(2).fit_transform(X), rtol=1e-9)
    declared = blocks_of(X.astype(float), change)
    same_up_to_signs(PCA(2).fit(declared).transform(X), PCA(2).fit_transform(X), rtol=1e-9)


def test_a_fitted_model_does_not_hold_the_graph():
    import pickle

    lazy = da.from_array(data(3000, 20), chunks=(500, -1))
    assert len(pickle.dumps(PCA(2).fit(lazy))) < 20_000


def test_other_methods_gather_what_fits():
    from gramian import Isomap

    X = data(60, 4)
    found = Isomap(n_components=2).fit(da.from_array(X, chunks=(20, -1)))
    same_up_to_signs(found.embedding_, Isomap(n_components=2).fit(X).embedding_, rtol=1e-9)
    placed = found.transform(da.from_array(X, chunks=(20, -1)))
    assert isinstance(placed, da.Array)
    same_up_to_signs(placed.compute(), found.embedding_, rtol=1e-6)


@across
@pytest.mark.parametrize("null", ["permutation", "signflip", "normal"])
@pytest.mark.parametrize("shape", [(200, 12), (12, 200)])
def test_parallel_analysis_draws_the_same_replicates(shape, null):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((shape[0], 2)) @ rng.standard_normal((2, shape[1]))
    X += rng.standard_normal(shape)
    how = {"null": null, "scale": "unit", "n_permutations": 39}
    inside = parallel_analysis(X, **how)
    outside = parallel_analysis(da.from_array(X, chunks=(50, -1)), **how)
    assert outside.n_components == inside.n_components > 0
    assert np.allclose(outside.eigenvalues, inside.eigenvalues, rtol=1e-10, atol=1e-12)
    assert np.allclose(outside.null_eigenvalues, inside.null_eigenvalues, rtol=1e-10)
    assert (outside.p_values == inside.p_values).all()
    lazy = da.from_array(X, chunks=(50, -1))
    assert PCA("horn").fit(lazy).n_components_ == PCA("horn").fit(X).n_components_


@pytest.mark.parametrize(
    "how",
    [
        {"kernel": "rbf", "gamma": 0.3, "landmarks": 90},
        {"kernel": "rbf", "gamma": "median", "landmarks": 70, "center": False},
        {"kernel": "linear", "landmarks": 3},
    ],
    ids=str,
)
def test_kernel_pca_by_landmarks_takes_the_same_pivots(how):
    X = np.random.default_rng(0).standard_normal((900, 3)) + 5
    lazy = da.from_array(X, chunks=(200, -1))
    inside, outside = KernelPCA(2, **how).fit(X), KernelPCA(2, **how).fit(lazy)
    assert isinstance(outside.embedding_, da.Array)
    assert len(outside.X_fit_) == len(inside.gram_.pivots)
    assert np.allclose(outside.eigenvalues_, inside.eigenvalues_, rtol=1e-10)
    assert abs(outside.approximation_error_ - inside.approximation_error_) < 1e-10
    assert np.abs(outside.embedding_.compute() - inside.embedding_).max() < 1e-10
    assert np.abs(outside.transform(lazy).compute() - inside.embedding_).max() < 1e-10
    assert np.abs(outside.transform(X[:5]) - inside.transform(X[:5])).max() < 1e-10
    assert outside.residuals_.max() < 1e-12
    assert np.allclose(outside.placement_residual(lazy).compute(), inside.placement_residual(X))


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_a_model_of_landmarks_on_workers_is_saved(kernel, center, tmp_path):
    """The file has the landmarks and no other point; whatever places new points is all there."""
    X = np.random.default_rng(0).standard_normal((900, 5)) + 5
    how = {"kernel": kernel, "gamma": 0.05, "center": center}
    model = KernelPCA(2, landmarks=5 if kernel == "linear" else 60, **how)
    model.fit(da.from_array(X, chunks=(200, -1)))
    inside = KernelPCA(**model.get_params()).fit(X)
    model.save(tmp_path / "m.gramian")
    assert isinstance(model.embedding_, da.Array)  # nothing was gathered
    again = load(tmp_path / "m.gramian")
    new = np.random.default_rng(1).standard_normal((7, 5)) + 5
    assert np.array_equal(again.transform(new), model.transform(new))
    assert np.array_equal(again.placement_residual(new), model.placement_residual(new))
    assert np.abs(again.transform(X) - inside.embedding_).max() < 1e-10
    assert np.array_equal(again.functions_(new), model.functions_(new))
    for one, other in zip(again.mercer_, inside.mercer_, strict=True):
        one, other = (each if isinstance(each, np.ndarray) else each(new) for each in (one, other))
        assert np.abs(one - other).max() < 1e-9
    pivots = inside.gram_.pivots
    assert np.abs(again.embedding_ - inside.embedding_[pivots]).max() < 1e-9
    assert np.abs(again.eigenvectors_ - inside.eigenvectors_[pivots]).max() < 1e-9
    assert again.n_samples_ == 900
    assert "the landmarks alone" in " ".join(again.to_embedding().notes)
    back = again.inverse_transform(inside.embedding_[pivots])
    assert np.linalg.norm(back - X[pivots]) < np.linalg.norm(X[pivots] - X.mean(axis=0))
    assert (tmp_path / "m.gramian").stat().st_size < X.nbytes / 2


def test_weighted_documents():
    X = sp.random_array((60, 20), density=0.2, rng=np.random.default_rng(0), format="csr")
    X.data = np.ceil(5 * X.data)
    lazy = da.from_array(X.toarray(), chunks=(25, -1))
    inside, outside = LSI(3, weighting="tfidf").fit(X), LSI(3, weighting="tfidf").fit(lazy)
    assert np.abs(outside.components_ - inside.components_).max() < 1e-10
    assert np.abs(outside.transform(lazy).compute() - inside.documents_).max() < 1e-10


@pytest.mark.parametrize("kind", [kind for kind in WRITERS if kind != "bed"])  # has its own way
def test_files_are_read_in_blocks_where_workers_are(tmp_path, monkeypatch, kind):
    """What is sent can be pickled, knows its file from any folder, and finds it unchanged."""
    import pickle

    monkeypatch.setattr(dask_files, "_read", 30_000)
    monkeypatch.setattr(dask_files, "_sent", 30_000)
    X = numbers(kind, 3000, 40)
    path = WRITERS[kind](tmp_path, X)
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings(action="ignore"):  # of copies
        opened = open_rows(str(path).replace(f"{tmp_path}/", ""), "1MB")
    if kind in STAGED and not opened.rows.resident:
        with pytest.raises(GramianError, match=r"workers read in parts: .npy, .parquet"):
            dask_files.in_blocks(opened)
        return
    lazy = dask_files.in_blocks(opened)
    monkeypatch.chdir("/")
    assert lazy.npartitions > 2
    found = [pickle.loads(pickle.dumps(block)).compute() for block in lazy.to_delayed().ravel()]
    wide = len(lazy.chunks[1]) > 1
    assert all(sp.issparse(block) == (kind in SPARSE) for block in found)
    together = (sp.hstack if wide else sp.vstack)(found).toarray() if kind in SPARSE else None
    if together is None:
        together = np.concatenate(found, axis=int(wide))
    assert np.array_equal(together, X)
    if kind not in SPARSE:
        model = PCA(3).fit(lazy)
        assert np.allclose(model.explained_variance_, PCA(3).fit(X).explained_variance_, rtol=1e-10)


def test_files_of_which_only_some_fit_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(dask_files, "_read", 30_000)
    X = numbers("parquet", 3000, 40)
    for i, part in enumerate((X[:100], X[100:])):
        polars.DataFrame(part).write_parquet(tmp_path / f"{i}.parquet", row_group_size=500)
    opened = open_rows(tmp_path / "*.parquet", "1MB")
    assert [part.resident for part in opened.rows.parts] == [True, False]
    assert np.array_equal(dask_files.in_blocks(opened).compute(), X)


def test_a_file_that_is_shorter_where_a_worker_is(tmp_path, monkeypatch):
    monkeypatch.setattr(dask_files, "_read", 30_000)
    path = WRITERS["zarr 3"](tmp_path, numbers("zarr 3", 3000, 40))
    lazy = dask_files.in_blocks(open_rows(path, "1MB"))
    chunk = next(each for each in path.rglob("*") if each.is_file() and each.parent != path)
    chunk.write_bytes(chunk.read_bytes()[:-1])
    with pytest.raises(GramianError, match="bytes on a worker and .* all machines must"):
        PCA(3).fit(lazy)


@pytest.mark.parametrize("large", [True, False])
def test_sparse_matrices_of_files_and_of_memory_on_workers(tmp_path, monkeypatch, large):
    monkeypatch.setattr(dask_files, "_read", 30_000)
    monkeypatch.setattr(dask_files, "_sent", 30_000)
    X = np.abs(numbers("h5ad, sparse", 3000, 40))
    opened = open_rows(WRITERS["h5ad, sparse"](tmp_path, X), "1MB" if large else None)
    assert opened.rows.resident != large
    lazy = dask_files.in_blocks(opened)
    assert lazy.npartitions > 2 and sp.issparse(lazy.blocks[0].compute())
    inside, outside = LSI(3).fit(sp.csr_array(X)), LSI(3).fit(lazy)
    assert np.abs(outside.components_ - inside.components_).max() < 1e-9
    assert np.abs(outside.documents_.compute() - inside.documents_).max() < 1e-9


@pytest.mark.parametrize("kind", ["npy", "bed"])
def test_a_checkpoint_knows_a_file_again_that_workers_read(tmp_path, kind):
    """By what is in the file: names of tasks, and budgets, differ from run to run."""
    path = tmp_path / f"x.{kind}"

    def written(seed):
        X = genotypes(60, 80, seed)
        np.save(path, X) if kind == "npy" else write(tmp_path, X, "x")

    def known(memory):
        return fingerprint(open_rows(dask_files.in_blocks(open_rows(path, memory))).rows)

    written(0)
    first = known("2MB")
    assert known("1MB") == first
    written(1)
    assert known("2MB") != first

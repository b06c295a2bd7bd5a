"""GenotypePCA of Dask arrays and of .bed files on workers: the same as in memory."""

import dask
import dask.array as da
import numpy as np
import pytest
import scipy.sparse

import gramian.data.dask.blocks as dask_blocks
from gramian import PCA, GenotypePCA, load
from gramian.data.dask.files import BedOnWorkers
from gramian.data.door import open_rows
from gramian.errors import GramianWarning, InputError
from gramian.testing import same_up_to_signs
from tests.data.test_plink import write
from tests.methods.test_genotypes import peoples, twin

pytestmark = pytest.mark.filterwarnings("ignore:the Dask array is chunked across")
CHUNKS = {"rows": (17, -1), "columns": (-1, 90), "both": (17, 90), "uneven": (-1, (1, 0, 99, 600))}
FITTED = (
    *("eigenvalues_", "eigenvectors_", "embedding_", "components_", "mean_", "scale_"),
    *("frequencies_", "kept_", "shrinkage_", "explained_variance_ratio_"),
)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Every chunk is a block, however small; all tasks run in this thread."""
    monkeypatch.setattr(dask_blocks, "_small", 1)
    with dask.config.set(scheduler="synchronous"):
        yield


def same(found, wanted, tolerance=1e-10):
    for name in FITTED:
        one, other = getattr(found, name), getattr(wanted, name)
        assert np.abs(one - other).max() <= tolerance * max(np.abs(other).max(), 1), name
    assert abs(found.effective_variants_ / wanted.effective_variants_ - 1) < 1e-8
    assert found.related_ == wanted.related_
    assert found.notes_ == wanted.notes_


@pytest.mark.parametrize("normalization", ["smartpca", "plink2", "variants"])
@pytest.mark.parametrize("missing", [0.0, 0.05])
@pytest.mark.parametrize("chunks", CHUNKS)
def test_an_array_equals_memory(chunks, missing, normalization):
    X, _ = peoples(50, 700, missing)
    lazy = da.from_array(X, chunks=CHUNKS[chunks])
    how = {"normalization": normalization}
    found, wanted = GenotypePCA(4, **how).fit(lazy), GenotypePCA(4, **how).fit(X)
    same(found, wanted)
    values, vectors = twin(X, normalization=normalization)
    np.testing.assert_allclose(found.eigenvalues_, values[:4], rtol=1e-10)
    same_up_to_signs(found.eigenvectors_, vectors[:, :4], rtol=1e-8)
    Z = found.transform(lazy)
    assert isinstance(Z, da.Array)
    assert np.abs(Z.compute() - wanted.transform(X)).max() < 1e-10


@pytest.mark.parametrize("scaling", ["patterson", "unit", "none"])
@pytest.mark.parametrize("chunks", CHUNKS)
def test_filters_and_scalings(chunks, scaling):
    """Some blocks keep no variant at all."""
    X, _ = peoples(50, 700, 0.04)
    X[:, 180:360] = np.where(np.arange(50)[:, None] % 9, X[:, 180:360], np.nan)
    how = {"scaling": scaling, "min_frequency": 0.1, "max_missing": 0.08}
    lazy = da.from_array(X, chunks=CHUNKS[chunks])
    found, wanted = GenotypePCA(3, **how).fit(lazy), GenotypePCA(3, **how).fit(X)
    assert 0 < wanted.n_variants_ < 500
    same(found, wanted)
    for name in ("transform", "project", "placement_residual"):
        asked = getattr(found, name)(lazy)
        assert isinstance(asked, da.Array), name
        assert np.abs(asked.compute() - getattr(wanted, name)(X)).max() < 1e-10, name


def test_whole_numbers_by_products_and_more_samples_than_variants():
    X, _ = peoples(60, 900)
    lazy = da.from_array(X.astype(np.int8), chunks=(20, 300))
    same(GenotypePCA(3).fit(lazy), GenotypePCA(3).fit(X))
    found, wanted = GenotypePCA(3, solver="krylov").fit(lazy), GenotypePCA(3).fit(X)
    assert "no matrix formed" in found.plan_.route
    np.testing.assert_allclose(found.eigenvalues_, wanted.eigenvalues_, rtol=1e-9)
    same_up_to_signs(found.embedding_, wanted.embedding_, rtol=1e-4)  # solved to 1e-6
    tall, _ = peoples(300, 80)
    same(GenotypePCA(3).fit(da.from_array(tall, chunks=(40, -1))), GenotypePCA(3).fit(tall))


def test_threads_of_this_process_give_the_same_bits():
    X, _ = peoples(60, 900, 0.02)
    lazy = da.from_array(X, chunks=(-1, 100))
    wanted = GenotypePCA(3).fit(lazy)
    with dask.config.set(scheduler="threads", num_workers=2):
        found = GenotypePCA(3).fit(lazy)
        assert np.array_equal(found.transform(lazy).compute(), wanted.transform(lazy).compute())
    same(found, wanted, 0)


@pytest.mark.parametrize("missing", [0.0, 0.03])
@pytest.mark.parametrize("normalization", ["smartpca", "plink2", "variants"])
def test_a_bed_file_read_by_workers(tmp_path, monkeypatch, missing, normalization):
    """A part of the variants each, still packed; names and alleles are known."""
    monkeypatch.setattr("gramian.data.dask.files._read", 40_000)
    X, _ = peoples(61, 1200, missing)
    path = write(tmp_path, X)
    opened = open_rows(path)
    spread = opened._replace(rows=BedOnWorkers(opened.rows))
    assert len(spread.rows.bounds) > 5
    how = {"normalization": normalization, "min_frequency": 0.1}
    found, wanted = GenotypePCA(4, **how).fit(spread), GenotypePCA(4, **how).fit(path)
    same(found, wanted)
    assert (found.samples_, found.alleles_) == (wanted.samples_, wanted.alleles_)
    assert np.abs(found.transform(path) - wanted.transform(path)).max() < 1e-10
    again = opened._replace(rows=BedOnWorkers(opened.rows))
    assert np.abs(found.project(again) - wanted.project(path)).max() < 1e-10
    found.save(tmp_path / "m.gramian")
    assert np.array_equal(load(tmp_path / "m.gramian").transform(path), found.transform(path))
    if not missing:  # other methods read the same blocks
        axes = PCA(3).fit(again)
        assert np.abs(axes.components_ - PCA(3).fit(X).components_).max() < 1e-9
    else:
        with pytest.raises(InputError, match=f"NaN: {int(np.isnan(X).sum())} missing values"):
            PCA(3).fit(again)


def test_relatives_are_said():
    X, _ = peoples(60, 3000, seed=5)
    X[1] = X[0]
    with pytest.warns(GramianWarning, match="1 pair of samples look like first-degree"):
        found = GenotypePCA(2).fit(da.from_array(X, chunks=(-1, 500)))
    assert found.related_ == [(0, 1, 0.5)]


@pytest.mark.parametrize("chunks", CHUNKS)
@pytest.mark.parametrize(
    ("value", "scaling", "words"),
    [
        (3.0, "patterson", r"3 at row 40, column 95 .* in block \(%d, %d\).*from 0 to 2"),
        (np.inf, "unit", r"inf at row 40, column 95 .*no number of copies"),
        (-9.0, "none", "-9 beside 0, 1 and 2"),
    ],
)
def test_values_that_are_no_counts(chunks, value, scaling, words):
    X = peoples(50, 700)[0]
    X[40, 95] = X[41, 20] = value
    lazy = da.from_array(X, chunks=CHUNKS[chunks])
    ends = [np.cumsum(sizes) for sizes in lazy.chunks]
    at = tuple(
        int(np.searchsorted(e, x, side="right")) for e, x in zip(ends, (40, 95), strict=True)
    )
    with pytest.raises(InputError, match=words % at if "%" in words else words):
        GenotypePCA(2, scaling=scaling).fit(lazy)


def test_what_cannot_be_used_is_refused_in_a_sentence(tmp_path):
    X = peoples(50, 700)[0]
    lazy = da.from_array(X, chunks=(20, -1))
    with pytest.raises(InputError, match="sparse blocks are not supported"):
        GenotypePCA(2).fit(lazy.map_blocks(scipy.sparse.csr_array))
    model = GenotypePCA(2).fit(lazy)
    X[30] = np.nan
    with pytest.raises(InputError, match=r"too few calls.*block 1 of the .* begins at row 20"):
        model.project(da.from_array(X, chunks=(20, -1))).compute()
    with pytest.raises(InputError, match="sample 31 has no call in the 700 variants"):
        GenotypePCA(2).fit(da.from_array(X, chunks=(20, -1)))
    path = write(tmp_path, X)
    opened = open_rows(path)
    spread = opened._replace(rows=BedOnWorkers(opened.rows))
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(InputError, match="g.bed changed while it was read"):
        GenotypePCA(2).fit(spread)
    with pytest.raises(InputError, match=r"bytes on a worker.*all machines must see the same file"):
        opened.rows.part(0, 5).arrived()

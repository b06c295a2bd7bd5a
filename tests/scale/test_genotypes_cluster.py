"""Genotypes on a real cluster: in arrays that workers hold, and in .bed files that they read."""

import contextlib

import numpy as np
import pytest

from gramian import GenotypePCA, load
from tests.data.test_plink import write
from tests.scale.cluster import calls, counted, genotypes

pytestmark = pytest.mark.usefixtures("small_blocks")
SAMPLES, VARIANTS, STEP = 90, 2_400, 200
FITTED = (
    *("eigenvalues_", "eigenvectors_", "embedding_", "components_", "mean_", "scale_"),
    *("frequencies_", "kept_", "shrinkage_", "explained_variance_ratio_", "residuals_"),
)


def apart(one, other):
    """The largest difference of any public array, in units of the largest number in it."""
    pairs = ((getattr(one, name), getattr(other, name)) for name in FITTED)
    return max(np.abs(a - b).max() / max(np.abs(b).max(), 1) for a, b in pairs)


@pytest.mark.parametrize("normalization", ["smartpca", "plink2", "variants"])
@pytest.mark.parametrize("chunks", [(-1, STEP), (30, -1), (30, 700)], ids=str)
@pytest.mark.filterwarnings("ignore:the Dask array is chunked across")
def test_an_array_equals_memory(cluster, chunks, normalization):
    """Filters, missing calls, and the coordinates, which stay lazy."""
    cluster.client.wait_for_workers(2, timeout=60)
    X = calls(SAMPLES, 0, VARIANTS)
    lazy = genotypes(SAMPLES, VARIANTS, STEP).rechunk(chunks)
    how = {"normalization": normalization, "min_frequency": 0.25, "max_missing": 0.02}
    found, wanted = GenotypePCA(4, **how).fit(lazy), GenotypePCA(4, **how).fit(X)
    assert 0 < wanted.n_variants_ < VARIANTS
    assert apart(found, wanted) < 1e-10
    assert found.related_ == wanted.related_ and found.notes_ == wanted.notes_
    for name in ("transform", "project"):
        Z = getattr(found, name)(lazy)
        assert np.abs(Z.compute() - getattr(wanted, name)(X)).max() < 1e-10


@pytest.mark.parametrize("solver", ["auto", "krylov"])
def test_a_killed_worker_changes_no_bit(cluster, tmp_path, solver):
    """One ends while calls are counted, one later, while products are made."""
    cluster.client.wait_for_workers(2, timeout=60)
    shape = SAMPLES, VARIANTS, STEP
    undisturbed = GenotypePCA(3, solver=solver).fit(genotypes(*shape))
    found = GenotypePCA(3, solver=solver).fit(genotypes(*shape, tmp_path, deadly=[5, 31]))
    assert len(list(tmp_path.iterdir())) > 40
    assert apart(found, undisturbed) == 0


def test_little_travels_to_the_client(cluster, monkeypatch):
    """The matrix of samples and what is public: three numbers and the loadings of a variant."""
    cluster.client.wait_for_workers(2, timeout=60)
    n, p, k = 400, 16_000, 3
    lazy = genotypes(n, p, 1_000)
    GenotypePCA(k).fit(genotypes(50, 1_000, 500))  # connections are made, modules loaded
    with counted(monkeypatch) as received:
        GenotypePCA(k).fit(lazy)
    small_side, public = 8 * n * n, 8 * p * (3 + k)
    vectors = 8 * n * (16 + 16 + k + k * (k + 1) // 2) + 1024 * n  # relatives: packed calls
    assert small_side < sum(received) < 1.1 * (small_side + public + vectors) + 100_000
    assert sum(received) < lazy.nbytes / 10


def test_the_command_line_lets_workers_read_a_bed_file(cluster, tmp_path, monkeypatch, capsys):
    """The .bed file itself is never sent: this process sends and receives far less."""
    from tornado.iostream import IOStream

    from gramian.cli.app import main

    cluster.client.wait_for_workers(2, timeout=60)
    sent, write_to = [], IOStream.write_to_fd

    def counting(self, data):
        done = write_to(self, data)
        sent.append(done or 0)
        return done

    n, m = 800, 20_000
    path = write(tmp_path, calls(n, 0, m))
    told = ["genotypes", str(path), "-k", "3", "--min-frequency", "0.1"]
    assert main([*told, "-o", str(tmp_path / "here.npy")]) == 0
    there = ["-o", str(tmp_path / "there.npy"), "--save", str(tmp_path / "m.gramian")]
    address = cluster.client.scheduler.address
    with counted(monkeypatch) as received, contextlib.suppress(SystemExit):
        monkeypatch.setattr(IOStream, "write_to_fd", counting)
        assert main([*told, *there, "--scheduler", address]) == 0
    one, other = (np.load(tmp_path / f"{name}.npy") for name in ("here", "there"))
    assert np.abs(one - other).max() < 1e-10 * np.abs(one).max()
    model = load(tmp_path / "m.gramian")
    assert model.samples_[:2] == ("s0", "s1") and model.alleles_[0] == "A/C"
    assert np.abs(model.transform(path) - one).max() < 1e-9 * np.abs(one).max()
    small_side, public = 8 * n * n, 8 * m * (3 + 3)
    assert sum(received) < 1.2 * (small_side + public) + 1024 * n + 400_000
    assert sum(sent) < path.stat().st_size / 2
    capsys.readouterr()

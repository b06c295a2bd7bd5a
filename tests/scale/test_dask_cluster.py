"""A real cluster: a scheduler and workers in processes of their own, some of which are killed."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import dask.array as da
import numpy as np
import pytest
import scipy.sparse

import gramian.data.dask.cluster as dask_cluster
import gramian.data.dask.files as dask_files
from gramian import LSI, PCA, KernelPCA, parallel_analysis
from gramian.errors import ClusterError, MemoryRefusedError
from tests.data.sources import WRITERS
from tests.scale.cluster import STEP, Processes, array, counted, fill_memory, in_memory

pytestmark = pytest.mark.usefixtures("small_blocks")


@contextlib.contextmanager
def within(seconds=60):
    """Nothing hangs, whatever is lost."""
    start = time.monotonic()
    yield
    assert time.monotonic() - start < seconds


def fields(model):
    return model.components_, model.explained_variance_, model.mean_, model.residuals_


def same_bits(one, other):
    return all(np.array_equal(a, b) for a, b in zip(fields(one), fields(other), strict=True))


@pytest.mark.parametrize("chunks", [(STEP, -1), (-1, 11), (900, 11)], ids=str)
@pytest.mark.filterwarnings("ignore:the Dask array is chunked across")
def test_pca_equals_memory(cluster, chunks):
    X = in_memory()
    lazy = array().rechunk(chunks)
    inside, outside = PCA(4).fit(X), PCA(4).fit(lazy)
    for one, other in zip(fields(inside)[:3], fields(outside)[:3], strict=True):
        assert np.abs(one - other).max() < 1e-10 * max(np.abs(one).max(), 1)
    Z = outside.transform(lazy)
    assert isinstance(Z, da.Array)
    assert np.abs(Z.compute() - inside.transform(X)).max() < 1e-10


def test_a_killed_worker_changes_no_bit(cluster, tmp_path):
    """By products, so that there are many passes; the worker ends in the middle of one."""
    cluster.client.wait_for_workers(2, timeout=60)
    undisturbed = PCA(3, solver="krylov").fit(array())
    found = PCA(3, solver="krylov").fit(array(tmp_path, deadly=[17]))
    assert len(list(tmp_path.iterdir())) > 18
    assert same_bits(found, undisturbed)


def test_little_travels_to_the_client(cluster, monkeypatch):
    """Every byte that any socket of this process receives is counted."""
    cluster.client.wait_for_workers(2, timeout=60)
    n, p = 60_000, 60
    lazy = array(rows=n, columns=p, step=5_000)
    PCA(3).fit(lazy)  # connections are made, modules loaded
    with counted(monkeypatch) as received:
        model = PCA(3).fit(lazy)
        model.transform(lazy)
    small_side = 8 * p * p
    assert small_side < sum(received) < 3 * small_side + 40_000  # the rest: messages
    assert sum(received) < 8 * n * p / 200


@pytest.mark.parametrize("chunks", [(STEP, -1), (-1, 11), (900, 11)], ids=str)
@pytest.mark.filterwarnings("ignore:the Dask array is chunked across")
def test_lsi_of_sparse_blocks_equals_memory(cluster, chunks, tmp_path):
    """With a worker killed on the way; coordinates of the documents stay there."""
    cluster.client.wait_for_workers(2, timeout=60)
    X = scipy.sparse.csr_array(np.maximum(in_memory() - 60, 0))
    lazy = (array(tmp_path, deadly=[9]) - 60).clip(0, None).rechunk(chunks)
    lazy = lazy.map_blocks(scipy.sparse.csr_array)
    inside, outside = LSI(4).fit(X), LSI(4).fit(lazy)
    assert len(list(tmp_path.iterdir())) > 10
    assert np.abs(outside.components_ - inside.components_).max() < 1e-10
    assert np.abs(outside.singular_values_ / inside.singular_values_ - 1).max() < 1e-10
    assert isinstance(outside.documents_, da.Array)
    assert np.abs(outside.documents_.compute() - inside.documents_).max() < 1e-10 * abs(X).max()


def test_parallel_analysis_and_landmarks_on_workers(cluster, tmp_path):
    """With a worker killed on the way; the same numbers as in memory."""
    cluster.client.wait_for_workers(2, timeout=60)
    X = in_memory(rows=1_000, columns=8)
    small = {"rows": 1_000, "columns": 8}
    inside = parallel_analysis(X, n_permutations=39)
    outside = parallel_analysis(array(tmp_path, deadly=[3], **small), n_permutations=39)
    assert outside.n_components == inside.n_components
    assert np.allclose(outside.null_eigenvalues, inside.null_eigenvalues, rtol=1e-10)
    how = {"kernel": "rbf", "gamma": 1e-4, "landmarks": 40}
    one, other = KernelPCA(2, **how).fit(X), KernelPCA(2, **how).fit(array(**small))
    assert np.abs(other.embedding_.compute() - one.embedding_).max() < 1e-10


@pytest.mark.parametrize("kind", ["npy", "parquet, folder", "feather", "zarr 2", "h5ad"])
def test_the_command_line_on_a_scheduler(cluster, tmp_path, capsys, monkeypatch, kind):
    from gramian.cli.app import main

    monkeypatch.setattr(dask_files, "_read", 100_000)
    X = in_memory(rows=4_000, columns=8)
    path = str(WRITERS[kind](tmp_path, X)).replace(f"{tmp_path}/", "")
    monkeypatch.chdir(tmp_path)  # workers are elsewhere
    address = cluster.client.scheduler.address
    out = tmp_path / "axes.npy"
    told = ["pca", path, "-k", "2", "--memory", "1MB", "-o", str(out)]
    assert main([*told, "--scheduler", address]) == 0
    assert np.abs(np.load(out) - PCA(2).fit_transform(X)).max() < 1e-10
    if kind != "npy":
        return
    missing = tmp_path / "none.npy"
    told[-1] = str(missing)
    assert main([*told, "--scheduler", "tcp://127.0.0.1:9"]) == 2
    assert "no Dask scheduler answers at tcp://127.0.0.1:9" in capsys.readouterr().err
    assert not missing.exists()


def test_a_model_is_written_while_workers_are_there(cluster, tmp_path, capsys, monkeypatch):
    """Its documents lie on the workers; nothing is computed in this process."""
    from gramian import load
    from gramian.cli.app import main

    monkeypatch.chdir(tmp_path)
    X = scipy.sparse.csr_array(np.maximum(in_memory() - 60, 0))
    scipy.sparse.save_npz("x.npz", X)
    monkeypatch.setattr("dask.compute", None)
    told = ["lsi", "x.npz", "-k", "3", "--save", "m.gramian", "-q"]
    assert main([*told, "--scheduler", cluster.client.scheduler.address]) == 0
    wanted = LSI(3).fit(X).documents_
    assert np.abs(load("m.gramian").documents_ - wanted).max() < 1e-9 * np.abs(wanted).max()


def test_components_on_a_scheduler(cluster, tmp_path, capsys, monkeypatch):
    from gramian.cli.app import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(dask_files, "_read", 100_000)
    np.save("x.npy", in_memory(rows=2_000, columns=12))
    told = ["components", "x.npy", "--permutations", "39", "--json", "-q"]
    assert main(told) == 0
    here = json.loads(capsys.readouterr().out)
    assert main([*told, "--scheduler", cluster.client.scheduler.address]) == 0
    there = json.loads(capsys.readouterr().out)
    assert there["n_components"] == here["n_components"]
    assert [each["n_components"] for each in there["rules"]] == [
        each["n_components"] for each in here["rules"]
    ]
    assert np.allclose(there["eigenvalues"], here["eigenvalues"], rtol=1e-9)


COMMAND = """
import sys, time
import numpy as np
import gramian.data.dask.rows as rows
visited = rows.DaskRows._visited
def told(self, parts, add):  # whoever reads this knows how far we are
    print("visit", flush=True)
    return visited(self, parts, add)
rows.DaskRows._visited = told
from gramian.cli.app import main
sys.exit(main())
"""


@pytest.mark.slow
@pytest.mark.parametrize("visits", [0, 1, 2, 3, 5])
def test_the_command_line_says_a_lost_scheduler_in_one_line(tmp_path, visits):
    """Killed at the first connection, and at some visits or a moment later; no logs, no file."""
    np.save(tmp_path / "x.npy", np.random.default_rng(0).standard_normal((300_000, 60)))
    told = ["pca", "x.npy", "-k", "8", "--solver", "krylov", "-o", "z.npy", "--save", "m.gramian"]
    with Processes(tmp_path, 2) as processes:
        told += ["--scheduler", processes.client.scheduler.address]
        processes.client.close()
        child = subprocess.Popen(
            [sys.executable, "-c", COMMAND, *told],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(visits):
            assert child.stdout.readline() == "visit\n"
        time.sleep(0.02 * visits)
        processes.scheduler.kill()
        with within():
            _, said = child.communicate(timeout=60)
    lost = "was lost; nothing was written" if visits else "no Dask scheduler answers at"
    assert child.returncode == 2 and lost in said
    assert said.startswith("error: ") and len(said.splitlines()) == 1
    assert not list(tmp_path.glob("z.npy")) + list(tmp_path.glob("m.gramian"))


def test_a_block_that_no_worker_can_hold_is_refused_at_once(cluster):
    lazy = da.zeros((20_000_000, 10), chunks=(10_000_000, 10))
    with pytest.raises(MemoryRefusedError, match=r"block of 10000000 x 10 float64 needs 1.6 GB on"):
        PCA(2).fit(lazy)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [2, 3, 4])
def test_killed_at_many_moments(tmp_path, workers):
    """Seven moments each, drawn with a fixed seed from all visits of blocks."""
    moments = np.random.default_rng(workers).choice(70, 7, replace=False)
    with Processes(tmp_path, workers) as processes:
        undisturbed = PCA(3, solver="krylov").fit(array())
        for moment in moments.tolist():
            processes.client.wait_for_workers(workers, timeout=60)
            folder = tmp_path / str(moment)
            folder.mkdir()
            with within():
                found = PCA(3, solver="krylov").fit(array(folder, deadly=[moment]))
            assert len(list(folder.iterdir())) > moment  # it was reached
            assert same_bits(found, undisturbed), moment


@pytest.mark.slow
@pytest.mark.parametrize("workers", [2, 3, 4])
def test_killed_at_any_time(tmp_path, workers):
    """One of the workers, seven times each, at a time drawn with a fixed seed: whatever it does."""
    import threading

    rng = np.random.default_rng(workers)
    how = {"rows": 24_000, "columns": 200, "step": 1_000}
    with Processes(tmp_path, workers) as processes:
        PCA(3, solver="krylov").fit(array(**how))  # modules are loaded
        start = time.monotonic()
        undisturbed = PCA(3, solver="krylov").fit(array(**how))
        whole = time.monotonic() - start
        for _ in range(7):
            processes.client.wait_for_workers(workers, timeout=60)
            chosen = int(rng.choice(sorted(processes.client.run(os.getpid).values())))
            killing = threading.Timer(rng.uniform(0, whole), os.kill, (chosen, signal.SIGKILL))
            killing.start()
            with within():
                found = PCA(3, solver="krylov").fit(array(**how))
            killing.join()
            assert same_bits(found, undisturbed)


@pytest.mark.slow
def test_all_but_one_worker_killed(tmp_path):
    """Nobody starts them anew."""
    with Processes(tmp_path, 3, nanny=False) as processes:
        undisturbed = PCA(3, solver="krylov").fit(array())
        folder = tmp_path / "visits"
        folder.mkdir()
        with within():
            found = PCA(3, solver="krylov").fit(array(folder, deadly=[20, 31]))
        assert len(processes.client.scheduler_info(n_workers=-1)["workers"]) == 1
        assert same_bits(found, undisturbed)


@pytest.mark.slow
def test_no_worker_left_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(dask_cluster, "_patience", 5)
    with Processes(tmp_path, 2, nanny=False):
        folder = tmp_path / "visits"
        folder.mkdir()
        with within(), pytest.raises(ClusterError, match="no worker for 5 seconds; start one"):
            PCA(3).fit(array(folder, deadly=[2, 3, 4]))


def test_a_worker_paused_for_good_is_said(tmp_path, monkeypatch):
    """What it uses is no data, so it cannot spill, and begins no task any more."""
    monkeypatch.setattr(dask_cluster, "_patience", 6)
    with Processes(tmp_path, 1, memory="250MB") as processes:
        fill_memory(processes.client, 0.87)
        X = da.random.default_rng(0).standard_normal((400_000, 100), chunks=(50_000, 100))
        said = r"for 6 seconds, because workers .* uses 2\d\d MB of the 250 MB .* give the workers"
        with within(), pytest.raises(ClusterError, match=said):
            PCA(2).fit(X)


@pytest.mark.slow
def test_a_block_that_kills_every_worker_is_said(tmp_path):
    with Processes(tmp_path, 2):
        folder = tmp_path / "visits"
        folder.mkdir()
        with within(), pytest.raises(ClusterError, match="4 workers ended, one after another"):
            PCA(3).fit(array(folder, deadly=range(1000), rows=STEP))


@pytest.mark.slow
def test_a_worker_at_its_memory_limit_spills(tmp_path):
    """Kept blocks do not fit (800 MB into 2 x 450 MB): they go to disk and come back."""
    with Processes(tmp_path, 2, memory="450MB") as processes:
        how = {"rows": 200_000, "columns": 500, "step": 4_000}
        kept = array(**how).persist()
        found = PCA(2).fit(kept)
        X = in_memory(**how)
        inside = PCA(2).fit(X)
        assert np.allclose(found.explained_variance_, inside.explained_variance_, rtol=1e-10)
        assert len(processes.client.scheduler_info(n_workers=-1)["workers"]) == 2


@pytest.mark.slow
def test_a_lost_scheduler_is_said_and_nothing_is_left(tmp_path):
    import threading

    with Processes(tmp_path, 2) as processes:
        folder = tmp_path / "visits"
        folder.mkdir()

        def end_it():
            while len(list(folder.iterdir())) < 15:
                time.sleep(0.01)
            processes.scheduler.kill()

        ending = threading.Thread(target=end_it)
        ending.start()
        lost = "connection to the Dask scheduler was lost"
        with within(), pytest.raises(ClusterError, match=lost):
            PCA(3, solver="krylov").fit(array(folder))
        ending.join()


@pytest.mark.slow
def test_a_worker_without_numba_is_named(tmp_path):
    lacking = tmp_path / "lacking"
    lacking.mkdir()
    (lacking / "numba.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'numba'\", name='numba')\n"
    )
    root = Path(__file__).resolve().parents[2]
    paths = map(str, (lacking, root / "src", root, Path(__file__).resolve().parent))
    environment = {"PYTHONPATH": os.pathsep.join(paths)}
    with (
        Processes(tmp_path, 1, environment=environment),
        pytest.raises(ClusterError, match=r"worker tcp://.* cannot import numba; install gramian"),
    ):
        PCA(3).fit(array())

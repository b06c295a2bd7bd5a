"""Files larger than the memory they may use, on the command line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars
import pytest

import gramian
import gramian.data.door
from gramian.cli import placing
from tests.data.sources import WRITERS, numbers

N, P = 3000, 40
SMALL = ("--memory", "1MB")
PROGRAM = "import sys; from gramian.cli.app import main; sys.exit(main())"


@pytest.fixture
def model(run):
    X = numbers("npy", N, P)
    np.save("x.npy", X)
    code, _, err = run("pca", "x.npy", "-k", "3", "--save", "m.gramian")
    assert code == 0, err
    return X


@pytest.mark.parametrize("kind", ["npy", "parquet", "parquet, folder", "csv", "hdf5", "zarr 3"])
def test_every_kind_of_file_is_read(run, kind):
    X = numbers(kind, N, P)
    path = str(WRITERS[kind](Path.cwd(), X))
    code, out, err = run("pca", path, "-k", "2", "--memory", "1MB", "--json")
    assert code == 0, err
    found = json.loads(out)
    assert found["n_observations"] == N
    twin = gramian.PCA(2).fit(X)
    assert [axis["eigenvalue"] for axis in found["axes"]] == pytest.approx(
        twin.explained_variance_, rel=1e-9
    )
    assert ("temporary file" in err) == (kind == "csv")


def test_labels_and_text_of_a_large_table_come_along(run):
    X = numbers("csv", N, P)
    frame = polars.DataFrame(X, schema=[f"v{j}" for j in range(P)], orient="row")
    who = polars.Series("who", [f"s{i}" for i in range(N)])
    kind = polars.Series("kind", ["x", "y", "y"] * (N // 3))
    frame.insert_column(0, who).insert_column(3, kind).write_csv("t.csv")
    code, _, err = run("pca", "t.csv", "-k", "2", "--memory", "1MB", "-o", "z.csv")
    assert code == 0 and "temporary file" in err, err
    found = polars.read_csv("z.csv")
    assert found["label"].to_list() == who.to_list() and found["kind"].to_list() == kind.to_list()
    expected = gramian.PCA(2).fit_transform(X)
    assert np.allclose(found[["PC1", "PC2"]].to_numpy(), expected, atol=1e-8)


@pytest.mark.parametrize("ending", ["npy", "csv", "tsv", "parquet"])
def test_rows_are_placed_and_written_block_by_block(run, model, monkeypatch, ending):
    sizes = []
    placed = placing._placed

    def watched(*arguments):
        for block in placed(*arguments):
            sizes.append(len(block.coordinates))
            yield block

    monkeypatch.setattr(placing, "_placed", watched)
    code, out, err = run("transform", "m.gramian", "x.npy", "-o", f"z.{ending}", "--memory", "1MB")
    assert code == 0, err
    assert len(sizes) > 4 and sum(sizes) == N
    assert f"{N:,} observations" in out and "placement residual" in out
    fitted = gramian.load("m.gramian")
    expected, left = fitted.transform(model), fitted.placement_residual(model)
    if ending == "npy":
        assert np.allclose(np.load("z.npy"), expected, atol=1e-9)
        return
    read = {"csv": polars.read_csv, "parquet": polars.read_parquet}.get(ending)
    found = read(f"z.{ending}") if read else polars.read_csv("z.tsv", separator="\t")
    assert found.columns == ["PC1", "PC2", "PC3", "placement_residual"]
    assert np.allclose(found.to_numpy(), np.column_stack([expected, left]), atol=1e-6)


def test_a_bad_row_is_named_and_nothing_is_left(run, model):
    model[2345, 6] = np.nan
    np.save("y.npy", model)
    for ending in ("npy", "csv", "parquet"):
        code, _, err = run(
            "transform", "m.gramian", "y.npy", "-o", f"z.{ending}", "--memory", "1MB"
        )
        assert code == 2 and "row 2345, column 6" in err, err
    assert not [name for name in os.listdir() if name.startswith(("z.", ".gramian"))]


WRITING = {
    "placing": ("transform", "m.gramian", "x.npy", *SMALL),
    "fitting": ("pca", "x.npy", "-k", "3"),
}


@pytest.mark.parametrize("words", WRITING.values(), ids=WRITING)
@pytest.mark.parametrize("ending", ["npy", "csv", "parquet"])
def test_files_that_may_not_grow(run, model, ending, words):
    """A limit on the size of files: the reason is said, and nothing is left."""
    limited = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000));"
    )
    out = subprocess.run(
        [sys.executable, "-c", limited + PROGRAM, *words, "-o", f"z.{ending}"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert out.returncode == 2, out.stderr
    assert out.stderr.endswith(f"error: cannot write z.{ending}: File too large\n"), out.stderr
    assert not [name for name in os.listdir() if name.startswith(("z.", ".gramian"))]


@pytest.fixture
def full(folder):
    """A file system that holds 32 kB."""
    Path("full").mkdir()
    mounted = ["mount", "-t", "tmpfs", "-o", "size=32k", "tmpfs", "full"]
    try:
        subprocess.run(mounted, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no file system can be mounted here")
    yield "full"
    subprocess.run(["umount", "full"], check=True)


@pytest.mark.parametrize("words", WRITING.values(), ids=WRITING)
@pytest.mark.parametrize("ending", ["npy", "csv", "parquet"])
def test_full_disk(run, model, full, ending, words):
    code, _, err = run(*words, "-o", f"{full}/z.{ending}")
    assert code == 2
    assert err.endswith(f"error: cannot write {full}/z.{ending}: No space left on device\n"), err
    assert not os.listdir(full)


def test_interrupt_leaves_nothing(run, model):
    """Ctrl-C while a large text file is parsed and while rows are placed."""
    WRITERS["csv"](Path.cwd(), np.concatenate([model] * 10))
    before = sorted(os.listdir())
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "transform", "m.gramian", "x.csv", "-o", "z.csv", *SMALL],
        stderr=subprocess.PIPE,
        text=True,
    )
    while process.poll() is None and sorted(os.listdir()) == before:
        time.sleep(0.01)  # until the result has been begun
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode in (0, 130), err  # 0: it was faster
    left = set(os.listdir()) - set(before)
    assert left <= ({"z.csv"} if process.returncode == 0 else set())


def test_known_endings_are_listed(run):
    code, _, err = run("pca", "nowhere*.parquet")
    assert code == 2 and "no file matches" in err
    Path("folder").mkdir()
    code, _, err = run("pca", "folder")
    assert code == 2 and "folder without a file that can be read" in err


def test_a_plan_of_parquet_and_the_refusal_of_large_row_groups(run):
    X = numbers("parquet", 20_000, 100)
    polars.DataFrame(X).write_parquet("x.parquet", row_group_size=2000)
    words = ("x.parquet", "-k", "2", "--memory", "20MB", "--json")
    code, out, err = run("plan", "pca", *words)
    assert code == 0, err
    planned = json.loads(out)
    assert not planned["resident"] and planned["data_bytes"] == X.nbytes
    assert planned["passes"] == 2 and planned["bytes_read"] == 2 * X.nbytes
    assert 1e6 < planned["bytes_beyond_data"] < 20e6
    code, out, err = run("pca", *words)
    assert code == 0, err
    assert json.loads(out)["passes"] == 1  # and one to place the rows
    polars.DataFrame(X).write_parquet("x.parquet", row_group_size=20_000)
    for command in (("plan", "pca"), ("pca",)):
        code, _, err = run(*command, *words)
        assert code == 4 and err.count("\n") == 1
        assert "1 row group of 20,000 rows" in err and "(--memory)" in err


def test_a_plan_of_text_knows_that_it_will_be_copied(run, monkeypatch):
    X = numbers("csv", N, P).round(2)
    WRITERS["csv"](Path.cwd(), X)
    monkeypatch.setattr("gramian.cli.plan._SAMPLE", 100_000)
    near = json.loads(run("plan", "pca", "x.csv", "--memory", "1GB", "--json")[1])
    far = json.loads(run("plan", "pca", "x.csv", "--memory", "2MB", "--json")[1])
    assert near["estimated"] and near["resident"] and not far["resident"]
    assert far["passes"] == 2


def test_a_plan_of_text_is_that_of_its_run(run, monkeypatch):
    """A part is looked at which, as numbers, is larger than the budget itself."""
    X = np.random.default_rng(0).integers(0, 10, (60_000, 5))
    np.savetxt("i.csv", X, "%d", ",", header="a,b,c,d,e", comments="")
    np.save("i.npy", X.astype(float))
    monkeypatch.setattr("gramian.cli.plan._SAMPLE", 200_000)
    code, out, err = run("plan", "pca", "i.csv", "-k", "2", *SMALL, "--json")
    assert code == 0 and not err, err  # nothing was copied
    planned = json.loads(out)
    assert planned["estimated"] and not planned["resident"]
    assert planned["n_observations"] == pytest.approx(60_000, rel=1e-3)
    with pytest.warns(gramian.errors.GramianWarning, match="temporary file"):
        found = gramian.data.door.open_rows("i.csv", "1MB")
    assert planned["bytes_beyond_data"] == gramian.PCA(2, memory="1MB").plan(found).bytes


def test_a_plan_of_text_for_a_cluster_is_of_all_of_it(run, monkeypatch):
    pytest.importorskip("dask")
    X = numbers("csv", 2 * N, P).round(2)
    WRITERS["csv"](Path.cwd(), X)
    words = ("plan", "pca", "x.csv", "-k", "2", "--workers", "4")
    whole = json.loads(run(*words, "--json")[1])
    monkeypatch.setattr("gramian.cli.plan._SAMPLE", 100_000)
    guessed = json.loads(run(*words, "--json")[1])
    assert guessed["estimated"] and not whole["estimated"]
    assert guessed["cluster"] == pytest.approx(whole["cluster"], rel=0.01)
    code, _, err = run(*words, *SMALL)
    assert code == 2 and "on a cluster a table that fits in memory can be used" in err


@pytest.mark.parametrize("kind", ["hdf5, chunked", "mtx"])
def test_a_plan_says_what_comes_on_top_of_a_small_budget(run, kind):
    path = WRITERS[kind](Path.cwd(), numbers(kind, N, P))
    code, out, err = run("plan", "pca", path, "-k", "2", *SMALL)
    assert code == 0, err
    assert "1 MB may be used (packages that open the file, and results that are kept, come" in out
    copied = "nothing was computed, but the data were copied\n" in out
    assert copied == (kind == "mtx") == ("temporary file" in err)
    code, out, err = run("plan", "pca", path, "-k", "2", "--memory", "400MB")
    assert code == 0 and "400 MB may be used\n" in out and "computed\n" in out

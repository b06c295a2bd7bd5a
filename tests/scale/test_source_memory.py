"""Sources under a budget: resident memory beside the budget and beside what the plan foretold.

Everything is measured in a process of its own, above what it holds after a small fit of the same
kind of file (imports, compiled code, threads). Memory is what is resident. A limit on address space
(``RLIMIT_DATA``) is harder: it counts what an allocator keeps for later as well. That of glibc
keeps little; jemalloc, which polars uses, keeps several times what is in use, unless it is told not
to, as it is where a large Parquet or Arrow file is the reason to import polars.
"""

import json
import os
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pytest
import scipy.sparse

from gramian import PCA
from gramian.data.door import open_rows
from gramian.errors import MemoryRefusedError
from gramian.memory import budget
from tests.data.sources import SPARSE, WRITERS, numbers

FRUGAL = "narenas:1,dirty_decay_ms:0,muzzy_decay_ms:0"  # for jemalloc: keep nothing

MEASURE = """
    import ctypes, gc, json, os, resource, threading, time, warnings
    warnings.simplefilter("ignore")
    from gramian import LSI, PCA
    from gramian.cli.app import main
    from gramian.data.door import open_rows

    class Placed(PCA):  # with all rows placed in a file, on the command line
        written = None

        def fit(self, X):
            super().fit(X).save(self.written + ".gramian")
            words = "-o", self.written, "--memory", str(self.memory), "--force", "-q"
            assert main(["transform", self.written + ".gramian", str(X.rows.path), *words]) == 0
            return self

    def resident():
        return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def writable():
        lines = dict(line.split(":", 1) for line in open("/proc/self/status"))
        return int(lines["VmData"].split()[0]) * 1024

    for each in {warm!r}:  # compile and load everything first
        rows = open_rows(each, {beside!r})
        {model}(3, memory="20MB").plan(rows.rows)
        {model}(3, memory="20MB").fit(rows)
    rows = None
    gc.collect()
    if hasattr(ctypes.CDLL(None), "malloc_trim"):
        ctypes.CDLL(None).malloc_trim(0)
    if {hard!r}:
        most = writable() + {cap} * 11 // 10
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    base, peak, done = resident(), 0, False

    def watch():
        global peak
        while not done:
            peak = max(peak, resident())
            time.sleep(0.002)

    thread = threading.Thread(target=watch, daemon=True); thread.start()
    found = open_rows({path!r}, {cap})
    planned = {model}(3, memory={cap}).plan(found)
    model = {model}(3, memory={cap}).fit(found)
    done = True; thread.join()
    print(json.dumps({{
        "used": peak - base, "planned": planned.bytes, "size": found.rows.stored_bytes,
        "resident": found.rows.resident, "residual": float(model.residuals_.max()),
    }}))
"""


def measured(path, warm, cap, *, hard=False, model="PCA", beside="20MB", **environment):
    given = {"path": str(path), "warm": warm, "cap": cap, "hard": hard}
    code = textwrap.dedent(MEASURE).format(**given, model=model, beside=beside)
    out = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=250,
        env={**os.environ, **environment},
    )
    assert out.returncode == 0, out.stderr
    return json.loads(out.stdout.splitlines()[-1])


def write(kind, folder, n, p, times=1):
    """A file with ``times`` strips of the same n rows below each other."""
    import polars

    folder.mkdir()
    X = np.concatenate([numbers(kind.partition(",")[0], n, p).round(2)] * times)
    if kind == "parquet":
        polars.DataFrame(X).write_parquet(folder / "x.parquet", row_group_size=n // 8)
        return folder / "x.parquet"
    if kind.startswith("feather"):
        packed = "zstd" if "packed" in kind else "uncompressed"
        frame = polars.DataFrame(X)
        frame.write_ipc(folder / "x.feather", compression=packed, record_batch_size=n // 8)
        return folder / "x.feather"
    return WRITERS[kind](folder, X)


def kept(found, cap, unseen=5):
    """The budget is kept, and the plan said what was needed: to 20 %, or what cannot be seen."""
    used, planned = found["used"] / 1e6, found["planned"] / 1e6
    assert not found["resident"] and found["size"] > cap
    assert found["residual"] <= 1e-4
    assert used <= 1.1 * cap / 1e6, f"{used:.0f} MB used, {cap / 1e6:.0f} MB allowed"
    share = 0.2 * max(used, planned)
    # A process with room left from its imports asks for less: a little too much may be foretold.
    within = -max(share, unseen) <= planned - used <= max(share, 8)
    assert within, f"{used:.1f} MB used, {planned:.1f} foretold"


UNSEEN = {"csv": 8}  # MB: freed text is given back in the background, later on a busy machine
QUICK = ["npy", "npy, by columns", "zarr 3", "csv", "parquet", "feather"]


@pytest.mark.parametrize("kind", QUICK)
def test_small_files_keep_small_budgets(tmp_path, kind):
    cap = 40_000_000
    warm = write(kind, tmp_path / "warm", 20_000, 40)
    path = write(kind, tmp_path / "big", 20_000, 150, 3)
    kept(measured(path, [str(warm)], cap), cap, UNSEEN.get(kind, 5))


LSI_TFIDF = "(lambda k, memory: LSI(k, weighting='tfidf', memory=memory))"


@pytest.mark.parametrize("model", ["PCA", "LSI", LSI_TFIDF], ids=["pca", "lsi", "tfidf"])
@pytest.mark.parametrize("kind", ["h5ad, sparse", "mtx"])
def test_sparse_files_keep_small_budgets(tmp_path, kind, model):
    cap = 30_000_000
    path, warm = sparse(kind, tmp_path, cap)
    kept(measured(path, [warm], cap, model=model, beside="4MB"), cap, 8 if kind == "mtx" else 5)


def sparse(kind, folder, cap, entries=30):
    """A large sparse file with 30 numbers in each of 100,000 rows, and a small one."""
    found = []
    for name, n, p, each in (("warm", 20_000, 40, 12), ("big", 100_000, 300, entries)):
        rng = np.random.default_rng(n)
        (folder / name).mkdir()
        columns = (rng.integers(0, p, (n, 1)) + 7 * np.arange(each)) % p
        counts = rng.integers(1, 9, (n, each)) * (1 + 3.0 * (columns < 3))
        columns, counts = columns.astype(np.int32).ravel(), counts.ravel()
        ends = np.arange(0, n * each + 1, each, dtype=np.int32)
        X = scipy.sparse.csr_matrix((counts, columns, ends), shape=(n, p))
        X.sort_indices()
        found.append(WRITERS[kind](folder / name, X))
    return found[1], str(found[0])


def test_documents_of_a_tall_file_are_kept_once(tmp_path):
    """Coordinates of all rows: not wider than was asked for, and counted."""
    cap = 20_000_000
    warm = npy(tmp_path / "warm.npy", 20_000, 40, "float32", "C")
    path = npy(tmp_path / "x.npy", 400_000, 20, "float32", "C")
    kept(measured(path, [warm], cap, model="LSI"), cap)


def images(folder, n, p):
    folder.mkdir()
    X = np.random.default_rng(0).integers(0, 256, (n, p)).astype(float)
    for left, right in ((0, 50), (50, 80), (80, 95)):
        X[:, left:right] = X[:, left : left + 1]
    return WRITERS["images"](folder, X)


def genotypes(folder, n, p):
    """Calls of relatives, without a missing one, packed a part of the variants at a time."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    shared = rng.integers(0, 3, (3, n))
    with (folder / "x.bed").open("wb") as file:
        file.write(b"\x6c\x1b\x01")
        for _ in range(0, p, 1000):
            G = rng.integers(0, 3, (1000, n))
            for group, share in zip(shared, (0.3, 0.2, 0.1), strict=True):
                G = np.where(rng.random((1000, n)) < share, group, G)
            codes = np.array([3, 2, 0], np.uint8)[G].reshape(1000, n // 4, 4)
            file.write((codes << np.array([0, 2, 4, 6], np.uint8)).sum(2, dtype=np.uint8).tobytes())
    (folder / "x.fam").write_text("".join(f"f s{i} 0 0 0 -9\n" for i in range(n)))
    (folder / "x.bim").write_text("".join(f"1 v{j} 0 {j} A C\n" for j in range(p)))
    return folder / "x.bed"


DECODED = {
    "images": (images, (200, 2000), (1200, 30_000), 60_000_000),
    "bed": (genotypes, (400, 3000), (1200, 40_000), 100_000_000),
}


@pytest.mark.parametrize("kind", DECODED)
def test_what_is_decoded_keeps_the_budget(tmp_path, kind):
    make, small, (n, p), cap = DECODED[kind]
    warm, path = make(tmp_path / "warm", *small), make(tmp_path / "big", n, p)
    found = measured(path, [str(warm)], cap)
    assert not found["resident"] and 8 * n * p > 3 * cap > found["size"]
    used, planned = found["used"], found["planned"]
    assert used <= 1.1 * cap and found["residual"] <= 1e-4
    assert 0.65 * planned <= used <= 1.2 * planned, f"{used / 1e6:.0f}, {planned / 1e6:.0f} MB"


@pytest.mark.parametrize("ending", ["npy", "csv", "parquet"])
def test_placing_all_rows_in_a_file_keeps_the_budget(tmp_path, ending):
    cap = 30_000_000
    warm = npy(tmp_path / "warm.npy", 20_000, 40, "float64", "C")
    path = npy(tmp_path / "x.npy", 500_000, 20, "float64", "C")
    written = str(tmp_path / f"z.{ending}")
    placed = f"type('PCA', (Placed,), {{'written': {written!r}}})"
    found = measured(path, [warm], cap, model=placed)
    assert not found["resident"] and found["size"] > 2 * cap
    assert found["used"] <= 1.1 * cap, f"{found['used'] / 1e6:.0f} MB used"


LARGE = ["zarr 3", "hdf5", "hdf5, chunked", "h5ad", "csv", "parquet", "feather", "feather, packed"]


@pytest.mark.slow
@pytest.mark.parametrize("cap", [60_000_000, 250_000_000])
@pytest.mark.parametrize("kind", LARGE)
def test_large_files_keep_their_budgets(tmp_path, kind, cap):
    warm = write(kind, tmp_path / "warm", 20_000, 40)
    times = 4 if kind == "csv" else 6  # text is slow to write
    path = write(kind, tmp_path / "big", 40_000, 300, times)
    kept(measured(path, [str(warm)], cap), cap, UNSEEN.get(kind, 5))


SHAPES = {
    "one pass": (300_000, 300, "float64", "C"),
    "one pass, by columns": (300_000, 300, "float64", "F"),
    "one pass by BLAS": (50_000, 1200, "float64", "C"),
    "wide": (600, 60_000, "float64", "C"),
    "products": (20_000, 3000, "float64", "C"),
    "float32": (900_000, 200, "float32", "C"),
}


def npy(path, n, p, dtype, order):
    rng = np.random.default_rng(0)
    R, noise = rng.standard_normal((10, p)), rng.standard_normal((5000, p))
    X = np.lib.format.open_memmap(path, "w+", dtype, (n, p), fortran_order=order == "F")
    for a in range(0, n, 5000):
        b = min(a + 5000, n)
        strong = rng.standard_normal((b - a, 10)) * np.arange(10, 0, -1) @ R
        X[a:b] = strong + noise[: b - a] + 5
    X.flush()
    return str(path)


@pytest.mark.slow
@pytest.mark.parametrize("cap", [60_000_000, 250_000_000])
@pytest.mark.parametrize("name", SHAPES)
def test_every_route_keeps_its_budget(tmp_path, name, cap):
    *shape, dtype, order = SHAPES[name]
    warm = [
        npy(tmp_path / f"warm{i}.npy", n, p, dtype, order)
        for i, (n, p) in enumerate([(20_000, 40), (60, 20_000), (3000, 700), (3500, 3000)])
    ]
    path = npy(tmp_path / "x.npy", *shape, dtype, order)
    kept(measured(path, warm[: 2 if shape[1] != 1200 and shape[1] != 3000 else 4], cap), cap)


@pytest.mark.slow
def test_ten_times_a_quarter_of_a_gigabyte(tmp_path):
    cap = 256_000_000
    warm = npy(tmp_path / "warm.npy", 20_000, 40, "float32", "C")
    path = npy(tmp_path / "x.npy", 1_300_000, 500, "float32", "C")
    kept(measured(path, [warm], cap), cap)


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 8])
def test_other_numbers_of_threads_keep_the_budget(tmp_path, threads):
    cap = 100_000_000
    warm = npy(tmp_path / "warm.npy", 20_000, 40, "float64", "C")
    path = npy(tmp_path / "x.npy", 300_000, 300, "float64", "C")
    kept(measured(path, [warm], cap, GRAMIAN_THREADS=str(threads)), cap)


HARD = ["npy", "parquet", "zarr 3", "hdf5, chunked", "h5ad", "csv", "feather", "feather, packed"]
HARD += ["h5ad, sparse", "mtx"]
HARD[2:] = [pytest.param(kind, marks=pytest.mark.slow) for kind in HARD[2:]]


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_DATA counts all memory only on Linux")
@pytest.mark.parametrize("kind", HARD)
def test_under_a_hard_limit(tmp_path, kind):
    """The system refuses every page beyond the budget and a tenth: the fit ends well."""
    cap = 60_000_000
    if kind in SPARSE:
        path, warm = sparse(kind, tmp_path, cap, 210)
    else:
        warm = write(kind, tmp_path / "warm", 20_000, 40)
        path = write(kind, tmp_path / "big", 40_000, 200, 4)
    told = {"_RJEM_MALLOC_CONF": FRUGAL} if kind in ("csv", "mtx") else {}
    found = measured(path, [str(warm)], cap, hard=True, **told)
    assert not found["resident"] and found["size"] > 4 * cap
    assert found["residual"] <= 1e-6


@pytest.mark.parametrize("kind", ["parquet", "feather"])
def test_pieces_larger_than_the_budget_are_refused_with_what_would_do(tmp_path, kind):
    X = numbers(kind, 40_000, 100)
    path = WRITERS[kind](tmp_path, X)
    import polars

    if kind == "parquet":
        polars.DataFrame(X).write_parquet(path)
    with pytest.raises(MemoryRefusedError, match="rows in each") as refusal:
        open_rows(path, "25MB")
    number = str(refusal.value).partition("allow ")[2].partition(" (memory=)")[0]
    assert 25 < float(number.split()[0]) < 200
    found = open_rows(path, number.replace(" ", ""))
    assert np.array_equal(found.rows.read_rows(slice(39_990, 40_000)), X[-10:])


def test_very_many_row_groups_are_refused_with_what_would_do(tmp_path):
    import polars

    X = numbers("parquet", 12_000, 200)
    polars.DataFrame(X).write_parquet(tmp_path / "x.parquet", row_group_size=50)
    with pytest.raises(MemoryRefusedError, match="240 row groups of 50 rows.* more rows in each"):
        open_rows(tmp_path / "x.parquet", "20MB")


@pytest.mark.parametrize("kind", ["h5ad, sparse", "zarr, sparse", "mtx"])
def test_a_larger_budget_takes_what_a_smaller_one_took(tmp_path, kind):
    X = scipy.sparse.random_array((4000, 100), density=0.3, format="csr", random_state=0)
    path = WRITERS[kind](tmp_path, scipy.sparse.csr_matrix(X))
    resident = []
    for memory in ("4MB", "6MB", "8MB", "12MB", "20MB", "60MB"):
        with warnings.catch_warnings(action="ignore"):  # of a copy
            found = open_rows(path, memory)
        assert PCA(3, memory=memory).plan(found).bytes <= 1.1 * budget(memory) + 3e6
        resident.append(found.rows.resident)
    assert not resident[0] and resident[-1] and sorted(resident) == resident

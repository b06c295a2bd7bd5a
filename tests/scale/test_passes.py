"""Visits to the data are counted as they are made, and the next block is read meanwhile."""

import json
import threading
import time
import warnings

import numpy as np
import pytest
import scipy.sparse

import gramian.data.npy as npy
from gramian import (
    LSI,
    PCA,
    ClassicalMDS,
    Isomap,
    KernelPCA,
    ProbabilisticPCA,
    parallel_analysis,
)
from gramian.cli.app import main
from gramian.data.door import open_rows
from gramian.data.rows import _cut
from gramian.loops.threads import limit_threads
from tests.data.sources import WRITERS


@pytest.fixture
def taken(monkeypatch):
    """Bytes that were read from .npy files since they were last asked for."""
    read, counted = npy.read_items, [0]
    hand = threading.Lock()

    def counting(path, file, at, count, kind):
        with hand:
            counted[0] += count * kind.itemsize
        return read(path, file, at, count, kind)

    def since():
        found, counted[0] = counted[0], 0
        return found

    monkeypatch.setattr(npy, "read_items", counting)
    return since


def saved(folder, n, p, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4)) * [9, 7, 5, 3] @ rng.standard_normal((4, p))
    X += 0.3 * rng.standard_normal((n, p)) + 2
    np.save(folder / "x.npy", X)
    return str(folder / "x.npy"), X.nbytes


LINEAR = {
    "one visit": (PCA(3, memory="2MB"), 6000, 60),
    "scaled": (PCA(3, scale="unit", memory="2MB"), 6000, 60),
    "by the rows": (PCA(3, memory="24MB"), 300, 9000),
    "products": (PCA(2, solver="krylov", memory="8MB"), 3000, 900),
    "lsi": (LSI(3, memory="2MB"), 6000, 60),
    "ppca": (ProbabilisticPCA(3, memory="2MB"), 6000, 60),
}


@pytest.mark.parametrize("name", LINEAR)
def test_linear_methods_count_what_they_read(tmp_path, taken, name):
    model, n, p = LINEAR[name]
    path, size = saved(tmp_path, n, p)
    planned = model.plan(path)
    taken()
    model.fit(path)
    made = model.plan_.passes
    assert taken() / size == pytest.approx(made, abs=0.3)  # a sample of rows, the first row
    if planned.kind != "products":
        assert made <= planned.passes <= made + 1, (made, planned.passes)
    model.transform(path)
    assert taken() == size * (2 if name in ("lsi", "ppca") else 1)  # these look before


def test_parallel_analysis_counts_its_visits(tmp_path, taken):
    path, size = saved(tmp_path, 6000, 40)
    found = parallel_analysis(path, n_permutations=20, memory="12MB", random_state=0)
    assert found.passes >= 1
    assert taken() / size == pytest.approx(found.passes, abs=0.3)


LANDMARKS = {
    "kernel pca": (KernelPCA(2, kernel="rbf", gamma=1e-5, landmarks=20, memory="60MB"), 4000, 700),
    "linear kernel": (KernelPCA(2, kernel="linear", landmarks=70, memory="60MB"), 4000, 700),
    "mds": (ClassicalMDS(2, landmarks=60, memory="4MB"), 4000, 60),
    "isomap": (Isomap(2, n_neighbors=8, landmarks=15, memory="24MB"), 3000, 600),
}


@pytest.mark.parametrize("name", LANDMARKS)
def test_landmark_methods_count_what_they_read(tmp_path, taken, name):
    model, n, p = LANDMARKS[name]
    path, size = saved(tmp_path, n, p)
    planned = model.plan(path)
    taken()
    model.fit(path)
    made = model.plan_.passes
    # single points, and a sample of them, are read beside
    assert made - 0.6 <= taken() / size <= made + 0.6
    assert abs(made - planned.passes) <= 1


SPARSE = {
    "pca": (PCA(2, memory="4MB"), 3000, 200),
    "pca by the rows": (PCA(2, memory="12MB"), 300, 4000),
    "lsi": (LSI(2, memory="4MB"), 3000, 200),
    "tf-idf": (LSI(2, weighting="tfidf", memory="4MB"), 3000, 200),
    "log-entropy": (LSI(2, weighting="logentropy", memory="4MB"), 3000, 200),
}


@pytest.mark.parametrize("name", SPARSE)
@pytest.mark.parametrize("kind", ["h5ad, sparse", "mtx"])
def test_sparse_files_count_what_they_read(tmp_path, kind, name):
    model, n, p = SPARSE[name]
    X = scipy.sparse.random_array((n, p), density=0.3, format="csr", random_state=0)
    path = WRITERS[kind](tmp_path, scipy.sparse.csr_matrix(X))
    with warnings.catch_warnings(action="ignore"):  # of the copy
        opened = open_rows(path, model.memory)
    rows, taken = opened.rows, []

    def counting(first, last):
        taken.append(last - first)
        return stored.read(first, last)

    stored = rows.stored
    rows.stored = stored._replace(read=counting)
    planned = model.plan(opened)
    assert not taken and not rows.resident
    model.fit(opened)
    assert planned.passes == model.plan_.passes
    read = sum(taken) / X.nnz
    assert model.plan_.passes - 1 < read <= model.plan_.passes  # the last one may be a part


def test_a_plan_of_a_sparse_file_says_what_is_read(tmp_path, capsys):
    X = scipy.sparse.random_array((3000, 200), density=0.3, format="csr", random_state=0)
    path = WRITERS["h5ad, sparse"](tmp_path, scipy.sparse.csr_matrix(X))
    assert main(["plan", "pca", str(path), "-k", "2", "--memory", "4MB", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["data_bytes"] == X.data.nbytes + X.indices.nbytes
    assert found["bytes_read"] == found["passes"] * found["data_bytes"] and found["passes"] == 5


def test_placing_into_a_file_is_one_visit(tmp_path, taken, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path, size = saved(tmp_path, 6000, 60)
    assert main(["pca", path, "-k", "2", "--memory", "2MB", "--save", "m.gramian"]) == 0
    capsys.readouterr()
    taken()
    words = ["transform", "m.gramian", path, "-o", "z.npy", "--memory", "2MB", "--json"]
    assert main(words) == 0
    assert json.loads(capsys.readouterr().out)["passes"] == 1
    assert taken() == size


# Reading and computing at the same time -----------------------------------------------------------


class Slow:
    """Blocks whose reads are told, and can take their time."""

    def __init__(self, rows, pause=0.0):
        self.rows, self.pause, self.begun = rows, pause, []
        self.read, self.told = rows._lead, threading.Condition()
        rows._lead = self.lead

    def lead(self, start, stop):
        with self.told:
            self.begun.append(start)
            self.told.notify_all()
        time.sleep(self.pause)
        return self.read(start, stop)

    def wait_for_one_after(self, start):
        """The read of a later block, which must begin while this one is worked on."""
        with self.told:
            assert self.told.wait_for(lambda: max(self.begun) > start, 10), "nobody reads ahead"


@pytest.fixture
def slow(tmp_path):
    path, _ = saved(tmp_path, 10_000, 80)
    rows = open_rows(path, "4MB").rows
    assert len(rows._lead_blocks()) > 40
    return Slow(rows)


def test_the_next_block_is_read_while_one_is_worked_on(slow):
    visited = []
    for rows, _ in slow.rows.blocks():
        if rows.stop < 10_000:
            slow.wait_for_one_after(rows.start)
        visited.append(rows.start)
    assert visited == sorted(set(slow.begun))


def test_sums_read_ahead_too(slow):
    # the running totals are of groups of blocks, each of which is read to its end
    ends = {group[-1][0] for group in _cut(slow.rows._lead_blocks(), 8)}

    def step(block, a, b, total):
        if a not in ends:
            slow.wait_for_one_after(a)
        total += block.sum()

    with limit_threads(1):
        slow.rows._fold(step, (1, 1))


@pytest.mark.parametrize("threads", [1, 2])
def test_waiting_for_the_disk_and_computing_take_the_time_of_one(slow, threads):
    slow.pause = 0.01

    def step(block, a, b, total):
        time.sleep(0.01)

    blocks = len(slow.rows._lead_blocks())
    with limit_threads(threads):
        begin = time.perf_counter()
        slow.rows._fold(step, (1, 1))
        took = time.perf_counter() - begin
    assert took < 0.8 * 0.02 * blocks

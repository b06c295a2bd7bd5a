"""Exact PCA of a file larger than the memory it may use: time from a cold cache, memory, accuracy.

Each contestant runs in a process of its own, on the same .npy file of float32. Before each, the
file is written out and dropped from the system's cache (``posix_fadvise`` with ``DONTNEED``); how
fast it is then read is measured too. Time is that of the fit alone, imports and a warm-up on a
small file apart; memory is the growth of the resident set at its worst moment, so pages of a memory
map that are in memory count. IncrementalPCA is timed on a quarter of the rows, times four.

A contestant alone: python -m benchmarks.out_of_core FILE NAME K OUT.npz
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import scipy.linalg

from benchmarks.measure import Machine, Settings, Table, sine, value_error
from benchmarks.memory import ROOT, peak_of

Found = tuple[np.ndarray, np.ndarray]  # variances, axes as columns


def gramian(path: Path, k: int) -> Found:
    """Ours: one pass."""
    from gramian import PCA

    model = PCA(k, memory="400MB").fit(path)
    return model.explained_variance_, model.components_.T


def dask_by_hand(path: Path, k: int) -> Found:
    """What one writes with dask.array: center, multiply, and LAPACK."""
    import dask.array as da

    X = da.from_array(np.load(path, mmap_mode="r"), chunks=("auto", -1))
    Y = X - X.mean(axis=0)
    return _of_covariance((Y.T @ Y).compute() / (X.shape[0] - 1), k)


def scikit_learn(path: Path, k: int) -> Found:
    """PCA on the memory map."""
    from sklearn.decomposition import PCA

    model = PCA(k, random_state=0).fit(np.load(path, mmap_mode="r"))
    return model.explained_variance_, model.components_.T


def incremental(path: Path, k: int) -> Found:
    """IncrementalPCA on the first quarter of the rows."""
    from sklearn.decomposition import IncrementalPCA

    X = np.load(path, mmap_mode="r")
    model = IncrementalPCA(k).fit(X[: len(X) // 4])
    return model.explained_variance_, model.components_.T


def reference(path: Path, k: int) -> Found:
    """In float64, centered by a mean in float64, block by block."""
    X = np.load(path, mmap_mode="r")
    n, p = X.shape
    blocks = [slice(a, a + 8192) for a in range(0, n, 8192)]
    mean = sum(X[rows].sum(axis=0, dtype=np.float64) for rows in blocks) / n
    C = np.zeros((p, p))
    for rows in blocks:
        Y = X[rows] - mean
        C += Y.T @ Y
    return _of_covariance(C / (n - 1), k)


def disk(path: Path, k: int) -> Found:
    """The disk's own speed: every byte read once, by four readers, nothing done with it."""
    size, step, readers = path.stat().st_size, 16_000_000, 4

    def read(first: int) -> None:
        room = bytearray(step)
        with open(path, "rb", buffering=0) as file:
            for at in range(first * step, size, readers * step):
                file.seek(at)
                file.readinto(room)

    with ThreadPoolExecutor(readers) as pool:
        list(pool.map(read, range(readers)))
    return np.ones(k), np.eye(k)


def _of_covariance(C: np.ndarray, k: int) -> Found:
    p = len(C)
    values, V = scipy.linalg.eigh(C, subset_by_index=(p - k, p - 1))
    return values[::-1], V[:, ::-1]


CONTESTANTS: dict[str, Callable[[Path, int], Found]] = {
    "gramian": gramian,
    "dask, by hand": dask_by_hand,
    "scikit-learn PCA": scikit_learn,
    "scikit-learn IncrementalPCA": incremental,
    "disk": disk,
    "reference": reference,
}
NEEDS = {"dask, by hand": "dask"}
TIMES = {"scikit-learn IncrementalPCA": 4}
COLUMNS = (
    *("contestant", "seconds", "peer / ours", "memory MB", "eigenvalue error", "sine of angle"),
    *("of disk", "of BLAS"),
)


@dataclass(frozen=True)
class Size:
    """How large the file is."""

    n: int
    p: int
    k: int


QUICK, USUAL, FULL = Size(4_000, 40, 3), Size(250_000, 1_000, 20), Size(2_000_000, 1_000, 20)


def write(path: Path, size: Size, seed: int = 0) -> None:
    """50 directions of decaying strength and unit noise, about a mean of 1 to 3."""
    rng = np.random.default_rng(seed)
    R = rng.standard_normal((50, size.p), dtype=np.float32)
    mean = rng.uniform(1, 3, size.p).astype(np.float32)
    strength = (np.arange(50, 0, -1) / 5).astype(np.float32)
    X = np.lib.format.open_memmap(path, "w+", np.float32, (size.n, size.p))
    for a in range(0, size.n, 20_000):
        rows = min(20_000, size.n - a)
        U = rng.standard_normal((rows, 50), dtype=np.float32) * strength
        block = rng.standard_normal((rows, size.p), dtype=np.float32)
        block += U @ R
        block += mean
        X[a : a + rows] = block
    X.flush()


def drop(path: Path) -> None:
    """Let the system forget the file, so that it has to be read from the disk."""
    if hasattr(os, "posix_fadvise"):
        with open(path, "rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def tables(settings: Settings) -> Iterator[Table]:
    """One table, for the size asked for."""
    size = QUICK if settings.quick else FULL if settings.full else USUAL
    with tempfile.TemporaryDirectory(prefix="gramian-bench-") as folder:
        path = Path(folder) / "X.npy"
        write(path, size)
        found = {
            name: measured(path, name, size.k)
            for name in CONTESTANTS
            if name not in NEEDS or find_spec(NEEDS[name])
        }
    yield table(size, found, Machine.measured(settings.quick))


def measured(path: Path, name: str, k: int) -> dict[str, Any]:
    """Seconds, memory, variances and axes of a contestant, in a new process, from a cold cache."""
    out = path.with_name("found.npz")
    drop(path)
    command = [sys.executable, "-m", "benchmarks.out_of_core", str(path), name, str(k), str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        return {"failed": (done.stderr.splitlines() or ["killed"])[-1]}
    with np.load(out) as answer:
        return {**json.loads(done.stdout.splitlines()[-1]), **answer}


def table(size: Size, found: dict[str, dict[str, Any]], machine: Machine) -> Table:
    """What everybody took, and how exact it was."""
    truth, ours = found["reference"], found["gramian"]["seconds"]
    read, work = found["disk"]["seconds"], size.n * size.p**2 / machine.flops["float32"]
    rows: list[tuple[Any, ...]] = []
    for name, its in found.items():
        if name in ("reference", "disk"):
            continue
        if "failed" in its:
            rows.append((name, its["failed"], *[None] * 6))
            continue
        seconds = its["seconds"] * TIMES.get(name, 1)
        errors = value_error(its["values"], truth["values"]), sine(its["axes"], truth["axes"])
        shares = f"{read / seconds:.0%}", f"{work / seconds:.0%}"
        rows.append((name, seconds, seconds / ours, its["memory"] / 1e6, *errors, *shares))
    size_in_gb = size.n * size.p * 4 / 1e9
    return Table(
        f"PCA of a file, {size.n:,} x {size.p:,} float32 ({size_in_gb:.3g} GB), k = {size.k}",
        COLUMNS,
        rows,
        (
            f"Reading alone took {read:.3g} s ({size_in_gb / read:.2g} GB/s); n p^2 operations at "
            f"{machine.flops['float32'] / 1e9:.0f} GFLOP/s would take {work:.3g} s.",
            "IncrementalPCA was given a quarter of the rows; its seconds are times four.",
        ),
    )


def main(arguments: list[str]) -> None:
    """The child: file, contestant, k, and where the answer goes."""
    path, name, k, out = Path(arguments[0]), arguments[1], int(arguments[2]), Path(arguments[3])
    fit = CONTESTANTS[name]
    with tempfile.TemporaryDirectory(prefix="gramian-bench-") as folder:
        small = Path(folder) / "small.npy"  # imports, compiled code, thread pools
        p = np.load(path, mmap_mode="r").shape[1]
        write(small, Size(max(4_000, 8 * p), p, k), seed=1)
        fit(small, k)
    answer: list[Any] = []

    def run() -> None:
        start = time.perf_counter()
        found = fit(path, k)
        answer.extend([time.perf_counter() - start, *found])

    memory = peak_of(run)
    seconds, values, axes = answer
    np.savez(out, values=values, axes=axes)
    print(json.dumps({"seconds": seconds, "memory": memory}))


if __name__ == "__main__":
    main(sys.argv[1:])

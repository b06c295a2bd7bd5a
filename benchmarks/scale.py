"""How an exact PCA grows: block costs measured here, larger runs predicted, or measured too.

1. block     blocks of a file are read and added to Y'Y, one at a time; their times are kept
2. one       T(n) = T(0) + n t: slope and start from two small files; then files 4 and 8 times as
             large are predicted and measured
3. many      W workers take equal runs of blocks, each block with a time drawn from those of step 1;
             then W partial sums of 8 p^2 bytes meet in a binary tree: a join is a transfer and an
             addition, as measured, over a network of 1 GB/s with 1 ms a message
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.measure import Settings, Table
from benchmarks.out_of_core import Size, write

NETWORK, LATENCY = 1e9, 1e-3  # bytes a second, seconds a message
BILLION = 1_000_000_000


def tables(settings: Settings) -> Iterator[Table]:
    """Predicted beside measured; then what cannot be measured here."""
    p, small = (20, 4_000) if settings.quick else (200, 100_000)
    with tempfile.TemporaryDirectory(prefix="gramian-bench-") as folder:
        path = Path(folder) / "X.npy"
        sizes = [small, 2 * small, 4 * small, 8 * small]
        write(path, Size(sizes[0], p, 5))
        seconds(path)  # compiled code, thread pools
        took = []
        for n in sizes:
            write(path, Size(n, p, 5))
            took.append(min(seconds(path) for _ in range(settings.rounds)))
        blocks, rows = block_times(path)
    slope = max((took[1] - took[0]) / (sizes[1] - sizes[0]), 1e-12)
    start = max(took[0] - slope * sizes[0], 0.0)
    measured = [
        (f"{n:,}", start + slope * n, t, (start + slope * n) / t)
        for n, t in zip(sizes[2:], took[2:], strict=True)
    ]
    yield Table(
        f"PCA of files with {p} columns of float32, from the cache of the system",
        ("rows", "predicted, s", "measured, s", "predicted / measured"),
        measured,
        (f"From {sizes[0]:,} and {sizes[1]:,} rows: {start:.2g} s + {slope:.2g} s a row.",),
    )
    rng, add = np.random.default_rng(0), adding(p)
    yield Table(
        f"A billion rows of {p} columns on a cluster, simulated",
        ("workers", "hours", "last worker / mean", "moved, MB", "tree, s"),
        [simulated(w, BILLION, rows, blocks, add, p, rng) for w in (1, 4, 16, 64, 256)],
        (f"{len(blocks)} blocks of {rows:,} rows were timed on one thread; adding {add:.2g} s.",),
    )


def seconds(path: Path) -> float:
    """Of one fit."""
    from gramian import PCA

    start = time.perf_counter()
    PCA(5).fit(path)
    return time.perf_counter() - start


def block_times(path: Path) -> tuple[np.ndarray, int]:
    """Seconds to read each block of a file and multiply it, on one thread; rows of a block."""
    from gramian.data.array_rows import ArrayRows
    from gramian.data.npy import NpyRows
    from gramian.loops.threads import limit_threads, one_blas_thread

    rows, found = NpyRows(path), []
    parts = [part for part in rows.row_blocks() if part.stop - part.start > 1]
    with limit_threads(1), one_blas_thread():
        for part in parts:
            start = time.perf_counter()
            ArrayRows(rows.read_rows(part)).cross()
            found.append(time.perf_counter() - start)
    return np.array(found[1:] or found), parts[0].stop


def adding(p: int) -> float:
    """Seconds to add two partial sums."""
    total, part = np.zeros((p, p)), np.ones((p, p))
    best = np.inf
    for _ in range(9):
        start = time.perf_counter()
        total += part
        best = min(best, time.perf_counter() - start)
    return float(best)


def simulated(
    workers: int,
    n: int,
    rows: int,
    blocks: np.ndarray,
    add: float,
    p: int,
    rng: np.random.Generator,
) -> tuple[float, ...]:
    """One pass: hours in all, how uneven, what is moved (W - 1 partial sums and the result)."""
    each = -(-n // (rows * workers))
    # sums of so many draws: by their law where they are many, one by one where they are few
    if each > 1000:
        noise = rng.standard_normal(workers) * blocks.std() * np.sqrt(each)
        busy = each * blocks.mean() + noise
    else:
        busy = rng.choice(blocks, (workers, each)).sum(axis=1)
    levels = int(np.ceil(np.log2(workers))) + 1  # and one transfer to the client
    tree = levels * (LATENCY + 8 * p * p / NETWORK + add)
    moved = workers * 8 * p * p / 1e6
    return workers, (busy.max() + tree) / 3600, busy.max() / busy.mean(), moved, tree

"""How an exact PCA grows with its file: larger runs predicted from smaller ones, and measured too.

    T(n) = T(0) + n t    slope and start from two small files; then files 4 and 8 times as large are
                         predicted and measured

How it grows over the workers of a cluster is in ``cluster.py``.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import Settings, Table
from benchmarks.out_of_core import Size, write


def tables(settings: Settings) -> Iterator[Table]:
    """Predicted beside measured."""
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


def seconds(path: Path) -> float:
    """Of one fit."""
    from gramian import PCA

    start = time.perf_counter()
    PCA(5).fit(path)
    return time.perf_counter() - start

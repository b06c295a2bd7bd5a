"""PCA on a Dask cluster: weak scaling measured over one and two workers, and simulated for more.

1. constants  measured on the workers, all of them at work at the same time: seconds to read a block
              and add up its moments and products; to add two partial sums; to move one. By fits of
              tiny blocks: what a task and a fit cost besides
2. simulate   events: a worker that is free takes the next sum that waits for it, else the next
              block (its time drawn from those measured), which it has in hand already. The
              scheduler hears of one task after the other, and takes its time from the workers
              where they use all cores. Two neighboring sums are added where the later one was
              made, the other moves there; the root goes to the client
3. compare    fits with one worker of n rows, with two of 2 n; each simulated from its own constants
4. a billion  the same simulation over a network of 1 GB/s with 1 ms a message

Workers are processes of one thread. Here they share one machine: its memory, its disk and, with the
scheduler and the client, its cores; a block takes longer with two of them at work, and it is that
time which the simulation of two is given.
"""

from __future__ import annotations

import heapq
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import Settings, Table
from benchmarks.out_of_core import Size, write

BILLION = 1_000_000_000
NETWORK, LATENCY = 1e9, 1e-3  # bytes a second, seconds a message


@dataclass(frozen=True)
class Constants:
    """What a run is made of.

    ``blocks`` are seconds of single blocks; ``fit`` and ``task`` what a fit and each of its tasks
    cost besides; ``part`` the bytes of a partial sum. ``shared`` is whether the scheduler works on
    the cores of the workers.
    """

    blocks: np.ndarray
    add: float
    fit: float
    task: float
    part: int
    bandwidth: float = NETWORK
    latency: float = LATENCY
    shared: bool = False


@dataclass(frozen=True)
class Simulated:
    """One run: seconds, bytes between workers, and the largest share of work over the mean."""

    seconds: float
    moved: int
    uneven: float


def simulate(workers: int, blocks: int, c: Constants, rng: np.random.Generator) -> Simulated:
    """Workers x blocks x tree of sums, event by event."""
    waits: list[list[tuple[float, int, int, bool]]] = [[] for _ in range(workers)]  # sums to make
    places: dict[tuple[int, int], int] = {}  # which worker has a partial sum
    events: list[tuple[float, int, tuple[int, int] | None]] = [(0, w, None) for w in range(workers)]
    in_hand = np.zeros(workers)  # since when a worker has its next block
    busy, taken, moved, now, scheduler = np.zeros(workers), 0, 0, 0.0, 0.0
    transfer = c.latency + c.part / c.bandwidth
    stolen = c.task / workers if c.shared else 0.0
    draws = rng.choice(c.blocks, blocks)

    def arrive(level: int, i: int, w: int) -> None:
        """A partial sum is there; if its neighbor is, too, they wait to be added."""
        nonlocal moved
        while i % 2 == 0 and 0 < i == -(-blocks // 2**level) - 1:
            level, i = level + 1, i // 2  # the last of an odd number is carried up
        places[level, i] = w
        other = places.get((level, i ^ 1))
        if other is not None:
            moved += c.part * (other != w)
            waits[w].append((scheduler, level + 1, i // 2, other != w))

    while events:
        now, w, part = heapq.heappop(events)
        scheduler = max(scheduler, now) + c.task  # it hears of one task after the other
        if part is not None:
            arrive(*part, w)
        if waits[w] and (waits[w][0][0] <= now or taken == blocks):
            known, level, i, travels = waits[w].pop(0)
            start, cost, found = max(now, known), c.add + transfer * travels, (level, i)
        elif taken < blocks:
            start, cost, found = max(now, in_hand[w]), float(draws[taken]), (0, taken)
            in_hand[w], taken = scheduler, taken + 1
        else:
            continue  # nothing is left for this one
        busy[w] += cost
        heapq.heappush(events, (start + cost + stolen, w, found))
    return Simulated(c.fit + now + transfer, moved, float(busy.max() / busy.mean()))


def tables(settings: Settings) -> Iterator[Table]:
    """One and two workers measured and simulated; then what cannot be measured here.

    With ``--full`` the workers have four times the rows.
    """
    from gramian.data.dask.files import block_bytes

    p, each = (20, 20_000) if settings.quick else (200, 2_000_000 if settings.full else 500_000)
    rows, rng = [], np.random.default_rng(0)
    with tempfile.TemporaryDirectory(prefix="gramian-bench-") as folder:
        for workers in (1, 2):
            path = Path(folder) / f"{workers}.npy"
            write(path, Size(workers * each, p, 5))
            with _workers(workers) as client:
                found = _measured(client, path, settings)
            runs = [simulate(workers, found.count, found.constants, rng) for _ in range(21)]
            expected = float(np.median([run.seconds for run in runs]))
            rows.append((workers, workers * each, found, expected))
    alone = rows[0][2].seconds
    yield Table(
        f"PCA of a .npy file on a Dask cluster, {each:,} rows of {p} float32 for each worker",
        (
            *("workers", "rows", "measured, s", "weak scaling", "simulated, s"),
            *("simulated / measured", "error"),
        ),
        [
            (
                *(str(workers), f"{n:,}", found.seconds, alone / found.seconds, expected),
                *(expected / found.seconds, found.error),
            )
            for workers, n, found, expected in rows
        ],
        tuple(
            f"{workers} at work, {found.count} blocks: a block takes "
            f"{1e3 * found.constants.blocks.mean():.3g} ms, an addition "
            f"{1e3 * found.constants.add:.2g} ms; a task {1e3 * found.constants.task:.2g} ms and a "
            f"fit {1e3 * found.constants.fit:.3g} ms besides; {found.constants.part / 1e3:.0f} kB "
            f"move at {found.constants.bandwidth / 1e9:.2g} GB/s."
            for workers, _, found, _ in rows
        ),
    )
    constants = rows[1][2].constants
    n = 1_000_000 if settings.quick else BILLION
    size = block_bytes(n * p * 4)
    many = -(-n * p * 4 // size)
    by = size / block_bytes(rows[1][1] * p * 4)  # larger blocks of a larger file
    far = replace(
        constants,
        blocks=constants.blocks * by,
        bandwidth=NETWORK,
        latency=LATENCY,
        shared=False,
    )
    yield Table(
        f"{n:,} rows of {p} float32 on a cluster, simulated",
        ("workers", "minutes", "speed-up / workers", "last worker / mean", "between workers, GB"),
        [
            (str(w), run.seconds / 60, one / run.seconds / w, run.uneven, run.moved / 1e9)
            for one in [simulate(1, many, far, rng).seconds]
            for w, run in ((w, simulate(w, many, far, rng)) for w in (1, 4, 16, 64, 256))
        ],
        (
            f"{many:,} blocks of {size / 1e6:.0f} MB, at the rate of the two workers above; 1 GB/s "
            "and 1 ms a message; workers do not wait for each other's disks.",
        ),
    )


@dataclass(frozen=True)
class Measured:
    """Fits on a cluster: the best time, and how far variances are from those of one process."""

    seconds: float
    error: float
    count: int
    constants: Constants


def _measured(client: Any, path: Path, settings: Settings) -> Measured:
    from gramian import PCA
    from gramian.data.dask.files import in_blocks
    from gramian.data.dask.rows import DaskRows
    from gramian.data.door import open_rows

    def data() -> Any:
        return in_blocks(open_rows(path))

    model, took = PCA(5).fit(data()), []
    for _ in range(settings.rounds):
        start = time.perf_counter()
        model = PCA(5).fit(data())
        took.append(time.perf_counter() - start)
    here, rows = PCA(5).fit(path), DaskRows(data())
    error = np.abs(model.explained_variance_ / here.explained_variance_ - 1).max()
    return Measured(
        min(took),
        float(error),
        len(rows.bounds),
        _constants(client, path, rows.bounds, rows.shape[1]),
    )


def _constants(client: Any, path: Path, bounds: list[tuple[int, int]], p: int) -> Constants:
    """Block times of all workers at once, and what fits of next to nothing take."""
    import dask.array as da

    import gramian.data.dask.blocks as dask_blocks
    from gramian import PCA
    from gramian.loops.threads import cores

    addresses = sorted(client.scheduler_info(n_workers=-1)["workers"])
    share = [bounds[i :: len(addresses)] or bounds[:1] for i in range(len(addresses))]
    asked = [
        client.submit(block_times, path, spans, workers=[address], pure=False)
        for spans, address in zip(share, addresses, strict=True)
    ]
    answers = client.gather(asked)
    seconds = {}
    before, dask_blocks._small = dask_blocks._small, 1
    try:
        for blocks in (4, 64):
            tiny = da.random.default_rng(0).standard_normal((8 * blocks, 8), chunks=(8, 8))
            PCA(1).fit(tiny)
            runs = []
            for _ in range(3):
                start = time.perf_counter()
                PCA(1).fit(tiny)
                runs.append(time.perf_counter() - start)
            seconds[blocks] = min(runs)
    finally:
        dask_blocks._small = before
    tasks = {blocks: 2 * blocks - 1 for blocks in seconds}
    task = max((seconds[64] - seconds[4]) / (tasks[64] - tasks[4]), 0.0)
    part, bandwidth = 8 * p * p + 24 * p, 1e9
    if len(addresses) > 1:
        bandwidth = _bandwidth(client, addresses, part)
    return Constants(
        blocks=np.concatenate([times for times, _ in answers]),
        add=float(np.mean([add for _, add in answers])),
        fit=max(seconds[4] - tasks[4] * task, 0.0),
        task=task,
        part=part,
        bandwidth=bandwidth,
        shared=len(addresses) >= cores(),
    )


def block_times(path: Path, spans: list[tuple[int, int]]) -> tuple[np.ndarray, float]:
    """On a worker: seconds of each block, read and added up as a fit does; and of one addition."""
    from gramian.data.npy import NpyRows
    from gramian.data.partials import Part, as_rows, joined
    from gramian.loops.threads import limit_blas, limit_threads

    found, parts, additions = [], [], []
    with limit_threads(1), limit_blas(1):
        for a, b in [spans[0], *spans]:  # the first once more: threads and buffers are made
            start = time.perf_counter()
            block = NpyRows(path)._lead(a, b)
            rows = as_rows(block, block.dtype, block.shape, 0)
            parts.append(Part.of(rows, np.ones(1), True, (a, 0)))
            found.append(time.perf_counter() - start)
        for _ in range(5):
            start = time.perf_counter()
            joined(parts[0], parts[-1])
            additions.append(time.perf_counter() - start)
    return np.array(found[1:]), min(additions)


def _bandwidth(client: Any, addresses: list[str], part: int) -> float:
    """Bytes a second from one worker to another, for partial sums."""
    best = np.inf
    for _ in range(5):
        lying = client.submit(np.zeros, part // 8, workers=[addresses[0]], pure=False)
        lying.result()
        start = time.perf_counter()
        client.submit(len, lying, workers=[addresses[1]], pure=False).result()
        best = min(best, time.perf_counter() - start)
    return part / max(best - LATENCY, 1e-6)


@contextmanager
def _workers(count: int) -> Iterator[Any]:
    """A scheduler here and workers in processes of their own, of one thread each."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=count, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client

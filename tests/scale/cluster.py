"""A cluster for tests: a scheduler and workers in processes of their own, and data they make.

Blocks are made by a function on the workers, so that a lost one can be made again; it counts its
calls in a folder, and a worker ends itself (SIGKILL) at the calls it is told to.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import dask.array as da
import numpy as np
from distributed import Client

ROWS, COLUMNS, STEP = 6_000, 40, 500


def block(i, rows=STEP, columns=COLUMNS):
    """Block i of the data, whoever makes it."""
    strong = np.random.default_rng(99).standard_normal((5, columns)) * [[9], [7], [5], [4], [3]]
    rng = np.random.default_rng(i)
    return rng.standard_normal((rows, 5)) @ strong + rng.standard_normal((rows, columns)) + 50


def visited(folder):
    """How many blocks were made so far, this one included: a file each, so processes agree."""
    number = len(os.listdir(folder))
    while True:
        with contextlib.suppress(FileExistsError):
            os.close(os.open(folder / f"{number:05}", os.O_CREAT | os.O_EXCL))
            return number
        number += 1


def made(_, folder=None, deadly=(), block_info=None):
    if folder is not None and visited(folder) in deadly:
        os.kill(os.getpid(), signal.SIGKILL)
    i = block_info[None]["chunk-location"][0]
    rows, columns = block_info[None]["chunk-shape"]
    return block(i, rows, columns)


def array(folder=None, deadly=(), rows=ROWS, columns=COLUMNS, step=STEP):
    """A Dask array that workers make; they end at the ``deadly`` calls."""
    start = da.zeros((rows, columns), chunks=(step, -1))
    return start.map_blocks(made, folder, tuple(deadly), dtype=float, meta=np.empty((0, 0)))


def in_memory(rows=ROWS, columns=COLUMNS, step=STEP):
    return np.concatenate([block(i, step, columns) for i in range(rows // step)])


def counts(block, folder=None, deadly=(), block_info=None):
    """Calls of a block of variants of two peoples, made where they are used."""
    if folder is not None and visited(folder) in deadly:
        os.kill(os.getpid(), signal.SIGKILL)
    _, (a, b) = block_info[None]["array-location"]
    return calls(len(block), a, b)


def calls(n, a, b):
    """Calls of n samples in variants a:b, whoever makes them; few are missing."""
    out = np.empty((n, b - a))
    for v in range(a, b):
        rng = np.random.default_rng(v)
        f = np.where(np.arange(n) % 2, *rng.uniform(0.2, 0.8, 2))
        out[:, v - a] = np.where(rng.random(n) < 0.01, np.nan, rng.binomial(2, f))
    return out


def genotypes(n, p, step, folder=None, deadly=()):
    """A Dask array of calls that workers make; they end at the ``deadly`` calls."""
    start = da.zeros((n, p), chunks=(n, step))
    return start.map_blocks(counts, folder, tuple(deadly), dtype=float, meta=np.empty((0, 0)))


class Processes:
    """A scheduler and workers started as people start them: on 127.0.0.1 alone."""

    def __init__(self, folder, workers=2, nanny=True, memory="1GB", environment=None):
        self.folder, self.running = Path(folder), []
        self.log = (self.folder / "log").open("wb")
        self.file = self.folder / "scheduler.json"
        self.memory, self.nanny = memory, nanny
        local = ["--host", "127.0.0.1", "--no-dashboard", "--scheduler-file", str(self.file)]
        self.scheduler = self._start("scheduler", *local, "--port", "0", "--idle-timeout", "300")
        for _ in range(workers):
            self.add(environment)
        while not self.file.exists():
            assert self.scheduler.poll() is None, (self.folder / "log").read_text()
            time.sleep(0.05)
        self.client = Client(scheduler_file=str(self.file), timeout="60s")
        self.client.wait_for_workers(workers, timeout=120)

    def add(self, environment=None):
        how = ["--nthreads", "1", "--memory-limit", self.memory, "--no-dashboard"]
        how += ["--host", "127.0.0.1", "--local-directory", str(self.folder)]
        how += ["--death-timeout", "60", "--nanny" if self.nanny else "--no-nanny"]
        self._start("worker", "--scheduler-file", str(self.file), *how, environment=environment)

    def _start(self, *command, environment=None):
        here = Path(__file__).resolve()
        paths = map(str, (here.parents[2] / "src", here.parents[2]))
        given = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), **(environment or {})}
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", *command],
            stdout=self.log,
            stderr=self.log,
            env=given,
            start_new_session=True,  # it ends with all that it started
        )
        self.running.append(process)
        return process

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(Exception):
            self.client.close(timeout=2)
        for process in reversed(self.running):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self.log.close()


@contextlib.contextmanager
def counted(monkeypatch):
    """Every byte that any socket of this process receives, in a list."""
    from tornado.iostream import IOStream

    received, read = [], IOStream.read_from_fd

    def counting(self, buffer):
        found = read(self, buffer)
        received.append(found or 0)
        return found

    with monkeypatch.context() as patched:
        patched.setattr(IOStream, "read_from_fd", counting)
        yield received


def watch_workers(client):
    """Let workers count the bytes they receive from each other."""
    workers = client.scheduler_info(n_workers=-1)["workers"]
    peers = {address.rsplit(":", 1)[1] for address in workers}

    def watch():
        from tornado.iostream import IOStream

        read = IOStream.read_from_fd
        IOStream.from_peers = 0

        def counting(self, buffer):
            found = read(self, buffer)
            with contextlib.suppress(OSError):
                if str(self.socket.getpeername()[1]) in peers:
                    IOStream.from_peers += found or 0
            return found

        IOStream.read_from_fd = counting

    client.run(watch)


def moved(client):
    """Bytes that workers have had from each other since ``watch_workers``."""

    def from_peers():
        from tornado.iostream import IOStream

        return IOStream.from_peers

    return sum(client.run(from_peers).values())


def fill_memory(client, share):
    """Take memory on every worker until so much of what it may use is taken."""

    def fill(dask_worker):
        import psutil

        import gramian.loops.products  # noqa: F401  tasks import it: before we measure

        limit, used = dask_worker.memory_manager.memory_limit, psutil.Process().memory_info().rss
        dask_worker.filled = b"x" * max(int(share * limit) - used, 0)

    client.run(fill)

"""The scheduler and its workers: tasks are sent there, and answers waited for."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any

from gramian import __version__
from gramian.data.dask.failures import LOST_SCHEDULER, cannot_import, explained, sentence_of
from gramian.errors import ClusterError, GramianError
from gramian.loops.threads import cores
from gramian.memory import in_words

_connected: ContextVar[Any] = ContextVar("client of the scheduler that was named", default=None)
_patience = 45  # seconds in which no worker could compute anything before we give up


def tree(parts: Sequence[Any], add: Callable[[Any, Any], Any]) -> Any:
    """The sum of tasks, two neighbors at a time: the same tree for the same number of them."""
    from dask import delayed

    level, join = list(parts), delayed(add, pure=False)
    while len(level) > 1:
        pairs = [join(level[i], level[i + 1]) for i in range(0, len(level) - 1, 2)]
        level = [*pairs, *level[len(pairs) * 2 :]]
    return level[0]


def fetched(what: Any) -> Any:
    """Compute a task, a list of tasks or an array; by the cluster if there is one."""
    import dask

    client = client_here()
    with explained(client):
        if client is None:
            (found,) = dask.compute(what)
            return found
        (future,) = client.compute([dask.delayed(what) if isinstance(what, list) else what])
        try:
            _await(client, future)
            return future.result()
        finally:
            with suppress(Exception):
                future.release() if future.done() else future.cancel()


@contextmanager
def connected(address: str) -> Iterator[None]:
    """Use the workers of the scheduler at ``address`` inside the ``with`` block, and no others.

    What goes wrong there is told in one sentence, so logs of this process are silent.
    """
    try:
        from distributed import Client
    except ImportError:
        raise ClusterError(
            "a cluster needs Dask, which is not installed: pip install 'gramian[dask]'"
        ) from None
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        client = Client(address, timeout="10s")
    except (OSError, ValueError, TypeError) as error:
        logging.disable(before)
        raise ClusterError(
            f"no Dask scheduler answers at {address} ({error}); start one with dask scheduler, or "
            "mend the address, such as tcp://127.0.0.1:8786"
        ) from error
    token = _connected.set(client)
    try:
        yield
    except (GramianError, BrokenPipeError):
        raise
    except Exception as error:
        sentence = sentence_of(error, client)
        if sentence is None:
            raise
        raise ClusterError(sentence) from error
    finally:
        _connected.reset(token)
        with suppress(Exception):
            client.close(timeout=2)
        logging.disable(before)


def threads_in_task() -> int:
    """Cores of a machine over the tasks it runs at a time; the fewest of all machines."""
    client = client_here()
    if client is None:
        import dask

        one = dask.config.get("scheduler", None) in ("sync", "synchronous", "single-threaded")
        return max(cores() // (1 if one else dask.config.get("num_workers", None) or cores()), 1)
    with explained(client):
        found = client.run(_question(), on_error="return")
    workers = workers_of(client)
    busy: dict[str, int] = {}
    for worker in workers.values():
        busy[worker["host"]] = busy.get(worker["host"], 0) + worker["nthreads"]
    least = []
    for address, answer in found.items():
        if isinstance(answer, ImportError):
            raise cannot_import(answer, address)
        if isinstance(answer, tuple) and answer[1] != __version__:
            raise ClusterError(
                f"worker {address} has gramian {answer[1]}, this process {__version__}; install "
                "the same version in both"
            )
        if isinstance(answer, tuple) and address in workers:
            least.append(answer[0] // busy[workers[address]["host"]])
    return max(min(least, default=1), 1)


def _question() -> Callable[[], tuple[int, str]]:
    """What a worker is asked first: its cores, and whether it has what our tasks need.

    An inner function travels whole, so it arrives where gramian cannot be imported too.
    """

    def about() -> tuple[int, str]:
        from importlib import import_module

        import_module("gramian.loops.products")  # needs numba
        return import_module("gramian.loops.threads").cores(), import_module("gramian").__version__

    return about


def _await(client: Any, future: Any) -> None:
    """Wait for an answer; not for ever, if nobody is left to give one."""
    from distributed import wait

    since, before = time.monotonic(), _resting({})
    while True:
        try:
            wait(future, timeout=2)
            return
        except TimeoutError:
            pass
        if client.status not in ("running", "connecting"):
            raise ClusterError(LOST_SCHEDULER)
        workers, now = workers_of(client), time.monotonic()
        resting = _resting(workers)
        if resting is None or resting != before:
            since, before = now, resting
        elif now - since > _patience:
            raise ClusterError(_nobody_computes(workers))


def _resting(workers: dict[str, Any]) -> dict[str, Any] | None:
    """What workers hold if none computes and none but paused ones could: it changes as they spill.

    One that is short of memory is paused: it ends its tasks and begins no other, and those that
    wait there are not always given to others.
    """
    found = {}
    for address, worker in workers.items():
        counts = worker["metrics"].get("task_counts", {})
        if any(counts.get(state) for state in ("executing", "long-running", "flight")):
            return None
        found[address] = counts, worker["metrics"].get("managed_bytes")
    return found if not workers or _paused(workers) else None


def _paused(workers: dict[str, Any]) -> list[str]:
    return [address for address, worker in workers.items() if worker["status"] == "paused"]


def _nobody_computes(workers: dict[str, Any]) -> str:
    """Why nothing goes on, and what to do."""
    for address in _paused(workers):
        limit, metrics = workers[address]["memory_limit"], workers[address]["metrics"]
        return (
            f"nothing was computed for {_patience} seconds, because workers of the Dask cluster "
            f"are paused for want of memory: {address} uses {in_words(metrics.get('memory', 0))} "
            f"of the {in_words(limit)} that it may, {in_words(metrics.get('managed_bytes', 0))} of "
            "that for data; give the workers more memory (dask worker --memory-limit), or make "
            "the chunks smaller (X.rechunk)"
        )
    return (
        f"the Dask cluster has had no worker for {_patience} seconds; start one with "
        "dask worker ADDRESS, and look at the logs for why the others ended"
    )


def client_here() -> Any:
    """The distributed client of this process, if there is one and Dask would use it."""
    if _connected.get() is not None:
        return _connected.get()  # even if it is closed: nothing is computed here instead
    if "distributed" not in sys.modules:
        return None
    import dask
    from distributed import default_client

    if dask.config.get("scheduler", None) not in (None, "distributed", "dask.distributed"):
        return None
    try:
        return default_client()
    except ValueError:
        return None


def workers_of(client: Any) -> dict[str, Any]:
    """All workers by address, with their threads and memory."""
    with explained(client):
        found = client.scheduler_info(n_workers=-1)
        if "workers" not in found:
            raise ClusterError(LOST_SCHEDULER)
    workers: dict[str, Any] = found["workers"]
    return workers


def kept_there(values: Sequence[Any]) -> list[Any]:
    """Values on the workers, to be used by many visits; made again if a worker is lost."""
    from dask import delayed, persist

    with explained():
        return list(persist(*(delayed(value, pure=False, traverse=False) for value in values)))


def sent_once(value: Any, name: str | None = None) -> Any:
    """Something that many tasks need: sent once; by a ``name`` where it is the same in any run."""
    from dask import delayed

    return delayed(value, name=name, pure=False, traverse=False)

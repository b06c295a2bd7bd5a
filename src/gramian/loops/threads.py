"""The one splitter: a fixed list of pieces, run on however many threads there are.

What the pieces are depends on the shape of the problem alone, never on the number of threads, so
the answer has the same bits on 1, 2 or 8. Pieces are compiled (they release the GIL) and short, so
Ctrl-C is heard between two of them.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import Any

_lock = threading.Lock()
_pools: dict[int, ThreadPoolExecutor] = {}
_here = threading.local()


def thread_count() -> int:
    """Threads to use: ``limit_threads``, else ``GRAMIAN_THREADS``, else the cores we may run on."""
    limited = getattr(_here, "limit", None)
    if limited is not None:
        return int(limited)
    said = os.environ.get("GRAMIAN_THREADS", "")
    if said.isdigit() and int(said) > 0:
        return int(said)
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not Linux
        return os.cpu_count() or 1


@contextmanager
def limit_threads(count: int) -> Any:
    """Use ``count`` threads inside the ``with`` block (this Python thread only)."""
    before = getattr(_here, "limit", None)
    _here.limit = count
    try:
        yield
    finally:
        _here.limit = before


def run(piece: Callable[[int], None], count: int) -> None:
    """Call ``piece(0) ... piece(count - 1)`` on the threads; the first error is raised."""
    threads = min(thread_count(), count)
    if threads <= 1 or getattr(_here, "inside", False):
        for i in range(count):
            piece(i)
        return
    todo = iter(range(count))
    hand = threading.Lock()
    stopped = threading.Event()

    def work() -> None:
        _here.inside, _here.stopped = True, stopped
        try:
            while not stopped.is_set():
                with hand:
                    i = next(todo, None)
                if i is None:
                    return
                piece(i)
        except BaseException:
            stopped.set()
            raise
        finally:
            _here.inside = False

    futures = [_pool(threads).submit(work) for _ in range(threads)]
    try:
        wait(futures)
    except BaseException:  # Ctrl-C lands here: let the pieces under way end, start no others
        stopped.set()
        wait(futures)
        raise
    for error in (future.exception() for future in futures):
        if error is not None and not isinstance(error, InterruptedError):
            raise error


def pause() -> None:
    """Called between two steps of a long piece: ends it if another piece failed or Ctrl-C came."""
    stopped = getattr(_here, "stopped", None)
    if getattr(_here, "inside", False) and stopped is not None and stopped.is_set():
        raise InterruptedError("stopped between two blocks")


def _pool(threads: int) -> ThreadPoolExecutor:
    with _lock:
        if threads not in _pools:
            _pools[threads] = ThreadPoolExecutor(threads, thread_name_prefix="gramian")
        return _pools[threads]


def _after_fork() -> None:
    # Threads do not survive a fork: the child starts its own on first use.
    global _lock
    _lock = threading.Lock()
    _pools.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

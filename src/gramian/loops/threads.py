"""The one splitter: a fixed list of pieces, run on however many threads there are.

What the pieces are depends on the shape of the problem alone, never on the number of threads, so
the answer has the same bits on 1, 2 or 8. Pieces are compiled (they release the GIL) and short, so
Ctrl-C is heard between two of them.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import lru_cache
from itertools import count as counter
from typing import Any

from gramian.progress import tick

_lock = threading.Lock()
_pools: dict[tuple[str, int], ThreadPoolExecutor] = {}
_here = threading.local()
_inside_blas = 0
_blas: Any = None


def thread_count() -> int:
    """Threads to use: ``limit_threads``, else ``GRAMIAN_THREADS``, else the cores we may run on."""
    limited = getattr(_here, "limit", None)
    if limited is not None:
        return int(limited)
    said = os.environ.get("GRAMIAN_THREADS", "")
    if said.isdigit() and int(said) > 0:
        return int(said)
    return cores()


def cores() -> int:
    """The cores this process may run on."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not Linux
        return os.cpu_count() or 1


def numba_threads() -> int:
    """The same for packages that let numba run their threads, which has a limit of its own."""
    import numba

    return min(thread_count(), int(numba.config.NUMBA_NUM_THREADS))


@contextmanager
def limit_threads(count: int) -> Iterator[None]:
    """Use ``count`` threads inside the ``with`` block (this Python thread only)."""
    before = getattr(_here, "limit", None)
    _here.limit = count
    try:
        yield
    finally:
        _here.limit = before


def run(piece: Callable[[int], None], count: int, what: str | None = None) -> None:
    """Call ``piece(0) ... piece(count - 1)`` on the threads; the first error is raised.

    ``what`` names the work to whoever follows its progress.
    """
    if what is not None:
        piece = _told(piece, count, what)
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

    futures = [_pool(threads).submit(work) for _ in range(threads - 1)]
    own: BaseException | None = None
    try:
        work()  # this thread is one of them
        for future in futures:
            future.exception()
    except BaseException as error:  # Ctrl-C, too: let the pieces under way end, start no others
        stopped.set()
        wait(futures)
        own = error
    for found in (own, *(future.exception() for future in futures)):
        if found is not None and not isinstance(found, InterruptedError):
            raise found


def _told(piece: Callable[[int], None], count: int, what: str) -> Callable[[int], None]:
    """The same piece, which ticks when it is done."""
    done = counter(1)

    def told(i: int) -> None:
        piece(i)
        tick(what, next(done), count)

    return told


def ordered_sum(
    piece: Callable[[int, Any], None], count: int, zeros: Callable[[], Any], start: Any = None
) -> Any:
    """The sum of what ``piece(0, total) ... piece(count - 1, total)`` add to arrays of zeros.

    Totals are added up in the order of the pieces, each as soon as its turn comes; so the bits do
    not depend on the threads, and there are hardly more totals at a time than threads. A sum that
    goes on begins with ``start``, which is changed.
    """
    hand = threading.Lock()
    waiting: dict[int, Any] = {}
    spare: list[Any] = []
    sums: list[Any] = [] if start is None else [start]  # the running sum, once there is one
    added = 0

    def work(i: int) -> None:
        nonlocal added
        with hand:
            total = spare.pop() if spare else None
        if total is None:
            total = zeros()
        piece(i, total)
        with hand:
            waiting[i] = total
            while added in waiting:
                following = waiting.pop(added)
                added += 1
                if not sums:
                    sums.append(following)
                    continue
                sums[0] += following
                following[...] = 0
                spare.append(following)

    run(work, count)
    return sums[0]


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep BLAS to a single thread inside the ``with`` block: for small matrices.

    BLAS threads go on spinning for some 25 ms after a product, in the way of whatever runs next;
    what they gain on matrices of a few hundred rows is less.
    """
    with limit_blas(1):
        yield


@contextmanager
def limit_blas(count: int) -> Iterator[None]:
    """Let BLAS have ``count`` threads inside the ``with`` block.

    The setting is the process's, so only the first to enter changes it and only the last to leave
    restores it.
    """
    global _blas, _inside_blas
    with _lock:
        if _inside_blas == 0:
            _blas = _blas_controller().limit(limits=count, user_api="blas")
        _inside_blas += 1
    try:
        yield
    finally:
        with _lock:
            _inside_blas -= 1
            if _inside_blas == 0:
                _blas.restore_original_limits()


@lru_cache(maxsize=1)
def _blas_controller() -> Any:
    import scipy.linalg  # noqa: F401  (its BLAS is another one than NumPy's: both must be loaded)
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def ahead(read: Callable[[int, int], Any], spans: Iterable[tuple[int, int]]) -> Iterator[Any]:
    """``(a, b, read(a, b))`` of every span, the next one read while this one is worked on.

    A thread of its own reads, one span ahead: files are mostly waited for, not computed with. So
    it is for every piece under way, each of which holds two blocks then.
    """
    if getattr(_here, "reading", False):  # ahead already
        for a, b in spans:
            yield a, b, read(a, b)
        return
    coming = iter(spans)
    nearest = next(coming, None)
    if nearest is None:
        return

    def fetch(span: tuple[int, int]) -> Any:
        _here.inside = _here.reading = True  # what reads must not wait for what waits for it
        return read(*span)

    reader = _pool(max(2, cores()), "gramian-reads")
    promised = reader.submit(fetch, nearest)
    try:
        while nearest is not None:
            here, block = nearest, promised.result()
            nearest = next(coming, None)
            if nearest is not None:
                promised = reader.submit(fetch, nearest)
            yield (*here, block)
    finally:
        if not promised.cancel():
            wait([promised])  # the file may be closed after this


def pause() -> None:
    """Called between two steps of a long piece: ends it if another piece failed or Ctrl-C came."""
    stopped = getattr(_here, "stopped", None)
    if getattr(_here, "inside", False) and stopped is not None and stopped.is_set():
        raise InterruptedError("stopped between two blocks")


def _pool(threads: int, name: str = "gramian") -> ThreadPoolExecutor:
    with _lock:
        if (name, threads) not in _pools:
            _pools[name, threads] = ThreadPoolExecutor(threads, thread_name_prefix=name)
        return _pools[name, threads]


def _after_fork() -> None:
    # Threads do not survive a fork: the child starts its own on first use.
    global _lock, _inside_blas
    _lock, _inside_blas = threading.Lock(), 0
    _pools.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

"""Ctrl-C ends a run within a second, even where a library does not listen.

Python hears SIGINT between two of its own steps; LAPACK or a compiler may keep it waiting. So a
thread is told of the signal by the operating system, gives the normal way a moment, and then
ends the process itself: half-written files are removed first, the exit code is the same. It stays
to see the process end: Python waits at its exit for every thread, and one that was being started
when the signal came may never be told that its work is over.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

__all__ = ["heard_at_once"]

_PATIENCE = 0.3


@contextmanager
def heard_at_once(code: int) -> Iterator[None]:
    """Inside the ``with`` block Ctrl-C ends the process with ``code``, soon.

    Parameters
    ----------
    code : int
        The exit code of an interrupted run.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # signals belong to the main thread
        return
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    before = signal.set_wakeup_fd(ours.fileno(), warn_on_full_buffer=False)
    done = threading.Event()
    threading.Thread(target=_watch, args=(theirs, done, code), daemon=True).start()
    try:
        yield
    finally:
        done.set()
        signal.set_wakeup_fd(before)
        with suppress(OSError):
            ours.close()


def _watch(told: socket.socket, done: threading.Event, code: int) -> None:
    with told, suppress(OSError):
        while heard := told.recv(1):
            if heard[0] == signal.SIGINT:
                if not done.wait(_PATIENCE):
                    _end(code)
                threading.main_thread().join()
                time.sleep(_PATIENCE)
                os._exit(code)


def _end(code: int) -> None:
    from gramian.files import forget_unfinished

    forget_unfinished()
    with suppress(OSError, ValueError, AttributeError):
        sys.stderr.write("error: interrupted\n")
        sys.stderr.flush()
    os._exit(code)

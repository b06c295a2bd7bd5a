"""How far a long loop has come: told to whoever listens, and nobody listens unless asked to.

Loops call ``tick``; the command line listens, and draws a bar. There is one listener in a process,
because the ticks come from all its threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["listening", "tick"]

#: What is done, how much of it, and how much there is (``None`` where that is not known).
Listener = Callable[[str, int, int | None], None]

_listener: Listener | None = None


def tick(what: str, done: int, total: int | None) -> None:
    """Say that ``done`` of ``total`` are done; costs nothing where nobody listens."""
    if _listener is not None:
        _listener(what, done, total)


@contextmanager
def listening(listener: Listener | None) -> Iterator[None]:
    """Hear the ticks of everything that runs inside the ``with`` block.

    Parameters
    ----------
    listener : function of (what, done, total), or None for silence

    Examples
    --------
    >>> from gramian.progress import listening, tick
    >>> with listening(print):
    ...     tick("reading", 1, 2)
    reading 1 2
    """
    global _listener
    before, _listener = _listener, listener
    try:
        yield
    finally:
        _listener = before

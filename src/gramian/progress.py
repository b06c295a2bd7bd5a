"""How far a long loop has come: told to whoever listens, and nobody listens unless asked to.

Loops call ``tick``, iterations ``Approach``; the command line listens, and draws a bar. There is
one listener in a process, because the ticks come from all its threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import isfinite, log

__all__ = ["Approach", "listening", "tick"]

#: What is done, how much of it, and how much there is (``None`` where that is not known).
Listener = Callable[[str, int, int | None], None]

_listener: Listener | None = None


def tick(what: str, done: int, total: int | None) -> None:
    """Say that ``done`` of ``total`` are done; costs nothing where nobody listens."""
    if _listener is not None:
        _listener(what, done, total)


class Approach:
    """Ticks of an iteration that ends when a gap is small enough.

    How many steps it will take is guessed from those done: gaps shrink at a steady rate, more or
    less, so the share that is done is the share of the way in logarithms.

    Examples
    --------
    >>> from gramian.progress import Approach, listening
    >>> told = Approach("refining", goal=1e-4)
    >>> with listening(print):
    ...     for step, gap in enumerate([1.0, 0.1, 0.01], 1):
    ...         told(step, gap)
    refining 1 None
    refining 2 8
    refining 3 6
    """

    def __init__(self, what: str, goal: float) -> None:
        self.what, self.goal = what, goal
        self.first = 0.0

    def __call__(self, step: int, gap: float) -> None:
        """Say that ``gap`` is left after that many steps."""
        if _listener is None:
            return
        self.first = max(self.first, gap) if isfinite(gap) else self.first
        if not 0 < self.goal < gap < self.first:
            tick(self.what, step, None)
            return
        way = log(self.first / self.goal) / log(self.first / gap)
        tick(self.what, step, max(step + 1, round(step * min(way, 1e6))))


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

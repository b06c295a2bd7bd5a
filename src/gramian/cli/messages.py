"""What is said to the person at the terminal: on standard error, so that results stay clean."""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from gramian.cli.wording import as_options
from gramian.errors import GramianWarning
from gramian.show.text import visible

__all__ = ["Messages"]

_LONGEST = 2000
_COLORS = {"error": "31;1", "warning": "33;1", "": ""}


class Messages:
    """Sentences, warnings and a sign of life on standard error.

    Parameters
    ----------
    quiet : bool
        Say only errors.
    verbose : bool
        Say what each step took.
    """

    def __init__(self, quiet: bool = False, verbose: bool = False) -> None:
        self.quiet = quiet
        self.verbose = verbose and not quiet

    def say(self, sentence: str) -> None:
        """A plain message; silent when quiet."""
        if not self.quiet:
            self._print("", sentence)

    def warn(self, sentence: str) -> None:
        """Something that should be known; silent when quiet."""
        if not self.quiet:
            self._print("warning", as_options(sentence))

    def error(self, sentence: str) -> None:
        """Why there is no result."""
        self._print("error", as_options(sentence))

    @contextmanager
    def working(self, what: str) -> Iterator[None]:
        """Show that something is going on, how far it is and the time left: on a terminal only.

        Parameters
        ----------
        what : str
            ``"reading iris.csv"``.
        """
        start = time.perf_counter()
        if self.quiet or not _on_terminal():
            yield
        else:
            with _bar(visible(what, 60)):
                yield
        if self.verbose:
            self.say(f"{what}: {time.perf_counter() - start:.2f} s")

    @contextmanager
    def collecting_warnings(self) -> Iterator[None]:
        """Turn the library's warnings into messages, each once; other packages' are dropped."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", GramianWarning)
            try:
                yield
            finally:
                for sentence in dict.fromkeys(str(warning.message) for warning in caught):
                    self.warn(sentence)

    def _print(self, kind: str, sentence: str) -> None:
        prefix = f"{kind}: " if kind else ""
        if kind and _colored():
            prefix = f"\x1b[{_COLORS[kind]}m{prefix}\x1b[0m"
        print(f"{prefix}{visible(sentence, _LONGEST)}", file=sys.stderr, flush=True)


@contextmanager
def _bar(what: str) -> Iterator[None]:
    """A bar that follows the ticks of the library; it moves to and fro while there are none."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

    from gramian.progress import listening

    columns = (
        SpinnerColumn(),
        # no markup: a file called "[/x]" must not be read as a style
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[left]}", markup=False),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    console = Console(stderr=True, no_color=bool(os.environ.get("NO_COLOR")) or None)
    with Progress(*columns, console=console, transient=True) as bar:
        task, current = bar.add_task(what, total=None, left=""), ""

        def heard(doing: str, done: int, total: int | None) -> None:
            nonlocal current
            if doing != current:  # another loop: its time left is counted anew
                current = doing
                bar.reset(task, total=total, description=f"{what}: {doing}")
            share = f"{done / total:.0%}" if total else _for(bar.tasks[0].elapsed)
            bar.update(task, completed=done, total=total, left=share)

        with listening(heard):
            yield


def _for(seconds: float | None) -> str:
    """How long it has gone on, where how long it will is not known."""
    return f"for {seconds:.0f} s" if seconds else ""


def _on_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def _colored() -> bool:
    """The common rules: NO_COLOR wins, then FORCE_COLOR, then whether a terminal listens."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or _on_terminal()

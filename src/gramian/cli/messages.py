"""What is said to the person at the terminal: on standard error, so that results stay clean."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

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
    """

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet

    def say(self, sentence: str) -> None:
        """A plain message; silent when quiet."""
        if not self.quiet:
            self._print("", sentence)

    def warn(self, sentence: str) -> None:
        """Something that should be known; silent when quiet."""
        if not self.quiet:
            self._print("warning", sentence)

    def error(self, sentence: str) -> None:
        """Why there is no result."""
        self._print("error", sentence)

    @contextmanager
    def working(self, what: str) -> Iterator[None]:
        """Show that something is going on, on a terminal only.

        Parameters
        ----------
        what : str
            ``"reading iris.csv"``.
        """
        if self.quiet or not _on_terminal():
            yield
            return
        from rich.console import Console
        from rich.text import Text

        # Text, not markup: a file called "[/x]" must not be read as a style.
        with Console(stderr=True).status(Text(visible(what, 200))):
            yield

    @contextmanager
    def counting(self, what: str) -> Iterator[Callable[[int, int], None] | None]:
        """A bar that fills, on a terminal only.

        Parameters
        ----------
        what : str
            ``"permuting"``.

        Yields
        ------
        function of (done, total), or None where nobody watches
        """
        if self.quiet or not _on_terminal():
            yield None
            return
        from rich.console import Console
        from rich.progress import Progress

        with Progress(console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(what)
            yield lambda done, total: bar.update(task, completed=done, total=total)

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


def _on_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def _colored() -> bool:
    """The common rules: NO_COLOR wins, then FORCE_COLOR, then whether a terminal listens."""
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or _on_terminal()

"""The entry point of the ``gramian`` command: every end it can come to, as an exit code.

====  ====================================================================
0     done
1     a bug of ours; one line asks to report it
2     bad usage or bad input; one sentence says what to do
3     done, but an eigenpair missed its tolerance
4     refused: the run would need more memory than allowed
130   interrupted
141   whoever read our output stopped reading
====  ====================================================================

``gramian --version`` must answer at once, so nothing heavy is imported at the top.
"""

from __future__ import annotations

import gc
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from gramian import __version__
from gramian.cli.interrupt import heard_at_once

__all__ = ["command_names", "main"]

DONE, BUG, BAD_INPUT, NOT_CERTIFIED, NO_MEMORY, INTERRUPTED, PIPE_CLOSED = 0, 1, 2, 3, 4, 130, 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        Default: those of the process.

    Returns
    -------
    int
        The exit code.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given in (["--version"], ["-V"]):
        print(f"gramian {__version__}")
        return DONE
    for stream in (sys.stdout, sys.stderr):
        # A console that lacks a letter of some row name must not end the run.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        with heard_at_once(INTERRUPTED), _seldom_collected():
            return _run(given or ["--help"])
    except BrokenPipeError:
        _forget_stdout()
        return PIPE_CLOSED
    except KeyboardInterrupt:
        _complain("interrupted")
        return INTERRUPTED


@contextmanager
def _seldom_collected() -> Iterator[None]:
    """Look for cycles every 200,000 objects, not 700: imports make many objects and few cycles."""
    before = gc.get_threshold()
    gc.set_threshold(200_000, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _run(arguments: list[str]) -> int:
    """Run a command and turn whatever it raises into an exit code and one line."""
    import typer

    from gramian.cli.commands import app
    from gramian.cli.config import environment, settings
    from gramian.errors import GramianError

    if "_GRAMIAN_COMPLETE" in os.environ:  # the shell asks what could come next
        app(prog_name="gramian")
    try:
        found = settings()
        # Not app(...): that would swallow Ctrl-C and closed pipes before they reach us.
        command = typer.main.get_command(app)
        defaults = _defaults(command, {name: setting.value for name, setting in found.items()})
        with (
            environment(found),
            command.make_context("gramian", list(arguments), default_map=defaults) as context,
        ):
            code = command.invoke(context)
        return code if isinstance(code, int) else DONE
    except (BrokenPipeError, KeyboardInterrupt):
        raise
    except typer.Abort as abort:
        raise KeyboardInterrupt from abort
    except typer.Exit as end:
        return end.exit_code
    except GramianError as error:
        _complain(str(error))
        return error.exit_code
    except MemoryError:
        _complain(
            "the memory ran out; allow less at a time with --memory, for example --memory 1GB"
        )
        return NO_MEMORY
    except Exception as error:
        message = getattr(error, "format_message", None)
        if message is not None:  # a usage error of the option parser
            _complain(f"{_usage(message(), arguments)}; see gramian {_help_for(arguments)}")
            return BAD_INPUT
        if isinstance(error, OSError) and error.filename is not None:
            _complain(f"cannot open {error.filename}: {error.strerror}")
            return BAD_INPUT
        return _bug(error, arguments)


def command_names() -> list[str]:
    """All commands there are."""
    import typer

    from gramian.cli.commands import app

    return list(getattr(typer.main.get_command(app), "commands", {}))


def _defaults(command: Any, values: dict[str, str]) -> dict[str, Any]:
    """The settings as defaults of every command and of the commands inside it."""
    inside = dict(getattr(command, "commands", {}))
    inside.pop("help", None)  # it has none of them, and would be taken for the option --help
    return {**values, **{name: _defaults(each, values) for name, each in inside.items()}}


def _usage(message: str, arguments: Sequence[str]) -> str:
    """What the option parser says, and what may have been meant."""
    found = re.match(r"No such command '([^']*)'", message)
    if found is None:
        return message.rstrip(".")
    from gramian.cli.methods import METHODS
    from gramian.cli.names import did_you_mean

    known = list(METHODS) if arguments[0] == "plan" else command_names()
    return f"No such command {found[1]!r}; {did_you_mean(found[1], known)}".rstrip("?")


def _bug(error: Exception, arguments: Sequence[str]) -> int:
    """Ask for a report; the traceback only for those who asked for it."""
    if os.environ.get("GRAMIAN_DEBUG") or {"-v", "--verbose"} & set(arguments):
        import traceback

        traceback.print_exception(error)
    _complain(
        f"this is a bug in gramian {__version__}, please report it: "
        f"{type(error).__name__}: {error} (run again with -v for the details)"
    )
    return BUG


def _help_for(arguments: Sequence[str]) -> str:
    first = arguments[0] if arguments else ""
    return f"{first} --help" if first in command_names() else "--help"


def _complain(sentence: str) -> None:
    from gramian.cli.messages import Messages

    Messages().error(sentence)


def _forget_stdout() -> None:
    """Point standard output at nothing, so that the interpreter's last flush stays silent."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

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

import os
import sys
from collections.abc import Sequence
from contextlib import suppress

from gramian import __version__

__all__ = ["main"]

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
        return _run(given or ["--help"])
    except BrokenPipeError:
        _forget_stdout()
        return PIPE_CLOSED
    except KeyboardInterrupt:
        _complain("interrupted")
        return INTERRUPTED


def _run(arguments: list[str]) -> int:
    """Run a command and turn whatever it raises into an exit code and one line."""
    import typer

    from gramian.cli.commands import app
    from gramian.errors import GramianError

    if "_GRAMIAN_COMPLETE" in os.environ:  # the shell asks what could come next
        app(prog_name="gramian")
    command = typer.main.get_command(app)
    try:
        # Not app(...): that would swallow Ctrl-C and closed pipes before they reach us.
        with command.make_context("gramian", list(arguments)) as context:
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
            _complain(f"{message().rstrip('.')}; see gramian {_help_for(arguments)}")
            return BAD_INPUT
        if isinstance(error, OSError) and error.filename is not None:
            _complain(f"cannot open {error.filename}: {error.strerror}")
            return BAD_INPUT
        return _bug(error, arguments)


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
    from gramian.cli.commands import app

    names = (each.callback.__name__ for each in app.registered_commands if each.callback)
    known = {name.replace("_", "-") for name in names}
    first = arguments[0] if arguments else ""
    return f"{first} --help" if first in known else "--help"


def _complain(sentence: str) -> None:
    from gramian.cli.messages import Messages

    Messages().error(sentence)


def _forget_stdout() -> None:
    """Point standard output at nothing, so that the interpreter's last flush stays silent."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

"""What every command that fits a method to a file is asked besides the method's own settings.

A command declares one parameter of type ``Request``; ``asked`` replaces it by the options that a
request is made of, so that they are listed, described and checked in one place.
"""

from __future__ import annotations

import inspect
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, get_type_hints

from gramian.cli import options
from gramian.cli.messages import Messages
from gramian.cli.outputs import Outputs
from gramian.cli.reading import Reading
from gramian.cli.run import run

__all__ = ["Request", "asked"]


@dataclass(frozen=True)
class Request:
    """Where results go, how the file is read, how much is said; the fields are the options."""

    output: options.Output = None
    report: options.Report = None
    force: options.Force = False
    memory: options.Memory = None
    seed: options.Seed = None
    columns: options.Columns = None
    drop: options.Drop = None
    id: options.Id = None
    color: options.Color = None
    no_header: options.NoHeader = False
    delimiter: options.Delimiter = None
    decimal: options.Decimal = "."
    missing: options.Missing = None
    json: options.Json = False
    quiet: options.Quiet = False
    verbose: options.Verbose = False

    def run(
        self,
        file: str,
        estimator: Callable[[tuple[int, int]], Any],
        *,
        distances: bool = False,
    ) -> int:
        """Fit and show.

        Parameters
        ----------
        file : str
        estimator : function from the shape of the data to an unfitted method
        distances : bool
            The file holds distances between points and not rows of a table.

        Returns
        -------
        int
            The exit code.
        """
        reading = Reading(
            file,
            self.columns,
            self.drop,
            self.id,
            self.color,
            self.no_header,
            self.delimiter,
            self.decimal,
            self.missing,
            self.memory,
            distances,
        )
        return run(
            reading,
            estimator,
            Outputs(self.output, self.report, self.force),
            Messages(self.quiet),
            json=self.json,
            command=shlex.join(["gramian", *sys.argv[1:]]),
        )


def asked(command: Callable[..., int]) -> Callable[..., int]:
    """A command with the options of a ``Request`` in place of its parameter of that type.

    Parameters
    ----------
    command : function
        One parameter has the type ``Request``; the others are options of its own.

    Returns
    -------
    function
        Its options come first, those of the request last.
    """
    hints = get_type_hints(command, include_extras=True)
    (name,) = [each for each, kind in hints.items() if kind is Request]
    shared = _parameters(Request)
    own = [each for each in _parameters(command) if each.name != name]

    @wraps(command)
    def wrapped(**given: Any) -> int:
        request = Request(**{each.name: given.pop(each.name) for each in shared})
        return command(**given, **{name: request})

    signature = inspect.Signature([*own, *shared], return_annotation=int)
    wrapped.__signature__ = signature  # type: ignore[attr-defined]
    wrapped.__annotations__ = {each.name: each.annotation for each in [*own, *shared]}
    return wrapped


def _parameters(of: Callable[..., Any]) -> list[inspect.Parameter]:
    """Parameters with their types resolved, as keywords: their order no longer matters."""
    hints = get_type_hints(of, include_extras=True)
    return [
        each.replace(annotation=hints[each.name], kind=inspect.Parameter.KEYWORD_ONLY)
        for each in inspect.signature(of).parameters.values()
    ]

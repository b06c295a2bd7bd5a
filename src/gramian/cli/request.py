"""What commands are asked besides the settings of a method, and the options that ask it.

A command declares one parameter of type ``Reads``, ``Fits`` or ``Writes``; ``asked`` replaces it by
the options that such a request is made of, so that they are listed, described and checked in one
place.
"""

from __future__ import annotations

import inspect
import os
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, get_type_hints

from gramian.cli import options
from gramian.cli.messages import Messages
from gramian.cli.outputs import Outputs
from gramian.cli.reading import Reading

if TYPE_CHECKING:
    from gramian.checkpoint import Checkpoint

__all__ = [
    *("Fits", "Limited", "Makes", "Plans", "Reads", "Resumes", "Speaks", "Writes"),
    *("asked", "typed"),
]

# Every pool of threads reads one of these when it starts, so one number can rule them all.
_POOLS = (
    *("GRAMIAN_THREADS", "POLARS_MAX_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"),
    *("MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"),
)


@dataclass(frozen=True)
class Speaks:
    """How much is said, and to whom."""

    json: options.Json = False
    quiet: options.Quiet = False
    verbose: options.Verbose = False

    @property
    def messages(self) -> Messages:
        """Where sentences go."""
        return Messages(self.quiet, self.verbose)

    @contextmanager
    def limits(self) -> Iterator[None]:
        """Surround the work: nothing to limit here."""
        yield


@dataclass(frozen=True)
class Limited(Speaks):
    """How much of the machine may be used."""

    memory: options.Memory = None
    threads: options.Threads = None

    @contextmanager
    def limits(self) -> Iterator[None]:
        """Hold all pools of threads that start inside to ``--threads``."""
        if self.threads is None:
            yield
            return
        before = {name: os.environ.get(name) for name in _POOLS}
        os.environ.update(dict.fromkeys(_POOLS, str(self.threads)))
        try:
            yield
        finally:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value


@dataclass(frozen=True)
class Reads(Limited):
    """How a file is read."""

    columns: options.Columns = None
    drop: options.Drop = None
    id: options.Id = None
    color: options.Color = None
    label: options.Label = None
    image_shape: options.ImageShape = None
    no_header: options.NoHeader = False
    delimiter: options.Delimiter = None
    decimal: options.Decimal = "."
    missing: options.Missing = None

    def reading(self, file: str, *, distances: bool = False, gaps: bool = False) -> Reading:
        """The file with the options that say how it is read."""
        names = [field.name for field in fields(Reads) if field.name in Reading.__annotations__]
        said = {name: getattr(self, name) for name in names}
        return Reading(file, **said, distances=distances, gaps=gaps)


@dataclass(frozen=True)
class Fits(Reads):
    """How a method computes, whichever it is."""

    seed: options.Seed = None
    solver: options.SolverName = "auto"


@dataclass(frozen=True)
class Plans(Fits):
    """What is planned for: this machine, or a cluster."""

    scheduler: options.Scheduler = None
    workers: options.Workers = None


@dataclass(frozen=True)
class Writes(Reads):
    """Where results go."""

    output: options.Output = None
    report: options.Report = None
    force: options.Force = False
    excel_safe: options.ExcelSafe = False

    @property
    def outputs(self) -> Outputs:
        """The files to write."""
        return Outputs(self.output, self.report, self.force, excel_safe=self.excel_safe)


@dataclass(frozen=True)
class Resumes(Reads):
    """A run that can be taken up again."""

    checkpoint: options.CheckpointPath = None
    checkpoint_every: options.CheckpointEvery = 30.0

    @property
    def kept(self) -> Checkpoint | None:
        """Where the run is kept, if it is."""
        return None if self.checkpoint is None else _checkpoint(self)


@dataclass(frozen=True)
class Asks(Resumes):
    """A run without files that can be taken up again, here or on a cluster."""

    scheduler: options.Scheduler = None


@dataclass(frozen=True)
class Makes(Writes, Fits, Asks):
    """A model that is fitted, shown, and may be kept."""

    save: options.Save = None

    @property
    def outputs(self) -> Outputs:
        """The files to write."""
        return replace(super().outputs, model=self.save)


def _checkpoint(request: Resumes) -> Checkpoint:
    from gramian.checkpoint import Checkpoint

    return Checkpoint(str(request.checkpoint), request.checkpoint_every)


def typed() -> str:
    """The command line as it was typed, for repeating it."""
    return shlex.join(["gramian", *sys.argv[1:]])


def asked(command: Callable[..., int]) -> Callable[..., int]:
    """A command with the options of a request in place of its parameter of that type.

    Parameters
    ----------
    command : function
        One parameter has the type ``Speaks`` or one made from it; the others are options of its
        own.

    Returns
    -------
    function
        Its own options come first, those of the request last.
    """
    hints = get_type_hints(command, include_extras=True)
    ((name, kind),) = [
        (each, kind)
        for each, kind in hints.items()
        if isinstance(kind, type) and issubclass(kind, Speaks)
    ]
    own = [each for each in parameters_of(command) if each.name != name]
    return with_options(command, own, name, kind)


def with_options(
    command: Callable[..., int], own: list[inspect.Parameter], name: str, kind: type[Speaks]
) -> Callable[..., int]:
    """``command(**own, name=request)`` as a function of single options."""
    shared = _latest_first(kind)

    @wraps(command)
    def wrapped(**given: Any) -> int:
        request = kind(**{each.name: given.pop(each.name) for each in shared})
        with request.limits():
            return command(**given, **{name: request})

    every = [*own, *shared]
    wrapped.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        every, return_annotation=int
    )
    wrapped.__annotations__ = {each.name: each.annotation for each in every}
    return wrapped


def parameters_of(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """Parameters with their types resolved, as keywords: their order no longer matters."""
    hints = get_type_hints(function, include_extras=True)
    return [
        each.replace(annotation=hints[each.name], kind=inspect.Parameter.KEYWORD_ONLY)
        for each in inspect.signature(function).parameters.values()
    ]


def _latest_first(kind: type[Speaks]) -> list[inspect.Parameter]:
    """Fields of a request, those that were added last coming first: as help should list them."""
    known = {each.name: each for each in parameters_of(kind)}
    order = [
        name for part in kind.__mro__ for name in inspect.get_annotations(part) if name in known
    ]
    return [known[name] for name in order]

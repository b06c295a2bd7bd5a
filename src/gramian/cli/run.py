"""The course of every command that computes: check the options, read, compute, write, print."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gramian.checkpoint import Checkpoint, lasting
from gramian.cli.messages import Messages
from gramian.cli.methods import Method, Wanted
from gramian.cli.outputs import Outputs
from gramian.cli.provenance import provenance
from gramian.cli.reading import Data, Reading
from gramian.cli.request import Fits, Limited, Reads, Speaks, typed
from gramian.errors import GramianError
from gramian.show.text import visible

if TYPE_CHECKING:
    from gramian.results import Embedding

__all__ = ["check", "check_kept", "conclude", "fitted", "run", "show", "wanted"]


def run(
    method: Method,
    own: dict[str, Any],
    reading: Reading,
    request: Fits,
    outputs: Outputs,
    command: str | None = None,
    kept: Checkpoint | None = None,
) -> int:
    """Read a file, fit a method, write and print the result.

    Parameters
    ----------
    method : Method
    own : dict
        The method's own options.
    reading : Reading
    request : Fits
    outputs : Outputs
    command : str, optional
        What to type to repeat this; as typed by default.
    kept : Checkpoint, optional
        Where the run is kept until its files are written.

    Returns
    -------
    int
        Exit code: 0, or 3 where the result is not certified.
    """
    messages = request.messages
    outputs.check(reading.file)
    if kept is not None:
        check_kept(kept, reading.file, outputs.paths.values())
    with messages.collecting_warnings(), lasting():
        with messages.working(f"reading {reading.name}"):
            data = reading.read()
            image_shape = reading.image(data.shape[1])
        with on_workers(data, request) as data:  # files too: what a model keeps may lie there
            with messages.working("computing"):
                model = method.build(wanted(data, request), **own)
                if kept is not None:
                    set_kept(model, kept, method.name)
                embedding = fitted(model, data, details=outputs.report is not None)
            embedding = replace(
                embedding,
                source=reading.name,
                command=typed() if command is None else command,
                provenance=provenance(reading.file),
                color=reading.color or "",
                label=reading.label or "",
                image_shape=image_shape,
                notes=(*data.notes, *embedding.notes),
            )
            with messages.working("writing"):
                outputs.write(embedding, model)
    return conclude(embedding, outputs, request)


def check_kept(kept: Checkpoint, source: str, written: Iterable[str]) -> None:
    """Raise if a checkpoint would be in the way of other files."""
    import os

    taken = {os.path.realpath(path) for path in (source, *written)}
    if os.path.realpath(kept.path) in taken:
        raise GramianError(
            f"--checkpoint {visible(kept.path, 200)} is the input file or one to be written; give "
            "it a name of its own"
        )


def set_kept(model: Any, kept: Checkpoint, name: str) -> None:
    """Let a method keep its run, or say that this one cannot."""
    if "checkpoint" not in model.get_params(deep=False):
        raise GramianError(
            f"gramian {name} keeps no checkpoint: what was stopped is computed from the beginning; "
            "leave --checkpoint out"
        )
    model.set_params(checkpoint=kept)


@contextmanager
def on_workers(data: Data, request: Reads, *, anywhere: bool = False) -> Iterator[Data]:
    """The data as blocks that the workers of a Dask scheduler visit, if one is named.

    ``anywhere`` makes blocks without one, too: for a plan.
    """
    scheduler = getattr(request, "scheduler", None)
    if scheduler is None and not anywhere:
        yield data
        return
    from gramian.data.dask.cluster import connected
    from gramian.data.dask.files import in_blocks

    with connected(scheduler) if scheduler is not None else nullcontext():
        yield replace(data, X=in_blocks(data.X))


def conclude(embedding: Embedding, outputs: Outputs, request: Speaks) -> int:
    """Print a result whose files are written, and say how it ended.

    Parameters
    ----------
    embedding : Embedding
    outputs : Outputs
    request : Speaks

    Returns
    -------
    int
        Exit code: 0, or 3 where the result is not certified.
    """
    messages = request.messages
    # Files first: if the reader of our output goes away, they are there.
    _print(embedding, outputs, json=request.json)
    _say_written(embedding, outputs, messages)
    if embedding.certified:
        return 0
    messages.warn(embedding.certificate)
    return 3


def wanted(data: Data, request: Fits) -> Wanted:
    """What an estimator is made for."""
    return Wanted(data.shape, request.memory, request.seed, request.solver)


def fitted(model: Any, data: Data, *, details: bool = False) -> Embedding:
    """Fit a method to data; the result with the names that came with them."""
    with data.by_name(model):
        model.fit(data.X)
    # A method that keeps the coordinates of its data need not place them again.
    placed = () if hasattr(model, "embedding_") else (data.X,)
    embedding: Embedding = model.to_embedding(
        *placed, labels=data.labels, columns=data.columns, details=details
    )
    if data.variables is None:
        return embedding
    model.feature_names_in_ = as_names(data.variables)  # a saved model asks for them again
    return replace(embedding, variables=data.variables)


def as_names(variables: Sequence[str]) -> Any:
    """Names of columns as scikit-learn keeps them."""
    import numpy as np

    return np.array(variables, dtype=object)


def _print(embedding: Embedding, outputs: Outputs, *, json: bool) -> None:
    if json:
        from gramian.cli.payload import as_json

        text = as_json(embedding, outputs.paths)
    else:
        text = embedding.summary()
    show(text)


def _say_written(embedding: Embedding, outputs: Outputs, messages: Messages) -> None:
    for kind, path in outputs.paths.items():
        messages.say(f"{kind} written to {path}")
    if not outputs.paths:
        messages.say("to keep this, add -o axes.csv or --report report.html")
    guessed = embedding.color_column()
    if outputs.report is not None and guessed is not None and not embedding.color:
        messages.say(f"points are colored by {visible(guessed)!r}; --color names another column")


def check(file: str, request: Limited, decimal: str = ".") -> int:
    """Read a matrix of distances and print the verdict on it.

    Parameters
    ----------
    file : str
    request : Limited
    decimal : str
        The decimal sign.

    Returns
    -------
    int
        Exit code 0, whatever the verdict.
    """
    from gramian.data.dissimilarities import open_distances
    from gramian.quality.euclidean import check_distances

    name, messages = Reading(file).name, request.messages
    with messages.collecting_warnings():
        with messages.working(f"reading {name}"):
            opened = open_distances(file, request.memory, decimal=decimal)
        with messages.working("computing"):
            verdict = check_distances(opened, request.memory)
    if request.json:
        from gramian.cli.payload import check_as_json

        show(check_as_json(verdict, name, typed()))
    else:
        show(str(verdict))
    return 0


def show(text: str) -> None:
    """Print a result, and fail now rather than at exit if nobody can take it."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise GramianError(f"cannot write to standard output: {error.strerror}") from error

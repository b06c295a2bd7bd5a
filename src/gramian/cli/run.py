"""The course of every command that computes: check the options, read, compute, write, print."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gramian.cli.messages import Messages
from gramian.cli.outputs import Outputs
from gramian.cli.reading import Data, Reading
from gramian.errors import GramianError

if TYPE_CHECKING:
    from gramian.results import Embedding

__all__ = ["check", "run", "show"]


def run(
    reading: Reading,
    estimator: Callable[[tuple[int, int]], Any],
    outputs: Outputs,
    messages: Messages,
    *,
    json: bool,
    command: str,
) -> int:
    """Read a file, fit a method, write and print the result.

    Parameters
    ----------
    reading : Reading
    estimator : function from the shape of the data to an unfitted method
    outputs : Outputs
    messages : Messages
    json : bool
        Print JSON instead of text.
    command : str
        What to type to repeat this.

    Returns
    -------
    int
        Exit code: 0, or 3 where the result is not certified.
    """
    outputs.check(reading.file)
    with messages.collecting_warnings():
        with messages.working(f"reading {reading.name}"):
            data = reading.read()
        with messages.working("computing"):
            embedding = _fit(estimator(data.shape), data)
        embedding = replace(
            embedding,
            source=reading.name,
            command=command,
            color=reading.color or "",
            notes=(*data.notes, *embedding.notes),
        )
        with messages.working("writing"):
            outputs.write(embedding)
    # Files first: if the reader of our output goes away, they are there.
    _print(embedding, outputs, json=json)
    for kind, path in outputs.paths.items():
        messages.say(f"{kind} written to {path}")
    if not outputs.paths:
        messages.say("to keep this, add -o axes.csv or --report report.html")
    if embedding.certified:
        return 0
    messages.warn(embedding.certificate)
    return 3


def _fit(model: Any, data: Data) -> Embedding:
    with data.by_name():
        model.fit(data.X)
    # A method that keeps the coordinates of its data need not place them again.
    placed = () if hasattr(model, "embedding_") else (data.X,)
    embedding: Embedding = model.to_embedding(*placed, labels=data.labels, columns=data.columns)
    return embedding if data.variables is None else replace(embedding, variables=data.variables)


def _print(embedding: Embedding, outputs: Outputs, *, json: bool) -> None:
    if json:
        from gramian.cli.payload import as_json

        text = as_json(embedding, outputs.paths)
    else:
        text = embedding.summary()
    show(text)


def check(file: str, memory: str | None, messages: Messages, *, json: bool, command: str) -> int:
    """Read a matrix of distances and print the verdict on it.

    Parameters
    ----------
    file : str
    memory : str or None
    messages : Messages
    json : bool
        Print JSON instead of text.
    command : str
        What to type to repeat this.

    Returns
    -------
    int
        Exit code 0, whatever the verdict.
    """
    from gramian.data.dissimilarities import open_distances
    from gramian.quality.euclidean import check_distances

    name = Reading(file).name
    with messages.collecting_warnings():
        with messages.working(f"reading {name}"):
            opened = open_distances(file, memory)
        with messages.working("computing"):
            verdict = check_distances(opened, memory)
    if json:
        from gramian.cli.payload import check_as_json

        show(check_as_json(verdict, name, command))
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

"""The course of ``gramian compare``: one table, several methods, the same four questions."""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from gramian.cli.methods import METHODS, Method
from gramian.cli.names import did_you_mean
from gramian.cli.reading import Data, Reading
from gramian.cli.request import Fits, typed
from gramian.cli.run import fitted, show, wanted
from gramian.errors import GramianError
from gramian.show.text import count, number, visible

__all__ = ["compare"]

_ASKED = 2000  # points whose neighbors and distances are looked at, if there are more than twice
_READ = (
    "trust       are neighbors in the picture neighbors in the data? 1 is best, 0.5 is chance",
    "continuity  are neighbors in the data neighbors in the picture? 1 is best",
    "stress-1    how far distances are off, whatever the size of the picture; 0 is best",
    "rank        by the mean of the ranks in these three, then by time",
)


@dataclass(frozen=True)
class Judged:
    """One method on one table."""

    words: str
    trustworthiness: float
    continuity: float
    stress: float
    seconds: float
    certified: bool


def compare(
    reading: Reading,
    request: Fits,
    asked: Sequence[str] | None,
    *,
    axes: int,
    neighbors: int,
    standardize: bool,
) -> int:
    """Draw one table by several methods and rank the pictures.

    Parameters
    ----------
    reading : Reading
    request : Fits
    asked : sequence of str, or None for every method that reads a table
        Methods with their options: ``"kernel-pca --gamma median"``.
    axes, neighbors : int
    standardize : bool

    Returns
    -------
    int
        Exit code 0, or 3 where a picture is not certified.
    """
    chosen = [_parsed(words) for words in asked or _usual()]
    messages = request.messages
    judged, failed = [], []
    with messages.collecting_warnings():
        with messages.working(f"reading {reading.name}"):
            data = _rows(reading.read(), standardize, request.memory)
        _check(axes, neighbors, data.shape)
        for method, words, own in chosen:
            with messages.working(words):
                try:
                    judged.append(
                        _judge(method, words, own | {"components": axes}, data, request, neighbors)
                    )
                except GramianError as error:
                    if len(chosen) == 1:
                        raise
                    failed.append((words, str(error)))
    for words, reason in failed:
        messages.warn(f"{words} left out: {reason}")
    if not judged:
        raise GramianError("no method could draw this table; the reasons are above")
    ranked = _ranked(judged)
    if request.json:
        show(_as_json(ranked, failed, reading, data, axes, neighbors))
    else:
        show(_as_text(ranked, reading, data, axes, neighbors))
    return 0 if all(each.certified for each in judged) else 3


def _usual() -> list[str]:
    return [
        f"{method.name} {options}".strip()
        for method in METHODS.values()
        for options in method.compared
    ]


def _parsed(words: str) -> tuple[Method, str, dict[str, Any]]:
    """A method with its options, read by the parser of its own command."""
    import typer

    from gramian.cli.commands import app

    try:
        name, *options = shlex.split(words)
    except ValueError:
        raise GramianError(f"-m {visible(words)!r} is no method with its options") from None
    if name not in METHODS:
        raise GramianError(f"there is no method {visible(name)!r}; {did_you_mean(name, METHODS)}")
    command = typer.main.get_command(app).commands[name]  # type: ignore[attr-defined]
    with command.make_context(name, ["-", *options]) as context:
        given = dict(context.params)
    method = METHODS[name]
    own = {each.name: given[each.name] for each in method.own}
    if method.reads_distances(own):
        own["metric"] = "euclidean"  # the table holds rows
        words = f"{words} --metric euclidean"
    return method, words, own


def _rows(data: Data, standardize: bool, memory: Any) -> Data:
    """The table as an array, in units of standard deviations if asked for."""
    import numpy as np

    from gramian.data.door import open_rows
    from gramian.data.moments import units_of
    from gramian.methods.similarity import as_points

    with data.by_name():
        X = as_points(open_rows(data.X, memory), memory)
    if standardize:
        X = X / units_of("unit", np.std(X, axis=0, ddof=1), data.variables)
    return replace(data, X=X)


def _check(axes: int, neighbors: int, shape: tuple[int, int]) -> None:
    n = shape[0]
    if n < 5:
        raise GramianError(f"a comparison needs at least 5 observations, got {n}")
    if not neighbors < n / 2:
        raise GramianError(f"--neighbors {neighbors} is not below half of the {n} observations")
    if not axes <= min(n - 1, shape[1]):
        raise GramianError(f"-k {axes}: the table allows at most {min(n - 1, shape[1])} axes")


def _judge(
    method: Method, words: str, own: dict[str, Any], data: Data, request: Fits, neighbors: int
) -> Judged:
    from gramian.quality.neighborhoods import kept_neighbors
    from gramian.quality.stress import stress_1

    seconds = float("inf")
    for _ in range(2):  # what is quick is timed twice: the first run also loads the method
        start = time.perf_counter()
        embedding = fitted(method.build(wanted(data, request), **own), data)
        seconds = min(seconds, time.perf_counter() - start)
        if seconds > 1:
            break
    Z, rows = embedding.coordinates, _asked_rows(data.shape[0])
    kept = kept_neighbors(data.X, Z, neighbors, rows=rows, random_state=request.seed)
    off = stress_1(data.X, Z, rows=rows, random_state=request.seed)
    return Judged(words, *kept, off, seconds, embedding.certified)


def _asked_rows(n: int) -> int | None:
    return _ASKED if n > 2 * _ASKED else None


def _ranked(judged: list[Judged]) -> list[Judged]:
    """Best first: by the mean of three ranks; equal to three digits counts as equal."""

    def places(values: list[float]) -> list[int]:
        rounded = [round(value, 3) for value in values]
        return [sum(other > value for other in rounded) for value in rounded]

    three = zip(
        places([each.trustworthiness for each in judged]),
        places([each.continuity for each in judged]),
        places([-each.stress for each in judged]),
        strict=True,
    )
    order = sorted(zip(map(sum, three), judged, strict=True), key=lambda p: (p[0], p[1].seconds))
    return [each for _, each in order]


def _as_text(ranked: list[Judged], reading: Reading, data: Data, axes: int, neighbors: int) -> str:
    n, p = data.shape
    rows = [("rank", "method", "trust", "continuity", "stress-1", "seconds")]
    rows += [
        (
            str(i),
            visible(each.words, 50),
            f"{each.trustworthiness:.3f}",
            f"{each.continuity:.3f}",
            f"{each.stress:.3f}",
            number(each.seconds, 2),
        )
        for i, each in enumerate(ranked, 1)
    ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    table = [
        "  ".join(
            cell.ljust(width) if i < 2 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    head = (
        f"Comparison of {visible(reading.name)}: {count(n, 'observation')}, "
        f"{count(p, 'variable')}, {count(axes, 'axis', 'axes')}, {count(neighbors, 'neighbor')}"
    )
    asked = _asked_rows(n)
    notes = [] if asked is None else [f"measured on {count(asked, 'point')} drawn at random"]
    notes += [f"not certified: {visible(each.words)}" for each in ranked if not each.certified]
    said = [f"Note: {visible(note, 500)}" for note in (*data.notes, *notes)]
    return "\n".join([head, "", *table, "", *_READ, *([""] if said else []), *said])


def _as_json(
    ranked: list[Judged],
    failed: list[tuple[str, str]],
    reading: Reading,
    data: Data,
    axes: int,
    neighbors: int,
) -> str:
    from gramian.cli.payload import envelope, to_json

    return to_json(
        {
            **envelope("compare"),
            "source": reading.name,
            "command": typed(),
            "n_observations": data.shape[0],
            "n_variables": data.shape[1],
            "n_axes": axes,
            "n_neighbors": neighbors,
            "n_points_asked": _asked_rows(data.shape[0]) or data.shape[0],
            "methods": [
                {
                    "rank": i,
                    "method": each.words,
                    "trustworthiness": each.trustworthiness,
                    "continuity": each.continuity,
                    "stress_1": each.stress,
                    "seconds": each.seconds,
                    "certified": each.certified,
                }
                for i, each in enumerate(ranked, 1)
            ],
            "left_out": [{"method": words, "reason": reason} for words, reason in failed],
            "notes": list(data.notes),
        }
    )

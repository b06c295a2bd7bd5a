"""The course of ``gramian components``: read, ask every rule, print."""

from __future__ import annotations

from gramian.cli.reading import Reading
from gramian.cli.request import Asks, typed
from gramian.cli.run import check_kept, on_workers, show
from gramian.show.text import count, visible

__all__ = ["how_many_of"]


def how_many_of(
    reading: Reading,
    request: Asks,
    *,
    standardize: bool,
    permutations: int,
    alpha: float,
    seed: int,
) -> int:
    """Read a file and say how many components it has.

    Parameters
    ----------
    reading : Reading
    request : Asks
    standardize : bool
    permutations : int
    alpha : float
    seed : int

    Returns
    -------
    int
        Exit code 0.
    """
    messages = request.messages
    if request.kept is not None:
        check_kept(request.kept, reading.file, ())
    with messages.collecting_warnings():
        with messages.working(f"reading {reading.name}"):
            data = reading.read()
        from gramian.inference.verdict import how_many

        with messages.working("computing"), data.by_name(), on_workers(data, request) as data:
            found = how_many(
                data.X,
                scale="unit" if standardize else None,
                n_permutations=permutations,
                alpha=alpha,
                memory=reading.memory,
                random_state=seed,
                checkpoint=request.kept,
            )
    if request.json:
        from gramian.cli.payload import components_as_json

        show(
            components_as_json(
                found, source=reading.name, command=typed(), seed=seed, notes=data.notes
            )
        )
        return 0
    n, p = found.shape
    matrix = "correlation" if standardize else "covariance"
    head = (
        f"Components of {visible(reading.name)}: {count(n, 'observation')}, "
        f"{count(p, 'variable')}, {matrix} matrix"
    )
    show(f"{head}\n\n{found}\n\nParallel analysis\n{found.analysis}")
    for note in data.notes:
        messages.say(note)
    k = found.n_components
    if k:
        scale = " --standardize" if standardize else ""
        messages.say(f"to see them: gramian pca {visible(reading.file, 200)} -k {k}{scale}")
    return 0

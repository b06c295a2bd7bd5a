"""``gramian plan METHOD FILE``: what a run would take, and nothing is run."""

from __future__ import annotations

import io
import os
from dataclasses import replace
from typing import Any

from gramian.cli.methods import Method
from gramian.cli.reading import Data, Reading
from gramian.cli.request import Plans, typed
from gramian.cli.run import on_workers, show, wanted
from gramian.show.text import count, visible
from gramian.spectral.plan import Plan
from gramian.spectral.spread import SpreadPlan

__all__ = ["plan"]

_SAMPLE = 4 << 20  # bytes of a text file from which its size is estimated
_ROOM = "100MB"  # for the numbers of such a sample: they take 34 MB at most


def plan(method: Method, own: dict[str, Any], reading: Reading, request: Plans) -> int:
    """Print route, memory, passes and bytes of a run.

    Parameters
    ----------
    method : Method
    own : dict
        The method's own options.
    reading : Reading
    request : Plans

    Returns
    -------
    int
        Exit code 0. A run that would be refused for memory raises as it would.
    """
    from gramian.data.door import Opened
    from gramian.memory import block_bytes, budget, in_words
    from gramian.spectral.plan import Expected

    messages = request.messages
    with messages.collecting_warnings(), messages.working(f"looking at {reading.name}"):
        data, about = _looked_at(reading)
        model = method.build(wanted(data, request), **own)
        if isinstance(data.X, Opened):
            known = data.X.rows
        else:
            dtype, each = getattr(data.X, "D", data.X).dtype, block_bytes(budget(request.memory))
            known = Expected(data.shape, dtype, block_bytes=each)
        found = _on_cluster(model, data, about, request) or model.plan(known)
    dtype, resident = known.dtype, known.resident
    n, p = data.shape
    size = getattr(known, "stored_bytes", n * p * dtype.itemsize)
    # Methods that read rows visit them once more for the coordinates; others keep them.
    passes = (found.passes or 1) + (model.reads == "rows")
    read = passes * size if not resident else _file_size(reading.file)
    spread = found if isinstance(found, SpreadPlan) else None
    if spread is not None:
        read = spread.bytes_read // (found.passes or 1) * passes
    facts = {
        "source": reading.name,
        "command": typed(),
        "method": type(model).__name__,
        "n_observations": n,
        "n_columns": p,
        "estimated": about,
        "dtype": str(dtype),
        "resident": resident,
        "data_bytes": size,
        "route": found.route,
        "bytes_beyond_data": found.bytes,
        "budget_bytes": budget(request.memory),
        "passes": passes,
        "bytes_read": read,
        "cluster": None if spread is None else _as_facts(spread),
    }
    if request.json:
        from gramian.cli.payload import envelope, to_json

        show(to_json({**envelope("plan"), **facts}))
        return 0
    was_copied = not about and getattr(known, "opening_bytes", 0) > 0
    nothing = "nothing was computed" + ", but the data were copied" * was_copied
    more = found.bytes > budget(request.memory)
    on_top = " (packages that open the file, and results that are kept, come on top)" * more
    where = "in memory" if resident else "visited in the file, a block at a time"
    once = (
        "the file is read once"
        if resident
        else f"about {in_words(passes * size)} read from the file"
    )
    show(
        f"Plan of {type(model).__name__} for {visible(reading.name)}; {nothing}\n"
        f"data    {'about ' * about}{n:,} x {p:,} {dtype}, {in_words(size)}, {where}\n"
        f"route   {found.route}\n"
        f"memory  {in_words(found.bytes)} beyond the data; "
        f"{in_words(budget(request.memory))} may be used{on_top}\n"
        f"passes  about {count(passes, 'pass', 'passes')} over the data; {once}"
    )
    if spread is not None:
        hands = f"{count(spread.workers, 'worker')} of {count(spread.threads, 'thread')}"
        show(
            f"cluster {hands}, {count(spread.blocks, 'block')}; about "
            f"{in_words(spread.worker_bytes)} at a time on each worker\n"
            f"traffic of the fit about {in_words(spread.to_client)} to this process, "
            f"{in_words(spread.between)} between workers"
        )
    return 0


def _on_cluster(model: Any, data: Data, about: bool, request: Plans) -> Plan | None:
    """The plan for a cluster, if one is asked for; ``about``: only a part of the data is here."""
    if request.scheduler is None and request.workers is None:
        return None
    if about and not hasattr(data.X, "rows"):
        from gramian.data.dask.files import promised

        data = replace(data, X=promised(data.shape, data.X.dtype))
    with on_workers(data, request, anywhere=True) as spread:
        found: Plan = model.plan(getattr(spread.X, "rows", spread.X), request.workers)
        return found


def _as_facts(spread: SpreadPlan) -> dict[str, int]:
    return {
        "workers": spread.workers,
        "threads": spread.threads,
        "blocks": spread.blocks,
        "worker_bytes": spread.worker_bytes,
        "to_client_bytes": spread.to_client,
        "between_workers_bytes": spread.between,
    }


def _looked_at(reading: Reading) -> tuple[Data, bool]:
    """The data, or a part of a long text file with the number of rows to be expected.

    What a run would copy to a file is not copied.
    """
    from gramian.data.door import Opened
    from gramian.data.stage import Promised, StagedRows
    from gramian.memory import budget

    size = _file_size(reading.file)
    name = reading.file.lower()
    text = not reading.distances and name.endswith((".csv", ".tsv", ".txt"))
    if not text or size is None or size <= _SAMPLE:
        return reading.read(), False
    with open(os.path.expanduser(reading.file), "rb") as file:
        part = file.read(_SAMPLE)
    whole = part[: part.rfind(b"\n") + 1]
    if not whole or whole.count(b'"') % 2:  # a record as long as the sample, or cut inside quotes
        return reading.read(), False
    found = replace(reading, memory=_ROOM).read(io.BytesIO(whole))
    shape = n, p = round(found.shape[0] * size / len(whole)), found.shape[1]
    allowed = budget(reading.memory)
    if 4 * 8 * n * p > allowed:
        staged = StagedRows(Promised(reading.name, n, p), allowed)
        found = replace(found, X=Opened(staged, found.variables, None))
    return replace(found, shape=shape), True


def _file_size(file: str) -> int | None:
    path = os.path.expanduser(file)
    return os.path.getsize(path) if os.path.isfile(path) else None

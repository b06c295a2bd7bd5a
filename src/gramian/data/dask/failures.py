"""Whatever a cluster dies of, in one sentence."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gramian.errors import ClusterError, GramianError, MemoryRefusedError

LOST_SCHEDULER = (
    "the connection to the Dask scheduler was lost; nothing was written; see whether it still "
    "runs and can be reached, and start again"
)


@contextmanager
def explained(client: Any = None) -> Iterator[None]:
    """Whatever a cluster dies of, in one sentence; of a lost ``client`` whatever is raised."""
    try:
        yield
    except GramianError:
        raise
    except ImportError as error:
        raise cannot_import(error) from error
    except MemoryError as error:
        raise MemoryRefusedError(
            f"the memory of a worker ran out ({error}); make the chunks smaller (X.rechunk), or "
            "give the workers more memory"
        ) from error
    except Exception as error:
        sentence = sentence_of(error, client)
        if sentence is None:
            raise
        raise ClusterError(sentence) from error


def sentence_of(error: Exception, client: Any = None) -> str | None:
    """What a distributed error means, or ``None`` for errors of the user's own graph."""
    if "distributed" not in sys.modules:
        return None
    if client is not None and client.status != "running":
        return LOST_SCHEDULER
    from asyncio import CancelledError as Cancelled

    from distributed import CancelledError, KilledWorker
    from distributed.comm import CommClosedError

    if isinstance(error, KilledWorker):
        return (
            f"{error.allowed_failures + 1} workers ended, one after another, while they computed "
            f"the same block (task {error.task}); most often a block does not fit into the memory "
            "of a worker: make the chunks smaller (X.rechunk), give the workers more memory, or "
            "look at their logs"
        )
    if isinstance(error, (CommClosedError, ConnectionError, TimeoutError)):
        return LOST_SCHEDULER
    if type(error) is OSError and str(error).startswith("Timed out trying to connect"):
        return LOST_SCHEDULER
    if isinstance(error, (CancelledError, Cancelled)):
        lost = "lost-data" in str(error) or "lost dependencies" in str(error)
        return _lost_data if lost else LOST_SCHEDULER
    return None


_lost_data = (
    "data that lay on a worker were lost with it, and cannot be made again because they were "
    "scattered by hand; build the Dask array from files or functions instead of client.scatter"
)


def cannot_import(error: ImportError, address: str = "") -> ClusterError:
    """A worker lacks gramian, or something that it needs."""
    who = f"worker {address}" if address else "a Dask worker"
    missing = error.name or str(error)
    return ClusterError(
        f"{who} cannot import {missing}; install gramian and what it needs there too "
        "(pip install 'gramian[dask]'), in the same versions as here"
    )

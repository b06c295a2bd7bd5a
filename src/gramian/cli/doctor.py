"""``gramian doctor``: what the program runs on, and what about it should be known."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
from importlib import import_module
from typing import Any

from gramian import __version__
from gramian.cli.config import settings
from gramian.cli.request import Limited
from gramian.cli.run import show
from gramian.show.text import visible
from gramian.show.versions import versions

__all__ = ["doctor"]

_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "polars", "narwhals", "safetensors")
_DRAWING = ("plotly", "typer", "rich", "matplotlib", "dask")


def doctor(request: Limited) -> int:
    """Look around and print what was found.

    Parameters
    ----------
    request : Limited

    Returns
    -------
    int
        Exit code 0, whatever was found.
    """
    with request.messages.working("looking around"):
        facts, worries = _facts(request.memory)
    if request.json:
        from gramian.cli.payload import envelope, to_json

        show(to_json({**envelope("doctor"), **facts, "worries": worries}))
        return 0
    lines = [f"gramian {__version__}"]
    for name, value in facts.items():
        text = ", ".join(f"{k} {v}" for k, v in value.items()) if isinstance(value, dict) else value
        lines.append(f"{name.replace('_', ' '):<17} {visible(text, 500)}")
    lines += ["", *(f"Worry: {worry}" for worry in worries)] if worries else ["", "All is well."]
    show("\n".join(lines))
    return 0


def _facts(memory: str | None) -> tuple[dict[str, Any], list[str]]:
    """What there is, and a sentence for everything that is not as it should be."""
    worries: list[str] = []
    from gramian.loops.threads import thread_count
    from gramian.memory import available, budget, in_words, limit

    for name in ("scipy.linalg", "sklearn", "numba", "polars"):
        import_module(name)  # so that what they set and start can be seen
    from threadpoolctl import threadpool_info

    pools = {
        f"{pool.get('prefix', '?')} {pool.get('version') or ''}".strip(): pool["num_threads"]
        for pool in threadpool_info()
    }
    container = limit()
    facts = {
        "python": f"{platform.python_version()} ({sys.executable})",
        "system": platform.platform(),
        "packages": versions(_PACKAGES + _DRAWING),
        "cores": os.cpu_count(),
        "threads": thread_count(),
        "blas_threads": pools,
        "memory_free": in_words(available()),
        "memory_container": "no limit" if container is None else in_words(container),
        "memory_budget": in_words(budget(memory)),
        "compiled_loops": _cache(worries),
        "small_numbers": _small_numbers(worries),
        "report": "written without a browser; opened with any",
        "settings": {name: setting.value for name, setting in settings().items()} or "none",
    }
    return facts, worries


def _cache(worries: list[str]) -> str:
    """Where compiled loops are kept, if they are."""
    from gramian.loops.products import gram as loop

    path = getattr(getattr(loop, "_cache", None), "cache_path", None)
    if path is None:
        worries.append(
            "compiled loops cannot be kept, so every run compiles them; set NUMBA_CACHE_DIR to a "
            "folder that can be written"
        )
        return "compiled anew in every run"
    try:
        os.makedirs(path, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError:
        worries.append(f"the folder of compiled loops cannot be written: {visible(path, 200)}")
    return f"kept in {path}"


def _small_numbers(worries: list[str]) -> str:
    """Whether some library has made the processor flush subnormal numbers to zero."""
    smallest, half = sys.float_info.min, 0.5
    if smallest * half > 0:
        return "kept"
    worries.append(
        "numbers below 1e-308 are flushed to zero in this process: a library was compiled with "
        "-ffast-math; results of gramian do not depend on them"
    )
    return "flushed to zero"

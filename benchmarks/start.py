"""What it costs to begin: importing, asking for the version, the first fit of a new process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import signal_and_noise
from benchmarks.measure import Settings, Table, interleaved
from benchmarks.pca import CASES, QUICK

FIRST = """
import json, sys, time
import numpy as np
X, k = np.load(sys.argv[1]), int(sys.argv[2])
from gramian import PCA
times = []
for _ in range(4):
    start = time.perf_counter()
    PCA(k).fit(X)
    times.append(time.perf_counter() - start)
print(json.dumps([times[0], min(times[1:])]))
"""
COMMAND = """
import contextlib, io, json, sys, time
from gramian.cli.app import main
times = []
for _ in range(3):
    start = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()):
        main(["pca", sys.argv[1], "--report", sys.argv[2], "--force"])
    times.append(time.perf_counter() - start)
print(json.dumps(min(times[1:])))
"""
HEAVY = ("sklearn", "scipy", "numba", "plotly", "polars")


def tables(settings: Settings) -> Iterator[Table]:
    """Importing, a whole command, then first and warm calls."""
    yield _importing(settings)
    yield _command(settings)
    yield _first_calls(settings)


def _importing(settings: Settings) -> Table:
    program = Path(sys.executable).with_name("gramian")
    contestants = {
        "bare Python": lambda: _run(sys.executable, "-c", "pass"),
        "import gramian": lambda: _run(sys.executable, "-c", "import gramian"),
    }
    if program.exists():
        contestants["gramian --version"] = lambda: _run(str(program), "--version")
    times = interleaved(contestants, 1 if settings.quick else 10)
    bare = times["bare Python"].seconds
    rows = [(name, 1e3 * t.seconds, 1e3 * (t.seconds - bare)) for name, t in times.items()]
    asked = f"import sys, gramian; print([m for m in {HEAVY!r} if m in sys.modules])"
    loaded = _run(sys.executable, "-c", asked).strip()
    note = f"Heavy packages loaded by `import gramian`: {loaded}."
    return Table("Starting", ("what", "ms", "above bare Python, ms"), rows, (note,))


def _command(settings: Settings) -> Table:
    """Time a command from the shell, and beside it the same again where all is loaded."""
    n, p = (500, 8) if settings.quick else (10_000, 50)
    program = Path(sys.executable).with_name("gramian")
    with tempfile.TemporaryDirectory(prefix="gramian-bench-") as folder:
        table, report = str(Path(folder) / "table.csv"), str(Path(folder) / "report.html")
        header = ",".join(f"v{j}" for j in range(p))
        X = signal_and_noise(n, p, "float64")
        np.savetxt(table, X, "%.6g", delimiter=",", header=header, comments="")
        command = (str(program), "pca", table, "--report", report, "--force")
        # Compiled modules are kept between two runs, as they are for everybody.
        env = {"PYTHONDONTWRITEBYTECODE": ""}
        whole = interleaved({"": lambda: _run(*command, env=env)}, 6)[""].seconds
        again = json.loads(_run(sys.executable, "-c", COMMAND, table, report).splitlines()[-1])
    rows = [(f"{n:,} x {p}", whole, again, whole - again)]
    columns = (
        "gramian pca of a CSV, with report",
        "whole, s",
        "again in the process, s",
        "rest, s",
    )
    return Table("A command", columns, rows)


def _first_calls(settings: Settings) -> Table:
    rows: list[tuple[Any, ...]] = []
    for case in QUICK if settings.quick else CASES:
        for dtype in ("float32", "float64"):
            with tempfile.TemporaryDirectory(prefix="gramian-bench-") as folder:
                path = Path(folder) / "X.npy"
                np.save(path, signal_and_noise(case.n, case.p, dtype))
                runs = [_first(path, case.k) for _ in range(settings.rounds)]
                fresh = _first(path, case.k, {"NUMBA_CACHE_DIR": str(Path(folder) / "cache")})
            first, warm = (min(times) for times in zip(*runs, strict=True))
            allowed = "yes" if first <= 1.5 * warm + 0.5 else "no"
            rows.append((str(case), dtype, first, warm, allowed, fresh[0]))
    columns = (
        *("case", "dtype", "first call, s", "warm, s", "first <= 1.5 warm + 0.5 s"),
        "very first, loops compiled, s",
    )
    return Table("The first fit of a new process", columns, rows)


def _first(path: Path, k: int, env: dict[str, str] | None = None) -> list[float]:
    said = _run(sys.executable, "-c", FIRST, str(path), str(k), env=env)
    return list(json.loads(said.splitlines()[-1]))


def _run(*command: str, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env=os.environ | (env or {})
    )
    return done.stdout

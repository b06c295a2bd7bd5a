"""How things are measured: turns taken, best times, accuracy, and the machine's own limits."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Settings:
    """How thorough a run is."""

    quick: bool = False
    rounds: int = 3
    patience: float = 2.0  # a solver slower than this twice is not asked a third time
    rest: float = (
        0.1  # before each turn, so that nobody meets the waiting threads of the one before
    )
    memory: bool = True  # a fresh process for each contestant, to see its peak
    slow: bool = False  # contestants that take minutes take part as well
    full: bool = False  # files of their full size, 8 GB

    @staticmethod
    def of(quick: bool, slow: bool = False, memory: bool = True, full: bool = False) -> Settings:
        """Full, or tiny."""
        tiny = Settings(quick=True, rounds=1, rest=0.0, memory=False)
        return tiny if quick else Settings(slow=slow, memory=memory, full=full)


@dataclass(frozen=True)
class Timing:
    """Best time of a contestant, its last answer, and all its times."""

    seconds: float
    answer: Any
    times: tuple[float, ...]

    @property
    def median(self) -> float:
        """What a run takes as a rule: some peers vary by half from one to the next."""
        return float(np.median(self.times))


def interleaved(
    contestants: dict[str, Callable[[], Any]],
    rounds: int = 3,
    rest: float = 0.0,
    patience: float = float("inf"),
) -> dict[str, Timing]:
    """Run all contestants in turn, ``rounds`` times, and keep the best time of each.

    Taking turns spreads the machine's moods over everybody. Contestants that fail keep their
    exception as their answer, with an infinite time. One slow run may be the machine's doing, so
    only a contestant that exceeded ``patience`` twice is spared more. BLAS threads go on spinning
    for some 25 ms after a product, at the cost of whoever comes next: hence a ``rest``.
    """
    found: dict[str, Timing] = {}
    for _ in range(rounds):
        for name, call in contestants.items():
            before = found.get(name)
            if before is not None and len(before.times) >= 2 and before.seconds > patience:
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what they warn of shows in their residuals
                time.sleep(rest)
                start = time.perf_counter()
                try:
                    answer = call()
                    seconds = time.perf_counter() - start
                except Exception as error:  # a peer may fail: that is a result
                    answer, seconds = error, float("inf")
            times = (*(() if before is None else before.times), seconds)
            found[name] = Timing(min(times), answer, times)
    return found


@dataclass(frozen=True)
class Table:
    """A titled table with a few sentences under it."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        cells = [list(self.columns), *([_shown(cell) for cell in row] for row in self.rows)]
        widths = [max(len(row[j]) for row in cells) for j in range(len(self.columns))]
        lines = [_line(row, widths) for row in cells]
        lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
        return "\n".join([f"### {self.title}", "", *lines, "", *self.notes]).rstrip() + "\n"

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        rows = [dict(zip(self.columns, map(_plain, row), strict=True)) for row in self.rows]
        return {"title": self.title, "rows": rows, "notes": list(self.notes)}


def _line(row: Iterable[str], widths: list[int]) -> str:
    return (
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
    )


def _plain(cell: Any) -> Any:
    if isinstance(cell, (float, np.floating)):
        return float(cell) if np.isfinite(cell) else None
    return int(cell) if isinstance(cell, np.integer) else cell


def _shown(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, (float, np.floating)):
        if cell != 0 and abs(cell) < 1e-3:
            return f"{cell:.1e}"
        return f"{cell:.3g}" if abs(cell) < 1000 else f"{cell:.0f}"
    return str(cell)


# Accuracy ---------------------------------------------------------------------------------------


def value_error(values: np.ndarray, reference: np.ndarray) -> float:
    """Largest relative error of an eigenvalue."""
    return float(np.max(np.abs(np.asarray(values, np.float64) - reference) / np.abs(reference)))


def sine(V: np.ndarray, reference: np.ndarray) -> float:
    """Sine of the largest angle between the spaces of two blocks of columns."""
    Q = np.linalg.qr(np.asarray(V, np.float64))[0]
    return float(np.linalg.norm(Q - reference @ (reference.T @ Q), 2))


# The machine ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Machine:
    """What the hardware gives at best, measured in this very run."""

    flops: dict[str, float]  # dtype name -> multiplications and additions a second
    bandwidth: float  # bytes read a second

    @staticmethod
    def measured(quick: bool = False) -> Machine:
        """Large square matrix products, and sums over more memory than any cache holds."""
        n = 256 if quick else 3072
        A = np.random.default_rng(0).standard_normal((n, n))
        both = {name: A.astype(name) for name in ("float32", "float64")}
        calls = {name: (lambda B=B: B @ B) for name, B in both.items()}
        times = interleaved(calls, 1 if quick else 8)
        flops = {name: 2 * n**3 / times[name].seconds for name in both}
        x = np.ones(100_000 if quick else 64_000_000)
        halves = np.array_split(x, 2)

        def read() -> None:
            threads = [threading.Thread(target=np.dot, args=(half, half)) for half in halves]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

        fastest = min(_best(read, 5), _best(lambda: np.dot(x, x), 5))
        return Machine(flops, x.nbytes / fastest)

    def better(self, other: Machine) -> Machine:
        """The best seen at two moments: a busy moment must not make anybody look efficient."""
        flops = {name: max(f, other.flops[name]) for name, f in self.flops.items()}
        return Machine(flops, max(self.bandwidth, other.bandwidth))

    def least_seconds(self, flops: float, read: float, dtype: str) -> float:
        """The roofline: time below which this work cannot be done."""
        return max(flops / self.flops[dtype], read / self.bandwidth)

    def table(self) -> Table:
        """For the record."""
        rows = [
            *((f"{name} matrix product, GFLOP/s", f / 1e9) for name, f in self.flops.items()),
            ("memory read, GB/s", self.bandwidth / 1e9),
        ]
        return Table("Roofline of this machine, now", ("what", "measured"), rows)


def _best(call: Callable[[], Any], times: int) -> float:
    best = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best

"""PCA against scikit-learn and intelex: time, memory, accuracy, share of the roofline."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import scipy.linalg

from benchmarks.data import signal_and_noise
from benchmarks.measure import Machine, Settings, Table, Timing, interleaved, sine, value_error
from benchmarks.memory import extra_bytes


def gramian(X: np.ndarray, k: int) -> Any:
    """Ours."""
    from gramian import PCA

    return PCA(k).fit(X)


def scikit_learn(X: np.ndarray, k: int) -> Any:
    """What people get."""
    from sklearn.decomposition import PCA

    return PCA(k, random_state=0).fit(X)


def scikit_learn_arpack(X: np.ndarray, k: int) -> Any:
    """The accurate one."""
    from sklearn.decomposition import PCA

    return PCA(k, svd_solver="arpack", random_state=0).fit(X)


def intelex(X: np.ndarray, k: int) -> Any:
    """oneDAL behind scikit-learn's door."""
    from sklearnex.decomposition import PCA

    return PCA(k).fit(X)


CONTESTANTS: dict[str, Callable[[np.ndarray, int], Any]] = {
    "gramian": gramian,
    "scikit-learn auto": scikit_learn,
    "scikit-learn arpack": scikit_learn_arpack,
    "intelex": intelex,
}
NEEDS = {"intelex": "sklearnex"}


@dataclass(frozen=True)
class Case:
    """A shape, a number of components, and who takes part."""

    n: int
    p: int
    k: int
    names: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.n:,} x {self.p:,}, k = {self.k}"


CASES = (
    Case(1_000_000, 100, 10, ("gramian", "scikit-learn auto", "intelex")),
    Case(10_000, 5_000, 20, ("gramian", "scikit-learn auto", "scikit-learn arpack")),
    Case(500, 50_000, 20, ("gramian", "scikit-learn auto", "scikit-learn arpack")),
)
QUICK = (
    Case(3_000, 20, 3, CASES[0].names),
    Case(900, 800, 4, CASES[1].names),
    Case(60, 900, 4, CASES[2].names),
)
COLUMNS = (
    *("dtype", "contestant", "seconds", "peer / ours", "extra MB", "eigenvalue error"),
    *("sine of angle", "residual", "claimed", "roofline"),
)


def tables(settings: Settings) -> Iterator[Table]:
    """One for each case."""
    machine = Machine.measured(settings.quick)
    for case in QUICK if settings.quick else CASES:
        machine = machine.better(Machine.measured(settings.quick))
        rows: list[tuple[Any, ...]] = []
        notes: list[str] = []
        for dtype in ("float32", "float64"):
            rows += _rows(case, dtype, settings, machine, notes)
        yield Table(f"PCA {case}", COLUMNS, rows, tuple(dict.fromkeys(notes)))
    yield machine.table()


def _rows(
    case: Case, dtype: str, settings: Settings, machine: Machine, notes: list[str]
) -> Iterator[tuple[Any, ...]]:
    X = signal_and_noise(case.n, case.p, dtype)
    present = [name for name in case.names if name not in NEEDS or find_spec(NEEDS[name])]
    for name in present:  # imports, compiled code, thread pools
        CONTESTANTS[name](X[: min(400, case.n), : min(200, case.p)].copy(), 3)
    calls = {name: (lambda f=CONTESTANTS[name]: f(X, case.k)) for name in present}
    times = interleaved(calls, settings.rounds, settings.rest)
    with counted_visits() as visits:
        model = gramian(X, case.k)
    truth = Reference.of(X, case.k)
    extras = _extras(X, present, case.k, settings)
    ours = times["gramian"].seconds
    for name in case.names:
        if name not in times:
            yield (dtype, name, "not installed", *[None] * 7)
            continue
        errors = truth.judge(times[name])
        claimed = float(model.residuals_.max()) if name == "gramian" else None
        work = _roofline(case, dtype, model, visits, machine, notes) / times[name].seconds
        megabytes = None if extras.get(name) is None else extras[name] / 1e6
        seconds = times[name].seconds
        yield (dtype, name, seconds, seconds / ours, megabytes, *errors, claimed, f"{work:.0%}")


def _extras(X: np.ndarray, names: list[str], k: int, settings: Settings) -> dict[str, Any]:
    if not settings.memory:
        return {}
    with tempfile.TemporaryDirectory(prefix="gramian-bench-") as folder:
        path = Path(folder) / "X.npy"
        np.save(path, X)
        return {name: extra_bytes(path, name, k) for name in names}


@contextmanager
def counted_visits() -> Iterator[list[int]]:
    """Columns of every block multiplied by Y'Y while inside."""
    from gramian.data.rows import RowBlocked

    seen: list[int] = []
    plain = RowBlocked.gram

    def gram(self: Any, V: np.ndarray) -> np.ndarray:
        seen.append(V.shape[1])
        return plain(self, V)

    RowBlocked.gram = gram  # type: ignore[method-assign]
    try:
        yield seen
    finally:
        RowBlocked.gram = plain  # type: ignore[method-assign]


def _roofline(
    case: Case, dtype: str, model: Any, visits: list[int], machine: Machine, notes: list[str]
) -> float:
    """Least seconds for the work of our route: half of a symmetric product, or the visits made."""
    n, p = case.n, case.p
    size = n * p * np.dtype(dtype).itemsize
    kind = model.plan_.kind
    if kind == "products":
        made = f"{len(visits)} visits, {sum(visits)} columns in all"
        notes.append(f"{dtype}: {model.plan_.route}; {made}.")
        return machine.least_seconds(4.0 * n * p * sum(visits), size * len(visits), dtype)
    notes.append(f"{dtype}: {model.plan_.route}.")
    return machine.least_seconds(float(n) * p * min(n, p), size, dtype)


@dataclass(frozen=True)
class Reference:
    """The answer, from float64 data centered in float64."""

    Y: np.ndarray
    values: np.ndarray
    V: np.ndarray

    @staticmethod
    def of(X: np.ndarray, k: int) -> Reference:
        """By LAPACK on the smaller of Y'Y and YY', which holds these spectra to about 1e-15."""
        n, p = X.shape
        Y = X - X.mean(axis=0, dtype=np.float64)
        Y -= Y.mean(axis=0)
        side = min(n, p)
        square = Y.T @ Y if p <= n else Y @ Y.T
        values, vectors = scipy.linalg.eigh(square, subset_by_index=(side - k, side - 1))
        values, vectors = values[::-1], vectors[:, ::-1]
        V = vectors if p <= n else np.linalg.qr(Y.T @ vectors)[0]
        return Reference(Y, values, V)

    def judge(self, timing: Timing) -> tuple[float, float, float]:
        """Eigenvalue error, angle and residual |Y'Y v - l v| / l_1 of a fitted model."""
        model = timing.answer
        if isinstance(model, Exception):
            return (float("nan"),) * 3
        values = np.asarray(model.explained_variance_, np.float64) * (len(self.Y) - 1)
        V = np.asarray(model.components_, np.float64).T
        residuals = np.linalg.norm(self.Y.T @ (self.Y @ V) - V * values, axis=0) / self.values[0]
        return value_error(values, self.values), sine(V, self.V), float(residuals.max())

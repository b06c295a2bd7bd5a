"""Parallel analysis against the loop one writes in numpy, and R's psych from its stored time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.data import signal_and_noise
from benchmarks.measure import Settings, Table, interleaved

# psych 2.2.9 under R 4.2.2 on the same kind of machine (2 cores), by
#   Rscript -e 'library(psych); X <- as.matrix(read.csv("x.csv"));
#               print(system.time(fa.parallel(X, fa="pc", n.iter=100, plot=FALSE)))'
PSYCH = {"digits": 5.5, "5,000 x 500": 300.0}


@dataclass(frozen=True)
class Case:
    """Data, and how many permutations."""

    name: str
    make: Callable[[], np.ndarray]
    R: int


def _digits() -> np.ndarray:
    from sklearn.datasets import load_digits

    return np.asarray(load_digits().data)


def _noise(n: int, p: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((n, p))


CASES = (
    Case("digits", _digits, 100),
    Case("5,000 x 500", lambda: signal_and_noise(5000, 500, "float64"), 100),
    Case("1,000 x 1,000", lambda: signal_and_noise(1000, 1000, "float64"), 20),
    Case("noise 5,000 x 500", lambda: _noise(5000, 500), 100),
)
QUICK = (
    Case("digits", lambda: _digits()[:300], 20),
    Case("60 x 90", lambda: signal_and_noise(60, 90, "float64"), 20),
)
COLUMNS = (
    *("data", "R", "ours s", "early stop s", "numpy loop s", "loop / ours", "psych / ours"),
    *("kept", "loop keeps", "value error", "mean off, s.e."),
)


def numpy_loop(X: np.ndarray, R: int) -> tuple[np.ndarray, np.ndarray]:
    """Permute, X'X of the smaller side, all eigenvalues; observed and (R, q) of the null."""
    rng = np.random.default_rng(0)
    Y = X - X.mean(axis=0)
    n, p = Y.shape

    def values(Z: np.ndarray) -> np.ndarray:
        return np.linalg.eigvalsh(Z.T @ Z if p <= n else Z @ Z.T)[::-1] / (n - 1)

    found = []
    for _ in range(R):
        Z = np.empty_like(Y)
        for j in range(p):
            Z[:, j] = rng.permutation(Y[:, j])
        found.append(values(Z))
    return values(Y), np.array(found)


def tables(settings: Settings) -> Iterator[Table]:
    """One table."""
    from gramian import parallel_analysis

    rows = []
    for case in QUICK if settings.quick else CASES:
        X = case.make()
        parallel_analysis(X[:40, :20], n_permutations=19)  # compiled code, thread pools
        found = interleaved(
            {
                "ours": lambda X=X, R=case.R: parallel_analysis(X, n_permutations=R),
                "early": lambda X=X, R=case.R: parallel_analysis(
                    X, n_permutations=R, early_stop=True
                ),
                "numpy": lambda X=X, R=case.R: numpy_loop(X, R),
            },
            settings.rounds,
            settings.rest,
        )
        rows.append(_row(case, X, found))
    notes = (
        "Kept: axes of the sequential rule at 0.05. Value error: largest relative difference of "
        "our null eigenvalues from LAPACK's in float64 on the same permutations (3 replicates). "
        "Mean off: of our null means from the loop's, in standard errors (another random stream).",
        "psych: fa.parallel(X, fa='pc', n.iter=100), stored time; over 300 s for 5,000 x 500.",
    )
    yield Table("Parallel analysis", COLUMNS, rows, notes)


def _row(case: Case, X: np.ndarray, found: dict[str, Any]) -> tuple[Any, ...]:
    ours, early, loop = (found[name] for name in ("ours", "early", "numpy"))
    observed, null = loop.answer
    m = len(ours.answer.null_mean)
    reached = (1 + np.sum(null >= observed, axis=0)) / (1 + case.R)
    kept = int(np.logical_and.accumulate(reached <= 0.05).sum())
    spread = null[:, :m].std(axis=0) * np.sqrt(2 / case.R)
    off = float(np.max(np.abs(ours.answer.null_mean - null[:, :m].mean(axis=0)) / spread))
    psych = PSYCH[case.name] / ours.seconds if case.name in PSYCH else None
    return (
        *(case.name, case.R, ours.seconds, early.seconds, loop.seconds),
        *(loop.seconds / ours.seconds, psych, ours.answer.n_components, kept),
        *(_value_error(X, ours.answer), off),
    )


def _value_error(X: np.ndarray, answer: Any) -> float:
    from gramian.loops.permute import shuffle

    Y = np.ascontiguousarray((X - X.mean(axis=0)).T)
    P, worst, m = np.empty_like(Y), 0.0, answer.null_eigenvalues.shape[1]
    for r in range(3):
        key = np.random.SeedSequence(0, spawn_key=(r,)).generate_state(2, np.uint64)
        shuffle(Y, key, 0, P)
        C = P @ P.T if len(Y) <= Y.shape[1] else P.T @ P
        exact = np.linalg.eigvalsh(C)[::-1][:m] / (Y.shape[1] - 1)
        worst = max(worst, float(np.max(np.abs(answer.null_eigenvalues[r] / exact - 1))))
    return worst

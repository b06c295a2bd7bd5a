"""Metric and non-metric MDS beside their peers: time to the peer's stress, final stress, memory."""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import Settings, Table
from benchmarks.memory import extra_bytes

SEEDS = 10
STEPS = (4, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 56, 64, 80, 1000)
VEGAN = (
    "vegan 2.6-4, measured once on two cores of Zen 4, in R: "
    "system.time(monoMDS(as.dist(D), cmdscale(D, 2), k = 2)): 1.83 s to 0.2885 on the digits."
)
VEGAN_DIGITS = (1.83, 0.2885)


# Contestants: they return coordinates ------------------------------------------------------------


def ours(D: np.ndarray, k: int, seed: int = 0, **options: Any) -> np.ndarray:
    """One stochastic start, then descent."""
    from gramian import MDS

    settings = {"metric": "precomputed", "init": "stochastic", "n_init": 1} | options
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # stopped on purpose
        return MDS(k, random_state=seed, **settings).fit(D).embedding_


def classical(D: np.ndarray, k: int, seed: int = 0, **options: Any) -> np.ndarray:
    """Descent from classical MDS, where scikit-learn starts too."""
    return ours(D, k, seed, **{"init": "classical"} | options)


def s_gd2(D: np.ndarray, k: int, seed: int = 0) -> np.ndarray:
    """Stochastic descent by pairs, 30 rounds, weights 1."""
    from s_gd2 import mds_direct
    from scipy.spatial.distance import squareform

    return np.asarray(
        mds_direct(len(D), squareform(D, checks=False), random_seed=seed, num_dimensions=k)
    )


def scikit_learn(D: np.ndarray, k: int, seed: int = 0) -> np.ndarray:
    """SMACOF from the classical start."""
    from sklearn.manifold import MDS

    model = MDS(k, metric="precomputed", init="classical_mds", n_init=1, random_state=seed)
    return np.asarray(model.fit_transform(D))


def ordinal(D: np.ndarray, k: int, seed: int = 0, **options: Any) -> np.ndarray:
    """Non-metric, from the classical start."""
    return ours(D, k, seed, **{"measurement": "ordinal", "init": "classical"} | options)


def ordinal_stochastic(D: np.ndarray, k: int, seed: int = 0, **options: Any) -> np.ndarray:
    """Non-metric, from a stochastic start."""
    return ours(D, k, seed, **{"measurement": "ordinal"} | options)


def scikit_learn_ordinal(D: np.ndarray, k: int, seed: int = 0) -> np.ndarray:
    """Non-metric SMACOF."""
    from sklearn.manifold import MDS

    model = MDS(
        k,
        metric="precomputed",
        metric_mds=False,
        init="classical_mds",
        n_init=1,
        random_state=seed,
    )
    return np.asarray(model.fit_transform(D))


CONTESTANTS: dict[str, Callable[..., np.ndarray]] = {
    "gramian": ours,
    "gramian classical": classical,
    "s_gd2": s_gd2,
    "scikit-learn": scikit_learn,
    "gramian ordinal": ordinal,
    "gramian ordinal stochastic": ordinal_stochastic,
    "scikit-learn ordinal": scikit_learn_ordinal,
}


# Tables -------------------------------------------------------------------------------------------


def cases(n: int) -> Iterator[tuple[str, np.ndarray]]:
    """Distances between digits (beyond 1,797 some again, with noise), and between clusters."""
    from scipy.spatial.distance import pdist, squareform
    from sklearn.datasets import load_digits

    rng = np.random.default_rng(0)
    digits = load_digits().data
    more = max(n - len(digits), 0)
    again = digits[rng.integers(0, len(digits), more)] + rng.standard_normal((more, 64))
    centers = 3 * rng.standard_normal((10, 20))
    clusters = rng.standard_normal((n, 20)) + centers[rng.integers(0, 10, n)]
    for name, X in (("digits", np.vstack([digits, again])[:n]), ("clusters", clusters)):
        yield f"{name}, n = {n:,}", squareform(pdist(X))


def metric_tables(settings: Settings, sizes: tuple[int, ...] = (1000, 3000)) -> Iterator[Table]:
    """Metric MDS, k = 2: medians over seeds."""
    for n in (100,) if settings.quick else sizes:
        seeds = range(2 if settings.quick else SEEDS)
        rows = []
        for case, D in cases(n):
            if find_spec("s_gd2") is not None:
                rows += _rows(case, D, "gramian", ["s_gd2"], seeds, settings)
            rows += _rows(case, D, "gramian classical", ["scikit-learn"], range(3), settings)
        yield Table(f"Metric MDS of {n:,} points, k = 2, float64", COLUMNS, rows, (NOTE,))


def ordinal_tables(settings: Settings) -> Iterator[Table]:
    """Non-metric MDS, k = 2."""
    peers = ["gramian ordinal stochastic", "scikit-learn ordinal"]
    for case, D in cases(100 if settings.quick else 1000):
        rows = list(_rows(case, D, "gramian ordinal", peers, range(1), settings))
        if case.startswith("digits") and not settings.quick:
            seconds, stress = VEGAN_DIGITS
            reach = _reach(D, "gramian ordinal", stress, range(1))
            ratio = None if reach is None else seconds / reach
            rows.append((case, "vegan (stored)", seconds, stress, reach, ratio, None))
        yield Table("Non-metric MDS, k = 2, float64", COLUMNS, rows, (NOTE, VEGAN))


COLUMNS = ("case", "contestant", "seconds", "stress-1", "ours to it", "peer / ours", "extra MB")
NOTE = (
    "Seconds and stress-1 are medians over seeds. 'ours to it': how long gramian takes until its "
    "stress is not above that one, from the peer's kind of start (stochastic for s_gd2, classical "
    "for the others), all checks and the final judgment included."
)


def _rows(
    case: str, D: np.ndarray, mine: str, peers: list[str], seeds: range, settings: Settings
) -> Iterator[tuple[Any, ...]]:
    small = np.ascontiguousarray(D[:60, :60])
    for name in (mine, *peers):
        CONTESTANTS[name](small, 2)
    found: dict[str, tuple[float, float]] = {}
    for name in (mine, *peers):
        runs = [_timed(D, name, seed) for seed in (range(1) if "scikit" in name else seeds)]
        seconds, stress = np.median(runs, axis=0)
        found[name] = float(seconds), float(stress)
    for name, (seconds, stress) in found.items():
        reach = seconds if name == mine else _reach(D, mine, stress, seeds)
        ratio = None if reach is None else seconds / reach
        extra = _extra(D, name) if settings.memory and "scikit" not in name else None
        yield (case, name, seconds, stress, reach, ratio, extra)


def _timed(D: np.ndarray, name: str, seed: int, **options: Any) -> tuple[float, float]:
    start = time.perf_counter()
    Z = CONTESTANTS[name](D, 2, seed, **options)
    return time.perf_counter() - start, _stress(D, Z, "ordinal" in name)


def _reach(D: np.ndarray, mine: str, stress: float, seeds: range) -> float | None:
    """Median time to a stress of at most that much; ``None`` if most seeds never get there."""
    found = []
    for seed in seeds[:3]:
        for steps in STEPS:
            seconds, reached = _timed(D, mine, seed, max_iter=steps)
            if reached <= stress * (1 + 1e-6):
                found.append(seconds)
                break
    return float(np.median(found)) if len(found) > len(seeds[:3]) / 2 else None


def _stress(D: np.ndarray, Z: np.ndarray, ordinal: bool) -> float:
    """Stress-1, computed apart from what is measured."""
    from scipy.spatial.distance import pdist, squareform

    given, d = squareform(D, checks=False), pdist(np.asarray(Z, np.float64))
    if not ordinal:
        return float(np.sqrt(max(1 - (d @ given) ** 2 / (d @ d) / (given @ given), 0.0)))
    from sklearn.isotonic import IsotonicRegression

    d = d[np.lexsort((d, given))]
    fitted = IsotonicRegression().fit_transform(np.arange(len(d)), d)
    return float(np.sqrt(np.sum((d - fitted) ** 2) / np.sum(d**2)))


def _extra(D: np.ndarray, name: str) -> float | None:
    with tempfile.TemporaryDirectory(prefix="gramian-bench-") as folder:
        path = Path(folder) / "data.npy"
        np.save(path, D)
        found = extra_bytes(path, name, 2, "benchmarks.stress")
    return None if found is None else found / 1e6

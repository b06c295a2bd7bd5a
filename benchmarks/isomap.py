"""Isomap beside its peers: time, memory, and how good the map is."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import Settings, Table, interleaved
from benchmarks.memory import extra_bytes

NEIGHBORS = 10
SHARE = 0.05  # of the points that are landmarks


# Contestants: they return coordinates -------------------------------------------------------------


def exact(X: np.ndarray, k: int) -> np.ndarray:
    """Ours, with certificate, residual variance and the check of the negative end."""
    from gramian import Isomap

    neighbors = min(NEIGHBORS, len(X) - 1)
    return Isomap(k, n_neighbors=neighbors, disconnected="join").fit_transform(X)


def landmark(X: np.ndarray, k: int) -> np.ndarray:
    """Ours by landmarks, with the estimate of its error."""
    from gramian import Isomap

    neighbors, few = min(NEIGHBORS, len(X) - 1), max(int(SHARE * len(X)), k + 2)
    model = Isomap(k, n_neighbors=neighbors, disconnected="join", landmarks=few)
    return model.fit_transform(X)


def automatic(X: np.ndarray, k: int) -> np.ndarray:
    """Ours by 1,000 landmarks, for many points."""
    from gramian import Isomap

    return Isomap(k, n_neighbors=NEIGHBORS, disconnected="join", landmarks="auto").fit_transform(X)


def scikit_learn(X: np.ndarray, k: int) -> np.ndarray:
    """As people call it."""
    from sklearn.manifold import Isomap

    neighbors = min(NEIGHBORS, len(X) - 1)
    return Isomap(n_neighbors=neighbors, n_components=k, n_jobs=-1).fit_transform(X)


def tapkee_exact(X: np.ndarray, k: int) -> np.ndarray:
    """C++, templates and a cover tree."""
    return _tapkee(X, k, method="isomap")


def tapkee_landmark(X: np.ndarray, k: int) -> np.ndarray:
    """The same by landmarks."""
    return _tapkee(X, k, method="l-isomap", landmark_ratio=SHARE)


def _tapkee(X: np.ndarray, k: int, **how: Any) -> np.ndarray:
    import tapkee

    data = np.asfortranarray(X.T.astype(np.float64))
    neighbors = min(NEIGHBORS, len(X) - 1)
    found = tapkee.embed(data, num_neighbors=neighbors, target_dimension=k, **how)
    return np.asarray(found)


CONTESTANTS: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    "gramian": exact,
    "scikit-learn": scikit_learn,
    "tapkee": tapkee_exact,
    "gramian landmarks": landmark,
    "tapkee landmarks": tapkee_landmark,
    "gramian auto": automatic,
}


# Data ---------------------------------------------------------------------------------------------


def roll(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Points of a swiss roll, and of the sheet it was rolled from."""
    from sklearn.datasets import make_swiss_roll

    X, t = make_swiss_roll(n, random_state=0)
    arc = (t * np.sqrt(1 + t * t) + np.arcsinh(t)) / 2
    return X, np.column_stack([arc, X[:, 1]])


def five(n: int) -> tuple[np.ndarray, None]:
    """A curved sheet of dimension 5 in 20."""
    rng = np.random.default_rng(0)
    T = rng.random((n, 5))
    return np.hstack([np.sin(T @ rng.standard_normal((5, 15))), T]), None


# Tables -------------------------------------------------------------------------------------------

COLUMNS = (
    *("case", "contestant", "seconds", "peer / ours", "extra MB", "residual"),
    *("off the exact map", "share of the sheet"),
)
NOTES = (
    f"{NEIGHBORS} neighbors, two threads. Residual: the largest |B v - l v| / l_1 of the axes, on "
    "the centered matrix B of geodesics by Dijkstra's algorithm (SciPy). Off the exact map: root "
    "of the squared distances to ours, as a share of its size, after a rotation. Share of the "
    "sheet: of the variance of arc length and height that the rotated map explains.",
    f"Landmarks: {100 * SHARE:.0f} % of the points. Peers that take longer than ten seconds run "
    "once.",
)


def tables(settings: Settings) -> Iterator[Table]:
    """Exact, by landmarks, and of many points."""
    rows: list[tuple[Any, ...]] = []
    sizes = (1_000,) if settings.quick else (5_000, 10_000)
    for n in sizes:
        rows += _rows(
            f"swiss roll, n = {n:,}", *roll(n), 2, ("gramian", "scikit-learn", "tapkee"), settings
        )
    n = sizes[0]
    rows += _rows(
        f"5-D in 20-D, n = {n:,}", *five(n), 5, ("gramian", "scikit-learn", "tapkee"), settings
    )
    n = sizes[-1]
    rows += _rows(
        f"swiss roll, n = {n:,}, landmarks",
        *roll(n),
        2,
        ("gramian landmarks", "tapkee landmarks"),
        settings,
    )
    yield Table("Isomap", COLUMNS, rows, NOTES)
    n = 1_000 if settings.quick else 100_000
    many = _rows(
        f"swiss roll, n = {n:,}, 1,000 landmarks", *roll(n), 2, ("gramian auto",), settings
    )
    yield Table("Isomap of many points", COLUMNS, list(many), NOTES[:1])


def _rows(
    case: str,
    X: np.ndarray,
    sheet: np.ndarray | None,
    k: int,
    names: tuple[str, ...],
    settings: Settings,
) -> Iterator[tuple[Any, ...]]:
    from gramian.quality.procrustes import procrustes

    taking = [name for name in names if "tapkee" not in name or find_spec("tapkee")]
    for name in taking:
        CONTESTANTS[name](X[:200], k)
    calls = {name: (lambda f=CONTESTANTS[name]: f(X, k)) for name in taking}
    times = interleaved(calls, 1 if settings.quick else 2, settings.rest, 10.0)
    small = len(X) <= 20_000
    B = _centered(X) if small and "gramian" in names else None
    whole = exact(X, k) if small else None
    for name in taking:
        Z, seconds = times[name].answer, times[name].seconds
        extra = _extra(X, name, k) if settings.memory else None
        ratio = seconds / times[taking[0]].seconds
        if isinstance(Z, Exception):
            yield case, name, seconds, ratio, extra, None, None, None
            continue
        yield (
            *(case, name, seconds, ratio, extra),
            None if B is None else _residual(B, Z),
            None if whole is None else procrustes(whole, Z).rms,
            None if sheet is None else procrustes(sheet, Z).correlation ** 2,
        )


def _centered(X: np.ndarray) -> np.ndarray:
    from scipy.sparse.csgraph import dijkstra

    from gramian.gram.neighbors import Neighbors

    near = Neighbors.of(X, NEIGHBORS).connect("join")
    D = dijkstra(near.graph(), directed=False)
    D *= D
    D *= -0.5
    D -= D.mean(axis=0)
    D -= D.mean(axis=1)[:, None]
    return D


def _residual(B: np.ndarray, Z: np.ndarray) -> float:
    sizes = np.linalg.norm(Z, axis=0)
    V = Z / sizes
    return float(np.linalg.norm(B @ V - V * sizes**2, axis=0).max() / (sizes**2).max())


def _extra(X: np.ndarray, name: str, k: int) -> float | None:
    with tempfile.TemporaryDirectory(prefix="gramian-bench-") as folder:
        path = Path(folder) / "data.npy"
        np.save(path, X)
        found = extra_bytes(path, name, k, "benchmarks.isomap")
    return None if found is None else found / 1e6

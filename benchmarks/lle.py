"""Locally linear embedding and Laplacian eigenmaps beside scikit-learn: time, memory, accuracy.

Everybody embeds the same swiss roll with the same number of neighbors. "residual" is |M v - l v| of
the worst pair relative to the first eigenvalue left out, all recomputed on our own map; "R2" is how
well the true coordinates, arc length and height, are linear in the picture, the worse of the two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.measure import Settings, Table, interleaved
from benchmarks.memory import peak_of

FORMS = ("standard", "modified", "hessian", "ltsa")
NEIGHBORS = {"lle": 12, "laplacian": 10}
COLUMNS = ("n", "method", "contestant", "seconds", "peer / ours", "extra MB", "residual", "R2")


def roll(n: int) -> tuple[np.ndarray, np.ndarray]:
    """A swiss roll, and its arc length and height."""
    rng = np.random.default_rng(0)
    t, height = 1.5 * np.pi * (1 + 2 * rng.random(n)), 21 * rng.random(n)
    arc = 0.5 * (t * np.sqrt(1 + t * t) + np.arcsinh(t))
    return np.column_stack([t * np.cos(t), height, t * np.sin(t)]), np.column_stack([arc, height])


def ours_lle(X: np.ndarray, form: str) -> np.ndarray:
    """Ours."""
    from gramian import LocallyLinearEmbedding

    model = LocallyLinearEmbedding(2, n_neighbors=NEIGHBORS["lle"], method=form)
    return model.fit_transform(X)


def peer_lle(X: np.ndarray, form: str) -> np.ndarray:
    """scikit-learn's; its "hessian" is LTSA (docs/guide/from-scikit-learn.md)."""
    from sklearn.manifold import LocallyLinearEmbedding

    return LocallyLinearEmbedding(
        n_neighbors=NEIGHBORS["lle"],
        n_components=2,
        method=form,
        eigen_solver="arpack",
        n_jobs=-1,
        random_state=0,
    ).fit_transform(X)


def ours_laplacian(X: np.ndarray, form: str) -> np.ndarray:
    """Ours."""
    from gramian import LaplacianEigenmaps

    model = LaplacianEigenmaps(2, affinity="knn", n_neighbors=NEIGHBORS["laplacian"])
    return model.fit_transform(X)


def peer_laplacian(X: np.ndarray, solver: str) -> np.ndarray:
    """scikit-learn's: neighbors count the point itself there."""
    from sklearn.manifold import SpectralEmbedding

    return SpectralEmbedding(
        2,
        affinity="nearest_neighbors",
        n_neighbors=NEIGHBORS["laplacian"] + 1,
        eigen_solver=solver,
        eigen_tol=1e-6,
        n_jobs=-1,
        random_state=0,
    ).fit_transform(X)


def tables(settings: Settings) -> Iterator[Table]:
    """LLE at two sizes, Laplacian eigenmaps at two."""
    rows: list[tuple[Any, ...]] = []
    for n in (400,) if settings.quick else (5_000, 20_000):
        for form in FORMS:
            rows += _rows(n, form, {"gramian": ours_lle, "scikit-learn": peer_lle}, settings)
    yield Table("Locally linear embedding, swiss roll, k = 12, d = 2", COLUMNS, rows)
    rows = []
    calls = {"gramian": ours_laplacian, "scikit-learn arpack": peer_laplacian}
    if find_spec("pyamg"):
        calls["scikit-learn amg"] = peer_laplacian
    for n in (400,) if settings.quick else (20_000, 100_000):
        rows += _rows(n, "laplacian", calls, settings)
    yield Table("Laplacian eigenmaps, swiss roll, 10 neighbors, d = 2", COLUMNS, rows)


def _rows(
    n: int, form: str, calls: dict[str, Callable[..., np.ndarray]], settings: Settings
) -> Iterator[tuple[Any, ...]]:
    X, truth = roll(n)
    asked = {name: name.split()[-1] if form == "laplacian" else form for name in calls}
    for name, call in calls.items():  # imports, compiled code
        call(roll(300)[0], asked[name])
    bound = {name: (lambda c=call, a=asked[name]: c(X, a)) for name, call in calls.items()}
    rounds = settings.rounds if n <= 20_000 else 1
    times = interleaved(bound, rounds, settings.rest)
    for name in calls:
        Z, seconds = times[name].answer, times[name].seconds
        failed = isinstance(Z, Exception)
        judged = (None, None) if failed else (_residual(X, Z, form, name), _r2(Z, truth))
        extra = peak_of(bound[name]) / 1e6 if settings.memory else None
        ratio = seconds / times["gramian"].seconds
        yield (n, form, name, seconds, ratio, extra, *judged)


def _residual(X: np.ndarray, Z: np.ndarray, form: str, name: str) -> float | None:
    """Of the coordinates as vectors of our map; not where scikit-learn's map is another one."""
    from gramian.gram.laplacian import affinities, degrees, normalized
    from gramian.gram.neighbors import Neighbors
    from gramian.methods.locally_linear import FORMS as maps
    from gramian.spectral.shift_invert import ShiftInvert

    if name != "gramian" and form in ("hessian", "laplacian"):
        return None
    near = Neighbors.of(X, NEIGHBORS["laplacian" if form == "laplacian" else "lle"])
    if form == "laplacian":
        W = affinities(near.graph(), None)
        d = degrees(W)
        M, V = normalized(W, d), np.sqrt(d)[:, None] * Z
    else:
        M, V = maps[form](X, near.table[0], 2, 1e-3), Z
    V = V / np.linalg.norm(V, axis=0)
    values = np.einsum("ij,ij->j", V, M @ V)
    scale = ShiftInvert()(M, 3, "smallest").scale
    return float(np.linalg.norm(M @ V - V * values, axis=0).max() / scale)


def _r2(Z: np.ndarray, truth: np.ndarray) -> float:
    A = np.column_stack([np.ones(len(Z)), Z])
    left = truth - A @ np.linalg.lstsq(A, truth, rcond=None)[0]
    return float((1 - left.var(axis=0) / truth.var(axis=0)).min())

"""The search for nearest neighbors: by trees, by blocks, or roughly; the distances are exact.

Points in few dimensions are searched by SciPy's k-d tree, points in many by scikit-learn's blocked
matrix products. Those give distances that have lost digits where points are close, so distances
are computed again from x - y, and put in order. Other metrics, and distances that are given, are
searched a block of rows at a time. Numbers whose squares leave the range of floats are brought near
1 before the search, by a power of two.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gramian.errors import InputError
from gramian.gram.distances import checked_metric, pairwise
from gramian.loops.threads import numba_threads, pause, run, thread_count
from gramian.maps import Array, unit_for

_TREES = {"euclidean": 2.0, "cityblock": 1.0, "chebyshev": np.inf}  # metrics a k-d tree knows
_flat, _tall = 8, 50_000  # dimensions in which a tree pays; with so many points, in twice as many
_block = 1_000_000  # distances in a block
_spare = 8  # candidates beyond those asked for, to choose among equally near ones


def nearest(X: Array, Y: Array, k: int, metric: Any) -> tuple[Array, Array]:
    """Numbers and distances (m, k) of the ``k`` points of ``Y`` nearest to each row of ``X``.

    With ``metric="precomputed"`` X holds the distances themselves, and Y is not looked at.
    """
    if _named(metric) and _tree_pays(Y):
        x, y = in_range(X, Y)
        tree = _tree(y)
        order = tree.indices if X is Y else slice(None)  # by leaves: near ones visit the same nodes
        found = tree.query(x[order], k, p=_TREES[metric], workers=thread_count())
        indices = np.empty((len(X), k), np.int64)
        indices[order] = found[1].reshape(-1, k)
    elif _named(metric) and metric == "euclidean":
        from sklearn.neighbors import NearestNeighbors

        x, y = in_range(X, Y)
        search = NearestNeighbors(n_neighbors=min(k + _spare, len(Y)), algorithm="brute").fit(y)
        return _settled(X, Y, k, search.kneighbors(x, return_distance=False))
    else:
        return _by_blocks(X, Y, k, metric)
    return _ordered(indices, _distances(X, Y, indices, metric))


def _settled(X: Array, Y: Array, k: int, indices: Array) -> tuple[Array, Array]:
    """The ``k`` nearest of some more candidates, which of equally near ones depends on no thread.

    Where all candidates beyond the k-th are as near as it is, the row is searched once more.
    """
    indices, distances = _ordered(indices, _distances(X, Y, indices, "euclidean"))
    tied = np.flatnonzero(distances[:, -1] <= distances[:, k - 1] * (1 + 1e-6))
    indices, distances = indices[:, :k].copy(), distances[:, :k].copy()
    step = max(1, _block // len(Y))
    for a in range(0, len(tied), step):  # x - y once more: a matrix product would not see they tie
        some = tied[a : a + step]
        everybody = np.broadcast_to(np.arange(len(Y)), (len(some), len(Y)))
        indices[some], distances[some] = _first(_distances(X[some], Y, everybody, "euclidean"), k)
    return indices, distances


def nearest_roughly(X: Array, Y: Array, k: int, metric: Any) -> tuple[Array, Array]:
    """As ``nearest`` for X = Y, by nearest-neighbor descent: some may be missed."""
    try:
        from pynndescent import NNDescent
    except ImportError:
        raise InputError(
            "approximate neighbors need the package pynndescent: pip install gramian[approx]"
        ) from None
    if not _named(metric):
        raise InputError(f"approximate=True with metric={metric!r}: use one of {tuple(_TREES)}")
    known = "manhattan" if metric == "cityblock" else metric
    search = NNDescent(Y, metric=known, n_neighbors=k, random_state=0, n_jobs=numba_threads())
    indices = np.asarray(search.neighbor_graph[0], np.int64)
    return _ordered(indices, _distances(X, Y, indices, metric))


def within(
    X: Array, Y: Array, radius: float, metric: Any, own: Array | None
) -> tuple[Array, Array, Array]:
    """Starts, numbers and distances of all points of ``Y`` within ``radius`` of each row of ``X``.

    ``own`` says which of Y each row of X is, to leave it out.
    """
    if _named(metric) and _tree_pays(Y):
        return _within_by_tree(X, Y, radius, metric, own)
    rows = _rows_of(X, Y, metric)
    step = max(1, _block // (X.shape[1] if _given(metric) else len(Y)))
    found: list[Any] = [None] * -(-len(X) // step)

    def piece(q: int) -> None:
        D = rows(slice(q * step, (q + 1) * step))
        if own is not None:
            D[np.arange(len(D)), own[q * step : q * step + len(D)]] = np.inf
        i, j = np.nonzero(radius >= D)
        order = np.lexsort((j, D[i, j], i))
        found[q] = np.bincount(i, minlength=len(D)), j[order], D[i, j][order]

    run(piece, len(found), "neighbors")
    return _joined(found)


def search(
    X: Array, Y: Any, n_neighbors: int | None, radius: float | None, metric: Any
) -> tuple[Array, Array, Array]:
    """Starts, numbers and distances of the neighbors of new points ``X`` among ``Y``.

    With ``metric="precomputed"`` X holds the distances, and Y is not looked at.
    """
    if radius is not None:
        return within(X, Y, float(radius), metric, None)
    among = X.shape[1] if _given(metric) else len(Y)
    return even(*nearest(X, Y, min(int(n_neighbors or 1), among), metric))


def without_itself(indices: Array, distances: Array, own: Array) -> tuple[Array, Array]:
    """One neighbor less for each point: itself, or the last where it is not among them."""
    itself = indices == own[:, None]
    itself[~itself.any(axis=1), -1] = True
    shape = (len(indices), indices.shape[1] - 1)
    return indices[~itself].reshape(shape), distances[~itself].reshape(shape)


def even(indices: Array, distances: Array) -> tuple[Array, Array, Array]:
    """Equally many neighbors for each point, as starts, numbers and distances."""
    n, k = indices.shape
    return np.arange(0, n * k + 1, k), indices.ravel(), distances.ravel()


def _tree_pays(Y: Array) -> bool:
    return bool(Y.shape[1] <= (_flat if len(Y) < _tall else 2 * _flat))


def _tree(Y: Array) -> Any:
    from scipy.spatial import cKDTree

    return cKDTree(Y, balanced_tree=False, compact_nodes=False)


def _named(metric: Any) -> bool:
    return isinstance(metric, str) and metric in _TREES


def _given(metric: Any) -> bool:
    return isinstance(metric, str) and metric == "precomputed"


def in_range(X: Array, Y: Array) -> tuple[Array, Array]:
    """Both times a power of two, if squares would leave the range of floats."""
    peak = max(float(np.abs(Z).max(initial=0.0)) for Z in (X, Y))
    exponent = int(np.frexp(peak)[1]) if 0 < peak < np.inf else 0
    safe = 30 if Y.dtype == np.float32 else 100
    if abs(exponent) <= safe:
        return X, Y
    return np.ldexp(X, -exponent), np.ldexp(Y, -exponent)


def _within_by_tree(
    X: Array, Y: Array, radius: float, metric: str, own: Array | None
) -> tuple[Array, Array, Array]:
    """A k-d tree finds who may be within, a hair further; exact distances decide."""
    peak = float(np.abs(Y).max(initial=0.0)) + float(np.abs(X).max(initial=0.0))
    x, y = in_range(X, Y)
    unit = 1.0 if x is X else float(np.abs(y).max() / np.abs(Y).max())
    reach = (radius * (1 + 1e-9) + 1e-14 * peak) * unit
    tree, step = _tree(y), 2000
    found: list[Any] = [None] * -(-len(X) // step)

    def piece(q: int) -> None:
        pause()
        some = slice(q * step, (q + 1) * step)
        near = tree.query_ball_point(x[some], reach, p=_TREES[metric])
        i = np.repeat(np.arange(len(near)), [len(each) for each in near])
        j = np.concatenate([np.asarray(each, np.int64) for each in near])
        d = _distances(X[some][i], Y, j[:, None], metric)[:, 0]
        inside = d <= radius if own is None else (d <= radius) & (own[some][i] != j)
        i, j, d = i[inside], j[inside], d[inside]
        order = np.lexsort((j, d, i))
        found[q] = np.bincount(i, minlength=len(near)), j[order], d[order]

    run(piece, len(found), "neighbors")
    return _joined(found)


def _joined(found: list[Any]) -> tuple[Array, Array, Array]:
    """Counts, numbers and distances of blocks of points, as starts, numbers and distances."""
    many, indices, distances = (np.concatenate(each) for each in zip(*found, strict=True))
    return np.concatenate([[0], np.cumsum(many)]), indices, distances


def _by_blocks(X: Array, Y: Array, k: int, metric: Any) -> tuple[Array, Array]:
    rows = _rows_of(X, Y, metric)
    step = max(1, _block // max(X.shape[1] if _given(metric) else len(Y), 1))
    indices = np.empty((len(X), k), np.int64)
    distances = np.empty((len(X), k))

    def piece(q: int) -> None:
        some = slice(q * step, (q + 1) * step)
        D = rows(some)
        indices[some], distances[some] = _first(D, k)

    run(piece, -(-len(X) // step), "neighbors")
    return indices, distances


def _rows_of(X: Array, Y: Array, metric: Any) -> Callable[[slice], Array]:
    """Distances of some rows of X to all of Y, as an array of their own."""
    if _given(metric):
        return lambda some: np.array(X[some], np.float64)
    known, settings = checked_metric(metric), {}
    if metric == "mahalanobis":
        settings["VI"] = np.linalg.pinv(np.atleast_2d(np.cov(Y.T)))
    return lambda some: np.asarray(pairwise(X[some], Y, known, **settings), np.float64)


def _distances(X: Array, Y: Array, indices: Array, metric: str) -> Array:
    """From x - y, a block of points at a time."""
    out = np.empty(indices.shape)
    step = max(1, 500_000 // max(indices.shape[1] * X.shape[1], 1))

    def piece(q: int) -> None:
        some = slice(q * step, (q + 1) * step)
        apart = Y[indices[some]].astype(np.float64) - X[some, None, :]
        if metric == "euclidean":
            # a power of two: the distance of two points does not depend on the others
            scale = unit_for(float(np.abs(apart).max(initial=0.0)), np.float64)
            apart *= scale
            out[some] = np.sqrt(np.einsum("ijk,ijk->ij", apart, apart)) / scale
        elif metric == "cityblock":
            out[some] = np.abs(apart).sum(axis=2)
        else:
            out[some] = np.abs(apart).max(axis=2)

    run(piece, -(-len(X) // step))
    return out


def _first(D: Array, k: int) -> tuple[Array, Array]:
    """Of each row the k smallest; of equal ones those with the smaller numbers."""
    limit = np.partition(D, k - 1, axis=1)[:, k - 1 : k]
    level = limit == D
    many = k - np.count_nonzero(limit > D, axis=1)  # of the limit itself, how many are taken
    taken = (limit > D) | (level & (np.cumsum(level, axis=1) <= many[:, None]))
    indices = np.nonzero(taken)[1].reshape(len(D), k)
    return _ordered(indices, np.take_along_axis(D, indices, axis=1))


def _ordered(indices: Array, distances: Array) -> tuple[Array, Array]:
    """Nearest first; of equally near ones that with the smaller number."""
    odd = np.flatnonzero((distances[:, 1:] <= distances[:, :-1]).any(axis=1))
    if len(odd) == 0:
        return indices, distances
    indices, distances = indices.copy(), distances.copy()
    order = np.lexsort((indices[odd], distances[odd]), axis=1)
    indices[odd] = np.take_along_axis(indices[odd], order, axis=1)
    distances[odd] = np.take_along_axis(distances[odd], order, axis=1)
    return indices, distances

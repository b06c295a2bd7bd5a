"""Isomap: classical scaling of geodesic distances.

1. graph      join each point to its nearest neighbors; an edge is as long as their distance
2. geodesics  D_ij = length of the shortest path from i to j
3. Gram       K = -1/2 D∘D
4. embed      H K H = V L V',  Z = V L^1/2                              (as classical scaling)
5. judge      residual variance: 1 - r^2 of geodesics and distances in the map
6. new point  d(x, j) = min over its neighbors i of |x - x_i| + D_ij; then 3, and the row centered
              as the others were, times V L^-1/2

Landmarks: 2 from m points only, chosen by max-min; 3 and 4 among them, and 6 for everybody else.

J. B. Tenenbaum, V. de Silva and J. C. Langford, Science 290 (2000). Landmarks: V. de Silva and
J. B. Tenenbaum, Advances in Neural Information Processing Systems 15 (2003).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from gramian.errors import InputError, MemoryRefusedError
from gramian.evidence import Shepard, sample_pairs
from gramian.gram.blocked import search_in_blocks
from gramian.gram.distances import HalfSquares, from_distances
from gramian.gram.geodesics import Geodesics, from_one
from gramian.gram.landmarks import candidates, row_of, spread_out
from gramian.gram.neighbors import Neighbors
from gramian.gram.tiles import SymmetricTiles
from gramian.maps import Array
from gramian.memory import budget, in_words
from gramian.methods.embedder import generator
from gramian.methods.landmarks import (
    FilePoints,
    by_landmarks,
    check_landmarks,
    placing_bytes,
    stay_in_file,
    too_many,
)
from gramian.methods.neighborhood import NeighborhoodEmbedder
from gramian.quality.unexplained import residual_variance
from gramian.show.text import count, listed, number, percent
from gramian.spectral.gram_embedding import EXACT, GramEmbedding, negativity
from gramian.spectral.plan import Expected, Plan, plan

_whole = 5_000  # points up to which landmarks="auto" takes all
_auto = 1_000  # landmarks it takes of more
_edge = 95  # bytes for each neighbor of a point, in graphs and their copies
_pairs = 500_000  # whose residual variance is measured, where there are more than twice as many


class Isomap(NeighborhoodEmbedder):
    """Isometric mapping, certified.

    Parameters
    ----------
    n_components : int
        How many axes. The first axes are the same however many are asked for.
    n_neighbors : int
        Neighbors of each point, itself not counted. Not used if ``radius`` is given.
    radius : float, optional
        All points within this distance are neighbors instead.
    metric : str or callable
        A name of ``gramian.gram.distances.METRICS``, a function of two points, or "precomputed":
        then ``X`` holds distances (n, n), or is a sparse graph whose entries are lengths of edges.
    landmarks : int, "auto" or None
        Geodesics from so many points only, the others placed by them: an approximation, whose
        error is estimated in ``landmark_error_``. "auto" is exact up to 5,000 points and takes
        1,000 landmarks of more.
    disconnected : {"error", "join", "largest"}
        What to do with a graph in several parts: refuse and say what would join them; join them by
        their shortest bridges; or scale the largest part, and place all other points by their
        nearest neighbors in it, as if they were new.
    approximate : bool
        Neighbors by nearest-neighbor descent (package pynndescent): quicker for many points in
        many dimensions, and some may be missed.
    keep_distances : bool
        Keep all geodesics in ``dist_matrix_`` (n x n numbers).
    solver : {"auto", "dense", "krylov", "arpack"} or Solver
    memory : int, str or None
        Budget, e.g. ``"4GB"``; by default 80 % of what is available.
    random_state : int, Generator, RandomState or None

    Attributes
    ----------
    embedding_ : array of shape (n, k)
        Every point has a row, those outside the largest part too.
    eigenvalues_, residuals_ : array of shape (k,)
        Of H K H, largest algebraic first; the certificate.
    residual_variance_ : array of shape (k,)
        Of maps of 1, 2, ... k axes: over all pairs of up to 1,000 points, over a sample of more.
    negativity_ : float
        |most negative eigenvalue| / largest: 0 if the geodesics are Euclidean. Beyond 1,000 points
        within 3 % of itself or 0.002 of the largest, never too large, and 0 if below 1e-5.
    edges_ : array of int, shape (e, 2)
        The graph, each edge once, as pairs of rows of ``X``; ``lengths_`` are their lengths.
    n_parts_ : int
        Parts of the graph before anything was joined or left out.
    kept_ : array of int
        Rows of ``X`` that are in the graph: all, but for ``disconnected="largest"``.
    n_bridges_ : int
        Edges added to join parts.
    landmarks_ : array of int or None
        Rows that are landmarks; ``landmark_error_`` is the typical distance between
        placements by two halves of them, as a share of the size of the configuration.
    dist_matrix_ : array of shape (n, n)
        Only with ``keep_distances``.
    plan_ : Plan

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import Isomap
    >>> t = np.linspace(0, 3, 40)
    >>> spiral = np.column_stack([t * np.cos(t), t * np.sin(t)])
    >>> Z = Isomap(1, n_neighbors=2).fit_transform(spiral)
    >>> bool(np.all(np.diff(Z[:, 0]) > 0) or np.all(np.diff(Z[:, 0]) < 0))
    True
    """

    axis_prefix = "Isomap"
    landmarks_: Any  # array of int, or None

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors: int = 5,
        radius: float | None = None,
        metric: Any = "euclidean",
        landmarks: int | str | None = None,
        disconnected: str = "error",
        approximate: bool = False,
        keep_distances: bool = False,
        solver: Any = "auto",
        memory: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.metric = metric
        self.landmarks = landmarks
        self.disconnected = disconnected
        self.approximate = approximate
        self.keep_distances = keep_distances
        self.solver = solver
        self.memory = memory
        self.random_state = random_state

    def _fit(self, opened: Any, weights: Any = None) -> None:
        far = self._far(opened)
        given = self._given_far(opened.rows) if far else self._given(opened)
        near, graph = self._joined(given)  # 1
        n, dtype = len(near), _float(given.dtype)
        k = self._checked_count(n)
        graph.data *= self._unit
        expected = self._planned(opened.rows if far else Expected((n, n), dtype))
        paths = Geodesics.of(graph)
        how = {"solver": self.solver, "memory": self.memory, "rng": generator(self.random_state)}
        m = self._count_landmarks(n, k)
        if m is None:
            self._fit_whole(paths, k, dtype, how)
        else:
            chosen = self._spread_out(near, graph, given, m)
            self._fit_landmarks(paths, chosen, k, dtype, how)
        self._complete(given)
        passes = opened.rows.passes if far else self.plan_.passes
        found = replace(self.plan_, route=expected.route, bytes=expected.bytes)
        self.plan_ = replace(found, passes=passes)
        self._warn_of_others()

    def _fit_whole(self, paths: Geodesics, k: int, dtype: Any, how: dict[str, Any]) -> None:
        n, self.landmarks_, self.landmark_error_ = len(paths), None, 0.0
        D = paths.from_nodes(np.arange(n), dtype)  # 2
        if self.keep_distances:
            self.dist_matrix_ = D / dtype.type(self._unit) if self._unit != 1 else D
        some, pairs = _sample(n, n), sample_pairs(n)
        judged, apart = D[some], D[tuple(pairs.T)]
        quick = self._tiles(n, k, lambda w: SymmetricTiles.of_distances(D, w))
        K = HalfSquares(D) if quick else from_distances(D, overwrite=not self.keep_distances)  # 3
        gram = GramEmbedding.of(K, k, diagonal=np.zeros(n), quick=quick, **how)  # 4
        del quick  # half as large as the geodesics
        self._embed(gram, dtype, self._unit)
        self._judge(K, gram, judged, some, how["rng"])
        self._shepard = Shepard.of(apart / self._unit, self.embedding_, pairs)

    def _fit_landmarks(
        self, paths: Geodesics, chosen: Array, k: int, dtype: Any, how: dict[str, Any]
    ) -> None:
        n, m = len(paths), len(chosen)
        D = paths.from_nodes(chosen, dtype)  # 2, from landmarks
        line = np.zeros(n, np.int64)
        line[chosen] = np.arange(m)

        def between(rows: Any, few: Array) -> Array:
            whole = isinstance(rows, slice)  # then all landmarks are asked for
            return np.ascontiguousarray((D[:, rows] if whole else D[np.ix_(line[few], rows)]).T)

        found = by_landmarks(between, chosen, n, k, how)  # 3, 4
        self._embed(found.gram, dtype, self._unit)
        self.embedding_ = (found.coordinates / self._unit).astype(dtype)  # 6
        self.landmarks_, self.landmark_error_ = self.kept_[chosen], found.error
        some, pairs = _sample(m, n), sample_pairs(m)
        self._judge(found.K, found.gram, D[some], chosen[some], how["rng"])
        apart = D[pairs[:, 0], chosen[pairs[:, 1]]] / self._unit
        self._shepard = Shepard.of(apart, self.embedding_[chosen], pairs)

    def _judge(self, K: Any, gram: GramEmbedding, D: Array, rows: Array, rng: Any) -> None:
        """Step 5."""
        self.residual_variance_ = residual_variance(D, self.embedding_ * self._unit, rows)
        largest = max(float(gram.pairs.values[0]), np.finfo(float).tiny)
        self.negativity_ = abs(negativity(K, gram, rng)) / largest

    def _planned(self, rows: Any) -> Plan:
        n, size, allowed = rows.shape[0], _float(rows.dtype).itemsize, budget(self.memory)
        k = self._checked_count(n)
        m = self._count_landmarks(n, k)
        if m is None:
            found = plan(Expected((n, n), rows.dtype), k, "largest", self.solver, self.memory)
            what, needed = f"geodesics ({n} x {n})", n * n * size
            tiles = SymmetricTiles.bytes(n) if self.solver == "auto" and n > EXACT else 0
            needed += tiles if needed + 1.2 * tiles < allowed else 0
        else:
            found = plan(Expected((m, m), rows.dtype), k, "largest", self.solver, self.memory)
            what, needed = f"geodesics from {m} landmarks to {n} points", m * n * size
            needed += placing_bytes(m, n)
        asked = self.radius is None and isinstance(self.n_neighbors, (int, np.integer))
        needed += _edge * n * (int(self.n_neighbors) if asked else 20)  # a guess of those within
        passes = 1
        if m is not None and too_many(rows, self.memory):
            n, p = rows.shape
            points = n * p * size
            needed += min(100 * m, n) * p * size + 3 * self._held  # of whom landmarks are chosen
            passes = 2 + -(-points // self._held)
            what = f"neighbors of points in a file, {what}"
        if needed + found.bytes > allowed:
            raise MemoryRefusedError(
                f"{what} need {in_words(needed + found.bytes)}, the budget is {in_words(allowed)}; "
                f"use {'landmarks=1000' if m is None else 'fewer landmarks'}, or raise memory="
            )
        return replace(
            found, route=f"{what} stored, {found.route}", bytes=needed + found.bytes, passes=passes
        )

    def _placed(self, new: Array) -> Array:
        return np.concatenate([self.gram_.place(K) for K, _ in self._rows(new)]) / self._unit

    def _blocks(self, opened: Any) -> Iterator[tuple[Array, Array]]:
        for new in self._new_parts(opened):
            yield from self._rows(new)

    def _rows(self, new: Array) -> Iterator[tuple[Array, Array]]:
        """Step 6; the graph is all that new points need, so no geodesics are kept."""
        graph = self._graph()
        graph.data *= self._unit
        paths = Geodesics.of(graph)
        to = np.searchsorted(self.kept_, self.landmarks_) if self._landmarked else None
        for _, (starts, indices, distances) in self._neighbors_of(new):
            D = paths.from_points(starts, indices, distances * self._unit, to)
            yield from_distances(D, overwrite=True), np.zeros(len(D))

    def _spread_out(self, near: Neighbors, graph: Any, given: Any, m: int) -> Array:
        """Landmarks, by distances of points, or geodesics of a given graph."""
        n = len(near)
        if sparse.issparse(given):
            return spread_out(lambda i: from_one(graph, i), n, m)
        if self._precomputed:
            rows = given[:, self.kept_]
            return spread_out(lambda i: np.asarray(rows[self.kept_[i]]), n, m)
        among = candidates(n, m)
        if isinstance(given, FilePoints):
            with given.visit():
                points = given.take(self.kept_[among])
        else:
            points = given[self.kept_[among]]
        return np.asarray(among[spread_out(row_of(points, self.metric), len(among), m)])

    def _far(self, opened: Any) -> bool:
        """Whether the points stay in their file: a file larger than the budget, with landmarks."""
        if self._precomputed or self.landmarks is None or not stay_in_file(opened, self.memory):
            return False
        n = opened.rows.shape[0]
        return self._count_landmarks(n, self._checked_count(n)) is not None

    def _given_far(self, rows: Any) -> FilePoints:
        if self.approximate or self.metric in ("mahalanobis", "gower"):
            what = "approximate=True" if self.approximate else f"metric={self.metric!r}"
            raise InputError(
                f"{what} needs all points in memory, and they do not fit; raise memory="
            )
        self._planned(rows)  # refuses before anything is read
        self.X_fit_: Any = FilePoints(rows)
        return self.X_fit_

    def _neighbors_of(self, new: Array) -> Iterator[tuple[slice, tuple[Array, Array, Array]]]:
        if self._precomputed or isinstance(self.X_fit_, np.ndarray):
            yield from super()._neighbors_of(new)
            return
        blocks = partial(self.X_fit_.only, self.kept_)
        how = len(self.kept_), self.n_neighbors, self.radius, self.metric
        yield slice(0, len(new)), search_in_blocks(new, blocks, *how)

    def save(self, path: Any) -> None:
        """Write the fitted method to a file that ``gramian.load`` reads; see ``Embedder``."""
        if isinstance(getattr(self, "X_fit_", None), FilePoints):
            raise InputError(
                "this Isomap was fitted to a file that does not fit its memory budget, and knows "
                "where its points are but does not hold them, which a model file would have to; "
                "raise memory=, or fit to fewer rows"
            )
        super().save(path)

    def _count_landmarks(self, n: int, k: int) -> int | None:
        """How many there will be; ``None`` without landmarks."""
        m = self.landmarks
        if isinstance(m, str):
            if m != "auto":
                raise InputError(f"landmarks={m!r}: a whole number, 'auto' or None is needed")
            m = None if n <= _whole else max(_auto, k + 2)
        return None if m is None else check_landmarks(m, k, n)

    @property
    def _landmarked(self) -> bool:
        return self.landmarks_ is not None

    def _keeps(self) -> dict[str, Any]:
        few = "g" if self.landmarks is None else "m"
        return {
            **super()._keeps(),
            "landmarks_": "m -> n?",
            "gram_": (GramEmbedding, {"n": few}),
            "eigenvectors_": f"{few} k",
            "residual_variance_": "k",
            "landmark_error_": float,
            "_shepard": Shepard | None,
        }

    def _shares(self) -> Any:
        return None  # negative eigenvalues make shares of their sum misleading

    def _shown(self) -> dict[str, Any]:
        shown = {"residual_variance": self.residual_variance_, "shepard": self._shepard}
        return super()._shown() | shown

    def _measured(self) -> dict[str, Any]:
        return {
            "residual_variance": float(self.residual_variance_[-1]),
            "negativity": self.negativity_,
            "landmark_error": self.landmark_error_ if self._landmarked else None,
            **super()._measured(),
        }

    def _said(self) -> Iterator[str]:
        if self._landmarked:
            yield (
                f"an approximation: {count(len(self.landmarks_), 'landmark')} of "
                f"{count(len(self.embedding_), 'point')}; placements by two halves of them "
                f"differ by {percent(self.landmark_error_)} of the size of the configuration"
            )
        yield from super()._said()
        curve = [number(each) for each in self.residual_variance_]
        axes = "1 axis" if len(curve) == 1 else f"1 to {len(curve)} axes"
        yield f"residual variance of {axes}: {listed(curve)}"
        if self.negativity_ > 0:
            yield (
                "geodesics are not Euclidean: the most negative eigenvalue is "
                f"{percent(self.negativity_)} of the largest; that part is left out"
            )


def _sample(m: int, n: int) -> Array:
    """Which of m rows of n distances are judged."""
    most = m if m * n <= 2 * _pairs else max(1, _pairs // n)
    return np.sort(np.random.default_rng(0).choice(m, min(m, most), replace=False))


def _float(dtype: Any) -> Any:
    return np.dtype(np.float32 if dtype == np.float32 else np.float64)

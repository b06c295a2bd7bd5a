"""Maximum variance unfolding: draw points as far apart as neighbors allow.

1. graph      join each point to its nearest neighbors, edge length = distance d_ij
2. unfold     maximize the variance sum |r_i|^2 = tr K,  K = R R', sum r_i = 0, where no edge grows:
              |r_i - r_j|^2 <= d_ij^2.  The program in K is convex: what is found comes with a bound
              that nothing can exceed
3. embed      K = V L V',  Z = V L^1/2
4. new point  x ~ sum w_j x_j over its neighbors, sum w_j = 1;  z = sum w_j z_j

K. Q. Weinberger and L. K. Saul, International Journal of Computer Vision 70 (2006); the bound:
J. Sun, S. Boyd, L. Xiao and P. Diaconis, SIAM Review 48 (2006). How 2 is solved: gram/unfold.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from gramian.data.dissimilarities import open_distances
from gramian.data.door import Opened
from gramian.errors import CertificateWarning, InputError, MemoryRefusedError
from gramian.gram.distances import pairwise
from gramian.gram.nearest import nearest
from gramian.gram.neighbors import Neighbors
from gramian.gram.unfold import Unfolding, unfold
from gramian.gram.unfold_steps import expected_bytes
from gramian.maps import Array
from gramian.memory import budget, in_words
from gramian.methods.embedder import generator, warn
from gramian.methods.similarity import GramEmbedder, as_points
from gramian.show.text import count, number, percent
from gramian.spectral.krylov import default_tolerance
from gramian.spectral.pairs import Eigenpairs
from gramian.spectral.plan import Plan

_all, _some = 10_000, 5_000  # landmarks="auto" unfolds all points up to here, else so many


class MaximumVarianceUnfolding(GramEmbedder):
    """Maximum variance unfolding, with a proven distance from the optimum.

    Parameters
    ----------
    n_components : int
        How many axes.
    n_neighbors : int
        How many neighbors each point is joined to.
    radius : float, optional
        Join all points within this distance instead.
    metric : str or callable
        As for ``gramian.gram.distances.pairwise``; "precomputed" if ``X`` holds distances, or a
        sparse graph of lengths.
    stiffness : float
        0: edges may become shorter. Above: keeping all edges at their length is worth so many times
        the variance; at 10 hardly one is shorter (the equalities of the first papers). For a few
        hundred points at most.
    landmarks : int, "auto" or None
        Unfold so many points, far from each other, and place the others as new points are placed:
        an approximation. "auto" unfolds all of up to 10,000 points, 5,000 of more.
    disconnected : {"error", "join", "largest"}
        What to do with a graph in several parts: refuse it, join them by shortest bridges, or
        unfold the largest and place the others as new points are placed.
    solver : {"auto"}
    max_iter : int
        Newton steps at most.
    tol : float
        The gap to the bound at which to stop, as a share of the variance.
    memory : int, str or None
        Budget, e.g. ``"4GB"``; by default 80 % of what is available.
    random_state : int, Generator, RandomState or None
        Chooses the first landmark.

    Attributes
    ----------
    embedding_ : array of shape (n, k)
    eigenvalues_, residuals_ : array of shape (k,)
        Of K, largest first; the certificate of the axes.
    eigenvectors_ : array of shape (m, k)
    variance_ : float
        Sum of squared distances to the mean, over all axes that there are.
    objective_, bound_ : float
        What was maximized (the variance, and the worth of edges if they are stiff), and what no
        drawing exceeds.
    duality_gap_ : float
        (bound - objective) / objective: 0 at the optimum.
    constraint_violation_ : float
        How much longer than allowed the worst edge is, as a share.
    shortening_ : float
        Root mean square share by which edges are shorter than their distance.
    n_iter_ : int
        Newton steps.
    stopping_ : str
        Why they ended.
    n_edges_ : int
    landmarks_ : array of int, shape (m,)
        The points that were unfolded: all, unless landmarks or a part of the graph were asked for.
    n_positive_ : int
        How many of the axes have a positive eigenvalue.
    plan_ : Plan

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import MaximumVarianceUnfolding
    >>> t = np.linspace(0, 5, 30)
    >>> spiral = np.c_[t * np.cos(t), t * np.sin(t)]
    >>> model = MaximumVarianceUnfolding(1, n_neighbors=2).fit(spiral)
    >>> bool(model.duality_gap_ < 1e-4)
    True
    """

    reads = "points"
    axis_prefix = "MVU"
    n_features_in_: int

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors: int | None = 8,
        radius: float | None = None,
        metric: Any = "euclidean",
        stiffness: float = 0.0,
        landmarks: int | str | None = "auto",
        disconnected: str = "error",
        solver: str = "auto",
        max_iter: int = 2000,
        tol: float = 1e-4,
        memory: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.metric = metric
        self.stiffness = stiffness
        self.landmarks = landmarks
        self.disconnected = disconnected
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.memory = memory
        self.random_state = random_state

    def _fit(self, opened: Any, weights: Any = None) -> None:
        X = self._points(opened)
        self.plan_ = self._planned(X)
        chosen = self._chosen(X)
        part = X if len(chosen) == X.shape[0] else X[chosen]
        nearest_ones = None if self.radius is not None else self.n_neighbors
        near = Neighbors.of(part, nearest_ones, radius=self.radius, metric=self.metric)  # 1
        near = near.connect(self.disconnected, None if sparse.issparse(X) else part)
        self._reach = max(1, round(len(near.indices) / len(near)))
        self.landmarks_ = chosen[near.kept]
        k = self._checked_count(len(near))
        found = unfold(  # 2
            near.graph(), k, stiffness=self.stiffness, tol=self.tol, max_iter=self.max_iter
        )
        self._take(found, k, X.dtype)  # 3
        if len(self.landmarks_) < X.shape[0]:
            self._place_others(X)  # 4

    def _take(self, found: Unfolding, k: int, dtype: Any) -> None:
        """Step 3, and what is known of the answer."""
        R = found.points[:, :k]
        V, sizes, _ = np.linalg.svd(np.pad(R, [(0, 0), (0, k - R.shape[1])]), full_matrices=False)
        whole, tolerance = found.points, default_tolerance(np.dtype(np.float64))
        image = whole @ (whole.T @ V)
        pairs = Eigenpairs.of(whole, sizes**2, V, tolerance=tolerance, image=image)
        self.eigenvalues_, self.eigenvectors_ = pairs.values, pairs.vectors
        self.residuals_, self.tolerance_ = pairs.residuals, pairs.tolerance
        self.embedding_ = pairs.coordinates().astype(np.float32 if dtype == np.float32 else float)
        self.n_components_, self.n_positive_ = k, pairs.positive()
        self.variance_ = float(np.sum(whole * whole))
        self.objective_, self.bound_, self.duality_gap_ = found.value, found.bound, found.gap
        self.n_edges_ = len(found.edges)
        self.constraint_violation_ = max(float(found.shares.max()) - 1, 0.0)
        self.shortening_ = float(np.sqrt(np.mean((1 - found.shares) ** 2)))
        self.n_iter_, self.stopping_ = found.n_iter, found.stopping
        if found.gap > self.tol:
            warn(
                f"the variance may be {percent(found.gap)} below its optimum, asked for "
                f"{percent(self.tol)}: {found.stopping}; see duality_gap_",
                CertificateWarning,
            )
        if self.n_positive_ < k:
            warn(
                f"only {self.n_positive_} of the {k} axes asked for have a positive eigenvalue: "
                "points unfold into fewer dimensions, and coordinates on the others are 0"
            )

    def _place_others(self, X: Any) -> None:
        """Points that were not unfolded, as new points."""
        self._needs_points("landmarks, or the largest part of the graph,")
        whole = np.empty((X.shape[0], self.n_components_), self.embedding_.dtype)
        whole[self.landmarks_] = self.embedding_
        others = np.setdiff1d(np.arange(len(whole)), self.landmarks_)
        self.embedding_ = whole
        whole[others] = self._carried(X[others])[0]

    def _place(self, opened: Any) -> Array:
        return self._carried(self._new(opened))[0]

    def placement_residual(self, X: Any) -> Array:
        """How far each new point lies from the weighted mean of its neighbors."""
        check_is_fitted(self)
        return self._carried(self._new(self._open(X, reset=False)))[1]

    def _carried(self, X: Array) -> tuple[Array, Array]:
        """Step 4: coordinates of new points, and how far they lie from their weighted mean."""
        Y, Z = self.X_fit_[self.landmarks_], self.embedding_[self.landmarks_]
        indices, distances = nearest(X, Y, min(self._reach, len(Y)), self.metric)
        W = barycenter_weights(X, Y, indices)
        W[distances[:, 0] == 0] = np.eye(1, W.shape[1])  # a point of the data is itself
        mean = np.einsum("ij,ijp->ip", W, Y[indices].astype(np.float64))
        apart = np.where(distances[:, 0] == 0, 0.0, np.linalg.norm(X - mean, axis=1))
        return np.einsum("ij,ijk->ik", W, Z[indices]).astype(Z.dtype), apart

    def _planned(self, rows: Any) -> Plan:
        self._check(rows.shape[0])
        return self._plan_of(rows.shape[0])

    def _plan_of(self, n: int) -> Plan:
        m, edges = self._count(n), self.n_neighbors or 8
        needs = expected_bytes(m, max(self.n_components + 1, 3), edges)
        some = f"{m} landmarks of {n} points" if m < n else f"{n} points"
        if needs > budget(self.memory):
            raise MemoryRefusedError(
                f"unfolding {m} points needs about {in_words(needs)}, the budget is "
                f"{in_words(budget(self.memory))}; use landmarks=, or raise memory="
            )
        route = f"graph of neighbors of {some}, unfolded by sparse Newton steps"
        return Plan(route, "direct", None, needs)  # type: ignore[arg-type]

    def _count(self, n: int) -> int:
        """How many points are unfolded."""
        m = self.landmarks
        if m is None or m == "auto":
            return n if m is None or n <= _all else _some
        if isinstance(m, bool) or not isinstance(m, (int, np.integer)) or not 3 <= m <= n:
            raise InputError(
                f"landmarks={m!r}: 'auto', None, or a whole number from 3 to n = {n} is needed"
            )
        return int(m)

    def _check(self, n: int) -> None:
        self._checked_count(n)
        for name, least in (("stiffness", 0.0), ("tol", 1e-12), ("max_iter", 1)):
            value = getattr(self, name)
            if isinstance(value, (bool, str)) or not least <= value < np.inf:
                raise InputError(f"{name}={value!r}: a finite number from {least:g} up is needed")
        if self.solver != "auto":
            raise InputError(f"solver={self.solver!r}: unfolding knows only 'auto'")

    def _chosen(self, X: Any) -> Array:
        """The points to unfold: all, or landmarks, each as far as can be from those before."""
        n = X.shape[0]
        m = self._count(n)
        if m == n:
            return np.arange(n)
        self._needs_points("landmarks")
        chosen = [int(generator(self.random_state).integers(n))]
        away = np.full(n, np.inf)
        while len(chosen) < m:
            away = np.minimum(away, pairwise(X, X[chosen[-1:]], self.metric)[:, 0])
            chosen.append(int(np.argmax(away)))
        return np.unique(chosen)

    def _points(self, opened: Any) -> Any:
        """What the graph is made of; points are kept for new ones."""
        if not self._precomputed:
            self.X_fit_ = as_points(opened, self.memory).copy()
            return self.X_fit_
        D = opened.D if hasattr(opened, "D") else opened.rows
        whole = isinstance(D, np.ndarray) or sparse.issparse(D)
        return D if whole else D.read_rows(slice(0, D.shape[0]))

    def _needs_points(self, what: str) -> None:
        if self._precomputed:
            raise InputError(f"{what} need points; this model was given distances")

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    def _open(self, X: Any, reset: bool) -> Any:
        if not self._precomputed:
            return super()._open(X, reset)
        if not reset:
            self._needs_points("coordinates of new points")
        if hasattr(X, "tocsr"):  # a graph
            self.n_features_in_ = X.shape[1]
            return Opened(X, None, None)
        found = open_distances(X, self.memory)
        self.n_features_in_ = found.D.shape[0]
        return found

    def _keeps(self) -> dict[str, Any]:
        kept = super()._keeps()
        del kept["gram_"], kept["negativity_"], kept["_unit"]
        measured = ("variance_", "objective_", "bound_", "duality_gap_")
        edges = ("constraint_violation_", "shortening_")
        return {
            **kept,
            **dict.fromkeys(measured + edges, float),
            "eigenvectors_": "m k",
            "landmarks_": "m -> n",
            **dict.fromkeys(("n_iter_", "n_edges_", "_reach"), int),
            "stopping_": str,
        }

    def _shares(self) -> Array:
        return np.asarray(self.eigenvalues_ / self.variance_)

    def _measured(self) -> dict[str, Any]:
        return {
            "duality_gap": self.duality_gap_,
            "variance": self.variance_,
            "bound": self.bound_,
            "shortening": self.shortening_,
            "edges": self.n_edges_,
            "steps": self.n_iter_,
        }

    def _said(self) -> Iterator[str]:
        m, n = len(self.landmarks_), len(self.embedding_)
        if m < n:
            yield (
                f"{count(m, 'point')} of {count(n, 'point')} were unfolded, the others placed by "
                "their neighbors: an approximation"
            )
        yield (
            f"{count(self.n_edges_, 'edge')}, none longer than its distance; they are shorter by "
            f"{percent(self.shortening_)} (root mean square)"
        )
        what = "variance and worth of the edges" if self.stiffness else "variance"
        yield (
            f"{what} {number(self.objective_)}, and none is above {number(self.bound_)}: proven "
            f"by tensions of the edges; {count(self.n_iter_, 'Newton step')}, {self.stopping_}"
        )


def barycenter_weights(X: Array, Y: Array, indices: Array, reg: float = 1e-3) -> Array:
    """Weights (m, k) of the neighbors ``Y[indices]`` of each row of ``X``; their sum is 1.

    They minimize |x - sum_j w_j y_j|^2 + r |w|^2, r = ``reg`` times the trace of the neighbors'
    Gram matrix around x.
    """
    apart = Y[indices].astype(np.float64) - X[:, None, :]
    apart /= np.maximum(np.abs(apart).max(axis=(1, 2), keepdims=True), np.finfo(float).tiny)
    G = np.einsum("ijp,ilp->ijl", apart, apart)
    trace = np.trace(G, axis1=1, axis2=2)
    G += np.maximum(reg * trace, np.finfo(float).eps)[:, None, None] * np.eye(indices.shape[1])
    W = np.linalg.solve(G, np.ones((*indices.shape, 1)))[:, :, 0]
    return np.asarray(W / W.sum(axis=1, keepdims=True))

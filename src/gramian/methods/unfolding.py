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
from sklearn.utils.validation import check_is_fitted

from gramian.errors import CertificateWarning, InputError, MemoryRefusedError
from gramian.gram.barycenter import means
from gramian.gram.landmarks import row_of, spread_out
from gramian.gram.unfold import Unfolding, unfold
from gramian.gram.unfold_steps import expected_bytes
from gramian.maps import Array
from gramian.memory import budget, in_words
from gramian.methods.embedder import generator, rescaled, warn
from gramian.methods.neighborhood import NeighborhoodEmbedder
from gramian.methods.similarity import IN_SQUARES
from gramian.show.text import count, number, percent
from gramian.spectral.krylov import default_tolerance
from gramian.spectral.pairs import Eigenpairs
from gramian.spectral.plan import Plan

_all, _some = 10_000, 5_000  # landmarks="auto" unfolds all points up to here, else so many


class MaximumVarianceUnfolding(NeighborhoodEmbedder):
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
        0: edges may become shorter, never longer. Above: keeping all edges at their length is worth
        so many times the variance; at 10 hardly one is shorter (the equalities of the first paper).
        For a few hundred points at most.
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
    kept_ : array of int, shape (m,)
        The points that were unfolded: all, unless landmarks or a part of the graph were asked for.
    edges_ : array of int, shape (e, 2)
        The graph, each edge once, as pairs of rows of ``X``; ``lengths_`` are their distances.
    n_parts_, n_bridges_ : int
        Parts of the graph before anything was joined or left out; edges added to join them.
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

    axis_prefix = "MVU"

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
        X = self._given(opened)
        self.plan_ = self._planned(X)
        chosen = self._chosen(X)
        near, graph = self._joined(X if len(chosen) == X.shape[0] else X[chosen])  # 1
        self.kept_, self.edges_ = chosen[self.kept_], chosen[self.edges_]
        self._reach = max(1, round(len(near.indices) / len(near)))
        k = self._checked_count(len(near))
        graph.data *= self._unit
        found = unfold(  # 2
            graph, k, stiffness=self.stiffness, tol=self.tol, max_iter=self.max_iter
        )
        self._take(found, k)  # 3
        self.embedding_ = self.embedding_.astype(np.float32 if X.dtype == np.float32 else float)
        if len(self.kept_) < X.shape[0]:
            self._needs_points("landmarks, or the largest part of the graph,")
        self._complete(X)  # 4

    def _take(self, found: Unfolding, k: int) -> None:
        """Step 3, and what is known of the answer."""
        R = found.points[:, :k]
        V, sizes, _ = np.linalg.svd(np.pad(R, [(0, 0), (0, k - R.shape[1])]), full_matrices=False)
        whole, tolerance = found.points, default_tolerance(np.dtype(np.float64))
        image = whole @ (whole.T @ V)
        pairs = Eigenpairs.of(whole, sizes**2, V, tolerance=tolerance, image=image)
        self.eigenvectors_ = pairs.vectors
        self.residuals_, self.tolerance_ = pairs.residuals, pairs.tolerance
        self.embedding_ = pairs.coordinates() / self._unit
        self.n_components_, self.n_positive_ = k, pairs.positive()
        variance = float(np.sum(whole * whole))
        self._explained = pairs.values / variance
        squares = np.array([*pairs.values, variance, found.value, found.bound])
        squares = rescaled(squares, self._unit, *IN_SQUARES)
        self.eigenvalues_ = squares[:k]
        self.variance_, self.objective_, self.bound_ = squares[k:].tolist()
        self.duality_gap_ = found.gap
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

    def _placed(self, new: Array) -> Array:
        Z = self.embedding_[self.kept_]
        return means(new, self._inside, Z, self._reach, self.metric)  # 4

    def placement_residual(self, X: Any) -> Array:
        """How far each new point lies from the weighted mean of its neighbors."""
        check_is_fitted(self)
        new, Y = self._new(self._open(X, reset=False)).astype(np.float64), self._inside
        mean = means(new, Y, Y.astype(np.float64), self._reach, self.metric)
        return np.asarray(np.hypot.reduce(new - mean, axis=1))

    def _planned(self, rows: Any) -> Plan:
        n = rows.shape[0]
        self._check(n)
        m, k = self._count(n), self.n_neighbors
        few = int(k) if self.radius is None and isinstance(k, (int, np.integer)) else 8
        needs = expected_bytes(m, max(self.n_components + 1, 3), few)
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
        first = int(generator(self.random_state).integers(n))
        return spread_out(row_of(X, self.metric), n, m, first)

    def _needs_points(self, what: str) -> None:
        if self._precomputed:
            raise InputError(f"{what} need points; this model was given distances")

    def _open(self, X: Any, reset: bool) -> Any:
        if not reset:
            self._needs_points("coordinates of new points")
        return super()._open(X, reset)

    def _keeps(self) -> dict[str, Any]:
        kept = super()._keeps()
        del kept["gram_"], kept["negativity_"]
        measured = ("variance_", "objective_", "bound_", "duality_gap_")
        edges = ("constraint_violation_", "shortening_")
        return {
            **kept,
            **dict.fromkeys(measured + edges, float),
            "eigenvectors_": "g k",
            "_explained": "k",
            **dict.fromkeys(("n_iter_", "_reach"), int),
            "stopping_": str,
        }

    def _shares(self) -> Array:
        return np.asarray(self._explained)

    def _measured(self) -> dict[str, Any]:
        return {
            "duality_gap": self.duality_gap_,
            "variance": self.variance_,
            "bound": self.bound_,
            "shortening": self.shortening_,
            "steps": self.n_iter_,
            **super()._measured(),
        }

    def _said(self) -> Iterator[str]:
        m, n = len(self.kept_), len(self.embedding_)
        if m < n and self.n_parts_ == 1:
            yield (
                f"{count(m, 'point')} of {count(n, 'point')} were unfolded, the others placed by "
                "their neighbors: an approximation"
            )
        yield from super()._said()
        yield (
            "no edge is longer than its distance; they are shorter by "
            f"{percent(self.shortening_)} (root mean square)"
        )
        what = "variance and worth of the edges" if self.stiffness else "variance"
        yield (
            f"{what} {number(self.objective_)}, and where no edge may grow none is above "
            f"{number(self.bound_)}: proven by tensions of the edges; "
            f"{count(self.n_iter_, 'Newton step')}, {self.stopping_}"
        )

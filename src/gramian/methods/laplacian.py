"""Laplacian eigenmaps and diffusion maps: coordinates that vary slowly along a graph.

1. graph      join each point to its nearest neighbors (or those within a radius)
2. affinity   w_ij = exp(-gamma d_ij^2) on the edges ("heat"), 1 ("knn"), or as given
3. Laplacian  L = I - D^-1/2 W D^-1/2,  D = diag(row sums of W)
4. embed      L v = l v, smallest l, without sqrt(D) 1, whose l is 0;  Z = D^-1/2 V
              (D - W) z = l D z: minimizes sum w_ij (z_i - z_j)^2 given z' D z = 1
5. diffusion  with a time t:  Z = sqrt(sum D) D^-1/2 V (1 - l)^t; Euclidean distances are then
              diffusion distances, of random walks with steps D^-1 W, t steps long
6. new point  z = sum_j w_j z_j / sum_j w_j / (1 - l), over its nearest training points (Nystrom):
              for the row of a training point that is D^-1 W z = (1 - l) z, z itself

M. Belkin & P. Niyogi, Neural Computation 15 (2003). R. Coifman & S. Lafon, Appl. Comput. Harmon.
Anal. 21 (2006). Y. Bengio et al., NIPS 16 (2004).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from gramian.data.door import Opened, open_rows
from gramian.errors import InputError
from gramian.gram.barycenter import carried
from gramian.gram.laplacian import (
    affinities,
    bandwidth,
    degrees,
    given,
    heat,
    normalized,
    refuse_bad,
    refuse_parts,
)
from gramian.maps import Array
from gramian.methods.embedder import Embedder
from gramian.methods.neighborhood import BottomEmbedder, edges
from gramian.methods.similarity import as_points
from gramian.show.text import number


class LaplacianEigenmaps(BottomEmbedder):
    """Laplacian eigenmaps, and diffusion maps by ``time``, with new points and a certificate.

    Parameters
    ----------
    n_components : int
        How many axes.
    affinity : {"heat", "knn", "precomputed"}
        How alike neighbors are: exp(-gamma d^2), 1, or given: X is then a symmetric matrix of
        affinities, dense or sparse, larger meaning nearer.
    n_neighbors : int
        Neighbors of each point; edges go both ways.
    radius : float, optional
        All points within this distance instead.
    gamma : float or "median"
        Of "heat"; "median" is 1 / the median squared length of the edges.
    time : float, optional
        Steps of a random walk: diffusion maps. ``None``: Laplacian eigenmaps.
    disconnected : {"error", "join", "largest"}
        What to do if the graph is in several parts: say so, add shortest bridges, or embed the
        largest part and place the other points as new ones.
    solver : {"auto", "dense", "krylov", "arpack", "shift-invert"} or Solver
    memory : int, str or None
        Budget, e.g. ``"4GB"``; by default 80 % of what is available.
    random_state : int, Generator, RandomState or None

    Attributes
    ----------
    embedding_ : array of shape (n, k)
    eigenvalues_, residuals_ : array of shape (k,)
        Of the normalized Laplacian, smallest first, between 0 and 2; |L v - l v| relative to the
        first eigenvalue left out.
    affinity_matrix_ : sparse matrix of shape (n, n)
        W.
    edges_ : array of int of shape (m, 2)
        The graph, each edge once.
    gamma_ : float or None
    n_zero_ : int
        How many of the eigenvalues are zero to rounding.
    kept_ : array of int
        Rows in the part that was embedded: all, unless disconnected="largest".
    plan_ : Plan

    Examples
    --------
    A ring of points comes out as a circle; its Laplacian is known.

    >>> import numpy as np
    >>> from gramian import LaplacianEigenmaps
    >>> t = 2 * np.pi * np.arange(40) / 40
    >>> ring = np.column_stack([np.cos(t), np.sin(t)])
    >>> model = LaplacianEigenmaps(2, affinity="knn", n_neighbors=2).fit(ring)
    >>> bool(np.allclose(model.eigenvalues_, 1 - np.cos(2 * np.pi / 40)))
    True
    """

    axis_prefix = "LE"
    _laplacian = True

    def __init__(
        self,
        n_components: int = 2,
        *,
        affinity: str = "heat",
        n_neighbors: int = 10,
        radius: float | None = None,
        gamma: float | str = "median",
        time: float | None = None,
        disconnected: str = "error",
        solver: Any = "auto",
        memory: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.gamma = gamma
        self.time = time
        self.disconnected = disconnected
        self.solver = solver
        self.memory = memory
        self.random_state = random_state

    def _fit(self, opened: Any, weights: Any = None) -> None:
        n, dtype = opened.rows.shape[0], opened.rows.dtype
        k, t = self._checked_count(n), self._checked_time()
        W = self._affinities(opened)
        d = degrees(W)
        L = normalized(W, d)  # 3
        del W  # as large as L
        pairs = self._smallest(L, np.sqrt(d), k)  # 4
        Z = pairs.vectors / np.sqrt(d)[:, None]
        if t is not None:
            Z *= np.sqrt(d.sum()) * np.abs(1 - self.eigenvalues_) ** t  # 5
        self.embedding_ = Z.astype(dtype)
        if not self._precomputed:
            self._complete(self.X_fit_)
            self._warn_of_others()

    def _affinities(self, opened: Any) -> sparse.csr_array:
        """Steps 1 and 2, or as they are given."""
        if self._precomputed:
            W = given(_matrix(opened, self.memory))
            degrees(W)
            refuse_parts(W)
            self.kept_, self._unit, self.n_parts_, self.n_bridges_ = (
                np.arange(W.shape[0]),
                1.0,
                1,
                0,
            )
            self._gamma = self.gamma_ = None
            self.edges_, self._weights = edges(W, self.kept_)
            return W
        near, graph = self._joined(self._given(opened))
        self._gamma = self.gamma_ = None
        if self.affinity == "heat":  # gamma of the lengths near 1, and as it is
            self._gamma = bandwidth(near.distances * self._unit, self.gamma)
            if self.gamma != "median":
                self._gamma /= self._unit * self._unit
            most = float(np.finfo(np.float64).max)  # of tiny points it would be beyond
            self.gamma_ = min(self._gamma * self._unit * self._unit, most)
        graph.data *= self._unit
        W = affinities(graph, self._gamma)
        self._weights = edges(W, self.kept_)[1]
        return W

    def _placed(self, new: Array) -> Array:
        """Step 6."""
        found = []
        for _, (starts, indices, distances) in self._neighbors_of(new):
            many = np.diff(starts)
            d = distances * self._unit
            W = heat(np.sqrt(d**2 - np.repeat(d[starts[:-1]], many) ** 2), self._gamma)  # only
            share = W / np.repeat(np.add.reduceat(W, starts[:-1]), many)  # ratios matter
            near = starts, indices, distances
            found.append(carried(self.embedding_[self.kept_], near, share, self._nystrom))
        return np.concatenate(found)

    def _place(self, opened: Any) -> Array:
        if not self._precomputed:
            return super()._place(opened)
        W = self._rows(opened)
        placed = (W @ self.embedding_) / degrees(W)[:, None] * self._nystrom  # 6
        return np.asarray(placed.astype(self.embedding_.dtype))

    def _rows(self, opened: Any) -> sparse.csr_array:
        """Affinities of new points to the training points, as given."""
        W = sparse.csr_array(_matrix(opened, self.memory))
        refuse_bad(W)
        return W.astype(np.float64)

    @property
    def affinity_matrix_(self) -> sparse.csr_array:
        """W, symmetric; points outside the largest part have none."""
        check_is_fitted(self)
        n = len(self.embedding_)
        half = sparse.csr_array((self._weights, tuple(self.edges_.T)), shape=(n, n))
        return sparse.csr_array(half + half.T)

    @property
    def _nystrom(self) -> Array:
        steps = 1 - self.eigenvalues_
        return np.divide(1.0, steps, out=np.zeros_like(steps), where=np.abs(steps) > 1e-12)

    def placement_residual(self, X: Any) -> Array:
        """How far each new point lies from the nearest training point.

        Of given affinities: the share by which their sum falls short of the least sum that a
        training point has, 0 to 1.
        """
        check_is_fitted(self)
        opened = self._open(X, reset=False)
        if self._precomputed:
            least = float(degrees(self.affinity_matrix_).min())
            sums = np.asarray(self._rows(opened).sum(axis=1)).ravel()
            return np.maximum(1 - sums / least, 0.0)
        blocks = self._neighbors_of(self._new(opened))
        return np.concatenate([near[2][near[0][:-1]] for _, near in blocks])

    def _checked_time(self) -> float | None:
        if self.affinity not in ("heat", "knn", "precomputed"):
            raise InputError(f"affinity={self.affinity!r}: use 'heat', 'knn' or 'precomputed'")
        if self.time is None:
            return None
        if isinstance(self.time, (bool, str)) or not 0 <= self.time < np.inf:
            raise InputError(f"time={self.time!r}: a finite number from 0 up, or None, is needed")
        return float(self.time)

    def _entries_a_row(self) -> int:
        return int(1.5 * int(self.n_neighbors))

    def _keeps(self) -> dict[str, Any]:
        kept = super()._keeps()
        for name in ("lengths_", "labels_") if self._precomputed else ():
            del kept[name]
        return {**kept, **dict.fromkeys(("gamma_", "_gamma"), float | None), "_weights": "e"}

    def _measured(self) -> dict[str, Any]:
        return {"gamma": self.gamma_, **super()._measured()}

    def _said(self) -> Iterator[str]:
        if self.gamma_ is not None:
            yield f"affinity exp(-gamma d^2), gamma = {number(self.gamma_)}"
        if self.time is not None:
            yield f"diffusion map of time {number(float(self.time))}"
        yield from super()._said()
        if self.n_zero_:
            yield (
                f"{self.n_zero_ + 1} eigenvalues are zero to rounding: parts of the graph hardly "
                "hang together, and the first axes only tell them apart"
            )

    def _labels(self, opened: Any, n: int) -> tuple[str, ...] | None:
        return Embedder._labels(self, opened, n)

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.affinity, str) and self.affinity == "precomputed"

    def _open(self, X: Any, reset: bool) -> Opened:
        if not self._precomputed or reset:
            return Embedder._open(self, X, reset)
        opened, n = open_rows(X), self.n_features_in_
        if opened.rows.shape[1] != n:
            raise InputError(
                f"X has {opened.rows.shape[1]} features, but LaplacianEigenmaps is expecting {n} "
                "features as input: affinities to each of the training points"
            )
        return opened


def _matrix(opened: Any, memory: Any) -> Any:
    """Affinities as they were given, sparse or not."""
    return opened.rows.X if hasattr(opened.rows, "X") else as_points(opened, memory)

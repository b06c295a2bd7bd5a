"""Locally linear embedding: coordinates in which every neighborhood keeps its shape.

1. neighbors  the k nearest points of each, x_i itself left out
2. patches    C_i says how far coordinates of neighborhood i are from what they should be:
                standard   x_i ~ sum_j w_ij x_j with sum_j w_ij = 1:   |z_i - sum_j w_ij z_j|^2
                modified   the same for as many independent weights as the neighborhood allows
                ltsa       what is not linear in the d leading local coordinates
                hessian    second derivatives along the d leading local coordinates
3. align      M = sum_i C_i, sparse; standard: M = (I - W)'(I - W)
4. embed      M v = l v, smallest l, without the constant (M 1 = 0);  Z = sqrt(n) V
5. new point  z = sum_j w_j z_j with the weights of 2 on its nearest training points

S. Roweis & L. Saul, Science 290 (2000). Z. Zhang & J. Wang, NIPS 19 (2007). D. Donoho & C. Grimes,
PNAS 100 (2003). Z. Zhang & H. Zha, SIAM J. Sci. Comput. 26 (2004).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gramian.errors import InputError
from gramian.gram import alignment
from gramian.gram.barycenter import means
from gramian.gram.nearest import in_range
from gramian.gram.neighbors import Neighbors
from gramian.maps import Array
from gramian.methods.neighborhood import BottomEmbedder
from gramian.show.text import count

FORMS: dict[str, Callable[..., Any]] = {
    "standard": lambda X, indices, d, reg: alignment.reconstruction(X, indices, reg),
    "modified": alignment.modified,
    "hessian": lambda X, indices, d, reg: alignment.hessian(X, indices, d),
    "ltsa": lambda X, indices, d, reg: alignment.tangents(X, indices, d),
}


class LocallyLinearEmbedding(BottomEmbedder):
    """Locally linear embedding in four forms, with new points and a certificate.

    Parameters
    ----------
    n_components : int
        How many axes, d.
    n_neighbors : int
        k; "hessian" needs k > d (d + 3) / 2, "ltsa" k > d, "modified" k >= d.
    method : {"standard", "modified", "hessian", "ltsa"}
        "standard" is the best known; the others use several conditions a neighborhood, and unroll
        what is flat without bending it.
    reg : float
        Added to the diagonal of the neighborhoods' Gram matrices, as a share of their trace.
    disconnected : {"error", "join", "largest"}
        What to do if the graph of neighbors is in several parts: say so, make shortest bridges
        neighbors, or embed the largest part and place the other points as new ones.
    solver : {"auto", "dense", "krylov", "arpack", "shift-invert"} or Solver
    memory : int, str or None
        Budget, e.g. ``"4GB"``; by default 80 % of what is available.
    random_state : int, Generator, RandomState or None

    Attributes
    ----------
    embedding_ : array of shape (n, k)
        Columns of mean 0 and mean square 1, uncorrelated; scikit-learn's times sqrt(n).
    reconstruction_error_ : float
        The sum of the eigenvalues.
    eigenvalues_, residuals_ : array of shape (k,)
        Smallest first; |M v - l v| relative to the first eigenvalue left out.
    n_zero_ : int
        How many of the eigenvalues are zero to rounding, beside that of the constant.
    kept_ : array of int
        Rows in the part that was embedded: all, unless disconnected="largest".
    edges_ : array of int of shape (m, 2)
        The graph of neighbors, each edge once.
    plan_ : Plan

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import LocallyLinearEmbedding
    >>> t = np.linspace(0, 3, 40)
    >>> arc = np.column_stack([np.cos(t), np.sin(t)])
    >>> z = LocallyLinearEmbedding(1, n_neighbors=4, method="ltsa").fit_transform(arc)[:, 0]
    >>> bool(abs(np.corrcoef(z, t)[0, 1]) > 0.9999)
    True
    """

    axis_prefix = "LLE"

    def __init__(
        self,
        n_components: int = 2,
        *,
        n_neighbors: int = 10,
        method: str = "standard",
        reg: float = 1e-3,
        disconnected: str = "error",
        solver: Any = "auto",
        memory: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.method = method
        self.reg = reg
        self.disconnected = disconnected
        self.solver = solver
        self.memory = memory
        self.random_state = random_state

    def _fit(self, opened: Any, weights: Any = None) -> None:
        given = self._given(opened)
        d = self._checked(*given.shape)
        near, _ = self._joined(given)  # 1
        X = in_range(self._inside, self._inside)[0]
        M = FORMS[self.method](X, self._patches(near), d, self.reg)  # 2, 3
        pairs = self._smallest(M, np.ones(len(X)), d)  # 4
        self.reconstruction_error_ = float(self.eigenvalues_.sum())
        self.embedding_ = (np.sqrt(len(X)) * pairs.vectors).astype(given.dtype)
        self._complete(given)
        self._warn_of_others()

    def _placed(self, new: Array) -> Array:
        return self._means(new, self.embedding_[self.kept_])  # 5

    def placement_residual(self, X: Any) -> Array:
        """How far each new point lies from the weighted mean of its neighbors."""
        check_is_fitted(self)
        new = self._new(self._open(X, reset=False)).astype(np.float64)
        apart = new - self._means(new, self._inside.astype(np.float64))
        return np.asarray(np.linalg.norm(apart, axis=1))

    def _means(self, new: Array, Z: Array) -> Array:
        """Of what belongs to the training points: what belongs to new ones."""
        return means(new, self._inside, Z, int(self.n_neighbors), reg=self.reg)

    def _patches(self, near: Neighbors) -> Array:
        """Neighbors (n, k), the farthest of some exchanged.

        The ends of bridges are each other's neighbors. Hessians and tangents speak of neighbors
        only: a point that is nobody's is in its own patch, or anything would do for it.
        """
        indices = near.table[0].copy()
        last = np.full(len(indices), indices.shape[1])
        for i, j in np.concatenate([near.bridges, near.bridges[:, ::-1]]):
            last[i] = max(last[i] - 1, 0)
            indices[i, last[i]] = j
        if self.method in ("hessian", "ltsa"):
            alone = np.setdiff1d(np.arange(len(indices)), indices)
            indices[alone, -1] = alone
        return indices

    def _checked(self, n: int, p: int) -> int:
        d, k = self._checked_count(n), self.n_neighbors
        if self.method not in FORMS:
            raise InputError(f"method={self.method!r}: use one of {', '.join(map(repr, FORMS))}")
        if isinstance(self.reg, (bool, str)) or not 0 < self.reg < np.inf:
            raise InputError(f"reg={self.reg!r}: a finite number above 0 is needed")
        if not isinstance(k, (int, np.integer)) or isinstance(k, bool) or not 1 <= k <= n - 1:
            raise InputError(
                f"n_neighbors={k!r}: a whole number from 1 to n - 1 = {n - 1} is needed"
            )
        least = {"modified": d, "hessian": d * (d + 3) // 2 + 1, "ltsa": d + 1}.get(self.method, 1)
        if k < least:
            raise InputError(
                f"n_neighbors={k}: method={self.method!r} with n_components={d} needs at least "
                f"{least}"
            )
        if self.method != "standard" and d > p:
            raise InputError(
                f"n_components={d}: method={self.method!r} finds at most as many axes as there "
                f"are variables, {p}"
            )
        return d

    def _keeps(self) -> dict[str, Any]:
        return {**super()._keeps(), "reconstruction_error_": float}

    def _measured(self) -> dict[str, Any]:
        return {"reconstruction_error": self.reconstruction_error_, **super()._measured()}

    def _said(self) -> Iterator[str]:
        yield f"{self.method} form, {count(int(self.n_neighbors), 'neighbor')} a point"
        yield from super()._said()
        if self.n_zero_:
            yield (
                f"{count(self.n_zero_, 'eigenvalue')} zero to rounding beside the constant's: the "
                "data are flat, or fall apart; directions among these axes are arbitrary"
            )

"""Random projection: far fewer dimensions, and all distances nearly kept.

1. how many   k = 4 log n / (e^2 / 2 - e^3 / 3) keeps every squared distance to 1 +- e, with high
              probability, whatever the data: it depends on n alone
2. draw       C (k x p):  gaussian  C_ij ~ N(0, 1 / k)
                          sparse    C_ij = +- 1 / (density k)^1/2 with probability density, else 0
3. place      z = C x

W. B. Johnson & J. Lindenstrauss (1984); D. Achlioptas, Database-friendly random projections,
J. Comput. Syst. Sci. 66 (2003); P. Li, T. Hastie & K. Church, Very sparse random
projections (2006).
"""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from gramian.data.door import Opened, as_numbers
from gramian.data.moments import refuse_non_finite
from gramian.data.sparse import SparseRows
from gramian.errors import InputError, MemoryRefusedError
from gramian.inference.choose import counted_components
from gramian.maps import Array
from gramian.memory import budget, in_words
from gramian.methods.embedder import Embedder, generator, warn
from gramian.quality.lindenstrauss import Distortion, checked_eps, distortion, johnson_lindenstrauss
from gramian.spectral.plan import Plan


class RandomProjection(Embedder):
    """Random projection, Gaussian or sparse, with its distortion measured.

    Parameters
    ----------
    n_components : int or "auto"
        How many dimensions; "auto" takes what Johnson and Lindenstrauss ask for ``eps``.
    eps : float
        Distortion of squared distances aimed at, between 0 and 1.
    kind : {"gaussian", "sparse"}
        "sparse" takes far less memory and time where there are many variables, and leaves sparse
        data sparse.
    density : float or "auto"
        Share of entries other than 0 of the sparse kind; "auto" is 1 / sqrt(p).
    memory : int, str or None
        Budget, e.g. ``"4GB"``; by default 80 % of what is available.
    random_state : int, Generator, RandomState or None
        ``None`` means 0: the same answer every time.

    Attributes
    ----------
    components_ : array or sparse array of shape (k, p)
    n_components_ : int
    density_ : float
        1 for the Gaussian kind.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import RandomProjection
    >>> X = np.random.default_rng(0).standard_normal((50, 5000))
    >>> model = RandomProjection(eps=0.3).fit(X)
    >>> model.transform(X).shape
    (50, 434)
    >>> bool(model.distortion_report(X).largest < 1.3)
    True
    """

    axis_prefix = "RP"
    _dense: Any
    _values: Any
    _rows: Any
    _columns: Any

    def __init__(
        self,
        n_components: int | str = "auto",
        *,
        eps: float = 0.1,
        kind: str = "gaussian",
        density: float | str = "auto",
        memory: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.eps = eps
        self.kind = kind
        self.density = density
        self.memory = memory
        self.random_state = random_state

    def _fit(self, opened: Opened, weights: Any = None) -> None:
        rows = opened.rows
        refuse_non_finite(rows)
        n, p = rows.shape
        rng = generator(self.random_state).spawn(1)[0]  # data drawn with the same seed differ
        k = self._dimension(n, p)  # 1
        self.density_ = self._checked_density(p)
        self._refuse_beyond(k, p, rows.dtype)
        self._dense = self._values = self._rows = self._columns = None
        if self.kind == "gaussian":  # 2
            self._dense = (rng.standard_normal((k, p)) / np.sqrt(k)).astype(rows.dtype)
        else:
            counts = rng.binomial(p, self.density_, size=k)
            drawn = [np.sort(rng.choice(p, c, replace=False, shuffle=False)) for c in counts]
            self._rows, self._columns = np.repeat(np.arange(k), counts), np.concatenate(drawn)
            size = 1 / np.sqrt(self.density_ * k)
            self._values = (size * rng.choice([-1.0, 1.0], len(self._rows))).astype(rows.dtype)
        self.n_components_, self.n_samples_ = k, n

    @property
    def components_(self) -> Any:
        """The matrix C (k, p)."""
        check_is_fitted(self)
        if self._dense is not None:
            return self._dense
        k, p = self.n_components_, self.n_features_in_
        pointers = np.searchsorted(self._rows, np.arange(k + 1))
        return sp.csr_array((self._values, self._columns, pointers), shape=(k, p))

    def transform(self, X: Any) -> Any:
        """Coordinates of the rows of ``X``; sparse where ``X`` and the projection are sparse."""
        check_is_fitted(self)
        return self._projected(self._open(X, reset=False))

    def inverse_transform(self, X: Any) -> Array:
        """The shortest points with the coordinates ``X``: pinv(C) z."""
        check_is_fitted(self)
        Z = as_numbers(_written_out(X))
        if Z.shape[1] != self.n_components_ or not np.isfinite(Z).all():
            raise InputError(
                f"coordinates must be finite, with {self.n_components_} columns; got {Z.shape}"
            )
        back = np.linalg.pinv(_written_out(self.components_).astype(np.float64))
        return np.asarray((Z @ back.T).astype(np.float32 if Z.dtype == np.float32 else np.float64))

    def placement_residual(self, X: Any) -> Array:
        """Length of the part of each row that the projection does not see."""
        check_is_fitted(self)
        opened = self._open(X, reset=False)
        back = self.inverse_transform(self._projected(opened))
        out = np.empty(len(back))
        for rows, block in opened.rows.blocks():
            out[rows] = np.linalg.norm(block - back[rows], axis=1)
        return out

    def distortion_report(self, X: Any, *, pairs: int = 10_000) -> Distortion:
        """Squared distances after over before, of pairs of rows of ``X`` drawn at random."""
        check_is_fitted(self)
        rows: Any = self._open(X, reset=False).rows
        n, rng = rows.shape[0], generator(self.random_state)
        few = np.sort(rng.choice(n, min(n, 2000), replace=False))
        some = rows.X[few] if isinstance(rows, SparseRows) else rows.take(few)
        Z = self._projected(self._open(some, reset=False))
        return distortion(some, Z, self.eps, pairs=pairs, random_state=rng)

    def _place(self, opened: Opened) -> Array:
        return np.asarray(_written_out(self._projected(opened)))

    def _projected(self, opened: Opened) -> Any:
        """Step 3."""
        rows: Any = opened.rows
        C = self.components_.astype(rows.dtype, copy=False)
        if isinstance(rows, SparseRows):
            Z: Any = rows.X @ C.T  # sparse if both are
        else:
            Z = rows.map_rows(lambda block, _: block @ C.T, self.n_components_, rows.dtype)
        if not np.isfinite(Z.data if hasattr(Z, "nnz") else Z).all():
            refuse_non_finite(rows)
            raise InputError("the coordinates overflow: divide the data by a constant first")
        return Z

    def _dimension(self, n: int, p: int) -> int:
        checked_eps(self.eps)
        if self.n_components != "auto":
            k = counted_components(self.n_components, 2**31)
            if k > p:
                warn(f"n_components={k} is more than the {p} variables: nothing is made smaller")
            return k
        k = max(johnson_lindenstrauss(n, self.eps), 1)
        if k > p:
            raise InputError(
                f"eps={self.eps:g} asks for {k} dimensions for {n} points, more than the {p} "
                "variables: nothing would be made smaller; raise eps=, or say n_components="
            )
        return k

    def _checked_density(self, p: int) -> float:
        if self.kind not in ("gaussian", "sparse"):
            raise InputError(f"kind={self.kind!r}: use 'gaussian' or 'sparse'")
        said: Any = 1 / np.sqrt(p) if self.density == "auto" else self.density
        real = isinstance(said, numbers.Real) and not isinstance(said, bool)
        if not real or not 0 < said <= 1:
            raise InputError(f"density={self.density!r}: give a number from 0 to 1, or 'auto'")
        return 1.0 if self.kind == "gaussian" else float(said)

    def _bytes(self, k: int, p: int, dtype: Any) -> int:
        """Of C: numbers alone, or with their places."""
        size = np.dtype(dtype).itemsize + (0 if self.kind == "gaussian" else 16)
        return int(size * k * p * self._checked_density(p))

    def _refuse_beyond(self, k: int, p: int, dtype: Any) -> None:
        needed, allowed = self._bytes(k, p, dtype), budget(self.memory)
        if needed > allowed:
            other = "use kind='sparse', " if self.kind == "gaussian" else ""
            raise MemoryRefusedError(
                f"a {self.kind} projection of {p} variables to {k} needs {in_words(needed)}, the "
                f"budget is {in_words(allowed)}; {other}ask for fewer dimensions, or raise memory="
            )

    def _planned(self, rows: Any) -> Plan:
        k = self._dimension(*rows.shape)
        self._refuse_beyond(k, rows.shape[1], rows.dtype)
        route = f"{self.kind} projection of {rows.shape[1]} variables to {k}"
        nobody: Any = None
        return Plan(route, "direct", nobody, self._bytes(k, rows.shape[1], rows.dtype), 2)

    def _keeps(self) -> dict[str, Any]:
        return {
            **super()._keeps(),
            **{"_dense": "k p?", "_values": "m?", "_rows": "m -> k?", "_columns": "m -> p?"},
            **{"density_": float, "n_samples_": int},
        }

    def _shown(self) -> dict[str, Any]:
        k, promised = self.n_components_, johnson_lindenstrauss(self.n_samples_, self.eps)
        return {
            "plan": f"{self.kind} projection of {self.n_features_in_} variables to {k}",
            "measures": {"dimension_promised": promised, "density": float(self.density_)},
            "notes": (
                f"{k} random dimensions; the bound of Johnson and Lindenstrauss asks {promised} to "
                f"keep all squared distances of {self.n_samples_} points to 1 +- {self.eps:g}",
            ),
        }

    def _details(self, X: Any, Z: Array) -> dict[str, Any]:
        return {"notes": (*self._shown()["notes"], str(self.distortion_report(X)))}


def _written_out(A: Any) -> Any:
    return A.toarray() if sp.issparse(A) else A  # type: ignore[attr-defined]

"""Latent semantic indexing: documents, terms and queries in one space.

1. weigh      X (documents x terms): counts, or weighted by "tfidf" or "logentropy"; no centering
2. triplets   X v = s u, X' u = s v, largest first: the eigenpairs of X'X (or of XX', if smaller),
              found by products with X alone and audited on X
3. documents  Z = X V = U S;  terms  T = X' U = V S
4. fold in    a new document or a query x (weighted as the others): z = x V;  a new term t: t' U
5. search     documents by the cosine of their z with that of the query; terms likewise in T

S. Deerwester, S. Dumais, G. Furnas, T. Landauer & R. Harshman, Indexing by latent semantic
analysis, J. Am. Soc. Inf. Sci. 41 (1990). Rows are documents here, as scikit-learn has it; that
paper has terms as rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gramian.data.centering import Centering
from gramian.data.dask.lazy import coordinates
from gramian.data.door import Opened, as_numbers, open_rows
from gramian.data.moments import refuse_non_finite
from gramian.data.sparse import SparseRows
from gramian.data.weighting import Weighting
from gramian.data.words import counted
from gramian.errors import CertificateWarning, InputError, MemoryRefusedError
from gramian.maps import Array, unit_for
from gramian.memory import budget, in_words
from gramian.methods.embedder import Embedder, generator, rescaled, row_by_row, warn
from gramian.quality.cosines import Matches, nearest
from gramian.spectral.plan import Plan, plan_axes
from gramian.spectral.spread import SpreadPlan, expected
from gramian.spectral.triplets import triplets


class LSI(Embedder):
    """Latent semantic indexing: the truncated SVD of documents x terms, certified.

    Parameters
    ----------
    n_components : int
        How many axes, at most min(n, p). One to three hundred are usual for text.
    weighting : {None, "tfidf", "logentropy"}
        Learned from the documents of the fit and applied to new ones: scikit-learn's default
        tf-idf (smooth, unit length), or log-entropy (see ``gramian.data.weighting``).
    solver : {"auto", "dense", "krylov", "arpack"} or Solver
        ``BlockKrylov(tol=1e-8)`` asks for more than the usual 1e-6 (float32: 1e-4).
    memory : int, str or None
        Budget for work space, e.g. ``"4GB"``; by default 80 % of what is available.
    random_state : int, Generator, RandomState or None
        Start of the iterative solver. ``None`` means 0: the same answer every time.
    checkpoint : path, Checkpoint or None
        A file that keeps what was done. A fit that was stopped, even killed, and is started again
        goes on from there and gives the same bits; the file is removed when the fit ends well.

    Attributes
    ----------
    components_ : array of shape (k, p)
        V': axes in the space of terms, orthonormal; the largest entry of each is positive.
    singular_values_ : array of shape (k,)
    documents_ : array of shape (n, k)
        The documents, X V = U S. A Dask array, not computed, if the documents were one.
    terms_ : array of shape (p, k)
        The terms, X' U = V S.
    explained_variance_, explained_variance_ratio_ : array of shape (k,)
        Variance of the documents along each axis, and its share of the variance of X.
    residuals_ : array of shape (k,)
        The certificate: max(|X v - s u|, |X' u - s v|) / s_1, measured.
    weighting_ : Weighting or None
        What the weighting learned.
    vocabulary_ : tuple of str or None
        The terms by name: columns of a frame, or ``fit(X, terms=names)``.
    n_components_, n_samples_, rank_ : int
    plan_ : Plan
        How it was computed.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import LSI
    >>> X = np.array([[1, 1, 1, 0, 0], [2, 2, 2, 0, 0], [1, 1, 1, 0, 0], [5, 5, 5, 0, 0],
    ...               [0, 0, 0, 2, 2], [0, 0, 0, 3, 3], [0, 0, 0, 1, 1]])
    >>> names = ["data", "information", "retrieval", "brain", "lung"]
    >>> model = LSI(n_components=2).fit(X, terms=names)
    >>> (model.singular_values_**2).round(6)
    array([93., 28.])
    >>> model.search("lung", 3).indices.tolist()
    [4, 5, 6]
    """

    axis_prefix = "Concept "

    def __init__(
        self,
        n_components: int = 100,
        *,
        weighting: str | None = None,
        solver: Any = "auto",
        memory: Any = None,
        random_state: Any = None,
        checkpoint: Any = None,
    ) -> None:
        self.n_components = n_components
        self.weighting = weighting
        self.solver = solver
        self.memory = memory
        self.random_state = random_state
        self.checkpoint = checkpoint

    def fit(self, X: Any, y: Any = None, terms: Sequence[str] | None = None) -> Self:
        """Find the axes of documents ``X``: array, frame, sparse matrix, or path.

        Parameters
        ----------
        X : (n, p), one row a document
        y : ignored
        terms : sequence of str, optional
            Names of the columns, for queries in words; a frame brings its own.
        """
        opened = self._open(X, reset=True)
        names = terms if terms is not None else getattr(self, "feature_names_in_", opened.columns)
        self.vocabulary_ = None if names is None else tuple(map(str, names))
        if names is not None and len(names) != opened.rows.shape[1]:
            raise InputError(f"{len(names)} terms for {opened.rows.shape[1]} columns of X")
        with self._checkpointed(opened):
            self._fit(opened)
        return self

    def fit_transform(self, X: Any, y: Any = None, terms: Sequence[str] | None = None) -> Array:
        """Fit, and the coordinates of the documents."""
        return self.fit(X, terms=terms).documents_

    def _fit(self, opened: Opened, weights: Any = None) -> None:
        rows = opened.rows
        k = self._count(rows.shape)
        self._kept_bytes(rows)
        self.weighting_ = Weighting.of(rows, self.weighting)
        X = rows if self.weighting_ is None else self.weighting_.rows(rows)  # 1
        moments = X.moments(np.ones(1))
        ones, zero = np.ones(X.shape[1]), np.zeros(X.shape[1])
        unit = unit_for(_peak(moments), X.dtype)  # near 1: squares of tiny and huge numbers exist
        Y = X.then(Centering.of(zero, zero, ones * unit, np.ones(1), X.dtype))
        rng = generator(self.random_state)
        found = triplets(Y, k, solver=self.solver, memory=self.memory, rng=rng)  # 2
        Z = coordinates(Y, found.right)  # 3
        spread, lengths = _spread(Z)
        self.rank_, self.tolerance_ = found.rank, found.pairs.tolerance
        self.residuals_ = found.residuals(lengths)
        self._warn()
        self.components_ = np.ascontiguousarray(found.right.T)
        self.singular_values_ = found.values / unit
        total = float(np.sum(moments.variance)) * (unit / moments.unit) ** 2
        self.explained_variance_ = rescaled(spread, unit)
        self.explained_variance_ratio_ = spread / total if total > 0 else np.zeros(k)
        self.documents_ = Z if unit == 1 else Z / X.dtype.type(unit)
        self.n_components_, self.n_samples_ = k, X.shape[0]
        self.plan_ = replace(self._with_documents(found.plan, X), passes=X.passes)

    def _warn(self) -> None:
        worst = self.residuals_.max()
        if self.rank_ == 0:
            warn("X holds nothing but zeros: every singular value is 0 and the axes are arbitrary")
        elif worst > self.tolerance_:
            warn(
                f"an axis has residual {worst:.1e}, asked for {self.tolerance_:.1e}; "
                "see residuals_",
                CertificateWarning,
            )

    @property
    def terms_(self) -> Array:
        """The terms, X' U = V S, (p, k)."""
        check_is_fitted(self)
        return np.asarray(self.components_.T * self.singular_values_)

    def _place(self, opened: Opened) -> Array:
        """Step 4."""
        refuse_non_finite(opened.rows)
        X = self._weighted(opened)
        return np.asarray(X @ np.ascontiguousarray(self.components_.T, dtype=X.dtype))

    def place_terms(self, columns: Any) -> Array:
        """Coordinates beside ``terms_`` of terms that the fit did not have.

        Parameters
        ----------
        columns : (n, m)
            One column a term: how often it occurs in each of the n documents of the fit.

        Returns
        -------
        array of shape (m, k)
        """
        check_is_fitted(self)
        rows = open_rows(columns, self.memory).rows
        if rows.shape[0] != self.n_samples_:
            raise InputError(
                f"a new term is a column over the {self.n_samples_} documents of the fit, got "
                f"{rows.shape[0]} rows"
            )
        refuse_non_finite(rows)
        C = rows if self.weighting_ is None else SparseRows(self.weighting_.terms(rows))
        U = np.asarray(self.documents_)[:, : self.rank_] / self.singular_values_[: self.rank_]
        T = np.zeros((rows.shape[1], self.n_components_))
        T[:, : self.rank_] = C.adjoint(np.ascontiguousarray(U, dtype=C.dtype))
        return T

    def inverse_transform(self, X: Any) -> Array:
        """(Weighted) documents with the coordinates ``X`` (n, k): z V', dense."""
        check_is_fitted(self)
        Z = as_numbers(X)
        if Z.shape[1] != self.n_components_:
            raise InputError(
                f"coordinates have {Z.shape[1]} columns, the model has {self.n_components_} axes"
            )
        return np.asarray(Z @ self.components_)

    @row_by_row()
    def placement_residual(self, X: Any) -> Array:
        """Distance of each (weighted) row of ``X`` from the plane of the axes."""
        check_is_fitted(self)
        Y = self._weighted(self._open(X, reset=False))
        V = self.components_.astype(np.float64)
        out = np.empty(Y.shape[0])
        for rows, block in Y.blocks():
            block = block.astype(np.float64)
            out[rows] = np.linalg.norm(block - (block @ V.T) @ V, axis=1)
        return out

    def query(self, words: str | Sequence[str]) -> Any:
        """A query in words as one row of counts, for ``transform`` and ``search``.

        Parameters
        ----------
        words : str or sequence of str
            Text is cut into words; upper and lower case are the same. Words that are no terms of
            the fit count for nothing, with a warning that names them.
        """
        check_is_fitted(self)
        row, unknown = counted(words, self.vocabulary_)
        if unknown:
            warn(unknown)
        return row

    def search(self, query: Any, k: int = 10) -> Matches:
        """Step 5: the ``k`` documents nearest to a query.

        Parameters
        ----------
        query : str, sequence of str, or (m, p) rows of counts
            Words, or documents.
        k : int
            At most the number of documents.

        Returns
        -------
        Matches
            ``indices`` and ``cosines``, of shape (k,) for words, (m, k) for rows; equal cosines in
            the order of the documents.
        """
        words = isinstance(query, str) or (
            isinstance(query, (list, tuple)) and all(isinstance(each, str) for each in query)
        )
        opened = open_rows(self.query(query)) if words else self._open(query, False)
        Q = self._place(opened)
        found = nearest(np.asarray(self.documents_), Q, k, "documents")
        return found.first() if words else found

    def similar(self, term: str | int, k: int = 10) -> Matches:
        """The ``k`` terms nearest to one of them, itself left out.

        Parameters
        ----------
        term : str or int
            By name, or by column.
        k : int
        """
        check_is_fitted(self)
        p = self.components_.shape[1]
        if isinstance(term, str):
            j = int(self.query([term]).indices[0])
        elif isinstance(term, (int, np.integer)) and 0 <= term < p:
            j = int(term)
        else:
            raise InputError(f"term={term!r}: give a name, or a column from 0 to {p - 1}")
        T = self.terms_
        indices, cosines = nearest(T, T[j : j + 1], min(k + 1, p), "terms").first()
        others = np.flatnonzero(indices != j)[:k]
        return Matches(indices[others], cosines[others])

    def _weighted(self, opened: Opened) -> Any:
        return opened.rows if self.weighting_ is None else self.weighting_.rows(opened.rows)

    def _count(self, shape: tuple[int, int]) -> int:
        k, most = self.n_components, min(shape)
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or not 1 <= k <= most:
            raise InputError(
                f"n_components={k!r}: give a whole number from 1 to {most}, the smaller of "
                f"{shape[0]} documents and {shape[1]} terms"
            )
        return int(k)

    def _planned(self, rows: Any) -> Plan:
        k = self._count(rows.shape)
        found = plan_axes(rows, k, self.solver, self.memory)
        planned = expected(found, rows, k, centered=False)
        if isinstance(planned, SpreadPlan):
            return planned
        passes = 1 + (planned.passes or 0) + Weighting.passes(rows, self.weighting)
        if found.kind == "cross":  # it does not come with the moments, which are of other rows
            passes = max(passes, 4)
        return replace(self._with_documents(planned, rows), passes=passes)

    def _with_documents(self, found: Plan, rows: Any) -> Plan:
        """The plan with what the model keeps of every document."""
        if not (kept := self._kept_bytes(rows)):
            return found
        n, k = rows.shape[0], self._count(rows.shape)
        route = f"{found.route}; {n} x {k} coordinates kept"
        return replace(found, route=route, bytes=found.bytes + kept)

    def _kept_bytes(self, rows: Any) -> int:
        """Bytes of ``documents_`` and of the lengths of documents; what Dask has stays there."""
        if hasattr(rows, "bounds"):
            return 0
        n, k, allowed = rows.shape[0], self._count(rows.shape), budget(self.memory)
        kept = n * (k * rows.dtype.itemsize + 8 * (self.weighting is not None))
        if kept > allowed:
            raise MemoryRefusedError(
                f"{n} x {k} coordinates of the documents need {in_words(kept)}, the budget is "
                f"{in_words(allowed)}; ask for fewer components, or raise memory="
            )
        return int(kept)

    def _keeps(self) -> dict[str, Any]:
        by_axis = "singular_values_", "explained_variance_", "explained_variance_ratio_"
        return {
            **super()._keeps(),
            **dict.fromkeys((*by_axis, "residuals_"), "k"),
            "components_": "k p",
            "documents_": "n k",
            "weighting_": Weighting | None,
            "vocabulary_": "text p?",
            "tolerance_": float,
            "n_samples_": "=n",
            "rank_": int,
            "plan_": Plan,
        }

    def _shown(self) -> dict[str, Any]:
        return {
            "eigenvalues": self.explained_variance_,
            "explained": self.explained_variance_ratio_,
            "residuals": self.residuals_,
            "tolerance": self.tolerance_,
            "plan": str(self.plan_),
            "variables": self.vocabulary_,
            "loadings": self.components_.T,
            "measures": {"singular values": tuple(map(float, self.singular_values_))},
        }


def _peak(moments: Any) -> float:
    """About the largest number of the data."""
    size = np.sqrt(moments.variance + moments.high**2).max(initial=0.0)
    return float(size / moments.unit)


def _spread(Z: Any) -> tuple[Array, Array]:
    """Variance and length of every column."""
    moments = open_rows(Z).rows.moments(np.ones(1))
    squares = (moments.variance + moments.high**2) * moments.weight
    return moments.variance / moments.unit**2, np.sqrt(squares) / moments.unit

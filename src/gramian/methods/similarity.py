"""What Gram methods share once their map is built: coordinates, certificate, new points.

A method says what the similarities of new points to the training points are (``_similar``);
everything else follows from its ``GramEmbedding``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gramian.data.door import Opened
from gramian.data.moments import refuse_non_finite
from gramian.errors import CertificateWarning, InputError, MemoryRefusedError
from gramian.maps import Array
from gramian.memory import budget, in_words
from gramian.methods.embedder import Embedder, warn
from gramian.results import Embedding

_block = 25_000_000  # similarities of new points held at a time


class GramEmbedder(Embedder):
    """Base of methods that embed by the top eigenpairs of a centered map of similarities."""

    gram_: Any  # GramEmbedding, or an approximation with the same verbs
    n_components: Any
    memory: Any
    negativity_: float

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit to ``X``; the coordinates of its points are kept (``y`` is ignored)."""
        opened = self._open(X, reset=True)
        self._fit(opened)
        self._names = opened.labels
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Fit, and the coordinates of the training points."""
        return np.asarray(self.fit(X).embedding_)

    def transform(self, X: Any) -> Array:
        """Coordinates of new points (m, k)."""
        check_is_fitted(self)
        return self._place(self._open(X, reset=False))

    def to_embedding(
        self,
        X: Any = None,
        *,
        labels: Sequence[str] | None = None,
        columns: Mapping[str, Any] | None = None,
    ) -> Embedding:
        """Coordinates with spectrum, certificate and names: for report, plot and table.

        Parameters
        ----------
        X : as for ``transform``, optional
            New points; by default those of the fit, whose coordinates are known.
        labels : sequence of str, optional
            Names of the points; by default those that came with them.
        columns : mapping, optional
            Further columns by name, for color and hover.
        """
        if X is not None:
            return super().to_embedding(X, labels=labels, columns=columns)
        check_is_fitted(self)
        return self._embedding(self.embedding_, self._names if labels is None else labels, columns)

    def placement_residual(self, X: Any) -> Array:
        """How far each new point lies outside the space of the axes."""
        check_is_fitted(self)
        found = [self.gram_.residual(*rows) for rows in self._blocks(self._open(X, reset=False))]
        return np.concatenate(found) / self._unit

    def _place(self, opened: Any) -> Array:
        found = [self.gram_.place(rows) for rows, _ in self._blocks(opened)]
        return np.asarray((np.concatenate(found) / self._unit).astype(self.embedding_.dtype))

    def _blocks(self, opened: Any) -> Iterator[tuple[Array, Array]]:
        """Similarities of new points to the training points and to themselves, in blocks."""
        new = self._new(opened)
        step = max(1, _block // max(len(self.embedding_), 1))
        for a in range(0, len(new), step):
            yield self._similar(new[a : a + step])

    def _new(self, opened: Any) -> Array:
        """What new points are known by: coordinates, or distances to the training points."""
        return as_points(opened, self.memory)

    def _similar(self, new: Array) -> tuple[Array, Array]:
        """Similarities of new points to the training points (m, n), and to themselves (m,)."""
        raise TypeError(f"{type(self).__name__} does not say how new points compare")

    def _embed(self, gram: Any, dtype: Any, unit: float = 1.0) -> None:
        """The public attributes; distances were multiplied by ``unit`` before."""
        pairs = gram.pairs
        self.gram_, self._unit = gram, unit
        self.eigenvalues_ = pairs.values / unit / unit
        self.eigenvectors_ = pairs.vectors
        self.embedding_ = (gram.coordinates / unit).astype(dtype)
        self.residuals_, self.tolerance_, self.plan_ = pairs.residuals, pairs.tolerance, gram.plan
        self.n_components_ = len(pairs)
        self.n_positive_ = pairs.positive()
        if not pairs.certified:
            warn(
                f"an axis has residual {pairs.residuals.max():.1e}, asked for "
                f"{pairs.tolerance:.1e}; see residuals_",
                CertificateWarning,
            )
        if self.n_positive_ < self.n_components_:
            warn(
                f"only {self.n_positive_} of the {self.n_components_} axes asked for have a "
                "positive eigenvalue; coordinates on the others are 0"
            )

    def _shown(self) -> dict[str, Any]:
        return {
            "eigenvalues": self.eigenvalues_,
            "explained": self._shares(),
            "residuals": self.residuals_,
            "tolerance": self.tolerance_,
            "plan": str(self.plan_),
            "measures": self._measured(),
            "notes": tuple(self._said()),
        }

    def _measured(self) -> dict[str, Any]:
        """What the method measured of itself, by name."""
        return {"negativity": self.negativity_}

    def _said(self) -> Iterator[str]:
        """What was decided on the way and should be known, a sentence each."""
        yield from ()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        tags.input_tags.sparse = not self._precomputed
        return tags

    @property
    def _precomputed(self) -> bool:
        """Whether ``X`` holds similarities or distances already."""
        return False

    def _shares(self) -> Array:
        """Share of the sum of all eigenvalues that each axis carries."""
        values = np.maximum(self.gram_.pairs.values, 0.0)
        return values / self.gram_.trace if self.gram_.trace > 0 else np.zeros_like(values)

    def _checked_count(self, n: int, center: bool = True) -> int:
        """How many axes: centered points have at most n - 1 of them, others n; by default all."""
        k, most = self.n_components, n - 1 if center else n
        if k is None:
            return most
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or not 1 <= k <= most:
            raise InputError(
                f"n_components={k!r}: a whole number from 1 to {most} is needed for {n} points"
            )
        return int(k)


def as_points(opened: Opened, memory: Any = None, *, missing: bool = False) -> Array:
    """The rows as one array of finite numbers: itself where it lies as we want it.

    ``missing`` lets NaN pass, but not infinity.
    """
    rows = opened.rows
    if not getattr(rows, "resident", True) or hasattr(rows, "X"):
        needed, allowed = rows.shape[0] * rows.shape[1] * rows.dtype.itemsize, budget(memory)
        if needed > allowed:
            raise MemoryRefusedError(
                f"the points need {in_words(needed)} as a dense array, the budget is "
                f"{in_words(allowed)}; use fewer rows or columns, or PCA first"
            )
    whole = getattr(rows, "whole", None)
    if whole is not None:
        X = np.asarray(whole.T if rows.flip else whole)
    else:
        X = np.asarray(rows.read_rows(slice(0, rows.shape[0])))
    if missing and np.isinf(X).any():
        row, column = np.argwhere(np.isinf(X))[0]
        raise InputError(
            f"X contains infinity, first at row {row}, column {column} (counted from 0); "
            "replace it, or use NaN if the value is missing"
        )
    if not missing and not np.isfinite(X).all():
        refuse_non_finite(rows)
    return X

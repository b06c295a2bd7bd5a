"""What Gram methods share once their map is built: coordinates, certificate, new points.

A method says what the similarities of new points to the training points are (``_similar``);
everything else follows from its ``GramEmbedding``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gramian.data.dask.lazy import in_memory
from gramian.data.door import Opened
from gramian.data.moments import refuse_non_finite
from gramian.errors import CertificateWarning, InputError, MemoryRefusedError
from gramian.gram.tiles import SymmetricTiles
from gramian.maps import Array
from gramian.memory import budget, in_words
from gramian.methods.embedder import Embedder, rescaled, row_by_row, warn
from gramian.quality.picture import picture_measures
from gramian.results import Embedding
from gramian.spectral.gram_embedding import EXACT, GramEmbedding, shares
from gramian.spectral.plan import Plan

_block = 25_000_000  # similarities of new points held at a time


class PointEmbedder(Embedder):
    """Base of methods that keep the coordinates of the points they were fitted to."""

    n_components: Any
    memory: Any
    embedding_: Array

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit to ``X``; the coordinates of its points are kept (``y`` is ignored)."""
        opened = self._open(X, reset=True)
        self._fit(opened)
        self._names = opened.labels
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Fit, and the coordinates of the training points."""
        return self.fit(X).embedding_

    def to_embedding(
        self,
        X: Any = None,
        *,
        labels: Sequence[str] | None = None,
        columns: Mapping[str, Any] | None = None,
        details: bool = False,
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
        details : bool
            Fill in as well what a report shows and takes up to about a second to compute.
        """
        if X is not None:
            return super().to_embedding(X, labels=labels, columns=columns, details=details)
        check_is_fitted(self)
        Z = in_memory(self.embedding_)
        embedding = self._embedding(Z, self._names if labels is None else labels, columns)
        if not details or self._precomputed:
            return embedding
        if self._kept_few:
            return embedding
        measures = {**embedding.measures, **self._kept(self.X_fit_, Z)}
        return replace(embedding, measures=measures)

    def _new_blocks(self, opened: Any) -> Iterator[Array]:
        """New points, a block at a time where they come from a file."""
        if self._precomputed or opened.rows.resident:
            yield self._new(opened)
            return
        gaps = self.__sklearn_tags__().input_tags.allow_nan
        for _, block in opened.rows.blocks():
            if not (np.isfinite(block).all() or (gaps and not np.isinf(block).any())):
                refuse_non_finite(opened.rows)
            yield block

    def _new(self, opened: Any) -> Array:
        """What new points are known by: coordinates, or distances to the training points."""
        return as_points(opened, self.memory)

    def _keeps(self) -> dict[str, Any]:
        return {
            **super()._keeps(),
            **({"n_features_in_": "=n"} if self._precomputed else {"X_fit_": "n p"}),
            "embedding_": "n k",
            "plan_": Plan,
            "_names": "text n?",
        }

    def _shown(self) -> dict[str, Any]:
        return {
            "plan": str(self.plan_),
            "measures": self._measured(),
            "notes": tuple(self._said()),
        }

    def _measured(self) -> dict[str, Any]:
        """What the method measured of itself, by name."""
        return {}

    @property
    def _kept_few(self) -> bool:
        """Whether at most landmarks are kept of the points, the others being in a file."""
        kept = self.X_fit_
        return not isinstance(kept, np.ndarray) or len(kept) < len(self.embedding_)

    def _judged(self, opened: Any, Z: Array) -> dict[str, Any]:
        far = self._precomputed or not opened.rows.resident
        return {} if far else self._kept(self._new(opened), Z)

    def _kept(self, X: Array, Z: Array) -> dict[str, Any]:
        """How well the picture keeps the distances that were asked for, where NaN has no say."""
        metric = getattr(self, "metric", "euclidean")
        plain = not getattr(self, "metric_params", None) and metric != "gower"
        return picture_measures(X, Z, metric) if plain else {}

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


IN_SQUARES = "eigenvalues", "coordinates and shares"  # what may overflow, and what never does


class GramEmbedder(PointEmbedder):
    """Base of methods that embed by the top eigenpairs of a centered map of similarities."""

    gram_: Any  # GramEmbedding, or an approximation with the same verbs
    solver: Any
    negativity_: float

    @row_by_row()
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
        step = max(1, _block // max(len(self.embedding_), 1))
        for new in self._new_blocks(opened):
            for a in range(0, len(new), step):
                yield self._similar(new[a : a + step])

    def _similar(self, new: Array) -> tuple[Array, Array]:
        """Similarities of new points to the training points (m, n), and to themselves (m,)."""
        raise TypeError(f"{type(self).__name__} does not say how new points compare")

    def _tiles(
        self, n: int, k: int, make: Callable[[Array], SymmetricTiles | None], weights: Any = None
    ) -> SymmetricTiles | None:
        """Half of a large map in float32, to search for pairs in; ``None`` where that is no help.

        ``make`` is given the shares of the points.
        """
        few = self.solver == "auto" and n > EXACT and k <= n // 6
        if not few or 1.2 * SymmetricTiles.bytes(n) > budget(self.memory):
            return None
        return make(shares(n, weights))

    def _embed(self, gram: Any, dtype: Any, unit: float = 1.0) -> None:
        """The public attributes; distances were multiplied by ``unit`` before."""
        pairs = gram.pairs
        self.gram_, self._unit = gram, unit
        self.eigenvalues_ = rescaled(pairs.values, unit, *IN_SQUARES)
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

    def _keeps(self) -> dict[str, Any]:
        return {
            **super()._keeps(),
            "gram_": GramEmbedding,
            **dict.fromkeys(("eigenvalues_", "residuals_"), "k"),
            **dict.fromkeys(("_unit", "tolerance_", "negativity_"), float),
            "eigenvectors_": "n k",
            "n_positive_": int,
        }

    def _shown(self) -> dict[str, Any]:
        return super()._shown() | {
            "eigenvalues": self.eigenvalues_,
            "explained": self._shares(),
            "residuals": self.residuals_,
            "tolerance": self.tolerance_,
        }

    def _measured(self) -> dict[str, Any]:
        return {"negativity": self.negativity_}

    def _shares(self) -> Array | None:
        """Share of the sum of all eigenvalues that each axis carries."""
        values = np.maximum(self.gram_.pairs.values, 0.0)
        return values / self.gram_.trace if self.gram_.trace > 0 else np.zeros_like(values)


def as_points(opened: Opened, memory: Any = None, *, missing: bool = False) -> Array:
    """The rows as one array of finite numbers: itself where it lies as we want it.

    ``missing`` lets NaN pass, but not infinity.
    """
    X = gathered(opened, memory)
    if missing and np.isinf(X).any():
        row, column = np.argwhere(np.isinf(X))[0]
        raise InputError(
            f"X contains infinity, first at row {row}, column {column} (counted from 0); "
            "replace it, or use NaN if the value is missing"
        )
    if not missing and not np.isfinite(X).all():
        refuse_non_finite(opened.rows)
    return X


def gathered(opened: Opened, memory: Any = None) -> Array:
    """The rows as one array, whatever numbers they hold."""
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
        X = np.empty(rows.shape, rows.dtype)
        for where, block in rows.blocks():
            X[where] = block
    return X

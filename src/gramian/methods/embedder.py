"""What every method shares: scikit-learn's contract, the door for data, the ``Embedding``.

A method writes ``_fit(rows, ...)``, its recipe, and ``_place(rows)``, new points.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import wraps
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from gramian import __version__
from gramian.checkpoint import checkpointing
from gramian.data.dask.lazy import is_lazy
from gramian.data.dask.lazy import row_by_row as lazily
from gramian.data.door import Opened, open_rows
from gramian.data.fingerprint import fingerprint
from gramian.errors import InputError, warn
from gramian.maps import Array
from gramian.quality.picture import picture_measures
from gramian.results import Embedding
from gramian.spectral.plan import Plan
from gramian.spectral.spread import gathered

__all__ = ["Embedder", "generator", "rescaled", "row_by_row", "warn", "weights_of"]


def row_by_row(columns: str | None = None) -> Callable[[Any], Any]:
    """Makes a method that gives something for every row lazy where its rows are a Dask array.

    ``columns`` names the attribute that says how many numbers; ``None`` for one number a row.
    """

    def made(method: Any) -> Any:
        @wraps(method)
        def wrapped(self: Any, X: Any, *more: Any, **options: Any) -> Any:
            if not is_lazy(X):
                return method(self, X, *more, **options)
            check_is_fitted(self)
            wide = None if columns is None else int(getattr(self, columns))
            return lazily(self, method.__name__, X, wide, *more, **options)

        return wrapped

    return made


class Embedder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of all methods."""

    reads: ClassVar[str] = "rows"
    axis_prefix: ClassVar[str] = "Axis "
    _later: ClassVar[frozenset[str]] = frozenset()  # kept, but ``None`` in model files from before

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit to ``X``: array, frame, sparse matrix, path, or Dask array (``y`` is ignored)."""
        opened = self._open(X, reset=True)
        with self._checkpointed(opened):
            self._fit(opened)
        return self

    @row_by_row("_n_features_out")
    def transform(self, X: Any) -> Array:
        """Coordinates of the rows of ``X``, new or old, of shape (n, k); Dask in, Dask out."""
        check_is_fitted(self)
        return self._place(self._open(X, reset=False))

    def plan(self, X: Any, workers: int | None = None) -> Plan:
        """How ``fit(X)`` would be computed: route, memory, passes. Nothing is computed.

        Of a Dask array also how much each worker needs, and how much travels to this process and
        from worker to worker: a ``gramian.spectral.spread.SpreadPlan``.

        Parameters
        ----------
        X : as for ``fit``, or anything with ``shape``, ``dtype`` and ``resident``
            A file is opened for its shape only; see ``gramian.spectral.plan.Expected``.
        workers : int, optional
            Of a Dask array: to plan for so many, of one thread each. By default those of the
            cluster, or the threads of this process.
        """
        known = all(hasattr(X, name) for name in ("shape", "dtype", "resident"))
        rows = X if known else open_rows(X, getattr(self, "memory", None)).rows
        if workers is not None and hasattr(rows, "hands"):
            rows.workers = workers
        return gathered(self._planned(rows), rows)

    def to_embedding(
        self,
        X: Any,
        *,
        labels: Sequence[str] | None = None,
        columns: Mapping[str, Any] | None = None,
        details: bool = False,
    ) -> Embedding:
        """Coordinates of ``X`` with spectrum, certificate and names: for report, plot and table.

        Parameters
        ----------
        X : as for ``fit``
        labels : sequence of str, optional
            Names of the rows; by default those that came with ``X``.
        columns : mapping, optional
            Further columns by name, for color and hover.
        details : bool
            Fill in as well what a report shows and takes up to about a second to compute.
        """
        check_is_fitted(self)
        opened = self._open(X, reset=False)
        Z = self._place(opened)
        names = self._labels(opened, len(Z)) if labels is None else labels
        embedding = self._embedding(Z, names, columns)
        if not details:
            return embedding
        judged = replace(embedding, measures={**embedding.measures, **self._judged(opened, Z)})
        return replace(judged, **self._details(X, Z))

    def report(
        self,
        path: str | os.PathLike[str],
        X: Any = None,
        *,
        title: str | None = None,
        labels: Sequence[str] | None = None,
        columns: Mapping[str, Any] | None = None,
    ) -> None:
        """Write a report as one HTML file that opens without a network.

        Parameters
        ----------
        path : path
            Ends in ``.html``. An existing file is replaced.
        X : as for ``fit``
            Can be left out where the method keeps the coordinates of its data (``embedding_``).
        title : str, optional
        labels : sequence of str, optional
            Names of the rows.
        columns : mapping, optional
            Further columns by name, for color and hover.
        """
        from gramian.report import write_report  # the one look upward, docs/decisions/0005

        if X is None and not hasattr(self, "embedding_"):
            check_is_fitted(self)
            raise InputError(
                f"{type(self).__name__} does not keep the coordinates of its data; give the data "
                "as well: model.report(path, X)"
            )
        embedding = self.to_embedding(X, labels=labels, columns=columns, details=True)
        write_report(embedding, path, title=title)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted method to a file that ``gramian.load`` reads; no pickle, no code.

        Parameters
        ----------
        path : path
            Usually ``"name.gramian"``; a file of that name is replaced.
        """
        from gramian.methods.model_files import save

        save(self, path)

    def _embedding(
        self, Z: Array, labels: Sequence[str] | None, columns: Mapping[str, Any] | None
    ) -> Embedding:
        names = None if labels is None else tuple(map(str, labels))
        for name, found in {"labels": names, **(columns or {})}.items():
            if found is not None and len(found) != len(Z):
                raise InputError(f"{name!r} has {len(found)} entries for {len(Z)} rows")
        return Embedding(
            method=type(self).__name__,
            coordinates=Z,
            axis_names=tuple(f"{self.axis_prefix}{i + 1}" for i in range(Z.shape[1])),
            labels=names,
            columns=dict(columns or {}),
            parameters=self.get_params(deep=False),
            passes=getattr(getattr(self, "plan_", None), "passes", None),
            **self._shown(),
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.sparse = self.reads == "rows"
        return tags

    def _fit(self, opened: Opened, weights: Any = None) -> None:
        raise TypeError(f"{type(self).__name__} does not say how it fits")

    def _place(self, opened: Opened) -> Array:
        raise TypeError(f"{type(self).__name__} does not say how it places new points")

    def _planned(self, rows: Any) -> Plan:
        raise TypeError(f"{type(self).__name__} does not say how it would be computed")

    def _labels(self, opened: Any, n: int) -> tuple[str, ...] | None:
        """Names of the ``n`` points that were placed, if they came with any."""
        return opened.labels

    def _keeps(self) -> dict[str, Any]:
        """What a model file holds: fitted attributes with their kinds (see ``gramian.kept``)."""
        return {"n_features_in_": "=p", "n_components_": "=k"}

    def _to_keep(self) -> Embedder:
        """The model as a file holds it."""
        return self

    def _shown(self) -> dict[str, Any]:
        """Fields of ``Embedding`` that only the method knows."""
        return {}

    def _details(self, X: Any, Z: Array) -> dict[str, Any]:
        """Fields of ``Embedding`` that take a moment: for reports."""
        return {}

    def _judged(self, opened: Any, Z: Array) -> dict[str, Any]:
        """How well the picture keeps distances and neighbors, where the rows are at hand."""
        whole = getattr(opened.rows, "whole", None)
        if whole is None:
            return {}
        X = whole.T if opened.rows.flip else whole
        return picture_measures(X / self._units(), Z)

    def _units(self) -> Any:
        """What the variables were divided by before anything was computed."""
        return 1.0

    def _checkpointed(self, opened: Any, *more: Any) -> AbstractContextManager[None]:
        """Surround a fit that may be taken up again, if ``checkpoint`` says where."""

        def who() -> dict[str, Any]:
            settings = self.get_params(deep=False)
            del settings["checkpoint"]
            data = opened.rows if hasattr(opened, "rows") else opened.D
            return {
                "gramian": __version__,
                "method": type(self).__name__,
                "settings": settings,
                "data": fingerprint(data, *more),
            }

        return checkpointing(getattr(self, "checkpoint", None), who)

    def _open(self, X: Any, reset: bool) -> Opened:
        """Rows of X, and the checks of names and numbers of columns that scikit-learn asks for."""
        opened = open_rows(X, getattr(self, "memory", None))
        n, p = opened.rows.shape
        if reset and n < 2:
            raise InputError("at least 2 observations are needed, got n_samples=1 (one sample)")
        named = isinstance(X, (str, os.PathLike, Opened)) or hasattr(X, "obs_names")
        if named or is_lazy(X):
            X = _named(opened.columns, p)
        elif not hasattr(X, "shape"):
            X = np.empty((0, p))  # a list: only its width matters here
        validate_data(self, X, reset=reset, skip_check_array=True)
        return opened

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)


def generator(random_state: Any) -> np.random.Generator:
    """A generator from an int, a Generator, a RandomState, or ``None`` (which means 0)."""
    if isinstance(random_state, np.random.RandomState):
        random_state = int(random_state.randint(2**31))
    try:
        return np.random.default_rng(0 if random_state is None else random_state)
    except (TypeError, ValueError):
        raise InputError(
            f"random_state={random_state!r}: a whole number of at least 0, a Generator or None "
            "is needed"
        ) from None


def weights_of(sample_weight: Any, n: int, name: str = "sample_weight") -> Array:
    """One finite weight of at least 0 for each of ``n`` rows; a single 1 if none are given."""
    if sample_weight is None:
        return np.ones(1)
    weights = np.asarray(sample_weight)
    if weights.ndim == 0:
        weights = np.full(n, weights)
    if weights.shape != (n,) or weights.dtype.kind not in "fiub":
        raise InputError(
            f"{name} must be {n} numbers, one a row; got shape {weights.shape}, "
            f"type {weights.dtype}"
        )
    weights = weights.astype(np.float64)
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(bad):
        raise InputError(
            f"{name} holds {weights[bad[0]]:g} at position {bad[0]}; "
            "weights are finite and at least 0"
        )
    if np.count_nonzero(weights) < 2:
        raise InputError(
            f"{name} is zero but for {np.count_nonzero(weights)} rows; "
            "at least 2 observations need a weight above zero"
        )
    return weights


def _named(columns: tuple[str, ...] | None, p: int) -> Any:
    """An empty table with the file's column names, for scikit-learn's check of names."""
    if columns is None:
        return np.empty((0, p))
    import polars

    return polars.DataFrame({name: [] for name in columns})


def rescaled(
    values: Array,
    back: float,
    what: str = "variances",
    exact: str = "singular_values_ and ratios",
) -> Array:
    """Squares in the data's own units; said aloud where they leave the range of floats."""
    with np.errstate(over="ignore", under="ignore"):
        out = values / back / back
    if not np.isfinite(out).all():
        warn(
            f"the {what} exceed the largest float64 (the data are beyond 1e154); they are given "
            f"as that largest number, while {exact} are exact"
        )
    elif np.any((out == 0) & (values != 0)):
        warn(
            f"the {what} are below the smallest float64 (the data are below 1e-154) and given as "
            f"0, while {exact} are exact"
        )
    most = np.finfo(np.float64).max
    return np.clip(out, -most, most)

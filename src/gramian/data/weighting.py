"""How much a term counts in a document: learned from the documents of the fit, then held.

    "tfidf"        w_ij = f_ij (1 + ln (1 + n)/(1 + d_j)), each document divided by its length
    "logentropy"   w_ij = log2(1 + f_ij) (1 + sum_i q_ij ln q_ij / ln n),   q_ij = f_ij / sum_i f_ij

f_ij is how often term j occurs in document i, d_j in how many of the n documents it occurs. The
first is scikit-learn's TfidfTransformer as it comes; the second is S. Dumais' (Improving the
retrieval of information from external sources, Behavior Research Methods 23, 1991): a term spread
evenly over all documents counts 0, one that is found in a single document counts 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from gramian.data.moments import refuse_non_finite
from gramian.data.sparse import SparseRows, with_data
from gramian.data.sparse_file import SparseFile
from gramian.errors import InputError
from gramian.maps import Array

NAMES = ("tfidf", "logentropy")


@dataclass(frozen=True)
class Weighting:
    """A weighting with what it learned: a factor for each term, a length for each document."""

    name: str
    factors: Array
    lengths: Array

    keeps: ClassVar[dict[str, Any]] = {"name": str, "factors": "p", "lengths": "n"}

    @staticmethod
    def of(rows: Any, name: Any) -> Weighting | None:
        """Learn from documents; ``None`` where nothing is weighted."""
        if name is None:
            return None
        if name not in NAMES:
            raise InputError(f"weighting={name!r}: use None, 'tfidf' or 'logentropy'")
        factors = _factors(lambda: _parts(rows), rows.shape, name)
        lengths = np.empty(rows.shape[0])
        first = 0
        for X in _parts(rows):
            found = _lengths(_times_factors(_local(X, name), factors), name)
            lengths[first : first + len(found)] = found
            first += len(found)
        return Weighting(name, factors, lengths)

    def rows(self, rows: Any) -> SparseRows | SparseFile:
        """Documents, weighted; those in a file as they are read."""
        if isinstance(rows, SparseFile):
            return rows.changed(self._weighted)
        return SparseRows(self._weighted(counts(rows)).astype(rows.dtype, copy=False))

    @staticmethod
    def passes(rows: Any, name: Any) -> int:
        """Visits to documents in a file that ``of`` makes."""
        in_file = isinstance(rows, SparseFile)
        return {"tfidf": 2, "logentropy": 3}.get(name, 0) if in_file else 0

    def _weighted(self, X: Any) -> Any:
        W = _times_factors(_local(X, self.name), self.factors)
        return _divided(W, _lengths(W, self.name))

    def terms(self, columns: Any) -> Any:
        """Columns of terms that were not in the fit, counted in its documents, weighted."""
        X = counts(columns)
        factors = _factors(lambda: [X], X.shape, self.name)
        return _divided(_times_factors(_local(X, self.name), factors), self.lengths)


def counts(rows: Any) -> Any:
    """What is stored, as a sparse float64 matrix; none of it negative."""
    refuse_non_finite(rows)
    if isinstance(rows, SparseRows):
        X = scipy.sparse.csr_array(rows.X, dtype=np.float64)
    else:
        blocks = [scipy.sparse.csr_array(block) for _, block in rows.blocks()]
        X = scipy.sparse.vstack(blocks, format="csr").astype(np.float64)
    return _refuse_negative(X, 0)


def _parts(rows: Any) -> Iterable[Any]:
    """Counts, all at once or, from a file, some documents at a time."""
    if not isinstance(rows, SparseFile):
        yield counts(rows)
        return
    for first, X in rows.parts():
        if not np.isfinite(X.data).all():
            refuse_non_finite(rows)
        yield _refuse_negative(X.astype(np.float64), first)


def _refuse_negative(X: Any, first: int) -> Any:
    below = np.flatnonzero(X.data < 0)
    if len(below):
        row = int(np.searchsorted(X.indptr, below[0], side="right")) - 1
        raise InputError(
            f"X holds {X.data[below[0]]:g} at row {first + row}, column {X.indices[below[0]]}: a "
            "term cannot occur less than 0 times; use weighting=None for data that are no counts"
        )
    return X


def _local(X: Any, name: str) -> Any:
    """f, or log2(1 + f)."""
    return X.log1p() / np.log(2) if name == "logentropy" else X


def _factors(parts: Callable[[], Iterable[Any]], shape: tuple[int, int], name: str) -> Array:
    """One for each term; the same whatever the order of the documents, but for rounding."""
    n, p = shape
    if name == "tfidf":
        documents = sum(np.bincount(X.indices[X.data > 0], minlength=p) for X in parts())
        return np.asarray(1 + np.log((1 + n) / (1 + documents)))
    totals = np.asarray(sum(np.bincount(X.indices, X.data, minlength=p) for X in parts()))
    entropy = np.zeros(p)
    for X in parts():
        held = X.data > 0
        shares = X.data[held] / totals[X.indices[held]]
        entropy += np.bincount(X.indices[held], shares * np.log(shares), minlength=p)
    return np.maximum(1 + entropy / np.log(max(n, 2)), 0.0)


def _lengths(W: Any, name: str) -> Array:
    """What documents are divided by: an empty one stays empty."""
    if name != "tfidf":
        return np.ones(W.shape[0])
    lengths = np.sqrt(np.asarray(with_data(W, W.data**2).sum(axis=1)).ravel())
    return np.where(lengths > 0, lengths, 1.0)


def _times_factors(X: Any, factors: Array) -> Any:
    return with_data(X, X.data * factors[X.indices])


def _divided(W: Any, lengths: Array) -> Any:
    return with_data(W, W.data / np.repeat(lengths, np.diff(W.indptr)))

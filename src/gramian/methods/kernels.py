"""What a method of kernels reads: points with a kernel, or similarities that are given."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gramian.data.door import open_rows
from gramian.data.similarities import labels_of, ordered, own_of, refuse_distances, refuse_gaps
from gramian.errors import InputError
from gramian.gram.kernel_arguments import refuse_asymmetric
from gramian.gram.kernel_blocks import Kernel
from gramian.gram.kernels import kernel, settled
from gramian.maps import Array, unit_for
from gramian.methods.embedder import row_by_row
from gramian.methods.similarity import GramEmbedder, gathered
from gramian.spectral.eigenpairs import symmetric
from gramian.spectral.pivoted import refuse_indefinite

MERCER = (  # positive semi-definite by theorem, whatever the parameters
    *("linear", "rbf", "gaussian", "inverse_multiquadric", "rational_quadratic", "laplacian"),
    *("matern", "cosine"),
)
_judged = 400  # points by which a kernel is judged that no theorem vouches for


class KernelReader(GramEmbedder):
    """Base of methods with a ``kernel``: "precomputed" similarities, or those of points."""

    kernel: Any
    gamma: Any
    degree: Any
    coef0: Any
    kernel_params: Any
    center: Any
    landmarks: Any
    X_fit_: Array
    n_features_in_: int
    labels_: tuple[str, ...] | None
    gamma_: float | None
    _decided: dict[str, Any]
    _fixed: Kernel
    _shift: Array
    _diagonal: Array

    @property
    def _k(self) -> Kernel:
        """The kernel with its parameters, as they were decided at the fit."""
        return self._fixed if callable(self.kernel) else kernel(self.kernel, **self._decided)

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    @property
    def _mercer(self) -> bool:
        """Whether the kernel is positive semi-definite by theorem."""
        return isinstance(self.kernel, str) and self.kernel in MERCER

    def _decide_kernel(self) -> None:
        """The kernel with all parameters decided; points shifted where that changes nothing."""
        usual = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        decided = settled(self.kernel, self.X_fit_, usual, self.kernel_params)
        self._decided = dict(getattr(decided, "keywords", {}))
        if callable(self.kernel):
            self._fixed = decided
        self.gamma_ = self._decided.get("gamma")
        self._shift = np.zeros(self.X_fit_.shape[1], self.X_fit_.dtype)
        if self.kernel == "linear" and self.center:  # centered inner products do not see the mean
            self._shift = self.X_fit_.mean(axis=0, dtype=np.float64).astype(self.X_fit_.dtype)
            self.X_fit_ -= self._shift
        self._judge_kernel(self.X_fit_)

    def _judge_kernel(self, X: Array) -> None:
        """By a sample of points: a function must be symmetric, and definite for landmarks."""
        if self._mercer or (isinstance(self.kernel, str) and self.landmarks is None):
            return
        some = X[:: -(-len(X) // (50 if self.landmarks is None else _judged))]
        K = np.asarray(self._k(some, some))
        refuse_asymmetric(K)
        if self.landmarks is not None and np.isfinite(K).all():
            values = np.linalg.eigvalsh((K + K.T).astype(np.float64) / 2)
            refuse_indefinite(float(values[0]), max(float(values[-1]), 0.0), K.dtype)

    def _shifted(self, X: Array) -> Array:
        return X - self._shift if self._shift.any() else X

    def _given(self, opened: Any) -> tuple[Array, float]:
        """A precomputed kernel, checked, times the square of a power of two; and that power."""
        n, p = opened.rows.shape
        if n != p:
            raise InputError(f"a precomputed kernel must be square, got shape {(n, p)}")
        self.labels_ = labels_of(opened)
        K = gathered(opened, self.memory)
        refuse_gaps(K)
        least, most = float(K.min()), float(K.max())
        refuse_distances(np.diag(K), least, most)
        self._unit = unit_for(np.sqrt(max(most, -least)), np.float64)
        K = symmetric(self._in_units(K)[0], "the precomputed kernel")
        self._diagonal = np.diag(K).copy()
        return K, self._unit

    def _in_units(self, *similarities: Array) -> tuple[Array, ...]:
        """Given similarities as they were brought near 1 for the fit."""
        if self._unit == 1:
            return similarities
        return tuple(each.astype(np.float64) * self._unit * self._unit for each in similarities)

    def _open(self, X: Any, reset: bool) -> Any:
        if self._precomputed and reset and getattr(X, "ndim", 2) != 2:
            raise InputError(
                f"a precomputed kernel must be square, got shape {X.shape}; a vector of its upper "
                "half says nothing of the diagonal"
            )
        if not self._precomputed or reset:
            return super()._open(X, reset)
        opened = open_rows(X)  # rows of similarities to the training points
        n = self.n_features_in_
        if opened.rows.shape[1] != n:
            raise InputError(
                f"X has {opened.rows.shape[1]} features, but KernelPCA is expecting {n} features "
                "as input: similarities to each of the training points"
            )
        return opened

    def _new(self, opened: Any) -> Array:
        if not self._precomputed:
            return super()._new(opened)
        rows = gathered(opened, self.memory)
        refuse_gaps(rows)
        return ordered(rows, opened.columns, self.labels_)

    def _needs_points(self, what: str) -> None:
        if self._precomputed:
            raise InputError(f"{what} needs points; this model was fitted to a precomputed kernel")

    @property
    def residual_known_(self) -> bool:
        """Whether new points say what they are to themselves, or training points all agree."""
        if not self._precomputed:
            return True
        size = float(np.abs(self._diagonal).max())
        return bool(np.ptp(self._diagonal) <= 1e-8 * size)

    @row_by_row()
    def placement_residual(self, X: Any, own: Any = None) -> Array:
        """How far each new point lies outside the space of the axes.

        Parameters
        ----------
        X : as for ``transform``
        own : array of shape (m,), optional
            With ``kernel="precomputed"``: the similarity k(x, x) of each new point to itself. It
            can be left out where that is the same for all points of the fit.
        """
        check_is_fitted(self)
        if own is None:
            if not self.residual_known_:
                raise InputError(
                    "how far new points lie outside needs their similarities to themselves; give "
                    "own=, an array of k(x, x)"
                )
            return np.asarray(super().placement_residual(X))
        if not self._precomputed:
            raise InputError("own= goes with kernel='precomputed'; it follows from points")
        rows = self._new(self._open(X, reset=False))
        found = self.gram_.residual(*self._in_units(rows, own_of(own, len(rows))))
        return np.asarray(found / self._unit)

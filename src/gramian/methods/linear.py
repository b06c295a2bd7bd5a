"""What linear methods share once axes are found: z = V'(x - m), and back.

A fitted linear method has ``mean_``, ``scale_`` (or ``None``), ``components_`` (k x p, unit rows),
``explained_variance_`` and ``noise_variance_``; everything here follows from those.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gramian.errors import CertificateWarning
from gramian.inference.gaussian import LowRankGaussian
from gramian.maps import Array, ImplicitMap, to_dense
from gramian.methods.affine import AffineEmbedder
from gramian.methods.embedder import rescaled, row_by_row, warn
from gramian.quality.axes import contributions, correlations, cos2
from gramian.spectral.plan import Plan
from gramian.spectral.principal import Axes, rank_tolerance


class LinearEmbedder(AffineEmbedder):
    """Base of methods whose coordinates are linear in the data."""

    singular_values_: Array | None
    log_generalized_variance_: float | None

    @row_by_row()
    def score_samples(self, X: Any) -> Array:
        """Log-likelihood of each row under the Gaussian model of the fit."""
        Z, _, left_over = self._lengths_and_left_over(self._opened(X))
        return self._gaussian().log_density(Z, left_over)

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-likelihood of the rows of ``X``."""
        return float(np.mean(self.score_samples(X)))

    def get_covariance(self) -> Array | ImplicitMap:
        """Covariance of the Gaussian model, p x p.

        With more variables than observations it is returned as a map (``@`` works, ``to_dense``
        of ``gramian.maps`` writes it out): p x p numbers would dwarf the data.
        """
        check_is_fitted(self)
        return self._as_matrix(self._gaussian().covariance())

    def get_precision(self) -> Array | ImplicitMap:
        """Inverse of ``get_covariance``, in the same form."""
        check_is_fitted(self)
        return self._as_matrix(self._gaussian().precision())

    @row_by_row("n_components_")
    def cos2(self, X: Any) -> Array:
        """How well each axis shows each row of ``X``: z_i^2 / |x - m|^2, of shape (n, k)."""
        Z, lengths, _ = self._lengths_and_left_over(self._opened(X))
        return cos2(Z, lengths)

    @row_by_row("n_components_")
    def contributions(self, X: Any) -> Array:
        """How much of each axis' sum of squares in the fit a row like this makes, (n, k)."""
        Z, _, _ = self._lengths_and_left_over(self._opened(X))
        return contributions(Z, self.explained_variance_ * self._divisor)

    @property
    def correlations_(self) -> Array:
        """Of each variable with each axis, (p, k)."""
        check_is_fitted(self)
        V = self.components_.T.astype(np.float64)
        return correlations(V, self._spreads, self._deviations)

    @property
    def cos2_(self) -> Array:
        """How well each axis shows each variable: squared correlations, (p, k)."""
        check_is_fitted(self)
        return np.asarray(self.correlations_**2)

    @property
    def contributions_(self) -> Array:
        """How much of each axis each variable makes: squared loadings, (p, k); columns sum to 1."""
        check_is_fitted(self)
        return np.asarray(self.components_.T**2)

    def _keep(self, found: Axes, total: float, back: float, deviations: Array, dtype: Any) -> None:
        """The public attributes. ``back`` is the factor the data were multiplied by."""
        pairs, k, p = found.pairs, len(found.pairs), found.pairs.vectors.shape[0]
        n = self.n_samples_ or p
        values = np.maximum(pairs.values, 0.0)
        if total <= 0:
            warn("all observations are equal: every variance is 0 and the axes are arbitrary")
        elif not pairs.certified:
            warn(
                f"an axis has residual {pairs.residuals.max():.1e}, asked for "
                f"{pairs.tolerance:.1e}; see residuals_",
                CertificateWarning,
            )
        left = max(total - float(values.sum()), 0.0) if k < min(n, p) else 0.0
        in_data_units = np.array([*values, total, left]) / self._divisor
        *variances, self.total_variance_, self.reconstruction_error_ = rescaled(in_data_units, back)
        self.explained_variance_ = np.array(variances)
        self.explained_variance_ratio_ = values / total if total > 0 else np.zeros(k)
        self.singular_values_ = np.sqrt(values) / back
        self.noise_variance_ = self.reconstruction_error_ / (p - k) if k < p else 0.0
        self.components_ = np.ascontiguousarray(pairs.vectors.T, dtype=dtype)
        self.n_components_ = k
        rounding = rank_tolerance((n, p), np.dtype(dtype)) ** 2 * values[0]
        self.rank_ = int(np.sum(values > rounding))
        volume = found.log_volume
        log_units = np.log(self._divisor) + 2 * np.log(back)
        self.log_generalized_variance_ = None if volume is None else volume - p * log_units
        # what correlations_ are made of, in units in which nothing under- or overflows
        self._spreads = np.sqrt(values / self._divisor)
        self._deviations = deviations * back if self.scale_ is None else np.ones(p)
        self.residuals_, self.tolerance_, self.plan_ = pairs.residuals, pairs.tolerance, found.plan
        self.equal_axes_ = [
            (group.start, group.stop - 1) for group in pairs.groups() if group.stop <= self.rank_
        ]

    def _keeps(self) -> dict[str, Any]:
        by_axis = "explained_variance_", "explained_variance_ratio_", "residuals_", "_spreads"
        numbers = "total_variance_", "reconstruction_error_", "noise_variance_", "tolerance_"
        return {
            **super()._keeps(),
            **dict.fromkeys(("mean_", "_mean_rest", "_deviations"), "p"),
            **dict.fromkeys(by_axis, "k"),
            **dict.fromkeys((*numbers, "_divisor"), float),
            "components_": "k p",
            "scale_": "p?",
            "singular_values_": "k?",
            "log_generalized_variance_": float | None,
            "n_samples_": int | None,
            "rank_": int,
            "equal_axes_": list,
            "plan_": Plan,
        }

    def _shown(self) -> dict[str, Any]:
        names = getattr(self, "feature_names_in_", None)
        return {
            "eigenvalues": self.explained_variance_,
            "explained": self.explained_variance_ratio_,
            "residuals": self.residuals_,
            "tolerance": self.tolerance_,
            "plan": str(self.plan_),
            "variables": None if names is None else tuple(map(str, names)),
            "loadings": self.components_.T,
            "correlations": self.correlations_,
            "notes": tuple(
                f"{self.axis_prefix}{first + 1} to {self.axis_prefix}{last + 1} have equal "
                "variance: together they are determined, their directions are not"
                for first, last in self.equal_axes_
            ),
        }

    def _details(self, X: Any, Z: Array) -> dict[str, Any]:
        return (
            {"point_cos2": np.asarray(self.cos2(X))}
            if len(Z) * self.n_features_in_ <= 20_000_000
            else {}
        )

    def _gaussian(self) -> LowRankGaussian:
        return LowRankGaussian(
            self.components_.T.astype(np.float64),
            np.asarray(self.explained_variance_, dtype=np.float64),
            float(self.noise_variance_),
            self._units(),
        )

    def _as_matrix(self, A: ImplicitMap) -> Array | ImplicitMap:
        wide = self.n_samples_ is not None and A.shape[0] > self.n_samples_
        return A if wide else to_dense(A)


def counting(found: Axes, Y: Any) -> Axes:
    """The axes with a plan that says how often the data were visited."""
    return replace(found, plan=replace(found.plan, passes=Y.passes))

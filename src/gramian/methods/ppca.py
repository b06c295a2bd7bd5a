"""Probabilistic PCA: the Gaussian model behind PCA, which can do with missing values.

1. model      x = m + W z + e,   z ~ N(0, I_k),   e ~ N(0, s I_p);   so  Cov x = W W' + s I
2. complete   m = mean,  Cov = V L V',  s = mean of the p - k smallest eigenvalues,
              W = V_k (L_k - s)^1/2                                      (closed form, as PCA)
3. missing    EM on the values that are there; W = V_k (L_k - s)^1/2 again.
              Few rows: Cov is mixed with a multiple of I, as a prior would (``shrinkage``)
4. place      u = E[V' W z | x]: what the axes show of x once noise is taken off.
              Complete: (1 - s / l_i) v_i'(x - m), which is PCA as s goes to 0.
5. impute     x_j = m_j + w_j' E z,   variance  w_j' Cov(z) w_j + s

Tipping & Bishop, Probabilistic principal component analysis, J. R. Stat. Soc. B 61 (1999).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gramian.data.door import Opened, replace_rows
from gramian.data.missing import Gaps, any_missing, read_with_gaps
from gramian.data.moments import units_of
from gramian.errors import NotConvergedWarning
from gramian.inference.choose import (
    checked_iterations,
    checked_shrinkage,
    counted_components,
)
from gramian.inference.factors import Factors, expected
from gramian.inference.likelihood import filled, maximum_likelihood
from gramian.maps import Array
from gramian.methods.embedder import generator, warn
from gramian.methods.linear import LinearEmbedder, counting
from gramian.show.text import count
from gramian.spectral.plan import Plan, expected_passes, plan_axes
from gramian.spectral.principal import principal_axes


class Posterior(NamedTuple):
    """What is known of the coordinates of each row: ``mean`` (n, k), ``covariance`` (n, k, k)."""

    mean: Array
    covariance: Array


class ProbabilisticPCA(LinearEmbedder):
    """Probabilistic principal component analysis; NaN means missing.

    Parameters
    ----------
    n_components : int or None
        How many axes; ``None`` for as many as leave a direction for the noise.
    scale : {None, "unit"}
        "unit" divides each variable by its standard deviation.
    shrinkage : None, "auto" or float
        Share, from 0 to below 1, of a covariance that is the same in all directions, mixed into
        that of the data: what a prior does. "auto" takes the share that should bring it nearest
        to the truth (Chen and others, 2010). Then all axes may be kept
        (``n_components=None``), and missing values are filled in best. ``None``: no prior.
    max_iter : int
        The most steps of EM, where values are missing.
    tol : float
        EM ends when less than this is left to gain, in log-likelihood a row.
    solver, memory, random_state, checkpoint
        As for ``PCA``; steps of EM are kept too.

    Attributes
    ----------
    components_, explained_variance_, explained_variance_ratio_, mean_, scale_, correlations_
        As of ``PCA``, with variances that divide by n (maximum likelihood).
    noise_variance_ : float
        s: mean variance of the p - k directions left out.
    loglike_ : array of shape (n_iter_,) or None
        Log-likelihood of the data after each step, plus that of the prior if there is one; it
        never falls. ``None`` where the data lie in a plane and have no density.
    shrinkage_ : float
        The share of the prior; 0 without one.
    n_iter_ : int
    stopping_ : str
        Why it ended, in words.
    n_missing_ : int
        Values that were missing.
    residuals_ : array of shape (k,)
        The certificate: of eigenpairs, as PCA's; with missing values how far one more step of EM
        would move the model along each axis, relative to the largest variance.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import ProbabilisticPCA
    >>> X = np.array([[2.5, 2.4], [0.5, 0.7], [2.2, np.nan], [1.9, 2.2], [3.1, 3.0], [1.0, 0.9]])
    >>> filled, deviation = ProbabilisticPCA(1).fit(X).impute(X, return_std=True)
    >>> filled[2].round(1), deviation[2].round(1)
    (array([2.2, 2.2]), array([0. , 0.2]))
    """

    axis_prefix = "PC"
    ddof = 0  # maximum likelihood

    def __init__(
        self,
        n_components: int | None = None,
        *,
        scale: str | None = None,
        shrinkage: float | str | None = None,
        max_iter: int = 1000,
        tol: float = 1e-6,
        solver: Any = "auto",
        memory: Any = None,
        random_state: Any = None,
        checkpoint: Any = None,
    ) -> None:
        self.n_components = n_components
        self.scale = scale
        self.shrinkage = shrinkage
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.memory = memory
        self.random_state = random_state
        self.checkpoint = checkpoint

    def _fit(self, opened: Opened, weights: Any = None) -> None:
        checked_iterations(self.max_iter, self.tol)
        shrunk = checked_shrinkage(self.shrinkage) is not None
        if any_missing(opened.rows) or shrunk:
            self._climb(opened)
        else:
            self._solve(opened)

    def _solve(self, opened: Opened) -> None:
        """Step 2."""
        n, p = opened.rows.shape
        k = counted_components(self.n_components, min(n - 1, p))
        k = min(k, _most(n, p)) if self.n_components is None else k
        Y, total, _, back, deviations = self._centering(opened, np.ones(1))
        found = principal_axes(Y, k, **self._how())  # 2
        self._keep(counting(found, Y), total, back, deviations, Y.dtype)
        self.n_missing_, self.n_iter_, self.shrinkage_ = 0, 1, 0.0
        self.stopping_ = "after 1 step: complete data have a closed form"
        self.loglike_ = None
        if self.noise_variance_ > 0 or (k == p and self.rank_ == p):
            at_mean = self._gaussian().log_density(np.zeros((1, k)), np.zeros(1))
            self.loglike_ = n * (at_mean - p / 2)  # distances to the mean add up to n p

    def _climb(self, opened: Opened) -> None:
        """Step 3."""
        rows, p = opened.rows, opened.rows.shape[1]
        gaps = Gaps.of(read_with_gaps(rows, self.memory))
        gaps.refuse_empty(columns=True, names=opened.columns)
        mean, deviations, unit = gaps.moments()
        if p == 1 or not deviations.any():  # nothing to learn from: the mean is all there is
            self._solve(replace_rows(opened, gaps.filled(mean)))
            self.n_missing_ = gaps.missing
            return
        k = counted_components(self.n_components, _most(*rows.shape))
        units = units_of(self.scale, deviations, opened.columns) / unit
        Y = gaps.centered(mean, 1 / units)
        fitted = maximum_likelihood(Y, k, self.max_iter, self.tol, self.shrinkage, **self._how())
        back = 1.0 if self.scale else unit
        self._divisor, self.n_samples_ = float(len(gaps.X)), len(gaps.X)
        self.scale_ = units if self.scale else None
        self.mean_, self._mean_rest = mean + fitted.factors.mean * units, np.zeros(p)
        found, total = fitted.axes(len(gaps.X), np.sqrt(self.tol))
        self._keep(found, total, back, fitted.factors.deviations() / back, rows.dtype)
        self.n_missing_, self.n_iter_ = gaps.missing, len(fitted.trace)
        self.shrinkage_ = fitted.shrinkage
        self.loglike_ = fitted.trace - gaps.counts() @ np.log(units)
        self.stopping_ = fitted.stopped
        if not fitted.converged:
            sentence = f"EM ended before it converged, {fitted.stopped}; raise max_iter or tol"
            warn(sentence, NotConvergedWarning)

    def posterior(self, X: Any) -> Posterior:
        """Mean and covariance of the coordinates of each row, given the values that it has."""
        gaps, found = self._expected(self._raw(X))
        root = np.sqrt(self._signal())
        sizes = np.diff(gaps.ends)
        covariance = found.covariances * root[:, None] * root
        covariance = gaps.restored(np.repeat(covariance, sizes, axis=0))
        return Posterior(gaps.restored(found.mean) * root, covariance)

    def impute(self, X: Any, return_std: bool = False) -> Any:
        """``X`` with its holes filled by what the model expects there, given the rest of the row.

        Parameters
        ----------
        X : (n, p) data, NaN where a value is missing
        return_std : bool
            Also return the standard deviation of each value given the rest; 0 for those known.

        Returns
        -------
        filled : array of shape (n, p)
        deviation : array of shape (n, p)
            Only with ``return_std=True``.
        """
        opened = self._raw(X)
        filled, deviation = self._filled(opened)
        dtype = opened.rows.dtype
        return (
            (filled.astype(dtype), deviation.astype(dtype)) if return_std else filled.astype(dtype)
        )

    def score_samples(self, X: Any) -> Array:
        """Log-likelihood of each row: of the values that it has."""
        opened = self._raw(X)
        if not any_missing(opened.rows):
            return super().score_samples(X)
        gaps, found = self._expected(opened)
        in_units = np.repeat(gaps.seen @ np.log(self._units()), np.diff(gaps.ends))
        return gaps.restored(found.log_density - in_units)

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Array:
        """Random rows of the model, of shape (n_samples, p)."""
        check_is_fitted(self)
        rng, p = generator(random_state), self.components_.shape[1]
        Z = rng.standard_normal((n_samples, self.n_components_)) * np.sqrt(self._signal())
        noise = np.sqrt(self.noise_variance_) * rng.standard_normal((n_samples, p))
        return np.asarray((Z @ self.components_ + noise) * self._units() + self.mean_)

    def _open(self, X: Any, reset: bool) -> Opened:
        """New rows with holes are placed as what the model expects them to be: the same z."""
        opened = super()._open(X, reset)
        if reset or not any_missing(opened.rows):
            return opened
        return replace_rows(opened, self._filled(opened)[0])

    def _raw(self, X: Any) -> Opened:
        check_is_fitted(self)
        return super()._open(X, reset=False)

    def _gaps(self, opened: Opened) -> tuple[Gaps, Gaps]:
        """Rows with holes, as they are and in units of the model about its mean."""
        gaps = Gaps.of(read_with_gaps(opened.rows, self.memory))
        gaps.refuse_empty(columns=False)
        return gaps, gaps.centered(self.mean_, 1 / self._units())

    def _expected(self, opened: Opened) -> tuple[Gaps, Any]:
        """Step 4: the factors of rows with holes, in units of the model."""
        gaps, Y = self._gaps(opened)
        return gaps, expected(Y, self._factors())

    def _filled(self, opened: Opened) -> tuple[Array, Array]:
        """Step 5."""
        gaps, Y = self._gaps(opened)
        values, deviations = filled(Y, self._factors())
        sizes, units = np.diff(gaps.ends), self._units()
        there = np.repeat(gaps.seen, sizes, axis=0)
        X = np.where(there, gaps.X, self.mean_ + values * units)
        return gaps.restored(X), gaps.restored(np.repeat(deviations, sizes, axis=0) * units)

    def _factors(self) -> Factors:
        """W = V (L - s)^1/2 as it stands after the fit, about the mean."""
        V = self.components_.T.astype(np.float64)
        return Factors(V * np.sqrt(self._signal()), np.zeros(len(V)), self.noise_variance_)

    def _signal(self) -> Array:
        return np.maximum(self.explained_variance_ - self.noise_variance_, 0.0)

    def _shrink(self) -> Array:
        """Step 4 for complete rows."""
        values = self.explained_variance_
        return np.divide(self._signal(), values, out=np.ones_like(values), where=values > 0)

    def _how(self) -> dict[str, Any]:
        rng = generator(self.random_state)
        return {"solver": self.solver, "memory": self.memory, "rng": rng}

    def _planned(self, rows: Any) -> Plan:
        k = counted_components(self.n_components, _most(*rows.shape))
        found = plan_axes(rows, k, self.solver, self.memory)
        return replace(found, passes=1 + expected_passes(found, rows))

    def _keeps(self) -> dict[str, Any]:
        counts = dict.fromkeys(("n_iter_", "n_missing_"), int)
        return {
            **super()._keeps(),
            **counts,
            "shrinkage_": float,
            "loglike_": "t?",
            "stopping_": str,
        }

    def _shown(self) -> dict[str, Any]:
        shown = super()._shown()
        told = {"noise_variance": float(self.noise_variance_)}
        if self.shrinkage_:
            told["shrinkage"] = self.shrinkage_
        elif self.loglike_ is not None:
            told["log_likelihood"] = float(self.loglike_[-1])
        ended = f"{count(self.n_missing_, 'value')} missing in the fit; ended {self.stopping_}"
        return {**shown, "measures": told, "notes": (ended, *shown["notes"])}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _most(n: int, p: int) -> int:
    """The most axes that leave a direction for the noise, and a row to estimate it."""
    return max(min(n - 2, p - 1), 1)

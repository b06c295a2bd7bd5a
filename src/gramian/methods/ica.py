"""Independent component analysis: mixed sources, told apart because they are not Gaussian.

1. whiten   Y = X - 1 m',  Y'Y / n = V L V',   x~ = L^-1/2 V'(x - m): uncorrelated, variance 1
2. turn     s = W x~ with W orthogonal, its rows those for which w'x~ is least Gaussian:
            W+ = E[g(s) x~'] - diag(E[g'(s)]) W,   W = (W+ W+')^-1/2 W+      until it stands still
3. mixing   A = V L^1/2 W':  x = m + A s;   |a_i|^2 is the variance that source i brings
4. order    most variance first; the largest entry of each column of A is positive
5. place    s = W L^-1/2 V'(x - m), any point

A. Hyvärinen, Fast and robust fixed-point algorithms for independent component analysis, IEEE
Trans. Neural Networks 10 (1999).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gramian.data.door import Opened
from gramian.errors import CertificateWarning, InputError, NotConvergedWarning
from gramian.inference.choose import checked_iterations, counted_components
from gramian.maps import Array
from gramian.methods.affine import AffineEmbedder
from gramian.methods.embedder import generator, rescaled, warn
from gramian.show.text import count
from gramian.spectral.fixed_point import CONTRASTS, least_gaussian, negentropies
from gramian.spectral.pairs import signs
from gramian.spectral.plan import Plan, expected_passes, plan_axes
from gramian.spectral.principal import Axes, principal_axes, rank_tolerance


class ICA(AffineEmbedder):
    """Independent component analysis.

    Parameters
    ----------
    n_components : int or None
        How many sources; ``None`` for all, min(n - 1, p). Data of lower rank are refused.
    fun : {"logcosh", "exp", "cube"}
        What non-Gaussianity is measured by. "exp" withstands outliers best; "cube" is kurtosis.
    max_iter : int
        The most steps of the fixed-point iteration.
    tol : float
        It ends when no axis turns further: 1 - |cos| below this.
    solver, memory
        As for ``PCA``, of the whitening.
    random_state : int, Generator, RandomState or None
        Start of the iteration. ``None`` means 0: the same answer every time.

    Attributes
    ----------
    components_ : array of shape (k, p)
        The unmixing matrix: sources are ``(X - mean_) @ components_.T``, with variance 1.
    mixing_ : array of shape (p, k)
        Its inverse: what each source adds to the variables. The largest entry of a column is
        positive, and columns come in the order of the variance they bring.
    whitening_ : array of shape (k, p)
    mean_ : array of shape (p,)
    explained_variance_, explained_variance_ratio_ : array of shape (k,)
        Variance (dividing by n) that each source brings to the data.
    negentropy_ : array of shape (k,)
        How far each source is from Gaussian: (E log cosh s - E log cosh of a Gaussian)^2.
    n_iter_ : int
        Visits to all rows (rows in plenty are visited in part before).
    stopping_ : str
        Why it ended, in words.
    residuals_ : array of shape (k,)
        The certificate of the principal axes that whiten, as of ``PCA``.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import ICA
    >>> t = np.linspace(0, 1, 2000)
    >>> S = np.column_stack([np.sign(np.sin(40 * t)), np.sin(71 * t)])  # two signals
    >>> X = S @ np.array([[2.0, 1.0], [1.0, 1.0]])  # two microphones
    >>> model = ICA().fit(X)
    >>> found = np.abs(np.corrcoef(model.transform(X).T, S.T)[:2, 2:])
    >>> bool(np.allclose(found, np.eye(2), atol=0.05))
    True
    """

    axis_prefix = "IC"
    ddof = 0  # sources of variance 1, dividing by n

    def __init__(
        self,
        n_components: int | None = None,
        *,
        fun: str = "logcosh",
        max_iter: int = 200,
        tol: float = 1e-6,
        solver: Any = "auto",
        memory: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.fun = fun
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.memory = memory
        self.random_state = random_state

    def _fit(self, opened: Opened, weights: Any = None) -> None:
        n, p = opened.rows.shape
        checked_iterations(self.max_iter, self.tol)
        if self.fun not in CONTRASTS:
            raise InputError(f"fun={self.fun!r}: use {', '.join(map(repr, CONTRASTS))}")
        k, rng = counted_components(self.n_components, min(n - 1, p)), generator(self.random_state)
        Y, total, _, back, _ = self._centering(opened, np.ones(1))
        axes = principal_axes(Y, k, solver=self.solver, memory=self.memory, rng=rng)
        _refuse_low_rank(axes, Y)
        V, deviations = axes.pairs.vectors, np.sqrt(axes.pairs.values / n)
        white = np.asarray(Y @ np.ascontiguousarray(V / deviations, dtype=Y.dtype))  # 1
        turned = least_gaussian(white, self.fun, self.max_iter, self.tol, rng)  # 2
        mixing = V * deviations @ turned.W.T  # 3
        order = np.argsort(-np.sum(mixing**2, axis=0), kind="stable")  # 4
        mixing, W = mixing[:, order], turned.W[order]
        sign = signs(mixing)
        W = W * sign[:, None]
        variances = np.sum(mixing**2, axis=0)
        self.negentropy_ = negentropies(white, W)
        self.whitening_ = (V / deviations).T * back
        if not np.isfinite(self.whitening_).all():
            raise InputError(
                "the data are too small (subnormal) to be brought to variance 1; multiply them by "
                "a power of two"
            )
        self.components_ = np.ascontiguousarray(W @ self.whitening_, dtype=Y.dtype)
        self.mixing_ = (mixing * sign / back).astype(Y.dtype)
        self.explained_variance_ = rescaled(variances, back, exact="sources and ratios")
        self.explained_variance_ratio_ = variances * n / total
        self.n_components_, self.n_iter_ = k, turned.steps
        self.residuals_, self.tolerance_ = axes.pairs.residuals, axes.pairs.tolerance
        self.plan_ = replace(axes.plan, passes=Y.passes)
        self.stopping_ = (
            f"after {count(turned.steps, 'visit')} to all rows: the last turned an axis by "
            f"1 - |cos| = {turned.moved:.1g}, tol is {self.tol:g}"
        )
        self._warn(turned.converged, axes)

    def _warn(self, converged: bool, axes: Axes) -> None:
        if not axes.pairs.certified:
            warn(
                "an axis of the whitening misses its tolerance; see residuals_", CertificateWarning
            )
        if not converged:
            warn(
                f"the sources did not settle, {self.stopping_}; raise max_iter or tol, or ask for "
                "fewer components: Gaussian sources cannot be told apart",
                NotConvergedWarning,
            )

    def _basis(self) -> Array:
        return np.asarray(self.mixing_.T)

    def _planned(self, rows: Any) -> Plan:
        k = counted_components(self.n_components, min(rows.shape[0] - 1, rows.shape[1]))
        found = plan_axes(rows, k, self.solver, self.memory)
        white = int(rows.shape[0] * k * np.dtype(rows.dtype).itemsize)
        passes = 1 + expected_passes(found, rows)
        return replace(found, bytes=found.bytes + white, passes=passes)

    def _keeps(self) -> dict[str, Any]:
        by_source = "explained_variance_", "explained_variance_ratio_", "negentropy_", "residuals_"
        return {
            **super()._keeps(),
            **dict.fromkeys(by_source, "k"),
            **dict.fromkeys(("mean_", "_mean_rest"), "p"),
            **dict.fromkeys(("components_", "whitening_"), "k p"),
            **dict.fromkeys(("_divisor", "tolerance_"), float),
            **dict.fromkeys(("n_iter_", "n_samples_"), int),
            "mixing_": "p k",
            "scale_": "p?",
            "stopping_": str,
            "plan_": Plan,
        }

    def _shown(self) -> dict[str, Any]:
        names = getattr(self, "feature_names_in_", None)
        lengths = np.linalg.norm(self.mixing_, axis=0)
        return {
            "eigenvalues": self.explained_variance_,
            "explained": self.explained_variance_ratio_,
            "residuals": self.residuals_,
            "tolerance": self.tolerance_,
            "plan": str(self.plan_),
            "variables": None if names is None else tuple(map(str, names)),
            "loadings": self.mixing_ / lengths,
            "measures": {"negentropy": tuple(map(float, self.negentropy_))},
            "notes": (
                "sources have variance 1; eigenvalue and share are the variance each brings to "
                "the data, and the residual is that of the whitening",
                f"ended {self.stopping_}",
            ),
        }


def _refuse_low_rank(axes: Axes, Y: Any) -> None:
    values = np.maximum(axes.pairs.values, 0.0)
    rounding = rank_tolerance(Y.shape, np.dtype(Y.dtype)) ** 2 * values[0]
    rank = int(np.sum(values > rounding))
    if rank < len(values):
        most = f"n_components={rank} or fewer" if rank else "data that vary"
        raise InputError(
            f"{len(values)} sources cannot be found in data of rank {rank}: the rest would be "
            f"rounding blown up to variance 1; ask for {most}, or drop dependent columns"
        )

"""Principal component analysis.

1. center     Y = X - 1 m', divided by standard deviations if scale="unit", weighted by row
2. pairs      Y'Y = V L V', largest first, each audited: from Y'Y, YY', or products with Y alone
3. variances  L / (n - ddof); their total is known from the columns, so shares need no more pairs
4. place      z = V'(x - m), any point; |x - m - V z| says how far outside the plane it lies

K. Pearson, On lines and planes of closest fit, Phil. Mag. 2 (1901); H. Hotelling, Analysis of a
complex of statistical variables into principal components, J. Educ. Psych. 24 (1933).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np

from gramian.data.door import Opened, as_numbers, open_rows
from gramian.data.moments import units_of
from gramian.errors import InputError
from gramian.inference.band import chance_band
from gramian.inference.choose import checked_components, share_reached
from gramian.inference.columns import permuting_bytes
from gramian.inference.horn import horn_components
from gramian.inference.minka import minka_dimension
from gramian.maps import Array
from gramian.memory import budget
from gramian.methods.embedder import generator, warn, weights_of
from gramian.methods.linear import LinearEmbedder, counting
from gramian.spectral.eigenpairs import symmetric
from gramian.spectral.plan import Plan, plan_axes
from gramian.spectral.principal import Axes, Covariance, principal_axes, principal_axes_until
from gramian.spectral.spread import expected


class PCA(LinearEmbedder):
    """Principal component analysis, certified.

    Parameters
    ----------
    n_components : int, float, "horn", "mle" or None
        How many axes. A number between 0 and 1 asks for that share of the variance; "horn" for as
        many as parallel analysis keeps (see ``gramian.parallel_analysis``), and at least one;
        "mle" for Minka's choice; ``None`` for all, min(n - 1, p).
    scale : {None, "unit"}
        "unit" divides each variable by its standard deviation (PCA of the correlation matrix).
    whiten : bool
        Divide coordinates by their standard deviation. Axes beyond the rank get zeros.
    ddof : int
        Variances divide by n - ddof: 1 as in scikit-learn and R's prcomp, 0 as in princomp.
    solver : {"auto", "dense", "krylov", "arpack"} or Solver
        "auto" lets the plan choose (see ``plan_``).
    memory : int, str or None
        Budget for work space, e.g. ``"4GB"``; by default 80 % of what is available.
    random_state : int, Generator, RandomState or None
        Start of the iterative solver. ``None`` means 0: the same answer every time.
    checkpoint : path, Checkpoint or None
        A file that keeps what was done, every 30 s and after each pass. A fit that was stopped,
        even killed, and is started again goes on from there and gives the same bits; the file is
        removed when the fit ends well.

    Attributes
    ----------
    components_ : array of shape (k, p)
        Axes, unit length, orthogonal; the largest entry of each is positive.
    explained_variance_, explained_variance_ratio_, singular_values_ : array of shape (k,)
    mean_, scale_ : array of shape (p,)
        ``scale_`` is ``None`` without scaling.
    n_components_, n_samples_, rank_ : int
        ``rank_`` counts the kept axes whose variance is more than rounding.
    noise_variance_ : float
        Mean variance of the directions left out.
    total_variance_ : float
    reconstruction_error_ : float
        Variance left out: the sum of all trailing eigenvalues.
    log_generalized_variance_ : float or None
        log det of the covariance; minus infinity if it is singular, ``None`` where that would have
        needed the whole spectrum of a large problem.
    correlations_, cos2_, contributions_ : array of shape (p, k)
        Of variables with axes.
    residuals_ : array of shape (k,)
        The certificate: |Y'Y v - l v| / l_1 of each axis, measured on the data.
    equal_axes_ : list of (int, int)
        First and last of axes with equal variance (to 1e-6 of the largest), whose directions within
        their plane are arbitrary.
    plan_ : Plan
        How it was computed.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import PCA
    >>> X = np.array([[2.5, 2.4], [0.5, 0.7], [2.2, 2.9], [1.9, 2.2], [3.1, 3.0]])
    >>> model = PCA(n_components=1).fit(X)
    >>> model.explained_variance_ratio_.round(3)
    array([0.97])
    >>> bool(model.residuals_.max() < 1e-12)
    True
    """

    axis_prefix = "PC"

    def __init__(
        self,
        n_components: int | float | str | None = None,
        *,
        scale: str | None = None,
        whiten: bool = False,
        ddof: int = 1,
        solver: Any = "auto",
        memory: Any = None,
        random_state: Any = None,
        checkpoint: Any = None,
    ) -> None:
        self.n_components = n_components
        self.scale = scale
        self.whiten = whiten
        self.ddof = ddof
        self.solver = solver
        self.memory = memory
        self.random_state = random_state
        self.checkpoint = checkpoint

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the axes of ``X``: array, frame, sparse matrix, or path.

        Parameters
        ----------
        X : (n, p) data
        y : ignored
        sample_weight : array of shape (n,), optional
            A weight of 2 counts as the row given twice.
        """
        opened = self._open(X, reset=True)
        weights = weights_of(sample_weight, opened.rows.shape[0])
        with self._checkpointed(opened, weights):
            self._fit(opened, weights)
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """``fit(X).transform(X)``."""
        return self.fit(X, sample_weight=sample_weight).transform(X)

    def _fit(self, opened: Opened, weights: Any = None) -> None:
        Y, total, weight, back, deviations = self._centering(opened, weights)  # 1
        n = max(Y.shape[0], int(weight))
        axes = self._axes(Y, min(n - 1, Y.shape[1]), total, weight)  # 2
        self._keep(counting(axes, Y), total, back, deviations, Y.dtype)  # 3

    def _planned(self, rows: Any) -> Plan:
        most = min(rows.shape[0] - 1, rows.shape[1])
        k = checked_components(self.n_components, most)
        if isinstance(k, float | str):  # decided on the way: as many as are looked at first
            k = most if most <= 600 or k == "mle" else 64
        found = expected(plan_axes(rows, k, self.solver, self.memory), rows, k)
        if self.n_components == "horn" and not hasattr(rows, "spread"):
            needed = permuting_bytes(rows.shape, budget(self.memory))
            found = replace(found, bytes=max(found.bytes, needed))
        return found

    def _axes(self, Y: Any, most: int, total: float, weight: float | None) -> Axes:
        """Step 2, for however ``n_components`` was said."""
        k = checked_components(self.n_components, most)
        how = {"solver": self.solver, "memory": self.memory, "rng": generator(self.random_state)}
        if isinstance(k, float):
            share = k
            found = principal_axes_until(Y, lambda v: share_reached(v, total, share), **how)
            return found.first(min(len(found.pairs), most))
        if k == "horn":
            if isinstance(Y, Covariance) or Y.centering.weight.size > 1:
                raise InputError(
                    "n_components='horn' permutes the columns of the data, so it needs the data "
                    "themselves and no sample_weight"
                )
            rng, kept = generator(self.random_state), 1
            if total > 0:
                kept = horn_components(Y, self.scale is not None, self.memory, rng)
            if kept == 0:
                warn(
                    "parallel analysis finds no axis beyond chance; one is kept so that there is "
                    "something to show"
                )
            return principal_axes(Y, max(kept, 1), **how)
        if isinstance(k, str):
            if weight is None or Y.shape[0] < Y.shape[1]:
                raise InputError(
                    "n_components='mle' needs to know the number of rows, and at least as many "
                    f"rows as columns; got {Y.shape}"
                )
            found = principal_axes(Y, Y.shape[1], **how)
            return found.first(minka_dimension(found.pairs.values / weight, round(weight)))
        return principal_axes(Y, k, **how)

    def _details(self, X: Any, Z: Array) -> dict[str, Any]:
        """Horn's band too, where ``X`` can be what was fitted, every row with the same weight."""
        n, found = self.n_samples_, super()._details(X, Z)
        if n is not None and n == len(Z) and self._divisor == n - self.ddof:
            how = {"scale": self.scale, "memory": self.memory, "random_state": 0}
            chance = chance_band(X, **how)
            units = (n - 1) / self._divisor if self.scale is None else 1.0
            found["chance"] = None if chance is None else chance.times(units)
        return found

    @classmethod
    def from_covariance(
        cls, S: Any, mean: Any = None, n_samples: int | None = None, **parameters: Any
    ) -> Self:
        """Fit to a covariance or correlation matrix, when that is all there is.

        Parameters
        ----------
        S : (p, p) array, frame or path
        mean : (p,), optional
            Zero if not given: coordinates are then of data already centered.
        n_samples : int, optional
            Without it ``singular_values_`` is ``None`` and ``n_components="mle"`` cannot be had.
        **parameters
            As for ``PCA``.
        """
        model, opened = cls(**parameters), open_rows(S)
        S = symmetric(
            opened.rows.read_rows(slice(0, opened.rows.shape[0])), "the covariance matrix"
        )
        p, deviations = len(S), np.sqrt(np.maximum(np.diag(S), 0.0))
        units = units_of(model.scale, deviations, opened.columns)
        model.mean_ = np.zeros(p) if mean is None else as_numbers(np.atleast_2d(mean))[0] * 1.0
        if len(model.mean_) != p:
            raise InputError(f"mean has {len(model.mean_)} entries for {p} variables")
        model._mean_rest, model.n_samples_, model.n_features_in_ = np.zeros(p), n_samples, p
        model.scale_ = None if model.scale is None else units
        if opened.columns is not None:
            model.feature_names_in_ = np.asarray(opened.columns, dtype=object)
        model._divisor = 1.0 if n_samples is None else model._checked_divisor(n_samples)
        Y = Covariance(S / np.outer(units, units) * model._divisor)
        most = p if n_samples is None else min(n_samples - 1, p)
        total = float(np.trace(Y.S))
        axes = model._axes(Y, most, total, n_samples)
        if axes.pairs.values[-1] < -1e-8 * axes.pairs.scale:
            raise InputError(
                f"the covariance matrix has the negative eigenvalue {axes.pairs.values[-1]:.3g}, "
                "so it is no covariance; was it computed pair by pair, around missing values?"
            )
        model._keep(axes, total, 1.0, deviations, np.float64)
        if n_samples is None:
            model.singular_values_ = None
        return model

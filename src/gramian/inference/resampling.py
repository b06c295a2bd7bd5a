"""How sure: bootstrap and jackknife of eigenvalues, loadings and coordinates.

1. reduce      Z = Y V, all axes of the data: r numbers a row, and nothing is lost
2. resample    rows drawn with replacement, n of them (bootstrap), or one group left out (jackknife)
3. refit       mean m and covariance of the resample,  S = A L A'
4. align       A Q with Q the rotation that brings A nearest to the axes of the data (Procrustes):
               order, sign and turns within equal eigenvalues are not differences
5. gather      eigenvalues L; loadings V A Q; coordinates of all rows (Z - 1 m') A Q

Bootstrap intervals of eigenvalues are studentized on the scale of log l: t* = (log l* - log l) / s*
and the limits are log l - s t*. The largest eigenvalue of a sample is too large on average, and
that of a resample is too large once more: plain percentiles would lie too high and cover too
seldom. The standard error s of log l_j needs no fits of its own, since to first order one row
changes l_j by z_j^2 - l_j. Jackknife intervals are normal on the scale of log l.

B. Efron & R. J. Tibshirani, An Introduction to the Bootstrap (1993); L. Milan & J. Whittaker,
Applied Statistics 44 (1995), for the rotation.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.errors import GramianWarning, InputError
from gramian.inference.choose import checked_count, checked_level
from gramian.inference.null import seed_of
from gramian.inference.spectrum import Centered, center
from gramian.inference.uncertainty import Uncertainty, close_axes, said_close
from gramian.loops.threads import one_blas_thread, run
from gramian.maps import Array

_groups = 16  # running totals of the coordinates' spread, added in a fixed order


def bootstrap(
    X: Any,
    n_components: int = 2,
    *,
    n_resamples: int = 999,
    level: float = 0.95,
    scale: str | None = None,
    memory: Any = None,
    random_state: Any = None,
) -> Uncertainty:
    """Standard errors and intervals from rows drawn again with replacement.

    Parameters
    ----------
    X : array, frame, sparse matrix or path
    n_components : int
        How many axes.
    n_resamples : int
    level : float
        Of the intervals.
    scale : {None, "unit"}
        "unit" scales by the standard deviations of the whole sample, once.
    memory : int, str or None
    random_state : int, Generator, RandomState or None
        ``None`` means 0.
    """
    B = checked_count(n_resamples, "n_resamples", 20)
    level, seed = checked_level(level), seed_of(random_state)
    fit = Reduced.of(center(X, scale, memory), n_components)
    n = len(fit.Z)

    def weights(b: int) -> Array:
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(b,)))
        return np.bincount(rng.integers(n, size=n), minlength=n)

    values, logs, loadings, covariances = fit.resampled(weights, B)
    error = _log_error(fit.Z[:, : len(fit.values)], 1.0, fit.values)
    low, high = _studentized(values, logs, fit.values, error, level)
    return fit.result(
        values.std(axis=0, ddof=1), values.mean(axis=0) - fit.values, low, high,
        loadings * np.sqrt(B / (B - 1)), covariances * (B / (B - 1)), level, B, "bootstrap",
    )  # fmt: skip


def jackknife(
    X: Any,
    n_components: int = 2,
    *,
    n_groups: int | None = None,
    level: float = 0.95,
    scale: str | None = None,
    memory: Any = None,
    random_state: Any = None,
) -> Uncertainty:
    """Standard errors, bias and intervals from leaving out rows.

    Parameters
    ----------
    X : array, frame, sparse matrix or path
    n_components : int
    n_groups : int, optional
        Rows are left out in this many groups, at random; by default one by one up to 500 rows.
    level, scale, memory, random_state
        As for ``bootstrap``.
    """
    level, seed = checked_level(level), seed_of(random_state)
    fit = Reduced.of(center(X, scale, memory), n_components)
    n = len(fit.Z)
    if n < 3:
        raise InputError(f"the jackknife needs at least 3 rows, got {n}")
    G = min(n, 500 if n_groups is None else checked_count(n_groups, "n_groups", 2))
    group = np.arange(n) if n == G else np.random.default_rng(seed).permutation(n) % G
    values, _, loadings, covariances = fit.resampled(lambda g: (group != g).astype(np.float64), G)
    center_of = values.mean(axis=0)
    errors = np.sqrt((G - 1) / G * np.sum((values - center_of) ** 2, axis=0))
    from scipy.special import ndtri

    reach = ndtri((1 + level) / 2) * np.divide(
        errors, fit.values, out=np.zeros_like(errors), where=fit.values > 0
    )
    return fit.result(
        errors, (G - 1) * (center_of - fit.values),
        fit.values * np.exp(-reach), fit.values * np.exp(reach),
        loadings * np.sqrt(G - 1), covariances * (G - 1), level, G, "jackknife",
    )  # fmt: skip


@dataclass(frozen=True)
class Reduced:
    """Rows on all their axes (n x r), the axes (p x r), and the first k + 1 variances."""

    data: Centered
    Z: Array
    V: Array
    values: Array
    k: int

    @staticmethod
    def of(data: Centered, k: Any) -> Reduced:
        """Step 1."""
        n, p = data.shape
        most = min(n - 1, p)
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or not 1 <= k <= most:
            raise InputError(
                f"n_components={k!r}: give a whole number from 1 to {most} (the most these data "
                "allow)"
            )
        if data.rank < k:
            raise InputError(
                f"the data have rank {data.rank}: there is nothing to be sure of on "
                f"{int(k)} axes; ask for at most {data.rank}"
            )
        V = data.axes(data.rank)
        V = V * np.where(V[np.argmax(np.abs(V), axis=0), np.arange(V.shape[1])] < 0, -1, 1)
        Z = np.ascontiguousarray((V.T @ data.columns.read(0, p)).T)
        return Reduced(data, Z, V, data.values[: min(int(k) + 1, data.rank)] / (n - 1), int(k))

    def resampled(self, weights: Any, count: int) -> tuple[Array, Array, Array, Array]:
        """Of all resamples: eigenvalues, errors of their logs; spread of loadings and of rows.

        The last is the mean over resamples of (z* - mean z*)(z* - mean z*)' of each row.
        """
        Z, k, wanted = self.Z, self.k, len(self.values)
        n = len(Z)
        values, logs = np.empty((2, count, wanted))
        groups = min(_groups, count)
        bounds = [count * g // groups for g in range(groups + 1)]
        moved = np.zeros((groups, 2, len(self.V), k))
        spread = np.zeros((groups, n, k + k * k))

        def piece(g: int) -> None:
            for b in range(bounds[g], bounds[g + 1]):
                w = weights(b)  # 2
                values[b], A, mean = _refit(Z, w, wanted)  # 3
                logs[b] = _log_error((Z - mean) @ A[:, :wanted], w, values[b])
                turned = A[:, :k] @ _nearest(A[:k, :k])  # 4
                loadings = self.V @ turned - self.V[:, :k]
                moved[g] += loadings, loadings**2
                z = (Z - mean) @ turned - Z[:, :k]  # 5
                spread[g, :, :k] += z
                spread[g, :, k:] += (z[:, :, None] * z[:, None, :]).reshape(n, k * k)

        with one_blas_thread():
            run(piece, groups)
        first, second = moved.sum(axis=0) / count
        total = spread.sum(axis=0) / count
        mean = total[:, :k]
        covariances = total[:, k:].reshape(n, k, k) - mean[:, :, None] * mean[:, None, :]
        return values, logs, np.sqrt(np.maximum(second - first**2, 0.0)), covariances

    def result(
        self,
        errors: Array,
        bias: Array,
        low: Array,
        high: Array,
        loadings_errors: Array,
        covariances: Array,
        level: float,
        count: int,
        kind: str,
    ) -> Uncertainty:
        """In the units of the data; warns of axes that cannot be told apart."""
        n, k = len(self.Z), self.k
        unit = 1 / (self.data.columns.gain * self.data.back)
        near = close_axes(self.values, errors)
        if near:
            warnings.warn(said_close(near), GramianWarning, stacklevel=3)
        return Uncertainty(
            eigenvalues=self.data.in_units(self.values[:k] * (n - 1)),
            errors=self.data.in_units(errors[:k] * (n - 1)),
            bias=bias[:k] * unit * unit,
            low=self.data.in_units(low[:k] * (n - 1)),
            high=self.data.in_units(high[:k] * (n - 1)),
            loadings=self.V[:, :k],
            loadings_errors=loadings_errors,
            coordinates=self.Z[:, :k] * unit,
            covariances=covariances * unit * unit,
            close_axes=near,
            level=level,
            n_resamples=count,
            kind=kind,
        )


def _refit(Z: Array, w: Array, k: int) -> tuple[Array, Array, Array]:
    """Top k eigenvalues, eigenvectors and mean of rows with whole-number weights (step 3)."""
    total = float(w.sum())
    mean = (w @ Z) / total
    Y = (Z - mean) * np.sqrt(w)[:, None]
    values, A = np.linalg.eigh(Y.T @ Y / (total - 1))
    return values[::-1][:k], A[:, ::-1], mean


def _nearest(A: Array) -> Array:
    """The rotation Q that brings A Q nearest to the identity."""
    P, _, R = np.linalg.svd(A.T)
    return np.asarray(P @ R)


def _log_error(Z: Array, w: Any, values: Array) -> Array:
    """Standard error of log l_j from the rows' coordinates, to first order."""
    influence = Z**2 - values
    size = np.sqrt(np.sum(np.asarray(w).reshape(-1, 1) * influence**2, axis=0)) / len(Z)
    return np.divide(size, values, out=np.full_like(values, np.inf), where=values > 0)


def _studentized(
    values: Array, errors: Array, estimate: Array, error: Array, level: float
) -> tuple[Array, Array]:
    """Limits of each eigenvalue from (log l* - log l) / s*."""
    safe = np.finfo(np.float64).tiny
    t = np.log(np.maximum(values, safe) / np.maximum(estimate, safe)) / errors
    high, low = np.quantile(t, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return estimate * np.exp(-low * error), estimate * np.exp(-high * error)

"""Pictures to begin with, and how a finished one is laid out."""

from __future__ import annotations

import numpy as np

from gramian.errors import InputError
from gramian.loops.stochastic import anneal
from gramian.maps import Array
from gramian.scaling.choices import STARTS

__all__ = [
    *("completed", "filled_axes", "given_picture", "scattered", "scattered_or_annealed"),
    *("typical", "upright"),
]


def typical(D: Array) -> float:
    """Root mean square of (some of) the distances."""
    some = D[: max(1, 200_000 // len(D))].astype(np.float64)
    return float(np.sqrt(np.nanmean(some**2)))


def scattered(D: Array, k: int, rng: np.random.Generator) -> Array:
    """Points at random, about as far apart as they should be."""
    return np.asarray(rng.standard_normal((len(D), k)) * (typical(D) / np.sqrt(2 * k)))


def filled_axes(Z: Array, D: Array, rng: np.random.Generator) -> Array:
    """Z with a little noise on axes that are empty, unless it is right as it is.

    Descent cannot leave a flat picture.
    """
    size, noise = np.ptp(Z, axis=0), rng.standard_normal(Z.shape)
    empty = size <= 1e-9 * size.max()
    if not empty.any() or _exact(Z, D):
        return Z
    return np.asarray(np.where(empty, 1e-2 * noise * (typical(D) / np.sqrt(2 * Z.shape[1])), Z))


def _exact(Z: Array, D: Array) -> bool:
    """Whether (some of) the distances in the picture are those given."""
    some = np.linspace(0, len(Z) - 1, min(len(Z), 300)).astype(int)
    d = np.linalg.norm(Z[some, None] - Z[some], axis=2)
    return bool(np.nanmax(np.abs(d - D[np.ix_(some, some)])) <= 1e-5 * typical(D))


def completed(D: Array) -> Array:
    """D with each missing distance replaced by the mean of what its two points have."""
    unknown = np.isnan(D)
    if not unknown.any():
        return D
    means = np.nanmean(np.where(np.eye(len(D), dtype=bool), np.nan, D), axis=1)
    return np.where(unknown, (means[:, None] + means) / 2, D).astype(D.dtype)


def given_picture(init: object, n: int, k: int) -> Array:
    """Coordinates of the user's, if they are fit to begin with."""
    Z = np.asarray(init)
    if Z.shape != (n, k) or Z.dtype.kind not in "fiub" or not np.isfinite(Z).all():
        raise InputError(
            f"init must be one of {STARTS} or {n} x {k} finite coordinates, got shape {Z.shape}"
        )
    return Z


def scattered_or_annealed(
    D: Array, W: Array | None, k: int, rng: np.random.Generator, *, annealed: bool
) -> Array:
    """A random picture, or what stochastic descent makes of it."""
    Z = scattered(D, k, rng)
    return anneal(D, Z, rng, None if W is None else W / W.dtype.type(W.mean())) if annealed else Z


def upright(Z: Array) -> Array:
    """The picture about its mean, turned to its principal axes."""
    Z = Z - Z.mean(axis=0)
    return np.asarray(Z @ np.linalg.eigh(Z.T @ Z)[1][:, ::-1])

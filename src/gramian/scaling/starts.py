"""Pictures to begin with, and how a finished one is laid out."""

from __future__ import annotations

import numpy as np

from gramian.errors import InputError
from gramian.maps import Array

__all__ = ["completed", "filled_axes", "scattered", "typical", "upright", "whole"]


def typical(D: Array) -> float:
    """Root mean square of (some of) the distances."""
    some = D[: max(1, 200_000 // len(D))].astype(np.float64)
    return float(np.sqrt(np.nanmean(some**2)))


def scattered(D: Array, k: int, rng: np.random.Generator) -> Array:
    """Points at random, about as far apart as they should be."""
    return np.asarray(rng.standard_normal((len(D), k)) * (typical(D) / np.sqrt(2 * k)))


def filled_axes(Z: Array, D: Array, rng: np.random.Generator) -> Array:
    """Z with a little noise on axes that are empty: descent cannot leave a flat picture."""
    empty = np.ptp(Z, axis=0) <= 1e-9 * typical(D)
    return np.asarray(np.where(empty, 1e-2 * scattered(D, Z.shape[1], rng), Z))


def completed(D: Array) -> Array:
    """D with each missing distance replaced by the mean of what its two points have."""
    unknown = np.isnan(D)
    if not unknown.any():
        return D
    means = np.nanmean(np.where(np.eye(len(D), dtype=bool), np.nan, D), axis=1)
    return np.where(unknown, (means[:, None] + means) / 2, D).astype(D.dtype)


def whole(D: Array, W: Array | None) -> int:
    """How many distances are missing or count nothing; the known ones must hold all together."""
    counts = np.isfinite(D) if W is None else np.isfinite(D) & (W > 0)
    n = len(D)
    lacking = (n * n - int(np.count_nonzero(counts | np.eye(n, dtype=bool)))) // 2
    if lacking:
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        parts, which = connected_components(csr_array(counts.astype(np.int8)), directed=False)
        if parts > 1:
            first = int(np.flatnonzero(which != which[0])[0])
            raise InputError(
                f"the known distances fall into {parts} parts with nothing known between them "
                f"(points 0 and {first}, counted from 0, are in different ones); a picture needs "
                "at least one distance between any two parts: fill some in, or scale each part"
            )
    return lacking


def upright(Z: Array) -> Array:
    """The picture about its mean, turned to its principal axes."""
    Z = Z - Z.mean(axis=0)
    return np.asarray(Z @ np.linalg.eigh(Z.T @ Z)[1][:, ::-1])

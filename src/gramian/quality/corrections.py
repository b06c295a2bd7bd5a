"""Distances made Euclidean before they are scaled, and new points treated the same.

    lingoes    the smallest c added to -1/2 of every squared distance: d^2 + 2 c
    cailliez   the smallest c added to every distance: d + c
               (both to every pair of points, equal ones too, as R does)
    sqrt       the square root of every distance

Distances are first multiplied by a power of two (``unit``) that keeps their squares in range.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.errors import InputError
from gramian.maps import Array, unit_for
from gramian.quality.euclidean import cailliez, lingoes
from gramian.show.text import number

CORRECTIONS = (None, "lingoes", "cailliez", "sqrt")
_same = 2.0**-44  # a distance below this share of the largest is 0 but for rounding


@dataclass(frozen=True)
class Corrected:
    """Distances, what they were multiplied by, and the constant added, in units of the original."""

    D: Any
    unit: float
    constant: float


def checked_correction(correction: Any) -> None:
    """Refuse what is none."""
    if correction not in CORRECTIONS:
        raise InputError(f"correction={correction!r}: use one of {CORRECTIONS}")


def corrected(D: Any, correction: str | None) -> Corrected:
    """D mended and brought into the range where squares are safe."""
    if not isinstance(D, np.ndarray):
        if correction is not None:
            raise InputError(
                "a correction needs the whole matrix in memory; raise memory=, or use "
                "gramian.quality.euclidean on a part of the points"
            )
        return Corrected(D, 1.0, 0.0)
    peak = float(D.max())
    if not peak > 0:
        raise InputError("all distances are 0: all points are equal, nothing to embed")
    unit = unit_for(peak, D.dtype)
    D = D * D.dtype.type(unit) if unit != 1 else D
    if correction == "sqrt":
        return Corrected(np.sqrt(D) * D.dtype.type(np.sqrt(unit)), unit, 0.0)
    if correction is None:
        return Corrected(D, unit, 0.0)
    repaired = (lingoes if correction == "lingoes" else cailliez)(D)
    constant = repaired.amount / unit / (unit if correction == "lingoes" else 1)
    return Corrected(repaired.D.astype(D.dtype, copy=False), unit, constant)


def corrected_rows(
    d: Array, correction: str | None, constant: float, unit: float
) -> tuple[Array, Array]:
    """-1/2 d∘d of distances of new points to the training points, corrected as those were.

    A new point at distance 0 to a training point is that point. Where it is 0 to m of them, which
    the constant has moved apart by s, nothing tells which of them it is: the rows are those of
    their mean, whose squared distances are the means of theirs less s^2 (m - 1) / 2m.

    Returns
    -------
    rows : array of shape (m, n)
    equal : array of shape (m,)
        How many training points each new point is equal to (where a constant was added).
    """
    d = np.asarray(d, np.float64) * unit
    if correction == "sqrt":
        d = np.sqrt(d) * np.sqrt(unit)
    if correction not in ("cailliez", "lingoes") or not constant:
        return -0.5 * d * d, np.zeros(len(d), int)
    same = d <= _same * d.max(axis=1, keepdims=True, initial=0.0)
    if correction == "cailliez":
        apart = (constant * unit) ** 2
        rows = -0.5 * np.square(d + constant * unit)
    else:
        apart = 2 * constant * unit * unit
        rows = -0.5 * (d * d + apart)
    equal = same.sum(axis=1)
    others = apart * (1 - 1 / np.maximum(equal, 1))
    return np.where(same, -0.5 * others[:, None], rows) + 0.25 * others[:, None], equal


def corrected_distances(d: Array, correction: str | None, constant: float) -> Array:
    """Distances of pairs of points as they were scaled."""
    if correction == "sqrt":
        return np.asarray(np.sqrt(d))
    if correction == "cailliez":
        return d + constant
    return np.asarray(np.sqrt(d**2 + 2 * constant)) if correction == "lingoes" else d


def correction_said(correction: str, constant: float) -> str:
    """What a correction did, in a sentence."""
    if correction == "sqrt":
        return "correction: square roots of the distances were scaled"
    what = "squared distance" if correction == "lingoes" else "distance"
    added = constant * (2 if correction == "lingoes" else 1)
    if not added:
        return "correction: none was needed"
    return f"correction ({correction.capitalize()}): {number(added)} added to every {what}"

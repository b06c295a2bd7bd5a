"""Distances that are not Euclidean, made Euclidean, with the least change of four kinds.

cailliez   D_ij + c                 the smallest c for which all points fit (i != j)
lingoes    sqrt(D_ij^2 + 2 c)       c = -(smallest eigenvalue of B = -1/2 H D^2 H)
power      D_ij^p                   the largest p <= 1; a Schoenberg transform, so any smaller works
clip       from B without its negative eigenvalues: nearest in the sum of squares of B

Cailliez' constant. (D + c)^2 has the Gram matrix Q(c) = B_1 + 2 c B_2 + c^2/2 I on vectors with
1'v = 0, B_1 and B_2 being those of D^2 and D. Q(c) is p.s.d. from c* on.

1. start     c = 0
2. vector    v = eigenvector of the smallest eigenvalue of Q(c)
3. bound     v'Q(x) v = b_1 + 2 x b_2 + x^2/2 >= 0 must hold at c*, so c* >= the larger root;
             take it as the next c and go to 2, until it grows no more

Every c is a proven lower bound, and the steps converge quadratically. (The classical way, the
largest real eigenvalue of the 2n x 2n matrix [0, 2 B_1; -I, -4 B_2], gives the same number at
several times the cost; the tests compare.)

Cailliez, Psychometrika 48 (1983); Lingoes, Psychometrika 36 (1971).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.errors import InputError
from gramian.maps import Array
from gramian.quality.definiteness import (
    centered,
    conditionally_negative_definite,
    eps_of,
    scaled,
    smallest_pair,
)
from gramian.show.text import count, number, percent


@dataclass(frozen=True)
class Repair:
    """Distances made Euclidean.

    Attributes
    ----------
    method : str
    D : ndarray of shape (n, n)
        The repaired distances.
    amount : float
        The constant c (cailliez, lingoes), the power p, or the share of the spectrum that was cut
        off (clip); 0, 1 and 0 where nothing had to be changed.
    sentence : str
        What was changed.
    """

    method: str
    D: Array
    amount: float
    sentence: str

    def __str__(self) -> str:
        return self.sentence


def cailliez(D: Any, memory: Any = None) -> Repair:
    """Add the smallest constant to all distances off the diagonal, those of 0 too (as R does)."""
    D, _, unit = scaled(D, memory, 6)
    c = cailliez_constant(D, memory)
    out = np.asarray(D, dtype=np.float64) + c
    share = percent(c / _mean(D))
    sentence = f"Cailliez: {number(c / unit)} added to every distance ({share} of their mean)"
    return _repair("cailliez", out, c / unit, unit, D.dtype, sentence, changed=c > 0)


def cailliez_constant(D: Array, memory: Any = None) -> float:
    """The smallest c for which D + c (off the diagonal) is Euclidean; 0 if D is."""
    if conditionally_negative_definite(np.square(D), memory).holds:
        return 0.0
    n, E = len(D), np.asarray(D, dtype=np.float64)
    B1, B2 = centered(E**2), centered(E)
    c = 0.0  # 1
    for _ in range(100):
        Q = B1 + 2 * c * B2 + float(E.max()) ** 2  # a multiple of 1 1': 1 is out of the way
        Q[np.diag_indices(n)] += c**2 / 2
        _, v, _ = smallest_pair(Q, 2.0**-52, memory)  # 2
        v = v - v.mean()
        v /= np.linalg.norm(v)
        b1, b2 = float(v @ B1 @ v), float(v @ B2 @ v)
        bound = -2 * b2 + float(np.sqrt(max(4 * b2**2 - 2 * b1, 0.0)))  # 3
        if not bound > c * (1 + 4 * 2.0**-52):
            break
        c = bound
    return c


def lingoes(D: Any, memory: Any = None) -> Repair:
    """Add the smallest constant to all squared distances off the diagonal, those of 0 too."""
    D, _, unit = scaled(D, memory)
    verdict = conditionally_negative_definite(np.square(D), memory)
    c = 0.0 if verdict.holds else -verdict.smallest
    out = np.sqrt(np.square(D, dtype=np.float64) + 2 * c)
    sentence = (
        f"Lingoes: {number(2 * c / unit / unit)} added to every squared distance "
        f"({percent(2 * c / _mean(D.astype(np.float64) ** 2))} of their mean)"
    )
    return _repair("lingoes", out, c / unit / unit, unit, D.dtype, sentence, changed=c > 0)


def power(D: Any, memory: Any = None) -> Repair:
    """Raise all distances to the largest power p <= 1 that makes them Euclidean."""
    D, _, unit = scaled(D, memory)
    p = power_exponent(D, memory)
    out = np.asarray(D, dtype=np.float64) ** p * float(unit) ** (1 - p)  # undone with the unit
    sentence = f"power: every distance raised to the power {number(p)}"
    return _repair("power", out, p, unit, D.dtype, sentence, changed=p < 1)


def power_exponent(D: Array, memory: Any = None) -> float:
    """The largest p <= 1, to 8 digits, for which D^p is Euclidean, by bisection."""
    if conditionally_negative_definite(np.square(D), memory).holds:
        return 1.0
    _refuse_twins(D)
    low, high = 0.5, 1.0
    while not _euclidean(D, low):
        low, high = low / 2, low
        if low < 1e-6:
            raise InputError("no power above 1e-6 makes these distances Euclidean; use cailliez")
    while high - low > 1e-8 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if _euclidean(D, middle) else (low, middle)
    return low


def _euclidean(D: Array, p: float) -> bool:
    """Whether D^p is Euclidean, by Cholesky: the last point as origin (alpha its unit vector)."""
    n = len(D)
    C = np.asarray(D, dtype=np.float64) ** (2 * p)
    B = 0.5 * (C[:-1, -1:] + C[-1:, :-1] - C[:-1, :-1])
    B[np.diag_indices(n - 1)] += n * 2.0**-52 * float(C.max())
    try:
        np.linalg.cholesky(B)
    except np.linalg.LinAlgError:
        return False
    return True


def _refuse_twins(D: Array) -> None:
    """Two points at distance 0 with other distances to a third: no power separates them."""
    for i, j in np.argwhere(np.triu(D == 0, 1)):
        k = int(np.argmax(np.abs(D[i] - D[j])))
        if D[i, k] != D[j, k]:
            raise InputError(
                f"points {i} and {j} (counted from 0) have distance 0 but other distances to point "
                f"{k}: no power of the distances is Euclidean; use cailliez or lingoes"
            )


def clip(D: Any, memory: Any = None) -> Repair:
    """Leave out what the negative eigenvalues of the Gram matrix stand for."""
    D, _, unit = scaled(D, memory, 6)
    B = centered(np.square(D, dtype=np.float64))
    values, V = np.linalg.eigh(B)
    slack = max(8, len(D)) * eps_of(D.dtype) * float(np.abs(values).max())
    negative = values < -slack
    share = float(-values[negative].sum() / np.abs(values).sum())
    if not negative.any():
        return _repair("clip", D.astype(np.float64), 0.0, unit, D.dtype, "clip", changed=False)
    Z = V[:, values > 0] * np.sqrt(values[values > 0])
    lengths = np.einsum("ij,ij->i", Z, Z)
    out = np.sqrt(np.maximum(lengths[:, None] + lengths - 2 * (Z @ Z.T), 0))
    root = float(np.sqrt(np.mean(np.square(out - D)[np.triu_indices(len(D), 1)])))
    sentence = (
        f"clip: {count(int(negative.sum()), 'negative eigenvalue')} set to 0 ({percent(share)} of "
        f"the spectrum); distances change by {number(root / unit)} (root mean square)"
    )
    return _repair("clip", out, share, unit, D.dtype, sentence, changed=True)


def _repair(
    method: str,
    out: Array,
    amount: float,
    unit: float,
    dtype: Any,
    sentence: str,
    *,
    changed: bool,
) -> Repair:
    """Undo the scaling, and say so where nothing had to be done."""
    out = out / unit
    out = np.asarray((out + out.T) / 2, dtype=dtype)
    np.fill_diagonal(out, 0)
    if not changed:
        sentence = f"{method}: nothing changed, the distances are Euclidean"
    return Repair(method, out, amount, sentence)


def _mean(D: Array) -> float:
    n = len(D)
    return float(D.sum(dtype=np.float64)) / (n * (n - 1))

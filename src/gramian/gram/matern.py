"""The Matern function of a distance, for any smoothness, without overflow.

    k(s) = 2^(1 - nu) / Gamma(nu) s^nu K_nu(s),  s = sqrt(2 nu) r           k(0) = 1
    smoothness 1/2, 3/2, 5/2   a polynomial times exp(-s)
    below 25                   Bessel's K; where that overflows k is 1 - s^2 / (4 (nu - 1))
    from 25 on                 K's uniform expansion for large orders: with z = s / nu,
                               t = sqrt(1 + z^2) and w = t - 1,
                               k = exp(nu (log(1 + w / 2) - w)) / sqrt(t) u(1 / t) / u(1),
                               u(q) = sum of (-1)^j U_j(q) / nu^j, good to 1e-13
    infinite                   exp(-r^2 / 2)

DLMF 10.41.4 and 10.41.10; F. W. J. Olver, Asymptotics and special functions (1974), chapter 10.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial

from gramian.maps import Array

_large = 25.0  # the order from which the expansion is used
_terms = 9
_far = 1000.0  # where k is 0 for all orders below that


def matern_of_squares(squares: Array, g: float, nu: float) -> Array:
    """k of r = sqrt(g) d, from the squares of distances d."""
    if nu not in (0.5, 1.5, 2.5):
        squares = squares.astype(np.float64, copy=False)  # Bessel's functions overflow in float32
    if nu == np.inf:
        return np.exp(squares * (-g / 2))
    if nu >= _large:
        return _of_large_order(squares * (2 * g / nu), nu)
    with np.errstate(over="ignore"):
        s: Array = squares * (2 * nu * g)
    np.sqrt(s, out=s)
    if s.max(initial=0.0) > _far:  # looking is quicker than writing
        np.minimum(s, _far, out=s)
    if nu in (0.5, 1.5, 2.5):
        head: Any = {0.5: 1.0, 1.5: 1 + s, 2.5: 1 + s + s * s / 3}[nu]
        np.negative(s, out=s)
        np.exp(s, out=s)
        s *= head
        return s
    from scipy.special import gamma, kv

    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        found = 2 ** (1 - nu) / gamma(nu) * s**nu * kv(nu, s)
    near = 1 - s * s / (4 * (nu - 1)) if nu > 2 else 1.0
    return np.where(np.isfinite(found), found, near)


def _of_large_order(zz: Array, nu: float) -> Array:
    t = np.sqrt(1 + zz)
    w = zz / (1 + t)
    u = Polynomial([0.0])
    for j, term in enumerate(_debye()):
        u += term * (-1 / nu) ** j
    return np.asarray(np.exp(nu * (np.log1p(w / 2) - w)) / np.sqrt(t) * (u(1 / t) / u(1.0)))


@cache
def _debye() -> list[Polynomial]:
    """The polynomials U_j of the expansion."""
    found = [Polynomial([1.0])]
    for _ in range(_terms - 1):
        last = found[-1]
        slope = Polynomial([0, 0, 0.5, 0, -0.5]) * last.deriv()
        found.append(slope + (Polynomial([0.125, 0, -0.625]) * last).integ())
    return found

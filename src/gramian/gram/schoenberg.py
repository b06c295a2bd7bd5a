"""Schoenberg transforms: functions that turn squared distances into squared distances again.

    Phi(t) = integral over lambda from 0 to infinity of (1 - exp(-lambda t)) / lambda  g(d lambda)

for a measure g >= 0 with  integral_0^1 g + integral_1^oo g / lambda  finite. These are exactly the
Bernstein functions with Phi(0) = 0: Phi >= 0 and Phi' completely monotone. Where t is the squared
distance of points in Euclidean space, so is Phi(t), and only these functions do that for every set
of points. All functions here take finite squared distances, of any shape, and return float64.

0. linear        t                     g = delta at 0
1. exponential   (1 - exp(-a t)) / a   g = delta at a
2. logarithm     ln(1 + t / a)         g = exp(-a lambda)
3. rational      t / (a (a + t))       g = lambda exp(-a lambda)
4. power         t^p,  0 < p < 1       g = p / Gamma(1 - p)  lambda^-p
5. bernstein     any g                 by quadrature

I. J. Schoenberg, Annals of Mathematics 39 (1938) 811-841.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from gramian.errors import InputError
from gramian.maps import Array

__all__ = ["bernstein", "exponential", "linear", "logarithm", "power", "rational"]

_block = 4096  # squared distances at a time in the quadrature
_real = (int, float, np.integer, np.floating)
_first, _last = 4, 10  # steps of the quadrature: 2^-4 first, 2^-10 at the finest


def linear(t: Array) -> Array:
    """Phi_0(t) = t."""
    return _squares(t)


def exponential(t: Array, a: float = 1.0) -> Array:
    """Phi_1(t) = (1 - exp(-a t)) / a: never more than 1 / a, however far apart two points are."""
    _positive("a", a)
    return np.asarray(-np.expm1(-a * _squares(t)) / a)


def logarithm(t: Array, a: float = 1.0) -> Array:
    """Phi_2(t) = ln(1 + t / a): linear below a, slow above."""
    _positive("a", a)
    return np.asarray(np.log1p(_squares(t) / a))


def rational(t: Array, a: float = 1.0) -> Array:
    """Phi_3(t) = t / (a (a + t)): never more than 1 / a."""
    _positive("a", a)
    t = _squares(t)
    return np.asarray(t / (a + t) / a)


def power(t: Array, p: float = 0.5) -> Array:
    """Phi_4(t) = t^p with 0 < p <= 1; on distances (not squared) it is the same power."""
    if not isinstance(p, _real) or not 0 < p <= 1:
        raise InputError(f"p={p!r}: t^p is a Schoenberg transform for 0 < p <= 1 only")
    return np.asarray(_squares(t) ** p)


def bernstein(
    g: Callable[[Array], Array] | None = None,
    *,
    drift: float = 0.0,
    atoms: Iterable[tuple[float, float]] = (),
    tol: float = 1e-10,
) -> Callable[[Array], Array]:
    """The Schoenberg transform of any measure: a density, point masses, and a mass at 0.

    Parameters
    ----------
    g : function of an array, optional
        The density of the measure at lambda > 0; not negative.
    drift : float
        The mass at 0, which adds ``drift * t``.
    atoms : pairs (lambda, mass)
        Point masses at lambda > 0; each adds mass (1 - exp(-lambda t)) / lambda.
    tol : float
        Relative accuracy of the integral.

    Returns
    -------
    function
        From squared distances to squared distances.

    Raises
    ------
    InputError
        At the call, where g is negative somewhere, where its integral does not exist (near 0, or
        divided by lambda near infinity), or where it cannot be had to ``tol``.

    Notes
    -----
    With lambda = exp(pi/2 sinh u) / t_0 the integrand dies off double exponentially on both sides,
    so equal steps in u converge fast even where g has a singularity at 0; t_0 is the median of the
    given t. The step is halved until the integral for the smallest, the median and the largest t
    agree to ``tol``.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.gram import schoenberg
    >>> Phi = schoenberg.bernstein(lambda x: np.exp(-2 * x))
    >>> bool(np.isclose(Phi(np.array([3.0]))[0], np.log(1 + 3 / 2), rtol=1e-12))
    True
    """
    try:
        masses = tuple((float(place), float(mass)) for place, mass in atoms)
    except (TypeError, ValueError) as error:
        raise InputError(f"atoms={atoms!r}: pairs (lambda, mass) of numbers are needed") from error
    if not isinstance(drift, _real) or not np.isfinite(drift) or drift < 0:
        raise InputError(f"drift={drift!r}: the mass at 0 must be finite and not negative")
    if g is not None and not callable(g):
        raise InputError(f"g={g!r}: the density must be a function of an array of lambda > 0")
    _positive("tol", tol)
    for place, mass in masses:
        _positive("the place of an atom", place)
        if not np.isfinite(mass) or mass < 0:
            raise InputError(f"atom at {place:g}: its mass {mass!r} must not be negative")

    def transform(t: Array) -> Array:
        t = _squares(t)
        out = drift * t
        for place, mass in masses:
            out = out + mass * exponential(t, place)
        some = np.unique(t[t > 0])
        if g is None or not some.size:
            return np.asarray(out)
        nodes, weights = _quadrature(g, some, tol)
        flat = t.ravel()
        integral = np.empty(flat.size)
        for a in range(0, flat.size, _block):
            integral[a : a + _block] = _integral(flat[a : a + _block], nodes, weights)
        return np.asarray(out + integral.reshape(t.shape))

    return transform


def _quadrature(g: Callable[[Array], Array], t: Array, tol: float) -> tuple[Array, Array]:
    """Nodes and weights for sorted positive ``t``: sum of weights (1 - exp(-nodes t))."""
    probes = t[[0, t.size // 2, -1]]
    before = np.full(3, np.inf)
    for level in range(_first, _last + 1):
        nodes, weights = _nodes(g, probes[1], 2.0**-level)
        now = _integral(probes, nodes, weights)
        _refuse_divergent(probes, nodes, weights, now, tol * 2.0**level)
        changes, before = np.abs(now - before), now
        if np.all(changes <= tol * now):
            kept = weights > 0
            return nodes[kept], weights[kept]
    worst = float(np.max(changes / now))
    raise InputError(
        f"the integral of g is only known to {worst:.1e}, {tol:.1e} was asked for; g must be "
        "smooth: give jumps and point masses as atoms=, or allow more with tol="
    )


def _nodes(g: Callable[[Array], Array], scale: float, step: float) -> tuple[Array, Array]:
    u = np.arange(-int(6.8 / step), int(6.8 / step) + 1) * step
    exponent = np.pi / 2 * np.sinh(u) - np.log(scale)
    u, exponent = u[np.abs(exponent) < 690], exponent[np.abs(exponent) < 690]
    nodes = np.exp(exponent)
    with np.errstate(under="ignore", over="ignore"):
        given = g(nodes)
        density = np.array(None) if given is None else np.asarray(given)
    at = f" gave {density.dtype} of shape {density.shape}"
    wrong = np.array([0])
    if density.dtype.kind in "fiub" and density.shape == nodes.shape:
        wrong = np.flatnonzero(~((density >= 0) & np.isfinite(density)))
        at = f" is {density[wrong[0]]} at {nodes[wrong[0]]:.3g}" if len(wrong) else ""
    if len(wrong):
        raise InputError(
            f"g{at}; it must give a finite number >= 0 for each element of an array of lambda > 0"
        )
    return nodes, density * (np.pi / 2 * step) * np.cosh(u)


def _integral(t: Array, nodes: Array, weights: Array) -> Array:
    with np.errstate(under="ignore", over="ignore"):
        return np.asarray(-np.expm1(-np.outer(t, nodes)) @ weights)


def _refuse_divergent(t: Array, nodes: Array, weights: Array, sums: Array, tol: float) -> None:
    """Where terms at the end of all numbers still count, the integral does not exist."""
    with np.errstate(under="ignore", over="ignore"):
        terms = -np.expm1(-np.outer(t, nodes[[0, -1]])) * weights[[0, -1]]
    ends = terms > tol * sums[:, None]
    for side, where in ((0, "0 of g"), (1, "infinity of g / lambda")):
        if ends[:, side].any():
            raise InputError(
                f"the integral near {where} does not exist (or cannot be had in floating point); "
                "a Schoenberg transform needs both integral_0^1 g and integral_1^oo g / lambda"
            )


def _squares(t: Array) -> Array:
    try:
        t = np.asarray(t)
    except ValueError:  # rows of unequal length
        t = np.array(None)
    if t.dtype.kind not in "fiub":
        raise InputError("squared distances must be an array of real numbers")
    t = t.astype(np.float64, copy=False)
    if not ((t >= 0) & (t < np.inf)).all():
        wrong = t[~((t >= 0) & (t < np.inf))].flat[0]
        raise InputError(f"squared distances must be finite numbers >= 0; found {wrong}")
    return t


def _positive(name: str, value: float) -> None:
    if not isinstance(value, _real) or not (np.isfinite(value) and value > 0):
        raise InputError(f"{name}={value!r}: a finite number > 0 is needed")

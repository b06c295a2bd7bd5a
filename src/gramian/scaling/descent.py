"""Descent to a minimum that never rises: majorization, accelerated by what its steps have taught.

1. step     p = -H slope,  H from the last ten steps and changes of slope (limited-memory BFGS);
            without any, H is the loss's own: one Guttman transform, the step of majorization
2. safe     the step is shortened until the loss has fallen enough; if it never does, H is forgotten
            and the plain step taken; if that does not help either, this is a minimum to rounding
3. stop     when the last five steps together gained less than ``tol`` of the loss
4. again    first in float32, twice as quick, until gains are of the size of rounding; then in full

J. de Leeuw, Applications of convex analysis to multidimensional scaling (1977); J. Nocedal,
Mathematics of Computation 35 (1980).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gramian.maps import Array
from gramian.progress import Approach

__all__ = ["Descent", "descend", "descend_by"]

#: The loss at a picture, its slope, and a preconditioned slope: the plain step.
Loss = Callable[[Array], tuple[float, Array]]
_remembered = 10
_window = 5
_coarse = 1e-6  # gains below this are rounding in float32


@dataclass(frozen=True)
class Descent:
    """Where a descent ended.

    Attributes
    ----------
    Z : array of shape (n, k)
    loss : float
    iterations : int
    stopping : str
        Why it ended, in words.
    """

    Z: Array
    loss: float
    iterations: int
    stopping: str

    @property
    def converged(self) -> bool:
        """Whether it ended by itself."""
        return not self.stopping.startswith("stopped")


def descend_by(loss: Any, Z: Array, *, max_iter: int, tol: float) -> Descent:
    """Go down a loss from ``Z``, by its rough form first, if it has one.

    Parameters
    ----------
    loss : function of a picture
        With ``rough``, ``scale``, ``dtype`` and ``floor``.
    Z : array of shape (n, k)
    max_iter, tol
        As for ``descend``.
    """
    before = 0
    if loss.rough is not None:
        first = descend(loss.rough, Z, loss.scale(Z), max_iter=max_iter, tol=_coarse)
        Z, before = first.Z, min(first.iterations, max_iter - 1)
    end = descend(
        loss,
        Z,
        loss.scale(Z),
        max_iter=max_iter - before,
        tol=max(tol, _coarse) if loss.dtype == np.float32 else tol,
        floor=loss.floor,
    )
    return replace(end, iterations=end.iterations + before)


def descend(
    loss: Loss, Z: Array, scale: Array | float, *, max_iter: int, tol: float, floor: float = 0.0
) -> Descent:
    """Go down from ``Z``.

    Parameters
    ----------
    loss : function of a picture
        Returns the loss and its slope.
    Z : array of shape (n, k)
    scale : float or array of shape (n, 1)
        ``Z - scale * slope`` is the plain step.
    max_iter : int
    tol : float
        Relative gain of five steps below which it ends.
    floor : float
        A loss this small is as good as 0.

    Returns
    -------
    Descent
    """
    Z = np.array(Z, np.float64)
    f, slope = loss(Z)
    learned: deque[tuple[Array, Array]] = deque(maxlen=_remembered)
    past = deque([f], maxlen=_window + 1)
    told = Approach("iterations", tol)
    for iteration in range(max_iter):
        if f <= floor:
            return Descent(Z, f, iteration, "the fit is perfect to rounding")
        found = _step(loss, Z, f, slope, learned, scale)
        if found is None and learned:
            learned.clear()
            found = _step(loss, Z, f, slope, learned, scale)
        if found is None:
            return Descent(Z, f, iteration, "no step lowers the stress any more")
        new, f_new, slope_new = found
        moved, turned = new - Z, slope_new - slope
        if np.vdot(moved, turned) > 1e-10 * np.sqrt(
            np.vdot(moved, moved) * np.vdot(turned, turned)
        ):
            learned.append((moved, turned))
        Z, f, slope = new, f_new, slope_new
        past.append(f)
        told(iteration + 1, (past[0] - f) / past[0])
        if len(past) > _window and past[0] - f <= tol * past[0]:
            return Descent(Z, f, iteration + 1, f"five steps gained less than {tol:g} of the loss")
    return Descent(Z, f, max_iter, f"stopped after max_iter = {max_iter} iterations")


def _step(
    loss: Loss,
    Z: Array,
    f: float,
    slope: Array,
    learned: deque[tuple[Array, Array]],
    scale: Array | float,
) -> tuple[Array, float, Array] | None:
    """The next picture with its loss and slope; ``None`` if the loss does not fall this way."""
    way = _direction(slope, learned, scale)
    fall = float(np.vdot(slope, way))
    if not fall < 0:
        return None
    length = 1.0
    for _ in range(20):
        new = Z + length * way
        f_new, slope_new = loss(new)
        if f_new <= f + 1e-4 * length * fall and f_new < f:
            return new, f_new, slope_new
        curved = 2 * (f_new - f - length * fall)  # the parabola through what is known
        best = -fall * length / curved if curved > 0 else 0.0
        length *= min(max(best, 0.1), 0.5)
    return None


def _direction(slope: Array, learned: deque[tuple[Array, Array]], scale: Array | float) -> Array:
    """-H slope, by the two loops over what was learned."""
    way = -slope
    shares = []
    for moved, turned in reversed(learned):
        share = np.vdot(moved, way) / np.vdot(moved, turned)
        way -= share * turned
        shares.append(share)
    if learned:
        moved, turned = learned[-1]
        plain = scale * turned
        way *= scale * (np.vdot(moved, turned) / np.vdot(turned, plain))
    else:
        way *= scale
    for (moved, turned), share in zip(learned, reversed(shares), strict=True):
        way += (share - np.vdot(turned, way) / np.vdot(moved, turned)) * moved
    return np.asarray(way)

"""How far the distances in a picture are from those of the data.

    raw          sum w_ij (d_ij - b D_ij)^2                         over pairs i < j
    normalized   raw / sum w_ij (b D_ij)^2
    stress-1     sqrt( raw / sum w_ij d_ij^2 )                      d in the picture, D of the data
    stress-2     sqrt( raw / sum w_ij (d_ij - mean d)^2 )
    s-stress     sqrt( sum w_ij (d_ij^2 - c D_ij^2)^2 / sum w_ij (c D_ij^2)^2 )

With b = c = 1 the picture is in the units of the data (or of the disparities, given as D); by
default b and c are the best factors, so that a picture may have any size. Sums run over all pairs,
a block of rows at a time, and in a second pass over what is left: nothing cancels.

J. B. Kruskal, Psychometrika 29 (1964); Y. Takane, F. W. Young & J. de Leeuw, Psychometrika 42
(1977), for s-stress.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from gramian.errors import InputError
from gramian.gram.distances import checked_metric, row_blocks
from gramian.loops.threads import one_blas_thread, run
from gramian.maps import Array
from gramian.progress import tick

__all__ = [
    *("Stresses", "normalized_stress", "raw_stress", "s_stress", "stress_1", "stress_2"),
    "stress_per_point",
    "stresses",
]

_block = 200_000  # distances in a block
Kind = Literal["percent", "stress"]


@dataclass(frozen=True)
class Stresses:
    """Every stress of one picture.

    Attributes
    ----------
    stress_1, stress_2, s_stress, raw, normalized : float
        0 is perfect.
    scale : float
        The factor b that the dissimilarities were multiplied by.
    residuals : array of shape (m,)
        Weighted squares left over by each of the points asked, over its pairs with all others.
    size : float
        Sum of w d^2 over pairs, on which stress-1 stands; in the unit of the residuals.
    """

    stress_1: float
    stress_2: float
    s_stress: float
    raw: float
    normalized: float
    scale: float
    residuals: Array = field(repr=False)
    size: float = field(repr=False)

    def per_point(self, kind: Kind = "percent") -> Array:
        """What each point adds; see ``stress_per_point``."""
        return share_of_points(self.residuals, self.size, kind)


def stresses(
    X: Any,
    Z: Any,
    *,
    metric: Any = "euclidean",
    scaled: bool = True,
    weights: Any = None,
    rows: int | None = None,
    random_state: Any = None,
) -> Stresses:
    """Every stress of the picture ``Z`` of the data ``X``, in one go.

    Parameters
    ----------
    X : array of shape (n, p)
        The data; dissimilarities or disparities (n, n) with ``metric="precomputed"``, where NaN
        is a missing pair.
    Z : array of shape (n, k)
    metric : str or callable
        As for ``gramian.ClassicalMDS``.
    scaled : bool
        Whether the picture may be larger or smaller than the data by one factor.
    weights : array of shape (n, n) or (n,), optional
        Of the pairs, or of the points: then a pair weighs the product.
    rows : int, optional
        Compare so many points, drawn at random, with all; all with all by default.
    random_state : int or None
        Of that draw.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.quality import stresses
    >>> X = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]])
    >>> found = stresses(X, X[:, :1], scaled=False)
    >>> round(found.raw, 4), round(found.stress_1, 4), round(found.s_stress, 4)
    (20.0, 1.0541, 0.7295)
    """
    X, Z = np.asarray(X), configuration(Z, len(X)).astype(np.float64)
    n = len(Z)
    weight, asked = _weighing(weights, n), sampled(n, rows, random_state)
    data = original(X, metric, asked, missing=True)
    unit, Z_unit = _unit(X if metric_is_given(metric) else np.ones(1)), _unit(Z)
    Z = Z / Z_unit
    shown = row_blocks(Z[asked], Z, "euclidean", {})
    step = max(1, _block // n)
    pieces = -(-len(asked) // step)
    done = itertools.count(1)

    def gathered(of: Callable[[Array, Array, Array], Any]) -> list[Any]:
        found: list[Any] = [None] * pieces

        def piece(i: int) -> None:
            here = slice(i * step, min((i + 1) * step, len(asked)))
            at, D, d = asked[here], data(here), shown(here)
            w = np.isfinite(D) * weight(at)
            w[np.arange(len(at)), at] = 0.0
            D[w == 0] = 0.0
            D /= unit
            found[i] = of(D, d, w)
            tick("stress", next(done), 2 * pieces)

        with one_blas_thread():
            run(piece, pieces)
        return found

    wdD, wDD, wd2D2, wD4, wd, total = np.sum(gathered(_moments), axis=0)
    if not total > 0:
        raise InputError("no pair of points has a weight and a dissimilarity; stress needs some")
    same = unit / Z_unit  # what is a factor of 1 in these units
    b = wdD / wDD if scaled and wDD > 0 else same
    c = wd2D2 / wD4 if scaled and wD4 > 0 else same * same
    mean = wd / total
    left = gathered(lambda D, d, w: _residuals(D, d, w, b, c, mean))
    residuals = np.concatenate([each[0] for each in left])
    dd, spread, fourth = np.sum([each[1] for each in left], axis=0)
    if not dd > 0:
        raise InputError("all points of the picture are equal; stress has no meaning")
    raw = float(residuals.sum())
    pairs = n / (2 * len(asked))  # each pair was met twice, or a sample of the rows was asked
    return Stresses(
        stress_1=float(np.sqrt(raw / dd)),
        stress_2=_root(raw, spread),
        s_stress=_root(fourth, c * c * wD4),
        raw=raw * pairs * Z_unit * Z_unit,
        normalized=_root(raw, b * b * wDD) ** 2,
        scale=float(b / same),
        residuals=residuals,
        size=float(dd) / 2,
    )


def stress_1(X: Any, Z: Any, **how: Any) -> float:
    """Kruskal's stress-1 of the picture ``Z`` of the data ``X``, as ``stresses``: 0 is perfect.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.quality import stress_1
    >>> X = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]])
    >>> stress_1(X, 2 * X)
    0.0
    >>> round(stress_1(X, X[:, :1]), 4)
    0.6
    """
    return stresses(X, Z, **how).stress_1


def stress_2(X: Any, Z: Any, **how: Any) -> float:
    """Kruskal's stress-2, about the mean distance of the picture; arguments as for ``stresses``."""
    return stresses(X, Z, **how).stress_2


def raw_stress(X: Any, Z: Any, **how: Any) -> float:
    """Sum of squares left over all pairs, in squared units of Z; arguments as for ``stresses``."""
    return stresses(X, Z, **how).raw


def normalized_stress(X: Any, Z: Any, **how: Any) -> float:
    """Raw stress over the sum of squared dissimilarities; arguments as for ``stresses``."""
    return stresses(X, Z, **how).normalized


def s_stress(X: Any, Z: Any, **how: Any) -> float:
    """Stress of squared distances, the loss of ALSCAL; arguments as for ``stresses``."""
    return stresses(X, Z, **how).s_stress


def stress_per_point(X: Any, Z: Any, kind: Kind = "percent", **how: Any) -> Array:
    """What each point adds to the stress: large where the picture shows a point badly.

    Parameters
    ----------
    X, Z
        As for ``stresses``; disparities with ``metric="precomputed", scaled=False``.
    kind : {"percent", "stress"}
        "percent" of the sum of squares left, as ``spp`` of smacof; "stress" in the unit of
        stress-1, whose squares add up to its square, as ``goodness`` of vegan.
    **how
        As for ``stresses``.

    Returns
    -------
    array of shape (n,)
    """
    return stresses(X, Z, **how).per_point(kind)


def share_of_points(residuals: Array, size: float, kind: str) -> Array:
    """Squares left by each point as percent of their sum, or in the unit of stress-1."""
    if kind == "stress":
        return np.asarray(np.sqrt(residuals / (2 * size)))
    if kind != "percent":
        raise InputError(f'kind is "percent" or "stress", got {kind!r}')
    total = float(residuals.sum())
    return np.asarray(100 * residuals / total if total > 0 else residuals)


def original(
    X: Array, metric: Any, asked: Array, *, missing: bool = False
) -> Callable[[slice], Array]:
    """What gives the distances, in float64, of a block of the rows ``asked`` to all of the data."""
    given = metric_is_given(metric)
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise InputError(f"X must be finite numbers, rows by columns; got {X.dtype} {X.shape}")
    if not np.isfinite(X).all() and (np.isinf(X).any() or not (missing and given)):
        raise InputError(
            f"X must be finite numbers, rows by columns; {_first(X)} is {X[_first(X)]}"
        )
    if given:
        if X.shape[0] != X.shape[1]:
            raise InputError(f"precomputed distances must be square, got shape {X.shape}")
        return lambda here: X[asked[here]].astype(np.float64)
    metric = checked_metric(metric)
    settings: dict[str, Any] = {}
    if metric == "mahalanobis":  # of all points, not of a block
        settings["VI"] = np.linalg.pinv(np.atleast_2d(np.cov(X.T)))
    elif metric == "gower":
        settings["ranges"] = np.ptp(X, axis=0)
    return row_blocks(X[asked], X, metric, settings)


def metric_is_given(metric: Any) -> bool:
    """Whether X holds distances already."""
    return isinstance(metric, str) and metric == "precomputed"


def configuration(Z: Any, n: int) -> Array:
    """The coordinates, one finite row for each of ``n`` points."""
    Z = np.asarray(Z)
    if Z.ndim != 2 or len(Z) != n or Z.dtype.kind not in "fiub" or not np.isfinite(Z).all():
        raise InputError(f"Z must hold {n} rows of finite coordinates, got shape {Z.shape}")
    return Z


def sampled(n: int, rows: int | None, random_state: Any) -> Array:
    """Which points are asked: all, or so many drawn at random."""
    if rows is None or rows >= n:
        return np.arange(n)
    return np.sort(np.random.default_rng(random_state or 0).choice(n, rows, replace=False))


def _unit(X: Array) -> float:
    """The power of two above the largest number: dividing by it is exact, and its squares safe."""
    largest = float(np.nanmax(np.abs(X), initial=0.0))
    return float(2.0 ** np.frexp(largest)[1]) if largest > 0 else 1.0


def _first(X: Array) -> tuple[int, int]:
    i, j = np.argwhere(~np.isfinite(X))[0]
    return int(i), int(j)


def _weighing(weights: Any, n: int) -> Callable[[Array], Any]:
    """A function from numbers of rows to the weights of their pairs."""
    if weights is None:
        return lambda at: 1.0
    W = np.asarray(weights, np.float64)
    if W.shape not in ((n,), (n, n)) or not np.isfinite(W).all() or (W < 0).any():
        raise InputError(
            f"weights are {n} or {n} x {n} finite numbers of at least 0, got shape {W.shape}"
        )
    return (lambda at: W[at, None] * W) if W.ndim == 1 else (lambda at: W[at])


def _moments(D: Array, d: Array, w: Array) -> tuple[float, ...]:
    """Sums over a block that give the best factors and the mean distance."""
    wD, D2 = w * D, D * D
    wD2 = w * D2
    return (
        *(float(np.vdot(wD, d)), float(wD2.sum()), float(np.vdot(wD2, d * d))),
        *(float(np.vdot(wD2, D2)), float(np.vdot(w, d)), float(w.sum())),
    )


def _residuals(
    D: Array, d: Array, w: Array, b: float, c: float, mean: float
) -> tuple[Array, tuple[float, ...]]:
    """Of each row what is left of distances; of the block its size, spread, and left squares."""
    d2 = d * d
    left = w * (d - b * D) ** 2
    squares = (float(np.vdot(w, d2)), float(np.vdot(w, (d - mean) ** 2)))
    return left.sum(axis=1), (*squares, float(np.vdot(w, (d2 - c * (D * D)) ** 2)))


def _root(left: float, size: float) -> float:
    """sqrt(left / size); nothing left of nothing is 0."""
    if size > 0:
        return float(np.sqrt(left / size))
    return 0.0 if left == 0 else float("inf")

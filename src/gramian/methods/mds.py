"""Multidimensional scaling by stress: metric (ratio), interval, spline and ordinal (non-metric).

1. distances  D_ij given, or between points; NaN is a pair that is not known (weight 0)
2. start      a picture Z: classical MDS, and others annealed by stochastic descent
3. descend    stress = sum w (d_ij - dhat_ij)^2,  d_ij = |z_i - z_j|: majorization, accelerated;
              dhat = D (ratio), or the function of D that never falls and is nearest to d
4. choose     the lowest stress of all starts, and how many of them found the same picture
5. judge      stress-1 = sqrt(sum w (d - dhat)^2 / sum w d^2), and the share of every point
6. new point  where its distances (or their dhat) fit best, all others staying where they are

loss="sammon" divides weights by D_ij, loss="sstress" compares squares, loss="strain" is step 2.

J. B. Kruskal, Psychometrika 29 (1964); J. de Leeuw, Applications of convex analysis to
multidimensional scaling (1977); J. W. Sammon, IEEE Transactions on Computers C-18 (1969);
Y. Takane, F. W. Young and J. de Leeuw, Psychometrika 42 (1977); stochastic start: J. X. Zheng,
S. Pawar and D. F. M. Goodman, IEEE TVCG 25 (2019).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gramian.errors import InputError, MemoryRefusedError
from gramian.evidence import Shepard
from gramian.gram.distances import HalfSquares, from_distances, half_squares
from gramian.loops.threads import one_blas_thread
from gramian.maps import Array
from gramian.memory import budget, in_words
from gramian.methods.distances import DistanceReader
from gramian.methods.embedder import generator, warn, weights_of
from gramian.quality.procrustes import procrustes
from gramian.quality.triangles import worst_triangle
from gramian.scaling.choices import check_settings
from gramian.scaling.descent import Descent, descend_by
from gramian.scaling.given import Given
from gramian.scaling.losses import FittedLoss, Loss, MetricLoss
from gramian.scaling.placing import FittedCurve, left_over, place_again, place_metric
from gramian.scaling.starts import completed, filled_axes, given_picture, scattered_or_annealed
from gramian.show.text import count, number
from gramian.spectral.gram_embedding import GramEmbedding
from gramian.spectral.krylov import BlockKrylov
from gramian.spectral.pairs import signs
from gramian.spectral.plan import Plan

_again = 200  # points up to which disparities are fitted anew for a new point
_same = 0.01  # pictures agree if they differ by less than this share of their size
_block = 4_000_000


class MDS(DistanceReader):
    """Multidimensional scaling by stress, metric and non-metric.

    Parameters
    ----------
    n_components : int
        How many axes.
    metric : str or callable
        "precomputed" if ``X`` holds distances (NaN where missing); else as for ``ClassicalMDS``.
    metric_params : mapping, optional
        Parameters of the metric.
    measurement : {"ratio", "interval", "ordinal", "spline"}
        What is taken from the distances: themselves; a + b D; their order alone (non-metric MDS);
        a smooth function that never falls.
    loss : {"stress", "sammon", "sstress", "strain"}
        Stress; Sammon's, which favors small distances; s-stress, of squared distances; or strain,
        which is classical MDS. All but stress go with "ratio" only.
    ties : {"primary", "secondary", "tertiary"}
        Equal dissimilarities, if ordinal: need not stay equal; stay equal; are equal on average.
    weights : array of shape (n, n) or (n,), optional
        How much each pair counts, or each point (a pair then has the product).
    n_init : int
        How many starts: ``init``, and others from random pictures.
    init : {"classical", "stochastic", "random"} or array of shape (n, k)
        The first start: classical MDS; a random picture annealed by stochastic descent, which
        avoids poor minima; a random picture; or a picture of yours.
    max_iter : int
        Steps of each start, at most.
    tol : float
        A start ends when five steps together gained less than this share of the loss.
    solver, memory
        As for ``ClassicalMDS``; the solver is that of the classical start.
    random_state : int, Generator, RandomState or None

    Attributes
    ----------
    embedding_ : array of shape (n, k)
        About its mean, turned to its principal axes; in the units of the distances (ratio), else
        with the same sum of squared distances.
    stress_ : float
        Stress-1.
    stresses_ : dict of float
        ``"stress-1"``, ``"stress-2"``, ``"raw"``, ``"normalized"``, ``"sstress"``, and Sammon's
        as ``"sammon"`` if that is the loss.
    stress_per_point_ : array of shape (n,)
        Share of the raw stress at each point: sums to 1.
    disparities_ : array of shape (n (n - 1) / 2,) or None
        What distances were fitted to, pairs in the order of ``scipy.spatial.distance.pdist``, NaN
        where missing; ``None`` if that is the distances themselves (ratio).
    n_iter_ : int
        Steps of the best start.
    stopping_ : str
        Why it ended, in words.
    start_stresses_ : array of shape (n_init,)
        Stress-1 (or the root of the loss) that each start reached.
    n_agreeing_ : int
        How many starts ended in the same picture as the best, by Procrustes.
    labels_ : tuple of str or None
        Names of the points, if the distances came with names.
    plan_ : Plan

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import MDS
    >>> D = np.array([[0.0, 3.0, 5.0], [3.0, 0.0, 4.0], [5.0, 4.0, 0.0]])
    >>> model = MDS(2, metric="precomputed").fit(D)
    >>> round(model.stress_, 6)
    0.0
    """

    axis_prefix = "MDS"

    def __init__(
        self,
        n_components: int = 2,
        *,
        metric: Any = "euclidean",
        metric_params: Any = None,
        measurement: str = "ratio",
        loss: str = "stress",
        ties: str = "primary",
        weights: Any = None,
        n_init: int = 4,
        init: Any = "classical",
        max_iter: int = 1000,
        tol: float = 1e-7,
        solver: Any = "auto",
        memory: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.metric = metric
        self.metric_params = metric_params
        self.measurement = measurement
        self.loss = loss
        self.ties = ties
        self.weights = weights
        self.n_init = n_init
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.memory = memory
        self.random_state = random_state

    def _fit(self, opened: Any, weights: Any = None) -> None:
        check_settings(**self.get_params(deep=False))
        rng, n = generator(self.random_state), self._read_points(opened).known.shape[0]
        self.n_components_ = k = self._checked_count(n)
        given = self._given(opened, n)  # 1
        loss = self._loss(given)
        ends = [self._descended(loss, Z) for Z in self._starts(given, k, rng)]  # 2, 3
        best = self._best(ends)  # 4
        self._judge(loss, best.Z if self.loss == "strain" else loss.finished(best.Z), given)  # 5

    def _place(self, opened: Any) -> Array:
        return np.asarray(self._placed(opened)[0].astype(self.embedding_.dtype))  # 6

    def placement_residual(self, X: Any) -> Array:
        """Root mean square of distance in the picture less distance wanted, of each new point."""
        check_is_fitted(self)
        return self._placed(self._open(X, reset=False))[1]

    def _given(self, opened: Any, n: int) -> Given:
        """Step 1: distances in rows, where they fit into memory, with weights."""
        X = opened.D if self._precomputed else self.X_fit_
        needed = self._needed(n, X.dtype, isinstance(X, np.ndarray))
        if needed > budget(self.memory):
            raise MemoryRefusedError(
                f"MDS of {n} points needs {in_words(needed)} beyond the data, the budget is "
                f"{in_words(budget(self.memory))}; use ClassicalMDS(landmarks=1000), fewer points, "
                "or raise memory="
            )
        D = X if self._precomputed else self._between(X, None)
        D = np.asarray(D if isinstance(D, np.ndarray) else D.read_rows(slice(0, n)))
        per_point = self.weights is not None and np.ndim(self.weights) < 2
        self._masses = weights_of(self.weights, n, "weights") if per_point else None
        given = Given.of(D, self._masses if per_point else self.weights)
        self._unit, self.n_missing_ = given.unit, given.lacking
        self._warn_of(given)
        look = self._precomputed and self.measurement == "ratio" and not given.missing
        self._triangle = str(worst_triangle(given.D)) if look and n <= _again else ""
        return given

    def _warn_of(self, given: Given) -> None:
        """What should be known of the distances before they are used."""
        if given.missing and not self._gaps:
            raise InputError(
                f"{given.missing} distances are missing (NaN); loss='strain' needs them all"
            )
        if given.missing:
            warn(f"{given.missing} of {given.pairs} distances are missing (NaN) and count nothing")
        if self.loss == "sammon" and given.zeros:
            warn(
                f"{count(given.zeros, 'pair')} of points have distance 0, by which loss='sammon' "
                "divides; they count nothing"
            )

    def _loss(self, given: Given) -> Loss:
        """What step 3 goes down: stress to judge by, if that is strain."""
        if self.measurement != "ratio":
            return FittedLoss.of(given.D, given.W, self.measurement, self.ties)
        return MetricLoss.of(given.D, given.W, self._name)

    def _starts(self, given: Given, k: int, rng: np.random.Generator) -> Iterator[Array]:
        """Step 2: pictures to begin with, one after the other."""
        self.gram_, first = None, self.init if isinstance(self.init, str) else "given"
        if self.loss == "strain":
            self.gram_ = self._classical(given.D, k, rng)
            yield self.gram_.coordinates.astype(np.float64)
            return
        if first == "given":
            yield given_picture(self.init, len(given.D), k) * self._unit
        elif first == "classical":
            Z = self._classical(given.D, k, rng).coordinates.astype(np.float64)
            yield filled_axes(Z, given.D, rng)
        for _ in range(self.n_init - (first in ("given", "classical"))):
            yield scattered_or_annealed(given.D, given.W, k, rng, annealed=first != "random")

    def _classical(self, D: Array, k: int, rng: np.random.Generator) -> GramEmbedding:
        n, full = len(D), completed(D)
        rough = self.solver == "auto" and n > 600 and k <= n // 6 and self.loss != "strain"
        with one_blas_thread() if rough else nullcontext():
            return GramEmbedding.of(
                HalfSquares(full) if rough else from_distances(full),
                k,
                diagonal=np.zeros(n),
                solver=BlockKrylov(tol=1e-2) if rough else self.solver,
                memory=self.memory,
                rng=rng,
            )

    def _descended(self, loss: Loss, Z: Array) -> Descent:
        """Step 3."""
        if self.loss == "strain":
            return Descent(Z, loss(Z)[0], 1, "classical MDS is found at once")
        return descend_by(loss, Z, max_iter=self.max_iter, tol=self.tol)

    def _best(self, ends: list[Descent]) -> Descent:
        """Step 4: the best start, what it was like, and how many agree with it."""
        best = min(ends, key=lambda end: end.loss)
        self.n_iter_, self.stopping_ = best.iterations, best.stopping
        self.start_stresses_ = np.sqrt([end.loss for end in ends])
        self.n_agreeing_ = sum(
            end is best or procrustes(best.Z, end.Z, scale=True).symmetric <= _same**2
            for end in ends
        )
        if not best.converged:
            warn(f"MDS {best.stopping} before it converged; raise max_iter=")
        return best

    def _judge(self, loss: Loss, Z: Array, given: Given) -> None:
        """Step 5: the picture, its stress in every form, and what new points will need."""
        Z, n = Z * signs(Z), len(Z)
        judged = loss.judged(Z)
        self.embedding_ = (Z / self._unit).astype(given.D.dtype)
        self.stresses_ = judged.in_units(self._unit)
        if self.loss == "sammon":
            self.stresses_["sammon"] = loss(Z)[0]
        self.stress_, self.stress_per_point_ = self.stresses_["stress-1"], judged.per_point
        self._shepard = loss.compared(Z, self._unit)
        self.disparities_ = self._D = self._curve = None
        if isinstance(loss, FittedLoss):
            self.disparities_ = loss.condensed(Z)
            self.disparities_ /= self._unit
            again = n <= _again and self.weights is None
            self._D = given.D.astype(np.float64) if again else None
            self._curve = None if again else FittedCurve.of(loss, Z)
        self.plan_ = self._route(n, given.D.dtype)
        if self._free:
            warn(
                f"stress-1 is nearly 0 ({number(self.stress_, 2)}): the order of {n} points leaves "
                "the picture nearly free, and other pictures fit as well; use more points, fewer "
                "axes, or measurement='ratio'"
            )

    def _placed(self, opened: Any) -> tuple[Array, Array]:
        """Step 6: coordinates of new points, and what is left of their distances."""
        new, Z = self._new(opened), self.embedding_.astype(np.float64) * self._unit
        step = max(1, _block // len(Z))
        found = []
        for a in range(0, len(new), step):
            d = new[a : a + step]
            d = np.asarray(d if self._precomputed else self._between(d, self.X_fit_), np.float64)
            d = d * self._unit
            if self.gram_ is not None:
                at = self.gram_.place(half_squares(d))
                found.append((at, left_over(d, at, Z, None)))
            elif self._D is not None:
                found.append(place_again(d, Z, self._D, self.measurement, self.ties))
            else:
                wanted = d if self._curve is None else self._curve(d)
                found.append(place_metric(wanted, Z, self._masses, self._name))
        placed, left = map(np.concatenate, zip(*found, strict=True))
        return placed / self._unit, left / self._unit

    @property
    def _gaps(self) -> bool:
        return self.loss != "strain"

    @property
    def _free(self) -> bool:
        """Whether the order of the points says nearly nothing about the picture."""
        return self.measurement == "ordinal" and self.stress_ < 1e-3

    @property
    def _name(self) -> str:
        """The loss that is swept: stress to judge strain by."""
        return "stress" if self.loss == "strain" else self.loss

    def _planned(self, rows: Any) -> Plan:
        self._checked_count(rows.shape[0])
        return self._route(rows.shape[0], np.dtype(rows.dtype), resident=rows.resident)

    def _needed(self, n: int, dtype: Any, resident: bool = True) -> int:
        """Bytes beyond the data: distances unless given, weights, and pairs in their order."""
        size = np.dtype(dtype).itemsize
        square = n * n * size
        pairs = n * n // 2 * {"ordinal": 13, "ratio": 0}.get(self.measurement, size)
        kept = (not self._precomputed or not resident) + (self.weights is not None)
        return kept * square + pairs + 64 * n * (8 + int(self.n_components))

    def _route(self, n: int, dtype: Any, resident: bool = True) -> Plan:
        what = f"{self.loss} swept over {n} x {n} distances"
        if self.measurement != "ratio":
            what = f"{self.measurement} disparities of {n * (n - 1) // 2} pairs"
        starts = count(1 if self.loss == "strain" else self.n_init, "start")
        needed = self._needed(n, dtype, resident)
        return Plan(f"{what}, {starts}", "direct", BlockKrylov(), needed, None)

    def _keeps(self) -> dict[str, Any]:
        return {
            **super()._keeps(),
            **({"labels_": "text n?"} if self._precomputed else {"_settings": dict}),
            **({"X_fit_": "n p nan"} if self._gower else {}),
            **dict.fromkeys(("stress_", "_unit"), float),
            **dict.fromkeys(("n_iter_", "n_agreeing_", "n_missing_"), int),
            "stresses_": dict,
            "stress_per_point_": "n",
            "start_stresses_": "i",
            **dict.fromkeys(("stopping_", "_triangle"), str),
            "disparities_": "m nan?",
            "gram_": GramEmbedding | None,
            "_curve": FittedCurve | None,
            "_D": "n n nan?",
            "_masses": "n?",
            "_shepard": Shepard,
        }

    def _shown(self) -> dict[str, Any]:
        return super()._shown() | {
            "shepard": self._shepard,
            "point_stress": self.stress_per_point_,
        }

    def _measured(self) -> dict[str, Any]:
        return {
            **{name.replace("-", "_"): value for name, value in self.stresses_.items()},
            "n_iterations": self.n_iter_,
            "start_stresses": self.start_stresses_,
            "n_agreeing": self.n_agreeing_,
            "n_missing": self.n_missing_,
        }

    def _said(self) -> Iterator[str]:
        yield f"stress-1 {number(self.stress_, 4)} ({self.measurement}, loss {self.loss})"
        if len(self.start_stresses_) > 1:
            yield (
                f"{self.n_agreeing_} of {len(self.start_stresses_)} starts ended in this picture; "
                f"the others reached {number(self.start_stresses_.max(), 4)} at worst"
            )
        yield f"{count(self.n_iter_, 'step')}: {self.stopping_}"
        if self._triangle:
            yield self._triangle
        if self.n_missing_:
            yield f"{count(self.n_missing_, 'distance')} missing or without weight"
        if self._free:
            yield "stress is nearly 0: the picture is nearly free, do not read it"

"""Classical multidimensional scaling (principal coordinates analysis).

1. distances  D_ij between points, or given; mended first if a correction is asked for
2. Gram       K = -1/2 D∘D
3. embed      H K H = V L V',  Z = V L^1/2         Z Z' is the nearest Gram matrix of rank k
4. judge      most negative eigenvalue / largest: 0 if and only if D is Euclidean
5. new point  from its distances to the training points: the row -1/2 d∘d, centered as they were,
              times V L^-1/2

W. S. Torgerson, Psychometrika 17 (1952); J. C. Gower, Biometrika 53 (1966). New points: Gower,
Biometrika 55 (1968). Landmarks: V. de Silva and J. B. Tenenbaum, Sparse multidimensional scaling
using landmark points (2004).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from gramian.data.array_rows import ArrayRows
from gramian.errors import InputError, MemoryRefusedError
from gramian.evidence import Shepard, sample_pairs
from gramian.gram.distances import decided, from_distances
from gramian.gram.measured import Measured
from gramian.gram.metrics import checked_metric, checked_settings
from gramian.maps import Array
from gramian.memory import budget, in_words
from gramian.methods.distances import DistanceReader
from gramian.methods.embedder import generator, rescaled, warn, weights_of
from gramian.methods.landmarks import (
    FilePoints,
    by_landmarks,
    check_landmarks,
    placing_bytes,
    stay_in_file,
)
from gramian.methods.similarity import IN_SQUARES, GramEmbedder
from gramian.quality.corrections import (
    checked_correction,
    corrected,
    corrected_distances,
    corrected_rows,
    correction_said,
)
from gramian.quality.spectra import SpectrumQuality, euclidean_said, fit_said
from gramian.show.text import count, percent
from gramian.spectral.gram_embedding import GramEmbedding
from gramian.spectral.plan import Expected, Plan, plan


class ClassicalMDS(DistanceReader, GramEmbedder):
    """Classical multidimensional scaling, certified.

    Parameters
    ----------
    n_components : int
        How many axes.
    metric : str or callable
        "precomputed" if ``X`` holds distances; a name of ``gramian.gram.distances.METRICS``; or a
        function of two points. "gower" takes missing values (NaN).
    metric_params : mapping, optional
        Parameters of the metric, such as ``{"p": 3}`` for "minkowski".
    correction : {None, "lingoes", "cailliez", "sqrt"}
        Make the distances Euclidean first: by the smallest constant added to their squares
        (Lingoes) or to themselves (Cailliez), or by their square roots. A constant moves points
        apart that coincide; a new point at distance 0 to several of them is placed at their mean.
    weights : array of shape (n,), optional
        Masses of the points, above 0; the mean is weighted by them and heavy points are fitted
        better.
    landmarks : int, optional
        Scale so many points, chosen at random, and place the others by their distances to these:
        an approximation, whose error is estimated in ``landmark_error_``.
    solver : {"auto", "dense", "krylov", "arpack"} or Solver
        "dense" computes all eigenvalues, whatever n.
    memory : int, str or None
        Budget, e.g. ``"4GB"``; by default 80 % of what is available.
    random_state : int, Generator, RandomState or None

    Attributes
    ----------
    embedding_ : array of shape (n, k)
    eigenvalues_, residuals_ : array of shape (k,)
        Of H K H, largest algebraic first; the certificate.
    goodness_of_fit_ : (float, float) or None
        R's two numbers: the sum of the kept eigenvalues over the sum of all sizes, and over the sum
        of the positive ones. ``None`` where that would need all eigenvalues of more than 1,000
        points whose metric is not known to be Euclidean; ``solver="dense"`` gives it.
    negativity_ : float
        |most negative eigenvalue| / largest: 0 if the distances are Euclidean. Beyond 1,000 points
        it is searched for in float32: never too large, within 3 % of itself or 0.002 of the
        largest, and 0 if below 1e-5. ``solver="dense"`` computes it.
    spectrum_ : array of shape (n,) or None
        All eigenvalues, negative ones included, where all were computed.
    proportion_explained_ : array of shape (k,)
        Of each axis; ``proportion_formula_`` says of what.
    n_positive_ : int
        How many of the axes have a positive eigenvalue.
    constant_ : float
        What the correction added; 0 without one.
    landmark_error_ : float
        Typical distance between placements by two halves of the landmarks, as a share of the size
        of the configuration; 0 without landmarks.
    labels_ : tuple of str or None
        Names of the points, if the distances came with names.
    plan_ : Plan

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import ClassicalMDS
    >>> D = np.array([[0.0, 3.0, 5.0], [3.0, 0.0, 4.0], [5.0, 4.0, 0.0]])
    >>> Z = ClassicalMDS(2, metric="precomputed").fit_transform(D)
    >>> float(np.linalg.norm(Z[0] - Z[2]).round(12))
    5.0
    """

    axis_prefix = "PCo"

    def __init__(
        self,
        n_components: int = 2,
        *,
        metric: Any = "euclidean",
        metric_params: Any = None,
        correction: str | None = None,
        weights: Any = None,
        landmarks: int | None = None,
        solver: Any = "auto",
        memory: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.metric = metric
        self.metric_params = metric_params
        self.correction = correction
        self.weights = weights
        self.landmarks = landmarks
        self.solver = solver
        self.memory = memory
        self.random_state = random_state

    def _fit(self, opened: Any, weights: Any = None) -> None:
        checked_correction(self.correction)
        far = self.landmarks is not None and self._far(opened)
        points = self._measured_far(opened) if far else self._read_points(opened)  # 1
        n = points.known.shape[0]
        k, self.constant_, self.landmark_error_ = self._checked_count(n), 0.0, 0.0
        rng, self._shepard = generator(self.random_state), None
        how = {"solver": self.solver, "memory": self.memory, "rng": rng}
        if self.landmarks is not None:
            return self._fit_landmarks(points, n, k, how)
        masses = None if self.weights is None else self._masses(n)
        quick, unit, dtype = self._quick(points, n, k, masses), 1.0, points.known.dtype
        if quick is None:  # 2
            K, unit, dtype = self._whole(points, n)
        else:
            K = quick if dtype == np.float32 else points.half_squares()
        how |= {"quick": quick, "both_ends": not self._euclidean}
        gram = GramEmbedding.of(K, k, diagonal=np.zeros(n), weights=masses, **how)  # 3
        self._embed(gram, dtype, unit)
        self._judge(K, gram, rng)  # 4
        if points.resident:
            pairs = sample_pairs(n)
            found = corrected_distances(points.of_pairs(pairs), self.correction, self.constant_)
            self._shepard = Shepard.of(found, self.embedding_, pairs)

    def _fit_landmarks(self, points: Measured, n: int, k: int, how: dict[str, Any]) -> None:
        m = check_landmarks(self.landmarks, k, n)
        if self.correction is not None or self.weights is not None:
            raise InputError("landmarks go with neither correction nor weights")
        self.landmarks_ = np.sort(how["rng"].choice(n, m, replace=False))
        if points.metric is None or points.resident:
            found = by_landmarks(points.between, self.landmarks_, n, k, how)
        else:
            self.X_fit_ = points.known.take(self.landmarks_)
            decided(self.metric, self._settings, self.X_fit_)  # a function is tried on a few
            with points.known.visit():
                near = points.held(self.landmarks_, self.X_fit_)
                found = by_landmarks(near.between, self.landmarks_, n, k, how)
        self.landmark_error_ = found.error
        self._embed(found.gram, found.gram.pairs.vectors.dtype)
        self.embedding_ = found.coordinates.astype(self.embedding_.dtype)
        self._judge(found.K, found.gram, how["rng"])
        far = isinstance(points.known, FilePoints)
        self.plan_ = replace(self.plan_, passes=points.known.rows.passes if far else 1)

    def _far(self, opened: Any) -> bool:
        """Whether the points stay in their file."""
        return not self._precomputed and stay_in_file(opened, self.memory)

    def _measured_far(self, opened: Any) -> Measured:
        """Points in a file; a metric that is learned from all of them needs them in memory."""
        learned = {"gower": "ranges", "mahalanobis": "VI"}.get(str(self.metric))
        if learned is not None and learned not in (self.metric_params or {}):
            raise InputError(
                f"metric={self.metric!r} is learned from all points, which do not fit the memory; "
                f"give metric_params={{{learned!r}: ...}}, or raise memory="
            )
        columns = opened.rows.shape[1]
        metric = checked_metric(self.metric)
        self._settings = checked_settings(metric, self.metric_params, columns)
        return Measured(FilePoints(opened.rows), self.metric, self._settings)

    def _similar(self, new: Array) -> tuple[Array, Array]:
        if not self._precomputed:
            few = self.landmarks is not None and not self._kept_few
            against = self.X_fit_[self.landmarks_] if few else self.X_fit_
            new = self._between(new, against)
        elif self.landmarks is not None:
            new = new[:, self.landmarks_]
        rows, equal = corrected_rows(new, self.correction, self.constant_, self._unit)  # 5
        if (equal > 1).any():
            first = int(np.argmax(equal > 1))
            warn(
                f"{count(int((equal > 1).sum()), 'new point')} at distance 0 to several training "
                f"points (the first to {equal[first]}), which the correction has moved apart: "
                "placed at their mean"
            )
        return rows, np.zeros(len(rows))

    def _judge(self, K: Any, gram: GramEmbedding, rng: np.random.Generator) -> None:
        """Step 4: negativity, goodness of fit, proportions."""
        dense = isinstance(self.solver, str) and self.solver == "dense"
        found = SpectrumQuality.of(K, gram, euclidean=self._euclidean, dense=dense, rng=rng)
        self.negativity_, self.goodness_of_fit_ = found.negativity, found.goodness_of_fit
        self.proportion_explained_, self.proportion_formula_ = found.proportions, found.formula
        all_of_it = found.spectrum
        self.spectrum_ = None if all_of_it is None else rescaled(all_of_it, self._unit, *IN_SQUARES)
        if self.negativity_ > 0.2:
            warn(
                f"the distances are not Euclidean: the most negative eigenvalue is "
                f"{self.negativity_:.1%} of the largest; correction='lingoes', 'cailliez' or "
                "'sqrt' would mend them"
            )

    def _planned(self, rows: Any) -> Plan:
        n, k = rows.shape[0], self._checked_count(rows.shape[0])
        if self.landmarks is not None:
            found = plan(Expected((self.landmarks, self.landmarks), rows.dtype), k)
            route = f"{self.landmarks} landmarks of {n} points: {found.route}"
            needed = found.bytes + placing_bytes(self.landmarks, n)
            return replace(found, route=route, bytes=needed, passes=1)
        found = plan(Expected((n, n), rows.dtype), k, "largest", self.solver, self.memory)
        size = n * n * np.dtype(rows.dtype).itemsize
        stored = "distances" if not self._precomputed else "squares of the distances"
        if size + found.bytes > budget(self.memory) and not self._precomputed:
            self._refuse(n, size + found.bytes)
        if not rows.resident:
            return replace(found, passes=40)
        route = f"{stored} ({n} x {n}) stored, {found.route}"
        return replace(found, route=route, bytes=size + found.bytes, passes=1)

    def _shares(self) -> Array:
        return np.asarray(self.proportion_explained_)

    def _keeps(self) -> dict[str, Any]:
        few = "n" if self.landmarks is None else "m"
        return {
            **super()._keeps(),
            **({"labels_": "text n?"} if self._precomputed else {"_settings": dict}),
            **({} if self.landmarks is None else {"landmarks_": "m -> n"}),
            **({} if self.landmarks is None or self._precomputed else {"X_fit_": "f p"}),
            **({"X_fit_": "n p nan"} if self._gower else {}),
            "gram_": (GramEmbedding, {"n": few}),
            "eigenvectors_": f"{few} k",
            "spectrum_": f"{few}?",
            "_shepard": Shepard | None,
            "constant_": float,
            "landmark_error_": float,
            "goodness_of_fit_": tuple | None,
            "proportion_explained_": "k",
            "proportion_formula_": str,
        }

    def _shown(self) -> dict[str, Any]:
        return super()._shown() | {"spectrum": self.spectrum_, "shepard": self._shepard}

    def _measured(self) -> dict[str, Any]:
        return {
            "goodness_of_fit": self.goodness_of_fit_,
            "negativity": self.negativity_,
            "proportion_formula": self.proportion_formula_,
            "constant": self.constant_,
            "landmark_error": self.landmark_error_,
        }

    def _said(self) -> Iterator[str]:
        if self.landmarks is not None:
            yield (
                f"an approximation: {count(len(self.landmarks_), 'landmark')} of "
                f"{count(len(self.embedding_), 'point')}; placements by two halves of them "
                f"differ by {percent(self.landmark_error_)} of the size of the configuration"
            )
        yield f"share = {self.proportion_formula_}"
        if self.goodness_of_fit_ is not None:
            yield fit_said(self.goodness_of_fit_)
        if self.correction is not None:
            yield correction_said(self.correction, self.constant_)
        which = "the distances" if self.landmarks is None else "distances between landmarks"
        searched = self.spectrum_ is None and not self._euclidean
        yield euclidean_said(which, self.negativity_, searched=searched)

    def _quick(self, points: Measured, n: int, k: int, masses: Array | None) -> Any:
        """Steps 1 and 2 for many points: half of K, in float32; ``None``: K whole instead."""
        if self.correction is not None or not points.resident:
            return None
        found = self._tiles(n, k, points.tiles, masses)
        return found if found is not None and found.sums.any() else None

    def _whole(self, points: Measured, n: int) -> tuple[Any, float, Any]:
        """Steps 1 and 2: K, the factor that distances were multiplied by, and their dtype."""
        D, size = points.known, n * n * points.known.dtype.itemsize
        if not self._precomputed:
            if size > budget(self.memory):
                self._refuse(n, size)
            D = points.whole()
        elif points.resident and 1.1 * size > budget(self.memory):
            D = ArrayRows(D, self.memory)  # a map in blocks, nothing stored
        mended = corrected(D, self.correction)
        self.constant_ = mended.constant
        mine = not self._precomputed or mended.D is not points.known
        return from_distances(mended.D, overwrite=mine), mended.unit, mended.D.dtype

    @property
    def _euclidean(self) -> bool:
        """Whether the distances are known to be Euclidean."""
        return isinstance(self.metric, str) and self.metric == "euclidean" and not self.correction

    def _refuse(self, n: int, size: int) -> None:
        raise MemoryRefusedError(
            f"distances between {n} points need {in_words(size)}, the budget is "
            f"{in_words(budget(self.memory))}; use landmarks=1000, or raise memory="
        )

    def _masses(self, n: int) -> Array:
        masses = weights_of(self.weights, n, "weights")
        if not (masses > 0).all():
            first = int(np.flatnonzero(masses <= 0)[0])
            raise InputError(f"weights are above 0, got 0 at position {first}; leave it out")
        return masses

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
from typing import Any

import numpy as np

from gramian.data.dissimilarities import open_cross_distances, open_distances
from gramian.data.moments import unit_for
from gramian.data.rows import ArrayRows
from gramian.errors import InputError, MemoryRefusedError
from gramian.gram.distances import checked_metric, from_distances, pairwise
from gramian.maps import Array
from gramian.memory import budget, in_words
from gramian.methods.embedder import generator, warn, weights_of
from gramian.methods.similarity import GramEmbedder, as_points
from gramian.quality.euclidean import cailliez, lingoes
from gramian.quality.procrustes import procrustes
from gramian.show.text import count, number, percent
from gramian.spectral.gram_embedding import EXACT, GramEmbedding, full_spectrum, negativity

CORRECTIONS = (None, "lingoes", "cailliez", "sqrt")


class ClassicalMDS(GramEmbedder):
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
        (Lingoes) or to themselves (Cailliez), or by their square roots.
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
        points whose metric is not known to be Euclidean.
    negativity_ : float
        |most negative eigenvalue| / largest, from a solve of its own (to two digits beyond 1,000
        points): 0 if the distances are Euclidean.
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

    reads = "distances"
    axis_prefix = "PCo"
    n_features_in_: int
    labels_: tuple[str, ...] | None

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
        rng = generator(self.random_state)
        if self.correction not in CORRECTIONS:
            raise InputError(f"correction={self.correction!r}: use one of {CORRECTIONS}")
        if not self._precomputed:
            self.X_fit_ = as_points(opened, self.memory, missing=self._gower).copy()
            self._settings = self._decided()
        n = opened.D.shape[0] if self._precomputed else len(self.X_fit_)
        k, self.constant_, self.landmark_error_ = self._checked_count(n), 0.0, 0.0
        how = {"solver": self.solver, "memory": self.memory, "rng": rng}
        if self.landmarks is not None:
            return self._fit_landmarks(opened, n, k, how)
        D = self._distances(opened, n)  # 1
        D, unit = self._mended(D)
        mine = not self._precomputed or D is not opened.D
        K = from_distances(D, overwrite=mine)  # 2
        masses = None if self.weights is None else self._masses(n)
        gram = GramEmbedding.of(K, k, diagonal=np.zeros(n), weights=masses, **how)  # 3
        self._embed(gram, D.dtype, unit)
        self._judge(K, gram, rng)  # 4

    def _similar(self, new: Array) -> tuple[Array, Array]:
        d = new
        if not self._precomputed:
            against = self.X_fit_ if self.landmarks is None else self.X_fit_[self.landmarks_]
            d = self._between(new, against)
        elif self.landmarks is not None:
            d = new[:, self.landmarks_]
        d = np.asarray(d, np.float64) * self._unit
        constant = self.constant_ * self._unit
        if self.correction == "cailliez":
            d = np.where(d > 0, d + constant, 0.0)
        elif self.correction == "sqrt":
            d = np.sqrt(d) * np.sqrt(self._unit)
        rows = -0.5 * d * d  # 5
        if self.correction == "lingoes":
            rows = np.where(d > 0, rows - constant * self._unit, 0.0)
        return rows, np.zeros(len(rows))

    def _new(self, opened: Any) -> Array:
        if self._precomputed:
            return np.asarray(opened)
        return as_points(opened, self.memory, missing=self._gower)

    def _judge(self, K: Any, gram: GramEmbedding, rng: np.random.Generator) -> None:
        """Step 4: negativity, goodness of fit, proportions."""
        n, values = K.shape[0], gram.pairs.values
        kept, largest = np.maximum(values, 0.0), max(float(values[0]), np.finfo(float).tiny)
        euclidean = self.metric == "euclidean" and self.correction is None
        self.negativity_, self.goodness_of_fit_ = 0.0, None
        positive, formula = gram.trace, "eigenvalue / sum of all eigenvalues"
        if not euclidean and (n <= EXACT or self.solver == "dense"):
            spectrum = full_spectrum(K, gram)
            noise = n * np.finfo(K.dtype).eps * largest
            self.negativity_ = float(max(-spectrum[-1] - noise, 0.0) and -spectrum[-1] / largest)
            positive = float(spectrum[spectrum > 0].sum())
            formula = "eigenvalue / sum of the positive eigenvalues"
            self.goodness_of_fit_ = (
                float(kept.sum() / np.abs(spectrum).sum()),
                float(kept.sum() / positive),
            )
        elif not euclidean:
            self.negativity_ = abs(negativity(K, gram, rng)) / largest
        else:
            self.goodness_of_fit_ = (float(kept.sum() / positive),) * 2
        self.proportion_explained_, self.proportion_formula_ = kept / positive, formula
        if self.negativity_ > 0.2:
            warn(
                f"the distances are not Euclidean: the most negative eigenvalue is "
                f"{self.negativity_:.1%} of the largest; correction='lingoes', 'cailliez' or "
                "'sqrt' would mend them"
            )

    def _shares(self) -> Array:
        return np.asarray(self.proportion_explained_)

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
            of_sizes, of_positive = map(number, self.goodness_of_fit_)
            yield (
                f"goodness of fit {of_sizes} (kept eigenvalues / sum of the sizes of all)"
                + (f", {of_positive} (/ sum of the positive)" if of_positive != of_sizes else "")
            )
        if self.correction == "sqrt":
            yield "correction: square roots of the distances were scaled"
        elif self.correction is not None:
            what = "squared distance" if self.correction == "lingoes" else "distance"
            added = self.constant_ * (2 if self.correction == "lingoes" else 1)
            yield (
                f"correction ({self.correction.capitalize()}): {number(added)} added to every "
                f"{what}"
                if added
                else "correction: none was needed"
            )
        which = "the distances" if self.landmarks is None else "distances between landmarks"
        yield (
            f"{which} are not Euclidean: the most negative eigenvalue is "
            f"{percent(self.negativity_)} of the largest; that part is left out"
            if self.negativity_ > 0
            else f"{which} are Euclidean: no eigenvalue is negative beyond rounding"
        )

    def _distances(self, opened: Any, n: int) -> Any:
        """Step 1, before any correction."""
        if self._precomputed:
            D = opened.D
            fits = not isinstance(D, np.ndarray) or 1.1 * D.nbytes <= budget(self.memory)
            return D if fits else ArrayRows(D, self.memory)  # a map in blocks, nothing stored
        size = n * n * self.X_fit_.dtype.itemsize
        if size > budget(self.memory):
            raise MemoryRefusedError(
                f"distances between {n} points need {in_words(size)}, the budget is "
                f"{in_words(budget(self.memory))}; use landmarks=1000, or raise memory="
            )
        return self._between(self.X_fit_, None)

    def _between(self, X: Array, Y: Array | None) -> Array:
        return pairwise(X, Y, checked_metric(self.metric), **self._settings)

    def _decided(self) -> dict[str, Any]:
        """Parameters of the metric; what depends on the data is taken from all training points."""
        settings = dict(self.metric_params or {})
        X = self.X_fit_.astype(np.float64, copy=False)
        if self._gower and settings.get("ranges") is None:
            known = [column[~np.isnan(column)] for column in X.T]
            settings["ranges"] = [np.ptp(each) if each.size else 0.0 for each in known]
        elif self.metric == "mahalanobis" and "VI" not in settings:
            settings["VI"] = np.linalg.pinv(np.atleast_2d(np.cov(X.T)))
        return settings

    @property
    def _gower(self) -> bool:
        """Whether the metric knows what to do with missing values."""
        return isinstance(self.metric, str) and self.metric == "gower"

    def _mended(self, D: Any) -> tuple[Any, float]:
        """D corrected and brought into the range where squares are safe, and by what factor."""
        if not isinstance(D, np.ndarray):
            if self.correction is not None:
                raise InputError(
                    "a correction needs the whole matrix in memory; raise memory=, or use "
                    "gramian.quality.euclidean on a part of the points"
                )
            return D, 1.0
        peak = float(D.max())
        if not peak > 0:
            raise InputError("all distances are 0: all points are equal, nothing to embed")
        unit = unit_for(peak, D.dtype)
        D = D * D.dtype.type(unit) if unit != 1 else D
        if self.correction == "sqrt":
            return np.sqrt(D) * D.dtype.type(np.sqrt(unit)), unit
        if self.correction is not None:
            repaired = (lingoes if self.correction == "lingoes" else cailliez)(D)
            self.constant_ = repaired.amount / unit / (unit if self.correction == "lingoes" else 1)
            return repaired.D.astype(D.dtype, copy=False), unit
        return D, unit

    def _masses(self, n: int) -> Array:
        masses = weights_of(self.weights, n, "weights")
        if not (masses > 0).all():
            first = int(np.flatnonzero(masses <= 0)[0])
            raise InputError(f"weights are above 0, got 0 at position {first}; leave it out")
        return masses

    def _fit_landmarks(self, opened: Any, n: int, k: int, how: dict[str, Any]) -> None:
        m = self.landmarks
        if isinstance(m, bool) or not isinstance(m, (int, np.integer)) or not k + 2 <= m <= n:
            raise InputError(
                f"landmarks={m!r}: a whole number from n_components + 2 = {k + 2} to n = {n}"
            )
        if self.correction is not None or self.weights is not None:
            raise InputError("landmarks go with neither correction nor weights")
        rng: np.random.Generator = how["rng"]
        self.landmarks_ = np.sort(rng.choice(n, int(m), replace=False))

        def to_landmarks(rows: slice | Array, chosen: Array) -> Array:
            if not self._precomputed:
                return self._between(self.X_fit_[rows], self.X_fit_[chosen])
            if isinstance(opened.D, np.ndarray):
                return np.asarray(opened.D[rows][:, chosen])
            # in a file: rows of landmarks are read, which are their columns
            lines = (opened.D.read_rows(slice(i, i + 1))[0, rows] for i in chosen)
            return np.stack(list(lines), axis=1)

        def scaled(chosen: Array) -> GramEmbedding:
            D = to_landmarks(chosen, chosen)
            if not D.any():
                raise InputError("all landmarks are equal points; use more of them")
            return GramEmbedding.of(from_distances(D), k, diagonal=np.zeros(len(chosen)), **how)

        gram = scaled(self.landmarks_)
        dtype = gram.pairs.vectors.dtype
        self._embed(gram, dtype)
        step = max(1, 25_000_000 // int(m))
        placed = [
            gram.place(from_distances(to_landmarks(slice(a, a + step), self.landmarks_)))
            for a in range(0, n, step)
        ]
        self.embedding_ = np.concatenate(placed).astype(dtype)
        order = rng.permutation(self.landmarks_)
        some = np.sort(rng.choice(n, min(n, 500), replace=False))
        halves = [
            scaled(half).place(from_distances(to_landmarks(some, half)))
            for half in (order[: int(m) // 2], order[int(m) // 2 :])
            if len(half) > k + 1
        ]
        self.landmark_error_ = procrustes(*halves).rms if len(halves) == 2 else 1.0
        K = from_distances(to_landmarks(self.landmarks_, self.landmarks_))
        self._judge(K, gram, rng)

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._gower
        return tags

    def _open(self, X: Any, reset: bool) -> Any:
        if not self._precomputed:
            return super()._open(X, reset)
        if not reset:
            return open_cross_distances(X, self.n_features_in_, self.labels_, self.memory)
        found = open_distances(X, self.memory)
        self.n_features_in_, self.labels_ = found.D.shape[0], found.labels
        return found

    def _labels(self, opened: Any, n: int) -> tuple[str, ...] | None:
        if not self._precomputed:
            return super()._labels(opened, n)
        return self.labels_ if n == self.n_features_in_ else None

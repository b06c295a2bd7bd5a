"""Kernel principal component analysis, and kernel MDS.

1. kernel     K_ij = k(x_i, x_j): stored while it fits the budget, else computed anew in tiles for
              every product
2. center     H K H (center=False leaves K as it is: kernel MDS, k(x_i, x_j) ~ <z_i, z_j>)
3. embed      H K H = V L V',  Z = V L^1/2,  largest algebraic first
4. functions  f_i = sum_j V_ji L_i^-1/2 k(x_j, .) are orthonormal in the kernel's Hilbert space
5. new point  the row k(x, x_j), centered as the training rows were, times V L^-1/2

B. Scholkopf, A. Smola and K.-R. Muller, Neural Computation 10 (1998).
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gramian.data.centering import Centering
from gramian.data.dask.lazy import is_lazy
from gramian.data.door import as_numbers
from gramian.errors import InputError
from gramian.gram.kernel_arguments import (
    alpha_of,
    refuse_overflow,
    refuse_sizes,
)
from gramian.gram.kernel_functions import KernelFunctions, preimages
from gramian.gram.kernel_map import KernelMap
from gramian.gram.kernels import kernel_diagonal, own_blocks
from gramian.gram.tiles import SymmetricTiles
from gramian.maps import Array
from gramian.memory import budget
from gramian.methods.embedder import generator, warn
from gramian.methods.kernels import KernelReader
from gramian.methods.landmarks import FilePoints, stay_in_file, too_many
from gramian.methods.similarity import as_points
from gramian.show.text import count, number, percent
from gramian.spectral.gram_embedding import GramEmbedding, negativity
from gramian.spectral.krylov import default_tolerance
from gramian.spectral.pivoted import (
    NystromEmbedding,
    nystrom_bytes,
    nystrom_plan,
)
from gramian.spectral.plan import Expected, Plan, plan
from gramian.spectral.spread import by_landmarks

_sampled = 1_000  # points of a file from which parameters of a kernel are decided
_around = 4  # visits to such points beside those of choosing landmarks


class KernelPCA(KernelReader):
    """Kernel principal component analysis, certified.

    Parameters
    ----------
    n_components : int or None
        How many axes; all with a positive eigenvalue if ``None``.
    kernel : str or callable
        A name of ``gramian.kernels.KERNELS``, "precomputed", or a function k(X, Y) of two arrays of
        points that returns their similarities.
    gamma : float, "median" or None
        Of kernels that have one; 1 / p by default, "median" for 1 / median |x - y|^2.
    degree, coef0 : float
        Of the polynomial and sigmoid kernels.
    kernel_params : mapping, optional
        Other parameters of the kernel: ``sigma``, ``alpha``, ``nu``, or those of a callable.
    center : bool
        Whether the mean in the kernel's space is the origin. ``False`` is kernel MDS.
    landmarks : int, optional
        Use so many points, chosen by randomly pivoted Cholesky (Nystrom), instead of all: an
        approximation, whose error is in ``approximation_error_``. A kernel that is seen not to be
        positive semi-definite is refused.
    alpha : float
        Ridge of the regression from coordinates to points (``inverse_transform``), in units of a
        kernel whose diagonal is 1.
    solver : {"auto", "dense", "krylov", "arpack"} or Solver
    memory : int, str or None
        Budget, e.g. ``"4GB"``; by default 80 % of what is available.
    random_state : int, Generator, RandomState or None

    Attributes
    ----------
    embedding_ : array of shape (n, k)
        A Dask array, not computed, where landmarks of a Dask array were taken; ``X_fit_`` then
        holds the landmarks alone, and a model file of it the landmarks and their coordinates.
    eigenvalues_, residuals_ : array of shape (k,)
        Of the (centered) kernel matrix, largest first; the certificate.
    eigenvectors_ : array of shape (n, k)
    negativity_ : float
        |most negative eigenvalue| / largest: 0 for a Mercer kernel. By theorem for the named ones;
        measured (beyond 1,000 points within 3 % of itself or 0.002) for polynomial, sigmoid,
        precomputed and callable kernels.
    approximation_error_ : float
        Share of the kernel's trace that landmarks miss; 0 without them.
    n_positive_, n_samples_ : int
    functions_ : KernelFunctions
        The orthonormal functions f_i: ``functions_(X)`` evaluates them.
    gamma_ : float or None
    labels_ : tuple of str or None
        Names of the points, if a precomputed kernel came with names.
    residual_known_ : bool
        Whether ``placement_residual`` can do without ``own``.
    plan_ : Plan

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import KernelPCA
    >>> X = np.array([[0.0, 0.0], [0.1, 0.0], [5.0, 5.0], [5.1, 5.0]])
    >>> KernelPCA(1, kernel="rbf", gamma=0.1).fit_transform(X)[:, 0].round(2)
    array([ 0.7,  0.7, -0.7, -0.7])
    """

    reads = "points"
    axis_prefix = "KPC"

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: Any = "linear",
        gamma: float | str | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: Any = None,
        center: bool = True,
        landmarks: int | None = None,
        alpha: float = 1e-3,
        solver: Any = "auto",
        memory: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.center = center
        self.landmarks = landmarks
        self.alpha = alpha
        self.solver = solver
        self.memory = memory
        self.random_state = random_state

    def _fit(self, opened: Any, weights: Any = None) -> None:
        n, rng = opened.rows.shape[0], generator(self.random_state)
        self._check_settings()
        self.n_samples_, unit = n, 1.0
        k = self._checked_count(n, self.center)
        if self._precomputed:
            if self.landmarks is not None:
                raise InputError("landmarks need points; a precomputed kernel is there in full")
            given, unit = self._given(opened)
            diagonal, dtype = self._diagonal, opened.rows.dtype
        elif self.landmarks is not None and hasattr(opened.rows, "by_rows"):
            return self._embed_spread(opened.rows.by_rows(), k, rng)
        elif self.landmarks is not None and self._by_visits(opened, k):
            return self._fit_far(FilePoints(opened.rows), k, rng)
        else:
            self.X_fit_ = as_points(opened, self.memory).copy()
            dtype = self.X_fit_.dtype
            refuse_overflow(self.X_fit_)
            self._decide_kernel()
            diagonal = kernel_diagonal(self._k, self.X_fit_)
            refuse_sizes(diagonal, dtype)
            if self.landmarks is not None:
                return self._embed_by_landmarks(k, diagonal, rng)
            given = None
        quick = self._quick(given, k, n, diagonal)  # 1
        K: Any = quick if quick is not None and dtype == np.float32 else given
        if K is None:
            K = self._kernel_map() if quick is None else KernelMap(self._k, self.X_fit_)
        self._refuse_equal_points(K, diagonal)
        how = {"solver": self.solver, "memory": self.memory, "rng": rng}
        how |= {"quick": quick, "both_ends": not self._mercer}
        gram = GramEmbedding.of(K, k, diagonal=diagonal, center=self.center, **how)  # 2, 3
        self.approximation_error_ = 0.0
        self.negativity_ = self._negativity(gram, 0.0 if self._mercer else negativity(K, gram, rng))
        if self.negativity_ > 1e-3:
            warn(
                f"the kernel is not positive semi-definite: its most negative eigenvalue is "
                f"{self.negativity_:.1%} of the largest; it is left out, not its sign"
            )
        if self.n_components is None:
            gram = gram.first(max(gram.pairs.positive(), 1))
        self._embed(gram, dtype, unit)

    def _check_settings(self) -> None:
        if not isinstance(self.center, (bool, np.bool_)):
            raise InputError(f"center={self.center!r}: True or False is needed")
        alpha_of(self.alpha)

    @staticmethod
    def _negativity(gram: GramEmbedding, least: float) -> float:
        """|least eigenvalue| / largest, if the largest is positive beyond rounding."""
        pairs = gram.pairs
        largest, size = float(pairs.values[0]), max(abs(least), pairs.scale)
        noise = len(pairs.vectors) * np.finfo(np.float64).eps + float(pairs.residuals[0])
        if not largest > noise * size:
            raise InputError(
                "the kernel has no positive eigenvalue (beyond rounding), so there is nothing to "
                "embed: larger values must mean more alike; distances are for ClassicalMDS"
            )
        return abs(least) / largest

    def _planned(self, rows: Any) -> Plan:
        n, k = rows.shape[0], self._checked_count(rows.shape[0], self.center)
        item = np.dtype(rows.dtype).itemsize
        if self.landmarks is not None:
            spread, rank = hasattr(rows, "by_rows"), int(self.landmarks)
            far = too_many(rows, self.memory)
            held = not spread and self._holds_factor(n, k, rows.dtype)
            found = nystrom_plan(n, rank, k, item, self.memory, held=held)
            if spread:
                return by_landmarks(found, rows.by_rows(), rank)
            if not held:
                passes = _around + 2 * -(-rank // 64)
                route = found.route.replace("Cholesky", "Cholesky by visits to the file")
                needed = found.bytes + rows.visiting()[0]
                return replace(found, route=route, bytes=needed, passes=passes)
            return replace(found, passes=1 + -(-rank // 64) if far else 1)
        found = plan(Expected((n, n), rows.dtype), k, "largest", self.solver, self.memory)
        size = n * n * item * 11 // 10
        if size > budget(self.memory):
            return replace(found, route=f"kernel never stored, {found.route}", passes=40)
        route = f"kernel ({n} x {n}) stored, {found.route}"
        return replace(found, route=route, bytes=size + found.bytes, passes=1)

    def _similar(self, new: Array) -> tuple[Array, Array]:
        if self._precomputed:
            return self._in_units(new)[0], np.full(len(new), self._diagonal[0])
        against = self.X_fit_ if self.landmarks is None else self._landmark_points
        new = self._shifted(new)
        return self._k(new, against), kernel_diagonal(self._k, new)  # 5

    def _keeps(self) -> dict[str, Any]:
        points = {"_shift": "p", "_decided": dict, "gamma_": float | None}
        return {
            **super()._keeps(),
            **({"_diagonal": "n", "labels_": "text n?"} if self._precomputed else points),
            **({} if self.landmarks is None else {"X_fit_": "f p"}),
            "gram_": GramEmbedding if self.landmarks is None else NystromEmbedding,
            "approximation_error_": float,
            "n_samples_": int,
        }

    def _to_keep(self) -> KernelPCA:
        """Of points that stayed on workers the landmarks alone, with their coordinates."""
        if not is_lazy(self.embedding_):
            return self
        other, gram = copy(self), self.gram_
        Z = gram.place(self._k(self.X_fit_, self.X_fit_))
        roots = np.sqrt(np.maximum(self.eigenvalues_, 0.0))
        V = np.divide(Z, roots, out=np.zeros_like(Z), where=roots > 0)
        other.gram_ = replace(gram, pairs=replace(gram.pairs, vectors=V))
        other.eigenvectors_, other.embedding_ = V, Z.astype(self.embedding_.dtype)
        return other

    def _measured(self) -> dict[str, Any]:
        return {
            "gamma": getattr(self, "gamma_", None),
            "negativity": self.negativity_,
            "approximation_error": self.approximation_error_,
        }

    def _said(self) -> Iterator[str]:
        if self.landmarks is not None:
            yield (
                f"an approximation: {count(len(self.gram_.pivots), 'landmark')} of "
                f"{count(self.n_samples_, 'point')} miss "
                f"{percent(self.approximation_error_)} of the kernel's trace"
            )
        if len(self.embedding_) < self.n_samples_:
            yield "the other points were on a cluster: this file has the landmarks alone"
        if isinstance(self.kernel, str) and not self._precomputed:
            settings = [f"{name} = {number(value)}" for name, value in self._decided.items()]
            yield f"kernel {', '.join([self.kernel, *settings])}"
        if not self.center:
            yield "not centered: the origin is that of the kernel's space (kernel MDS)"
        if self.negativity_ > 0:
            yield (
                "the kernel is not positive semi-definite: its most negative eigenvalue is "
                f"{percent(self.negativity_)} of the largest; that part is left out"
            )

    @property
    def functions_(self) -> KernelFunctions:
        """Step 4: the orthonormal functions whose values are the coordinates (less their mean)."""
        check_is_fitted(self)
        self._needs_points("functions_")
        pairs = self.gram_.pairs.first(self.n_positive_)
        if self.landmarks is not None:
            factor = self.gram_.factor[:, : len(pairs)]
            return KernelFunctions(self._k, self._landmark_points, factor)
        return KernelFunctions(self._k, self.X_fit_, pairs.vectors / np.sqrt(pairs.values))

    @property
    def mercer_(self) -> tuple[Array, KernelFunctions]:
        """Eigenvalues l and functions phi of the empirical covariance operator L_K.

        (L_K f)(x) is the mean of k(x, x_j) f(x_j). With center=False the phi are orthonormal in
        its L2, and k(x, t) = sum l_i phi_i(x) phi_i(t) on the sample, if all are kept. With
        center=True the same holds of the phi less their mean over the sample, and of the centered
        kernel.
        """
        functions, n = self.functions_, self.n_samples_
        values = self.eigenvalues_[: self.n_positive_] / n
        scaled = functions.coefficients / np.sqrt(values)
        return values, KernelFunctions(functions.kernel, functions.X, scaled)

    def inverse_transform(self, X: Any, method: str | None = None) -> Array:
        """Points whose images lie near the coordinates ``X`` (pre-images).

        Parameters
        ----------
        X : array of shape (m, k)
        method : {"fixed-point", "ridge"}, optional
            The iteration of Mika et al. (rbf kernel only, and the default there), or a ridge
            regression from coordinates to points.
        """
        check_is_fitted(self)
        self._needs_points("inverse_transform")
        if self._kept_few:
            raise InputError(
                "inverse_transform needs all points of the fit, and this model was fitted to a "
                "file of which it keeps the landmarks only"
            )
        Z = as_numbers(X).astype(np.float64)
        if Z.shape[1] != self.n_components_:
            raise InputError(
                f"coordinates have {Z.shape[1]} columns, the model has {self.n_components_} axes"
            )
        if not np.isfinite(Z).all():
            raise InputError("coordinates hold NaN or infinity; points are found for numbers")
        found = preimages(
            Z,
            self.functions_,
            self.embedding_,
            self.X_fit_,
            center=self.center,
            rbf=self.kernel in ("rbf", "gaussian"),
            method=method,
            alpha=self.alpha,
        )
        return (found + self._shift).astype(self.embedding_.dtype)

    def _quick(self, K: Array | None, k: int, n: int, diagonal: Array) -> SymmetricTiles | None:
        """Half of a large kernel in float32, to search for pairs in."""
        given = None if K is None else lambda rows, columns: K[rows, columns].copy()
        fill = given or own_blocks(self._k, self.X_fit_)
        found = self._tiles(n, k, lambda w: SymmetricTiles.of(n, fill, w, center=self.center))
        if found is None or not self.center:
            return found
        # points that may all be equal are looked at one by one
        apart = np.abs(found.sums - diagonal) > 1e-6 * np.abs(diagonal)
        return found if apart.any() else None

    def _kernel_map(self) -> Any:
        """K as an array if the budget holds it, else as a map that is never stored."""
        n, X = len(self.X_fit_), self.X_fit_
        stored = n * n * X.dtype.itemsize * 11 // 10
        return self._k(X, X) if stored <= budget(self.memory) else KernelMap(self._k, X)

    def _checked_landmarks(self, k: int, n: int) -> int:
        rank = self.landmarks
        if isinstance(rank, bool) or not isinstance(rank, (int, np.integer)) or not k < rank <= n:
            raise InputError(
                f"landmarks={rank!r}: a whole number above n_components and at most n = {n}"
            )
        return int(rank)

    def _by_visits(self, opened: Any, k: int) -> bool:
        """Whether points stay where they are: in a file, or beside a factor that does not fit."""
        rows = opened.rows
        if stay_in_file(opened, self.memory):
            return True
        return hasattr(rows, "mapped") and not self._holds_factor(rows.shape[0], k, rows.dtype)

    def _holds_factor(self, n: int, k: int, dtype: Any) -> bool:
        """Whether n x landmarks numbers can be held, or the points must be visited again."""
        rank = self._checked_landmarks(k, n)
        return nystrom_bytes(n, rank, k, np.dtype(dtype).itemsize) <= budget(self.memory)

    def _embed_spread(self, rows: Any, k: int, rng: np.random.Generator) -> None:
        """By landmarks, of points that stay where they are, but for the landmarks."""
        n, p = rows.shape
        rank = self._checked_landmarks(k, n)
        moments = rows.moments(np.ones(1))
        self.X_fit_ = rows.take(np.arange(0, n, max(1, n // 1000)))  # what parameters depend on
        refuse_overflow(self.X_fit_)
        self._decide_kernel()
        if self._shift.any():
            self._shift = moments.mean.astype(rows.dtype)
            ones, nil = np.ones(p), np.zeros(p)
            rows = rows.then(Centering.of(moments.mean, nil, ones, np.ones(1), rows.dtype))
        tolerance = default_tolerance(rows.dtype)
        gram, self.X_fit_ = NystromEmbedding.far(
            rows,
            self._k,
            kernel_diagonal,
            rank,
            k,
            self.center,
            rng,
            tolerance,
            definite=self._mercer,
        )
        self.negativity_, self.approximation_error_ = 0.0, gram.error
        self._embed(gram, rows.dtype)

    def _embed_by_landmarks(self, k: int, diagonal: Array, rng: np.random.Generator) -> None:
        X, k_of = self.X_fit_, self._k
        self._embed_by_columns(lambda j: k_of(X, X[j]), k, diagonal, X.dtype, rng)
        self.plan_ = replace(self.plan_, passes=1)

    def _embed_by_columns(
        self, columns: Any, k: int, diagonal: Array, dtype: Any, rng: np.random.Generator
    ) -> None:
        n = len(diagonal)
        rank = self._checked_landmarks(k, n)
        expected = nystrom_plan(n, rank, k, dtype.itemsize, self.memory)
        tolerance = default_tolerance(dtype)
        gram = NystromEmbedding.of(
            columns,
            diagonal,
            rank,
            k,
            expected,
            self.center,
            rng,
            tolerance,
            definite=self._mercer,
        )
        self.negativity_, self.approximation_error_ = 0.0, gram.error
        self._embed(gram, dtype)

    def _fit_far(self, points: FilePoints, k: int, rng: np.random.Generator) -> None:
        """The same by landmarks for points in a file: a pass for every 64 of them.

        Where n x landmarks numbers do not fit, they are computed anew in each of some more passes.
        """
        n, dtype = points.shape[0], points.dtype
        if not self._holds_factor(n, k, dtype):
            rank = self._checked_landmarks(k, n)
            nystrom_plan(n, rank, k, dtype.itemsize, self.memory, held=False)  # or it is refused
            return self._embed_spread(points.rows.beside(6 * rank), k, rng)
        few = np.arange(0, n, -(-n // _sampled))  # as gamma="median" takes them
        self.X_fit_ = points.take(few)
        self._decide_kernel()  # parameters from a sample; the shift is any point near the mean
        k_of = self._k

        def columns(j: Array) -> Array:
            chosen = self._shifted(points.take(j))
            similar = k_of(chosen[:1], chosen).dtype
            return points.map_rows(lambda X: k_of(self._shifted(X), chosen), len(j), similar)

        diagonal = points.map_rows(
            lambda X: kernel_diagonal(k_of, self._shifted(X))[:, None], 1, np.float64
        )[:, 0]
        refuse_sizes(diagonal, dtype)
        self._embed_by_columns(columns, k, diagonal, dtype, rng)
        self.X_fit_ = self._shifted(points.take(self.gram_.pivots))
        self.plan_ = replace(self.plan_, passes=points.rows.passes)

    @property
    def _landmark_points(self) -> Array:
        return self.X_fit_ if self._kept_few else self.X_fit_[self.gram_.pivots]

    def _refuse_equal_points(self, K: Any, diagonal: Array) -> None:
        """All points equal: nothing to see."""
        stored = isinstance(K, np.ndarray)
        if not (self.center and stored and np.ptp(diagonal) == 0 and np.ptp(K) == 0):
            return
        if not self._precomputed and np.ptp(self.X_fit_, axis=0).any():
            raise InputError(
                "all points are equal to this kernel, though their numbers are not: these differ "
                "by too little or too much for it; scale the data, or change gamma"
            )
        raise InputError("all points are equal (to this kernel): there is nothing to embed")

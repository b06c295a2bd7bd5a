"""Principal component analysis of genotypes.

1. count        calls and copies of each variant; those that do not vary, are too rare or have too
                many missing calls are left out
2. standardize  z = (g - mean) / sqrt(2 f (1 - f)), f the allele frequency; a missing call is 0
3. pairs        K = Z Z' = U L U', largest first, each audited, Z decoded block by block
4. normalize    eigenvalues as smartpca (their sum is n - 1), as plink2 (each entry of K divided by
                the variants called in both samples) or divided by the number of variants
5. loadings     V = Z' U, columns of length one; coordinates are U L^1/2
6. new sample   a = argmin |z - V a| over its called variants, divided by the shrinkage: a sample
                that took no part in the fit lies nearer to the center by (l - 1) / (l - 1 + m / n)

N. Patterson, A. L. Price & D. Reich, Population structure and eigenanalysis, PLoS Genetics 2
(2006); S. Lee, F. Zou & F. A. Wright, Convergence and prediction of principal component scores in
high-dimensional settings, Annals of Statistics 38 (2010).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from gramian.data.door import Opened, open_rows
from gramian.data.genotypes import (
    Standardized,
    fitted_to_calls,
    lengths,
    outer_over_calls,
    refuse_samples_without_calls,
    refuse_what_is_no_array,
    standardized,
)
from gramian.data.plink import BedRows
from gramian.data.variants import (
    Calls,
    Variants,
    describe,
    in_variants,
    refuse_other_variants,
    survey,
    swapped_alleles,
)
from gramian.errors import CertificateWarning, InputError
from gramian.inference.choose import counted_components
from gramian.inference.shrinkage import score_shrinkage
from gramian.maps import Array
from gramian.methods.embedder import Embedder, generator, row_by_row, warn
from gramian.quality.kinship import look_for_relatives
from gramian.results import Embedding
from gramian.show.text import count
from gramian.spectral.eigenpairs import eigenpairs
from gramian.spectral.plan import Plan, plan, plan_axes
from gramian.spectral.principal import Axes, RowGram, row_pairs
from gramian.spectral.spread import of_samples

SCALINGS = ("patterson", "unit", "none")
NORMALIZATIONS = ("smartpca", "plink2", "variants")


class GenotypePCA(Embedder):
    """Principal component analysis of genotypes, certified, straight from two-bit PLINK files.

    Parameters
    ----------
    n_components : int or None
        How many axes; ``None`` for all, min(n - 1, p).
    scaling : {"patterson", "unit", "none"}
        Deviations from the mean number of copies are divided by sqrt(2 f (1 - f)), f the frequency
        of the allele; by their standard deviation; or by nothing.
    normalization : {"smartpca", "plink2", "variants"}
        What eigenvalues are: as of smartpca, whose sum is n - 1, with frequencies
        (1 + copies) / (2 + 2 calls); as of plink2, whose relationship matrix averages over the
        variants called in both samples; or of Z Z' divided by the number of variants.
    min_frequency : float
        Variants whose rarer allele has a smaller frequency are left out. Those that do not vary
        always are.
    max_missing : float
        Variants with a larger share of missing calls are left out.
    solver : {"auto", "dense", "krylov", "arpack"} or Solver
        "auto" lets the plan choose (see ``plan_``).
    memory : int, str or None
        Budget for work space, e.g. ``"4GB"``; by default 80 % of what is available.
    random_state : int, Generator, RandomState or None
        Start of the iterative solver. ``None`` means 0: the same answer every time.
    checkpoint : path, Checkpoint or None
        A file that keeps what was done. A fit that was stopped, even killed, and is started again
        goes on from there and gives the same bits; the file is removed when the fit ends well.

    Attributes
    ----------
    embedding_ : array of shape (n, k)
        Coordinates of the samples: eigenvectors times roots of eigenvalues.
    eigenvectors_ : array of shape (n, k)
        Of length one, as smartpca and plink2 print them. (With missing calls smartpca, and we by
        its normalization, print the least squares over the calls that are there.)
    eigenvalues_, explained_variance_ratio_ : array of shape (k,)
    components_ : array of shape (k, p)
        Loadings of the variants, of length one; 0 for variants left out.
    mean_, scale_, frequencies_ : array of shape (p,)
        Of the variants: mean number of copies, what deviations were divided by, and half the mean.
    kept_ : array of int
        Which variants took part.
    samples_, alleles_ : tuple of str or None
        Names of the samples, with their families where a name occurs twice; of each variant the
        allele counted and the other.
    shrinkage_ : array of shape (k,)
        How much nearer to the center samples outside the fit come to lie; ``project`` undoes it.
    effective_variants_ : float
        As many independent variants would scatter the other eigenvalues as much.
    related_ : list of (int, int, float)
        Pairs of samples that look like first-degree relatives or duplicates, and their kinship.
    residuals_ : array of shape (k,)
        The certificate: |K u - l u| / l_1 of each axis, measured.
    n_components_, n_samples_, n_variants_ : int
    plan_ : Plan
        How it was computed.

    Notes
    -----
    Data are a PLINK file (``.bed`` beside its ``.bim`` and ``.fam``) or an array of copies of an
    allele: 0, 1, 2, any dosage between, NaN for a missing call. With ``scaling="unit"`` or
    ``"none"`` any real numbers will do. A Dask array is visited in blocks of variants, where they
    lie; ``transform``, ``project`` and ``placement_residual`` of one are Dask arrays.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import GenotypePCA
    >>> rng = np.random.default_rng(0)
    >>> f = np.repeat([rng.uniform(0.2, 0.8, 300), rng.uniform(0.2, 0.8, 300)], 20, axis=0)
    >>> X = rng.binomial(2, f).astype(float)  # 40 samples of two peoples
    >>> X[3, 7] = np.nan
    >>> model = GenotypePCA(2).fit(X)
    >>> bool((np.sign(model.embedding_[:20, 0]) == -np.sign(model.embedding_[20:, 0])).all())
    True
    >>> model.eigenvalues_.round(1)
    array([5.7, 1.5])
    """

    axis_prefix = "PC"
    plan_: Plan
    alleles_: tuple[str, ...] | None
    samples_: tuple[str, ...] | None
    _people: tuple[str, ...] | None
    _later = frozenset({"_people"})

    def __init__(
        self,
        n_components: int | None = 10,
        *,
        scaling: str = "patterson",
        normalization: str = "smartpca",
        min_frequency: float = 0.0,
        max_missing: float = 1.0,
        solver: Any = "auto",
        memory: Any = None,
        random_state: Any = None,
        checkpoint: Any = None,
    ) -> None:
        self.n_components = n_components
        self.scaling = scaling
        self.normalization = normalization
        self.min_frequency = min_frequency
        self.max_missing = max_missing
        self.solver = solver
        self.memory = memory
        self.random_state = random_state
        self.checkpoint = checkpoint

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the axes of ``X``: a .bed file, or copies of an allele (``y`` is ignored)."""
        return super().fit(X)

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Fit, and the coordinates of the samples."""
        return np.asarray(self.fit(X).embedding_)

    @row_by_row("_n_features_out")
    def project(self, X: Any) -> Array:
        """Coordinates of samples that took no part in the fit, comparable with ``embedding_``.

        Missing calls are left out of the least squares rather than taken for average, and the
        pull toward the center is undone (``shrinkage_``). For samples of the fit themselves use
        ``transform``.
        """
        check_is_fitted(self)
        opened = self._open(X, reset=False)
        found, poor = self._least_squares(opened, self._standardized(opened))
        if poor.any():
            who = describe(int(np.argmax(poor)), opened.labels)
            raise InputError(f"{who} has too few calls to be placed; leave it out")
        return np.asarray(found * (self._gain / self.shrinkage_)).astype(opened.rows.dtype)

    def to_embedding(
        self,
        X: Any = None,
        *,
        labels: Sequence[str] | None = None,
        columns: Mapping[str, Any] | None = None,
        details: bool = False,
    ) -> Embedding:
        """Coordinates with spectrum, certificate and names: for report, plot and table.

        Parameters
        ----------
        X : as for ``fit``, optional
            By default the samples of the fit. Samples of a file that the fit does not know, by
            family and name, are placed by ``project``, and a note says so.
        labels : sequence of str, optional
            Names of the samples; by default those that came with them.
        columns : mapping, optional
            Further columns by name, for color and hover.
        details : bool
            Nothing more is known here.
        """
        check_is_fitted(self)
        if X is None:
            named = self.samples_ if labels is None else labels
            return self._embedding(self.embedding_, named, columns)
        X = open_rows(X, self.memory) if isinstance(X, (str, os.PathLike)) else X
        found = super().to_embedding(X, labels=labels, columns=columns)
        fitted, here = self._people, getattr(getattr(X, "rows", None), "people", None)
        if fitted is None or here is None:  # one of them is no file that knows families
            fitted, here = self.samples_, found.labels
        known, names = set(fitted or ()), set(self.samples_ or ())
        new = np.array([who not in known for who in here or ()], bool)
        if not known or not new.any():
            return found
        Z = np.where(new[:, None], self.project(X), found.coordinates)
        many = count(int(new.sum()), "sample")
        note = f"{many} took no part in the fit; shrinkage of theirs is undone"
        alike = int(np.sum(new & [name in names for name in found.labels or here or ()]))
        if alike:
            note += f" (in the fit {count(alike, 'name')} of theirs had another family)"
        return replace(found, coordinates=Z, notes=(note, *found.notes))

    def _scores(self, Z: Any) -> Array:
        """V' z of each row."""
        B = self.components_[:, self.kept_]
        return np.asarray(Z @ np.ascontiguousarray(B.T, Z.dtype), np.float64)

    def _least_squares(self, opened: Opened, Z: Any) -> tuple[Array, Array]:
        """argmin |z - V a| over the called variants; which samples have too few for that."""
        B = self.components_[:, self.kept_]
        return fitted_to_calls(self._scores(Z), B, opened.rows, self.kept_)

    @row_by_row()
    def placement_residual(self, X: Any) -> Array:
        """Distance of each standardized row of ``X`` from the plane of the axes."""
        check_is_fitted(self)
        opened = self._open(X, reset=False)
        Z = self._standardized(opened)
        scores = self._scores(Z)
        left = np.maximum(lengths(Z) - np.einsum("ij,ij->i", scores, scores), 0.0)
        return np.sqrt(left / self._divisor)

    def _fit(self, opened: Opened, weights: Any = None) -> None:
        self._check_settings()
        rows, n = opened.rows, opened.rows.shape[0]
        calls = survey(rows, self.scaling == "patterson")  # 1
        self._choose(calls, opened)
        Z = self._standardized(opened)  # 2
        k = counted_components(self.n_components, min(n - 1, rows.shape[1]))
        total = float(np.sum((calls.spread / np.square(self._safe_scale))[self.kept_]))
        found, K, trace = self._pairs(Z, rows, calls, k, total)  # 3, 4
        self._keep(found, Z, trace)  # 5
        self._shrink(K if K is not None else RowGram(Z), found.pairs.vectors, trace)  # 6
        if self.normalization == "smartpca" and calls.missing.any():
            self._replace(opened, Z)
        self.plan_ = replace(self.plan_, passes=Z.passes)
        self._warn_of_relatives(rows, calls, opened.labels)

    def _pairs(
        self, Z: Any, rows: Any, calls: Calls, k: int, total: float
    ) -> tuple[Axes, Array | None, float]:
        """Pairs of the matrix in the units asked for, the matrix where it was formed, its trace."""
        how = {"solver": self.solver, "memory": self.memory, "rng": generator(self.random_state)}
        n, m = Z.shape
        gaps = bool(calls.missing.any())
        if self.normalization == "plink2" and gaps and total > 0:
            followed = plan(np.broadcast_to(0.0, (n, n)), k, "largest", self.solver, self.memory)
            K, self._divisor = outer_over_calls(Z, rows, self.kept_)
            route = f"{followed.route}, each entry over the variants called in both samples"
            found = Axes(eigenpairs(K, k, **how), replace(followed, route=route))
            return found, K, float(K.trace())
        self._divisor = total / (n - 1) if self.normalization == "smartpca" else float(m)
        self._divisor = self._divisor or 1.0
        found = row_pairs(Z, k, **how)
        pairs, by = found.pairs, self._divisor
        units = replace(pairs, values=pairs.values / by, scale=pairs.scale / by)
        return replace(found, pairs=units), None, total / self._divisor

    def _choose(self, calls: Calls, opened: Opened) -> None:
        """Step 1: which variants take part, with their means and scales."""
        chosen = Variants.of(
            calls,
            self.scaling,
            min_frequency=self.min_frequency,
            max_missing=self.max_missing,
            pulled=self.normalization == "smartpca",
        )
        refuse_samples_without_calls(opened.rows, calls, chosen.kept, opened.labels)
        self.kept_, self.notes_ = chosen.kept, chosen.notes
        self.mean_, self.scale_, self.frequencies_ = chosen.mean, chosen.scale, chosen.mean / 2
        self.n_samples_, self.n_variants_ = opened.rows.shape[0], len(chosen.kept)

    @property
    def _safe_scale(self) -> Array:
        return np.where(self.scale_ > 0, self.scale_, 1.0)

    def _standardized(self, opened: Opened) -> Any:
        """Z of these rows, by the means and scales of the fit."""
        rows, kept = opened.rows, self.kept_
        swapped = swapped_alleles(rows, self.alleles_)[kept]
        return standardized(rows, kept, self.mean_[kept], self._safe_scale[kept], swapped)

    def _keep(self, found: Axes, Z: Any, trace: float) -> None:
        """The public attributes, loadings included."""
        pairs = found.pairs
        if not pairs.certified:
            warn(
                f"an axis has residual {pairs.residuals.max():.1e}, asked for "
                f"{pairs.tolerance:.1e}; see residuals_",
                CertificateWarning,
            )
        values = np.maximum(pairs.values, 0.0)
        values[values < 1e-12 * values[:1].sum()] = 0.0
        U = np.ascontiguousarray(pairs.vectors)
        V = np.asarray(Z.adjoint(U), np.float64)
        norms = np.sqrt(np.einsum("ij,ij->j", V, V))
        usable = values > 0
        inverse = np.divide(1.0, norms, out=np.zeros_like(norms), where=usable & (norms > 0))
        self.components_ = np.zeros((len(values), len(self.mean_)), Z.dtype)
        self.components_[:, self.kept_] = (V * inverse).T
        under = self._divisor * np.sqrt(values)
        self._gain = np.divide(norms, under, out=np.zeros_like(norms), where=usable)
        self.eigenvalues_, self.eigenvectors_ = values, U.astype(Z.dtype)
        self.embedding_ = (U * np.sqrt(values)).astype(Z.dtype)
        self.explained_variance_ratio_ = values / trace if trace > 0 else np.zeros_like(values)
        self.residuals_, self.tolerance_, self.plan_ = pairs.residuals, pairs.tolerance, found.plan
        self.n_components_ = len(values)

    def _replace(self, opened: Opened, Z: Any) -> None:
        """Samples with missing calls placed anew by least squares, as smartpca prints them."""
        found, _ = self._least_squares(opened, Z)
        norms = np.linalg.norm(found, axis=0)
        inverse = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
        self._gain = np.sqrt(self.eigenvalues_) * inverse
        self.eigenvectors_ = (found * inverse).astype(Z.dtype)
        self.embedding_ = (found * self._gain).astype(Z.dtype)

    def _shrink(self, K: Any, U: Array, trace: float) -> None:
        """Step 6: from the spread of the eigenvalues that were not asked for."""
        U = U.astype(np.float64)
        units = self._divisor if isinstance(K, RowGram) else 1.0
        rng = np.random.default_rng(0)
        found = score_shrinkage(K, U, self.eigenvalues_, trace, units, rng)
        self.shrinkage_, self.effective_variants_ = found.factors, found.effective

    def _warn_of_relatives(self, rows: Any, calls: Calls, labels: Any) -> None:
        """Close relatives draw axes of their own: said, if the data can tell."""
        self.related_: list[tuple[int, int, float]] = []
        if not calls.whole:
            return
        f = self.frequencies_[self.kept_]
        self.related_, sentence, alarming = look_for_relatives(rows, self.kept_, f, labels)
        self.notes_ += (sentence,) * bool(sentence)
        if alarming:
            warn(sentence)

    def _check_settings(self) -> None:
        for name, known in (("scaling", SCALINGS), ("normalization", NORMALIZATIONS)):
            if getattr(self, name) not in known:
                raise InputError(f"{name}={getattr(self, name)!r}: use one of {', '.join(known)}")
        for name, most in (("min_frequency", 0.5), ("max_missing", 1.0)):
            said = getattr(self, name)
            if isinstance(said, (bool, str)) or not 0 <= said <= most:
                raise InputError(f"{name}={said!r}: a number from 0 to {most:g} is needed")

    def _place(self, opened: Opened) -> Array:
        Z = self._standardized(opened)
        smart = self.normalization == "smartpca"
        found = self._least_squares(opened, Z)[0] if smart else self._scores(Z)
        return np.asarray((found * self._gain).astype(opened.rows.dtype))

    def _planned(self, rows: Any) -> Plan:
        n, p = rows.shape
        k = counted_components(self.n_components, min(n - 1, p))
        if isinstance(rows, BedRows):
            rows = Standardized(rows, np.arange(p), np.zeros((p, 4)))
        rows = in_variants(rows)
        found = plan_axes(rows, k, self.solver, self.memory, rows=True)
        return of_samples(found, rows, k)

    def _open(self, X: Any, reset: bool) -> Opened:
        if hasattr(X, "tocsr"):
            raise InputError("sparse input is not supported: pass a .bed file, or X.toarray()")
        given = open_rows(X, self.memory) if isinstance(X, (str, os.PathLike, Opened)) else X
        rows: Any = given.rows if isinstance(given, Opened) else None
        if not hasattr(rows, "alleles"):
            opened = super()._open(given, reset)
            opened = opened._replace(rows=in_variants(opened.rows))
            refuse_what_is_no_array(opened.rows, self.memory)
            if reset:
                self.alleles_, self._people, self.samples_ = None, None, opened.labels
            return opened
        opened = given
        n, p = rows.shape
        if reset and n < 2:
            raise InputError("at least 2 samples are needed, the file has 1")
        if reset:
            validate_data(self, np.empty((0, p)), reset=True, skip_check_array=True)
            self.feature_names_in_ = np.array(opened.columns, dtype=object)
            self.alleles_, self._people, self.samples_ = rows.alleles, rows.people, opened.labels
            return opened
        names = getattr(self, "feature_names_in_", None)
        refuse_other_variants(rows, self.n_features_in_, names)
        return opened

    def _keeps(self) -> dict[str, Any]:
        by_axis = "eigenvalues_", "explained_variance_ratio_", "residuals_", "shrinkage_", "_gain"
        return {
            **super()._keeps(),
            **dict.fromkeys(by_axis, "k"),
            **dict.fromkeys(("mean_", "scale_", "frequencies_"), "p"),
            **dict.fromkeys(("embedding_", "eigenvectors_"), "n k"),
            **dict.fromkeys(("_divisor", "effective_variants_", "tolerance_"), float),
            "components_": "k p",
            "kept_": "m -> p",
            "alleles_": "text p?",
            "samples_": "text n?",
            "_people": "text n?",
            "related_": list,
            "notes_": tuple,
            "n_samples_": "=n",
            "n_variants_": "=m",
            "plan_": Plan,
        }

    def _shown(self) -> dict[str, Any]:
        names = getattr(self, "feature_names_in_", None)
        return {
            "eigenvalues": self.eigenvalues_,
            "explained": self.explained_variance_ratio_,
            "residuals": self.residuals_,
            "tolerance": self.tolerance_,
            "plan": str(self.plan_),
            "variables": None if names is None else tuple(map(str, names)),
            "loadings": self.components_.T,
            "measures": {
                "variants": self.n_variants_,
                "effective_variants": self.effective_variants_,
                "placement_shrinkage": tuple(map(float, self.shrinkage_)),
                "related_pairs": len(self.related_),
            },
            "notes": self.notes_,
        }

    def _judged(self, opened: Any, Z: Array) -> dict[str, Any]:
        return {}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        tags.input_tags.allow_nan = True
        return tags

"""Horn's parallel analysis: keep the axes that beat those of unrelated variables.

1. observe    l_1 >= l_2 >= ...   eigenvalues of the covariance (scale="unit": correlation) matrix
2. break      permute every column on its own: what each variable is stays, what joins them goes
3. repeat     R times; l_i^r are the eigenvalues of replicate r
4. compare    p_i = #{r : l_i^r > l_i} / R,   and without bias (1 + #{r : l_i^r >= l_i}) / (1 + R)
5. keep       axes as long as the second p is at most alpha, and stop at the first that is not

The permuted data are one more draw from the same law if the variables are independent, so under
independence the second p of axis 1 is at most alpha with probability at most alpha: exactly, for
any n, p and law.  Where alpha R is whole, "first p < alpha" is the same rule. Eigenvalues of the
size of rounding (constant columns, fewer rows than columns) are never kept.

J. L. Horn, A rationale and test for the number of factors in factor analysis, Psychometrika 30
(1965); A. Buja & N. Eyuboglu, Remarks on parallel analysis, Multivar. Behav. Res. 27 (1992), for
permutations; D. Hong, Y. Sheng & E. Dobriban, Selecting the number of components in PCA via random
signflips (2020); B. Phipson & G. K. Smyth, Permutation p-values should never be zero (2010).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from textwrap import fill
from typing import Any

import numpy as np

from gramian import __version__
from gramian.checkpoint import checkpointing
from gramian.data.door import Opened, open_rows
from gramian.data.fingerprint import fingerprint
from gramian.errors import GramianWarning, InputError
from gramian.inference.choose import checked_level
from gramian.inference.null import KINDS, Null, Progress, seed_of
from gramian.inference.spectrum import Centered, center
from gramian.inference.table import axis_table
from gramian.maps import Array
from gramian.progress import tick
from gramian.show.text import count, number

BATCH = 20  # replicates between two looks at whether the decision is made
DEEPER = 8  # eigenvalues of the null asked for at first


@dataclass(frozen=True)
class ParallelAnalysis:
    """What parallel analysis found.

    Attributes
    ----------
    n_components : int
        How many axes to keep; 0 says that nothing joins the variables.
    eigenvalues : array
        Observed, all of them, largest first.
    kept : array of bool
        Of the axes tested: whether it is kept.
    null_mean, null_quantile : array
        Of the axes tested: mean and quantile 1 - alpha of their eigenvalues in the replicates.
    p_values : array
        Of the axes tested: #{null > observed} / R.
    p_values_unbiased : array
        (1 + #{null >= observed}) / (1 + R); this one decides.
    null_eigenvalues : array of shape (R, axes tested)
    n_permutations : int
        R, replicates drawn.
    alpha : float
    null, stop : str
    shape : (int, int)
    passes : int or None
        Visits to the data; ``None`` with ``method=``.
    """

    n_components: int
    eigenvalues: Array = field(repr=False)
    kept: Array = field(repr=False)
    null_mean: Array = field(repr=False)
    null_quantile: Array = field(repr=False)
    p_values: Array = field(repr=False)
    p_values_unbiased: Array = field(repr=False)
    null_eigenvalues: Array = field(repr=False)
    n_permutations: int
    alpha: float
    null: str
    stop: str
    shape: tuple[int, int]
    passes: int | None = None

    def quantiles(self, levels: Any) -> Array:
        """Quantiles of the null per axis tested, (levels, axes)."""
        return np.asarray(np.quantile(self.null_eigenvalues, levels, axis=0))

    @property
    def reading(self) -> str:
        """The result in one paragraph."""
        k, R, n_tested = self.n_components, self.n_permutations, len(self.p_values)
        how = {
            "permutation": f"{R} copies of the data with every column permuted",
            "signflip": f"{R} copies of the data with random signs",
            "normal": f"{R} tables of independent normal numbers",
        }[self.null]
        if k == 0:
            verdict = (
                "No axis carries more variance than the first axis of unrelated variables does: "
                "these data show no sign of joint structure"
            )
        elif self.stop == "each":
            verdict = f"{count(k, 'axis', 'axes')} of {n_tested} carry more variance than chance"
        else:
            verdict = (
                f"The first {'axis carries' if k == 1 else f'{k} axes carry'} more variance than "
                "unrelated variables would"
            )
        failed = ""
        if k < n_tested and self.stop == "sequential":
            p = number(self.p_values_unbiased[k], 3)
            failed = (
                f" Axis {k + 1} does not (eigenvalue {number(self.eigenvalues[k])}, under chance "
                f"{number(self.null_mean[k])} on average, p = {p})."
            )
        return (
            f"{verdict}, judged by {how} at level {number(self.alpha)}.{failed} Weak but real axes "
            "can hide below this limit."
        )

    def __str__(self) -> str:
        columns = {
            "eigenvalue": self.eigenvalues,
            "null mean": self.null_mean,
            "null limit": self.null_quantile,
            "p": self.p_values_unbiased,
        }
        lines = axis_table(columns, self.kept, self.n_components + 3)
        return "\n".join([*lines, "", fill(self.reading, 100)])


def parallel_analysis(
    X: Any,
    *,
    n_permutations: int = 199,
    alpha: float = 0.05,
    scale: str | None = None,
    null: str = "permutation",
    stop: str = "sequential",
    method: Any = None,
    early_stop: bool = False,
    memory: Any = None,
    random_state: Any = None,
    progress: Progress | None = None,
    checkpoint: Any = None,
) -> ParallelAnalysis:
    """How many axes carry more variance than chance gives them (Horn 1965).

    Parameters
    ----------
    X : array, frame, sparse matrix or path
    n_permutations : int
        Replicates R. A p-value can be no smaller than 1 / (1 + R).
    alpha : float
    scale : {None, "unit"}
        "unit" analyzes the correlation matrix.
    null : {"permutation", "signflip", "normal"}
        Columns permuted; entries of the centered data with random signs, which keeps differences of
        noise between rows too; or normal numbers with the columns' variances, as Horn did.
    stop : {"sequential", "each"}
        Stop at the first axis that fails, or judge each on its own.
    method : estimator, optional
        Any method with a spectrum (``explained_variance_`` or ``eigenvalues_`` after ``fit``):
        permuted data are embedded by a clone of it. Default: PCA.
    early_stop : bool
        Draw no more replicates once the decision cannot change. The decision is the same; p-values
        rest on fewer replicates.
    memory : int, str or None
        Budget, as in ``"4GB"``.
    random_state : int, Generator, RandomState or None
        ``None`` means 0. The same state gives the same p-values on any number of threads.
    progress : function of (done, total), optional
        Called after each replicate.
    checkpoint : path, Checkpoint or None
        A file that keeps the replicates drawn so far: started again, a run that was stopped goes
        on from there, with the same bits. Not with ``method``. Removed when all went well.

    Returns
    -------
    ParallelAnalysis

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import parallel_analysis
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 1)) @ rng.standard_normal((1, 8))
    >>> parallel_analysis(X + rng.standard_normal((100, 8))).n_components
    1
    """
    R, alpha = checked(n_permutations, alpha, null, stop)
    seed = seed_of(random_state)
    how = Test(R, alpha, null, stop, early_stop)
    if method is not None and checkpoint is not None:
        raise InputError(
            "checkpoint= keeps replicates of the data, and with method= there are none: each is "
            "embedded anew; leave one of the two out"
        )
    if method is not None:
        from gramian.inference.reembed import Reembedded

        source = Reembedded(X, method, scale, null, seed)
        return how.result(source, source.observed, source.shape, progress=progress)
    opened = open_rows(X, memory)
    settings = {"test": how, "scale": scale, "seed": seed, "memory": memory}
    with checkpointing(checkpoint, partial(identity, "parallel_analysis", settings, opened)):
        found = horn(center(opened, scale, memory), how, seed, progress)
    return replace(found, passes=opened.rows.passes)


def identity(what: str, settings: dict[str, Any], opened: Opened) -> dict[str, Any]:
    """What a checkpoint of parallel analysis is recognized by."""
    data = fingerprint(opened.rows)
    return {"gramian": __version__, "method": what, "settings": settings, "data": data}


@dataclass(frozen=True)
class Test:
    """How the observed spectrum is compared with that of replicates."""

    R: int
    alpha: float
    null: str = "permutation"
    stop: str = "sequential"
    early_stop: bool = False

    def result(
        self,
        source: Any,
        observed: Array,
        shape: tuple[int, int],
        *,
        floor: float = 0.0,
        in_units: Callable[[Array], Array] = np.asarray,
        progress: Progress | None = None,
    ) -> ParallelAnalysis:
        """Compare ``observed`` (all of it) with the replicates of ``source`` (steps 2 to 5).

        ``source.draw(count, ...)`` makes replicates, ``source.values(m, observed)`` gives the top m
        of each. Observed values up to ``floor`` are rounding.
        """
        R, most = self.R, len(observed)
        progress = progress or partial(tick, "permuting")
        m = most if self.stop == "each" else min(DEEPER, most)
        tie = 1e-10 * abs(float(observed[0]))
        drawn, open_end = 0, True
        while drawn < R and open_end:
            drawn = min(R, drawn + BATCH) if self.early_stop else R
            source.draw(drawn, progress, R)  # 2, 3
            while True:
                values = source.values(m, observed)
                above = np.sum(values > observed[:m] + tie, axis=0)  # 4
                reached = np.sum(values >= observed[:m] - tie, axis=0)
                unbiased = (1 + reached) / (1 + drawn)
                kept = (unbiased <= self.alpha * (1 + 1e-12)) & (observed[:m] > floor)
                if self.stop == "sequential":
                    kept = np.logical_and.accumulate(kept)
                if m == most or not kept.all():
                    break
                m = min(2 * m, most)
            open_end = not self._decided(reached, R - drawn)
        return ParallelAnalysis(
            n_components=int(kept.sum()),  # 5
            eigenvalues=in_units(observed),
            kept=kept,
            null_mean=in_units(values.mean(axis=0)),
            null_quantile=in_units(np.quantile(values, 1 - self.alpha, axis=0)),
            p_values=above / drawn,
            p_values_unbiased=unbiased,
            null_eigenvalues=in_units(values),
            n_permutations=drawn,
            alpha=self.alpha,
            null=self.null,
            stop=self.stop,
            shape=shape,
        )

    def _decided(self, reached: Array, left: int) -> bool:
        """Whether ``left`` more replicates cannot change the decision."""
        limit = self.alpha * (1 + self.R) * (1 + 1e-12) - 1
        passes, fails = reached + left <= limit, reached > limit
        if self.stop == "each":
            return bool(np.all(passes | fails))
        unsure = np.flatnonzero(~passes)
        return bool(not len(unsure) or fails[unsure[0]])


def horn(
    data: Centered, how: Test, seed: int, progress: Progress | None = None
) -> ParallelAnalysis:
    """Parallel analysis of centered data."""
    n, p = data.columns.shape
    if data.values[0] == 0:
        warnings.warn(
            "every column is constant: there is no variance to share out",
            GramianWarning,
            stacklevel=3,
        )
    observed = data.values[: max(min(n - 1, p), 1)]  # 1
    source = Null(data.columns, how.null, data.unit, seed)
    return how.result(
        source, observed, (n, p), floor=data.floor, in_units=data.in_units, progress=progress
    )


def horn_components(Y: Any, unit: bool, memory: Any, random_state: Any) -> int:
    """How many axes of centered rows to keep at level 0.05: for ``PCA(n_components="horn")``."""
    how = Test(199, 0.05, early_stop=True)
    return horn(Centered.of(Y, unit, memory=memory), how, seed_of(random_state)).n_components


def checked(R: Any, alpha: Any, null: str, stop: str) -> tuple[int, float]:
    """Number of replicates and level, or an error that says what they may be."""
    alpha = checked_level(alpha, "alpha", 0.05)
    if isinstance(R, bool) or not isinstance(R, (int, np.integer)) or R < 1:
        raise InputError(f"n_permutations={R!r}: give a whole number, such as 199")
    if alpha * (1 + 1e-12) < 1 / (1 + R):
        raise InputError(
            f"n_permutations={R} cannot give a p-value below {1 / (1 + R):.3g}, so nothing could "
            f"pass at alpha={alpha:g}; use at least {int(np.ceil(1 / alpha - 1e-9)) - 1}"
        )
    if null not in KINDS:
        raise InputError(f"null={null!r}: use one of {', '.join(map(repr, KINDS))}")
    if stop not in ("sequential", "each"):
        raise InputError(f"stop={stop!r}: use 'sequential' or 'each'")
    return int(R), alpha

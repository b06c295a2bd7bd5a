"""Cross-validation of the number of axes by leaving out single cells.

1. folds     rows in G groups at random; axes V_k and mean from the other groups
2. cell      of a row y left out, predict y_j from its other cells: least squares on V_k without
             row j. That residual is  (y - V_k V_k' y)_j / (1 - h_j),  h_j = sum of squares of row j
             of V_k, so no cell needs a fit of its own
3. error     mean over all cells of the squared residual, for k = 0, 1, 2, ...
4. choose    the k with the least error

Leaving out whole rows and projecting them onto V_k would not do: y itself would then take part in
its own prediction, and the error would fall for ever.

H. T. Eastment & W. J. Krzanowski, Technometrics 24 (1982); R. Bro, K. Kjeldahl, A. K. Smilde &
H. A. L. Kiers, Cross-validation of component models: a critical look at current methods, Anal.
Bioanal. Chem. 390 (2008).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gramian.errors import InputError, MemoryRefusedError
from gramian.inference.null import seed_of
from gramian.inference.spectrum import Centered, center
from gramian.loops.threads import one_blas_thread, run
from gramian.maps import Array
from gramian.memory import in_words

_work = 1e9  # multiplications spent on residuals of ever more axes


@dataclass(frozen=True)
class CrossValidation:
    """Mean squared error of cells left out, ``errors[k]`` with k axes; the least decides."""

    n_components: int
    errors: Array = field(repr=False)
    n_folds: int

    def __str__(self) -> str:
        lines = [f"{'axes':>4} {'error':>12}"]
        for k in range(min(len(self.errors), self.n_components + 4)):
            least = "  least" if k == self.n_components else ""
            lines.append(f"{k:>4} {self.errors[k]:>12.5g}{least}")
        return "\n".join(lines)


def cross_validation(
    X: Any,
    *,
    scale: str | None = None,
    n_folds: int = 10,
    memory: Any = None,
    random_state: Any = None,
) -> CrossValidation:
    """How many axes predict cells that were left out best.

    Parameters
    ----------
    X : array, frame, sparse matrix or path
    scale : {None, "unit"}
    n_folds : int
        Groups of rows; as many as there are rows leaves out one row at a time.
    memory : int, str or None
    random_state : int, Generator, RandomState or None
    """
    return left_out(center(X, scale, memory), n_folds, seed_of(random_state))


def left_out(data: Centered, n_folds: Any = 10, seed: int = 0) -> CrossValidation:
    """Cross-validation of centered data (steps 1 to 4)."""
    n, p = data.shape
    if isinstance(n_folds, bool) or not isinstance(n_folds, (int, np.integer)) or n_folds < 2:
        raise InputError(f"n_folds={n_folds!r}: give a whole number of at least 2")
    folds = min(int(n_folds), n)
    if 40 * n * p > data.columns.room:
        raise MemoryRefusedError(
            f"cross-validation needs {in_words(40 * n * p)}, the budget is "
            f"{in_words(data.columns.room)}; raise memory=, or give a sample of the rows"
        )
    Y = np.ascontiguousarray(data.columns.read(0, p).T)
    group = np.random.default_rng(seed).permutation(n) % folds
    fewest = n - int(np.bincount(group).max())
    most = max(0, min(p - 1, fewest - 1, data.rank - 1, max(1, int(_work / (n * p)))))
    errors = np.zeros((folds, most + 1))

    def piece(g: int) -> None:
        train, test = Y[group != g], Y[group == g]  # 1
        mean = train.mean(axis=0)
        V = _axes(train - mean, most)
        errors[g] = cell_errors(test - mean, V)

    with one_blas_thread():
        run(piece, folds)
    mean_error = errors.sum(axis=0) / (n * p)  # 3
    return CrossValidation(
        n_components=int(np.argmin(mean_error)),  # 4
        errors=data.in_units(mean_error * (n - 1)),
        n_folds=folds,
    )


def cell_errors(Y: Array, V: Array) -> Array:
    """Sums of squared residuals of cells left out, with 0, 1, ..., k of the axes V (step 2)."""
    rest, free = Y.copy(), np.ones(Y.shape[1])
    out = [float(np.sum(rest**2))]
    for v in V.T:
        rest -= np.outer(Y @ v, v)
        free = free - v * v
        known = free > 1e-8  # else the other cells say nothing: all that is left is the mean
        out.append(float(np.sum(np.where(known, rest / np.where(known, free, 1.0), Y) ** 2)))
    return np.array(out)


def _axes(Y: Array, k: int) -> Array:
    """The first k axes of centered rows."""
    if Y.shape[0] >= Y.shape[1]:
        return np.linalg.eigh(Y.T @ Y)[1][:, ::-1][:, :k]
    values, U = np.linalg.eigh(Y @ Y.T)
    V = Y.T @ U[:, ::-1][:, :k]
    size = np.linalg.norm(V, axis=0)
    return np.divide(V, size, out=np.zeros_like(V), where=size > 1e-10 * np.sqrt(values[-1]))

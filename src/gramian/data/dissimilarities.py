"""The door for distances: whatever holds them becomes a checked symmetric matrix and its labels.

array, condensed vector, frame, scikit-bio matrix, path  ->  Dissimilarities(D, labels)

A path may be .npy or .npz (square or condensed), CSV, TSV or Parquet with or without labels,
scikit-bio's lsmat, or PHYLIP. What comes out is symmetric, has a zero diagonal, and was not copied
if it came in that way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt
from typing import Any

import numpy as np

from gramian.data.columns import listing, shown
from gramian.data.distance_checks import Labels, Survey, judge, mend, place, rounding
from gramian.data.distance_sources import Raw, open_raw, path_of, refuse_large
from gramian.data.npy import NpyRows, read_header
from gramian.errors import InputError
from gramian.loops.mirror import spotless
from gramian.maps import Array
from gramian.memory import budget


@dataclass(frozen=True)
class Dissimilarities:
    """Distances between n points, and what the points are called.

    Attributes
    ----------
    D : ndarray of shape (n, n), or RowBlocked
        float32 or float64, symmetric, zero diagonal; rows in a file if it is a ``.npy`` file that
        would take more than half of the memory budget.
    labels : tuple of str or None
    """

    D: Any
    labels: tuple[str, ...] | None


def open_distances(
    source: Any, memory: Any = None, *, missing: bool = False, decimal: str = "."
) -> Dissimilarities:
    """Distances between n points, checked.

    Parameters
    ----------
    source : array, condensed vector, frame, scikit-bio DistanceMatrix, path, or Dissimilarities
        Square, or the n (n - 1) / 2 distances in the order of ``scipy.spatial.distance.pdist``.
        Never modified; not copied if it is float32 or float64 and exactly symmetric.
    memory : int, str or None
        Budget; a square ``.npy`` file that takes more than half of it stays in its file.
    missing : bool
        Let NaN pass where it stands on both sides of the diagonal.
    decimal : {".", ","}
        The decimal sign of a text file.

    Returns
    -------
    Dissimilarities

    Raises
    ------
    InputError
        These are no distances; one sentence says what is wrong, where, and what to do. Deviations
        of the size of rounding (1e-8 of the largest distance) are mended silently.
    MemoryRefusedError
        The matrix does not fit the budget.
    """
    if isinstance(source, Dissimilarities):
        return source
    path = path_of(source)
    if path is not None and path.suffix.lower() == ".npy":
        shape = read_header(path)[0]
        if len(shape) == 2 and shape[0] == shape[1] > 1:
            rows = NpyRows(path, memory)
            if 2 * rows.dtype.itemsize * shape[0] ** 2 > budget(memory):
                return _in_file(rows, memory, missing=missing)
    raw = open_raw(source, path, memory, decimal=decimal)
    if raw.numbers.ndim == 1:
        raw = raw._replace(numbers=_squared(raw.numbers, raw.what, memory), ours=True)
    labels = _matched(raw)
    D, ours = _floats(raw, memory)
    if spotless(D):
        return Dissimilarities(D, labels)
    found = Survey.of(lambda rows, columns: D[rows, columns], len(D), D.dtype)
    judge(found, raw.what, labels, missing=missing)
    if not found.clean:
        if not ours:
            refuse_large(D.nbytes, raw.what, memory)
            D = D.copy()
        mend(D)
    return Dissimilarities(D, labels)


def open_cross_distances(
    source: Any,
    n: int,
    labels: Sequence[str] | None = None,
    memory: Any = None,
    *,
    missing: bool = False,
    decimal: str = ".",
) -> Array:
    """Distances of m new points to the n points of a fitted method.

    Parameters
    ----------
    source : array of shape (m, n), frame, path or Raw; an array of n values is one new point
    n : int
        How many points the method was fitted to.
    labels : sequence of str or None
        Their labels; where the columns have labels too, columns are put in this order.
    memory : int, str or None
        Budget.
    missing : bool
        Let NaN pass, as long as every new point has some distance.
    decimal : {".", ","}
        The decimal sign of a text file.

    Returns
    -------
    ndarray of shape (m, n)
        float32 or float64, finite (but for what is missing), nothing negative.
    """
    raw = source
    if not isinstance(source, Raw):
        raw = open_raw(source, path_of(source), memory, cross=True, decimal=decimal)
    X = raw.numbers[None, :] if raw.numbers.ndim == 1 else raw.numbers
    if X.ndim != 2 or X.shape[1] != n or not len(X):
        raise InputError(
            f"{raw.what} has the shape {raw.numbers.shape}; distances of m new points to the "
            f"{n} points of the fit are wanted, m rows of {n} columns"
        )
    X, _ = _floats(raw._replace(numbers=X), memory)
    if labels is not None and raw.columns is not None:
        X = X[:, _order(raw.columns, tuple(labels), raw.what)]

    def refuse(cells: Array, name: str) -> None:
        if cells.any():
            first = np.argwhere(cells)[0]
            raise InputError(
                f"{raw.what} has {int(cells.sum())} of its distances {name}, the first "
                f"{place((int(first[0]), int(first[1])), None)}; every new point needs its "
                f"distance to each of the {n} points"
            )

    unknown = np.isnan(X)
    refuse(unknown & (not missing or unknown.all(axis=1, keepdims=True)), "missing (NaN)")
    refuse(np.isinf(X), "infinite (inf)")
    refuse(X + rounding(X.dtype) * float(np.nanmax(X)) < 0, "negative (< 0)")
    return np.maximum(X, 0) if (X < 0).any() else X


def _squared(condensed: Array, what: str, memory: Any) -> Array:
    """The square matrix of a condensed vector."""
    m = len(condensed)
    n = (1 + isqrt(1 + 8 * m)) // 2
    if m == 0:
        raise InputError(f"{what} is empty: there are no distances; at least 2 points are needed")
    if n * (n - 1) // 2 != m:
        raise InputError(
            f"{what} has {m} values, which is no n (n - 1) / 2: {n} points have "
            f"{n * (n - 1) // 2} distances, {n + 1} have {n * (n + 1) // 2}; "
            "pass all pairs once (as scipy's pdist), or a square matrix"
        )
    dtype = _float_type(condensed.dtype)
    refuse_large(n * n * dtype.itemsize, what, memory)
    D = np.zeros((n, n), dtype)
    begin = 0
    for i in range(n - 1):
        end = begin + n - 1 - i
        D[i, i + 1 :] = D[i + 1 :, i] = condensed[begin:end]
        begin = end
    return D


def _float_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype(np.float32 if dtype.kind == "f" and dtype.itemsize <= 4 else np.float64)


def _floats(raw: Raw, memory: Any) -> tuple[Array, bool]:
    """The numbers as float32 or float64, and whether that memory is ours."""
    X, dtype = raw.numbers, _float_type(raw.numbers.dtype)
    if X.dtype == dtype and X.dtype.isnative:
        return X, raw.ours and X.flags.writeable
    refuse_large(X.size * dtype.itemsize, raw.what, memory)
    return X.astype(dtype), True


def _in_file(rows: NpyRows, memory: Any, *, missing: bool) -> Dissimilarities:
    """A matrix that stays in its file: checked in strips, each cell read once."""
    n = rows.shape[0]
    height = max(min(budget(memory) // (8 * rows.dtype.itemsize * n), 4096), 1)
    with rows.tiles() as read:
        found = Survey.of(read, n, rows.dtype, height)
    judge(found, rows.path.name, None, missing=missing)
    return Dissimilarities(rows, None)


def _matched(raw: Raw) -> Labels:
    """The labels of the points, the shape being that of a square."""
    shape, what = raw.numbers.shape, raw.what
    if len(shape) != 2 or shape[0] != shape[1]:
        rows = (
            "; if these are rows of data, compute distances first, for example with "
            "scipy.spatial.distance.pdist"
            if len(shape) == 2
            else ""
        )
        size = " x ".join(map(str, shape)) or "()"
        raise InputError(
            f"{what} has the shape {size} and is not square; distances "
            f"between n points are an n x n matrix or a vector of n (n - 1) / 2{rows}"
        )
    if shape[0] < 2:
        found = "1 sample" if shape[0] else "no points (0 samples)"
        raise InputError(f"{what} holds {found}; at least 2 points are needed")
    for names, side in ((raw.rows, "row"), (raw.columns, "column")):
        if names is not None and len(set(names)) < len(names):
            twice = [name for name, times in Counter(names).items() if times > 1]
            raise InputError(
                f"{what}: {side} labels must be different, but there are several of "
                f"{listing(map(shown, twice))}; rename them"
            )
    if raw.rows is not None and raw.columns is not None and raw.rows != raw.columns:
        _order(raw.columns, raw.rows, what)
        i = next(i for i, name in enumerate(raw.rows) if name != raw.columns[i])
        raise InputError(
            f"{what}: rows and columns have the same labels in another order (row {i} is "
            f"{shown(raw.rows[i])}, column {i} is {shown(raw.columns[i])}); put them in one order"
        )
    return raw.rows if raw.rows is not None else raw.columns


def _order(found: tuple[str, ...], wanted: tuple[str, ...], what: str) -> list[int]:
    """Where each wanted label stands among those found; an error names what lacks or exceeds."""
    positions = {name: i for i, name in enumerate(found)}
    lacking = [shown(name) for name in wanted if name not in positions]
    known = set(wanted)
    extra = [shown(name) for name in positions if name not in known]
    if lacking or extra:
        parts = [f"missing: {listing(lacking)}"] if lacking else []
        parts += [f"not expected: {listing(extra)}"] if extra else []
        raise InputError(
            f"{what}: labels of columns do not match ({'; '.join(parts)}); rename or remove them"
        )
    return [positions[name] for name in wanted]

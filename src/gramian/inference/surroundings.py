"""A table beside a configuration, checked, and what envfit multiplies (see ``environment``)."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.errors import InputError
from gramian.maps import Array
from gramian.quality.stress import configuration
from gramian.show.text import listed, visible

Factor = tuple[str, tuple[str, ...], Array]  # name, levels, code of each row


@dataclass(frozen=True)
class Surroundings:
    """Points Z (n, k) about their mean, variables P (n, q) about theirs, and factors.

    M (n, r + k + 1) holds the basis Q of the axes, Z and 1, all times the weights; T holds P, its
    squares, and the levels of the factors as columns of 0 and 1.
    """

    Z: Array
    middle: Array
    names: tuple[str, ...]
    P: Array
    factors: tuple[Factor, ...]
    w: Array
    M: Array
    T: Array
    kept: Array

    @staticmethod
    def of(Z: Any, table: Any, factors: Sequence[str], weights: Any, missing: str) -> Surroundings:
        """Check everything; leave out rows where that is asked for."""
        n = len(Z)
        Z = configuration(Z, n).astype(np.float64)
        columns = _columns(table, n)
        if unknown := [name for name in factors if name not in columns]:
            raise InputError(
                f"factors names {listed([visible(each) for each in unknown])}, and the table has "
                f"{listed([visible(each) for each in columns])}"
            )
        absent = np.array([[_absent(value) for value in column] for column in columns.values()])
        if absent.any() and missing != "drop":
            row, name = int(np.argmax(absent.any(axis=0))), ""
            name = list(columns)[int(np.argmax(absent[:, row]))]
            raise InputError(
                f"{visible(name)} has no value in row {row}, counted from 0; fill it in, or leave "
                'such rows out with missing="drop"'
            )
        kept = ~absent.any(axis=0)
        w = np.ones(n) if weights is None else np.asarray(weights, np.float64)
        if w.shape != (n,) or not np.isfinite(w).all() or (w < 0).any():
            raise InputError(f"weights are {n} finite numbers of at least 0, one a point")
        kept &= w > 0
        if kept.sum() < 3:
            raise InputError(f"envfit needs at least 3 points with all values, got {kept.sum()}")
        read = {name: [column[i] for i in np.flatnonzero(kept)] for name, column in columns.items()}
        numeric = {
            name: np.asarray(column, np.float64)
            for name, column in read.items()
            if name not in factors and _numeric(column)
        }
        groups = tuple(_factor(name, read[name]) for name in read if name not in numeric)
        return _prepared(Z[kept], numeric, groups, w[kept], kept)

    @property
    def n_rows(self) -> int:
        """Rows before any were left out."""
        return len(self.kept)

    @property
    def left_out(self) -> tuple[int, ...]:
        """Rows left out."""
        return tuple(np.flatnonzero(~self.kept).tolist())

    def r_squared(self, order: Array) -> Array:
        """Of every variable and factor, for each order of the points (b, n): (b, q + f)."""
        b, n = order.shape
        q, k, total = self.P.shape[1], self.Z.shape[1], float(self.w.sum())
        S = (self.M[order].transpose(0, 2, 1).reshape(-1, n) @ self.T).reshape(
            b, self.M.shape[1], -1
        )
        basis, axes, ones = S[:, : -k - 1], S[:, -k - 1 : -1], S[:, -1]
        size = ones[:, q : 2 * q] - ones[:, :q] ** 2 / total
        found = [np.sum(basis[:, :, :q] ** 2, axis=1) / size]
        all_squares = float(self.w @ np.sum(self.Z**2, axis=1))
        at = 2 * q
        for _, levels, _ in self.factors:
            here = slice(at, at + len(levels))
            between = np.sum(axes[:, :, here] ** 2, axis=1) / ones[:, here]
            found.append(between.sum(axis=1, keepdims=True) / all_squares)
            at += len(levels)
        return np.hstack(found)

    def directions(self) -> Array:
        """Unit vectors (q, k) along the coefficients of the regressions."""
        root = np.sqrt(self.w)[:, None]
        slopes = np.linalg.lstsq(root * self.Z, root * self.P, rcond=None)[0].T
        size = np.linalg.norm(slopes, axis=1, keepdims=True)
        return np.divide(slopes, size, out=np.zeros_like(slopes), where=size > 0)

    def centroids(self, codes: Array, count: int) -> Array:
        """Weighted means (count, k) of the points of each level."""
        sums = np.zeros((count, self.Z.shape[1]))
        np.add.at(sums, codes, self.w[:, None] * self.Z)
        means = sums / np.bincount(codes, self.w, minlength=count)[:, None]
        return np.asarray(means + self.middle)


def _prepared(
    Z: Array, numeric: dict[str, Array], groups: tuple[Factor, ...], w: Array, kept: Array
) -> Surroundings:
    middle = w @ Z / w.sum()
    Z = Z - middle
    U, s, _ = np.linalg.svd(np.sqrt(w)[:, None] * Z, full_matrices=False)
    if s[0] <= 1e-13 * float(np.sqrt(w.sum())) * np.abs(middle).max(initial=0.0):
        raise InputError("all points of the configuration are equal; nothing can be fitted to it")
    Q = U[:, s > 1e-12 * s[0]]
    P = np.empty((len(Z), len(numeric)))
    for j, (name, values) in enumerate(numeric.items()):
        if not np.isfinite(values).all():
            raise InputError(f"{visible(name)} holds inf; give finite numbers")
        if np.ptp(values) <= 1e-14 * np.abs(values).max():
            raise InputError(
                f"{visible(name)} is constant: it has no direction; leave it out of the table"
            )
        P[:, j] = values - w @ values / w.sum()
        P[:, j] /= np.abs(P[:, j]).max()  # squares of tiny and of huge units are safe then
    M = np.hstack([np.sqrt(w)[:, None] * Q, w[:, None] * Z, w[:, None]])
    levels = [np.eye(len(names))[codes] for _, names, codes in groups]
    T = np.hstack([P, P**2, *levels])
    return Surroundings(Z, middle, tuple(numeric), P, groups, w, M, T, kept)


def _columns(table: Any, n: int) -> dict[str, list[Any]]:
    """Columns by name, as lists of length n."""
    from gramian.data.tables import is_frame, read_table

    if isinstance(table, (str, os.PathLike)):
        read = read_table(table, text="keep")
        numbers = dict(zip(read.columns, read.numbers.T.tolist(), strict=True))
        found: dict[str, list[Any]] = numbers | read.others
    elif isinstance(table, Mapping):
        found = {str(name): np.asarray(column).tolist() for name, column in table.items()}
    elif is_frame(table):
        import narwhals as nw

        frame = nw.from_native(table, eager_only=True)
        found = {str(column.name): column.to_list() for column in frame.iter_columns()}
    else:
        array = np.asarray(table)
        array = array[:, None] if array.ndim == 1 else array
        if array.ndim != 2:
            raise InputError(f"the table has rows and columns, got shape {array.shape}")
        found = {f"variable {j + 1}": column.tolist() for j, column in enumerate(array.T)}
    if not found:
        raise InputError("the table has no columns; give the variables to fit")
    for name, column in found.items():
        if not isinstance(column, list) or len(column) != n:
            size = len(column) if isinstance(column, list) else 1
            raise InputError(f"{visible(name)} has {size} values for {n} points")
    return found


def _absent(value: Any) -> bool:
    return value is None or value == "" or value != value


def _numeric(column: list[Any]) -> bool:
    return all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in column)


def _factor(name: str, column: list[Any]) -> Factor:
    whole = all(isinstance(value, float) and value.is_integer() for value in column)
    values = [int(value) for value in column] if whole else column
    try:
        levels = sorted(set(values))
    except TypeError:  # of several types
        levels = sorted(set(values), key=str)
    if len(levels) < 2:
        raise InputError(f"the factor {visible(name)} has one level; leave it out of the table")
    code = {level: i for i, level in enumerate(levels)}
    codes = np.array([code[value] for value in values])
    return name, tuple(str(level) for level in levels), codes

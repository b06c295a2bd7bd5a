"""Neighbors among points that come in blocks, because they stay in their file.

A visit to all blocks finds the neighbors of as many points as are held at a time: of each block
the nearest ones, of which the nearest of all remain. So n points are compared with each other in as
many visits as it takes to hold them one part after another. Who is near does not depend on the
blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from gramian.gram.nearest import even, nearest, within, without_itself
from gramian.maps import Array

Blocks = Iterable[tuple[slice, Array]]


class Points(Protocol):
    """Points that stay where they are."""

    shape: tuple[int, int]
    dtype: Any

    def blocks(self) -> Iterator[tuple[slice, Array]]:
        """One visit to all of them, in order."""

    def read_rows(self, rows: slice) -> Array:
        """Some of them."""


def neighbors_in_blocks(
    points: Points, n_neighbors: int | None, radius: float | None, metric: Any, held: int
) -> tuple[Array, Array, Array]:
    """Starts, numbers and distances of the neighbors of all points, ``held`` bytes at a time."""
    n = points.shape[0]
    found = []
    for some in parts(points, held):
        own = np.arange(some.start, some.stop)
        X = points.read_rows(some)
        if radius is not None:
            found.append(_within(X, points.blocks(), radius, metric, own))
            continue
        near = nearest_in_blocks(X, points.blocks(), min(int(n_neighbors or 1) + 1, n), metric)
        found.append(even(*without_itself(*near, own)))
    ends = np.cumsum([0, *(starts[-1] for starts, *_ in found)])
    starts = [each[0][:-1] + end for each, end in zip(found, ends[:-1], strict=True)]
    indices, distances = (np.concatenate([each[i] for each in found]) for i in (1, 2))
    return np.concatenate([*starts, ends[-1:]]), indices, distances


def search_in_blocks(
    X: Array, blocks: Callable[[], Blocks], n: int, n_neighbors: int, radius: Any, metric: Any
) -> tuple[Array, Array, Array]:
    """The same for new points ``X`` among n points; within a radius at least the nearest one."""
    if radius is None:
        return even(*nearest_in_blocks(X, blocks(), min(n_neighbors, n), metric))
    starts, indices, distances = _within(X, blocks(), radius, metric, None)
    alone = np.flatnonzero(np.diff(starts) == 0)
    if len(alone):
        one, far = nearest_in_blocks(X[alone], blocks(), 1, metric)
        indices = np.insert(indices, starts[alone], one[:, 0])
        distances = np.insert(distances, starts[alone], far[:, 0])
        more = np.cumsum(np.diff(starts) == 0)
        starts = starts + np.concatenate([[0], more])
    return starts, indices, distances


def parts(points: Points, held: int) -> list[slice]:
    """Consecutive points, as many at a time as take ``held`` bytes, about equally many."""
    n, p = points.shape
    many = -(-n * p * np.dtype(points.dtype).itemsize // max(held, 1))
    bounds = np.linspace(0, n, min(many, n) + 1).astype(int).tolist()
    return [slice(a, b) for a, b in pairwise(bounds)]


def nearest_in_blocks(X: Array, blocks: Blocks, k: int, metric: Any) -> tuple[Array, Array]:
    """Numbers and distances (m, k) of the nearest points, in one visit to the blocks."""
    indices, distances = np.empty((len(X), 0), np.int64), np.empty((len(X), 0))
    for rows, block in blocks:
        near, far = nearest(X, block, min(k, len(block)), metric)
        indices = np.hstack([indices, near + rows.start])
        distances = np.hstack([distances, far])
        order = np.lexsort((indices, distances), axis=1)[:, :k]
        indices = np.take_along_axis(indices, order, axis=1)
        distances = np.take_along_axis(distances, order, axis=1)
    return indices, distances


def _within(
    X: Array, blocks: Blocks, radius: float, metric: Any, own: Array | None
) -> tuple[Array, Array, Array]:
    """All points within the radius, in one visit."""
    lines, numbers, lengths = [], [], []
    for rows, block in blocks:
        starts, indices, distances = within(X, block, float(radius), metric, None)
        i, j = np.repeat(np.arange(len(X)), np.diff(starts)), indices + rows.start
        others = np.ones(len(i), bool) if own is None else own[i] != j
        lines.append(i[others])
        numbers.append(j[others])
        lengths.append(distances[others])
    i, j, d = (np.concatenate(each) for each in (lines, numbers, lengths))
    order = np.lexsort((j, d, i))
    many = np.bincount(i, minlength=len(X))
    return np.concatenate([[0], np.cumsum(many)]), j[order], d[order]

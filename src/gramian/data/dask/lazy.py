"""What is computed only when it is asked for: one answer for each row of a Dask array."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from gramian.data.dask.blocks import as_array, as_computed, by_rows
from gramian.data.dask.cluster import fetched, sent_once
from gramian.data.moments import refuse
from gramian.data.partials import as_rows, not_finite
from gramian.errors import InputError
from gramian.loops.threads import limit_blas, limit_threads
from gramian.maps import Array


def is_lazy(X: Any) -> bool:
    """Whether ``X`` is a Dask array or frame; Dask is not imported to find out."""
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr") and hasattr(X, "dask")


def in_memory(value: Any) -> Any:
    """A Dask array computed, anything else as it is."""
    return fetched(value) if is_lazy(value) else value


def coordinates(Y: Any, V: Array) -> Any:
    """Y V: an array, or a Dask array that is not computed where the rows are one."""
    return Y.coordinates(V) if hasattr(Y, "coordinates") else np.asarray(Y @ V)


def row_by_row(model: Any, name: str, X: Any, columns: int | None, dtype: Any = None) -> Any:
    """``model.name(X)`` as a Dask array: a block of rows at a time, when it is asked for.

    Parameters
    ----------
    model : fitted method
    name : str
        Of a method of it that gives one row (or one number) for every row.
    X : Dask array or frame
    columns : int or None
        How many numbers a row; ``None`` for one without a dimension of its own.
    dtype : dtype, optional
        Of the answer; by default float32 for float32, else float64.
    """
    array, names = as_array(X)
    array = by_rows(array)
    if dtype is None:
        dtype = as_computed(array.dtype)
    known = not np.isnan(array.chunks[0]).any()
    starts = np.cumsum([0, *array.chunks[0][:-1]]).tolist() if known else None
    shape = {"drop_axis": 1} if columns is None else {"chunks": (array.chunks[0], (columns,))}
    return array.map_blocks(
        _of_block,
        name,
        starts,
        names,
        np.empty((0,) if columns is None else (0, columns), dtype),
        model=sent_once(_without_lazy(model)),
        dtype=dtype,
        meta=np.empty((0,) if columns is None else (0, columns), dtype),
        **shape,
    )


def _without_lazy(value: Any) -> Any:
    """A model as workers need it: without the coordinates of its data, which lie there."""
    if is_lazy(value):
        return np.empty((0, *value.shape[1:]), value.dtype)
    if is_dataclass(value) and not isinstance(value, type):
        inside = {each.name: getattr(value, each.name) for each in fields(value)}
        return replace(value, **{name: _without_lazy(each) for name, each in inside.items()})
    if hasattr(value, "get_params"):
        other = copy(value)
        vars(other).update({name: _without_lazy(each) for name, each in vars(value).items()})
        return other
    return value


def _of_block(
    block: Any,
    name: str,
    starts: Sequence[int] | None,
    names: tuple[str, ...] | None,
    empty: Array,
    model: Any = None,
    block_info: Any = None,
) -> Array:
    """``model.name(block)``; an error speaks of the rows of the whole array."""
    if not block.shape[0]:
        return empty
    X = block if names is None else _frame(block, names)
    with limit_threads(1), limit_blas(1):
        try:
            return np.asarray(getattr(model, name)(X), dtype=empty.dtype)
        except InputError as error:
            i = block_info[0]["chunk-location"][0] if block_info else 0
            first = 0 if starts is None else starts[i]
            within = f" in block {i} of the Dask array"
            bad = not_finite(as_rows(block, np.float64, tuple(block.shape), i), (first, 0))
            if bad is not None and not model.__sklearn_tags__().input_tags.allow_nan:
                refuse(*bad, within=within)
            raise InputError(f"{error} ({within.strip()}, which begins at row {first})") from error


def _frame(block: Any, names: tuple[str, ...]) -> Any:
    import polars

    return polars.DataFrame(np.asarray(block), schema=list(names), orient="row")

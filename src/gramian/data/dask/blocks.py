"""How a Dask array or frame is cut: blocks along one side, each with the whole of the other."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from gramian.data.dask.failures import explained
from gramian.errors import InputError, warn
from gramian.memory import in_words
from gramian.show.text import count

_small = 8_000_000  # bytes: smaller chunks are joined
_large = 128_000_000  # bytes: no block is made larger than this by joining chunks
_tiny = 100_000  # bytes: chunks as small as this cost more to schedule than to read


def as_array(X: Any) -> tuple[Any, tuple[str, ...] | None]:
    """A Dask frame as an array, with its names; an array as it is."""
    if not hasattr(X, "to_dask_array"):
        kind = np.dtype(X.dtype)
        if X.ndim != 2:
            raise InputError(
                f"Expected 2D array, got {X.ndim} dimensions {X.shape}; a Dask array of rows by "
                "columns is needed"
            )
        if kind.kind not in "fiub":
            raise InputError(
                f"the Dask array holds {kind}, not numbers; convert it: X.astype('float64')"
            )
        return X, None
    text = [str(name) for name, kind in X.dtypes.items() if not _is_number(kind)]
    if text:
        raise InputError(
            f"the Dask frame holds text in {text[0]!r}"
            f"{f' and {len(text) - 1} other columns' if len(text) > 1 else ''}; leave it out: "
            "frame.drop(columns=[...])"
        )
    names = tuple(map(str, X.columns))
    numbers = X.astype(np.result_type(*X.dtypes.map(np.dtype)))
    return numbers.to_dask_array(), names


def laid(X: Any, flip: bool) -> Any:
    """``X`` in blocks along one side, columns if ``flip``, with the whole of the other in each."""
    along, across = (1, 0) if flip else (0, 1)
    length, width = X.shape[along], X.shape[across]
    line = max(width * as_computed(X.dtype).itemsize, 1)
    sizes = [size for size in X.chunks[along] if size]
    cut = len([size for size in X.chunks[across] if size]) > 1
    if cut:
        warn(
            f"the Dask array is chunked across its {'rows' if flip else 'columns'} "
            f"({count(len(X.chunks[across]), 'chunk')}): they are put together at every pass; "
            f"X.rechunk({{{across}: -1}}).persist() does it once"
        )
        most = max(_large // line, 1)
        sizes = [part for size in sizes for part in equal_parts(size, -(-size // most))]
    elif len(sizes) > 100 and length * line < _tiny * len(sizes):
        warn(
            f"the Dask array has {count(len(sizes), 'chunk')} of {in_words(line * sizes[0])}: "
            "they are joined; larger chunks are read faster"
        )
    least = min(max(_small, 8 * width * width), _large)
    joined_sizes = _joined_sizes(sizes, max(least // line, 1))
    if joined_sizes == list(X.chunks[along]) and not cut:
        return X
    return _rechunked(X, {along: tuple(joined_sizes), across: width})


def as_computed(dtype: Any) -> np.dtype[Any]:
    """float32 for that and less, else float64."""
    return np.dtype(np.float32 if dtype in (np.float16, np.float32) else np.float64)


def by_rows(X: Any) -> Any:
    """``X`` with whole rows in every block: lazily, and no block much larger than it was."""
    if len(X.chunks[1]) == 1:
        return X
    most = max(_large // max(X.shape[1] * as_computed(X.dtype).itemsize, 1), 1)
    if np.isnan(X.chunks[0]).any():
        return _rechunked(X, {1: X.shape[1]})
    sizes = [part for size in X.chunks[0] for part in equal_parts(size, -(-max(size, 1) // most))]
    return _rechunked(X, {0: tuple(sizes), 1: X.shape[1]})


def _rechunked(X: Any, chunks: dict[int, Any]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # blocks may be larger than chunks: that is meant
        return X.rechunk(chunks, method="tasks")  # a lost worker's part can be made again


def _joined_sizes(sizes: Sequence[int], least: int) -> list[int]:
    """Neighbors joined until each has at least so many lines."""
    out: list[int] = []
    for size in sizes:
        if out and (out[-1] < least and size < least):
            out[-1] += size
        else:
            out.append(size)
    return out


def equal_parts(size: int, parts: int) -> list[int]:
    """Sizes of so many parts, as equal as can be."""
    return [size * (i + 1) // parts - size * i // parts for i in range(max(parts, 1))]


def with_known_chunks(X: Any) -> Any:
    """``X``, its rows counted where Dask does not know how many there are."""
    if not np.isnan(sum(sum(sizes) for sizes in X.chunks)):
        return X
    warn(
        "the Dask array does not know the sizes of its chunks: it is computed once to count its "
        "rows; X.compute_chunk_sizes() or to_dask_array(lengths=True) does that beforehand"
    )
    with explained():
        return X.compute_chunk_sizes()


def is_sparse(X: Any) -> bool:
    """Whether the blocks are sparse."""
    return hasattr(X._meta, "nnz")


def _is_number(kind: Any) -> bool:
    try:
        return np.dtype(kind).kind in "fiub"
    except TypeError:
        return False

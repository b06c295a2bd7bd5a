"""Memory for blocks of files: used again while blocks come, given back when none is left.

An allocator keeps freed blocks for later, in each of its arenas, until as much again may be kept as
is in use; and one that keeps nothing has all pages made anew for every block. Here a block's memory
goes to the next one of its size, and to the system as soon as nobody holds any block.
"""

from __future__ import annotations

import mmap
import os
import threading
import weakref
from contextlib import suppress
from math import prod
from typing import Any

import numpy as np

from gramian.maps import Array

_large = 1_000_000  # bytes from which a block has pages of its own
_turn = threading.RLock()  # a block may be let go while another is asked for, by the same thread
_spare: dict[int, list[mmap.mmap]] = {}
_held = 0


def block(shape: tuple[int, ...], dtype: Any) -> Array:
    """An array of these, its numbers not yet set."""
    global _held
    dtype = np.dtype(dtype)
    size = prod(shape) * dtype.itemsize
    if size < _large or not hasattr(mmap, "MAP_ANONYMOUS"):
        return np.empty(shape, dtype)
    with _turn:
        waiting = _spare.get(size)
        room = waiting.pop() if waiting else None
        _held += 1
    try:
        numbers = np.frombuffer(_mapped(size) if room is None else room, dtype)
    except OSError:
        with _turn:
            _held -= 1
        raise MemoryError(f"no room for a block of {size} bytes") from None
    weakref.finalize(numbers, _let_go, numbers.base, size).atexit = False
    return numbers.reshape(shape)


def _mapped(size: int) -> mmap.mmap:
    room = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):  # not every kernel has large pages
            room.madvise(mmap.MADV_HUGEPAGE)
    return room


def _let_go(room: Any, size: int) -> None:
    global _held
    with _turn:
        _held -= 1
        _spare.setdefault(size, []).append(room)
        if not _held:
            _spare.clear()


def _after_fork() -> None:
    global _turn
    _turn = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

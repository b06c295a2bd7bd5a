"""Reading parts of a file that may be larger than memory, and noticing when it changes.

Parts are read into buffers of our own: memory stays within the budget (the pages of a memory map
would count as ours), and a file cut short while we read is an error instead of a dead process.
Every read opens the file anew, so that threads share nothing.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from gramian.data.rooms import block
from gramian.errors import InputError
from gramian.maps import Array

State = tuple[int, int, int]
_turn = threading.Lock()


@contextmanager
def opened(path: Path) -> Iterator[int]:
    """The file's descriptor, for reading."""
    try:
        file = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    try:
        yield file
    finally:
        os.close(file)


def read_items(path: Path, file: int, at: int, count: int, kind: np.dtype[Any]) -> Array:
    """``count`` items of type ``kind`` from byte ``at`` on."""
    items = block((count,), kind)
    view = memoryview(items.view(np.uint8))  # type: ignore[arg-type]
    done = 0
    while done < len(view):
        try:
            got = _read_at(file, view[done : done + 2**30], at + done)
        except OSError as error:
            raise InputError(f"cannot read {path}: {error.strerror or error}") from error
        if got == 0:
            raise InputError(f"{path} became shorter while it was read; run again")
        done += got
    return items


def state_of(path: Path) -> State:
    """Size, time of change and identity of a file: the same again if nobody touched it."""
    try:
        found = path.stat()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from None
    return found.st_size, found.st_mtime_ns, found.st_ino


def refuse_changed(path: Path, state: State | None) -> None:
    """Raise if the file is not what it was."""
    if state_of(path) != state:
        raise InputError(f"{path} changed while it was read; run again when it is at rest")


def same_there(path: Path, state: State) -> State:
    """The state of a file on another machine, where it must be as long as it was ``state``."""
    found = state_of(path)
    if found[0] != state[0]:
        raise InputError(
            f"{path} has {found[0]:,} bytes on a worker and {state[0]:,} where the run began; all "
            "machines must see the same file"
        )
    return found


def all_there(states: dict[Path, State]) -> dict[Path, State]:
    """The same for several files."""
    return {path: same_there(path, state) for path, state in states.items()}


def _read_at(file: int, into: memoryview, at: int) -> int:
    """Fill ``into`` from byte ``at`` of a file; how many bytes came."""
    if hasattr(os, "preadv"):
        return os.preadv(file, [into], at)
    with _turn:  # Windows has one position a file, which the threads must share
        os.lseek(file, at, os.SEEK_SET)
        found = os.read(file, len(into))
    into[: len(found)] = found
    return len(found)

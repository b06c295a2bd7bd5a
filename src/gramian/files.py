"""Writing files so that a reader never meets half of one.

Everything is written to a temporary file beside the target, forced to disk, and moved into place
in one step. A full disk, a crash or Ctrl-C leaves the old file as it was.
"""

from __future__ import annotations

import os
import re
import secrets
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from gramian.errors import GramianError
from gramian.show.text import visible

__all__ = ["check_target", "forget_stale", "forget_unfinished", "replacing", "write_npy"]

_unfinished: set[Path] = set()


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a temporary file that becomes ``path`` only if the block ends well.

    Parameters
    ----------
    path : path
        The file to create or to replace. A symbolic link is followed, so that the link survives.

    Yields
    ------
    file : binary file
        Write the whole content here.

    Raises
    ------
    GramianError
        The folder is missing or locked, the disk is full, or ``path`` is no regular file.
    """
    check_target(path)
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f"{_begin(target)}{secrets.token_hex(6)}.tmp")
    _unfinished.add(temporary)
    try:
        # os.open, not tempfile: the new file gets the permissions the user's umask asks for.
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0)
        with open(os.open(temporary, flags, 0o666), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        _keep_mode(target, temporary)
        os.replace(temporary, target)
        _sync_folder(target.parent)
    except GramianError:
        raise
    except Exception as error:
        if not isinstance(error, OSError) and _in_words(error) is None:
            raise
        raise GramianError(f"cannot write {visible(path, 200)}: {_reason(error)}") from error
    finally:
        with suppress(OSError):
            temporary.unlink()  # gone already when all went well
        _unfinished.discard(temporary)


def write_npy(file: BinaryIO, blocks: Iterable[Any], n: int) -> None:
    """``n`` rows, block by block, as a ``.npy`` file.

    ``np.save`` would not say why the system did not take all of it.
    """
    import numpy as np

    for i, block in enumerate(blocks):
        if i == 0:
            shape = n, block.shape[1]
            what = {"descr": block.dtype.str, "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(file, what)
        file.write(np.ascontiguousarray(block).data)


def forget_stale(path: str | os.PathLike[str]) -> None:
    """Remove what processes that were killed left half written beside ``path``.

    Parameters
    ----------
    path : path
        A file that no other process is writing.
    """
    target = Path(os.path.realpath(path))
    with suppress(OSError):
        for temporary in target.parent.glob(f"{_begin(target)}*.tmp"):
            with suppress(OSError):
                temporary.unlink()


def forget_unfinished() -> None:
    """Remove what is being written right now: for a process that is about to end."""
    for temporary in tuple(_unfinished):
        with suppress(OSError):
            temporary.unlink()


def check_target(path: str | os.PathLike[str]) -> None:
    """Raise if ``path`` can be seen to be unwritable before any work is done.

    Parameters
    ----------
    path : path
        Where a file is going to be written.

    Raises
    ------
    GramianError
        With the reason, in one sentence.
    """
    target = Path(os.path.realpath(path))
    folder = target.parent
    try:
        if not folder.is_dir():
            raise GramianError(
                f"cannot write {visible(path, 200)}: there is no folder {visible(folder, 200)}"
            )
        if target.is_dir():
            raise GramianError(
                f"cannot write {visible(path, 200)}: it is a folder; add a file name"
            )
        # Moving a file onto /dev/null or a pipe would replace the device itself.
        if target.exists() and not target.is_file():
            raise GramianError(f"cannot write {visible(path, 200)}: it is not a regular file")
    except OSError as error:  # for example a name that is too long
        raise GramianError(f"cannot write {visible(path, 200)}: {_reason(error)}") from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise GramianError(
            f"cannot write {visible(path, 200)}: no permission in {visible(folder, 200)}"
        )


def _begin(target: Path) -> str:
    """How temporary names begin: short, for the target's own may be as long as the disk allows."""
    return f".gramian-{zlib.crc32(os.fsencode(target.name)):08x}-"


def _keep_mode(target: Path, temporary: Path) -> None:
    """Give the new file the permissions of the one it replaces."""
    with suppress(OSError):
        os.chmod(temporary, target.stat().st_mode & 0o777)


def _sync_folder(folder: Path) -> None:
    """Make the move itself durable; not every system can open a folder."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _reason(error: Exception) -> str:
    said = getattr(error, "strerror", None) or _in_words(error)
    return said or str(error) or type(error).__name__


def _in_words(error: Exception) -> str | None:
    """What the system said, where a library tells it in words of its own."""
    found = re.search(r"\(os error (\d+)\)", str(error))
    return os.strerror(int(found[1])) if found else None

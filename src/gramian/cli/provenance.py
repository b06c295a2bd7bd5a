"""What a result depends on besides the options: the bytes that were read, threads, versions."""

from __future__ import annotations

import hashlib
import os
import platform
from typing import Any

__all__ = ["provenance"]

_LARGE = 2_000_000_000  # files beyond are known by their size alone: reading takes long enough


def provenance(file: str) -> dict[str, Any]:
    """Size and SHA-256 of a file, threads, versions.

    Parameters
    ----------
    file : str
        As given on the command line.

    Returns
    -------
    dict
        ``sha256`` is ``None`` for standard input and files beyond 2 GB.
    """
    from gramian.loops.threads import thread_count
    from gramian.show.versions import versions

    size, digest = None, None
    if os.path.isfile(file):
        size = os.path.getsize(file)
        if size <= _LARGE:
            with open(file, "rb") as content:
                digest = hashlib.file_digest(content, "sha256").hexdigest()
    return {
        "sha256": digest,
        "bytes": size,
        "threads": thread_count(),
        "versions": {"python": platform.python_version(), **versions()},
    }

"""The bytes of a file, however it is kept: plain, gzip, Zstandard, or standard input.

Nothing here knows what the bytes mean. What matters is that every way a file can fail ends in one
sentence, that a small compressed file cannot fill the memory (bytes are counted as they come out),
and that a source can be read twice, so that a second, more careful pass is always possible.
"""

from __future__ import annotations

import contextlib
import difflib
import errno
import gzip
import importlib
import io
import os
import sys
import tempfile
import zlib
from collections.abc import Iterator
from typing import IO, Any

from gramian.errors import GramianError, InputError, MemoryRefusedError
from gramian.memory import budget, in_words

GZIP = b"\x1f\x8b"
ZSTANDARD = b"\x28\xb5\x2f\xfd"
PARQUET = b"PAR1"
ARROW = b"ARROW1"
SPOOL_IN_MEMORY = 64 << 20
ZSTANDARD_MODULES = ("compression.zstd", "backports.zstd")


class Source:
    """A file that can be read from its beginning as often as needed.

    Attributes
    ----------
    name : str
        How messages call it: the path as given, or ``standard input``.
    path : str or None
        Where it lies, if it lies in the file system.
    raw : IO[bytes]
        The open, seekable file.
    max_bytes : int
        How many bytes may come out of a pipe or of a compressed file.
    """

    def __init__(self, name: str, path: str | None, raw: IO[bytes], max_bytes: int) -> None:
        self.name = name
        self.path = path
        self.raw = raw
        self.max_bytes = max_bytes
        self._fingerprint = self._stat()
        self._start = raw.tell()
        try:
            self.head = raw.read(16)
        except OSError as error:
            raise InputError(f"{name}: cannot be read ({error.strerror})") from None
        self.compressed = self.head.startswith((GZIP, ZSTANDARD))

    def _stat(self) -> tuple[int, int] | None:
        try:
            found = os.fstat(self.raw.fileno())
        except (OSError, AttributeError):  # a file object that lives in memory
            return None
        return found.st_size, found.st_mtime_ns

    @property
    def size(self) -> int | None:
        """Bytes that one pass will read, where they can be known beforehand."""
        return self._fingerprint[0] if self._fingerprint and not self.compressed else None

    def rewound(self) -> IO[bytes]:
        """The file as it is kept, from its first byte."""
        self.raw.seek(self._start)
        return self.raw

    def reader(self) -> Reader:
        """Start a pass over the content from its first byte."""
        self.rewound()
        return Reader(self, _decompressed(self) if self.compressed else self.raw)

    def check_unchanged(self) -> None:
        """Two passes over different bytes would give a table that never existed."""
        if self._stat() != self._fingerprint:
            raise InputError(
                f"{self.name}: the file changed while it was being read; "
                "read it again when nothing else writes to it"
            )


class Reader:
    """One pass over a source: the bytes after decompression, counted."""

    def __init__(self, source: Source, stream: IO[bytes] | gzip.GzipFile) -> None:
        self.source = source
        self.stream = stream
        self.taken = 0

    def read(self, size: int) -> bytes:
        """The next ``size`` bytes; fewer only at the end."""
        source = self.source
        try:
            block = self.stream.read(size)
            while block and len(block) < size and (more := self.stream.read(size - len(block))):
                block += more  # decompressors and pipes may stop early
        except EOFError:
            raise InputError(
                f"{source.name}: the compressed file ends too early (truncated); "
                "copy or download it again"
            ) from None
        except GramianError:
            raise
        except (OSError, zlib.error, ValueError, RuntimeError) as error:
            raise InputError(f"{source.name}: {_damage(source, error)}") from None
        except Exception as error:
            # The Zstandard modules have exception classes of their own, below Exception only.
            if not source.head.startswith(ZSTANDARD):
                raise
            raise InputError(f"{source.name}: {_damage(source, error)}") from None
        self.taken += len(block)
        if source.compressed and self.taken > source.max_bytes:
            raise MemoryRefusedError(
                f"{source.name}: the compressed file holds more than {in_words(source.max_bytes)}, "
                "the memory it may use; decompress it and convert it to .npy, which is read in "
                "blocks, or allow more with max_bytes="
            )
        return block


def _damage(source: Source, error: Exception) -> str:
    if not source.compressed:
        return f"cannot be read ({getattr(error, 'strerror', None) or error})"
    return f"the compressed file is damaged ({error}); copy or download it again"


@contextlib.contextmanager
def opened(path: Any, max_bytes: int | None = None) -> Iterator[Source]:
    """Open a path, ``-`` for standard input, or a binary file object.

    Parameters
    ----------
    path : str, os.PathLike or file object
        What to read. ``~`` is expanded. A pipe is copied to a temporary file first, because the
        careful reader may need a second look.
    max_bytes : int, optional
        How many bytes may come out of a pipe or a compressed file; 80 % of the available memory
        unless given.
    """
    limit = budget(None) if max_bytes is None else int(max_bytes)
    with contextlib.ExitStack() as stack:
        if hasattr(path, "read"):
            name, place = str(getattr(path, "name", "the file object")), None
            raw = path
        elif isinstance(path, str) and path == "-":
            name, place = "standard input", None
            raw = getattr(sys.stdin, "buffer", sys.stdin)
        else:
            place = _expanded(path)
            name = os.fsdecode(os.fspath(path))
            raw = stack.enter_context(_open(place, _printable(name)))
        if isinstance(raw, io.TextIOBase):
            # A text file object has decoded already: take the bytes below, or encode again.
            raw = getattr(raw, "buffer", None) or io.BytesIO(raw.read().encode())
        if not (hasattr(raw, "seekable") and raw.seekable()):
            spool = tempfile.SpooledTemporaryFile(max_size=SPOOL_IN_MEMORY)  # noqa: SIM115
            raw = _spooled(name, raw, stack.enter_context(spool), limit)
            place = None
        yield Source(_printable(name), place, raw, limit)


def _printable(name: str) -> str:
    return name if name.isprintable() else repr(name)


def _expanded(path: Any) -> str:
    try:
        return os.path.expanduser(os.fsdecode(os.fspath(path)))
    except TypeError:
        raise InputError(
            f"a table is read from a path or a file object, got {type(path).__name__}; "
            "pass the path as a string"
        ) from None


def _open(place: str, name: str) -> IO[bytes]:
    try:
        return open(place, "rb")
    except FileNotFoundError:
        raise InputError(f"{name}: there is no such file{_similar(place)}") from None
    except IsADirectoryError:
        raise InputError(f"{name}: this is a directory; name one file in it") from None
    except PermissionError:
        if os.path.isdir(place):  # how Windows answers
            raise InputError(f"{name}: this is a directory; name one file in it") from None
        raise InputError(
            f"{name}: no permission to read this file; change its permissions or copy it"
        ) from None
    except (OSError, ValueError) as error:  # name too long, NUL in the name, device errors
        why = getattr(error, "strerror", None) or str(error)
        if getattr(error, "errno", None) == errno.ENAMETOOLONG:
            name = name[:40] + "…"
        raise InputError(f"{name}: the file cannot be opened ({why})") from None


def _similar(place: str) -> str:
    folder, wanted = os.path.split(place)
    try:
        near = difflib.get_close_matches(wanted, os.listdir(folder or "."), n=1, cutoff=0.7)
    except OSError:
        return f", and no folder {folder!r} to hold it; check the path"
    return f"; did you mean {near[0]!r}?" if near else "; check the path"


def _spooled(name: str, raw: Any, spool: Any, limit: int) -> IO[bytes]:
    taken = 0
    while block := raw.read(1 << 20):
        block = block.encode() if isinstance(block, str) else block
        taken += len(block)
        if taken > limit:
            raise MemoryRefusedError(
                f"{name}: more than {in_words(limit)} came through a pipe, the memory it may use; "
                "write it to a file first, or allow more with max_bytes="
            )
        spool.write(block)
    spool.seek(0)
    return spool


def _decompressed(source: Source) -> IO[bytes] | gzip.GzipFile:
    if source.head.startswith(GZIP):
        return gzip.open(source.raw, "rb")
    for module in ZSTANDARD_MODULES:
        try:
            found = importlib.import_module(module)
        except ImportError:
            continue
        return found.open(source.raw, "rb")
    raise InputError(
        f"{source.name}: Zstandard files need Python 3.14 or the package 'backports.zstd'; "
        "install it, or decompress the file with zstd -d"
    )

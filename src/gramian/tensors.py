r"""Arrays and a JSON header in one file: the safetensors format, with a digest over every byte.

1. length  8 bytes, little-endian: how long the header is
2. header  {"__metadata__": {"gramian": "{\"sha256\": ...}"}, "mean_": {"dtype": "F64", ...}, ...}
3. data    the arrays, one after another, no gaps

The digest is that of the whole file with its own 64 letters read as zeros: no byte can change
without being noticed, be it in a name or in a number. Everything read is distrusted: sizes are
checked before memory is taken, keys that stand twice are refused, nothing in a file is ever called.
Small files are read, large ones mapped: pages come in as they are used, once, for the digest, and
the arrays are views of the same pages.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import BufferedReader
from math import prod
from typing import Any

import numpy as np

from gramian.errors import InputError
from gramian.files import replacing
from gramian.maps import Array
from gramian.memory import in_words
from gramian.show.text import count, visible

__all__ = ["DTYPES", "Stored", "parsed", "read_tensors", "write_tensors"]

#: The types of arrays a file may hold, by the names of the format.
DTYPES = {
    name: np.dtype(kind)
    for name, kind in [
        *(("F64", "<f8"), ("F32", "<f4"), ("I64", "<i8"), ("I32", "<i4"), ("U8", "u1")),
        ("BOOL", "?"),
    ]
}
_BEGIN = b'{"__metadata__":{"gramian":"{\\"sha256\\":\\"'
_BLANK = "0" * 64
_FILE, _HEADER, _ARRAYS, _DEPTH = 64 << 30, 1_000_000, 1_000, 8
_MAPPED = 64 << 20  # larger files are mapped
_STEP = 8 << 20
_FOREIGN = {
    b"PK": "a zip archive",
    b"\x89HDF": "an HDF5 file",
    b"\x93NUMPY": "a NumPy array",
    b"PAR1": "a Parquet table",
    b"\x1f\x8b": "a gzip file",
    b"\x80": "a pickle, which is never loaded because it can run code",
}


@dataclass(frozen=True)
class Stored:
    """What a file holds: facts and arrays, believed only after ``verify``."""

    name: str
    facts: dict[str, Any]
    arrays: dict[str, Array]
    buffer: bytearray | mmap.mmap

    def verify(self) -> None:
        """Raise unless every byte is as it was written."""
        whole = memoryview(self.buffer)
        place = 8 + len(_BEGIN)
        digest = hashlib.sha256(whole[:place])
        digest.update(_BLANK.encode())
        for a in range(place + len(_BLANK), len(whole), _STEP):
            digest.update(whole[a : a + _STEP])
        if digest.hexdigest().encode() != bytes(whole[place : place + len(_BLANK)]):
            raise InputError(
                f"{self.name}: the digest does not match, so the file was damaged or changed after "
                "it was saved; copy it again, or fit and save again"
            )


def write_tensors(
    path: str | os.PathLike[str], facts: Mapping[str, Any], arrays: Mapping[str, Array]
) -> None:
    """Write facts and arrays, whole or not at all.

    Parameters
    ----------
    path : path
        An existing file is replaced.
    facts : mapping
        What JSON can hold, no deeper than seven levels.
    arrays : mapping of str to array
        Of the types in ``DTYPES``.
    """
    names = {dtype: name for name, dtype in DTYPES.items()}
    # the widest first, so that each begins at a multiple of its width
    order = sorted(arrays, key=lambda name: (-arrays[name].itemsize, name))
    listed, entries, end = {}, {}, 0
    for name in order:
        array = arrays[name]
        begin, end = end, end + array.nbytes
        kind, shape = names[array.dtype], list(array.shape)
        listed[name] = [kind, shape]
        entries[name] = {"dtype": kind, "shape": shape, "data_offsets": [begin, end]}
    text = _compact({"sha256": _BLANK, **facts, "arrays": listed})
    header = _compact({"__metadata__": {"gramian": text}, **entries}).encode()
    header += b" " * (-(8 + len(header)) % 64)
    if len(header) > _HEADER or end > _FILE - _HEADER:
        raise InputError(
            f"the model is too large for a file: {in_words(len(header))} of settings (at most "
            f"{in_words(_HEADER)}), {in_words(end)} of arrays (at most {in_words(_FILE)})"
        )
    head = len(header).to_bytes(8, "little") + header

    def parts() -> Iterator[Any]:
        for name in order:
            flat = np.ascontiguousarray(arrays[name]).reshape(-1).view(np.uint8)
            yield from (flat[a : a + _STEP].data for a in range(0, len(flat), _STEP))

    digest = hashlib.sha256(head)
    for part in parts():
        digest.update(part)
    place = 8 + len(_BEGIN)
    with replacing(path) as file:
        file.write(head[:place] + digest.hexdigest().encode() + head[place + len(_BLANK) :])
        for part in parts():
            file.write(part)


def read_tensors(path: str | os.PathLike[str]) -> Stored:
    """Facts and arrays of a file; call ``verify`` before believing them.

    Parameters
    ----------
    path : path

    Returns
    -------
    Stored

    Raises
    ------
    InputError
        There is no such file, or it is damaged, foreign, or beyond the limits.
    """
    name = visible(path, 200)
    try:
        with open(path, "rb") as file:
            buffer = _buffered(file, name)
    except FileNotFoundError:
        raise InputError(f"{name}: there is no such file") from None
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        why = getattr(error, "strerror", None) or str(error)
        folder = "this is a folder; name a file in it"
        raise InputError(f"{name}: {folder if os.path.isdir(path) else why}") from None
    begin = 8 + int.from_bytes(buffer[:8], "little")
    entries = parsed(bytes(buffer[8:begin]), name)
    metadata = entries.pop("__metadata__")
    if set(metadata) != {"gramian"}:
        raise InputError(f"{name}: the header holds metadata that no model has; {_AGAIN}")
    facts = parsed(metadata["gramian"].encode("utf-8", "replace"), name)
    arrays = _arrays(entries, buffer, begin, name)
    listed = {key: [entry["dtype"], entry["shape"]] for key, entry in entries.items()}
    if facts.pop("arrays", None) != listed:
        raise InputError(f"{name}: the list of arrays and the arrays differ; {_AGAIN}")
    return Stored(name, facts, arrays, buffer)


_AGAIN = "the file is damaged; copy it again, or fit and save again"


def _buffered(file: BufferedReader, name: str) -> bytearray | mmap.mmap:
    """The bytes of a file that begins as ours do, in memory or mapped."""
    found = os.fstat(file.fileno())
    size = found.st_size
    if not stat.S_ISREG(found.st_mode):
        raise InputError(f"{name}: this is no regular file; a model is read from one")
    if not size:
        raise InputError(f"{name}: the file is empty; {_AGAIN}")
    if size > _FILE:
        raise InputError(f"{name}: {in_words(size)} is more than a model file may have")
    head = file.read(8 + len(_BEGIN) + len(_BLANK))
    if head[8:].startswith(_BEGIN[: max(len(head) - 8, 1)]):
        length = int.from_bytes(head[:8], "little")
        if length > _HEADER:
            raise InputError(
                f"{name}: a header of {in_words(length)} is announced, at most "
                f"{in_words(_HEADER)} are allowed; {_AGAIN}"
            )
        if len(_BEGIN) + len(_BLANK) > length or 8 + length > size:
            raise InputError(f"{name}: the file ends too early (truncated); {_AGAIN}")
        if size > _MAPPED:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        buffer = bytearray(size)
        file.seek(0)
        if file.readinto(buffer) != size:
            raise InputError(f"{name}: the file changed while it was being read; read it again")
        return buffer
    what = next((words for mark, words in _FOREIGN.items() if head.startswith(mark)), None)
    if what is None and head[8:9] == b"{":
        what = "a safetensors file without the header of a model"
    raise InputError(
        f"{name} is no gramian model" + (f" but {what}" if what else "") + "; models are written "
        'by model.save("m.gramian") or with --save'
    )


def _arrays(entries: dict[str, Any], buffer: Any, begin: int, name: str) -> dict[str, Array]:
    """Views of the data, if they lie one after another and fill the file."""
    if len(entries) > _ARRAYS:
        raise InputError(
            f"{name}: {count(len(entries), 'array')}, at most {_ARRAYS:,} are allowed; {_AGAIN}"
        )
    arrays, end = {}, 0
    for key, entry in entries.items():
        shown = f"{name}: array {visible(key)!r}"
        if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
            raise InputError(f"{shown} is not described as arrays are; {_AGAIN}")
        kind, shape = entry["dtype"], entry["shape"]
        dtype = DTYPES.get(kind) if isinstance(kind, str) else None
        if dtype is None:
            raise InputError(
                f"{shown} has the type {visible(kind)}; models hold {', '.join(DTYPES)} only"
            )
        if not isinstance(shape, list) or any(type(m) is not int or m < 1 for m in shape):
            raise InputError(f"{shown} has the shape {visible(shape)}; {_AGAIN}")
        first, end = end, end + prod(shape) * dtype.itemsize
        if entry["data_offsets"] != [first, end] or first % dtype.itemsize:
            raise InputError(f"{shown} does not lie where its shape says; {_AGAIN}")
        if begin + end > len(buffer):
            raise InputError(f"{name}: the file ends too early (truncated); {_AGAIN}")
        found = np.frombuffer(buffer, dtype, prod(shape), begin + first)
        arrays[key] = found.reshape(shape)
    if begin + end != len(buffer):
        raise InputError(f"{name}: {begin + end:,} bytes expected, {len(buffer):,} found; {_AGAIN}")
    return arrays


def parsed(text: bytes, name: str) -> Any:
    """JSON from an untrusted file: no key twice, no NaN, no deep nesting.

    Parameters
    ----------
    text : bytes
    name : str
        Of the file, for messages.
    """
    try:
        found = json.loads(
            text.decode("utf-8"), object_pairs_hook=_once, parse_constant=_no_constant
        )
    except InputError as error:
        raise InputError(f"{name}: {error}; {_AGAIN}") from None
    except (ValueError, RecursionError) as error:
        why = "too deep" if isinstance(error, RecursionError) else visible(error, 100)
        raise InputError(f"{name}: the header is no JSON ({why}); {_AGAIN}") from None
    _refuse_deep(found, _DEPTH, name)
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise InputError(f"{visible(key)!r} stands twice in the header")
        found[key] = value
    return found


def _no_constant(word: str) -> Any:
    raise InputError(f"the header holds {word}")


def _refuse_deep(found: Any, left: int, name: str) -> None:
    if isinstance(found, (dict, list)):
        if not left:
            raise InputError(f"{name}: the header is nested too deep; {_AGAIN}")
        for each in found.values() if isinstance(found, dict) else found:
            _refuse_deep(each, left - 1, name)


def _compact(facts: Mapping[str, Any]) -> str:
    return json.dumps(facts, separators=(",", ":"), allow_nan=False)

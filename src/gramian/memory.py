"""How much memory a run may use: asked once, before anything large is allocated.

``available()`` is what the machine *or its container* has left; ``budget(None)`` is 80 % of that,
``budget("4GB")`` what the user said.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from gramian.errors import InputError

THIN = 640  # products YY' of up to this many rows use our own tiles, more of them BLAS
WIDE = 2_800  # cross products up to this many columns: our tiles, and a total for each thread
_units = {"": 1, "b": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_proc, _mounted = Path("/proc"), Path("/sys/fs/cgroup")
_example = "use a size such as '500MB', '4GB' or '2GiB'"


def available() -> int:
    """Bytes that can be allocated now without swapping, cgroup limits included."""
    left = [most - now for most, now in _container()]
    return min([_free_physical(), *(max(each, 0) for each in left)])


def limit() -> int | None:
    """Bytes that the container (cgroup) of this process may use; ``None`` without such a limit."""
    return min((most for most, _ in _container()), default=None)


def budget(memory: int | float | str | None) -> int:
    """Bytes a run may use: ``None`` for 80 % of what is available, a number, or ``"4GB"``."""
    if memory is None:
        return int(0.8 * available())
    if isinstance(memory, str):
        match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([kmgt]?)(i?)b?\s*", memory.lower())
        if match is None:
            raise InputError(f"memory={memory!r} is not a size; {_example}")
        number, unit, binary = match.groups()
        scale = 1024 ** "bkmgt".index(unit or "b") if binary else _units[unit]
        memory = float(number) * scale
    elif isinstance(memory, bool) or not isinstance(memory, (int, float)):
        raise InputError(f"memory={memory!r} is not a size; {_example}")
    if not 10**6 <= memory < 2**63:
        raise InputError(f"memory={memory!r} is less than 1 MB or beyond reason; {_example}")
    return int(memory)


def block_bytes(allowed: int) -> int:
    """Bytes of a block of rows where so many may be used in all."""
    return min(16_000_000, max(allowed // 32, 65_536))


def sparse_block_bytes(allowed: int) -> int:
    """Bytes of a block of sparse rows, 16 for each stored number, where so many may be used."""
    return min(64_000_000, max(allowed // 24, 65_536))


def in_one_pass(shape: tuple[int, int], resident: bool) -> bool:
    """Whether means and cross products of rows are summed together, in a single visit.

    Of tall data, where every thread has room for a total. In memory, where visits are cheap, only
    if the cross products would be formed in any case.
    """
    n, p = shape
    return n >= max(8 * p, 2000) and p <= (512 if resident else 1600)


def running_totals(block_bytes: int, each: int) -> int:
    """How many sums of ``each`` bytes run beside each other in one visit; by sizes alone.

    At most eight, and together hardly more than eight blocks (a quarter of the budget).
    """
    return max(1, min(8, 8 * block_bytes // max(each, 1)))


def in_words(size: float) -> str:
    """``1234567890`` as ``"1.2 GB"``."""
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"


def _container() -> Iterator[tuple[int, int]]:
    """Limit and use of every group (cgroup) with a limit that this process is in, at any height.

    Pages of files that were read count as used there, but are given back when others need them.
    """
    for folder, limit, used, files in _groups():
        most = _read_int(folder / limit)
        if most is None or most >= 2**60:
            continue
        now = _read_int(folder / used)
        if now is not None:
            yield most, max(now - _file_pages(folder / "memory.stat", files), 0)


def _groups() -> Iterator[tuple[Path, str, str, str]]:
    """Folders of all groups of this process, and what their files are called."""
    try:
        lines = (_proc / "self/cgroup").read_text().splitlines()
    except OSError:  # not Linux
        return
    for line in lines:
        number, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):  # version 1
            root, names = _mounted / "memory", ("limit_in_bytes", "usage_in_bytes", "total_")
        elif number == "0":
            root, names = _mounted, ("max", "current", "")
        else:
            continue
        inside = Path(path.lstrip("/"))
        for each in (inside, *inside.parents) if inside.parts else (inside,):
            yield root / each, f"memory.{names[0]}", f"memory.{names[1]}", names[2]


def _file_pages(stat: Path, prefix: str) -> int:
    """Bytes of files that were read and are kept as long as nobody needs the room."""
    try:
        known = dict(line.split() for line in stat.read_text().splitlines())
        return sum(int(known[f"{prefix}{kind}_file"]) for kind in ("inactive", "active"))
    except (OSError, ValueError, KeyError):
        return 0


def _free_physical() -> int:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 4 * 2**30  # neither Linux nor POSIX: assume a small laptop rather than guess high


def _read_int(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):  # absent, or the word "max"
        return None

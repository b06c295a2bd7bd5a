"""Peak memory of one fit, beyond the data, in a process of its own.

The child imports what it needs, loads X, fits it once, gives freed memory back to the system, and
counts the pages (resident set, high-water mark) that a second fit of the same X adds. So imports,
pages of program files, thread pools and buffers of BLAS are not held against anybody.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent


def extra_bytes(data: Path, contestant: str, k: int, module: str = "benchmarks.pca") -> int | None:
    """Run ``contestant`` on the .npy file ``data`` in a new process; ``None`` if that fails."""
    command = [sys.executable, "-m", "benchmarks.memory", str(data), contestant, str(k), module]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        return None
    return int(json.loads(done.stdout.splitlines()[-1])["extra_bytes"])


def peak_of(call: Callable[[], Any]) -> int:
    """Bytes by which this process grew, at the worst moment of ``call()``."""
    gc.collect()
    _give_back()
    if _reset_high_water():
        before = _status("VmRSS")
        call()
        return max(_status("VmHWM") - before, 0)
    return _sampled(call)


def _sampled(call: Callable[[], Any]) -> int:
    """Where the kernel keeps no resettable high-water mark: look every 5 ms."""
    import psutil

    process = psutil.Process()
    before = highest = process.memory_info().rss
    over = threading.Event()

    def watch() -> None:
        nonlocal highest
        while not over.is_set():
            highest = max(highest, process.memory_info().rss)
            time.sleep(0.005)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        call()
    finally:
        over.set()
        watcher.join()
    return max(highest, process.memory_info().rss) - before


def _reset_high_water() -> bool:
    try:
        Path("/proc/self/clear_refs").write_text("5")
        return _status("VmHWM") <= _status("VmRSS") + 4_000_000
    except OSError:
        return False


def _status(name: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    raise OSError(f"no {name} in /proc/self/status")


def _give_back() -> None:
    """Return freed heap to the system, so that the fit has to ask for its own."""
    with contextlib.suppress(OSError, AttributeError):  # not glibc
        ctypes.CDLL("libc.so.6").malloc_trim(0)


def main(arguments: list[str]) -> None:
    """The child: data file, contestant, k, and the module the contestant is in."""
    path, name, k, module = arguments
    fit = importlib.import_module(module).CONTESTANTS[name]
    X = np.load(path)
    fit(X, int(k))
    print(json.dumps({"extra_bytes": peak_of(lambda: fit(X, int(k)))}))


if __name__ == "__main__":
    main(sys.argv[1:])

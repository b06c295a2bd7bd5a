"""Sources under a budget: resident memory, measured."""

import json
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from tests.data.sources import WRITERS, numbers

CAP = 60_000_000
# Parquet takes half as much again and Arrow a whole record batch: docs/guide/files.md says so.
KINDS = ["zarr 3", "hdf5, chunked", "h5ad", "csv"]


def large(kind, folder):
    """About ten times the budget in memory, ten wide strips of the same few numbers."""
    n, p = 40_000, 300
    X = numbers(kind, n, p)
    if kind == "csv":
        X = X.round(2)
    return WRITERS[kind](folder, np.concatenate([X] * (1 if kind == "csv" else 6)))


MEASURE = """
    import json, os, sys, threading, time, warnings
    warnings.simplefilter("ignore")
    from gramian import PCA
    from gramian.data.door import open_rows

    def resident():
        return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    PCA(3, memory="20MB").fit({warm!r})  # compile and load everything first
    base, peak, done = resident(), 0, False

    def watch():
        global peak
        while not done:
            peak = max(peak, resident())
            time.sleep(0.005)

    thread = threading.Thread(target=watch, daemon=True); thread.start()
    found = open_rows({path!r}, {cap})
    model = PCA(3, memory={cap}).fit(found)
    done = True; thread.join()
    n, p = found.rows.shape
    print(json.dumps([peak - base, n * p * 8, float(model.residuals_.max()), found.rows.resident]))
"""


def run(script, **values):
    code = textwrap.dedent(script).format(**values)
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=250)
    assert out.returncode == 0, out.stderr
    return json.loads(out.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_peak_memory_of_every_source(tmp_path, kind):
    for name in ("warm", "big"):
        (tmp_path / name).mkdir()
    warm = WRITERS[kind](tmp_path / "warm", numbers(kind, 20_000, 40))
    path = large(kind, tmp_path / "big")
    used, size, residual, resident = run(MEASURE, warm=str(warm), path=str(path), cap=CAP)
    assert not resident and size > (1 if kind == "csv" else 9) * CAP
    assert residual <= 1e-6
    assert used <= 1.1 * CAP, f"{used / 1e6:.0f} MB used, {CAP / 1e6:.0f} MB allowed"

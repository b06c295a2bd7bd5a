"""Parallel analysis of a file larger than its budget: bounded memory, the same p-values."""

import json
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from gramian import parallel_analysis
from gramian.errors import MemoryRefusedError
from gramian.loops.threads import limit_threads


@pytest.fixture
def wide(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 60_000))
    X += 2 * rng.standard_normal((150, 3)) @ rng.standard_normal((3, 60_000))
    np.save(tmp_path / "wide.npy", X)
    return tmp_path / "wide.npy"


def test_permuted_data_are_never_there_at_once(wide):
    """72 MB of numbers, a budget of 36: resident memory stays within it, imports apart."""
    script = textwrap.dedent(
        f"""
        import json, os, threading, time
        import numpy as np
        from gramian import parallel_analysis

        def resident():
            return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

        rng = np.random.default_rng(0)
        parallel_analysis(rng.standard_normal((30, 50)), n_permutations=19)
        np.save("small.npy", rng.standard_normal((30, 900)))
        parallel_analysis("small.npy", n_permutations=19, memory="1MB")
        start, peak, done = resident(), [0], []

        def watch():
            while not done:
                peak[0] = max(peak[0], resident() - start)
                time.sleep(0.002)

        watcher = threading.Thread(target=watch)
        watcher.start()
        found = parallel_analysis({str(wide)!r}, n_permutations=19, memory="36MB")
        done.append(True)
        watcher.join()
        print(json.dumps([peak[0], found.p_values.tolist()]))
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=wide.parent, check=True, capture_output=True, text=True
    )
    peak, p_values = json.loads(done.stdout)
    assert peak < 36e6, f"{peak / 1e6:.0f} MB"
    with limit_threads(1):
        inside = parallel_analysis(np.load(wide), n_permutations=19)
    assert inside.n_components == 3 and p_values == inside.p_values.tolist()


def test_tall_data_that_cannot_be_permuted_in_memory_are_refused(tmp_path):
    X = np.lib.format.open_memmap(tmp_path / "tall.npy", "w+", np.float64, (100_000, 40))
    X[:] = np.random.default_rng(0).standard_normal(40)
    X[0] += 1
    with pytest.raises(MemoryRefusedError, match="only 1 of 40 fit .* raise memory= to 32 MB"):
        parallel_analysis(tmp_path / "tall.npy", memory="16MB")

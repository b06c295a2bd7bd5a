"""Parallel analysis of a file larger than its budget: bounded memory, the same p-values."""

import json
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from gramian import parallel_analysis
from gramian.errors import GramianWarning, MemoryRefusedError
from gramian.loops.threads import limit_threads


@pytest.fixture
def wide(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 60_000))
    X += 2 * rng.standard_normal((150, 3)) @ rng.standard_normal((3, 60_000))
    np.save(tmp_path / "wide.npy", X)
    return tmp_path / "wide.npy"


@pytest.fixture
def tall(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300_000, 50), np.float32)
    X += rng.standard_normal((300_000, 3), np.float32) @ rng.standard_normal((3, 50), np.float32)
    np.save(tmp_path / "tall.npy", X)
    return tmp_path / "tall.npy"


def measured(path, memory):
    """Resident memory beyond that of a small run, p-values and visits, in a process of its own."""
    script = textwrap.dedent(
        f"""
        import json, os, threading, time, warnings
        import numpy as np
        from gramian import parallel_analysis

        warnings.simplefilter("ignore")  # of a temporary copy

        def resident():
            return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

        rng = np.random.default_rng(0)
        parallel_analysis(rng.standard_normal((30, 50)), n_permutations=19)
        for shape in ((30, 900), (9000, 30)):
            np.save("small.npy", rng.standard_normal(shape))
            parallel_analysis("small.npy", n_permutations=19, memory="1MB")
        start, peak, done = resident(), [0], []

        def watch():
            while not done:
                peak[0] = max(peak[0], resident() - start)
                time.sleep(0.002)

        watcher = threading.Thread(target=watch)
        watcher.start()
        found = parallel_analysis({str(path)!r}, n_permutations=19, memory={memory!r})
        done.append(True)
        watcher.join()
        print(json.dumps([peak[0], found.p_values.tolist(), found.passes]))
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=path.parent, check=True, capture_output=True, text=True
    )
    return json.loads(done.stdout)


def test_permuted_data_are_never_there_at_once(wide):
    """72 MB of numbers, a budget of 36: resident memory stays within it, imports apart."""
    peak, p_values, passes = measured(wide, "36MB")
    assert peak < 36e6, f"{peak / 1e6:.0f} MB"
    assert passes <= 3 + 2 * 20  # each replicate reads its columns; some again in float64
    with limit_threads(1):
        inside = parallel_analysis(np.load(wide), n_permutations=19)
    assert inside.n_components == 3 and p_values == inside.p_values.tolist()


def test_tall_data_are_permuted_through_a_file(tall):
    """60 MB of numbers, a budget of 24: two visits, whatever the replicates."""
    peak, p_values, passes = measured(tall, "24MB")
    assert peak < 24e6, f"{peak / 1e6:.0f} MB"
    assert passes == 2
    inside = parallel_analysis(np.load(tall), n_permutations=19)
    assert inside.n_components == 3 and p_values == inside.p_values.tolist()
    assert sorted(each.name for each in tall.parent.iterdir()) == ["small.npy", "tall.npy"]


@pytest.mark.parametrize("null", ["signflip", "normal"])
def test_other_replicates_go_through_a_file_too(tall, null):
    X = np.load(tall)[:40_000]
    wanted = parallel_analysis(X, n_permutations=19, null=null)
    found = parallel_analysis(X, n_permutations=19, null=null, memory="6MB")
    assert np.array_equal(found.p_values, wanted.p_values)
    assert np.allclose(found.null_eigenvalues, wanted.null_eigenvalues, rtol=1e-5)


def test_tall_data_that_cannot_be_permuted_in_memory_are_refused(tmp_path):
    X = np.lib.format.open_memmap(tmp_path / "tall.npy", "w+", np.float64, (100_000, 40))
    X[:] = np.random.default_rng(0).standard_normal(40)
    X[0] += 1
    with pytest.raises(MemoryRefusedError, match="1 column at a time .* raise memory= to") as no:
        parallel_analysis(tmp_path / "tall.npy", memory="1MB")
    number = str(no.value).partition("raise memory= to ")[2].partition(",")[0]
    with pytest.warns(GramianWarning, match="temporary file"):
        parallel_analysis(tmp_path / "tall.npy", n_permutations=19, memory=number)


def test_plan_with_horn_refuses_what_the_fit_refuses(tall):
    from gramian import PCA

    for doing in (PCA("horn", memory="5MB").plan, PCA("horn", memory="5MB").fit):
        with pytest.raises(MemoryRefusedError, match="to be permuted"):
            doing(tall)
    assert PCA("horn", memory="24MB").plan(tall).bytes < 24e6


def test_a_report_without_room_for_the_band_is_written(tall, tmp_path):
    from gramian import PCA

    X = np.load(tall)[:40_000]
    assert PCA(2).fit(X).to_embedding(X, details=True).chance is not None
    model = PCA(2, memory="1MB").fit(X)
    assert model.to_embedding(X, details=True).chance is None


def test_deflated_analysis_of_tall_data_keeps_to_blocks(tall):
    """Axes are taken away from a block of columns at a time."""
    from gramian.inference import deflated_parallel_analysis

    X = np.load(tall)[:20_000].astype(np.float64)
    np.save(tall.parent / "most.npy", X)
    how = {"n_permutations": 19, "max_components": 4}
    wanted = deflated_parallel_analysis(X, **how)
    with pytest.warns(GramianWarning, match="temporary file"):
        found = deflated_parallel_analysis(tall.parent / "most.npy", memory="6MB", **how)
    assert found.n_components == wanted.n_components
    assert np.array_equal(found.p_values, wanted.p_values)
    assert np.allclose(found.null_mean, wanted.null_mean, rtol=1e-6)

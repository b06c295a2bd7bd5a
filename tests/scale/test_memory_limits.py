"""How much memory a run may use: groups of processes (cgroups) with limits, made up and real."""

import json
import os
import shutil
import subprocess
import sys
import uuid
from pathlib import Path

import numpy as np
import pytest

from gramian import memory

GB = 10**9
CONTROLLER = Path("/sys/fs/cgroup/memory")


def tree(tmp_path, monkeypatch, cgroup, files):
    """Folders as the kernel shows them."""
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text(cgroup)
    for name, text in files.items():
        path = tmp_path / "groups" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")
    monkeypatch.setattr(memory, "_proc", tmp_path / "proc")
    monkeypatch.setattr(memory, "_mounted", tmp_path / "groups")
    monkeypatch.setattr(memory, "_free_physical", lambda: 64 * GB)


def test_a_limit_of_version_2_at_any_height(tmp_path, monkeypatch):
    """As of systemd or a scheduler of jobs: the group of the process has none, one above has."""
    files = {
        "memory.stat": "anon 5",
        "user.slice/memory.max": 4 * GB,
        "user.slice/memory.current": 3 * GB,
        "user.slice/memory.stat": f"anon {GB}\ninactive_file {GB}\nactive_file {GB // 2}",
        "user.slice/job/memory.max": "max",
        "user.slice/job/memory.current": GB,
    }
    tree(tmp_path, monkeypatch, "0::/user.slice/job\n", files)
    assert memory.limit() == 4 * GB
    assert memory.available() == 4 * GB - (3 * GB - GB - GB // 2)  # pages of files are given back
    assert memory.budget(None) == int(0.8 * memory.available())


def test_limits_of_version_1(tmp_path, monkeypatch):
    files = {
        "memory/memory.limit_in_bytes": 2**63 - 4096,
        "memory/memory.usage_in_bytes": GB,
        "memory/slurm/memory.limit_in_bytes": 8 * GB,
        "memory/slurm/memory.usage_in_bytes": 6 * GB,
        "memory/slurm/memory.stat": f"active_file 7\ntotal_inactive_file {GB}\ntotal_active_file 0",
        "memory/slurm/step/memory.limit_in_bytes": 5 * GB,
        "memory/slurm/step/memory.usage_in_bytes": GB,
    }
    cgroup = "5:cpu,cpuacct:/other\n4:memory:/slurm/step\n0::/\n"
    tree(tmp_path, monkeypatch, cgroup, files)
    assert memory.limit() == 5 * GB
    assert memory.available() == 3 * GB  # what is left of the group above


def test_inside_a_container_its_own_group_is_the_root(tmp_path, monkeypatch):
    """Docker without a namespace: the path is the host's, what is mounted is the container's."""
    files = {"memory.max": 2 * GB, "memory.current": GB}
    tree(tmp_path, monkeypatch, "0::/docker/0a1b\n", files)
    assert memory.limit() == 2 * GB and memory.available() == GB


@pytest.mark.parametrize("cgroup", ["", "0::/\n", "3:cpu:/a\n"])
def test_without_a_limit(tmp_path, monkeypatch, cgroup):
    tree(tmp_path, monkeypatch, cgroup, {"memory.max": "max", "memory.current": 5})
    assert memory.limit() is None and memory.available() == 64 * GB


@pytest.fixture
def group():
    """A real group of version 1, where one may be made."""
    folder = CONTROLLER / f"gramian-{uuid.uuid4().hex[:8]}"
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("no group of processes can be made here (cgroup version 1, as superuser)")
    yield folder
    folder.rmdir()


def run_in(group, limit, code, timeout=200):
    """Python in a group that may use so many bytes; the kernel ends it beyond."""
    (group / "memory.limit_in_bytes").write_text(str(limit))
    enter = f"import os; open({str(group / 'cgroup.procs')!r}, 'w').write(str(os.getpid()))\n"
    done = subprocess.run(
        [sys.executable, "-c", enter + code], capture_output=True, text=True, timeout=timeout
    )
    assert done.returncode == 0, done.stderr[-2000:] or f"ended by signal {-done.returncode}"
    return done.stdout


def test_a_real_group(group, tmp_path):
    path = tmp_path / "x"
    path.write_bytes(os.urandom(1 << 20) * 400)
    code = f"""
from gramian import memory
open({str(path)!r}, "rb").read(1)
with open({str(path)!r}, "rb") as file:
    while file.read(1 << 20):
        pass
print(memory.limit(), memory.available())
"""
    limit, available = map(int, run_in(group, 300 << 20, code).split())
    assert limit == 300 << 20
    assert 200 << 20 < available <= limit  # though 300 MB of the file are kept there


@pytest.mark.slow
@pytest.mark.parametrize(("limit", "size"), [(400, 2_600), (1_000, 10_000), (4_000, 40_000)])
def test_files_ten_times_as_large_as_a_group_may_use(group, tmp_path, limit, size):
    """PCA by itself takes what the group leaves, and is never ended by the kernel."""
    if shutil.disk_usage(tmp_path).free < 1.3e6 * size:
        pytest.skip(f"{size} MB do not fit on this disk")
    n, p, rng = size * 1000 // 2, 500, np.random.default_rng(0)
    strong = np.arange(10, 0, -1)[:, None] * rng.standard_normal((10, p))
    parts = [
        (rng.standard_normal((17_389, 10)) @ strong + rng.standard_normal((17_389, p))).astype("f4")
        for _ in range(3)
    ]
    path = tmp_path / "x.npy"
    with path.open("wb") as file:
        header = {"descr": "<f4", "fortran_order": False, "shape": (n, p)}
        np.lib.format.write_array_header_1_0(file, header)
        for i, a in enumerate(range(0, n, 17_389)):
            file.write(parts[i % 3][: n - a].tobytes())
        file.flush()
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)  # nothing of it in memory
    code = f"""
import json, resource
from gramian import PCA
from gramian.memory import budget
allowed = budget(None)
model = PCA(5).fit({str(path)!r})
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps([allowed, peak, float(model.residuals_.max()), model.plan_.passes]))
"""
    try:
        allowed, peak, residual, passes = json.loads(run_in(group, limit * 10**6, code, 600))
    finally:
        path.unlink()  # large, and pytest would keep it
    assert 0.5 * limit * 10**6 < allowed < 0.8 * limit * 10**6
    assert peak < limit * 10**6 and residual < 1e-4 and passes == 1

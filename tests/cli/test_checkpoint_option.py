"""``--checkpoint`` on the command line, in processes of their own: killed, and started again."""

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

CHILD = """
import sys, time
import gramian.data.rows as rows_module
from gramian.cli.app import main
from gramian.data.npy import NpyRows
rows_module._segment = 2
read = NpyRows._lead
def slowly(self, a, b):
    time.sleep(0.003)
    return read(self, a, b)
NpyRows._lead = slowly
sys.exit(main())
"""
OPTIONS = ["--memory", "1MB", "--checkpoint-every", "0", "-q", "--json", "-o", "axes.npy"]


def command(*words):
    return [sys.executable, "-c", CHILD, *words]


@pytest.fixture
def data(tmp_path):
    rng = np.random.default_rng(0)
    np.save(tmp_path / "x.npy", rng.standard_normal((6000, 20)) * np.arange(20, 0, -1))
    return tmp_path


def test_killed_and_started_again(data):
    words = ("pca", "x.npy", "-k", "2", *OPTIONS)
    done = subprocess.run(
        command(*words), cwd=data, capture_output=True, text=True, check=True, timeout=250
    )
    plain, axes = json.loads(done.stdout), np.load(data / "axes.npy")
    (data / "axes.npy").unlink()
    words, kept = (*words, "--checkpoint", "run"), data / "run"
    child = subprocess.Popen(command(*words), cwd=data, stdout=subprocess.DEVNULL)
    while child.poll() is None and not kept.exists():
        time.sleep(0.001)
    child.send_signal(signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL and kept.exists()
    other = subprocess.run(
        command(*words, "--standardize"), cwd=data, capture_output=True, text=True, timeout=250
    )
    assert other.returncode == 2
    assert "is the checkpoint of a run with scale = None, this one has unit" in other.stderr
    assert len(other.stderr.splitlines()) == 1 and not other.stdout
    done = subprocess.run(
        command(*words), cwd=data, capture_output=True, text=True, check=True, timeout=250
    )
    assert json.loads(done.stdout)["axes"] == plain["axes"]
    assert np.array_equal(np.load(data / "axes.npy"), axes)
    assert not kept.exists()


@pytest.mark.parametrize("method", ["isomap", "lle", "mvu", "kernel-pca", "random-projection"])
def test_methods_without_one_say_so(data, method, run):
    code, _, said = run(method, data / "x.npy", "-q", "--checkpoint", data / "run")
    assert code == 2 and f"gramian {method} keeps no checkpoint" in said
    assert len(said.splitlines()) == 1


def test_it_is_no_other_file(data, run):
    x, out = data / "x.npy", data / "axes.npy"
    for words in (("--checkpoint", x), ("-o", out, "--checkpoint", out)):
        code, _, said = run("pca", x, *words)
        assert code == 2 and "give it a name of its own" in said

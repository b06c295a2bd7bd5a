"""Ctrl-C at many moments: exit code 130, within a second, and no half of a file."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

PROGRAM = Path(sys.executable).with_name("gramian")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A table that takes seconds to read, to compute and to write."""
    path = tmp_path_factory.mktemp("interrupted") / "x.npy"
    np.save(path, np.random.default_rng(0).normal(size=(6000, 300)))
    return path


# LAPACK on 6,000 points holds the interpreter for many seconds: nothing of Python is heard there.
SLOW = ["classical-mds", "--metric", "euclidean", "--solver", "dense"]


def seconds_to_stop(table, folder, moment):
    """Interrupt a run after a moment: it must end as one says, with nothing left in its folder."""
    program = subprocess.Popen(
        [str(PROGRAM), SLOW[0], str(table), *SLOW[1:], "-o", "z.csv", "--report", "r.html"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
    )
    time.sleep(moment)
    assert program.poll() is None, "it was over before it was interrupted"
    start = time.perf_counter()
    program.send_signal(signal.SIGINT)
    out, err = program.communicate(timeout=60)
    assert program.returncode == 130
    assert (out, err) == (b"", b"error: interrupted\n")
    assert os.listdir(folder) == []
    return time.perf_counter() - start


@pytest.mark.parametrize("moment", [0.3, 0.6, 1.0, 1.5, 2.0, 3.0, 4.5])
def test_stops_soon_and_cleanly(table, tmp_path, moment):
    tries = 4  # a busy machine may hold up one, not all
    assert any(seconds_to_stop(table, tmp_path, moment) < 1 for _ in range(tries))


def test_a_thread_that_never_ends_does_not_keep_an_interrupted_process():
    """As one is that was being started when the signal came, and is not known at the exit."""
    program = """
import os, queue, signal, sys, threading, time
from gramian.cli.interrupt import heard_at_once
try:
    with heard_at_once(130):
        threading.Thread(target=queue.SimpleQueue().get).start()
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(5)
except KeyboardInterrupt:
    sys.exit(130)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60)
    assert done.returncode == 130, done.stderr

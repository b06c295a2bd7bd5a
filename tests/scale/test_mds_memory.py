"""Memory of MDS, in a fresh process: little beyond the distances; plans say how much."""

import subprocess
import sys

import pytest

from gramian import MDS
from gramian.spectral.plan import Expected

CODE = """
import numpy as np
from benchmarks.memory import peak_of
from gramian import MDS
rng = np.random.default_rng(0)
for n in (2000, 2000):  # the first fit may compile
    X = rng.standard_normal((n, 3))
    D = np.linalg.norm(X[:, None] - X, axis=2)
    model = MDS(2, metric="precomputed", init="stochastic", n_init=1, max_iter=8, {options})
    print(peak_of(lambda: model.fit(D)))
"""


@pytest.mark.parametrize(
    ("options", "most"),
    [("", 12e6), ("measurement='ordinal'", 1.2 * 27e6), ("measurement='spline'", 30e6)],
)
def test_a_fit_takes_what_the_plan_says(options, most):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CODE.format(options=options)],
        capture_output=True,
        text=True,
        check=True,
    )
    peak = int(done.stdout.split()[-1])
    assert peak < most  # the distances themselves are 32 MB
    plan = MDS(metric="precomputed", measurement="ordinal").plan(Expected((2000, 2000), "f8"))
    assert 26e6 < plan.bytes < 29e6

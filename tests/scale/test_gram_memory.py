"""Peak memory of Gram methods against what was predicted, measured in a process of its own."""

import json
import subprocess
import sys
import textwrap

import pytest

from tests.conftest import ROOT

MEASURE = """
import json, numpy as np
from benchmarks.memory import peak_of
from gramian import ClassicalMDS, KernelPCA
rng = np.random.default_rng(0)
X = rng.standard_normal(({n}, 20)).astype(np.float32)
model = {model}
model.fit(X[:700])
peak = peak_of(lambda: model.fit(X))
print(json.dumps([peak, model.plan_.bytes]))
"""


def measured(model, n):
    code = textwrap.dedent(MEASURE).format(model=model, n=n)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def test_landmarks_stay_within_the_prediction():
    peak, predicted = measured("KernelPCA(5, kernel='rbf', landmarks=600)", 30_000)
    assert peak <= 1.1 * predicted  # F takes 72 MB; four float64 copies of it would take 576


@pytest.mark.parametrize("model", ["KernelPCA(5, kernel='rbf')", "ClassicalMDS(5)"])
def test_one_matrix_is_stored_not_two(model):
    n = 6000
    peak, beyond = measured(model, n)
    assert peak <= 1.1 * 4 * n * n + beyond + 40_000_000  # one matrix in float32, and work space


def test_kernel_beyond_the_budget_is_never_stored():
    n = 6000  # the kernel would take 144 MB
    peak, _ = measured("KernelPCA(2, kernel='rbf', memory='60MB')", n)
    assert peak <= 90_000_000

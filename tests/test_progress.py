"""Progress: loops tell how far they are, and iterations when they will end."""

import numpy as np
import pytest

from gramian import KernelPCA, ProbabilisticPCA
from gramian.loops.threads import run
from gramian.progress import Approach, listening


@pytest.fixture
def heard():
    told = []
    with listening(lambda *each: told.append(each)):
        yield told


def test_every_piece_is_counted_once_on_the_threads(heard):
    run(lambda i: None, 37, "pieces")
    assert sorted(heard) == [("pieces", i + 1, 37) for i in range(37)]


def test_nobody_listens_unless_asked(heard):
    run(lambda i: None, 5)
    assert heard == []


@pytest.mark.parametrize("rate", [0.5, 0.9])
def test_the_end_of_a_steady_approach_is_foretold(heard, rate):
    told = Approach("steps", 1e-6)
    for step in range(1, 12):
        told(step, rate ** (step - 1))
    end = 1 + np.log(1e-6) / np.log(rate)
    assert heard[0] == ("steps", 1, None)
    assert abs(heard[-1][2] - end) < 0.15 * end


@pytest.mark.parametrize("gaps", [(1.0, np.inf), (np.inf, 1.0), (0.0, 0.0), (np.nan, 1.0, 0.5)])
def test_odd_gaps_are_told_without_a_guess_that_fails(heard, gaps):
    told = Approach("steps", 1e-3)
    for step, gap in enumerate(gaps, 1):
        told(step, gap)
    assert [each[1] for each in heard] == list(range(1, len(gaps) + 1))


def test_methods_tell_what_they_do(heard):
    X = np.random.default_rng(0).normal(size=(900, 6))
    KernelPCA(2, kernel="rbf", solver="krylov").fit(X)
    assert {"kernel", "eigenpairs"} <= {each[0] for each in heard}
    X[::7, 2] = np.nan
    ProbabilisticPCA(2).fit(X)
    assert "filling in" in {each[0] for each in heard}

"""Error rates, measured: how often noise is taken for structure, how often intervals are right."""

import warnings

import numpy as np
import pytest

from gramian import parallel_analysis
from gramian.errors import GramianWarning
from gramian.inference import bootstrap, jackknife

SETS = 4000
NOISE = {
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "heavy-tailed": lambda rng, shape: rng.standard_t(3, shape),
    "counts": lambda rng, shape: rng.poisson(2.0, shape),
}


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("kind", NOISE)
@pytest.mark.parametrize("shape", [(100, 30), (50, 200)])
def test_noise_is_taken_for_structure_at_the_stated_rate(shape, kind, record_property):
    # 4,000 sets: the standard error of the rate is 0.34 %, so 1 % is three of them
    rng = np.random.default_rng([len(kind), *shape])
    kept = 0
    for i in range(SETS):
        found = parallel_analysis(
            NOISE[kind](rng, shape), n_permutations=99, early_stop=True, random_state=i
        )
        kept += found.n_components > 0
    record_property("rate", kept / SETS)
    print(f"\n{kind} {shape}: {kept / SETS:.2%} of {SETS:,} sets keep a component")
    assert 0.04 <= kept / SETS <= 0.06


LAWS = {
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "t with 8 degrees": lambda rng, shape: rng.standard_t(8, shape) * np.sqrt(6 / 8),
    "uniform": lambda rng, shape: rng.uniform(-1, 1, shape) * np.sqrt(3),
}


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("call", [bootstrap, jackknife])
def test_intervals_of_the_first_eigenvalue_cover(law, call):
    n, true = 100, np.array([5.0, 2.0, *np.ones(8)])
    rng = np.random.default_rng(len(law))
    options = {"n_resamples": 499} if call is bootstrap else {}
    hits = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GramianWarning)
        for i in range(600):
            X = LAWS[law](rng, (n, 10)) * np.sqrt(true)
            found = call(X, 1, random_state=i, **options)
            hits += found.low[0] <= 5 <= found.high[0]
    print(f"\n{call.__name__}, {law}: {hits / 600:.1%} of intervals cover")
    assert 0.90 <= hits / 600 <= 0.98

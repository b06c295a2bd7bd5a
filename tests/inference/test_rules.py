"""Rules that read a spectrum, against their definitions, limits and theorems."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import airy

from gramian.errors import InputError
from gramian.inference import (
    broken_stick,
    broken_stick_values,
    gavish_donoho,
    kaiser,
    marchenko_pastur,
    marchenko_pastur_edge,
    noise_variance,
    share_of_variance,
    tracy_widom,
    tracy_widom_survival,
)
from gramian.inference.noise import gavish_donoho_factor, marchenko_pastur_median


def spectrum(n, p, seed=0, spikes=()):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    X[:, : len(spikes)] *= np.sqrt(spikes)
    return np.linalg.eigvalsh(np.cov(X.T))[::-1][: min(n - 1, p)]


def test_share():
    values = [5.0, 3.0, 1.0, 1.0]
    assert [share_of_variance(values, s) for s in (0.3, 0.49, 0.6, 0.85, 0.95)] == [1, 1, 2, 3, 4]


def test_kaiser_counts_values_above_their_mean():
    assert kaiser([3.0, 1.0, 0.5, 0.5]) == 1  # mean 1.25
    assert kaiser([1.0, 1.0, 1.0]) == 0


def test_broken_stick_is_the_mean_of_broken_sticks():
    # break sticks at random and sort the pieces
    cuts = np.sort(np.random.default_rng(0).random((200_000, 4)), axis=1)
    pieces = np.diff(cuts, axis=1, prepend=0.0, append=1.0)
    mean = np.sort(pieces, axis=1)[:, ::-1].mean(axis=0)
    assert np.allclose(broken_stick_values([0.6, 0.2, 0.1, 0.1, 0.0]), mean, atol=1e-3)


def test_broken_stick_stops_at_the_first_failure():
    assert broken_stick([4.0, 0.4, 0.3, 0.2, 0.1]) == 1
    # the third value beats its stick again, but the second did not
    values = np.array([0.6, 0.15, 0.14, 0.06, 0.05])
    above = values > broken_stick_values(values)
    assert broken_stick(values) == list(above).index(False)


@pytest.mark.parametrize("b", [0.05, 0.3, 0.7, 1.0])
def test_median_of_the_marchenko_pastur_law(b):
    low, high = (1 - np.sqrt(b)) ** 2, (1 + np.sqrt(b)) ** 2

    def density(x):
        return np.sqrt((high - x) * (x - low)) / (2 * np.pi * b * x)

    below = quad(density, low, marchenko_pastur_median(b), limit=200)[0]
    assert abs(below - 0.5) < 1e-6


def test_gavish_and_donohos_constants():
    # their paper: 4 / sqrt 3 where the noise is known, 2.858 where it is not (square matrices), and
    # a cubic that approximates the factor to 0.02
    t = gavish_donoho_factor(1.0) * np.sqrt(marchenko_pastur_median(1.0))
    assert abs(t - 4 / np.sqrt(3)) < 1e-12
    assert abs(gavish_donoho_factor(1.0) - 2.858) < 5e-4
    for b in np.linspace(0.05, 1, 20):
        cubic = 0.56 * b**3 - 0.95 * b**2 + 1.82 * b + 1.43
        assert abs(gavish_donoho_factor(float(b)) - cubic) < 0.02


@pytest.mark.parametrize(("n", "p"), [(801, 200), (201, 800), (501, 500)])
def test_noise_is_measured_and_its_edge_found(n, p):
    values = spectrum(n, p)
    assert abs(noise_variance(4 * values, n, p) - 4) < 0.08
    edge = marchenko_pastur_edge(values, n, p)
    # the largest value of noise falls on the edge within a few units of its n^(-2/3) spread
    root = np.sqrt(n - 1) + np.sqrt(p)
    spread = root / (n - 1) * (1 / np.sqrt(n - 1) + 1 / np.sqrt(p)) ** (1 / 3)
    assert abs(values[0] - edge) < 4 * spread + 0.02 * edge
    assert gavish_donoho(values, n, p) == 0
    spiked = spectrum(n, p, spikes=(60.0, 40.0, 30.0))
    assert gavish_donoho(spiked, n, p) == 3
    assert marchenko_pastur(spiked, n, p) in (3, 4)


def test_tracy_widom_in_the_far_tail():
    # 1 - F1(x) ~ exp(-2/3 x^1.5) / (4 sqrt(pi) x^0.75), relative error of order x^-1.5
    for x in (20.0, 50.0, 90.0):
        wanted = np.exp(-2 / 3 * x**1.5) / (4 * np.sqrt(np.pi) * x**0.75)
        assert abs(tracy_widom_survival(x) / wanted - 1) < 2 * x**-1.5
    # and to first order it is the trace of the kernel: half the integral of Ai from x on
    trace = quad(lambda s: airy(2 * s + 10.0)[0], 0, 10)[0]
    assert abs(tracy_widom_survival(10.0) / trace - 1) < 1e-8


def test_tracy_widom_is_a_law():
    x = np.linspace(-12, 8, 81)
    tail = np.array([tracy_widom_survival(each) for each in x])
    assert np.all((tail >= 0) & (tail <= 1)) and np.all(np.diff(tail) <= 1e-12)
    assert tracy_widom_survival(-1e6) == 1 and tracy_widom_survival(1e6) == 0
    assert tracy_widom_survival(np.inf) == 0 and tracy_widom_survival(-np.inf) == 1
    with pytest.raises(InputError, match="NaN"):
        tracy_widom_survival(float("nan"))


def test_tracy_widom_counts_spikes_and_not_noise():
    # under noise the p-value of the first axis is uniform, nearly: 60 samples, 5 % expected
    false = sum(tracy_widom(spectrum(200, 40, seed)).n_components > 0 for seed in range(60))
    assert false <= 8
    assert tracy_widom(spectrum(400, 60, 1, spikes=(12.0, 8.0))).n_components == 2
    assert tracy_widom([1.0, 1.0, 1.0, 1.0]).n_components == 0
    assert tracy_widom([2.0]).n_components == 0
    assert "kept" in str(tracy_widom(spectrum(400, 60, 1, spikes=(12.0, 8.0))))


@pytest.mark.parametrize("rule", [kaiser, broken_stick, share_of_variance, tracy_widom])
@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ([], "list of eigenvalues"),
        ([[1.0]], "list of eigenvalues"),
        ([1.0, np.nan], "NaN"),
        ([1.0, np.inf], "NaN or inf"),
        ([1.0, 2.0], "largest first"),
        ([1.0, -1.0], "negative"),
    ],
)
def test_bad_spectra(rule, values, sentence):
    with pytest.raises(InputError, match=sentence):
        rule(values)


def test_bad_levels():
    for call in (lambda: share_of_variance([1.0], 2), lambda: tracy_widom([1.0, 0.5], alpha=0)):
        with pytest.raises(InputError, match="between 0 and 1"):
            call()
    with pytest.raises(InputError, match="at most 1"):
        marchenko_pastur_median(2.0)

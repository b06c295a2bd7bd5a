"""Schoenberg transforms: squared distances stay squared distances; the integral is the formula."""

import mpmath
import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from scipy.special import gamma

import gramian
from gramian.errors import InputError
from gramian.gram import schoenberg

EPS = np.finfo(float).eps
TRANSFORMS = {
    "linear": schoenberg.linear,
    "exponential": lambda t: schoenberg.exponential(t, 0.7),
    "logarithm": lambda t: schoenberg.logarithm(t, 0.3),
    "rational": lambda t: schoenberg.rational(t, 2.0),
    "power": lambda t: schoenberg.power(t, 0.35),
    "bernstein": schoenberg.bernstein(
        lambda x: 1 / (1 + x) ** 2, drift=0.1, atoms=[(0.5, 2.0), (3.0, 0.25)]
    ),
}


def smallest(C):
    """The smallest eigenvalue of -1/2 H C H, relative to the largest in size."""
    n = len(C)
    H = np.eye(n) - 1 / n
    values = np.linalg.eigvalsh(-0.5 * H @ C @ H)
    return values[0] / np.abs(values).max()


@pytest.mark.parametrize("name", TRANSFORMS)
@pytest.mark.parametrize("seed", range(3))
def test_squared_distances_stay_squared_distances(name, seed):
    # S0's theorem, on points in the plane: rank 2 before, so nothing is positive by luck
    X = np.random.default_rng(seed).normal(size=(40, 2)) * 3.0**seed
    C = TRANSFORMS[name](squareform(pdist(X, "sqeuclidean")))
    assert not np.diagonal(C).any()
    assert np.array_equal(C, C.T)
    assert smallest(C) > -40 * EPS


def test_square_of_squared_distances_is_none():
    # R22: t^2 on three points of a line, and |i - j|^(2p) is c.n.d. for p <= 1 only
    t = np.subtract.outer([0.0, 1, 2], [0, 1, 2]) ** 2
    assert smallest(t**2) < -0.1
    far = np.abs(np.subtract.outer(np.arange(12.0), np.arange(12)))
    for p in (0.2, 0.5, 0.9, 1.0):
        assert smallest(schoenberg.power(far**2, p)) > -12 * EPS
    for p in (1.05, 1.5, 2.0):
        assert smallest(far ** (2 * p)) < -1e-3
        with pytest.raises(InputError, match="0 < p <= 1"):
            schoenberg.power(far**2, p)


@pytest.mark.parametrize("name", TRANSFORMS)
def test_bernstein_functions(name):
    # erratum E7: Phi itself grows; its differences alternate in sign, beginning with +
    values = TRANSFORMS[name](0.25 * np.arange(9.0))
    assert values[0] == 0
    for order in range(1, 5):
        signed = -((-1) ** order) * np.diff(values, order)
        assert (signed >= -64 * EPS * values.max()).all()


DENSITIES = {  # the four of S0 as densities g; the first and zeroth are point masses
    "logarithm": (lambda a: lambda x: np.exp(-a * x), schoenberg.logarithm),
    "rational": (lambda a: lambda x: x * np.exp(-a * x), schoenberg.rational),
    "power": (lambda p: lambda x: p / gamma(1 - p) * x**-p, schoenberg.power),
}


@pytest.mark.parametrize(
    ("name", "parameter"),
    [
        *(("logarithm", a) for a in (1e-3, 0.5, 40.0)),
        *(("rational", a) for a in (1e-3, 0.5, 40.0)),
        *(("power", p) for p in (0.1, 0.5, 0.75, 0.9)),
    ],
)
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_quadrature_equals_the_closed_form(name, parameter, scale):
    # E6: g_2 and g_4 have no integral of g / lambda near 0, and are measures all the same
    density, closed = DENSITIES[name]
    t = scale * np.array([[0.0, 1e-3, 0.2], [1.0, 7.0, 1e3]])
    found = schoenberg.bernstein(density(parameter))(t)
    assert np.allclose(found, closed(t, parameter), rtol=3e-10, atol=0)


def test_point_masses_equal_the_closed_form():
    t = np.array([0.0, 1e-9, 0.5, 30.0])
    assert np.array_equal(schoenberg.bernstein(drift=1.0)(t), schoenberg.linear(t))
    found = schoenberg.bernstein(atoms=[(0.7, 1.0)])(t)
    assert np.array_equal(found, schoenberg.exponential(t, 0.7))
    assert np.array_equal(schoenberg.bernstein()(t), np.zeros(4))


@pytest.mark.parametrize("name", ["exponential", "logarithm", "rational"])
def test_small_and_large_arguments_keep_their_digits(name):
    t = np.array([1e-300, 1e-20, 1e-9, 1e-3, 1.0, 1e9, 1e300])
    a = 0.7
    with mpmath.workdps(400):
        exact = {
            "exponential": lambda x: (1 - mpmath.exp(-a * x)) / a if x < 1e4 else 1 / mpmath.mpf(a),
            "logarithm": lambda x: mpmath.log(1 + x / mpmath.mpf(a)),
            "rational": lambda x: x / (mpmath.mpf(a) * (a + x)),
        }[name]
        wanted = np.array([float(exact(mpmath.mpf(x))) for x in t])
    assert np.allclose(getattr(schoenberg, name)(t, a), wanted, rtol=8 * EPS, atol=0)


@pytest.mark.parametrize(
    ("g", "words"),
    [
        (lambda x: np.ones_like(x), "infinity of g / lambda"),
        (lambda x: 1 / x, "near 0 of g"),
        (lambda x: x**-1.5, "g is inf"),
        (lambda x: np.sqrt(x), "infinity of g / lambda"),
        (lambda x: -np.exp(-x), ">= 0"),
        (lambda x: np.exp(-x)[:3], ">= 0"),
        (lambda x: np.where((x > 1) & (x < 2), 1.0, 0.0), "smooth"),
    ],
)
def test_what_is_no_measure_is_refused(g, words):
    with pytest.raises(InputError, match=words):
        schoenberg.bernstein(g)(np.array([0.5, 2.0]))


def test_bad_parameters():
    for call in (
        lambda: schoenberg.exponential([1.0], 0),
        lambda: schoenberg.logarithm([1.0], -1),
        lambda: schoenberg.rational([1.0], np.inf),
        lambda: schoenberg.power([1.0], 0),
        lambda: schoenberg.linear([-1.0]),
        lambda: schoenberg.linear([np.nan]),
        lambda: schoenberg.bernstein(drift=-1),
        lambda: schoenberg.bernstein(atoms=[(0, 1)]),
        lambda: schoenberg.bernstein(atoms=[(1, -1)]),
        *(lambda a=a: schoenberg.exponential([1.0], a) for a in ("a", None, 1j, [1.0], np.nan)),
        *(lambda p=p: schoenberg.power([1.0], p) for p in ("a", None, 1j, [0.5], np.nan)),
        *(
            lambda atoms=atoms: schoenberg.bernstein(atoms=atoms)
            for atoms in (3, [3], "ab", [(1, "a")], [(1, 2, 3)], {1: 2}, [(1, 1j)])
        ),
        *(lambda drift=drift: schoenberg.bernstein(drift=drift) for drift in ("a", None, np.nan)),
        *(lambda g=g: schoenberg.bernstein(g) for g in (3, "a", [1.0])),
        *(lambda tol=tol: schoenberg.bernstein(tol=tol) for tol in ("a", 0, -1, np.nan)),
    ):
        with pytest.raises(InputError):
            call()
    for wrong in (lambda x: "a", lambda x: None, lambda x: 1.0, lambda x: 1j * x):
        with pytest.raises(InputError, match="g gave .* for each element of an array"):
            schoenberg.bernstein(wrong)(np.array([1.0]))


@pytest.mark.parametrize(
    "transform",
    [
        *(getattr(schoenberg, name) for name in ("linear", "exponential", "logarithm")),
        *(schoenberg.rational, schoenberg.power, schoenberg.bernstein(lambda x: np.exp(-x))),
    ],
)
def test_squared_distances_are_finite_numbers(transform):
    for wrong in (np.inf, [1.0, np.inf], np.nan, -1.0):
        with pytest.raises(InputError, match="finite numbers >= 0; found (inf|nan|-1)"):
            transform(wrong)
    for wrong in ("a", None, 1j, [[1], [1, 2]]):
        with pytest.raises(InputError, match="an array of real numbers"):
            transform(wrong)


def test_a_failure_says_what_was_reached():
    with pytest.raises(InputError, match=r"only known to [1-9]\.\de-0[1-9], 1.0e-10") as caught:
        schoenberg.bernstein(lambda x: np.where((x > 1) & (x < 2), 1.0, 0.0))(np.array([1.0]))
    reached = float(str(caught.value).split("known to ")[1].split(",")[0])
    found = schoenberg.bernstein(lambda x: np.where((x > 1) & (x < 2), 1.0, 0.0), tol=4 * reached)(
        np.array([1.0])
    )
    with mpmath.workdps(20):
        exact = float(mpmath.quad(lambda x: (1 - mpmath.exp(-x)) / x, [1, 2]))
    assert abs(found[0] - exact) <= 40 * reached * exact


def test_public_name():
    assert gramian.schoenberg is schoenberg

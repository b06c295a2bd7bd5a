"""The largest eigenvalues of tridiagonal matrices, against LAPACK."""

import numpy as np
import pytest

from gramian.loops.sturm import largest
from gramian.spectral.tridiagonal import largest_values, tridiagonal

EPS = np.finfo(float).eps


def dense(d, e):
    return np.diag(d) + np.diag(e, 1) + np.diag(e, -1)


CASES = {
    "one": (np.array([3.0]), np.zeros(0)),
    "two": (np.array([1.0, -2.0]), np.array([0.5])),
    "zero": (np.zeros(5), np.zeros(4)),
    "diagonal": (np.array([1.0, 5.0, -3.0, 5.0]), np.zeros(3)),
    "equal": (np.full(30, 2.0), np.zeros(29)),
    "Wilkinson": (np.abs(np.arange(-10.0, 11)), np.ones(20)),
    "path": (np.full(50, 2.0), np.full(49, -1.0)),
    "split": (np.r_[np.ones(5), 7 * np.ones(5)], np.r_[np.ones(4), 0.0, np.ones(4)]),
    "tiny": (1e-150 * np.arange(1.0, 9), 1e-151 * np.ones(7)),
    "huge": (1e150 * np.arange(1.0, 9), 1e149 * np.ones(7)),
    "random": tuple(np.random.default_rng(0).standard_normal(n) for n in (200, 199)),
}


@pytest.mark.parametrize("name", CASES)
def test_largest_are_lapacks(name):
    d, e = CASES[name]
    n = len(d)
    wanted = np.linalg.eigvalsh(dense(d, e))[::-1]
    size = np.abs(wanted).max()
    for m in {1, min(3, n), n}:
        values = np.empty(m)
        largest(d, e, 0, 4.5e-16, values)
        assert np.abs(values - wanted[:m]).max() <= 4 * n * EPS * size
        rough = largest_values(d, e, n, n - m, 1e-6)
        assert np.abs(rough - wanted[n - m :]).max() <= 1e-6 * size + 4 * n * EPS * size


def test_path_graph_has_its_known_values():
    # the Laplacian-like matrix tridiag(-1, 2, -1): 2 - 2 cos(pi k / (n + 1))
    found = largest_values(np.full(40, 2.0), np.full(39, -1.0), 40)
    wanted = 2 - 2 * np.cos(np.pi * np.arange(40, 0, -1) / 41)
    assert np.abs(found - wanted).max() < 1e-13


@pytest.mark.parametrize(("dtype", "tolerance"), [("f4", 1e-6), ("f8", 1e-14)])
@pytest.mark.parametrize("n", [1, 2, 3, 40, 150])
def test_tridiagonal_form_keeps_the_spectrum(n, dtype, tolerance):
    A = np.random.default_rng(n).standard_normal((n, n + 5))
    C = (A @ A.T).astype(dtype)
    wanted = np.linalg.eigvalsh(C.astype(float))[::-1]
    d, e = tridiagonal(C.copy())
    assert d.shape == (n,) and e.shape == (n - 1,)
    found = largest_values(d, e, n)
    assert np.abs(found - wanted).max() < tolerance * wanted[0] * np.sqrt(n)


def test_tridiagonal_refuses_what_lapack_would_misread():
    with pytest.raises(TypeError, match="C-ordered"):
        tridiagonal(np.eye(4, dtype=int))
    with pytest.raises(TypeError, match="C-ordered"):
        tridiagonal(np.zeros((4, 8))[:, ::2])

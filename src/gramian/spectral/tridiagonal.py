"""Tridiagonal form of a symmetric matrix, on as many threads at once as one likes.

    C = Q T Q',  T tridiagonal          LAPACK's sytrd; Q is not kept
    top m eigenvalues of T              bisection (``loops.sturm``), whenever they are asked for

T has 2 n numbers and gives any eigenvalue later at little cost: whoever does not know beforehand
how many are needed keeps T. SciPy's own wrapper holds the GIL while LAPACK works; the same routine
called by its address does not.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np

from gramian.maps import Array

_letters = {"f": "s", "d": "d"}


@cache
def _routine(name: str) -> Any:
    """A LAPACK routine of SciPy as a function of ten pointers."""
    from scipy.linalg import cython_lapack

    capsule = vars(cython_lapack)["__pyx_capi__"][name]
    name_of, pointer_of = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer_of.restype = ctypes.c_void_p
    pointer_of.argtypes = [ctypes.py_object, ctypes.c_char_p]
    address = pointer_of(capsule, name_of(capsule))
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 10)(address)


def tridiagonal(C: Array) -> tuple[Array, Array]:
    """Diagonal and off-diagonal of T, in float64; ``C`` is symmetric, C-ordered, and overwritten.

    float32 is worked on in float32. A row and a column of zeros beside ``C`` change nothing.
    """
    n, dtype = len(C), C.dtype
    if not C.flags.c_contiguous or dtype.char not in _letters:
        raise TypeError(f"a C-ordered float32 or float64 matrix is needed, got {dtype}")
    if n == 1:
        return C[0].astype(np.float64), np.zeros(0)
    d, e, tau = (np.empty(n, dtype) for _ in range(3))
    work = np.empty(64 * n, dtype)
    order, length, info = (np.array([value], np.intc) for value in (n, len(work), 0))
    half = np.array([b"U"], "S1")  # a sixth faster here than the lower half
    arguments = (half, order, C, order, d, e, tau, work, length, info)
    _routine(_letters[dtype.char] + "sytrd")(*(each.ctypes.data for each in arguments))
    if info[0]:
        raise RuntimeError(f"sytrd refused argument {-info[0]}")
    return d.astype(np.float64), e[: n - 1].astype(np.float64)


def largest_values(d: Array, e: Array, m: int, first: int = 0, tolerance: float = 4.5e-16) -> Array:
    """Eigenvalues ``first`` to ``m`` - 1 of the tridiagonal matrix, 0 being the largest."""
    from gramian.loops.sturm import largest

    values = np.empty(m - first)
    largest(d, e, first, tolerance, values)
    return values

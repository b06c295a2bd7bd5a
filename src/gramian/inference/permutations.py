"""Permutation tests: the same measure of data whose order says nothing.

    p = (1 + how many of R permutations reach the observed value) / (1 + R)

The observed order is one of the orders that chance could have drawn; so p is never 0, and at most
a share p of true null hypotheses gets one below p.

B. Phipson & G. K. Smyth, Stat. Appl. Genet. Mol. Biol. 9 (2010).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gramian.errors import InputError
from gramian.maps import Array
from gramian.progress import tick

_slack = 2.0**-26  # a value less than this share below the observed one counts as reached


def orders(
    n: int, count: int, seed: int, *, strata: Array | None = None, width: int = 1
) -> Iterator[Array]:
    """Random orders of n items in blocks of shape (b, n), ``count`` in all.

    Parameters
    ----------
    n, count, seed : int
    strata : array of int of shape (n,), optional
        Items change places within their stratum only.
    width : int
        Numbers that the caller makes of each item: blocks are small enough for that.
    """
    rng = np.random.default_rng(seed)
    step = max(1, 1_000_000 // (n * width))
    home = None if strata is None else np.argsort(strata, kind="stable")
    for begin in range(0, count, step):
        keys = rng.random((min(step, count - begin), n))
        if home is None or strata is None:
            found = np.argsort(keys, axis=1)
        else:
            found = np.empty(keys.shape, np.intp)
            found[:, home] = np.argsort(keys + strata, axis=1)
        yield found
        tick("permutations", min(begin + step, count), count)


def strata_of(strata: Any, n: int) -> Array | None:
    """Numbers of the strata, from 0."""
    if strata is None:
        return None
    names = np.asarray(strata)
    if names.shape != (n,):
        raise InputError(f"strata needs one name for each of {n} points, got shape {names.shape}")
    return np.unique([str(name) for name in names.tolist()], return_inverse=True)[1]


def p_value(permuted: Array, observed: Any) -> Any:
    """Share of values (R, ...) at least as large as ``observed``, which is one of them."""
    reached = np.sum(permuted >= observed - _slack * np.abs(observed), axis=0)
    return (1 + reached) / (1 + len(permuted))

"""Columns shuffled, or their signs flipped, one stream of random numbers for each.

    key of replicate r, column j  ->  four words of state  ->  xoshiro256++  ->  64 random bits
    a number below b              =   the high 64 bits of (random * b), redrawn where that is unfair
    shuffle                       =   out[i] = out[k], out[k] = x[i], with k uniform in 0..i

The stream depends on the key and on the column alone, so a column comes out the same whichever
block it is in, whatever the precision, and on any thread.

D. Blackman & S. Vigna, Scrambled linear pseudorandom number generators, ACM TOMS 47 (2021);
D. Lemire, Fast random integer generation in an interval, ACM TOMACS 29 (2019);
N. Brackett-Rozinsky & D. Lemire, Batched ranged random integer generation (2024): two numbers from
one word; R. Durstenfeld, Algorithm 235, CACM 7 (1964).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from gramian.loops.tile import compiled


@intrinsic
def high(typing: Any, a: Any, b: Any) -> Any:
    """The high 64 bits of the product of two words."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        wide = ir.IntType(128)
        product = builder.mul(*(builder.zext(x, wide) for x in arguments))
        return builder.trunc(builder.lshr(product, ir.Constant(wide, 64)), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), build


@compiled
def _turned(x, k):
    return (x << np.uint64(k)) | (x >> np.uint64(64 - k))


@compiled
def _mixed(x):
    """Splitmix64: a word from a counter."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@compiled
def _start(key, column):
    """Four words of state for one column of the replicate with this key."""
    golden = np.uint64(0x9E3779B97F4A7C15)
    x = _mixed(key[0] + golden * np.uint64(column + 1)) ^ key[1]
    return (
        _mixed(x + golden),
        _mixed(x + golden * np.uint64(2)),
        _mixed(x + golden * np.uint64(3)),
        _mixed(x + golden * np.uint64(4)),
    )


@compiled
def _next(s0, s1, s2, s3):
    """A random word and the state after it."""
    word = _turned(s0 + s3, 23) + s0
    t = s1 << np.uint64(17)
    s2 ^= s0
    s3 ^= s1
    s1 ^= s2
    s0 ^= s3
    s2 ^= t
    s3 = _turned(s3, 45)
    return word, s0, s1, s2, s3


@compiled
def shuffle(X, key, first, out):
    """out[j] = X[j] in random order, for every row j; row 0 is column ``first`` of the data."""
    p, n = X.shape
    for j in range(p):
        s0, s1, s2, s3 = _start(key, first + j)
        out[j, 0] = X[j, 0]
        i = 1
        if n % 2 == 0:  # one alone, so that the others come in pairs
            word, s0, s1, s2, s3 = _next(s0, s1, s2, s3)
            k = np.intp(word >> np.uint64(63))
            out[j, 1] = out[j, k]
            out[j, k] = X[j, 1]
            i = 2
        while i < n:
            a, b = np.uint64(i + 1), np.uint64(i + 2)
            word, s0, s1, s2, s3 = _next(s0, s1, s2, s3)
            k = high(word, a)
            l = high(word * a, b)
            rest = word * a * b
            if rest < a * b:
                unfair = (np.uint64(0) - a * b) % (a * b)
                while rest < unfair:
                    word, s0, s1, s2, s3 = _next(s0, s1, s2, s3)
                    k = high(word, a)
                    l = high(word * a, b)
                    rest = word * a * b
            out[j, i] = out[j, np.intp(k)]
            out[j, np.intp(k)] = X[j, i]
            out[j, i + 1] = out[j, np.intp(l)]
            out[j, np.intp(l)] = X[j, i + 1]
            i += 2


@compiled
def flip_signs(X, key, first, out):
    """out[j, i] = X[j, i] or -X[j, i], each with probability one half."""
    p, n = X.shape
    for j in range(p):
        s0, s1, s2, s3 = _start(key, first + j)
        for a in range(0, n, 64):
            word, s0, s1, s2, s3 = _next(s0, s1, s2, s3)
            for i in range(a, min(a + 64, n)):
                x = X[j, i]
                out[j, i] = x if (word >> np.uint64(i - a)) & np.uint64(1) else -x

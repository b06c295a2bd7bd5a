"""Shuffles and sign flips equal a twin in plain integers, and are fair."""

import math
from collections import Counter

import numpy as np
import pytest
from scipy.stats import chi2

from gramian.loops.permute import _next, flip_signs, shuffle

WORD = 2**64
GOLDEN = 0x9E3779B97F4A7C15


class Twin:
    """xoshiro256++ seeded by splitmix64, in Python's own integers."""

    def __init__(self, key, column):
        x = self.mixed((key[0] + GOLDEN * (column + 1)) % WORD) ^ key[1]
        self.s = [self.mixed((x + GOLDEN * i) % WORD) for i in (1, 2, 3, 4)]

    @staticmethod
    def mixed(x):
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % WORD
        x = (x ^ (x >> 27)) * 0x94D049BB133111EB % WORD
        return x ^ (x >> 31)

    def word(self):
        s = self.s
        turned = lambda x, k: (x << k | x >> (64 - k)) % WORD  # noqa: E731
        found = (turned((s[0] + s[3]) % WORD, 23) + s[0]) % WORD
        t = (s[1] << 17) % WORD
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = turned(s[3], 45)
        return found

    def shuffled(self, x):
        out, n = list(x), len(x)
        i = 1
        if n % 2 == 0:
            k = self.word() >> 63
            out[1], out[k] = out[k], x[1]
            i = 2
        while i < n:
            a, b = i + 1, i + 2
            while True:
                product = self.word() * a
                k, rest = divmod(product, WORD)
                l, rest = divmod(rest * b, WORD)
                if rest >= WORD % (a * b):  # every (k, l) has the same number of words
                    break
            out[i] = out[k]
            out[k] = x[i]
            out[i + 1] = out[l]
            out[l] = x[i + 1]
            i += 2
        return out


def test_generator_is_xoshiro256plusplus():
    # first numbers from the state (1, 2, 3, 4), as in the test of Rust's rand_xoshiro
    state, found = [1, 2, 3, 4], []
    for _ in range(4):
        word, *state = _next(*map(np.uint64, state))
        found.append(int(word))
    assert found == [41943041, 58720359, 3588806011781223, 3591011842654386]


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 63, 64, 100])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_shuffle_is_its_twin(n, dtype):
    key = np.array([2**63 + 5, 99], np.uint64)
    X = np.random.default_rng(n).standard_normal((4, n)).astype(dtype)
    out = np.empty_like(X)
    shuffle(X, key, 7, out)
    for j in range(4):
        assert out[j].tolist() == Twin([int(k) for k in key], 7 + j).shuffled(X[j].tolist())


@pytest.mark.parametrize("n", [1, 64, 65, 200])
def test_flip_signs_is_its_twin(n):
    key = np.array([3, 2**64 - 1], np.uint64)
    X = np.random.default_rng(n).standard_normal((3, n))
    out = np.empty_like(X)
    flip_signs(X, key, 2, out)
    for j in range(3):
        twin = Twin([3, 2**64 - 1], 2 + j)
        words = [twin.word() for _ in range(-(-n // 64))]
        signs = [1 if words[i // 64] >> (i % 64) & 1 else -1 for i in range(n)]
        assert np.array_equal(out[j], X[j] * signs)


def test_a_column_is_the_same_in_any_block():
    key = np.array([1, 2], np.uint64)
    X = np.random.default_rng(0).standard_normal((9, 50))
    whole, part = np.empty_like(X), np.empty((3, 50))
    shuffle(X, key, 0, whole)
    shuffle(X[4:7], key, 4, part)
    assert np.array_equal(part, whole[4:7])


@pytest.mark.parametrize("n", [3, 4, 5])
def test_every_order_is_equally_likely(n):
    times = 200 * math.factorial(n)
    X = np.tile(np.arange(float(n)), (times, 1))
    out = np.empty_like(X)
    shuffle(X, np.array([11, 12], np.uint64), 0, out)
    seen = Counter(map(tuple, out.astype(int)))
    assert len(seen) == math.factorial(n)
    statistic = sum((each - 200) ** 2 / 200 for each in seen.values())
    assert chi2.sf(statistic, len(seen) - 1) > 1e-4


def test_neighboring_columns_and_keys_are_unrelated():
    n, m = 500, 400
    X = np.tile(np.arange(n) - (n - 1) / 2, (m, 1))
    a, b = np.empty_like(X), np.empty_like(X)
    shuffle(X, np.array([5, 0], np.uint64), 0, a)
    shuffle(X, np.array([6, 0], np.uint64), 0, b)
    r = np.concatenate([np.sum(a[1:] * a[:-1], axis=1), np.sum(a * b, axis=1)]) / np.sum(X[0] ** 2)
    # correlations of independent permutations: mean 0, variance 1 / (n - 1)
    assert abs(r.mean()) < 4 / np.sqrt(len(r) * (n - 1))
    assert abs(r.var() * (n - 1) - 1) < 5 * np.sqrt(2 / len(r))

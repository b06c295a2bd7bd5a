"""Genotypes of two bits each, four to a byte: counted, decoded, multiplied.

A variant is a line of bytes; sample s is bits 2 (s % 4) and up of byte s // 4. The codes are those
of PLINK: 0 two copies of the first allele, 1 missing, 2 one copy, 3 none. A table says what each of
the four codes is worth in each variant: Z[v, s] = table[v, code]. Z is never stored: a cacheful of
variants is decoded, used and forgotten.

    times      out += Z U
    adjoint    out += Z' W
    gram       out += Z' (Z U)       a cacheful is decoded once and used twice
"""

from __future__ import annotations

import numpy as np

from gramian.loops.products import CHUNK, _add_AB, _add_AtB
from gramian.loops.tile import compiled

PANEL = 16_384  # samples decoded at a time


@compiled
def decode(packed, tables, start, stop, left, columns, Z):
    """Z[v - start, j] = what variant v is worth in sample left + j; ``left`` is a multiple of 4."""
    pair = np.empty((16, 2), Z.dtype)  # half a byte is two samples
    whole = np.uint64(columns // 4)
    for v in range(start, stop):
        line, into, table = packed[v, left // 4 :], Z[v - start], tables[v]
        for half in range(16):
            pair[half, 0] = table[half & 3]
            pair[half, 1] = table[half >> 2]
        for b in range(whole):
            byte = line[b]
            low, high = byte & np.uint8(15), byte >> np.uint8(4)
            s = np.uint64(4) * b
            into[s] = pair[low, 0]
            into[s + np.uint64(1)] = pair[low, 1]
            into[s + np.uint64(2)] = pair[high, 0]
            into[s + np.uint64(3)] = pair[high, 1]
        for last in range(columns - columns % 4, columns):
            into[last] = table[(line[last // 4] >> np.uint8(2 * (last % 4))) & np.uint8(3)]


@compiled
def count_codes(packed, n, counts, missing):
    """counts[v, code] of each variant; missing[s] += variants without a call of sample s.

    Returns the first variant whose padding bits are set, or -1.
    """
    ways = np.zeros(256, np.uint64)  # how often each code is in a byte, 16 bits apiece
    for byte in range(256):
        for s in range(4):
            ways[byte] += np.uint64(1) << np.uint64(16 * ((byte >> 2 * s) & 3))
    spoiled = -1
    rest = n % 4
    for v in range(packed.shape[0]):
        line = packed[v]
        if rest and line[-1] >> np.uint8(2 * rest) and spoiled < 0:
            spoiled = v
        for a in range(0, line.size, 16_000):
            total = np.uint64(0)
            for b in range(a, min(a + 16_000, line.size)):
                total += ways[line[b]]
            for code in range(4):
                counts[v, code] += (total >> np.uint64(16 * code)) & np.uint64(65_535)
        if rest:
            counts[v, 0] -= 4 - rest
        if counts[v, 1]:
            for b in range(line.size):
                if line[b] & ~(line[b] >> np.uint8(1)) & np.uint8(0x55):
                    for s in range(4 * b, min(4 * b + 4, n)):
                        missing[s] += ((line[b] >> np.uint8(2 * (s % 4))) & np.uint8(3)) == 1
    return spoiled


@compiled
def add_missing_pairs(packed, n, out):
    """out[i, j] += variants missing in both samples, for i <= j."""
    who = np.empty(n, np.int64)
    for v in range(packed.shape[0]):
        line, many = packed[v], 0
        for b in range(line.size):
            if line[b] & ~(line[b] >> np.uint8(1)) & np.uint8(0x55):
                for s in range(4 * b, min(4 * b + 4, n)):
                    if ((line[b] >> np.uint8(2 * (s % 4))) & np.uint8(3)) == 1:
                        who[many] = s
                        many += 1
        for i in range(many):
            row = out[who[i]]
            for j in range(i, many):
                row[who[j]] += 1


@compiled
def times(packed, tables, U, Z, out):
    """out[v] += sum over samples of Z[v, s] U[s]."""
    n, (depth, wide) = U.shape[0], Z.shape
    for v in range(0, packed.shape[0], depth):
        rows = min(depth, packed.shape[0] - v)
        for left in range(0, n, wide):
            columns = min(wide, n - left)
            decode(packed, tables, v, v + rows, left, columns, Z)
            for c in range(0, columns, CHUNK):
                many = min(CHUNK, columns - c)
                _add_AB(Z, 0, rows, c, many, U, left + c, out, v, Z, depth, 0)


@compiled
def adjoint(packed, tables, W, Z, out):
    """out[s] += sum over variants of Z[v, s] W[v]."""
    n, (depth, wide) = out.shape[0], Z.shape
    for v in range(0, packed.shape[0], depth):
        rows = min(depth, packed.shape[0] - v)
        for left in range(0, n, wide):
            columns = min(wide, n - left)
            decode(packed, tables, v, v + rows, left, columns, Z)
            _add_AtB(Z, 0, rows, columns, W, v, out, left, Z, depth)


@compiled
def gram(packed, tables, U, Z, Y, out):
    """out[s] += sum over variants of Z[v, s] (Z U)[v]; Y has room for a cacheful of Z U."""
    n, (depth, wide) = U.shape[0], Z.shape
    for v in range(0, packed.shape[0], depth):
        rows = min(depth, packed.shape[0] - v)
        Y[:] = 0
        for left in range(0, n, wide):
            columns = min(wide, n - left)
            decode(packed, tables, v, v + rows, left, columns, Z)
            for c in range(0, columns, CHUNK):
                many = min(CHUNK, columns - c)
                _add_AB(Z, 0, rows, c, many, U, left + c, Y, 0, Z, depth, 0)
        for left in range(0, n, wide):
            columns = min(wide, n - left)
            if n > wide:
                decode(packed, tables, v, v + rows, left, columns, Z)
            _add_AtB(Z, 0, rows, columns, Y, 0, out, left, Z, depth)


@compiled
def kinship(het, first, second, start, stop, limit, found):
    """Pairs i < j, start <= i < stop, of KING-robust kinship above ``limit``; how many there are.

    ``het, first, second`` are bits by sample: one copy, two of the first allele, two of the second.
    The estimate is (both het - 2 opposite) / (het of i + het of j). The first few go to ``found``.
    """
    n, words = het.shape
    many = 0
    own = np.zeros(n, np.int64)
    for i in range(n):
        for w in range(words):
            own[i] += _ones(het[i, w])
    for i in range(start, stop):
        for j in range(i + 1, n):
            both = np.int64(0)
            for w in range(words):
                both += _ones(het[i, w] & het[j, w])
            if both <= limit * (own[i] + own[j]) or both == 0:
                continue  # opposite calls only lower it
            opposite = np.int64(0)
            for w in range(words):
                apart = (first[i, w] & second[j, w]) | (second[i, w] & first[j, w])
                opposite += _ones(apart)
            value = (both - 2 * opposite) / (own[i] + own[j])
            if value > limit:
                if many < len(found):
                    found[many, 0], found[many, 1], found[many, 2] = i, j, value
                many += 1
    return many


@compiled
def _ones(word):
    """How many bits are set."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))

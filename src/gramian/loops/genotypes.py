"""Genotypes of two bits each, four to a byte: counted, decoded, multiplied.

A variant is a line of bytes; sample s is bits 2 (s % 4) and up of byte s // 4. The codes are those
of PLINK: 0 two copies of the first allele, 1 missing, 2 one copy, 3 none. A table says what each of
the four codes is worth in each variant: Z[v, s] = table[v, code]. Z is never stored: a cacheful of
variants is decoded, used and forgotten.

    times      out += Z U'
    adjoint    out += W' Z
    gram       out += (Z U')' Z       a cacheful is decoded once and used twice

Thin blocks over samples lie on their side, a vector a row, so that registers are filled along the
samples whatever the number of vectors; they come in fours. Rows of such blocks go on with zeros for
up to four registers beyond the samples.
"""

from __future__ import annotations

import numpy as np

from gramian.loops.products import CHUNK
from gramian.loops.tile import at, compiled, dots_4x4, tile_4x4, word
from gramian.loops.unpack import unpack

PANEL = 4096  # samples decoded at a time
_EVERY_OTHER = np.uint64(0x5555555555555555)


@compiled
def decode(packed, tables, start, rows, left, columns, Z, i, c):
    """Z[i + r, c + j] = what variant start + r is worth in sample left + j; ``left`` of fours.

    ``packed``, ``tables`` and ``Z`` lie in memory without gaps.
    """
    width, across = packed.shape[1], Z.shape[1]
    lanes = 64 // Z.itemsize
    whole = columns - columns % lanes
    for r in range(rows):
        v, o = start + r, (i + r) * across + c
        unpack(at(packed, v * width + left // 4), at(tables, 4 * v), whole // lanes, at(Z, o))
        for s in range(left + whole, left + columns):
            code = (packed[v, s // 4] >> np.uint8(2 * (s % 4))) & np.uint8(3)
            Z[i + r, c + s - left] = tables[v, code]


@compiled
def _ones(bits):
    """How many bits are set."""
    bits = bits - ((bits >> np.uint64(1)) & np.uint64(0x5555555555555555))
    bits = (bits & np.uint64(0x3333333333333333)) + (
        (bits >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    bits = (bits + (bits >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((bits * np.uint64(0x0101010101010101)) >> np.uint64(56))


@compiled
def count_codes(packed, n, counts, missing):
    """counts[v, code] of each variant; missing[s] += variants without a call of sample s.

    ``packed`` lies in memory without gaps. Returns the first variant whose padding bits are set,
    or -1.
    """
    spoiled = -1
    rest, width = n % 4, packed.shape[1]
    for v in range(packed.shape[0]):
        line = packed[v]
        if rest and line[-1] >> np.uint8(2 * rest) and spoiled < 0:
            spoiled = v
        last = np.uint64(0)  # the bytes that fill no word
        for b in range(width - width % 8, width):
            last = last << np.uint64(8) | np.uint64(line[b])
        low, high = last & _EVERY_OTHER, last >> np.uint64(1) & _EVERY_OTHER
        lows, highs, boths = _ones(low), _ones(high), _ones(low & high)
        for w in range(width // 8):
            four = word(at(packed, v * width + 8 * w))
            low, high = four & _EVERY_OTHER, four >> np.uint64(1) & _EVERY_OTHER
            lows, highs, boths = lows + _ones(low), highs + _ones(high), boths + _ones(low & high)
        counts[v, 0] += n - lows - highs + boths
        counts[v, 1] += lows - boths
        counts[v, 2] += highs - boths
        counts[v, 3] += boths
        if lows > boths:
            for b in range(width):
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
def _decode_times(packed, tables, v, rows, left, columns, U, Z, Y):
    """Z = ``rows`` variants from v on, of samples from ``left`` on; Y += Z U'.

    Four variants of a few samples are decoded and multiplied before they leave the first-level
    cache. Y[h] holds columns 4 h and up, a variant a row; rows up to the next four are scratch.
    """
    across, far, lanes = Z.shape[1], U.shape[1], 64 // Z.itemsize
    for c in range(0, columns, CHUNK):
        many = min(CHUNK, columns - c)
        vectors = -(-many // lanes)
        for i in range(0, rows, 4):
            decode(packed, tables, v + i, min(4, rows - i), left + c, many, Z, i, c)
            z = at(Z, i * across + c)
            for h in range(Y.shape[0]):
                u, y = at(U, 4 * h * far + left + c), at(Y, (h * Y.shape[1] + i) * 4)
                dots_4x4(z, across, u, far, vectors, y, z, 0)


@compiled
def _add_spread(Z, rows, left, columns, W, first, group, step, out):
    """out[4 h + c, left + s] += sum over i < rows of W[first + h group + i step + c] Z[i, s].

    ``first, group, step`` count numbers of W, which lies in memory without gaps.
    """
    across, far = Z.shape[1], out.shape[1]
    for s in range(0, columns, 256 // Z.itemsize):
        z = at(Z, s)
        for h in range(out.shape[0] // 4):
            w, o = at(W, first + h * group), at(out, 4 * h * far + left + s)
            tile_4x4(w, 1, step, z, across, rows, o, far, z, 0)


@compiled
def times(packed, tables, n, U, Z, Y, out):
    """out[v, c] += sum over samples of Z[v, s] U[c, s]."""
    depth, panel = Y.shape[1], min(n, PANEL)
    for v in range(0, packed.shape[0], depth):
        rows = min(depth, packed.shape[0] - v)
        Y[:] = 0
        for left in range(0, n, panel):
            _decode_times(packed, tables, v, rows, left, min(panel, n - left), U, Z, Y)
        for i in range(rows):
            for c in range(out.shape[1]):
                out[v + i, c] += Y[c // 4, i, c % 4]


@compiled
def adjoint(packed, tables, n, W, Z, out):
    """out[c, s] += sum over variants of Z[v, s] W[v, c]."""
    depth, panel, step = Z.shape[0], min(n, PANEL), W.shape[1]
    for v in range(0, packed.shape[0], depth):
        rows = min(depth, packed.shape[0] - v)
        for left in range(0, n, panel):
            columns = min(panel, n - left)
            decode(packed, tables, v, rows, left, columns, Z, 0, 0)
            _add_spread(Z, rows, left, columns, W, v * step, 4, step, out)


@compiled
def gram(packed, tables, n, U, Z, Y, out):
    """out[c, s] += sum over variants of (sum over samples of Z[v, t] U[c, t]) Z[v, s]."""
    depth, panel = Y.shape[1], min(n, PANEL)
    for v in range(0, packed.shape[0], depth):
        rows = min(depth, packed.shape[0] - v)
        Y[:] = 0
        for left in range(0, n, panel):
            _decode_times(packed, tables, v, rows, left, min(panel, n - left), U, Z, Y)
        for left in range(0, n, panel):
            columns = min(panel, n - left)
            if n > panel:
                decode(packed, tables, v, rows, left, columns, Z, 0, 0)
            _add_spread(Z, rows, left, columns, Y, 0, 4 * depth, 4, out)


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

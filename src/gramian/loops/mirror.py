"""Is a matrix its own mirror image, finite and nowhere negative? One reading of it says.

Floating-point numbers that are not negative are in order when their bits are, read as integers, and
signs and NaN come after infinity. So the largest word tells infinity, NaN and negative numbers (and
-0), and equal words are equal numbers. Integers compare many at a time, and NaN needs no care.
"""

from __future__ import annotations

import numpy as np

from gramian.loops.threads import pause, run
from gramian.loops.tile import compiled
from gramian.maps import Array

_side = 128  # of a tile, which is turned in cache
_strip = 256


@compiled
def _look(words, first, last, side, turned):
    """Rows ``first:last``, from the diagonal on: the largest word, and bits that a mirror lacks."""
    n = words.shape[0]
    largest = words[0, 0]
    odd = largest ^ largest
    for i in range(first, last, side):
        rows = min(side, last - i)
        for j in range(i, n, side):
            columns = min(side, n - j)
            for c in range(0, columns // 8 * 8, 8):  # eight rows at a time lie side by side
                k = j + c
                y0, y1, y2, y3 = words[k, i:], words[k + 1, i:], words[k + 2, i:], words[k + 3, i:]
                k += 4
                y4, y5, y6, y7 = words[k, i:], words[k + 1, i:], words[k + 2, i:], words[k + 3, i:]
                for r in range(np.uint64(rows)):
                    into = turned[r, c : c + 8]
                    into[0], into[1], into[2], into[3] = y0[r], y1[r], y2[r], y3[r]
                    into[4], into[5], into[6], into[7] = y4[r], y5[r], y6[r], y7[r]
            for c in range(columns // 8 * 8, columns):
                for r in range(rows):
                    turned[r, c] = words[j + c, i + r]
            for r in range(rows):
                line, other = words[i + r, j : j + columns], turned[r]
                for c in range(columns):
                    word = line[c]
                    odd |= word ^ other[c]
                    largest = max(largest, word)
    return largest, odd


def spotless(D: Array) -> bool:
    """Whether D is symmetric to the bit, 0 on its diagonal, finite, nowhere negative, not all 0.

    ``False`` is no verdict: -0, and arrays that do not lie in one piece, are left to a closer look.
    """
    D = D.T if D.flags.f_contiguous else D
    if not D.flags.c_contiguous or D.diagonal().any():
        return False
    kind = np.dtype(f"u{D.dtype.itemsize}")
    words, infinite = D.view(kind), np.array(np.inf, D.dtype).view(kind)
    starts = range(0, len(D), _strip)
    largest, odd = np.zeros((2, len(starts)), kind)

    def piece(i: int) -> None:
        pause()
        turned = np.empty((_side, _side), kind)
        last = min(starts[i] + _strip, len(D))
        largest[i], odd[i] = _look(words, starts[i], last, _side, turned)

    run(piece, len(starts))
    return bool(0 < largest.max() < infinite and not odd.any())

"""Is a matrix its own mirror image, finite and nowhere negative? One reading of it says.

Floating-point numbers that are not negative are in order when their bits are, read as integers, and
signs and NaN come after infinity. So the largest word tells infinity, NaN and negative numbers (and
-0), and equal words are equal numbers. Integers compare many at a time, and NaN needs no care.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from gramian.loops.threads import pause, run
from gramian.loops.tile import at, compiled, fetch, vector_loader
from gramian.maps import Array

_side = 128  # of a tile: its rows and those of its mirror image stay in cache
_strip = 256


@intrinsic
def _compare(typing: Any, here: Any, there: Any, across: Any, seen: Any) -> Any:
    """Compare a square, a vector a row, with the mirror image of another.

    Rows lie ``across`` apart. ``seen`` is two vectors: bits in which they differ, and the largest
    words of the first square.
    """

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        here, there, across, seen = arguments
        size = signature.args[0].dtype.bitwidth // 8
        lanes = 64 // size
        vector = ir.VectorType(ir.IntType(8 * size), lanes)
        load = vector_loader(builder, vector, size)
        number = lambda value: ir.Constant(ir.IntType(64), value)  # noqa: E731

        def rows(pointer: Any) -> list[Any]:
            places = [builder.mul(across, number(r)) for r in range(lanes)]
            return [load(builder.gep(pointer, [place]), number(0)) for place in places]

        odd, largest = load(seen, number(0)), load(seen, number(1))
        for row, image in zip(rows(here), _turned(builder, rows(there), lanes), strict=True):
            odd = builder.or_(odd, builder.xor(row, image))
            largest = builder.select(builder.icmp_unsigned(">", row, largest), row, largest)
        for at_vector, value in enumerate((odd, largest)):
            place = builder.gep(seen, [number(at_vector * lanes)])
            builder.store(value, builder.bitcast(place, vector.as_pointer())).align = size
        return context.get_dummy_value()

    return types.void(here, there, types.intp, seen), build


def _turned(builder: Any, rows: list[Any], lanes: int) -> list[Any]:
    """The columns of a square: halves are exchanged, then quarters, down to single words."""
    short = ir.IntType(32)

    def mixed(x: Any, y: Any, lane: Any) -> Any:
        chosen = [ir.Constant(short, lane(i)) for i in range(lanes)]
        return builder.shuffle_vector(x, y, ir.Constant(ir.VectorType(short, lanes), chosen))

    half = lanes // 2
    while half:
        for r in (r for r in range(lanes) if not r & half):
            x, y = rows[r], rows[r + half]
            rows[r] = mixed(x, y, lambda i, h=half: lanes + i - h if i & h else i)
            rows[r + half] = mixed(x, y, lambda i, h=half: lanes + i if i & h else i + h)
        half //= 2
    return rows


@compiled
def _look(words, first, last, side, seen):
    """Rows ``first:last``, from the diagonal on, into ``seen`` (see ``_compare``)."""
    n, lanes = words.shape[0], 64 // words.itemsize
    whole = n - n % lanes
    for i in range(first, min(last, whole), side):
        for j in range(i, whole, side):
            for k in range(j, min(j + side, whole), lanes):
                for r in range(i, min(i + side, last, whole, k + 1), lanes):
                    for t in range(lanes):  # what is compared next is on its way meanwhile
                        fetch(at(words, (k + lanes + t) * n + r))
                        fetch(at(words, (r + t) * n + k + lanes))
                    _compare(at(words, r * n + k), at(words, k * n + r), n, at(seen, 0))
    for i in range(first, last):
        for j in range(max(i, whole), n):
            seen[0] |= words[i, j] ^ words[j, i]
            seen[lanes] = max(seen[lanes], words[i, j])


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
    seen = np.zeros((len(starts), 2, 64 // D.dtype.itemsize), kind)

    def piece(i: int) -> None:
        pause()
        _look(words, starts[i], min(starts[i] + _strip, len(D)), _side, seen[i].reshape(-1))

    run(piece, len(starts))
    return bool(0 < seen[:, 1].max() < infinite and not seen[:, 0].any())

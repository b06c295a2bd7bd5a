"""A block of a symmetric matrix written as float32 tiles, its sums taken on the way.

One pass over every row of the block, a vector of sixteen numbers at a time, in float64:

    x = a, or -1/2 a^2     total += x w,  below += v x,  tile = x - shift

``total`` is the row's part of A w; ``below`` what the row gives, by symmetry, to the others. Tiles
begin on a cache line.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from gramian.loops.symmetric import TILE
from gramian.loops.tile import at, compiled, float_of, halved, prefetch, spread_over

_lanes = 16


def _row(distances: bool) -> Any:
    """``row(a, w, below, v, shift, tile, vectors, ahead)`` returns the total; pointers and numbers.

    What is read next is asked for from memory at ``ahead``.
    """

    @intrinsic
    def row(
        typing: Any,
        a: Any,
        w: Any,
        below: Any,
        v: Any,
        shift: Any,
        tile: Any,
        vectors: Any,
        ahead: Any,
    ) -> Any:
        wide = types.float64
        signature = wide(a, w, below, wide, wide, tile, types.intp, ahead)

        def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            a, w, below, v, shift, tile, vectors, ahead = arguments
            given = ir.VectorType(float_of(signature.args[0].dtype)[0], _lanes)
            double = ir.VectorType(ir.DoubleType(), _lanes)
            single = ir.VectorType(ir.FloatType(), _lanes)
            number = lambda value: ir.Constant(ir.IntType(64), value)  # noqa: E731
            zeros = ir.Constant(double, [0.0] * _lanes)

            def place(pointer: Any, vector: Any, t: Any) -> Any:
                pointer = builder.gep(pointer, [builder.mul(t, number(_lanes))])
                return builder.bitcast(pointer, vector.as_pointer())

            def load(pointer: Any, vector: Any, t: Any) -> Any:
                value = builder.load(place(pointer, vector, t))
                value.align = 4
                return value

            def multiplied(x: Any, y: Any, z: Any) -> Any:
                product = builder.fmul(x, y, flags=("contract",))
                return builder.fadd(z, product, flags=("contract",))

            weight, less = spread_over(builder, v, double), spread_over(builder, shift, double)
            before = builder.block
            body = builder.append_basic_block("row_step")
            after = builder.append_basic_block("row_end")
            builder.cbranch(builder.icmp_signed(">", vectors, number(0)), body, after)

            builder.position_at_end(body)
            t, total = builder.phi(ir.IntType(64)), builder.phi(double)
            prefetch(builder, place(ahead, given, t))
            x = load(a, given, t)
            if given != double:
                x = builder.fpext(x, double)
            if distances:
                x = builder.fmul(builder.fmul(x, x), ir.Constant(double, [-0.5] * _lanes))
            added = multiplied(x, load(w, double, t), total)
            sums = builder.store(
                multiplied(x, weight, load(below, double, t)), place(below, double, t)
            )
            kept = builder.fptrunc(builder.fsub(x, less), single)
            sums.align = 4
            builder.store(kept, place(tile, single, t)).align = 64
            following = builder.add(t, number(1))
            for phi, start, value in ((t, number(0), following), (total, zeros, added)):
                phi.add_incoming(start, before)
                phi.add_incoming(value, body)
            builder.cbranch(builder.icmp_signed("<", following, vectors), body, after)

            builder.position_at_end(after)
            whole = builder.phi(double)
            whole.add_incoming(zeros, before)
            whole.add_incoming(added, body)
            return halved(builder, whole, _lanes)

        return signature, build

    return row


_row_as_is, _row_of_distances = _row(False), _row(True)


@compiled
def _add_row(a, w, below, v, shift, distances, tile, ahead):
    """One row of one tile; below its diagonal nothing is added, by v = 0."""
    vectors = len(a) // 16
    x, y, b, o, soon = at(a, 0), at(w, 0), at(below, 0), at(tile, 0), at(ahead, 0)
    if distances:
        total = _row_of_distances(x, y, b, v, shift, o, vectors, soon)
    else:
        total = _row_as_is(x, y, b, v, shift, o, vectors, soon)
    for j in range(16 * vectors, len(a)):
        value = float(a[j])
        value = -0.5 * value * value if distances else value
        total += value * w[j]
        below[j] += v * value
        tile[j] = value - shift
    tile[len(a) :] = 0
    return total


@compiled
def keep(A, first, start, rows, columns, distances, shift, w, tiles, sums):
    """Keep a block of a symmetric matrix as float32 tiles, less ``shift``; sums += its part of A w.

    The block begins at A[first, start] and stands at ``rows`` and ``columns`` (begin, end) of the
    whole. ``distances``: -1/2 a^2 is kept of every number a.
    """
    for i in range(rows[1] - rows[0]):
        total = 0.0
        for q in range(len(tiles)):
            left, begin = columns[0] + q * TILE, start + q * TILE
            width = min(TILE, columns[1] - left)
            v = 0.0 if left == rows[0] else w[rows[0] + i]
            a, below = A[first + i, begin : begin + width], sums[left : left + width]
            ahead = A[first + min(i + 2, rows[1] - rows[0] - 1), begin:]
            total += _add_row(a, w[left:], below, v, shift, distances, tiles[q, i], ahead)
        sums[rows[0] + i] += total
    for q in range(len(tiles)):
        tiles[q, rows[1] - rows[0] :] = 0

"""Two-bit codes to numbers, a vector at a time.

A word of packed codes is spread over all lanes, each lane looks at its own two bits, and those pick
one of four numbers. The numbers stay in registers, so decoding costs little more than the stores.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from gramian.loops.tile import float_of, spread_over

_long = ir.IntType(64)


@intrinsic
def unpack(typing: Any, packed: Any, table: Any, vectors: Any, into: Any) -> Any:
    """into[s] = table[code s], for so many whole vectors of 64 bytes; all are pointers."""
    signature = types.void(packed, table, types.intp, into)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        packed, table, vectors, into = arguments
        item, size = float_of(signature.args[1].dtype)
        lanes = 64 // size
        lane = ir.IntType(8 * size)  # two bits of each are looked at
        vector, words = ir.VectorType(item, lanes), ir.VectorType(lane, lanes)
        number = lambda value: ir.Constant(_long, value)  # noqa: E731

        def four(code: int) -> Any:
            return spread_over(builder, builder.load(builder.gep(table, [number(code)])), vector)

        two, none, one, other = (four(code) for code in range(4))
        low, high = (
            ir.Constant(words, [bit << (2 * j) for j in range(lanes)])  # of each lane's code
            for bit in (1, 2)
        )
        zeros = ir.Constant(words, [0] * lanes)
        before = builder.block
        body = builder.append_basic_block("unpack_step")
        after = builder.append_basic_block("unpack_end")
        builder.cbranch(builder.icmp_signed(">", vectors, number(0)), body, after)

        builder.position_at_end(body)
        t = builder.phi(_long)
        place = builder.gep(packed, [builder.mul(t, number(lanes // 4))])
        word = builder.load(builder.bitcast(place, ir.IntType(2 * lanes).as_pointer()))
        word.align = 1
        if 2 * lanes < 8 * size:
            word = builder.zext(word, lane)
        word = spread_over(builder, word, words)
        odd = builder.icmp_unsigned("!=", builder.and_(word, low), zeros)
        upper = builder.icmp_unsigned("!=", builder.and_(word, high), zeros)
        value = builder.select(
            upper, builder.select(odd, other, one), builder.select(odd, none, two)
        )
        place = builder.gep(into, [builder.mul(t, number(lanes))])
        builder.store(value, builder.bitcast(place, vector.as_pointer())).align = size
        following = builder.add(t, number(1))
        t.add_incoming(number(0), before)
        t.add_incoming(following, body)
        builder.cbranch(builder.icmp_signed("<", following, vectors), body, after)
        builder.position_at_end(after)
        return context.get_dummy_value()

    return signature, build

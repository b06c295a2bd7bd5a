"""The register tile under every dense product here.

    out[r, v] += sum over t of a[r, t] * b[t, v]        r = 0..7,  v = one or two vectors wide

One load of b, eight broadcasts of a, eight multiply-adds per step, all sums in registers: this is
what BLAS does inside, without the repacking that makes BLAS slow on thin blocks. The strides of
``a`` are free, so the same tile gives A B (rows of A) and A' B (columns of A). It is written as
LLVM vectors of 64 bytes, which the compiler lowers to whatever the processor has.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

_vector_bytes = 64
_long = ir.IntType(64)


def compiled(function: Any) -> Any:
    """``njit`` as every loop here uses it; without a disk cache where none can be written."""
    try:
        return njit(cache=True, nogil=True)(function)
    except RuntimeError:  # no writable cache directory: compile in memory, slower first call
        return njit(nogil=True)(function)


@intrinsic
def at(typing: Any, array: Any, offset: Any) -> Any:
    """Pointer to element ``offset`` of an array's buffer."""
    signature = types.CPointer(array.dtype)(array, types.intp)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        struct = context.make_array(signature.args[0])(context, builder, arguments[0])
        return builder.gep(struct.data, [arguments[1]])

    return signature, build


def float_of(numba_type: Any) -> tuple[Any, int]:
    """LLVM's type of a float, and its bytes."""
    return (ir.FloatType(), 4) if numba_type == types.float32 else (ir.DoubleType(), 8)


def prefetch(builder: Any, pointer: Any) -> None:
    """Ask for the cache line at ``pointer`` to be brought into the second-level cache."""
    byte, short = ir.IntType(8).as_pointer(), ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [byte, short, short, short])
    function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
    reading, keep, data = (ir.Constant(short, value) for value in (0, 2, 1))
    builder.call(function, [builder.bitcast(pointer, byte), reading, keep, data])


def _tile(rows: int, vectors: int) -> Any:
    """``tile(a, a_row, a_step, b, b_step, steps, out, out_row, ahead, ahead_step)``.

    Pointers, and strides in items. At each step ``ahead`` is asked for from memory and moved on, so
    that the next block arrives while this one is multiplied.
    """

    @intrinsic
    def tile(
        typing: Any,
        a: Any,
        a_row: Any,
        a_step: Any,
        b: Any,
        b_step: Any,
        steps: Any,
        out: Any,
        out_row: Any,
        ahead: Any,
        ahead_step: Any,
    ) -> Any:
        i = types.intp
        signature = types.void(a, i, i, b, i, i, out, i, ahead, i)

        def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            a, a_row, a_step, b, b_step, steps, out, out_row, ahead, ahead_step = arguments
            item, size = float_of(signature.args[0].dtype)
            out_item, out_size = float_of(signature.args[6].dtype)
            lanes = _vector_bytes // size
            vector, out_vector = ir.VectorType(item, lanes), ir.VectorType(out_item, lanes)
            zeros = ir.Constant(vector, [0.0] * lanes)
            number = lambda value: ir.Constant(_long, value)  # noqa: E731

            def load(pointer: Any, of: Any, align: int) -> Any:
                value = builder.load(builder.bitcast(pointer, of.as_pointer()))
                value.align = align
                return value

            before = builder.block
            body = builder.append_basic_block("tile_step")
            after = builder.append_basic_block("tile_end")
            bases = [builder.gep(a, [builder.mul(a_row, number(r))]) for r in range(rows)]
            builder.cbranch(builder.icmp_signed(">", steps, number(0)), body, after)

            builder.position_at_end(body)
            t = builder.phi(_long)
            sums = [builder.phi(vector) for _ in range(rows * vectors)]
            b_at = builder.mul(t, b_step)
            bs = [
                load(builder.gep(b, [builder.add(b_at, number(v * lanes))]), vector, size)
                for v in range(vectors)
            ]
            prefetch(builder, builder.gep(ahead, [builder.mul(t, ahead_step)]))
            a_at = builder.mul(t, a_step)
            new = []
            for r in range(rows):
                x = spread_over(builder, builder.load(builder.gep(bases[r], [a_at])), vector)
                for v in range(vectors):
                    product = builder.fmul(x, bs[v], flags=("contract",))
                    new.append(builder.fadd(sums[r * vectors + v], product, flags=("contract",)))
            following = builder.add(t, number(1))
            t.add_incoming(number(0), before)
            t.add_incoming(following, body)
            for phi, value in zip(sums, new, strict=True):
                phi.add_incoming(zeros, before)
                phi.add_incoming(value, body)
            builder.cbranch(builder.icmp_signed("<", following, steps), body, after)

            builder.position_at_end(after)
            totals = []
            for value in new:
                phi = builder.phi(vector)
                phi.add_incoming(zeros, before)
                phi.add_incoming(value, body)
                totals.append(phi)
            for r in range(rows):
                for v in range(vectors):
                    offset = builder.add(builder.mul(out_row, number(r)), number(v * lanes))
                    pointer = builder.bitcast(builder.gep(out, [offset]), out_vector.as_pointer())
                    total = totals[r * vectors + v]
                    if out_size > size:
                        total = builder.fpext(total, out_vector)
                    stored = builder.store(
                        builder.fadd(load(pointer, out_vector, out_size), total), pointer
                    )
                    stored.align = out_size
            return context.get_dummy_value()

        return signature, build

    return tile


tile_8x2, tile_8x1 = _tile(8, 2), _tile(8, 1)
tile_1x2, tile_1x1 = _tile(1, 2), _tile(1, 1)
tile_4x2, tile_4x4 = _tile(4, 2), _tile(4, 4)


@intrinsic
def dots_4x4(
    typing: Any,
    a: Any,
    a_row: Any,
    b: Any,
    b_row: Any,
    vectors: Any,
    out: Any,
    ahead: Any,
    ahead_row: Any,
) -> Any:
    """out[4 r + c] += sum over i of a[r, i] * b[c, i] for four rows of each, whole vectors long.

    Pointers, and distances of rows in items. Lanes are summed apart and then in pairs, a fixed
    order. Two rows of as many vectors are asked for from memory at ``ahead``.
    """
    i = types.intp
    signature = types.void(a, i, b, i, i, out, ahead, i)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        a, a_row, b, b_row, vectors, out, ahead, ahead_row = arguments
        item, size = float_of(signature.args[0].dtype)
        out_item, out_size = float_of(signature.args[5].dtype)
        lanes = _vector_bytes // size
        vector, out_vector = ir.VectorType(item, lanes), ir.VectorType(out_item, lanes)
        zeros = ir.Constant(vector, [0.0] * lanes)
        number = lambda value: ir.Constant(_long, value)  # noqa: E731
        load = vector_loader(builder, vector, size)
        add = vector_loader(builder, out_vector, out_size)

        before = builder.block
        body = builder.append_basic_block("dots_step")
        after = builder.append_basic_block("dots_end")
        rows = [builder.gep(a, [builder.mul(a_row, number(r))]) for r in range(4)]
        columns = [builder.gep(b, [builder.mul(b_row, number(c))]) for c in range(4)]
        soon = [ahead, builder.gep(ahead, [ahead_row])]
        builder.cbranch(builder.icmp_signed(">", vectors, number(0)), body, after)

        builder.position_at_end(body)
        t = builder.phi(_long)
        sums = [builder.phi(vector) for _ in range(16)]
        for row in soon:
            prefetch(builder, builder.gep(row, [builder.mul(t, number(lanes))]))
        bs = [load(column, t) for column in columns]
        new = []
        for r in range(4):
            x = load(rows[r], t)
            for c in range(4):
                product = builder.fmul(x, bs[c], flags=("contract",))
                new.append(builder.fadd(sums[4 * r + c], product, flags=("contract",)))
        following = builder.add(t, number(1))
        t.add_incoming(number(0), before)
        t.add_incoming(following, body)
        for phi, value in zip(sums, new, strict=True):
            phi.add_incoming(zeros, before)
            phi.add_incoming(value, body)
        builder.cbranch(builder.icmp_signed("<", following, vectors), body, after)

        builder.position_at_end(after)
        totals = []
        for value in new:
            phi = builder.phi(vector)
            phi.add_incoming(zeros, before)
            phi.add_incoming(value, body)
            totals.append(phi)
        for at_vector, total in enumerate(_all_halved(builder, totals, lanes)):
            wide = builder.fpext(total, out_vector) if out_size > size else total
            place = builder.gep(out, [number(at_vector * lanes)])
            stored = builder.store(
                builder.fadd(add(place, number(0)), wide),
                builder.bitcast(place, out_vector.as_pointer()),
            )
            stored.align = out_size
        return context.get_dummy_value()

    return signature, build


@intrinsic
def dot(typing: Any, a: Any, b: Any, vectors: Any) -> Any:
    """Sum of a[i] * b[i] over whole vectors: pointers, and how many vectors.

    Lanes are summed apart and then in halves, a fixed order; plain loops would be left scalar,
    because compilers do not reorder sums.
    """
    signature = a.dtype(a, b, types.intp)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        a, b, vectors = arguments
        item, size = float_of(signature.args[0].dtype)
        lanes = _vector_bytes // size
        vector = ir.VectorType(item, lanes)
        zeros = ir.Constant(vector, [0.0] * lanes)

        load = vector_loader(builder, vector, size)
        before = builder.block
        body, after = builder.append_basic_block("dot_step"), builder.append_basic_block("dot_end")
        some = builder.icmp_signed(">", vectors, ir.Constant(_long, 0))
        builder.cbranch(some, body, after)
        builder.position_at_end(body)
        t, total = builder.phi(_long), builder.phi(vector)
        product = builder.fmul(load(a, t), load(b, t), flags=("contract",))
        added = builder.fadd(total, product, flags=("contract",))
        following = builder.add(t, ir.Constant(_long, 1))
        for phi, start, value in ((t, ir.Constant(_long, 0), following), (total, zeros, added)):
            phi.add_incoming(start, before)
            phi.add_incoming(value, body)
        builder.cbranch(builder.icmp_signed("<", following, vectors), body, after)

        builder.position_at_end(after)
        sums = builder.phi(vector)
        sums.add_incoming(zeros, before)
        sums.add_incoming(added, body)
        return halved(builder, sums, lanes)

    return signature, build


@intrinsic
def fetch(typing: Any, pointer: Any) -> Any:
    """Ask for the cache line at ``pointer``, which is needed soon."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        prefetch(builder, arguments[0])
        return context.get_dummy_value()

    return types.void(pointer), build


@intrinsic
def word(typing: Any, pointer: Any) -> Any:
    """The 64 bits from a byte on, wherever it lies."""

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        value = builder.load(builder.bitcast(arguments[0], _long.as_pointer()))
        value.align = 1
        return value

    return types.uint64(pointer), build


def vector_loader(builder: Any, vector: Any, size: int) -> Any:
    """``load(pointer, t)``: the vector number t from there on, of items of ``size`` bytes."""

    def load(pointer: Any, t: Any) -> Any:
        place = builder.gep(pointer, [builder.mul(t, ir.Constant(_long, vector.count))])
        value = builder.load(builder.bitcast(place, vector.as_pointer()))
        value.align = size
        return value

    return load


def spread_over(builder: Any, x: Any, vector: Any) -> Any:
    """A vector with ``x`` in every lane."""
    undefined = ir.Constant(vector, ir.Undefined)
    x = builder.insert_element(undefined, x, ir.Constant(ir.IntType(32), 0))
    everywhere = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), [0] * vector.count)
    return builder.shuffle_vector(x, undefined, everywhere)


def halved(builder: Any, sums: Any, lanes: int) -> Any:
    """The sum of all lanes: halves are added until one is left, a fixed order."""
    while lanes > 1:
        lanes //= 2
        halves = [
            builder.shuffle_vector(sums, sums, _lanes(range(first, first + lanes)))
            for first in (0, lanes)
        ]
        sums = builder.fadd(*halves)
    return builder.extract_element(sums, ir.Constant(ir.IntType(32), 0))


def _all_halved(builder: Any, vectors: list[Any], lanes: int) -> list[Any]:
    """The sums of the lanes of each vector, in order, ``lanes`` of them to a vector."""
    for _ in range(lanes.bit_length() - 1):  # neighbors are added, and two vectors become one
        vectors = [
            builder.fadd(
                builder.shuffle_vector(x, y, _lanes(range(0, 2 * lanes, 2))),
                builder.shuffle_vector(x, y, _lanes(range(1, 2 * lanes, 2))),
            )
            for x, y in zip(vectors[::2], vectors[1::2], strict=True)
        ]
    return vectors


def _lanes(which: Any) -> Any:
    short = ir.IntType(32)
    return ir.Constant(ir.VectorType(short, len(which)), [ir.Constant(short, i) for i in which])

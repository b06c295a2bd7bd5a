"""What products with a sparse row are made of, a vector of lanes at a time.

    gathered    out  = sum over t of x[t] * B[j[t]]         the row times a block
    moved       out  = (out - shift) * w,  sums += out      in between: centered, weighted, counted
    scattered   B[j[t]] += x[t] * z       for every t       the row, turned, times a row of a block

x are the values stored in a row and j their columns; B has one row a column, as wide as there are
lanes: the length of the tuple ``lanes``, which is part of its type, so that every width has code of
its own. Sums of a row stay in registers, in its own precision; others are added in that of B.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

_long, _short = ir.IntType(64), ir.IntType(32)


def _float(numba_type: Any) -> tuple[Any, int]:
    return (ir.FloatType(), 4) if numba_type == types.float32 else (ir.DoubleType(), 8)


def _spread(builder: Any, x: Any, vector: Any) -> Any:
    """x in every lane."""
    undefined = ir.Constant(vector, ir.Undefined)
    lane = builder.insert_element(undefined, x, ir.Constant(_short, 0))
    zeros = ir.Constant(ir.VectorType(_short, vector.count), [0] * vector.count)
    return builder.shuffle_vector(lane, undefined, zeros)


def _at(builder: Any, pointer: Any, vector: Any) -> Any:
    return builder.bitcast(pointer, vector.as_pointer())


def _load(builder: Any, pointer: Any, vector: Any, size: int) -> Any:
    value = builder.load(_at(builder, pointer, vector))
    value.align = size
    return value


def _store(builder: Any, value: Any, pointer: Any, size: int) -> None:
    builder.store(value, _at(builder, pointer, value.type)).align = size


def _row(builder: Any, j: Any, t: Any, B: Any, width: int) -> Any:
    """Where the row of B begins that belongs to the value at t."""
    column = builder.sext(builder.load(builder.gep(j, [t])), _long)
    return builder.gep(B, [builder.mul(column, ir.Constant(_long, width))])


def _loop(builder: Any, count: Any, starts: list[Any], step: Any) -> list[Any]:
    """``step(t, values)`` for t = 0 .. count - 1; the values it returned last, or the starts."""
    before = builder.block
    body, after = builder.append_basic_block("row_step"), builder.append_basic_block("row_end")
    zero, one = ir.Constant(_long, 0), ir.Constant(_long, 1)
    builder.cbranch(builder.icmp_signed(">", count, zero), body, after)
    builder.position_at_end(body)
    t = builder.phi(_long)
    running = [builder.phi(start.type) for start in starts]
    new = step(t, running)
    following = builder.add(t, one)
    for phi, start, value in zip([t, *running], [zero, *starts], [following, *new], strict=True):
        phi.add_incoming(start, before)
        phi.add_incoming(value, body)
    builder.cbranch(builder.icmp_signed("<", following, count), body, after)
    builder.position_at_end(after)
    last = []
    for start, value in zip(starts, new, strict=True):
        phi = builder.phi(start.type)
        phi.add_incoming(start, before)
        phi.add_incoming(value, body)
        last.append(phi)
    return last


@intrinsic
def gathered(typing: Any, x: Any, j: Any, count: Any, B: Any, out: Any, lanes: Any) -> Any:
    """Pointers, and how many values are stored."""
    signature = types.void(x, j, types.intp, B, out, lanes)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        x, j, count, B, out, _ = arguments
        item, size = _float(signature.args[0].dtype)
        vector = ir.VectorType(item, signature.args[5].count)

        def step(t: Any, sums: list[Any]) -> list[Any]:
            row = _row(builder, j, t, B, vector.count)
            value = _spread(builder, builder.load(builder.gep(x, [t])), vector)
            product = builder.fmul(value, _load(builder, row, vector, size), flags=("contract",))
            return [builder.fadd(sums[0], product, flags=("contract",))]

        zeros = ir.Constant(vector, [0.0] * vector.count)
        _store(builder, _loop(builder, count, [zeros], step)[0], out, size)
        return context.get_dummy_value()

    return signature, build


@intrinsic
def moved(typing: Any, z: Any, shift: Any, w: Any, sums: Any, lanes: Any) -> Any:
    """Pointers, but for the number w."""
    signature = types.void(z, shift, z.dtype, sums, lanes)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        z, shift, w, sums, _ = arguments
        item, size = _float(signature.args[0].dtype)
        sum_item, sum_size = _float(signature.args[3].dtype)
        vector = ir.VectorType(item, signature.args[4].count)
        sum_vector = ir.VectorType(sum_item, vector.count)
        apart = builder.fsub(_load(builder, z, vector, size), _load(builder, shift, vector, size))
        new = builder.fmul(apart, _spread(builder, w, vector))
        _store(builder, new, z, size)
        wide = builder.fpext(new, sum_vector) if sum_size > size else new
        before = _load(builder, sums, sum_vector, sum_size)
        _store(builder, builder.fadd(before, wide), sums, sum_size)
        return context.get_dummy_value()

    return signature, build


@intrinsic
def scattered(typing: Any, x: Any, j: Any, count: Any, z: Any, B: Any, lanes: Any) -> Any:
    """As ``gathered``; z is a vector of x's own type."""
    signature = types.void(x, j, types.intp, z, B, lanes)

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        x, j, count, z, B, _ = arguments
        item, size = _float(signature.args[0].dtype)
        out_item, out_size = _float(signature.args[4].dtype)
        vector = ir.VectorType(item, signature.args[5].count)
        out_vector = ir.VectorType(out_item, vector.count)
        wider = (lambda a, of: builder.fpext(a, of)) if out_size > size else (lambda a, of: a)
        zs = wider(_load(builder, z, vector, size), out_vector)

        def step(t: Any, _: list[Any]) -> list[Any]:
            row = _row(builder, j, t, B, vector.count)
            value = wider(builder.load(builder.gep(x, [t])), out_item)
            product = builder.fmul(_spread(builder, value, out_vector), zs, flags=("contract",))
            before = _load(builder, row, out_vector, out_size)
            _store(builder, builder.fadd(before, product, flags=("contract",)), row, out_size)
            return []

        _loop(builder, count, [], step)
        return context.get_dummy_value()

    return signature, build

"""What all other points do to one point of a picture, many of them at a time, in registers.

    s_j = |z - z_j|^2,   d_j = sqrt(s_j)
    stress, sammon   e_j = d_j - D_j,       r_j = w_j e_j / d_j     (sammon: w_j is divided by D_j)
    sstress          e_j = d_j^2 - D_j^2,   r_j = w_j e_j
    out += [sum w_j e_j^2,  sum w_j d_j^2,  sum w_j d_j,  sum r_j (z - z_j)]

For sstress the sums are of d_j^4 and d_j^2. What is computed in is the type of Z; distances in
float64 can so be compared in float32, twice as many at a time.

A distance that is NaN counts nothing, and neither does a pull between points that coincide. Like
the register tile (``tile.py``) it is written as LLVM vectors of 64 bytes.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from gramian.loops.tile import float_of, halved, spread_over, vector_loader

_long = ir.IntType(64)
_bytes = 64


def _pulls(loss: str, weighted: bool) -> Any:
    """``pulls(given, weights, Z, stride, axes, here, first, vectors, out)``.

    Pointers to D_j, w_j, and Z, whose axes lie ``stride`` items apart; ``axes`` is a tuple with one
    item an axis, which tells their number to the compiler; ``here`` is where z stands in Z,
    ``first`` where the z_j begin; ``out`` has 3 + k numbers in float64.
    """

    @intrinsic
    def pulls(
        typing: Any,
        given: Any,
        weights: Any,
        Z: Any,
        stride: Any,
        axes: Any,
        here: Any,
        first: Any,
        vectors: Any,
        out: Any,
    ) -> Any:
        i = types.intp
        signature = types.void(given, weights, Z, i, axes, i, i, i, out)
        k = len(axes)

        def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            given, weights, Z, stride, _, here, first, vectors, out = arguments
            item, size = float_of(signature.args[2].dtype)
            stored, stored_size = float_of(signature.args[0].dtype)
            lanes = _bytes // size
            vector = ir.VectorType(item, lanes)
            zeros = ir.Constant(vector, [0.0] * lanes)
            load = vector_loader(builder, vector, size)
            load_stored = vector_loader(builder, ir.VectorType(stored, lanes), stored_size)

            def narrow(value: Any) -> Any:
                return builder.fptrunc(value, vector) if stored_size > size else value

            bare = [builder.gep(Z, [builder.mul(stride, ir.Constant(_long, c))]) for c in range(k)]
            z = [spread_over(builder, builder.load(builder.gep(b, [here])), vector) for b in bare]
            rows = [builder.gep(b, [first]) for b in bare]
            root = cgutils.get_or_insert_function(
                builder.module,
                ir.FunctionType(vector, [vector]),
                f"llvm.sqrt.v{lanes}f{8 * size}",
            )

            def times(a: Any, b: Any) -> Any:
                return builder.fmul(a, b, flags=("contract",))

            def plus(a: Any, b: Any) -> Any:
                return builder.fadd(a, b, flags=("contract",))

            before = builder.block
            body = builder.append_basic_block("pull_step")
            after = builder.append_basic_block("pull_end")
            some = builder.icmp_signed(">", vectors, ir.Constant(_long, 0))
            builder.cbranch(some, body, after)

            builder.position_at_end(body)
            t = builder.phi(_long)
            sums = [builder.phi(vector) for _ in range(3 + k)]
            delta = narrow(load_stored(given, t))
            gaps = [builder.fsub(z[c], load(rows[c], t)) for c in range(k)]
            s = times(gaps[0], gaps[0])
            for c in range(1, k):
                s = plus(s, times(gaps[c], gaps[c]))
            counts = builder.fcmp_ordered("ord", delta, delta)
            if loss == "sstress":
                e = builder.fsub(s, times(delta, delta))
                r, extent, length, apart = e, times(s, s), s, counts
            else:
                d = builder.call(root, [s])
                e = builder.fsub(d, delta)
                r, extent, length = builder.fdiv(e, d), s, d
                apart = builder.and_(counts, builder.fcmp_ordered(">", s, zeros))
            e = builder.select(counts, e, zeros)
            r = builder.select(apart, r, zeros)
            extent = builder.select(counts, extent, zeros)
            length = builder.select(counts, length, zeros)
            we = e
            if weighted:
                w = narrow(load_stored(weights, t))
                if loss == "sammon":
                    positive = builder.fcmp_ordered(">", delta, zeros)
                    w = builder.select(positive, builder.fdiv(w, delta), zeros)
                we, r = times(w, e), times(w, r)
                extent, length = times(w, extent), times(w, length)
            new = [plus(sums[0], times(we, e)), plus(sums[1], extent), plus(sums[2], length)]
            new += [plus(sums[3 + c], times(r, gaps[c])) for c in range(k)]
            following = builder.add(t, ir.Constant(_long, 1))
            t.add_incoming(ir.Constant(_long, 0), before)
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
            for c, total in enumerate(totals):
                place = builder.gep(out, [ir.Constant(_long, c)])
                found = halved(builder, total, lanes)
                if size == 4:
                    found = builder.fpext(found, ir.DoubleType())
                builder.store(builder.fadd(builder.load(place), found), place)
            return context.get_dummy_value()

        return signature, build

    return pulls


stress_pulls, weighted_pulls = _pulls("stress", False), _pulls("stress", True)
sammon_pulls, sstress_pulls = _pulls("sammon", True), _pulls("sstress", True)

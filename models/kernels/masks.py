"""Eight numbers of an array at a time, and a bit for each: which of them something holds of, and what is done
with those.

A loop over the few jobs of a host ends when no processor can guess it, and so does each question that is
asked of one job after the other. Here they are asked of eight at once; what is left to go through are the set
bits of the answer. Bit k stands for the element ``at + k``, and an array has eight elements from `at` on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import float64, int64, uint64, void
from numba.core import cgutils

from models.kernels.lanes import BITS, COUNT, LANES, NUMBER, Lanes, inside

Compare = Callable[[ir.IRBuilder, ir.Value], ir.Value]


def _mask(builder: ir.IRBuilder, bits: ir.Value) -> ir.Value:
    """Return the lowest bits of a word as a mask."""
    return builder.bitcast(builder.trunc(bits, BITS), ir.VectorType(ir.IntType(1), LANES))


def _of_first(lanes: Lanes, mask: ir.Value, n: ir.Value) -> ir.Value:
    """Return the bits of a mask for the first `n` elements, however many that is."""
    build = lanes.builder
    return lanes.bits(build.and_(mask, build.icmp_signed("<", COUNT, lanes.spread(n))))


def _told(builder: ir.IRBuilder, name: str, returns: ir.Type, lanes: ir.Value) -> ir.Value:
    """Return what LLVM's function of that name says of eight numbers."""
    kind = ir.FunctionType(returns, [lanes.type])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, f"{name}.v{LANES}i64"), [lanes])


@inside
def equal(typing: Any, times: Any, at: Any, n: Any, when: Any) -> Any:
    """Tell which of the first `n` times are equal to one."""

    def made(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        lanes = Lanes(context, builder)
        times, at, n, when = arguments
        each = lanes.load(signature.args[0], times, at)
        return _of_first(lanes, builder.fcmp_ordered("==", each, lanes.spread(when)), n)

    return uint64(times, uint64, int64, float64), made


@inside
def unknown(typing: Any, times: Any, at: Any, n: Any) -> Any:
    """Tell which of the first `n` times are NaN."""

    def made(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        lanes = Lanes(context, builder)
        times, at, n = arguments
        each = lanes.load(signature.args[0], times, at)
        return _of_first(lanes, builder.fcmp_unordered("uno", each, each), n)

    return uint64(times, uint64, int64), made


@inside
def unequal(typing: Any, numbers: Any, others: Any, at: Any, n: Any) -> Any:
    """Tell which of the first `n` numbers are not those of another array."""

    def made(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        lanes = Lanes(context, builder)
        numbers, others, at, n = arguments
        one, other = (lanes.load(signature.args[0], array, at) for array in (numbers, others))
        return _of_first(lanes, builder.icmp_signed("!=", one, other), n)

    return uint64(numbers, others, uint64, int64), made


@inside
def between(typing: Any, numbers: Any, at: Any, n: Any, least: Any, most: Any) -> Any:
    """Tell which of the first `n` numbers are `least` or more and `most` or less."""

    def made(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        lanes = Lanes(context, builder)
        numbers, at, n, least, most = arguments
        each = lanes.load(signature.args[0], numbers, at)
        enough = builder.icmp_signed(">=", each, lanes.spread(least))
        return _of_first(
            lanes, builder.and_(enough, builder.icmp_signed("<=", each, lanes.spread(most))), n
        )  # fmt: skip

    return uint64(numbers, uint64, int64, int64, int64), made


@inside
def total(typing: Any, numbers: Any, at: Any, bits: Any) -> Any:
    """Return the sum of the numbers whose bits are set."""

    def made(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        lanes = Lanes(context, builder)
        numbers, at, bits = arguments
        each = lanes.load(signature.args[0], numbers, at)
        counted = builder.select(_mask(builder, bits), each, ir.Constant(each.type, [0] * LANES))
        return _told(builder, "llvm.vector.reduce.add", NUMBER, counted)

    return int64(numbers, uint64, uint64), made


@inside
def soonest(typing: Any, times: Any, others: Any, at: Any, bits: Any) -> Any:
    """Return the least of the times in two arrays whose bits are set, inf if none is; NaN is none."""

    def made(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        lanes = Lanes(context, builder)
        times, others, at, bits = arguments
        never = lanes.spread(ir.Constant(ir.DoubleType(), float("inf")))
        least = never
        for array in (times, others):
            each = lanes.load(signature.args[0], array, at)
            counts = builder.and_(_mask(builder, bits), builder.fcmp_ordered("<", each, least))
            least = builder.select(counts, each, least)
        return lanes.least(least)

    return float64(times, others, uint64, uint64), made


@inside
def copy(typing: Any, numbers: Any, at: Any, bits: Any, otherwise: Any, into: Any, place: Any) -> Any:
    """Write the numbers whose bits are set into another array, from a place on, and one for all others."""

    def made(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        lanes = Lanes(context, builder)
        numbers, at, bits, otherwise, into, place = arguments
        each = lanes.load(signature.args[0], numbers, at)
        copied = builder.select(_mask(builder, bits), each, lanes.spread(otherwise))
        lanes.store(signature.args[4], into, place, copied)
        return context.get_dummy_value()

    return void(numbers, uint64, uint64, int64, into, uint64), made


@inside
def few(typing: Any, bits: Any, count: Any) -> Any:
    """Return so many of the set bits of eight, the lowest ones, or all where there are fewer."""

    def made(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        lanes = Lanes(context, builder)
        bits, count = arguments
        below = ir.Constant(COUNT.type, [(1 << k) - 1 for k in range(LANES)])
        rank = _told(builder, "llvm.ctpop", COUNT.type, builder.and_(lanes.spread(bits), below))
        low = builder.icmp_signed("<", rank, lanes.spread(count))
        return builder.and_(bits, lanes.bits(low))

    return uint64(uint64, int64), made


@inside
def deal(typing: Any, asks: Any, at: Any, bits: Any, level: Any, odd: Any, shares: Any, place: Any) -> Any:
    """Write what those have whose bits are set into another array: what they ask for, but no more than a
    level, or than one more than that where their bits are set in `odd`, too.
    """

    def made(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        lanes = Lanes(context, builder)
        asks, at, bits, level, odd, shares, place = arguments
        each, had = lanes.load(signature.args[0], asks, at), lanes.load(signature.args[5], shares, place)
        most = builder.add(lanes.spread(level), builder.zext(_mask(builder, odd), each.type))
        share = builder.select(builder.icmp_signed("<", each, most), each, most)
        lanes.store(
            signature.args[5], shares, place, builder.select(_mask(builder, bits), share, had)
        )  # fmt: skip
        return context.get_dummy_value()

    return void(asks, uint64, uint64, int64, uint64, shares, uint64), made


@inside
def move(typing: Any, numbers: Any, source: Any, place: Any) -> Any:
    """Write eight elements to another place of their array, which may overlap."""

    def made(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        lanes = Lanes(context, builder)
        numbers, source, place = arguments
        kind = signature.args[0]
        lanes.store(kind, numbers, place, lanes.load(kind, numbers, source))
        return context.get_dummy_value()

    return void(numbers, uint64, uint64), made

"""Eight numbers at a time, without a branch: what a loop over a few does whose end no processor can guess.

An event loop over few jobs spends most of its time on branches guessed wrong. Vectors of eight lanes take
their place here, written in LLVM's words because numba has none for them; LLVM turns them into what the
processor has, be it one instruction or four. What was stored as eight is loaded as the same eight: a load
that spans several recent stores has to wait for them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import float64, int64, uint64, void
from numba.core import cgutils
from numba.extending import intrinsic

LANES = 8
LINE_BYTES = 64

PLACE, NUMBER, BITS = ir.IntType(32), ir.IntType(64), ir.IntType(LANES)
FIRST = ir.Constant(PLACE, 0)
LAST = ir.Constant(PLACE, LANES - 1)
COUNT = ir.Constant(ir.VectorType(NUMBER, LANES), list(range(LANES)))


def room(n: int, kind: type, at: int = 0) -> np.ndarray:
    """Return an uninitialised array of `n` numbers of eight bytes, whose eight from `at` on share a line of
    the cache, and so do the next eight.
    """
    raw: np.ndarray = np.empty(n + LANES, kind)
    skip = -(raw.ctypes.data // raw.itemsize + at) % LANES
    return raw[skip : skip + n]


def inside(function: Callable[..., Any]) -> Any:
    """Make a function that compiled code calls, and that puts together its own code."""
    return intrinsic(function)


class Lanes:
    """What the functions below put together their code from.

    Parameters
    ----------
    context, builder : of numba's code generation
    """

    def __init__(self, context: Any, builder: ir.IRBuilder) -> None:
        self.context, self.builder = context, builder

    def element(self, kind: Any, array: ir.Value, at: ir.Value) -> ir.Value:
        """Return where an element of an array is."""
        data = self.context.make_array(kind)(self.context, self.builder, value=array).data
        return self.builder.gep(data, [at], inbounds=True)

    def _pointer(self, kind: Any, array: ir.Value, at: ir.Value) -> ir.Value:
        lanes = ir.VectorType(self.context.get_value_type(kind.dtype), LANES)
        return self.builder.bitcast(self.element(kind, array, at), lanes.as_pointer())

    def load(self, kind: Any, array: ir.Value, at: ir.Value) -> ir.Value:
        """Return eight elements of an array from `at` on."""
        return self.builder.load(self._pointer(kind, array, at), align=8)

    def load_behind(self, kind: Any, array: ir.Value, at: ir.Value) -> ir.Value:
        """Return the element behind those eight."""
        return self.builder.load(self.element(kind, array, self.builder.add(at, NUMBER(LANES))))

    def store(self, kind: Any, array: ir.Value, at: ir.Value, lanes: ir.Value) -> None:
        """Write eight elements."""
        self.builder.store(lanes, self._pointer(kind, array, at), align=8)

    def spread(self, value: ir.Value) -> ir.Value:
        """Return one number in all lanes."""
        nothing = ir.Constant(ir.VectorType(value.type, LANES), ir.Undefined)
        return self._shuffled(self.builder.insert_element(nothing, value, FIRST), [0] * LANES)

    def up(self, lanes: ir.Value, first: ir.Value) -> ir.Value:
        """Return each lane one further, behind a first one."""
        return self.builder.insert_element(self._shuffled(lanes, [0, *range(LANES - 1)]), first, FIRST)

    def down(self, lanes: ir.Value, last: ir.Value) -> ir.Value:
        """Return each lane one back, before a last one."""
        return self.builder.insert_element(self._shuffled(lanes, [*range(1, LANES), 0]), last, LAST)

    def later(self, time: ir.Value, what: ir.Value, when: ir.Value, thing: ir.Value) -> ir.Value:
        """Tell which pairs are later than others, by the second numbers where the first are equal."""
        build = self.builder
        tie = build.and_(build.fcmp_ordered("==", time, when), build.icmp_signed(">", what, thing))
        return build.or_(build.fcmp_ordered(">", time, when), tie)

    def least(self, lanes: ir.Value) -> ir.Value:
        """Return the least of eight numbers."""
        for apart in (4, 2, 1):
            others = self._shuffled(lanes, [lane ^ apart for lane in range(LANES)])
            lanes = self.lesser(lanes, others)
        return self.builder.extract_element(lanes, FIRST)

    def lesser(self, lanes: ir.Value, others: ir.Value) -> ir.Value:
        """Return the lesser one of each pair."""
        return self.builder.select(self.builder.fcmp_ordered("<", lanes, others), lanes, others)

    def bits(self, mask: ir.Value) -> ir.Value:
        """Return eight truths as a word: one bit each, the first the lowest."""
        return self.builder.zext(self.builder.bitcast(mask, BITS), NUMBER)

    def _shuffled(self, lanes: ir.Value, order: list[int]) -> ir.Value:
        places = ir.Constant(ir.VectorType(PLACE, LANES), order)
        return self.builder.shuffle_vector(lanes, lanes, places)


@inside
def put_in(typing: Any, time: Any, what: Any, at: Any, n: Any, when: Any, thing: Any) -> Any:
    """Put a pair between others, the latest first; the eighth falls out if there are eight.

    Parameters
    ----------
    time, what : arrays of float and of int
        Pairs in descending order, of which `n` from the place `at` on count, however many that is.
    when, thing : float, int
        If it belongs behind all eight nothing changes, nor does what counts if `n` is negative.
    """

    def made(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        lanes = Lanes(context, builder)
        times, whats = signature.args[:2]
        time, what, at, n, when, thing = arguments
        old, things, n = lanes.load(times, time, at), lanes.load(whats, what, at), lanes.spread(n)
        moved = lanes.up(old, old.type.element(float("inf")))
        moved_things = lanes.up(things, NUMBER(0))
        when, thing = lanes.spread(when), lanes.spread(thing)
        counts, counts_before = (builder.icmp_signed(sign, COUNT, n) for sign in ("<", "<="))
        stays = builder.and_(lanes.later(old, things, when, thing), counts)
        next_stays = builder.and_(lanes.later(moved, moved_things, when, thing), counts_before)
        into = builder.select(stays, old, builder.select(next_stays, when, moved))
        lanes.store(times, time, at, into)
        into = builder.select(stays, things, builder.select(next_stays, thing, moved_things))
        lanes.store(whats, what, at, into)
        return context.get_dummy_value()

    return void(time, what, uint64, int64, float64, int64), made


@inside
def take_out(typing: Any, time: Any, what: Any, at: Any, when: Any, thing: Any) -> Any:
    """Take a pair out of eight, or one that is before them: those behind it move up by one, and so does the
    one behind the eight. Its parameters are those of `put_in`.
    """

    def made(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        lanes = Lanes(context, builder)
        times, whats = signature.args[:2]
        time, what, at, when, thing = arguments
        old, things = lanes.load(times, time, at), lanes.load(whats, what, at)
        stays = lanes.later(old, things, lanes.spread(when), lanes.spread(thing))
        moved = lanes.down(old, lanes.load_behind(times, time, at))
        lanes.store(times, time, at, builder.select(stays, old, moved))
        moved = lanes.down(things, lanes.load_behind(whats, what, at))
        lanes.store(whats, what, at, builder.select(stays, things, moved))
        return context.get_dummy_value()

    return void(time, what, uint64, float64, int64), made


@inside
def fitting(
    typing: Any, entries: Any, wants: Any, at: Any, most: Any, most_late: Any, now: Any, until: Any
) -> Any:
    """Return which of eight entries, from the place `at` on, are at most `most`, and not late or at most
    `most_late`: one bit each, the first the lowest. Who is late wants more than is left `until` then.

    Parameters
    ----------
    entries, wants : arrays of int and of float
    most, most_late : int
    now, until : float
    """

    def made(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        lanes = Lanes(context, builder)
        entries, wants, at, most, most_late, now, until = arguments
        each = lanes.load(signature.args[0], entries, at)
        over = builder.fadd(lanes.load(signature.args[1], wants, at), lanes.spread(now))
        in_time = builder.not_(builder.fcmp_ordered(">", over, lanes.spread(until)))
        fits = builder.icmp_signed("<=", each, lanes.spread(most))
        few = builder.icmp_signed("<=", each, lanes.spread(most_late))
        bits = builder.and_(fits, builder.or_(in_time, few))
        return lanes.bits(bits)

    return uint64(entries, wants, uint64, int64, int64, float64, float64), made


@inside
def least_of(typing: Any, values: Any, at: Any, n: Any) -> Any:
    """Return the least of `n` numbers, and of those behind them that fill up eight; infinite if n is 0.

    Parameters
    ----------
    values : array of float
    at : int
        Where they begin.
    n : int
    """

    def made(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        lanes = Lanes(context, builder)
        values, at, n = arguments
        least = cgutils.alloca_once_value(builder, lanes.spread(ir.DoubleType()(float("inf"))))
        with cgutils.for_range_slice(builder, NUMBER(0), n, NUMBER(LANES), NUMBER) as (i, _):
            eight = lanes.load(signature.args[0], values, builder.add(at, i))
            builder.store(lanes.lesser(eight, builder.load(least)), least)
        return lanes.least(builder.load(least))

    return float64(values, uint64, int64), made


@inside
def has_room(
    typing: Any, time: Any, most: Any, failed_size: Any, failed_request: Any, at: Any, size: Any,
    requested: Any, latest: Any,
) -> Any:  # fmt: skip
    """Return which of eight holes, from the place `at` on, begin before `latest` and may have room for a job,
    for all that is known: one bit each, the first the lowest.

    Parameters
    ----------
    time, most, failed_size, failed_request : arrays of float, int32, int32, and float
        When a hole begins, what it has room for at most, and the size and request of a job that it had no
        room for: who needs and requests as much has none either.
    size : int
    requested, latest : float
    """

    def made(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        lanes = Lanes(context, builder)
        *arrays, at, size, requested, latest = arguments
        kinds = signature.args
        begins, room, failed, failing = (lanes.load(k, a, at) for k, a in zip(kinds, arrays, strict=False))
        size = lanes.spread(builder.trunc(size, PLACE))
        early = builder.fcmp_ordered("<", begins, lanes.spread(latest))
        fits = builder.icmp_signed(">=", room, size)
        fewer = builder.icmp_signed(">", failed, size)
        shorter = builder.fcmp_ordered(">", failing, lanes.spread(requested))
        bits = builder.and_(builder.and_(early, fits), builder.or_(fewer, shorter))
        return lanes.bits(bits)

    return uint64(time, most, failed_size, failed_request, uint64, int64, float64, float64), made

"""Eight late jobs of one host go through its notes side by side, see `models.backfill.eq_spatial.late`.

Each of them adds up what it missed, one note after the other, and every addition waits for the one before:
eight jobs take as long as one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import int64, void
from numba.core import cgutils

from models.arrays import Floats, Ints
from models.kernels.lanes import LANES, Lanes, inside


class Eight(NamedTuple):
    """Eight late jobs; every array has the shape (8,), and they are those of `state.JobTable`.

    Parameters
    ----------
    job : its number
    told : so many notes count already
    size, share, share_since, lack : as of then
    """

    job: Ints
    told: Ints
    size: Ints
    share: Ints
    share_since: Floats
    lack: Floats


def nobody_late() -> Eight:
    """Return room for eight."""
    job, told, size, share = (np.empty(LANES, np.int64) for _ in range(4))
    return Eight(job, told, size, share, np.empty(LANES), np.empty(LANES))


@inside
def reckon_eight(
    typing: Any,
    job: Any, told: Any, size: Any, share: Any, since: Any, lack: Any,
    time: Any, level: Any, after: Any, before: Any, base: Any, n: Any,
) -> Any:  # fmt: skip
    """Do for eight jobs what `late.reckon` does for one. O(n).

    Parameters
    ----------
    job, told, size, share, since, lack : arrays, see `Eight`; the last three change
    time, level, after, before : arrays of notes
    base, n : int
        The place of the first note, and how many there are.
    """

    def made(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        lanes = Lanes(context, builder)
        zero = ir.Constant(ir.IntType(64), 0)
        kinds, arrays, (base, n) = signature.args, arguments[:10], arguments[10:]
        job, told, size, *start = (
            lanes.load(kind, array, zero) for kind, array in zip(kinds[:6], arrays[:6], strict=True)
        )
        shares, sinces, lacks = (cgutils.alloca_once_value(builder, value) for value in start)
        nothing = ir.Constant(start[2].type, [0.0] * LANES)
        with cgutils.for_range(builder, n) as loop:
            note = builder.add(base, loop.index)
            when, level, after, before = (
                lanes.spread(builder.load(lanes.element(kind, array, note)))
                for kind, array in zip(kinds[6:10], arrays[6:], strict=True)
            )
            had, since, lack = (builder.load(place) for place in (shares, sinces, lacks))
            odd = builder.and_(builder.icmp_signed("<", after, job), builder.icmp_signed("<", job, before))
            more = builder.add(level, builder.zext(odd, level.type))
            share = builder.select(builder.icmp_signed("<=", size, level), size, more)
            is_new = builder.icmp_signed(">=", lanes.spread(loop.index), told)
            changes = builder.and_(is_new, builder.icmp_signed("!=", share, had))
            missed = builder.fmul(builder.sitofp(had, when.type), builder.fsub(when, since))
            builder.store(builder.fadd(lack, builder.select(changes, missed, nothing)), lacks)
            builder.store(builder.select(changes, share, had), shares)
            builder.store(builder.select(changes, when, since), sinces)
        for k, place in enumerate((shares, sinces, lacks), start=3):
            lanes.store(kinds[k], arrays[k], zero, builder.load(place))
        return context.get_dummy_value()

    arrays = (job, told, size, share, since, lack, time, level, after, before)
    return void(*arrays, int64, int64), made

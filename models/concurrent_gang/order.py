"""The tasks of a PE in the order in which they had it, the least recent first: whose turn it is in a round.

Those that never had it come before all others, in order of arrival.
"""

from __future__ import annotations

from numba import int64, void

from models.concurrent_gang.state import BEFORE, DISPATCHED, FIRST, LAST, NEXT, NONE, PE, SYSTEM
from models.kernels.compiling import part


@part(void(int64, int64, int64, SYSTEM))
def put_before(task, after, pe, system):
    """Put a task into a PE's list, before another one, or at the end if that is NONE."""
    whole, pes = system.tasks.whole, system.pes.whole
    before = pes[pe, LAST] if after == NONE else whole[after, BEFORE]
    whole[task, NEXT] = after
    whole[task, BEFORE] = before
    if before == NONE:
        pes[pe, FIRST] = task
    else:
        whole[before, NEXT] = task
    if after == NONE:
        pes[pe, LAST] = task
    else:
        whole[after, BEFORE] = task


@part(void(int64, SYSTEM))
def take_out(task, system):
    """Take a task out of its PE's list."""
    whole, pes = system.tasks.whole, system.pes.whole
    pe, before, after = whole[task, PE], whole[task, BEFORE], whole[task, NEXT]
    if before == NONE:
        pes[pe, FIRST] = after
    else:
        whole[before, NEXT] = after
    if after == NONE:
        pes[pe, LAST] = before
    else:
        whole[after, BEFORE] = before


@part(void(int64, int64, SYSTEM))
def put_newcomer(task, pe, system):
    """Put a task that has just arrived after the others that never had the PE. O(those)."""
    after = system.pes.whole[pe, FIRST]
    while after != NONE and system.tasks.real[after, DISPATCHED] < 0.0:
        after = system.tasks.whole[after, NEXT]
    put_before(task, after, pe, system)


@part(void(int64, int64, SYSTEM))
def put_last(task, pe, system):
    """Put a task that is given its PE to the end."""
    if system.pes.whole[pe, LAST] != task:
        take_out(task, system)
        put_before(task, NONE, pe, system)

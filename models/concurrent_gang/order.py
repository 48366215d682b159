"""The tasks of a PE in the order of round robin: by their last turns, the least recent first.

Tasks that never had a turn come before all others, in order of arrival. The reading ``policy.turns``
determines what counts as a turn: getting the PE, getting it outside the task's own slot, or becoming ready.
"""

from numba import int64, void

from models.concurrent_gang.codes import NONE
from models.concurrent_gang.state import SYSTEM
from models.kernels.compiling import part


@part(void(int64, int64, int64, SYSTEM))
def insert_before(task, after, pe, system):
    """Put a task into a PE's list, before another one, or at the end if that is NONE."""
    tasks, pes = system.tasks, system.pes
    before = pes[pe].last if after == NONE else tasks[after].before
    tasks[task].next = after
    tasks[task].before = before
    if before == NONE:
        pes[pe].first = task
    else:
        tasks[before].next = task
    if after == NONE:
        pes[pe].last = task
    else:
        tasks[after].before = task


@part(void(int64, SYSTEM))
def remove(task, system):
    """Remove a task from its PE's list."""
    tasks, pes = system.tasks, system.pes
    pe, before, after = tasks[task].pe, tasks[task].before, tasks[task].next
    if before == NONE:
        pes[pe].first = after
    else:
        tasks[before].next = after
    if after == NONE:
        pes[pe].last = before
    else:
        tasks[after].before = before


@part(void(int64, int64, SYSTEM))
def insert_newcomer(task, pe, system):
    """Insert a task that has just arrived after the others that never had a turn. O(their number)."""
    after = system.pes[pe].first
    while after != NONE and not system.tasks[after].served:
        after = system.tasks[after].next
    insert_before(task, after, pe, system)


@part(void(int64, int64, SYSTEM))
def count_turn(task, pe, system):
    """Move a task that has a turn to the end."""
    system.tasks[task].served = 1
    if system.pes[pe].last != task:
        remove(task, system)
        insert_before(task, NONE, pe, system)

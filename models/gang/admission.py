"""What the engine asks of the queue before the matrix, for runs with a bound.

The rules are in `models.gang.queueing`; `models.gang.unbounded` stands in where there is no bound.
"""

from __future__ import annotations

from models.gang.queueing import ADMIT_SIGNATURE, NEXT, ROOM_NOW, all_fit, list_jobs, next_to_enter, room_now
from models.gang.waiting import AT_PRESENT
from models.kernels.compiling import passable
from models.packing.slots import NOWHERE


@passable(ADMIT_SIGNATURE)
def admit(question, job, place, release, rearrange, system):
    """Answer one of the questions of `models.gang.queueing`."""
    if question == NEXT:
        return next_to_enter(place, release, rearrange, system)
    if question == ROOM_NOW:
        return room_now(place, release, rearrange, job, system)
    n = list_jobs(AT_PRESENT, system.table, system.counts, system.foresight)
    return 0 if all_fit(n, rearrange, system) else NOWHERE

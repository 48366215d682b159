"""The queue before the matrix, for runs with a bound; runs without one take
`models.gang.queueing.never_called`."""

from models.gang.profile import AT_PRESENT
from models.gang.queueing import ADMIT_SIGNATURE, NEXT, SLOT_NOW, all_fit, list_jobs, next_to_enter, slot_now
from models.kernels.compiling import passable
from models.packing.slots import NOWHERE


@passable(ADMIT_SIGNATURE)
def admit(question, job, place, release, rearrange, system):
    """Answer one of the requests of `models.gang.queueing`."""
    if question == NEXT:
        return next_to_enter(place, release, rearrange, system)
    if question == SLOT_NOW:
        return slot_now(place, release, rearrange, job, system)
    n = list_jobs(AT_PRESENT, system.table, system.state[0].n_jobs, system.profile)
    return 0 if all_fit(n, rearrange, system) else NOWHERE

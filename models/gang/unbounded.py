"""The queue of a matrix without a bound: nobody ever waits in it, see `models.gang.admission`."""

from __future__ import annotations

from models.gang.queueing import ADMIT_SIGNATURE
from models.kernels.compiling import passable
from models.packing.slots import NOWHERE


@passable(ADMIT_SIGNATURE)
def never_asked(question, job, place, release, rearrange, system):
    """Stand where a function has to: without a bound the engine has nothing to ask."""
    return NOWHERE

"""The queue of a matrix without a bound: no job ever waits in it, see `models.gang.admission`."""

from __future__ import annotations

from models.gang.queueing import ADMIT_SIGNATURE
from models.kernels.compiling import passable
from models.packing.slots import NOWHERE


@passable(ADMIT_SIGNATURE)
def never_called(question, job, place, release, rearrange, system):
    """Fill the argument of the engine, which calls it only with a bound."""
    return NOWHERE

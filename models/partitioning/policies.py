"""The checks of partitioning policies before anything runs. Loads no kernel.

The keys of a policy are in `models.partitioning.rules`, which the analyses share.
"""

from collections.abc import Sequence

from models import workloads
from models.partitioning.simulation.source import check_curve, open_source
from models.partitioning.static import birth_death
from models.point import Point


def check(point: Point) -> Sequence[str]:
    """Check one combination before anything runs, see `models.family.Family.check`."""
    workloads.refuse_weeks(point)
    if workloads.is_rigid(point.workload):
        workloads.refuse_feedback(point, known=("repetition",))
    source = open_source(point)
    limit = source.system.limit(point.machine)
    if source.trace is None and point.batches.size is None:
        raise ValueError(
            "batch_size=null: jobs arrive without end; give a number of jobs, e.g. batch_size=1000"
        )
    check_curve(source)
    if source.speedup is not None:
        return source.notes
    # The chain with the same rates gives the capacity of a policy in advance, except if it has a state in
    # which nothing moves (rotations all the time), which a simulation may never reach.
    if limit > birth_death.MOST_STATES or birth_death.stuck(point):
        return source.notes
    return [*source.notes, *birth_death.check(point)]


def is_stochastic(point: Point) -> bool:
    """Return whether replications differ: the policies draw no random numbers."""
    return workloads.is_stochastic(point.workload)

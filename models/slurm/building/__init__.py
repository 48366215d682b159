"""From a configuration and jobs to the tables of the kernel before the first event."""

from models.slurm.asked import Asked
from models.slurm.building.jobs import entries, jobs
from models.slurm.building.limits import limits
from models.slurm.building.nodes import nodes
from models.slurm.building.partitions import partitions
from models.slurm.building.timers import timers
from models.slurm.configuration import Configuration
from models.slurm.constraints import node_sets
from models.slurm.kernel.tables import System
from models.slurm.scheduler import Phases


def system_of(
    wanted: Asked, configuration: Configuration, phases: Phases, plans: int = 0, zero: float = 0.0
) -> System:
    """Return the tables.

    Parameters
    ----------
    zero : float
        Seconds since the epoch of the first submission, for reservations.
    plans : int
        Room for plans of backfill cycles, which are recorded if it is not 0.
    """
    of_nodes = nodes(configuration)
    of_limits, first_charge = limits(wanted, configuration, phases, zero)
    words, sets = node_sets(configuration, wanted.request, wanted.of_record, wanted.place)
    return System(
        **of_nodes,
        **partitions(configuration, sets),
        **jobs(wanted, configuration, phases, first_charge, words),
        **of_limits,
        **timers(configuration, phases, len(wanted.place), plans),
        entries=entries(of_nodes["free"], len(wanted.jobs), configuration),
    )

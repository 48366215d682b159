"""Tables of limits: of associations and QOS, and of reservations, which keep nodes from all jobs."""

from typing import Any

import numpy as np

from models.arrays import Ints
from models.slurm.asked import Asked
from models.slurm.building.nodes import in_words, records
from models.slurm.configuration import Configuration
from models.slurm.configuration.settings import MONTH_S, YEAR_S
from models.slurm.kernel import tables
from models.slurm.limits import counters
from models.slurm.scheduler import Phases

LONGER_S = MONTH_S
"""Seconds from the latest end that jobs ask for, while reservations still come back."""

LONGEST_S = 10 * YEAR_S
"""Seconds of a time limit that count for that."""


def limits(
    wanted: Asked, configuration: Configuration, phases: Phases, zero: float
) -> tuple[dict[str, Any], Ints]:
    """Return the tables of limits and reservations, and where the charges of each job begin.

    `zero` are the seconds since the epoch of the first submission.
    """
    caps, charges, first_charge, _ = counters(wanted, configuration)
    last = wanted.jobs.submit.max(initial=0.0) + min(wanted.limit.max(initial=0), LONGEST_S)
    reserved = [
        (one, times)
        for one in configuration.reservations
        for times in one.occurrences(zero, zero + last + LONGER_S)
    ]
    kept = np.array([times for _, times in reserved], np.float64).reshape(-1, 3) + (phases.clock - zero)
    return {
        "limits": caps,
        "charges": charges,
        "reservations": records(tables.RESERVATION, begin=kept[:, 0], end=kept[:, 1], known=kept[:, 2]),
        "reserved_words": in_words([one.nodes for one, _ in reserved], len(configuration.nodes)),
    }, first_charge

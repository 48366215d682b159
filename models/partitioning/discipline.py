"""What a policy is to the engine: three small compiled functions that share out the machine.

The declared types matter: a kernel that takes functions of these types is compiled once for all policies and
found in the disk cache again. The functions keep the list RUNNING of the jobs in memory, in the order of
their positions, and plan every job's progress with the functions of `progress`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from numba import int64, types, void

from models.partitioning.state import CELLS, CLOCKS, COUNTS, REAL, SETTINGS, TABLES, WHOLE

SIGNATURE = void(
    int64,  # the newcomer's place in the table of jobs, or the position that fell free; else 0
    SETTINGS,
    REAL,  # table of jobs (job, field)
    WHOLE,  # order (list, position)
    TABLES,  # the policy's own: rates of work, and seconds that moves take
    CELLS,  # the policy's own: where cells are
    COUNTS,
    CLOCKS,
)
FUNCTION = types.FunctionType(SIGNATURE)


class Discipline(NamedTuple):
    """The compiled functions of a policy, all of `SIGNATURE`.

    arrive : lets a job into memory beside those that run
    depart : divides the machine anew among the others after the job at a position ended
    rotate : exchanges partitions at an instant of rotation
    """

    arrive: Any
    depart: Any
    rotate: Any

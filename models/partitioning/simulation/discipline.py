"""The interface of a policy to the engine: three small compiled functions that share out the machine.

The declared types matter: a kernel that takes functions of these types is compiled once for all policies and
found in the disk cache again. The functions keep the list of running jobs in the order of their positions,
and plan every job's progress with the functions of `progress`: `arrive` admits a job beside those that run,
`depart` divides the machine anew among the others after the job at a position ended, and `rotate` exchanges
partitions at an instant of rotation.
"""

from numba import int64, types, void

from models.partitioning.simulation.state import TABLES
from models.workloads.speedup.curves import CURVE

SIGNATURE = void(
    int64,  # the newcomer's place in the table of jobs, or the position that fell free; else 0
    TABLES,
    CURVE,  # the speed of a job by its number of processors
)
FUNCTION = types.FunctionType(SIGNATURE)

"""Gang scheduling of jobs packed into the slots of an Ousterhout matrix (Feitelson 1996).

The declaration loads no kernel, so that a plan can be made and checked at once.
"""

from models.family import Family
from models.gang.metrics import METRICS
from models.jobs.measures import COMMON

FAMILY = Family(
    package=__name__,
    name="gang scheduling",
    version=3,
    metrics=METRICS,
    headline="slowdown",
    common=COMMON,
    delivered="utilization",
    kernels=(
        "models.gang.model",
        "models.gang.admission",
        "models.workloads.redrawn",
        "models.packing.schemes.buddy",
        "models.packing.schemes.capacity",
        "models.packing.schemes.left_right",
        "models.packing.schemes.load_based",
        "models.packing.schemes.migration",
    ),
    schedules=True,
    reads=frozenset(),
    functions={7: ("gang/first_fit", "scheme")},
)

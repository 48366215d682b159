"""Processor partitioning on a mesh (McCann 1994, chapters 3 to 5).

The family declared here is the simulation of section 5.4, extended to any rigid jobs; the analyses in
`static` are families of their own. The declaration loads no kernel, so that a plan can be made and checked at
once.
"""

from models.family import Family
from models.partitioning.metrics import ALLOCATED, JOB_CLASSES, OF_CLASSES

FAMILY = Family(
    package=__name__,
    name="processor partitioning",
    version=7,
    metrics=(*OF_CLASSES, ALLOCATED),
    headline="response_time",
    common=("wait", "response_time", "slowdown", "bounded_slowdown", "utilization", "jobs_in_system"),
    coords={"job_class": JOB_CLASSES},
    delivered="utilization",
    kernels=("models.partitioning.model",),
    schedules=True,
    reads=frozenset(
        {
            "machine.context_switch",
            "machine.bandwidth",
            "machine.memory_limit",
            "workload.speedup",
            "workload.downey",
            "workload.mccann",
        }
    ),
)

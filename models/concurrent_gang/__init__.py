"""Concurrent Gang: tasks that block, and local schedulers that fill the idle time (Silva and Scherson 1999).

The declaration loads no kernel, so that a plan can be made and checked at once.
"""

from models.concurrent_gang.metrics import CAUSES, CLASSES, METRICS, STATES
from models.family import Family
from models.jobs.measures import COMMON

FAMILY = Family(
    package=__name__,
    name="Concurrent Gang",
    version=3,
    metrics=METRICS,
    headline="throughput",
    common=COMMON,
    delivered="utilization",
    coords={"pe_state": STATES, "cause": CAUSES, "statement_class": CLASSES},
    kernels=(
        "models.concurrent_gang.model",
        "models.packing.schemes.buddy",
        "models.packing.schemes.capacity",
        "models.packing.schemes.left_right",
        "models.packing.schemes.load_based",
    ),
    schedules=True,
    reads=frozenset(
        {
            "machine.context_switch",
            "machine.bandwidth",
            "machine.link_latency",
            "machine.link_contention",
            "machine.disks",
            "workload.statements",
        }
    ),
)

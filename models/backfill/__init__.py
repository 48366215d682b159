"""Backfilling on space-shared machines: FCFS, EASY, conservative, and by priority (Chiang and Vernon 2001).

The declaration loads no kernel, so that a plan can be made and checked at once.
"""

from models.backfill.metrics import METRICS, OF_JOBS
from models.family import Family
from models.jobs.measures import COMMON

FAMILY = Family(
    package=__name__,
    name="backfilling",
    version=3,
    metrics=METRICS,
    headline="wait",
    common=COMMON,
    delivered="utilization",
    of_jobs=OF_JOBS,
    kernels=(
        "models.backfill.ncsa_lsf.kernel",
        "models.backfill.priority.reservations",
        "models.backfill.priority.single_reservation",
        "models.backfill.eq_spatial.kernel",
        "models.backfill.conservative.pool",
        "models.backfill.conservative.hosts",
        "models.backfill.priority.published",
        "models.backfill.model",
    ),
    schedules=True,
    reads=frozenset(),
    functions={4: ("backfill/easy", "priority"), 5: ("backfill/easy", "priority")},
)

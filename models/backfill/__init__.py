"""Backfilling on space-shared machines: FCFS, EASY, conservative, and by priority (Chiang and Vernon 2001).

The declaration loads no kernel, so that a plan can be made and checked at once.
"""

from models.backfill.metrics import COORDS, METRICS
from models.family import Family

FAMILY = Family(
    package=__name__,
    name="backfilling",
    version=2,
    metrics=METRICS,
    headline="wait",
    coords=COORDS,
    kernels=(
        "models.backfill.ncsa_lsf.schedules",
        "models.backfill.immediate.schedules",
        "models.backfill.eq_spatial.schedules",
        "models.backfill.conservative.engine",
        "models.backfill.priority.hosts",
        "models.backfill.priority.pool",
        "models.backfill.model",
    ),
    schedules=True,
)

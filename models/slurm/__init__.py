"""Slurm's own scheduler: main passes, backfill cycles and priorities as a slurm.conf configures them.

The declaration loads no kernel, so that a plan can be made and checked at once.
"""

from models.family import Family
from models.jobs.measures import COMMON
from models.slurm.configuration.versions import VALIDATED
from models.slurm.metrics import METRICS, OF_JOBS

FAMILY = Family(
    package=__name__,
    name="Slurm",
    version=6,
    metrics=METRICS,
    headline="wait",
    common=COMMON,
    of_jobs=OF_JOBS,
    kernels=(
        "models.slurm.kernel.backfill",
        "models.slurm.kernel.loop",
        "models.slurm.kernel.passes",
        "models.slurm.kernel.picking",
        "models.slurm.kernel.powering",
    ),
    schedules=True,
    reads=frozenset(),
    validated=tuple(f"Slurm {version}" for version in VALIDATED),
)

"""Processor partitioning on a mesh (McCann 1994, chapters 3 to 5).

The family declared here is the simulation of section 5.4; the static analyses are families of their own
(`efficiency`, `fairness`, `birth_death`). The declaration loads no kernel, so that a plan can be made and
checked at once.
"""

from models.family import Family, Metric

FAMILY = Family(
    package=__name__,
    name="processor partitioning",
    version=1,
    metrics=(
        Metric("response_time", "s", "mean response time", ("job_class",)),
        Metric("blow_up", "1", "mean blow-up factor", ("job_class",)),
        Metric("blow_up_cv", "1", "coefficient of variation of the blow-up factor", ("job_class",)),
        Metric("jobs_in_system", "1", "average number of jobs in the system"),
    ),
    headline="response_time",
    coords={"job_class": ("short", "long", "all")},
    kernels=("models.partitioning.model",),
)

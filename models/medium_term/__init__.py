"""Medium-term scheduling of jobs that need a minimum of processors (McCann 1994, chapter 6).

The declaration loads no kernel, so that a plan can be made and checked at once.
"""

from models.family import Family, Metric

FAMILY = Family(
    package=__name__,
    name="medium-term scheduling",
    version=3,
    metrics=(
        Metric("reallocations", "1", "processors reallocated within T"),
        Metric("epochs", "1", "spans between moments of reallocation within T"),
        Metric("uninterrupted", "1", "fraction of jobs that run the whole of T"),
        Metric(
            "uninterrupted_in_group", "1", "fraction of jobs that run for the whole of their group's time"
        ),
        Metric("processors_per_job", "1", "processors that a job gets"),
        Metric("processors_at_once", "1", "processors reallocated at one moment, on average"),
    ),
    headline="reallocations",
    solves=True,
    kernels=("models.medium_term.model", "models.medium_term.buddy", "models.medium_term.epochs"),
)

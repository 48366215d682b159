"""Medium-term scheduling of jobs that need a minimum of processors (McCann 1994, chapter 6).

The declaration loads no kernel, so that a plan can be made and checked at once.
"""

from models.family import Family
from models.medium_term.metrics import METRICS

FAMILY = Family(
    package=__name__,
    name="medium-term scheduling",
    version=3,
    metrics=METRICS,
    headline="reallocations",
    solves=True,
    kernels=("models.medium_term.model", "models.medium_term.buddy", "models.medium_term.epochs"),
    reads=frozenset(),
)

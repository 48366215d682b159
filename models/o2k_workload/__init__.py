"""Measures of generated months of the NCSA Origin 2000, to compare with Chiang and Vernon (2001).

No policy schedules anything here. The family's version changes when the generator of
`models.workloads.o2k` gives other jobs.
"""

from models.family import Family
from models.o2k_workload.metrics import COORDS, METRICS

FAMILY = Family(
    package=__name__,
    name="workload of the NCSA Origin 2000",
    version=2,
    metrics=METRICS,
    headline="number_of_jobs",
    coords=COORDS,
    reads=frozenset(),
)

"""What the generated months of the NCSA Origin 2000 are like, beside what Chiang and Vernon (2001) print.

No policy schedules anything here. The family's version says when the generator of
`models.workloads.o2k` gives other jobs.
"""

from __future__ import annotations

from collections.abc import Sequence

from models.family import Family, Parameters, simulated_by
from models.o2k_workload.measures import COORDS, METRICS

simulate = simulated_by("models.o2k_workload.model")


def check(policy: Parameters, workload: Parameters, machine: Parameters, load: float | None) -> Sequence[str]:
    """Look at one combination before anything runs, see `models.family.Check`."""
    from models.workloads import o2k

    if workload.get("model") != "o2k":
        raise ValueError(
            f"workload {workload.get('name', '')} has model {workload.get('model')}; models.o2k_workload "
            "takes o2k, for instance grid.workload=[o2k_2000_01]"
        )
    if load is not None:
        raise ValueError(f"load={load}: a month is looked at as it is; set grid.load=[null]")
    return o2k.open_source(workload, machine, load, (0,)).notes


def chance(policy: Parameters, workload: Parameters, machine: Parameters) -> bool:
    """Tell whether replications differ: each is a month of its own."""
    return True


def warm_up() -> None:
    """Load what months are made of; no kernel is compiled."""
    import models.o2k_workload.model  # noqa: F401


FAMILY = Family(
    name="workload of the NCSA Origin 2000",
    version=1,
    metrics=METRICS,
    simulate=simulate,
    check=check,
    warm_up=warm_up,
    coords=COORDS,
    chance=chance,
)

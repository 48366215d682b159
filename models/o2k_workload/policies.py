"""No policy schedules anything here: a generated month is measured."""

from collections.abc import Sequence

from models.point import Point
from models.workloads import o2k


def check(point: Point) -> Sequence[str]:
    """Check one combination before anything runs, see `models.family.Family.check`."""
    workload = point.workload
    if workload.get("model") != "o2k":
        raise ValueError(
            f"workload {workload.get('name', '')} has model {workload.get('model')}; models.o2k_workload "
            "takes o2k, for instance grid.workload=[o2k_2000_01]"
        )
    if point.load is not None:
        raise ValueError(f"load={point.load}: a month is measured as it is; set grid.load=[null]")
    for option in ("estimates", "memory"):
        if (given := workload.get(option)) is not None:
            raise ValueError(
                f"workload.{option}={given}: a month is measured as it is; set workload.{option}=null"
            )
    return o2k.open_trace(point).notes


def is_stochastic(point: Point) -> bool:
    """Return whether replications differ: each is a month of its own."""
    return o2k.is_stochastic(point.workload)

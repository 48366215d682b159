"""Months, their jobs and the machine for the tests of the generated workload of the Origin 2000."""

from functools import cache
from typing import Any

from family_cases import CONF, machine_of, merged, read

from models.jobs.jobs import Jobs
from models.jobs.trace import Trace
from models.point import Point
from models.workloads import o2k

SEEDS = ((1, 7, 0), (1, 7, 1), (2, 11, 0))
MACHINE = machine_of("o2k")


def workload(month: str, **keys: Any) -> dict[str, Any]:
    """Return a month's keys, with some of them set; mappings are merged."""
    file = read(CONF / "workload" / "chiang2001" / "_o2k.yaml") | {"month": month}
    return merged(file, keys)


def open_month(
    workload: dict[str, Any], machine: dict[str, Any], load: float | None, seed: tuple[int, ...]
) -> Trace:
    return o2k.open_trace(Point({}, workload, machine, load, seed=seed))


@cache
def month_of_jobs(month: str, seed: tuple[int, ...]) -> Jobs:
    """Return the jobs submitted in a month."""
    source = open_month(workload(month), MACHINE, None, seed)
    return source.jobs.part(source.measured)

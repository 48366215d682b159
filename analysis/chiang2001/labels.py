"""Names of metrics, groups of jobs and months, as text and figures call them; and the numbers of Table 4."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from analysis.study import Study
from analysis.study.axes import ALL, Axes, Grouping
from analysis.study.curve import Sample

KEY = "chiang2001"

RUNTIME = Grouping("runtime_range", "_by_runtime")
CLASS = Grouping("ncsa_class", "_by_ncsa_class")
GROUPINGS = {"runtime": RUNTIME, "job_class": CLASS}
"""Ways to sort jobs into groups, by the names that claims and figures give them."""

TABLE_CLASS = "job_class"
"""Dimension of the metrics of a workload: all jobs, then each class."""

AXES = Axes(features={"workload": "o2k_1999_10", TABLE_CLASS: ALL})

AVERAGE, P95, MAXIMUM, SLOWDOWN = "delay", "delay_p95", "delay_max", "slowdown"
"""The paper's wait is the time in the system beyond the runtime (section 4.4), whatever the policy."""

MEASURES = {
    AVERAGE: "average wait",
    P95: "95th percentile of the wait",
    MAXIMUM: "maximum wait",
    SLOWDOWN: "average slowdown",
}

NUMBER, DEMAND, MEMORY_DEMAND = "number_of_jobs", "processor_demand", "memory_demand"
"""Metrics of a workload."""

HOUR = 3600.0

YLABELS = {
    AVERAGE: ("Average wait (h)", 1 / HOUR),
    P95: ("95th percentile of wait (h)", 1 / HOUR),
    MAXIMUM: ("Maximum wait (h)", 1 / HOUR),
    SLOWDOWN: ("Average slowdown", 1.0),
}
"""Metric -> label of its axis, and the factor that scales its values."""

MONTHS = {
    "o2k_1999_10": "Oct 1999",
    "o2k_1999_11": "Nov 1999",
    "o2k_1999_12": "Dec 1999",
    "o2k_2000_01": "Jan 2000",
    "o2k_2000_02": "Feb 2000",
    "o2k_2000_03": "Mar 2000",
}
_, NOVEMBER, DECEMBER, JANUARY, FEBRUARY, MARCH = MONTHS
HIGH_LOAD = (DECEMBER, FEBRUARY)
"""Months of high load according to Table 4."""

SHORTEST, *LONGER = (
    "under 1 min", "1 to 10 min", "10 to 100 min", "100 to 1,000 min", "1,000 to 10,000 min",
    "10,000 min and more",
)  # fmt: skip
"""Ranges of the actual runtime: jobs that end within the quantum of immediate service, and the others."""

RANGES = (SHORTEST, *LONGER)
SHORT_RANGES = ("< 1", "1–10", "10–10²", "10²–10³", "10³–10⁴", "> 10⁴")
"""The same in minutes, for axes."""

TIMES, SIZES = ("vst", "st", "mt", "lt"), ("sj", "mj", "lj")
CLASSES = tuple(f"{time}_{size}" for size in SIZES for time in TIMES)

TIME_NAMES = {"vst": "very short", "st": "short", "mt": "medium", "lt": "long"}
SIZE_NAMES = {"sj": "small jobs (sj)", "mj": "medium jobs (mj)", "lj": "large jobs (lj)"}
"""Meaning of the paper's letters."""

SIZE_COLORS = {"sj": "#88ccee", "mj": "#0072b2", "lj": "#332288"}


def month(workload: str) -> str:
    """Return a workload's name in text."""
    return MONTHS.get(workload, workload)


def short_month(workload: str) -> str:
    """Return a month as axes show it.

    Examples
    --------
    >>> short_month("o2k_1999_10")
    '10/99'
    """
    if workload not in MONTHS:
        return workload
    _, year, number = workload.split("_")
    return f"{int(number)}/{year[2:]}"


def months(study: Study) -> list[str]:
    """Return the workloads of the grid, the paper's months first and in their order."""
    return study.ordered("workload", MONTHS) or [str(study.parameters("workload")["name"])]


def sample(study: Study, metric: str, policy: str, month: str, **group: str) -> Sample:
    """Return a metric of all jobs of a month, or of a group of them, ``job_class="st_sj"``."""
    name = metric + "".join(GROUPINGS[one].suffix for one in group)
    point = {"workload": month} | {GROUPINGS[one].dim: value for one, value in group.items()}
    return study.sample(name, policy, **point)


@dataclass(frozen=True)
class PaperMonth:
    """A month of Table 4; arrays of shape (13,): all jobs, then each class."""

    jobs: np.ndarray
    processor_demand: np.ndarray
    memory_demand: np.ndarray


def table_4(workload: str, study: Study) -> PaperMonth | None:
    """Return the paper's numbers for a workload of the dataset; None for other workloads."""
    from models.workloads.o2k.table4 import TABLE_4

    found = TABLE_4.get(str(study.parameters("workload", workload).get("month")))
    if found is None:
        return None
    return PaperMonth(
        np.array([found.overall_jobs, *found.jobs], float),
        np.array([found.overall_processor_demand, *found.processor_demand], float),
        np.array([found.overall_memory_demand, *found.memory_demand], float),
    )


def table_of_month(study: Study, metric: str, month: str) -> np.ndarray:
    """Return a metric of the grid's only policy, shape (its own dimensions..., replications, batches)."""
    found = study.data[metric].isel(policy=0)
    for dim in ("load", "machine"):
        if dim in found.dims:
            found = found.isel({dim: 0})
    if "workload" in found.dims:
        found = found.isel(workload=study.values_of("workload").index(month))
    return np.asarray(found.transpose(..., "replication", "batch").values)


def early_ends(study: Study) -> list[tuple[str, str]]:
    """Return what share of the jobs ends within a minute, of each month, as a row of the readings."""
    rows = []
    for name in study.config.get("workload", {}):
        file = study.parameters("workload", name)
        shares = file.get("under_a_minute")
        if isinstance(shares, Mapping):
            shares = shares.get(str(file.get("month")), {})
            text = ", ".join(f"{100 * share:.1f} % of {kind}" for kind, share in shares.items())
        elif shares is None:
            continue
        else:
            text = f"{100 * shares:.1f} % of all"
        rows.append(f"{month(name)}: {text}")
    return [("workload.under_a_minute", "; ".join(rows))] if rows else []

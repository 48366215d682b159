"""Names: axes, schedulers, workloads and metrics as the dataset has them, and as figures call them."""

from analysis.study import Study
from analysis.study.axes import Axes

KEY = "jette1997"

WORKLOAD, MACHINE, HOUR, LENGTH = "workload", "machine", "hour", "length"
SITE_CLASS, RUNTIME, PARTITION = "site_class", "runtime_range", "partition"
MULTIPLIER, SWITCH_COST = "do_not_disturb", "switch_cost"
"""Axes of the grids, and dimensions of metrics."""

FIFTEEN_MONTHS, THREE_WEEKS, BENCHMARK_WEEK = "t3d", "t3d_three_weeks", "t3d_benchmark"
"""The workloads: of Fig. 1, of July 23 to August 12, and of the benchmarks against UNICOS MAX."""

NEVER = "never"
"""Value of the multiplier's axis at which no job is preempted."""

TC2000, ALPHA = "tc2000_gang", "alpha_gang"
"""The schedulers of the other two machines."""

AXES = Axes(
    features={
        WORKLOAD: FIFTEEN_MONTHS,
        MACHINE: "t3d",
        MULTIPLIER: "1",
        SWITCH_COST: "1",
        "placement": "blocks",
        "reserved": "1",
    }
)

UNICOS_MAX, DJM, GANG = "unicos_max", "djm", "llnl_gang"
SCHEDULERS = (UNICOS_MAX, DJM, GANG)
"""The three of Fig. 1, in the order in which the site had them."""

HISTORY = {UNICOS_MAX: (1, 3), DJM: (4, 5), GANG: (6, 15)}
"""First and last month under each of them. The text gives only "since March 1996" for the last one, and
15 months in all; it is assumed that they begin in October 1995, as the workload does, and that DJM came in
January."""

MONTHS = 15
MONTH = 30.4375 * 86400
"""Seconds; of workloads whose first day is not known."""

MORNING, EVENING = 8, 22
"""Hours of the day from which and to which all of an hour is prime time (7:30 to 22:00)."""

DAY = tuple(str(hour) for hour in range(MORNING, EVENING))
NIGHT = tuple(str(hour) for hour in range(24) if str(hour) not in DAY)
LATE_NIGHT = tuple(str(hour) for hour in range(5))
WORKING_HOURS = tuple(str(hour) for hour in range(9, 17))
"""Hours of prime time, of the rest, and the text's late night and working hours."""

SHORTEST, LONGEST = "under 10 s", "1 h and more"
LENGTHS = (SHORTEST, "10 s to 1 min", "1 to 10 min", "10 min to 1 h", LONGEST)

INTERACTIVE, DEBUG, PRODUCTION, BENCHMARK = "interactive", "debug", "production", "benchmark"
CLASSES = ("express", INTERACTIVE, DEBUG, PRODUCTION, BENCHMARK, "standby")

UTILIZATION, PERIOD, PREEMPTED = "utilization", "period", "preempted_share"
SWITCHING, PACKING, LIMITS, NO_WORK = "switching_share", "packing_loss", "limits_loss", "no_work_share"
"""Causes of time that no job gets; with the utilization they add up to 1."""

CLASS_JOBS, CLASS_RUNTIME, CLASS_WORK = "class_jobs", "class_runtime", "class_work"
CLASS_SLOWDOWN, CLASS_PREEMPTED = "class_slowdown", "class_preempted"
CLASS_ENDED, CLASS_DELIVERED = "class_ended", "class_delivered"
PARTITION_WORK = "partition_work"

PE = 256
"""Processors of the Cray T3D."""


def by(name: str, of: str) -> str:
    """Return the name of a metric of interactive jobs by hour or by length.

    Examples
    --------
    >>> by("slowdown", HOUR)
    'interactive_slowdown_by_hour'
    """
    return f"interactive_{name}_by_{of}"


def schedulers(study: Study) -> list[str]:
    """Return the schedulers of the grid, the site's first and in its order."""
    return study.ordered("policy", SCHEDULERS)


def workloads(study: Study) -> list[str]:
    """Return the workloads of the grid; one without a name where it is not an axis."""
    return study.values_of(WORKLOAD) or [""]


def long_one(study: Study) -> str:
    """Return the workload of many weeks: the 15 months, else the first of the grid that may have as many.

    If the grid has only the short ones, the 15 months are returned nevertheless: sentences on them are then
    not in the grid, and a day of the three weeks is never taken for a week of the 15 months.
    """
    names = workloads(study)
    others = [name for name in names if name not in (THREE_WEEKS, BENCHMARK_WEEK)]
    return FIFTEEN_MONTHS if FIFTEEN_MONTHS in names or not others else others[0]


def reported(study: Study) -> str:
    """Return the workload whose numbers of jobs the paper gives: the three weeks, else many weeks."""
    return THREE_WEEKS if THREE_WEEKS in workloads(study) else long_one(study)


def periods(study: Study) -> tuple[str, ...]:
    """Return the workloads of the site's own users that the grid has: the three weeks, and many weeks."""
    names = tuple(dict.fromkeys((reported(study), long_one(study))))
    return tuple(name for name in names if name in workloads(study)) or names


def workload_title(workload: str) -> str:
    """Return a workload's name in text."""
    names = {FIFTEEN_MONTHS: "15 months", THREE_WEEKS: "three weeks", BENCHMARK_WEEK: "benchmark"}
    return names.get(workload, workload.replace("_", " "))


def benchmark(study: Study) -> str:
    """Return the workload on which throughput is compared: the benchmark, else the three weeks."""
    return BENCHMARK_WEEK if BENCHMARK_WEEK in workloads(study) else reported(study)

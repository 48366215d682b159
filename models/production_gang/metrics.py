"""The measures of production gang scheduling beyond the common ones."""

from models.family import Metric
from models.jobs.job_classes import JOB_CLASSES

OF_JOBS = {"delay": ("s", "time in the system beyond the runtime")}

HOURS = tuple(range(24))
"""Hours of the day in which a job is submitted."""

LENGTHS = ("under 10 s", "10 s to 1 min", "1 to 10 min", "10 min to 1 h", "1 h and more")
LENGTH_EDGES = (10.0, 60.0, 600.0, 3600.0)
"""Runtimes in seconds at which the second of these begins, the third, and so on."""

SIZES = ("1", "2", "3 to 4", *(f"{2**k + 1} to {2 ** (k + 1)}" for k in range(2, 8)), "more than 256")
"""Processors of a job."""

COORDS = {"site_class": JOB_CLASSES, "hour": HOURS, "length": LENGTHS, "partition": SIZES}

WORKING_HOURS, WORKDAYS = (9, 17), 5
"""Working hours: from which hour, until which hour, and on how many first days of a week."""

USUAL_DEMAND = (64, 256)
"""Processors of interactive jobs, "typically during working hours"."""

BEGUN = {"begun_10s": 10.0, "begun_60s": 60.0}
"""Shares of jobs that begin to run within a number of seconds."""

FEW_PERCENT = 1.05
"""Slowdown below which a job counts as undelayed."""

OF_INTERACTIVE = {
    "begun_10s": "that begin within 10 s",
    "begun_60s": "that begin within 60 s",
    "preempted": "that were preempted",
    "undelayed": "with a slowdown of less than 1.05",
}

_CLASS, _HOUR, _LENGTH = ("site_class",), ("hour",), ("length",)


def _of_day(name: str, unit: str, what: str) -> Metric:
    return Metric(name, unit, f"{what}, in working hours", weight="working_hours")


def _of_interactive(suffix: str, dims: tuple[str, ...], what: str) -> tuple[Metric, ...]:
    """Return the measures of interactive jobs by hour or by length."""
    jobs, runtime = f"interactive_jobs_by_{suffix}", f"interactive_runtime_by_{suffix}"
    return (
        Metric(jobs, "1", f"interactive jobs by {what}", dims),
        Metric(runtime, "s", f"runtimes of interactive jobs by {what}", dims),
        Metric(
            f"interactive_slowdown_by_{suffix}", "1", f"slowdown of all interactive jobs together by {what}",
            dims, runtime,
        ),
        Metric(
            f"interactive_slowdown_max_by_{suffix}", "1", f"maximum slowdown of an interactive job by {what}",
            dims,
        ),
        *(
            Metric(
                f"interactive_{name}_by_{suffix}", "1", f"share of interactive jobs {which}, by {what}",
                dims, jobs,
            )
            for name, which in OF_INTERACTIVE.items()
        ),
    )  # fmt: skip


METRICS = (
    Metric("period", "s", "time over which the machine was measured"),
    Metric("preempted_share", "1", "share of jobs that were preempted", weight="jobs"),
    Metric("preemptions", "1", "preemptions of a job", weight="jobs"),
    Metric("switching_share", "1", "share of all processor time lost to switching", weight="period"),
    Metric(
        "packing_loss", "1", "share of all processor time idle while a job finds no place", weight="period"
    ),
    Metric(
        "limits_loss", "1", "share of all processor time idle or withheld because of limits", weight="period"
    ),
    Metric("no_work_share", "1", "share of all processor time without work", weight="period"),
    Metric("weekdays", "s", "time of weekdays over which the machine was measured"),
    Metric("weekends", "s", "time of weekends over which the machine was measured"),
    Metric(
        "no_work_weekdays", "1", "share of the processor time of weekdays without work", weight="weekdays"
    ),
    Metric(
        "no_work_weekends", "1", "share of the processor time of weekends without work", weight="weekends"
    ),
    Metric("class_jobs", "1", "jobs of the class", _CLASS),
    Metric("class_runtime", "s", "runtimes of the class", _CLASS),
    Metric("class_work", "s", "processor time of the class", _CLASS),
    Metric("class_slowdown", "1", "slowdown of the class as a whole", _CLASS, "class_runtime"),
    Metric("class_preempted", "1", "share of the class's jobs that were preempted", _CLASS, "class_jobs"),
    Metric("class_ended", "1", "jobs of the class that end in the period", _CLASS),
    Metric("class_delivered", "s", "processor time delivered to the class in the period", _CLASS),
    Metric("partition_work", "s", "processor time of jobs by their processors", ("partition",)),
    Metric("working_hours", "s", "time of working hours over which the machine was measured"),
    _of_day("demand_usual", "1", "share of the time in which terminals demand 64 to 256 processors"),
    Metric("demand_peak", "1", "maximum processors that terminals demand"),
    _of_day("day_free", "1", "processors without a job"),
    _of_day("day_jobs", "1", "interactive and debug jobs with processors"),
    _of_day("day_processors", "1", "processors of interactive and debug jobs"),
    _of_day("day_batch", "1", "processors of batch jobs that have begun"),
    _of_day("day_paged_out", "1", "processors of batch jobs on disk"),
    *_of_interactive("hour", _HOUR, "hour of submission"),
    *_of_interactive("length", _LENGTH, "length"),
)

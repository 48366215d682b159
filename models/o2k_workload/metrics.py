"""The measures of a month: Table 4, Figs. 1 and 2 and the fractions of Chiang and Vernon (2001)."""

from models.family import Metric
from models.workloads.o2k.job_classes import CLASSES

MINUTE = 60.0
NEAR = 0.9
"""Share of the requested time from which a job counts as near it."""

LABELS = ("all", *CLASSES)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
RUNTIMES = tuple(float(MINUTE * 10 ** (k / 8)) for k in range(-14, 37))
"""Seconds, from one second to three weeks; they include the minute and its powers of ten."""

OF_CLASSES = {
    "number_of_jobs": ("1", "number of jobs"),
    "processor_demand": ("%", "processor demand"),
    "memory_demand": ("%", "memory demand"),
    "under_a_minute": ("1", "share of jobs that run less than a minute"),
    "short_enough_for_st": ("1", "share of jobs that run no longer than an st job may"),
    "memory_under_tenth": ("1", "share of jobs that use less than a tenth of the requested memory"),
    "near_request": ("1", f"share of jobs that run for over {NEAR:.0%} of the requested time"),
    "mean_runtime": ("s", "mean runtime"),
    "mean_size": ("1", "mean requested processors"),
    "mean_memory": ("GB", "mean requested memory"),
}
OF_MONTH = {
    "over_an_hour_ends_in_a_minute": "share under a minute of the jobs that request over an hour",
    "over_ten_hours_ends_in_a_minute": "share under a minute of the jobs that request over ten hours",
    "under_a_minute_below_1gb": "share that uses less than 1 GB of the jobs under a minute",
    "serial_share": "share of serial jobs",
    "power_of_two_share": "share of jobs whose processors are a power of two",
    "largest_share": "share that requests 64 processors of the lj jobs",
    "serial_over_512mb": "share that requests over 512 MB of the serial jobs",
    "runtime_size_correlation": "rank correlation of runtime and processors",
    "runtime_used_memory_correlation": "rank correlation of runtime and used memory per processor",
    "memory_size_correlation": "rank correlation of processors and requested memory for each, weekday peaks",
    "memory_is_full": "share beyond the memory of all hosts as one, if all jobs begin at once",
    "must_wait_for_memory": "the same, if jobs that do not fit wait for memory",
    "fewest_waiting_for_memory": "share that must wait for memory under any policy, a lower bound",
    "serial_memory_ratio": "median used memory per processor, serial over parallel jobs, weekday peaks",
}

METRICS = (
    *(Metric(name, unit, long_name, ("job_class",)) for name, (unit, long_name) in OF_CLASSES.items()),
    Metric(
        "runtime_cdf",
        "1",
        "share of jobs at weekday peaks that run no longer",
        ("job_class", "actual_runtime"),
    ),
    Metric("arrivals", "1", "jobs submitted in an hour", ("weekday", "hour")),
    *(Metric(name, "1", long_name) for name, long_name in OF_MONTH.items()),
)

COORDS = {
    "job_class": LABELS,
    "actual_runtime": RUNTIMES,
    "weekday": WEEKDAYS,
    "hour": tuple(range(24)),
}

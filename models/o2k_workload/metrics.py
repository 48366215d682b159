"""What a month of jobs is like: Table 4, Figs. 1 and 2 and the fractions of Chiang and Vernon (2001)."""

from __future__ import annotations

import numpy as np
from scipy.stats import spearmanr

from models.arrays import Floats, Ints
from models.family import Metric
from models.jobs.jobs import Jobs
from models.jobs.machine import KB_IN_GB
from models.workloads.o2k.arrivals import DAYS_OF_WEEK, HOURS_OF_DAY, at_weekday_peak, calendar
from models.workloads.o2k.assumptions import HOUR, Assumptions
from models.workloads.o2k.job_classes import CLASSES, SIZE_CLASSES, TIME_CLASSES, classify
from models.workloads.o2k.table4 import MEMORY_GB, PROCESSORS

MINUTE = 60.0
SERIAL_BREAK_KB = KB_IN_GB // 2

LABELS = ("all", *CLASSES)
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
RUNTIMES = tuple(float(MINUTE * 10 ** (k / 8)) for k in range(-14, 37))
"""Seconds, from one to three weeks; the minute and its powers of ten are among them."""

OF_CLASSES = {
    "number_of_jobs": ("1", "number of jobs"),
    "processor_demand": ("%", "processor demand"),
    "memory_demand": ("%", "memory demand"),
    "under_a_minute": ("1", "share of jobs that run less than a minute"),
    "short_enough_for_st": ("1", "share of jobs that run no longer than an st job may"),
    "memory_under_tenth": ("1", "share of jobs that use less than a tenth of the requested memory"),
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
    "hour": tuple(range(HOURS_OF_DAY)),
}


def measure(jobs: Jobs, assumed: Assumptions) -> dict[str, Floats]:
    """Return every metric of the family.

    Parameters
    ----------
    jobs : Jobs
        Those submitted in the month.
    assumed : Assumptions

    Returns
    -------
    dict of str to ndarray
        Of the shapes that `METRICS` declares. NaN for shares of no jobs.
    """
    job_class = classify(jobs.requested, jobs.size, jobs.memory)
    peak = at_weekday_peak(assumed, jobs.submit)
    brief = jobs.runtime < MINUTE
    hours = jobs.runtime / HOUR
    capacity = assumed.month.hours / 100
    of_classes: dict[str, Floats] = {
        "number_of_jobs": _sums(job_class, np.ones(len(jobs))),
        "processor_demand": _sums(job_class, jobs.size * hours) / (PROCESSORS * capacity),
        "memory_demand": _sums(job_class, jobs.memory / KB_IN_GB * hours) / (MEMORY_GB * capacity),
        "under_a_minute": _shares(job_class, brief),
        "short_enough_for_st": _shares(job_class, jobs.runtime <= TIME_CLASSES["st"]),
        "memory_under_tenth": _shares(job_class, jobs.used < jobs.memory / 10),
        "runtime_cdf": np.stack(
            [_shares(job_class[peak], jobs.runtime[peak] <= limit) for limit in RUNTIMES], axis=1
        ),
    }
    serial, used_each = jobs.size == 1, jobs.used / jobs.size
    large = job_class >= CLASSES.index("vst_lj")
    of_month = {
        "over_an_hour_ends_in_a_minute": _share(brief, jobs.requested > HOUR),
        "over_ten_hours_ends_in_a_minute": _share(brief, jobs.requested > 10 * HOUR),
        "under_a_minute_below_1gb": _share(jobs.used < KB_IN_GB, brief),
        "serial_share": serial.mean(),
        "power_of_two_share": (jobs.size & (jobs.size - 1) == 0).mean(),
        "largest_share": _share(jobs.size == SIZE_CLASSES["lj"][0], large),
        "serial_over_512mb": _share(jobs.memory > SERIAL_BREAK_KB, serial),
        "runtime_size_correlation": _correlation(jobs.runtime, jobs.size),
        "runtime_used_memory_correlation": _correlation(jobs.runtime, used_each),
        "memory_size_correlation": _correlation((jobs.memory / jobs.size)[peak], jobs.size[peak]),
        "serial_memory_ratio": _median(used_each[peak & serial]) / _median(used_each[peak & ~serial]),
    }
    scalars: dict[str, Floats] = {name: np.array(value) for name, value in of_month.items()}
    return of_classes | {"arrivals": arrivals(jobs.submit, assumed)} | scalars


def arrivals(submit: Floats, assumed: Assumptions) -> Floats:
    """Return the mean number of jobs submitted in each hour of each weekday, shape (weekday, hour)."""
    weekday, hour = calendar(assumed, submit)
    counts = np.bincount(weekday * HOURS_OF_DAY + hour, minlength=DAYS_OF_WEEK * HOURS_OF_DAY)
    days = np.arange(assumed.warmup_days, assumed.warmup_days + assumed.month.days) * (24 * HOUR)
    n_days = np.bincount(calendar(assumed, days.astype(np.float64))[0], minlength=DAYS_OF_WEEK)
    return np.asarray(counts.reshape(DAYS_OF_WEEK, HOURS_OF_DAY) / n_days[:, None])


def _sums(job_class: Ints, of_jobs: Floats) -> Floats:
    """Return the sum over all jobs, then over those of each class."""
    return np.append(of_jobs.sum(), np.bincount(job_class, of_jobs, minlength=len(CLASSES)))


def _shares(job_class: Ints, chosen: np.ndarray) -> Floats:
    with np.errstate(invalid="ignore"):  # a class without a job
        return _sums(job_class, chosen.astype(np.float64)) / _sums(job_class, np.ones(len(chosen)))


def _share(chosen: np.ndarray, among: np.ndarray) -> float:
    return float(chosen[among].mean()) if among.any() else np.nan


def _median(values: Floats) -> float:
    return float(np.median(values)) if values.size else np.nan


def _correlation(first: Floats, second: Floats | Ints) -> float:
    if min(np.unique(first).size, np.unique(second).size) < 2:
        return np.nan
    return float(spearmanr(first, second).statistic)

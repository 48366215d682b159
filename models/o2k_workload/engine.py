"""The measures of a month of jobs: nothing is scheduled here."""

import numpy as np
from scipy.stats import spearmanr

from models.arrays import Floats, Ints
from models.jobs.machine import KB_IN_GB
from models.jobs.trace import Trace
from models.o2k_workload.memory_room import fewest_waiting, is_full, must_wait
from models.o2k_workload.metrics import MINUTE, NEAR, RUNTIMES
from models.workloads.o2k.arrivals import DAYS_OF_WEEK, HOURS_OF_DAY, at_weekday_peak, calendar
from models.workloads.o2k.assumptions import HOUR, Assumptions
from models.workloads.o2k.job_classes import CLASSES, SIZE_CLASSES, TIME_CLASSES, classify
from models.workloads.o2k.table4 import MEMORY_GB, PROCESSORS

SERIAL_BREAK_KB = KB_IN_GB // 2


def measure(trace: Trace, assumed: Assumptions) -> dict[str, Floats]:
    """Return every metric of the family.

    Parameters
    ----------
    trace : Trace
        The month; the jobs submitted in it count.

    Returns
    -------
    dict of str to ndarray
        Values in the shapes that `metrics.METRICS` declares; NaN for shares without jobs.
    """
    jobs = trace.jobs.part(trace.measured)
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
        "near_request": _shares(job_class, jobs.runtime > NEAR * jobs.requested),
        "mean_runtime": _means(job_class, jobs.runtime),
        "mean_size": _means(job_class, jobs.size),
        "mean_memory": _means(job_class, jobs.memory / KB_IN_GB),
        "runtime_cdf": np.stack(
            [_shares(job_class[peak], jobs.runtime[peak] <= limit) for limit in RUNTIMES], axis=1
        ),
    }
    serial, used_each = jobs.size == 1, jobs.used / jobs.size
    large = job_class >= CLASSES.index("vst_lj")
    capacity_kb = MEMORY_GB * KB_IN_GB
    of_month = {
        "memory_is_full": is_full(trace.jobs, capacity_kb)[trace.measured].mean(),
        "must_wait_for_memory": must_wait(trace.jobs, capacity_kb)[trace.measured].mean(),
        "fewest_waiting_for_memory": fewest_waiting(jobs, capacity_kb) / len(jobs),
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


def _sums(job_class: Ints, of_jobs: Floats | Ints) -> Floats:
    """Return the sum over all jobs, then the sum of each class."""
    return np.append(of_jobs.sum(), np.bincount(job_class, of_jobs, minlength=len(CLASSES)))


def _shares(job_class: Ints, chosen: np.ndarray) -> Floats:
    return _means(job_class, chosen.astype(np.float64))


def _means(job_class: Ints, of_jobs: Floats | Ints) -> Floats:
    with np.errstate(invalid="ignore"):  # a class without a job
        return _sums(job_class, of_jobs) / _sums(job_class, np.ones(len(of_jobs)))


def _share(chosen: np.ndarray, among: np.ndarray) -> float:
    return float(chosen[among].mean()) if among.any() else np.nan


def _median(values: Floats) -> float:
    return float(np.median(values)) if values.size else np.nan


def _correlation(first: Floats, second: Floats | Ints) -> float:
    if min(np.unique(first).size, np.unique(second).size) < 2:
        return np.nan
    return float(spearmanr(first, second).statistic)

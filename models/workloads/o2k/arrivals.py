"""Submission times (Fig. 1): three periods of a day, each with a rate, and quieter weekends."""

import numpy as np

from models.arrays import Floats, Ints
from models.workloads.o2k.assumptions import HOUR, Assumptions

HOURS_OF_DAY, DAYS_OF_WEEK, SATURDAY = 24, 7, 5


def levels(assumed: Assumptions) -> Ints:
    """Return each hour's index in `assumptions.LEVELS`; if two periods overlap, the busier one's."""
    hour = np.arange(HOURS_OF_DAY)
    level = np.full(HOURS_OF_DAY, 2)
    for place, (first, last) in ((1, assumed.intermediate_hours), (0, assumed.peak_hours)):
        level[(hour >= first) & (hour < last)] = place
    return level


def calendar(assumed: Assumptions, submit: Floats) -> tuple[Ints, Ints]:
    """Return the weekday, 0 is Monday, and the hour of the day of moments after the start of the warm-up."""
    hour = (np.asarray(submit) // HOUR).astype(np.int64)
    first = assumed.month.first_weekday - assumed.warmup_days
    return (first + hour // HOURS_OF_DAY) % DAYS_OF_WEEK, hour % HOURS_OF_DAY


def at_weekday_peak(assumed: Assumptions, submit: Floats) -> np.ndarray:
    """Return which moments after the start of the warm-up are in the peak period of a weekday."""
    weekday, hour = calendar(assumed, submit)
    return np.asarray((weekday < SATURDAY) & (levels(assumed)[hour] == 0))


def together(mean: float, n_jobs: list[int], random: np.random.Generator) -> Ints:
    """Return for each job the first job of its group, jobs of one class that are submitted together.

    The number of jobs in a group is geometric; `n_jobs` is the number of jobs of each class.

    Returns
    -------
    ndarray of int, shape (sum of n_jobs,)
    """
    begins = random.random(sum(n_jobs)) * mean < 1
    first_of_class = np.cumsum([0, *n_jobs])[:-1]
    begins[first_of_class[np.array(n_jobs) > 0]] = True
    return np.maximum.accumulate(np.where(begins, np.arange(len(begins)), 0))


def times(assumed: Assumptions, first_day: int, last_day: int, n: int, random: np.random.Generator) -> Floats:
    """Return `n` moments of submission from one day of the warm-up or the month until another, in no order.

    Given how many there are, the moments of a Poisson process are independent, and its rate is their density.

    Returns
    -------
    ndarray of float, shape (n,), seconds
        After the start of the warm-up.
    """
    hours = np.arange(first_day * HOURS_OF_DAY, last_day * HOURS_OF_DAY)
    weekday, hour = calendar(assumed, np.asarray(hours * HOUR, np.float64))
    rate = np.array(list(assumed.rates.values()))[levels(assumed)[hour]]
    rate = np.where(weekday < SATURDAY, rate, rate * assumed.weekend)
    sum_until = np.concatenate([[0.0], np.cumsum(rate)])
    edges = np.append(hours, last_day * HOURS_OF_DAY) * float(HOUR)
    moments = np.interp(random.random(n) * sum_until[-1], sum_until, edges)
    return np.minimum(moments, np.nextafter(edges[-1], 0))  # a rounded number may be the end itself

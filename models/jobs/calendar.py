"""Weeks and days of a workload that ends: the periods in which jobs are submitted."""

import math

import numpy as np

from models.arrays import Floats

DAY = 86_400.0
WEEK = 7 * DAY
YEAR = 365.25 * DAY
"""Seconds."""

LAST_DATE = 7_258_118_400
"""The year 2200 as a Unix time: a later number in a log is not a date."""

MOST_YEARS = 10
"""Longest time between two jobs of a log: a longer one is an unset date, or another unit of time."""

LEAST = 10
"""Full weeks below which periods are days, and days below which there are no periods: the least number for an
interval (`sweep.statistics.correlation.MIN_BATCHES`)."""


def has_periods(submit: Floats) -> bool:
    """Return whether a workload lasts for `LEAST` days."""
    return bool(submit.size) and float(submit[-1] - submit[0]) >= LEAST * DAY


def periods(submit: Floats, most: int) -> Floats:
    """Return the borders of the periods that a workload is divided into, shape (n_periods + 1,), seconds.

    A period is a week from the first submission on; a day, if there are fewer than `LEAST` full weeks;
    or enough of them together for at most `most` periods. The last one may be cut short.

    Parameters
    ----------
    submit : ndarray of float, shape (n_jobs,), seconds
        Ascending; at least one.

    Examples
    --------
    >>> (periods(np.array([0.0, 20.5 * WEEK]), 100) / WEEK)[[0, 1, -1]].tolist()
    [0.0, 1.0, 21.0]
    >>> (periods(np.array([0.0, 20.5 * WEEK]), 12) / WEEK)[[0, 1, -1]].tolist()
    [0.0, 2.0, 22.0]
    >>> (periods(np.array([0.0, 30.5 * DAY]), 100) / DAY)[[0, 1, -1]].tolist()
    [0.0, 1.0, 31.0]
    """
    span = float(submit[-1] - submit[0])
    unit = WEEK if span >= LEAST * WEEK else DAY
    n_units = int(span // unit) + 1
    together = math.ceil(n_units / most)
    return submit[0] + unit * together * np.arange(math.ceil(n_units / together) + 1)


def monday(zero: float) -> float:
    """Return the seconds since Monday, 0:00, of a Unix time (UTC).

    Examples
    --------
    >>> monday(4 * DAY)  # 5 January 1970 was a Monday
    0.0
    """
    return (zero - 4 * DAY) % (7 * DAY)

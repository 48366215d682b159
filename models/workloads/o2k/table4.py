"""The six months of the NCSA Origin 2000 as Table 4 of Chiang and Vernon (2001) prints them."""

from calendar import monthrange
from dataclasses import dataclass

import numpy as np

from models.arrays import Floats

PROCESSORS = 960
MEMORY_GB = 336
"""Capacities of the eight hosts together (Table 2): a demand is a percentage of their capacity in a month."""


@dataclass(frozen=True)
class Month:
    """A month of Table 4.

    Parameters
    ----------
    name : str
        Year and month.
    overall_jobs, overall_processor_demand, overall_memory_demand : int
        The column "Overall".
    jobs : tuple of int
        Number of jobs, class by class in the order of `models.workloads.o2k.job_classes.CLASSES`.
    processor_demand, memory_demand : tuple of int
        Percent of the month's capacity, in the same order.
    """

    name: str
    overall_jobs: int
    overall_processor_demand: int
    overall_memory_demand: int
    jobs: tuple[int, ...]
    processor_demand: tuple[int, ...]
    memory_demand: tuple[int, ...]

    @property
    def first_weekday(self) -> int:
        """Weekday of the first day, 0 is Monday."""
        return self._calendar[0]

    @property
    def days(self) -> int:
        """Length in days."""
        return self._calendar[1]

    @property
    def _calendar(self) -> tuple[int, int]:
        year, month = self.name.split("-")
        return monthrange(int(year), int(month))

    @property
    def hours(self) -> int:
        """Length in hours; the hour by which the clocks were set back in October 1999 is left out."""
        return 24 * self.days


MONTHS = (
    Month(
        "1999-10", 9974, 75, 55,
        (3234, 2188, 2224, 116, 707, 748, 145, 27, 218, 243, 73, 51),
        (1, 9, 13, 3, 1, 8, 8, 1, 1, 13, 11, 4),
        (1, 4, 8, 2, 1, 4, 7, 5, 0, 4, 11, 8),
    ),
    Month(
        "1999-11", 7348, 80, 53,
        (2155, 2216, 502, 139, 629, 711, 208, 40, 304, 333, 90, 21),
        (1, 9, 7, 2, 1, 14, 10, 3, 2, 14, 14, 3),
        (1, 6, 6, 2, 1, 5, 10, 5, 0, 7, 7, 5),
    ),
    Month(
        "1999-12", 5863, 89, 72,
        (1605, 2075, 552, 114, 190, 571, 189, 28, 101, 275, 134, 29),
        (1, 8, 9, 4, 0, 12, 17, 4, 0, 10, 15, 9),
        (0, 5, 7, 3, 0, 5, 11, 4, 0, 10, 14, 11),
    ),
    Month(
        "2000-01", 7046, 83, 74,
        (2033, 2601, 550, 71, 493, 585, 161, 61, 130, 250, 89, 22),
        (1, 9, 11, 3, 1, 9, 13, 6, 1, 8, 11, 10),
        (0, 6, 7, 3, 1, 5, 10, 6, 0, 11, 10, 16),
    ),
    Month(
        "2000-02", 8122, 88, 74,
        (3252, 2252, 465, 70, 549, 697, 212, 32, 173, 312, 88, 20),
        (1, 9, 11, 3, 1, 10, 13, 3, 1, 18, 12, 5),
        (1, 7, 7, 3, 1, 5, 10, 5, 0, 10, 12, 15),
    ),
    Month(
        "2000-03", 7034, 85, 78,
        (1668, 2666, 469, 57, 450, 624, 213, 70, 173, 497, 122, 25),
        (1, 11, 9, 3, 1, 11, 15, 4, 1, 14, 13, 3),
        (0, 7, 6, 3, 1, 6, 9, 8, 0, 15, 19, 4),
    ),
)  # fmt: skip

TABLE_4 = {month.name: month for month in MONTHS}

ROUNDING = 0.45
"""Maximum rounding error of a printed whole percentage, a little less than one half."""

PRINTED_ZERO = 0.4
"""Percent in place of a printed 0, which is less than 0.5 and more than 0: the class has jobs."""


def unrounded(printed: tuple[int, ...], overall: int) -> Floats:
    """Return the demands of the classes, percent, that print as Table 4's and sum to its column "Overall".

    Returns
    -------
    ndarray of float, shape (n_classes,), percent
        If the printed numbers do not sum to the printed overall one, all except the zeros are shifted by the
        same amount, within the rounding error.

    Examples
    --------
    >>> unrounded((10, 10, 0), 20).tolist()
    [10.0, 10.0, 0.4]
    >>> unrounded((10, 10, 0), 21).round(2).tolist()
    [10.08, 10.08, 0.4]
    """
    demands = np.array(printed, np.float64)
    zero = demands == 0
    demands[zero] = PRINTED_ZERO
    total = demands.sum()
    missing = np.clip(total, overall - ROUNDING, overall + ROUNDING) - total
    demands[~zero] += np.clip(missing / max((~zero).sum(), 1), -ROUNDING, ROUNDING)
    return demands

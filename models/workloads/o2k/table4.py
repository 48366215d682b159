"""The six months of the NCSA Origin 2000 as Table 4 of Chiang and Vernon (2001) prints them."""

from __future__ import annotations

from dataclasses import dataclass

PROCESSORS = 960
MEMORY_GB = 336
"""Of the eight hosts together (Table 2): a demand is a percentage of what they offer in a month."""


@dataclass(frozen=True)
class Month:
    """A month of Table 4.

    Parameters
    ----------
    name : str
        Year and month.
    days : int
    first_weekday : int
        Of its first day, 0 is Monday.
    overall_jobs, overall_processor_demand, overall_memory_demand : int
        The column "Overall".
    jobs : tuple of int
        Number of jobs, class by class in the order of `models.workloads.o2k.job_classes.CLASSES`.
    processor_demand, memory_demand : tuple of int
        Percent of the month's capacity, in the same order.
    """

    name: str
    days: int
    first_weekday: int
    overall_jobs: int
    overall_processor_demand: int
    overall_memory_demand: int
    jobs: tuple[int, ...]
    processor_demand: tuple[int, ...]
    memory_demand: tuple[int, ...]

    @property
    def hours(self) -> int:
        """Length; the hour that the clocks were set back in October 1999 is left out."""
        return 24 * self.days


MONTHS = (
    Month(
        "1999-10", 31, 4, 9974, 75, 55,
        (3234, 2188, 2224, 116, 707, 748, 145, 27, 218, 243, 73, 51),
        (1, 9, 13, 3, 1, 8, 8, 1, 1, 13, 11, 4),
        (1, 4, 8, 2, 1, 4, 7, 5, 0, 4, 11, 8),
    ),
    Month(
        "1999-11", 30, 0, 7348, 80, 53,
        (2155, 2216, 502, 139, 629, 711, 208, 40, 304, 333, 90, 21),
        (1, 9, 7, 2, 1, 14, 10, 3, 2, 14, 14, 3),
        (1, 6, 6, 2, 1, 5, 10, 5, 0, 7, 7, 5),
    ),
    Month(
        "1999-12", 31, 2, 5863, 89, 72,
        (1605, 2075, 552, 114, 190, 571, 189, 28, 101, 275, 134, 29),
        (1, 8, 9, 4, 0, 12, 17, 4, 0, 10, 15, 9),
        (0, 5, 7, 3, 0, 5, 11, 4, 0, 10, 14, 11),
    ),
    Month(
        "2000-01", 31, 5, 7046, 83, 74,
        (2033, 2601, 550, 71, 493, 585, 161, 61, 130, 250, 89, 22),
        (1, 9, 11, 3, 1, 9, 13, 6, 1, 8, 11, 10),
        (0, 6, 7, 3, 1, 5, 10, 6, 0, 11, 10, 16),
    ),
    Month(
        "2000-02", 29, 1, 8122, 88, 74,
        (3252, 2252, 465, 70, 549, 697, 212, 32, 173, 312, 88, 20),
        (1, 9, 11, 3, 1, 10, 13, 3, 1, 18, 12, 5),
        (1, 7, 7, 3, 1, 5, 10, 5, 0, 10, 12, 15),
    ),
    Month(
        "2000-03", 31, 2, 7034, 85, 78,
        (1668, 2666, 469, 57, 450, 624, 213, 70, 173, 497, 122, 25),
        (1, 11, 9, 3, 1, 11, 15, 4, 1, 14, 13, 3),
        (0, 7, 6, 3, 1, 6, 9, 8, 0, 15, 19, 4),
    ),
)  # fmt: skip

TABLE_4 = {month.name: month for month in MONTHS}

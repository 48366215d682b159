"""How the months, ranges and classes of Chiang and Vernon (2001) are called and look in every figure."""

from __future__ import annotations

from analysis.study import Study

MONTHS = {
    "o2k_1999_10": "Oct 1999",
    "o2k_1999_11": "Nov 1999",
    "o2k_1999_12": "Dec 1999",
    "o2k_2000_01": "Jan 2000",
    "o2k_2000_02": "Feb 2000",
    "o2k_2000_03": "Mar 2000",
}
OCTOBER, NOVEMBER, DECEMBER, JANUARY, FEBRUARY, MARCH = MONTHS
HIGH_LOAD = (DECEMBER, FEBRUARY)
"""As Table 4 says."""

SHORTEST, *LONGER = (
    "under 1 min", "1 to 10 min", "10 to 100 min", "100 to 1,000 min", "1,000 to 10,000 min",
    "10,000 min and more",
)  # fmt: skip
"""Ranges of the actual runtime: jobs that end within the quantum of immediate service, and the others."""

LONGEST = LONGER[-1]
RANGES = (SHORTEST, *LONGER)
SHORT_RANGES = ("< 1", "1–10", "10–10²", "10²–10³", "10³–10⁴", "> 10⁴")
"""The same in minutes, for axes."""

TIMES, SIZES = ("vst", "st", "mt", "lt"), ("sj", "mj", "lj")

SIZE_LOOKS = {"sj": "#88ccee", "mj": "#0072b2", "lj": "#332288"}

HOUR = 3600.0


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
    there = study.values_of("workload") or [str(study.parameters("workload")["name"])]
    return [name for name in MONTHS if name in there] + [name for name in there if name not in MONTHS]

"""NCSA-LSF*: long waits for every kind of job, and another performance every month (sections 2.1 and 4.1)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from analysis.chiang2001.claims.margins import AFFECTED, HELD, HOURS_OR_TENS, HUNDREDS, LONG_WAIT_HOURS
from analysis.chiang2001.claims.tester import Tester
from analysis.chiang2001.labels import (
    AVERAGE,
    HELD_IDLE,
    HOUR,
    JANUARY,
    MARCH,
    MAXIMUM,
    MEASURES,
    NOVEMBER,
    P95,
    RANGES,
    SHORTEST,
    SIZES,
    TIMES,
    month,
)
from analysis.claims import Claim, Open, Part
from analysis.claims.comparisons import difference_of, level_of, ratio_of
from analysis.figures.policies import label
from analysis.study.curve import DONE
from analysis.study.sample import Sample, together

LSF = "ncsa_lsf"
OTHERS = ("priority_backfill", "easy", "lxf_w_backfill", "sjf_backfill")
VARIES = "Other policies that are evaluated below have more similar performance from month to month."


def claims(test: Tester) -> Iterator[Claim]:
    """Yield the sentences on NCSA-LSF*."""
    yield from _reservations(test)
    yield from _waits(test)
    yield from _short_jobs(test)
    yield from _months(test)


def _reservations(test: Tester) -> Iterator[Claim]:
    yield test.claim(
        "2.1-reservations-idle",
        "2.1: “The idle time due to holding host resources for special reservations is measured to be under "
        "4% for the workloads studied in this paper.”",
        f"Under NCSA-LSF*, less than {HELD:.0%} of all processor time is kept idle for special reservations, "
        "in each month.",
        [test.share(HELD_IDLE, LSF, one, high=HELD) for one in test.months],
    )


def _waits(test: Tester) -> Iterator[Claim]:
    low, high = HOURS_OR_TENS
    classes = [f"{time}_{size}" for size in SIZES for time in TIMES]
    parts = [
        test.hours(AVERAGE, LSF, one, low, high, job_class=job_class)
        for one in test.months
        for job_class in classes
    ]
    yield test.claim(
        "4.1-average-waits",
        "4.1: “Average wait for most classes is measured in hours or tens of hours”",
        f"Under NCSA-LSF*, the average wait is {low:g} to {high:g} hours for more than half of all classes "
        "and months.",
        parts,
        needed=len(parts) // 2 + 1,
    )
    low, high = HUNDREDS
    yield test.claim(
        "4.1-maximum-waits",
        "4.1: “while maximum wait (not shown) is measured in hundreds of hours.”",
        f"Under NCSA-LSF*, the maximum wait is {low:g} to {high:g} hours in each month.",
        [test.hours(MAXIMUM, LSF, one, low, high) for one in test.months],
    )


def _short_jobs(test: Tester) -> Iterator[Claim]:
    yield test.claim(
        "4.1-short-jobs-wait-as-long",
        "4.1: “The average and maximum wait measures apply to the jobs that have short actual runtime, which "
        "occur in every queue.”",
        f"Under NCSA-LSF*, the average wait of jobs that end within a minute is at least {AFFECTED:g} times "
        "that of all jobs, in each month.",
        [
            ratio_of(
                f"{label(LSF)}, average wait of jobs {SHORTEST} / of all, {month(one)}",
                test.sample(AVERAGE, LSF, one, runtime=SHORTEST),
                test.sample(AVERAGE, LSF, one),
                AFFECTED,
            )
            for one in test.months
        ],
    )
    yield test.claim(
        "4.1-largest-waits-scattered",
        "4.1: “Note that the largest waits are scattered over the range of runtime”",
        "Under NCSA-LSF* in January 2000, each range of the actual runtime has a job among the 5 % with the "
        "largest waits: its maximum wait is above the 95th percentile of all waits.",
        [
            ratio_of(
                f"{label(LSF)}, maximum wait of jobs {name} / 95th percentile of all, {month(JANUARY)}",
                test.sample(MAXIMUM, LSF, JANUARY, runtime=name),
                test.sample(P95, LSF, JANUARY),
                1.0,
            )
            for name in RANGES
        ],
    )
    yield test.claim(
        "4.1-short-jobs-over-50-hours",
        "4.1: “for example, two jobs with actual runtime less than 1 minute have waiting time over 50 "
        "hours.”",
        f"Under NCSA-LSF* in January 2000, some job of less than a minute waits over {LONG_WAIT_HOURS:g} "
        "hours.",
        [test.hours(MAXIMUM, LSF, JANUARY, LONG_WAIT_HOURS, runtime=SHORTEST)],
    )


def _months(test: Tester) -> Iterator[Claim]:
    for kind, statement, relative in (
        ("", "in hours", False),
        ("-relative", "relative to its mean over the months", True),
    ):
        yield test.claim(
            f"4.1-month-to-month{kind}",
            f"4.1: “there are differences in NCSA-LSF* performance from month to month” and “{VARIES}”",
            "The standard deviation over the months of the average and of the 95th percentile of the wait, "
            f"{statement}, is larger under NCSA-LSF* than under each other policy.",
            [_spread(test, metric, other, relative) for metric in (AVERAGE, P95) for other in OTHERS],
            note="The months differ by Table 4 alone and by chance: what else distinguished the real ones is "
            "not published.",
        )
    yield test.claim(
        "4.1-lt-jobs-in-march",
        "4.1: “increasing the resources available to lt jobs might be appropriate for March 2000, but would "
        "be inappropriate for November 1999.”",
        "Under NCSA-LSF*, the average wait of lt jobs (over the three sizes) relative to that of all jobs is "
        "longer in March 2000 than in November 1999.",
        [_long_jobs(test)],
    )


def _spread(test: Tester, metric: str, other: str, relative: bool) -> Part:
    """Ask that NCSA-LSF* varies more over the months than another policy, replication by replication."""
    name = f"{label(LSF)} − {label(other)}, standard deviation over months of the {MEASURES[metric]}"
    tables = []
    for policy in (LSF, other):
        samples = [test.sample(metric, policy, one) for one in test.months]
        if reason := next((one.reason for one in samples if one.reason), ""):
            return Open(name, reason)
        if len(samples) < 2:
            return Open(name, "one month only")
        table = np.array([one.values for one in samples])
        spread = table.std(axis=0, ddof=1)
        tables.append(spread / table.mean(axis=0) if relative else spread)
    scale, unit = (100.0, " %") if relative else (1 / HOUR, " h")
    return difference_of(name, tables[0], tables[1], 0.0, scale=scale, unit=unit)


def _long_jobs(test: Tester) -> Part:
    name = f"{label(LSF)}, average wait of lt jobs / of all jobs, March 2000 − November 1999"
    relative = []
    for one in (MARCH, NOVEMBER):
        lt = together([test.sample(AVERAGE, LSF, one, job_class=f"lt_{size}") for size in SIZES])
        every = test.sample(AVERAGE, LSF, one)
        if reason := lt.reason or every.reason:
            return Open(name, reason)
        relative.append(lt.values / every.values)
    return level_of(name, Sample(relative[0] - relative[1], DONE), 0.0)

"""Utilization: before gang scheduling, with it, and month by month (section on the Cray T3D, Fig. 1)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from analysis.claims import Claim, Open, Part
from analysis.claims.comparisons import difference_of
from analysis.figures.policies import label
from analysis.jette1997 import derived
from analysis.jette1997.claims.margins import HIGHEST, POINTS, SUBSTANTIALLY, SUSTAINED, WELL
from analysis.jette1997.claims.tester import Tester
from analysis.jette1997.labels import (
    GANG,
    HISTORY,
    MONTHS,
    NO_WORK_WEEKDAYS,
    NO_WORK_WEEKENDS,
    PE,
    SCHEDULERS,
    UNICOS_MAX,
    UTILIZATION,
)
from analysis.study.sample import Sample

REPORTED = (44.5e6 + 289.5e6, 21 * 86400.0)
"""CPU-seconds of interactive and batch jobs from July 23 to August 12, and the seconds of that time."""


def claims(test: Tester) -> Iterator[Claim]:
    """Yield these sentences."""
    first, last = HISTORY[UNICOS_MAX]
    yield test.claim(
        "t3d-33-percent-before",
        "Cray T3D: “the processor utilization rate of 33 percent was considered unacceptable.”",
        f"Utilization under UNICOS MAX in months {first} to {last}, in which the site is taken to have had "
        f"it, lies within {100 * POINTS:.0f} points of 33 %.",
        [test.share("UNICOS MAX", _months(test, UNICOS_MAX, first, last), 0.33 - POINTS, 0.33 + POINTS)],
        note=_also(test, UNICOS_MAX),
        figures=("fig1",),
    )
    yield test.claim(
        "fig1-order",
        "Fig. 1, monthly utilization: “Three different schedulers were utilized over this period. UNICOS MAX "
        "… DJM … The LLNL developed gang scheduler is also shown.”",
        "Over all months, on the same demand, the gang scheduler's utilization is above DJM's, and that "
        "above UNICOS MAX's. What the figure shows in numbers did not survive; that each was better than the "
        "one before is taken from the text.",
        [
            _higher(test, better, worse)
            for worse, better in pairwise(one for one in SCHEDULERS if one in test.study.policies)
        ],
        figures=("fig1",),
    )
    yield test.claim(
        "t3d-increased-substantially",
        "Cray T3D: “System utilization increased substantially”",
        f"Utilization under the gang scheduler in its months is more than {SUBSTANTIALLY:g} times that under "
        "UNICOS MAX in the same months, on the same demand.",
        [
            test.times(
                f"gang / UNICOS MAX, months {HISTORY[GANG][0]} to {HISTORY[GANG][1]}",
                [_months(test, one, *HISTORY[GANG]) for one in (GANG, UNICOS_MAX)],
                SUBSTANTIALLY,
            )
        ],
        figures=("fig1",),
    )
    best = test.get(derived.best_week, GANG, test.months)
    yield test.claim(
        "t3d-96-percent-a-week",
        "Cray T3D: “weekly CPU utilization rates over 96 percent have been sustained.”",
        f"The best week of the 15 months under the gang scheduler is utilized above {HIGHEST:.0%}, in the "
        "mean over independent runs.",
        [test.share("best week", best, HIGHEST)],
        note=demand(),
        figures=("weeks",),
    )
    yield test.claim(
        "5-95-percent-while-responsive",
        "Conclusions: “It can now sustain processor utilization rates over 95 percent through the course of "
        "a week while providing the aggregate interactive workload with a slowdown of less than 20 percent.”",
        f"There are weeks utilized above {SUSTAINED:.0%} under the gang scheduler, and over all weeks of a "
        f"run that are, the interactive workload as a whole has a slowdown below {1 + WELL:g}.",
        [
            test.share("best week", best, SUSTAINED),
            test.slowdown(
                f"interactive slowdown in weeks above {SUSTAINED:.0%}",
                test.get(derived.in_full_weeks, GANG, test.months, SUSTAINED),
                high=1 + WELL,
            ),
        ],
        note=demand(),
        figures=("weeks", "week-by-week"),
    )
    if {NO_WORK_WEEKENDS, NO_WORK_WEEKDAYS} <= set(test.study.data):
        yield test.claim(
            "t3d-no-work-on-weekends",
            "Cray T3D: “CPU utilization is reduced by … Insufficient work, particularly on weekends”",
            "Under the gang scheduler the share of the processors that nobody waits for is larger on "
            "weekends than on weekdays.",
            [_weekends(test)],
            figures=("lost",),
        )


def demand() -> str:
    """Say what the reported three weeks leave for a week above 95 %."""
    work, seconds = REPORTED
    mean = work / (PE * seconds)
    rest = (3 * mean - SUSTAINED) / 2
    return (
        f"The jobs of July 23 to August 12 are {work / 1e6:.1f} M CPU-seconds, {mean:.1%} of {PE} processors "
        f"in three weeks: if one of these weeks had {SUSTAINED:.0%}, the two others had {rest:.0%} in the "
        f"mean. So weeks above {SUSTAINED:.0%} are weeks of more demand than those whose slowdowns the paper "
        "reports."
    )


def _months(test: Tester, policy: str, first: int, last: int) -> Sample:
    return test.get(derived.of_months, UTILIZATION, policy, test.months, first, last)


def _also(test: Tester, policy: str) -> str:
    part = test.share(f"{label(policy)}, all {MONTHS} months", _months(test, policy, 1, MONTHS))
    return part.describe(test.study.confidence).partition(" (asked")[0]


def _higher(test: Tester, better: str, worse: str) -> Part:
    name = f"utilization, {label(better)} minus {label(worse)}, all months"
    a, b = (_months(test, one, 1, MONTHS) for one in (better, worse))
    if reason := a.reason or b.reason:
        return Open(name, reason)
    return difference_of(name, a.values, b.values, 0.0, scale=100.0, unit=" points")


def _weekends(test: Tester) -> Part:
    name = "share without work, weekends minus weekdays"
    a, b = (
        test.get(derived.of_months, metric, GANG, test.months, 1, MONTHS)
        for metric in (NO_WORK_WEEKENDS, NO_WORK_WEEKDAYS)
    )
    if reason := a.reason or b.reason:
        return Open(name, reason)
    return difference_of(name, a.values, b.values, 0.0, scale=100.0, unit=" points")

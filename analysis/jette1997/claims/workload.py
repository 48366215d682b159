"""What the text says of the jobs themselves."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from analysis.claims import Claim, Open, Part
from analysis.claims.comparisons import ratio_of
from analysis.jette1997 import derived
from analysis.jette1997.claims.margins import COUNTED, NEGLIGIBLE, POINTS
from analysis.jette1997.claims.tester import Tester
from analysis.jette1997.labels import (
    CLASS_DELIVERED,
    CLASS_JOBS,
    CLASS_WORK,
    GANG,
    HOUR,
    LATE_NIGHT,
    THREE_WEEKS,
    WORKING_HOURS,
    by,
    told,
)
from analysis.study.curve import DONE
from analysis.study.sample import Sample

NUMBERS = {
    "interactive jobs": (CLASS_JOBS, True, 2659.0),
    "batch jobs": (CLASS_JOBS, False, 1328.0),
    "CPU-seconds of interactive jobs": (CLASS_WORK, True, 44.5e6),
    "CPU-seconds of batch jobs": (CLASS_WORK, False, 289.5e6),
}
"""What -> metric, whether of interactive (and debug) jobs, and the number of July 23 to August 12."""


def claims(test: Tester) -> Iterator[Claim]:
    """Yield these sentences."""
    period = told(test.weeks)
    yield test.claim(
        "workload-67-and-13-percent",
        "Workload characterization: “Interactive jobs account for 67 percent of all jobs executed and "
        "consume 13 percent of all CPU resources delivered.”",
        "Both shares, of interactive and debug jobs together under the gang scheduler, lie within "
        f"{100 * POINTS:.0f} points of that.",
        [
            test.share(
                f"interactive share of {what}, {period}",
                test.get(derived.share_of_terminals, metric, GANG, test.weeks),
                share - POINTS,
                share + POINTS,
            )
            for what, metric, share in (
                ("jobs", CLASS_JOBS, 0.67),
                ("processor time delivered", CLASS_DELIVERED, 0.13),
            )
        ],
    )
    if test.weeks == THREE_WEEKS:
        yield test.claim(
            "t3d-jobs-of-three-weeks",
            "Cray T3D: “During the three week period of July 23 through August 12, 2659 interactive jobs "
            "were executed using a total of 44.5 million CPU-seconds and 1328 batch jobs were executed using "
            "a total of 289.5 million CPU-seconds.”",
            f"Each of the four numbers, of the jobs submitted, is met within {COUNTED:.0%}.",
            [_number(test, what) for what in NUMBERS],
        )
    yield test.claim(
        "workload-negligible-late-at-night",
        "Workload characterization: the interactive workload “drops to a negligible level in the late night "
        "hours.”",
        f"From 0:00 to 5:00 fewer than {NEGLIGIBLE:.0%} as many interactive jobs are submitted in an hour as "
        "from 9:00 to 17:00.",
        [_late(test)],
        figures=("by-hour",),
    )


def _number(test: Tester, what: str) -> Part:
    metric, interactive, number = NUMBERS[what]
    whole = test.get(derived.raw, metric, GANG, test.weeks)
    mine = derived.of_terminals(test.study, whole)
    label = f"{what} / {number:,.0f}"
    if reason := whole.reason or mine.reason:
        return Open(label, reason)
    one = (
        mine
        if interactive
        else Sample(derived.total(whole).values - np.nan_to_num(mine.values), whole.status)
    )
    counted = derived.of_runs(one)
    return ratio_of(
        label, counted, Sample(np.full_like(counted.values, number), DONE), 1 - COUNTED, 1 + COUNTED
    )


def _late(test: Tester) -> Part:
    jobs = test.get(derived.raw, by("jobs", HOUR), GANG, test.weeks)
    late, working = (
        derived.of_runs(derived.total(derived.at(test.study, jobs, HOUR, hours)))
        for hours in (LATE_NIGHT, WORKING_HOURS)
    )
    label = f"interactive jobs an hour, late night / working hours, {told(test.weeks)}"
    if reason := late.reason or working.reason:
        return Open(label, reason)
    hours = len(WORKING_HOURS) / len(LATE_NIGHT)
    return ratio_of(label, Sample(late.values * hours, DONE), working, high=NEGLIGIBLE)

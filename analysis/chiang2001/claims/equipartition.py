"""EQspatial against LXF&W-backfill with immediate service (section 4.4)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from analysis.chiang2001.claims.margins import AT_ONCE, COMPETITIVE, EXTREME, NEARLY, SIGNIFICANT
from analysis.chiang2001.claims.tester import Tester
from analysis.chiang2001.labels import (
    AVERAGE,
    FEBRUARY,
    HIGH_LOAD,
    HOUR,
    LONGER,
    LONGEST,
    MARCH,
    MAXIMUM,
    P95,
    SLOWDOWN,
    STARTED_AT_ONCE,
)
from analysis.claims import Claim, Open, Part
from analysis.claims.comparisons import difference_of

LXF, EQ_0M, EQ_5M, EQ_50H = "lxf_w_immediate", "eq_spatial_0m", "eq_spatial_5m", "eq_spatial_5m_50h"


def claims(test: Tester) -> Iterator[Claim]:
    """Yield the sentences of section 4.4, and those of sections 1 and 5 that summarise them."""
    yield from _heuristics(test)
    yield from _longest_jobs(test)
    yield from _against_backfill(test)
    yield from _conclusions(test)


def _heuristics(test: Tester) -> Iterator[Claim]:
    yield test.claim(
        "4.4-interval-hardly-matters",
        "4.4: “The EQspatial-5m policy has nearly the same performance as EQspatial-0m (not shown).”",
        "Average, 95th percentile and maximum of the wait and average slowdown under EQspatial-5m and -0m "
        f"are within {NEARLY:.0%} of each other, in each month.",
        test.ratios((AVERAGE, P95, MAXIMUM, SLOWDOWN), (EQ_5M,), (EQ_0M,), 1 / (1 + NEARLY), 1 + NEARLY),
    )
    yield test.claim(
        "4.4-placed-at-once",
        "4.4: “More than 99% of the arriving jobs in each workload are placed on a host for full execution "
        "immediately upon arrival”",
        f"Under EQspatial-5m, more than {AT_ONCE:.0%} of all jobs start for full execution on arrival, in "
        "each month.",
        [test.share(STARTED_AT_ONCE, EQ_5M, one, low=AT_ONCE) for one in test.months],
        note="Requested memory alone is in the way: see the claim 4.4-room-in-memory of o2k_workload, which "
        "asks how many jobs of the same months find no room on one host with the memory of all, where nobody "
        "is slowed.",
    )


def _longest_jobs(test: Tester) -> Iterator[Claim]:
    yield test.claim(
        "4.4-extreme-maximum-wait",
        "4.4: “The maximum wait time under EQspatial-5m is extremely high for the largest jobs in February "
        "and March.”",
        f"In February and March 2000, the maximum wait under EQspatial-5m is more than {EXTREME:g} times "
        "that under LXF&W-backfill with immediate service.",
        test.ratios((MAXIMUM,), (EQ_5M,), (LXF,), EXTREME, only=(FEBRUARY, MARCH)),
    )
    trade_off = (
        "4.4: “Thus, EQspatial-5m/>50hr may be preferred, depending on the desired trade-off between maximum "
        "and 95 percentile waiting times.”"
    )
    yield test.claim(
        "4.4-50-hours-reduce-the-maximum",
        trade_off,
        "The maximum wait is lower under EQspatial-5m/>50hr than under EQspatial-5m, in February and March "
        "2000.",
        test.ratios((MAXIMUM,), (EQ_50H,), (EQ_5M,), high=1.0, only=(FEBRUARY, MARCH)),
    )
    yield test.claim(
        "4.4-50-hours-cost",
        trade_off,
        "The 95th percentile of the wait is higher under EQspatial-5m/>50hr than under EQspatial-5m, in each "
        "month.",
        test.ratios((P95,), (EQ_50H,), (EQ_5M,), low=1.0),
    )


def _against_backfill(test: Tester) -> Iterator[Claim]:
    yield test.claim(
        "4.4-lower-95-percentile",
        "4.4: “(1) EQspatial significantly improves the 95 percentile wait”",
        f"The 95th percentile of the wait under EQspatial-5m is less than {SIGNIFICANT:.2g} times that under "
        "LXF&W-backfill with immediate service, in each month.",
        test.ratios((P95,), (EQ_5M,), (LXF,), high=SIGNIFICANT),
    )
    yield test.claim(
        "4.4-backfill-competitive",
        "4.4: “(2) LXF&W-backfill/immediate is perhaps surprisingly competitive with EQspatial with respect "
        "to the other performance measures.”",
        "Average wait, maximum wait and average slowdown under LXF&W-backfill with immediate service are "
        f"less than {COMPETITIVE:g} times those under EQspatial-5m, in each month.",
        test.ratios((AVERAGE, MAXIMUM, SLOWDOWN), (LXF,), (EQ_5M,), high=COMPETITIVE),
    )
    yield test.claim(
        "4.4-one-to-ten-minutes",
        "4.4: “The immediate service quantum might be tuned to improve the slowdown of LXF&W-backfill for "
        "jobs with execution times of one to ten minutes.”",
        "For jobs of one to ten minutes, the average slowdown under EQspatial-5m is less than "
        f"{SIGNIFICANT:.2g} times that under LXF&W-backfill with immediate service, in each month.",
        test.ratios((SLOWDOWN,), (EQ_5M,), (LXF,), high=SIGNIFICANT, runtime=LONGER[0]),
    )
    yield test.claim(
        "4.4-high-load-months",
        "4.4: “with slightly larger performance differences between policies during the high-load months "
        "(12/99 and 2/00).”",
        "The 95th percentile of the wait under LXF&W-backfill with immediate service less that under "
        "EQspatial-5m, in hours, is larger in December and February than in the other months.",
        [_high_load(test)],
    )


def _high_load(test: Tester) -> Part:
    name = "LXF&W-backfill/immediate − EQspatial-5m, 95th percentile: high-load months − others"
    gaps: dict[bool, list[np.ndarray]] = {True: [], False: []}
    for one in test.months:
        pair = [test.sample(P95, policy, one) for policy in (LXF, EQ_5M)]
        if reason := pair[0].reason or pair[1].reason:
            return Open(name, reason)
        gaps[one in HIGH_LOAD].append(pair[0].values - pair[1].values)
    if not all(gaps.values()):
        return Open(name, "this grid has not both kinds of months")
    high, low = (np.mean(gaps[kind], axis=0) for kind in (True, False))
    return difference_of(name, high, low, 0.0, scale=1 / HOUR, unit=" h")


def _conclusions(test: Tester) -> Iterator[Claim]:
    yield test.claim(
        "1-further-improvement",
        "1: “(3) the EQspatial policy has the potential for further substantial improvement in system "
        "turnaround time, but perhaps not as substantial as previous research results would suggest”",
        "Over all months together, average wait and 95th percentile of the wait under EQspatial-5m are less "
        f"than {SIGNIFICANT:.2g} times those under LXF&W-backfill with immediate service.",
        [test.ratio_together(metric, EQ_5M, LXF, high=SIGNIFICANT) for metric in (AVERAGE, P95)],
    )
    yield test.claim(
        "5-95-percentile",
        "5: “(3) the EQspatial policy considerably improves the 95 percentile waiting time for jobs that "
        "don’t complete in the short initial quantum of LXF&W-backfill with immediate service”",
        f"The 95th percentile of the wait under EQspatial-5m is less than {SIGNIFICANT:.2g} times that under "
        "LXF&W-backfill with immediate service, over all months together, in each range of the actual "
        "runtime from a minute up.",
        [test.ratio_together(P95, EQ_5M, LXF, high=SIGNIFICANT, runtime=name) for name in LONGER],
    )
    yield test.claim(
        "5-backfill-competitive",
        "5: “however, the latter policy is quite competitive with EQspatial with respect to average wait, "
        "overall maximum wait, and average slowdown”",
        "Over all months together, average wait, maximum wait and average slowdown under LXF&W-backfill with "
        f"immediate service are less than {COMPETITIVE:g} times those under EQspatial-5m.",
        [
            test.ratio_together(metric, LXF, EQ_5M, high=COMPETITIVE)
            for metric in (AVERAGE, MAXIMUM, SLOWDOWN)
        ],
    )
    yield test.claim(
        "5-longest-running-jobs",
        "5: “(4) it may be important to modify the EQspatial policy to reduce the maximum waiting time of "
        "the longest running jobs in the challenge workloads.”",
        "Over all months together, the maximum wait of jobs of 10,000 minutes and more is longer under "
        "EQspatial-5m than under LXF&W-backfill with immediate service, and under EQspatial-5m/>50hr less "
        f"than {SIGNIFICANT:.2g} times that under EQspatial-5m.",
        [
            test.ratio_together(MAXIMUM, EQ_5M, LXF, low=1.0, runtime=LONGEST),
            test.ratio_together(MAXIMUM, EQ_50H, EQ_5M, high=SIGNIFICANT, runtime=LONGEST),
        ],
    )

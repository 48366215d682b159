"""Backfilling against NCSA-LSF*, and by which priority (section 4.2)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from analysis.chiang2001.claims.margins import SIGNIFICANT, SIMILAR, STARVATION, SUBSTANTIAL, TENS
from analysis.chiang2001.claims.tester import Tester
from analysis.chiang2001.labels import AVERAGE, FEBRUARY, MAXIMUM, P95, SHORTEST, SLOWDOWN
from analysis.claims import Claim

LSF, FCFS, PRIORITY = "ncsa_lsf", "easy", "priority_backfill"
LXF_W, SJF = "lxf_w_backfill", "sjf_backfill"
BACKFILLS = (FCFS, PRIORITY, LXF_W, SJF)


def claims(test: Tester) -> Iterator[Claim]:
    """Yield the sentences of section 4.2, and those of sections 1 and 5 that summarise them."""
    yield from _against_lsf(test)
    yield from _priorities(test)
    yield from _conclusions(test)


def _against_lsf(test: Tester) -> Iterator[Claim]:
    key = (
        "4.2: “FCFS-backfill and Priority-backfill have similar performance, with each having significantly "
        "lower average, maximum (see Figure 7(c)), and 95 percentile waiting time than NCSA-LSF*.”"
    )
    yield test.claim(
        "4.2-fcfs-and-priority-similar",
        key,
        "Average, maximum and 95th percentile of the wait under FCFS-backfill and Priority-backfill are "
        f"within {SIMILAR:.0%} of each other, in each month.",
        test.ratios((AVERAGE, MAXIMUM, P95), (FCFS,), (PRIORITY,), 1 / (1 + SIMILAR), 1 + SIMILAR),
    )
    for name, metric, words in (
        ("average", AVERAGE, "average wait"),
        ("maximum", MAXIMUM, "maximum wait"),
        ("95-percentile", P95, "95th percentile of the wait"),
    ):
        yield test.claim(
            f"4.2-lower-{name}-than-lsf",
            key,
            f"The {words} under FCFS-backfill and under Priority-backfill is less than {SIGNIFICANT:.2g} "
            "times that under NCSA-LSF*, in each month.",
            test.ratios((metric,), (FCFS, PRIORITY), (LSF,), high=SIGNIFICANT),
        )
    low, high = TENS
    yield test.claim(
        "4.3-maximum-waits-of-short-jobs",
        "4.3: “the maximum wait for the backfill policies is measured in tens of hours even for short jobs”",
        f"Under each backfill policy, the maximum wait of jobs that end within a minute is {low:g} to "
        f"{high:g} hours, in each month.",
        [
            test.hours(MAXIMUM, policy, one, low, high, runtime=SHORTEST)
            for policy in BACKFILLS
            for one in test.months
        ],
    )


def _priorities(test: Tester) -> Iterator[Claim]:
    outperform = (
        "4.2: “LXF&W-backfill and SJF-backfill … outperform Priority-backfill on every measure provided "
        "except maximum wait.”"
    )
    yield test.claim(
        "4.2-shorter-first-outperforms",
        outperform,
        "Average and 95th percentile of the wait and average slowdown are lower under LXF&W-backfill and "
        "under SJF-backfill than under Priority-backfill, in each month.",
        test.ratios((AVERAGE, P95, SLOWDOWN), (LXF_W, SJF), (PRIORITY,), high=1.0),
    )
    yield test.claim(
        "4.2-except-maximum-wait",
        outperform,
        "Over all months together, the maximum wait is longer under LXF&W-backfill and under SJF-backfill "
        "than under Priority-backfill.",
        [test.ratio_together(MAXIMUM, policy, PRIORITY, low=1.0) for policy in (LXF_W, SJF)],
    )
    yield test.claim(
        "4.2-sjf-slowdown-in-february",
        "4.2: “The improvement in average slowdown for SJF-backfill compared with FCFS-backfill is only as "
        "substantial as in [29] for the February 2000 workload.”",
        f"The average slowdown under SJF-backfill is less than {SUBSTANTIAL:g} times that under "
        "FCFS-backfill in February 2000, and more in each other month.",
        [test.ratio(SLOWDOWN, SJF, FCFS, one, *_sides(one == FEBRUARY)) for one in test.months],
    )
    cases = test.ratios((AVERAGE, P95, SLOWDOWN, MAXIMUM), (SJF,), (LXF_W,), high=1.0)
    yield test.claim(
        "4.2-sjf-mostly-best",
        "4.2: “SJF-backfill outperforms LXF&W-backfill in most cases”",
        "Average, 95th percentile and maximum of the wait and average slowdown are lower under SJF-backfill "
        "than under LXF&W-backfill in more than half of all cases (measure and month).",
        cases,
        needed=len(cases) // 2 + 1,
    )
    yield test.claim(
        "4.2-sjf-starvation",
        "4.2: “however, starvation is potentially a problem in SJF-backfill (as reflected in the maximum "
        "wait for the Feb. 2000 workload).”",
        f"In February 2000, the maximum wait under SJF-backfill is more than {STARVATION:g} times that under "
        "LXF&W-backfill.",
        [test.ratio(MAXIMUM, SJF, LXF_W, FEBRUARY, STARVATION)],
    )
    yield test.claim(
        "4.2-lxf-w-significantly-better",
        "4.2: “LXF&W-backfill, which has significantly better average and 95 percentile wait than "
        "Priority-backfill, may be the preferred policy.”",
        f"Average and 95th percentile of the wait under LXF&W-backfill are less than {SIGNIFICANT:.2g} times "
        "those under Priority-backfill, in each month.",
        test.ratios((AVERAGE, P95), (LXF_W,), (PRIORITY,), high=SIGNIFICANT),
    )


def _sides(below: bool) -> tuple[float, float]:
    return (-np.inf, SUBSTANTIAL) if below else (SUBSTANTIAL, np.inf)


def _conclusions(test: Tester) -> Iterator[Claim]:
    yield test.claim(
        "1-favouring-short-jobs",
        "1: “using a job priority measure that favors short jobs significantly improves the performance of "
        "the Priority-backfill policy”",
        "Average wait and average slowdown under LXF&W-backfill and under SJF-backfill are less than "
        f"{SIGNIFICANT:.2g} times those under Priority-backfill, over all months together.",
        [
            test.ratio_together(metric, policy, PRIORITY, high=SIGNIFICANT)
            for metric in (AVERAGE, SLOWDOWN)
            for policy in (LXF_W, SJF)
        ],
    )
    yield test.claim(
        "5-expansion-factor",
        "5: “(1) the current estimated job expansion factor provides a good starvation-free measure for the "
        "priority-backfill policies”",
        "LXF&W-backfill has a lower average wait and average slowdown than FCFS-backfill and "
        f"Priority-backfill, and a maximum wait of less than {STARVATION:g} times theirs, in each month.",
        [
            *test.ratios((AVERAGE, SLOWDOWN), (LXF_W,), (FCFS, PRIORITY), high=1.0),
            *test.ratios((MAXIMUM,), (LXF_W,), (FCFS, PRIORITY), high=STARVATION),
        ],
    )

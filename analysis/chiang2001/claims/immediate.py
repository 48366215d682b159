"""A quantum of immediate service on top of LXF&W-backfill (section 4.3)."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.chiang2001.claims.margins import GREAT, NEARLY, SIGNIFICANT, SIMILAR
from analysis.chiang2001.claims.tester import Tester
from analysis.chiang2001.labels import AVERAGE, LONGER, MAXIMUM, P95, SHORTEST, SLOWDOWN, month
from analysis.claims import Claim, Part
from analysis.claims.comparisons import ratio_of
from analysis.figures.policies import label

PLAIN, IMMEDIATE, SOON = "lxf_w_backfill", "lxf_w_immediate", "lxf_w_soon"


def claims(test: Tester) -> Iterator[Claim]:
    """Yield the sentences of section 4.3, and those of sections 1 and 5 that summarise them."""
    yield from _overall(test)
    yield from _by_runtime(test)


def _overall(test: Tester) -> Iterator[Claim]:
    figure = (
        "4.3: “Figure 8 shows that this policy greatly improves the overall average slowdown, while not "
        "adversely affecting the 95 percentile wait time (or the average or maximum wait time, not shown).”"
    )
    yield test.claim(
        "4.3-improves-slowdown",
        figure,
        f"Immediate service brings the average slowdown to less than {GREAT:g} times that of LXF&W-backfill "
        "without, in each month.",
        test.ratios((SLOWDOWN,), (IMMEDIATE,), (PLAIN,), high=GREAT),
    )
    yield test.claim(
        "4.3-no-harm",
        figure,
        "Immediate service raises the 95th percentile, the average and the maximum of the wait by less than "
        f"{NEARLY:.0%}, in each month.",
        test.ratios((P95, AVERAGE, MAXIMUM), (IMMEDIATE,), (PLAIN,), high=1 + NEARLY),
    )
    yield test.claim(
        "4.3-lower-95-percentile-in-two",
        "4.3: “In fact, immediate service slightly reduces the 95 percentile wait in two workloads”",
        "Immediate service lowers the 95th percentile of the wait in at least two months.",
        test.ratios((P95,), (IMMEDIATE,), (PLAIN,), high=1.0),
        needed=2,
    )
    yield test.claim(
        "4.3-short-jobs-among-the-longest-waits",
        "4.3: “jobs that terminate prematurely can have among the top 5% of the waiting times when immediate "
        "service is not provided.”",
        "Under LXF&W-backfill, the maximum wait of jobs that end within a minute is above the 95th "
        "percentile of all waits, in each month.",
        [
            ratio_of(
                f"{label(PLAIN)}, maximum wait of jobs {SHORTEST} / 95th percentile of all, {month(one)}",
                test.sample(MAXIMUM, PLAIN, one, runtime=SHORTEST),
                test.sample(P95, PLAIN, one),
                1.0,
            )
            for one in test.months
        ],
    )
    yield test.claim(
        "4.3-better-than-soon",
        "4.3: “The results show that the immediate quantum is significantly more effective.”",
        f"The average slowdown under immediate service is less than {SIGNIFICANT:.2g} times that under "
        "LXF&W-backfill/soon, in each month.",
        test.ratios((SLOWDOWN,), (IMMEDIATE,), (SOON,), high=SIGNIFICANT),
    )


def _by_runtime(test: Tester) -> Iterator[Claim]:
    yield test.claim(
        "4.3-similar-for-longer-jobs",
        "4.3: “For each month (not shown) LXF&W-backfill with preemptive immediate service has similar "
        "slowdown and wait time as a function of actual job runtime greater than one minute, as "
        "LXF&W-backfill without immediate service.”",
        "Average wait and average slowdown with and without immediate service are within "
        f"{SIMILAR:.0%} of each other, in each range of the actual runtime from a minute up and in each "
        "month.",
        [
            part
            for name in LONGER
            for part in test.ratios(
                (AVERAGE, SLOWDOWN), (IMMEDIATE,), (PLAIN,), 1 / (1 + SIMILAR), 1 + SIMILAR, runtime=name
            )
        ],
    )
    yield test.claim(
        "4.3-key-conclusion",
        "4.3: “the immediate service policy considerably improves the turnaround time for the jobs that "
        "complete within the quantum without significantly impacting the longer jobs.”; 1: “(2) … greatly "
        "improves turnaround time for very short jobs without significantly impacting jobs with longer "
        "execution time”",
        "Turnaround is measured by the average slowdown: immediate service brings that of jobs that end "
        f"within a minute to less than {GREAT:g} times that without, and raises that of longer jobs by less "
        f"than {SIMILAR:.0%} in each range of the actual runtime, in each month.",
        [*test.ratios((SLOWDOWN,), (IMMEDIATE,), (PLAIN,), high=GREAT, runtime=SHORTEST), *_longer(test)],
    )
    yield test.claim(
        "5-immediate-service",
        "5: “(2) with an appropriate choice of quantum size and preemption victim, adding immediate service "
        "to backfill policies improves performance for very short jobs without significantly degrading "
        "performance for other jobs”",
        "Over all months together, immediate service lowers the average wait and the average slowdown of "
        f"jobs that end within a minute, and raises those of longer jobs by less than {SIMILAR:.0%} in each "
        "range of the actual runtime.",
        [
            test.ratio_together(
                metric, IMMEDIATE, PLAIN, high=1.0 if name == SHORTEST else 1 + SIMILAR, runtime=name
            )
            for metric in (AVERAGE, SLOWDOWN)
            for name in (SHORTEST, *LONGER)
        ],
    )


def _longer(test: Tester) -> list[Part]:
    return [
        part
        for name in LONGER
        for part in test.ratios((SLOWDOWN,), (IMMEDIATE,), (PLAIN,), high=1 + SIMILAR, runtime=name)
    ]

"""What the five papers say in passing of each other's policies."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.claims import Claim
from analysis.claims.comparisons import Not, Sustains, level_of
from analysis.families.claims.margins import (
    ALL,
    COMPETITIVE,
    CONSIDERABLY,
    HIGH,
    LOWEST,
    MODERATE,
    PARTITIONED,
    SUBSTANTIAL,
    SUSTAINED,
)
from analysis.families.claims.tester import Entry, Tester, bounded
from analysis.families.labels import (
    BEST_FIT,
    BUDDY,
    CONSERVATIVE,
    DOWNEY,
    EASY,
    EQUI_PLUS,
    FCFS,
    FOLD,
    LINEAR,
    LXF_W,
    LXF_W_IMMEDIATE,
    MIGRATION,
    RESPONSE,
    SLOWDOWN,
    UTILIZATION,
    WAIT,
    workload,
)
from analysis.study.curve import DONE, Curve
from analysis.study.sample import Sample

RIGID = (FCFS, EASY, CONSERVATIVE, LXF_W)
"""Policies that run a job from its start to its end on the processors that it asks for."""


def claims(test: Tester) -> Iterator[Claim]:
    """Yield these sentences, as far as the grid has who they are about."""
    yield from _feitelson(test)
    yield from _jette(test)
    yield from _silva(test)
    yield from _chiang(test)
    yield from _mccann(test)


def _feitelson(test: Tester) -> Iterator[Claim]:
    if all(map(test.among, (BUDDY, MIGRATION, FCFS))):
        yield test.claim(
            "feitelson1996-5-utilization",
            "Feitelson 1996, section 5: “In our simulations of the buddy and migration schemes, the "
            "system only saturated when the utilization was higher than 95%, which is significantly "
            "higher than the 50-80% range reported for production systems using static partitioning”",
            f"Buddy and migration deliver a utilization above {SUSTAINED:.0%} at the highest load that "
            f"they keep up with, and FCFS none above {PARTITIONED:.0%}, under every workload.",
            [
                *(
                    Sustains(f"{label}, {workload(name)}", curve, SUSTAINED)
                    for name in test.workloads
                    for label, curve in (
                        test.found(UTILIZATION, Entry(one), name) for one in (BUDDY, MIGRATION)
                    )
                ),
                *(
                    Not(Sustains(f"{label}, {workload(name)}", curve, PARTITIONED))
                    for name in test.workloads
                    for label, curve in (test.found(UTILIZATION, Entry(FCFS), name),)
                ),
            ],
            figures=("slowdown",),
        )
    if all(map(test.among, (BEST_FIT, MIGRATION, FCFS, EASY))):
        yield test.claim(
            "feitelson1996-5-less-harmful",
            "Feitelson 1996, section 5: “when using time slicing, bad scheduling decisions are less "
            "harmful than when using static partitioning, because they only affect one scheduling slot”",
            "The mean bounded slowdown of FCFS over that of EASY is larger than that of best fit over "
            "that of migration, under every workload, over the loads at which all four keep up.",
            [
                test.excess(
                    "FCFS / EASY minus best fit / migration, mean bounded slowdown", SLOWDOWN,
                    (Entry(FCFS), Entry(EASY)), (Entry(BEST_FIT), Entry(MIGRATION)), name, ALL,
                )
                for name in test.workloads
            ],
        )  # fmt: skip
    if test.levels:
        most = test.levels[-1]
        yield test.claim(
            "feitelson1996-5-buffered-jobs-fill-holes",
            "Feitelson 1996, section 5: “batch jobs, unlike interactive jobs, can be buffered by the "
            "system and used to fill in holes that would otherwise be lost to fragmentation.”",
            f"With {most} slots and a backfilled queue the mean response time is lower than with any "
            "number of slots and no queue, under every workload, over loads from 0.8 on.",
            test.better((RESPONSE,), bounded(test.scheme, most), Entry(test.scheme), HIGH),
            figures=("levels-response",),
        )


def _jette(test: Tester) -> Iterator[Claim]:
    others = [one for one in RIGID if test.among(one)]
    if others and test.among(test.scheme):
        yield test.claim(
            "jette1997-responsiveness",
            "Jette 1997, abstract: “Time-slicing of parallel jobs provides for better overall system "
            "responsiveness and utilization than otherwise possible.”",
            "Gang scheduling with any number of slots and free switches has a lower mean bounded slowdown "
            "and a lower mean response time than each policy that runs jobs to completion, under every "
            "workload, over all loads at which both keep up.",
            [
                part
                for one in others
                for part in test.better((SLOWDOWN, RESPONSE), Entry(test.scheme), Entry(one))
            ],
            figures=("slowdown", "response"),
        )
    cost = _nearest_cost(test)
    if cost is not None and test.among(EASY):
        yield test.claim(
            "jette1997-cost-made-up-for",
            "Jette 1997: “The cost of moving jobs' state between memory and disk to provide "
            "responsiveness was fully compensated for by more efficient packing of the processor torus.”",
            f"With switches that take {test.field.share(cost):g} % of a slice, gang scheduling with any "
            "number of slots has a lower mean response time than EASY, under every workload, over all "
            "loads at which both keep up.",
            test.better((RESPONSE,), Entry(test.scheme, cost=cost), Entry(EASY)),
            figures=("best-response", "break-even-cost"),
        )
    if test.among(EQUI_PLUS) and test.among(test.scheme):
        yield test.claim(
            "jette1997-dynamic-partitioning",
            "Jette 1997: “While dynamic partitioning does possess the allure of high utilization and "
            "interactivity …, it can make program development significantly more difficult.”",
            "EQUI+ has a lower mean bounded slowdown than gang scheduling with any number of slots and "
            "free switches, with linear speed-up and with Downey's, under every workload, over all loads "
            "at which both keep up.",
            [
                part
                for speedup in (LINEAR, DOWNEY)
                for part in test.better((SLOWDOWN,), Entry(EQUI_PLUS, speedup=speedup), Entry(test.scheme))
            ],
            figures=("slowdown",),
        )


def _nearest_cost(test: Tester) -> str | None:
    """Return the cost of the grid nearest to a substantial one."""
    if not test.field.costly:
        return None
    return min(test.field.costs[1:], key=lambda cost: abs(test.field.share(cost) - SUBSTANTIAL))


def _silva(test: Tester) -> Iterator[Claim]:
    if not (test.among(EASY) and test.among(test.scheme)):
        return
    yield test.claim(
        "silva1999-1-degrades-gradually",
        "Silva and Scherson 1999, section 1: “The use of time slicing allows performance to degrade "
        "gradually as load increases.”",
        "From the lowest load to those of 0.8 and more at which both keep up, the mean bounded slowdown "
        "grows by a smaller factor under gang scheduling with any number of slots than under EASY, under "
        "every workload.",
        [
            test.growth(SLOWDOWN, Entry(test.scheme), Entry(EASY), name, LOWEST, HIGH)
            for name in test.workloads
        ],
        figures=("slowdown",),
    )
    yield test.claim(
        "silva1999-1-immediate-service",
        "Silva and Scherson 1999, section 1: “in others, like time slicing, the arriving job receives "
        "service immediately through a processor sharing discipline”",
        "Under gang scheduling in any bounded number of slots with an FCFS queue, as in Silva and "
        "Scherson's trace diagram, jobs wait for less than a second on average for their first slot, "
        "under every workload, at the lowest load.",
        [
            level_of(
                f"{label}, mean wait, {workload(name)}, lowest load", _lowest(curve), high=1.0, unit=" s"
            )
            for name in test.workloads
            for level in test.levels
            for label, curve in (test.found(WAIT, bounded(test.scheme, level, "fcfs"), name),)
        ],
        note="With any number of slots it is so by construction: the wait is 0.",
    )


def _lowest(curve: Curve) -> Sample:
    """Return what a curve has at the lowest load."""
    if not curve.x.size:
        return Sample.absent()
    return (
        Sample(curve.values[0], curve.status[0])
        if curve.status[0] == DONE
        else Sample.absent(curve.status[0])
    )


def _chiang(test: Tester) -> Iterator[Claim]:
    if test.among(LXF_W) and test.among(EASY):
        yield test.claim(
            "chiang2001-5-starvation-free",
            "Chiang and Vernon 2001, section 5: “the current estimated job expansion factor provides a good "
            "starvation-free measure for the priority-backfill policies”",
            "LXF&W-backfill has a lower mean bounded slowdown than EASY, and no longer longest wait, "
            "under every workload, over all loads at which both keep up.",
            [
                *test.better((SLOWDOWN,), Entry(LXF_W), Entry(EASY)),
                *test.better(("wait_max",), Entry(LXF_W), Entry(EASY)),
            ],
            figures=("slowdown",),
        )
    if test.among(EQUI_PLUS) and test.among(LXF_W_IMMEDIATE):
        equi, lxf = Entry(EQUI_PLUS), Entry(LXF_W_IMMEDIATE)
        yield test.claim(
            "chiang2001-5-equipartition-p95",
            "Chiang and Vernon 2001, section 5: “the EQspatial policy considerably improves the 95 "
            "percentile waiting time for jobs that don't complete in the short initial quantum of "
            "LXF&W-backfill with immediate service”",
            "The 95th percentile of the response time under EQUI+, with linear speed-up, is less than "
            f"{CONSIDERABLY:.0%} of that under LXF&W-backfill with immediate service, under every "
            "workload, over all loads at which both keep up.",
            test.better(("response_time_p95",), equi, lxf, below=CONSIDERABLY),
        )
        yield test.claim(
            "chiang2001-5-immediate-competitive",
            "Chiang and Vernon 2001, section 5: “the latter policy is quite competitive with EQspatial "
            "with respect to average wait, overall maximum wait, and average slowdown”",
            f"LXF&W-backfill with immediate service has at most {COMPETITIVE:g} times the mean response "
            "time, the longest response time and the mean bounded slowdown of EQUI+ with linear speed-up, "
            "under every workload, over loads up to 0.7 at which both keep up.",
            test.better((RESPONSE, "response_time_max", SLOWDOWN), lxf, equi, MODERATE, below=COMPETITIVE),
        )


def _mccann(test: Tester) -> Iterator[Claim]:
    if not test.among(EQUI_PLUS):
        return
    if test.among(test.scheme):
        for speedup, told in ((LINEAR, "linear speed-up"), (DOWNEY, "Downey's speed-up")):
            yield test.claim(
                f"mccann1994-1.2.2-space-sharing-{speedup}",
                "McCann 1994, section 1.2.2: “demonstrating that space sharing is preferable to "
                "time-sharing policies”",
                f"EQUI+ with {told} has a lower mean response time than gang scheduling with any number of "
                "slots and free switches, under every workload, over all loads at which both keep up.",
                test.better((RESPONSE,), Entry(EQUI_PLUS, speedup=speedup), Entry(test.scheme)),
                figures=("response",),
            )
    others = [one for one in (FCFS, EASY, CONSERVATIVE) if test.among(one)]
    if others:
        yield test.claim(
            "mccann1994-2.2-as-shortest-first",
            "McCann 1994, section 2.2: “policies providing equal resource allocation not only provide a "
            "measure of fairness to jobs, but also serve as an approximation to the ‘shortest job first’ "
            "policy, which is desirable from a performance perspective.”",
            "EQUI+ with linear speed-up has a lower mean response time and a lower mean bounded slowdown "
            "than each policy that serves in the order of arrival, under every workload, over all loads "
            "at which both keep up.",
            [
                part
                for one in others
                for part in test.better((RESPONSE, SLOWDOWN), Entry(EQUI_PLUS), Entry(one))
            ],
        )
    if test.among(FOLD):
        yield test.claim(
            "mccann1994-2.2-equality-costs",
            "McCann 1994, section 2.2: “The quest for equal resource allocation can sometimes come with a "
            "cost to performance if additional shuffling of processors among jobs is needed to achieve "
            "equality.”",
            "Folding, which rotates jobs every 200 s so that all get alike, has a higher mean response "
            "time than EQUI+, both with linear speed-up, under every workload, over all loads at which "
            "both keep up.",
            [test.ratio(RESPONSE, Entry(FOLD), Entry(EQUI_PLUS), name, low=1.0) for name in test.workloads],
        )

"""What the abstract and sections 2 and 4 say of all workloads, and what section 3.2 says of 32 PEs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np

from analysis.claims import Claim, Open, Part
from analysis.claims.comparisons import difference_of, ratio_of
from analysis.silva1999.claims.margins import SAME
from analysis.silva1999.claims.tester import Tester, combined, same_order
from analysis.silva1999.labels import (
    CHANGES,
    GANG,
    IDLE,
    IO,
    JOBS,
    LARGE,
    MACHINE,
    MEASURES,
    OF_THE_PAPER,
    PE_TIME,
    PRIORITIES,
    ROUND_ROBIN,
    SMALL,
    TOLD,
    UTILIZATION,
    at_time,
    workload,
    workloads,
)


def claims(test: Tester) -> Iterator[Claim]:
    """Yield these sentences."""
    if {SMALL, LARGE} <= set(test.study.values_of(MACHINE)):
        yield _machines(test)
    names = workloads(test.study)
    yield test.claim(
        "0-in-particular-io",
        "Abstract: “Simulation results … show significant performance improvements, in particular for "
        "I/O bound jobs.”",
        "The gain of Concurrent Gang over gang scheduling in completed jobs, and that in total idle "
        "time, are larger under the I/O intensive workload than under each of the others, at the longest "
        "horizon.",
        [_gain_over(test, metric, name) for metric in (JOBS, IDLE) for name in names if name != IO],
        figures=("fig3", "fig4", "gains"),
    )
    yield test.claim(
        "4-utilization",
        "4: “The Utilization in Concurrent Gang is improved because, in the event of an idle slot or "
        "blocked task, Concurrent Gang always tries to schedule tasks that do not require, at that "
        "moment, coordinated scheduling”",
        "PEs compute for more of their time under Concurrent Gang than under gang scheduling, under every "
        "workload and at every horizon.",
        [part for name in names for part in test.gains((UTILIZATION,), PRIORITIES, GANG, name)],
        figures=("pe-time",),
    )
    yield test.claim(
        "4-priorities-smarter",
        "4: “The priority mechanism in concurrent gang is used by the scheduler to make a smarter choice "
        "of the task to schedule in a idle slot, thus improving performance over a concurrent gang "
        "scheduler with no priority as shown in simulations.”",
        "Concurrent Gang completes more jobs with priorities than without, and idles less, under every "
        "workload, at the longest horizon.",
        [
            test.gain(metric, PRIORITIES, ROUND_ROBIN, name, test.last)
            for name in names
            for metric in (JOBS, IDLE)
        ],
        figures=("gains",),
    )
    yield test.claim(
        "2.2-only-pes-concerned",
        "2.2: “It is worth noting that in the case of a workload change, only the PEs concerned by the "
        "modification in the trace diagram are notified.”",
        "Under Concurrent Gang a change of the trace diagram is told to fewer PEs, in the mean, than "
        "there are, under every workload, at the longest horizon.",
        [_told(test, name) for name in names],
    )


def _machines(test: Tester) -> Claim:
    return test.claim(
        "3.2-32-like-16",
        "3.2: “Comparison between the three algorithms for simulations of a 32 processors' machine are "
        "equivalent to those presented for a 16 processors' machine.”",
        "Of each two of the three schedulers the same one is ahead on 32 PEs as on 16, or neither by "
        f"{SAME:.0%}, by completed jobs and by total idle time, under every workload, at the longest "
        "horizon.",
        [
            same_order(test, metric, a, b, name, (SMALL, LARGE), SAME)
            for name in workloads(test.study)
            for metric in (JOBS, IDLE)
            for b, a in combinations(OF_THE_PAPER, 2)
        ],
        figures=("gains",),
    )


def _gain_over(test: Tester, metric: str, name: str) -> Part:
    """Ask that the gain under I/O is larger than under another workload, whose jobs are others.

    A gain is a share of what gang scheduling has: jobs beyond its own, idle time saved of its own. The other
    way round, a run with hardly any idle time left would be all of the mean.
    """
    label = f"{MEASURES[metric]}, gain under {workload(IO)} minus that under {workload(name)}"
    found = []
    for one in (IO, name):
        mine, other = (test.sample(metric, scheduler, one) for scheduler in (PRIORITIES, GANG))
        found.append(combined(mine, other, np.divide))
        if reason := found[-1].reason:
            return Open(label, reason)
    io, rest = (one.values if metric == JOBS else 1 - one.values for one in found)
    return difference_of(label, io, rest, 0.0, scale=100.0, unit=" points")


def _told(test: Tester, name: str) -> Part:
    told, changes = (test.sample(metric, PRIORITIES, name) for metric in (TOLD, CHANGES))
    label = f"PEs told of a change / all PEs, {workload(name)}{at_time(test.last)}"
    # All that the PEs do adds up to their number times the horizon, so that this needs no other source.
    busy = [
        test.sample(PE_TIME, PRIORITIES, name, pe_state=state) for state in test.study.values_of("pe_state")
    ]
    period = test.sample("period", PRIORITIES, name)
    total = busy[0]
    for one in busy[1:]:
        total = combined(total, one, np.add)
    n_pes = combined(total, period, np.divide)
    return ratio_of(label, told, combined(changes, n_pes, np.multiply), high=1.0)

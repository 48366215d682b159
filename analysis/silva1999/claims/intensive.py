"""Workloads whose tasks need no coordination: I/O and computation (section 3.2, Figs. 3 to 6)."""

from __future__ import annotations

from collections.abc import Iterator

from analysis.claims import Claim
from analysis.claims.comparisons import level_of, ratio_of
from analysis.silva1999.claims.margins import SIGNIFICANT
from analysis.silva1999.claims.tester import ANY_GAIN, Tester
from analysis.silva1999.labels import (
    COMPUTATION,
    EMPTY,
    GANG,
    IDLE,
    IO,
    JOBS,
    LOCAL_SHARE,
    PE_TIME,
    PRIORITIES,
    ROUND_ROBIN,
    at_time,
    policy,
)


def claims(test: Tester) -> Iterator[Claim]:
    """Yield the sentences on Figs. 3 to 6."""
    yield from _io(test)
    yield from _computation(test)


def _io(test: Tester) -> Iterator[Claim]:
    source = (
        "3.2: “We can observe a significant improvement over gang scheduling, both in throughput (jobs "
        "completed by unit of time) and total idle time, with Concurrent Gang with priorities having a "
        "better performance.”"
    )
    yield test.claim(
        "3.2-io-throughput",
        source,
        f"I/O intensive: Concurrent Gang completes more than {SIGNIFICANT:.0%} more jobs than gang "
        "scheduling, at every horizon.",
        test.gains((JOBS,), PRIORITIES, GANG, IO, SIGNIFICANT),
        also=test.other_readings(JOBS, PRIORITIES, GANG, IO, SIGNIFICANT),
        figures=("fig3",),
    )
    yield test.claim(
        "3.2-io-idle-time",
        source,
        f"I/O intensive: gang scheduling has more than {SIGNIFICANT:.0%} more total idle time than "
        "Concurrent Gang, at every horizon.",
        test.gains((IDLE,), PRIORITIES, GANG, IO, SIGNIFICANT),
        also=test.other_readings(IDLE, PRIORITIES, GANG, IO, SIGNIFICANT),
        figures=("fig4", "fig4-tasks"),
    )
    yield test.claim(
        "3.2-io-priorities-first",
        source,
        "I/O intensive: Concurrent Gang completes more jobs with priorities than without, and idles less, at "
        "every horizon.",
        test.better(PRIORITIES, ROUND_ROBIN, IO),
        figures=("fig3", "fig4"),
    )
    yield test.claim(
        "3.2-io-round-robin-between",
        source,
        "I/O intensive: Concurrent Gang without priorities completes more jobs than gang scheduling and "
        "idles less, and with priorities it is better still, at every horizon.",
        [*test.better(ROUND_ROBIN, GANG, IO), *test.better(PRIORITIES, ROUND_ROBIN, IO)],
        figures=("fig3", "fig4"),
    )


def _computation(test: Tester) -> Iterator[Claim]:
    yield test.claim(
        "3.2-computation-slightly-better",
        "3.2: “Also in this case Concurrent Gang performs slightly better than Gang scheduling.”",
        "Computation intensive: Concurrent Gang completes more jobs than gang scheduling, by less than "
        f"{SIGNIFICANT:.0%}, at every horizon.",
        test.gains((JOBS,), PRIORITIES, GANG, COMPUTATION, 0.0, SIGNIFICANT),
        also={ANY_GAIN: test.gains((JOBS,), PRIORITIES, GANG, COMPUTATION)},
        figures=("fig5",),
    )
    reason = (
        "3.2: “The reason is that Concurrent Gang uses the idle slots of gang scheduling to schedule "
        "computing intensive tasks that the local task scheduler on each PE detects at run-time.”"
    )
    yield test.claim(
        "3.2-computation-idle-time",
        f"{reason} “The idle time for the 16 processors machine is shown in figure 6.”",
        "Computation intensive: Concurrent Gang has less total idle time than gang scheduling, at every "
        "horizon.",
        test.gains((IDLE,), PRIORITIES, GANG, COMPUTATION),
        figures=("fig6", "pe-time"),
    )
    yield test.claim(
        "3.2-computation-idle-slots-filled",
        reason,
        "Computation intensive: under Concurrent Gang some of the busy time is that of tasks outside "
        "their own slot, and slots are empty for less time than under gang scheduling, at every horizon.",
        [
            *(
                level_of(
                    f"{policy(PRIORITIES)}, busy time filled locally{at_time(time)}",
                    test.sample(LOCAL_SHARE, PRIORITIES, COMPUTATION, time),
                    0.0,
                    scale=100.0,
                    unit=" %",
                )
                for time in test.times
            ),
            *(
                ratio_of(
                    f"{policy(PRIORITIES)} / {policy(GANG)}, time of empty slots{at_time(time)}",
                    test.sample(PE_TIME, PRIORITIES, COMPUTATION, time, pe_state=EMPTY),
                    test.sample(PE_TIME, GANG, COMPUTATION, time, pe_state=EMPTY),
                    high=1.0,
                )
                for time in test.times
            ),
        ],
        figures=("pe-time",),
    )

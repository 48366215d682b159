"""Workloads whose tasks need each other: communication and synchronization (section 3.2, Figs. 7 to 10)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from analysis.claims import Claim, Part
from analysis.claims.comparisons import ratio_of
from analysis.silva1999.claims.margins import SIGNIFICANT
from analysis.silva1999.claims.tester import Tester, combined
from analysis.silva1999.labels import (
    BUSY,
    COMMUNICATION,
    GANG,
    IDLE,
    JOBS,
    PE_TIME,
    PRIORITIES,
    ROUND_ROBIN,
    SYNCHRONIZATION,
    TASK_WAIT,
    UNCOORDINATED,
    at_time,
    policy,
    workload,
)
from analysis.study.sample import Sample


@dataclass(frozen=True)
class Kind:
    """One of the two workloads.

    Parameters
    ----------
    workload, cause : str
        As the dataset has them; what tasks wait for.
    figures : pair of str
        Of throughput, and of idle time.
    gains, uncoordinated, waits : str
        The sentences on significant gains, on uncoordinated scheduling, and on waiting.
    waiting : str
        What is short, in words.
    """

    workload: str
    cause: str
    figures: tuple[str, str]
    gains: str
    uncoordinated: str
    waits: str
    waiting: str

    @property
    def name(self) -> str:
        """Part of the claims' names."""
        return self.workload.removesuffix("_intensive")


KINDS = (
    Kind(
        COMMUNICATION, "communication", ("fig7", "fig8"),
        "3.2: “Once again we observe a significant improvement in Total Idle time and in throughput.”",
        "3.2: “Although gang scheduling is better than uncoordinated scheduling for this kind of job, "
        "Concurrent Gang shows to be even better than gang scheduling.”",
        "3.2: “The better performance of concurrent gang is due to the fact that it will try to schedule "
        "each ready task as soon as possible … This minimizes the receiver's blocking time if compared "
        "with gang scheduling”",
        "the time that tasks wait for messages",
    ),
    Kind(
        SYNCHRONIZATION, "synchronization", ("fig9", "fig10"),
        "3.2: “concurrent gang is shown to be even better than gang scheduling, having significant "
        "improvements both in total idle time and throughput.”",
        "3.2: “although gang scheduler is a better option to schedule those jobs than uncoordinated "
        "scheduled, concurrent gang is shown to be even better than gang scheduling”",
        "3.2: “rescheduling those tasks that have not reached the barrier on its originally assigned "
        "slot as soon as possible allows those tasks to reach the barrier faster … As a consequence, the "
        "job can pass by the barrier earlier than with standard gang.”",
        "the time that tasks wait at barriers",
    ),
)  # fmt: skip


MORE = {
    JOBS: "Concurrent Gang completes more than {} more jobs than gang scheduling",
    IDLE: "gang scheduling has more than {} more total idle time than Concurrent Gang",
}


def claims(test: Tester) -> Iterator[Claim]:
    """Yield the sentences on Figs. 7 to 10."""
    for kind in KINDS:
        yield from _gains(test, kind)
        yield from _uncoordinated(test, kind)
    yield test.claim(
        "3.2-synchronization-round-robin-last",
        "3.2: “Observe also that Concurrent Gang without priorities is worse than Concurrent Gang and Gang "
        "scheduling.”",
        "Synchronization intensive: both gang scheduling and Concurrent Gang with priorities complete "
        "more jobs than Concurrent Gang without, and idle less, at every horizon.",
        [part for one in (GANG, PRIORITIES) for part in test.better(one, ROUND_ROBIN, SYNCHRONIZATION)],
        figures=("fig9", "fig10"),
    )


def _gains(test: Tester, kind: Kind) -> Iterator[Claim]:
    named = workload(kind.workload)
    for metric, figure, what in ((JOBS, kind.figures[0], "throughput"), (IDLE, kind.figures[1], "idle-time")):
        yield test.claim(
            f"3.2-{kind.name}-{what}",
            kind.gains,
            f"{named}: {MORE[metric].format(f'{SIGNIFICANT:.0%}')}, at every horizon.",
            test.gains((metric,), PRIORITIES, GANG, kind.workload, SIGNIFICANT),
            also=test.other_readings(metric, PRIORITIES, GANG, kind.workload, SIGNIFICANT),
            figures=(figure, f"{figure}-tasks") if metric == IDLE else (figure,),
        )
    yield test.claim(
        f"3.2-{kind.name}-waits",
        kind.waits,
        f"{named}: for each second of computation, {kind.waiting} is less under Concurrent Gang than "
        "under gang scheduling, at every horizon.",
        [_waits(test, kind, time) for time in test.times],
    )


def _waits(test: Tester, kind: Kind, time: str) -> Part:
    """Compare waits for each second of computation: tasks that compute more send and wait more often."""

    def waited(scheduler: str) -> Sample:
        wait = test.sample(TASK_WAIT, scheduler, kind.workload, time, cause=kind.cause)
        busy = test.sample(PE_TIME, scheduler, kind.workload, time, pe_state=BUSY)
        return combined(wait, busy, np.divide)

    label = f"{policy(PRIORITIES)} / {policy(GANG)}, waiting for each second of computation{at_time(time)}"
    return ratio_of(label, waited(PRIORITIES), waited(GANG), high=1.0)


def _uncoordinated(test: Tester, kind: Kind) -> Iterator[Claim]:
    named = workload(kind.workload)
    yield test.claim(
        f"3.2-{kind.name}-gang-over-uncoordinated",
        kind.uncoordinated,
        f"{named}: gang scheduling completes more jobs than uncoordinated scheduling and idles less, at "
        "every horizon.",
        test.better(GANG, UNCOORDINATED, kind.workload),
        figures=kind.figures,
    )
    yield test.claim(
        f"3.2-{kind.name}-even-better",
        kind.uncoordinated,
        f"{named}: Concurrent Gang completes more jobs than gang scheduling and than uncoordinated "
        "scheduling, and idles less than both, at every horizon.",
        [part for other in (GANG, UNCOORDINATED) for part in test.better(PRIORITIES, other, kind.workload)],
        figures=kind.figures,
    )

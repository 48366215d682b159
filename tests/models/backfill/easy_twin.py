"""EASY on one pool in a page of plain Python, with any queue and any backfill order.

At each event the waiting jobs are sorted anew by the formula. The first start as long as they fit; the next
one has a reservation, its shadow time; the others are gone through in the backfill order. Shares nothing with
the kernels, nor with `backfill_twin`: no intervals, but the shadow time and the processors extra then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf


@dataclass
class Job:
    """Seconds; `first` is the first submission of all."""

    number: int
    submit: float
    runtime: float
    requested: float
    size: int
    first: float = 0.0
    start: float = inf

    @property
    def end(self) -> float:
        return self.start + self.runtime


Rank = Callable[[Job, float], float]
"""Of a job at an instant; the lowest goes first, of equals the first submitted."""


def easy(jobs: Sequence[Job], processors: int, rank: Rank, backfill_rank: Rank | None) -> list[float]:
    """Return the starts; without a rank of its own the backfill order is the queue's."""
    coming = sorted(jobs, key=lambda job: (job.submit, job.number))
    waiting: list[Job] = []
    running: list[Job] = []
    while coming or running:
        now = min([job.submit for job in coming[:1]] + [job.end for job in running])
        running = [job for job in running if job.end > now]
        waiting += [job for job in coming if job.submit == now]
        coming = [job for job in coming if job.submit > now]
        free = processors - sum(job.size for job in running)

        queue = in_order(waiting, rank, now)
        while queue and queue[0].size <= free:
            free -= begin(queue.pop(0), now, waiting, running)
        if not queue:
            continue
        head, *others = queue
        available, shadow = free, now
        for job in sorted(running, key=lambda job: job.start + job.requested):
            if available >= head.size and job.start + job.requested > shadow:
                break
            available += job.size
            shadow = max(now, job.start + job.requested)
        extra = available - head.size
        for job in in_order(others, backfill_rank or rank, now):
            if job.size > free:
                continue
            if now + job.requested > shadow:
                if job.size > extra:
                    continue
                extra -= job.size
            free -= begin(job, now, waiting, running)
    return [job.start for job in jobs]


def in_order(jobs: Sequence[Job], rank: Rank, now: float) -> list[Job]:
    return sorted(jobs, key=lambda job: (rank(job, now), job.number))


def begin(job: Job, now: float, waiting: list[Job], running: list[Job]) -> int:
    """Start a job and return its size."""
    job.start = now
    waiting.remove(job)
    running.append(job)
    return job.size

"""Spatial equipartitioning from the sentences of Chiang and Vernon (2001), section 2.5, in plain fractions.

Written from the paper and from what `models.backfill.eq_spatial` lists as open, for late jobs:
the quantum, and catching up. Nothing is accounted for later, as the kernel and its other twin do: between two
events all service that a job has, and would have had, is added up, and a job with less than that catches up.
Times are fractions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf
from typing import Any


@dataclass(eq=False)
class Plain:
    """A job; `done` is its processing time in processor seconds, `would` what it would have had by now."""

    number: int
    submit: Fraction
    runtime: Fraction
    size: int
    memory: int
    used: int
    state: str = "to come"  # trial, waiting, running, over
    processors: int = 0
    done: Fraction = Fraction(0)
    would: Fraction = Fraction(0)
    rate: int = 0
    ghost: int | None = None
    late: bool = False
    claims: bool = False
    has_caught_up: bool = False
    is_long: bool = False
    host: int | None = None
    first: Any = None
    first_in_trial: Any = None
    first_in_full: Any = None
    placed: Any = None
    end: Any = None
    pieces: list[tuple[int, Any, Any, int]] = field(default_factory=list)

    @property
    def work(self) -> Fraction:
        return self.size * self.runtime

    @property
    def is_there(self) -> bool:
        return self.state in ("trial", "running")


def equally(requests: Sequence[int], budget: int) -> list[int]:
    """Divide processors "as equally as allowed by the jobs' processor requests"; the first have one more."""
    level = max(level for level in range(budget + 1) if sum(min(r, level) for r in requests) <= budget)
    parts = [min(request, level) for request in requests]
    for i, request in enumerate(requests):
        if sum(parts) < budget and request > level:
            parts[i] += 1
    return parts


class System:
    """Hosts of (processors, memory) and jobs; `run` goes from event to event."""

    def __init__(
        self, jobs: Sequence[Plain], hosts: Sequence[tuple[int, int]], *,
        min_interval: Any = 0, quantum: Any = 60, quantum_memory: int = 1024, long_after: Any = inf,
        quantum_processors: str = "share", keep_quantum: bool = False,
    ) -> None:  # fmt: skip
        self.jobs, self.hosts = list(jobs), list(hosts)
        self.min_interval, self.long_after = min_interval, long_after
        self.quantum, self.quantum_memory = quantum, quantum_memory
        self.asks_in_trial, self.keep_quantum = quantum_processors == "requested", keep_quantum
        self.now: Any = Fraction(0)
        self.repartitioned: list[Any] = [-inf] * len(hosts)
        self.put_off: list[Any] = [inf] * len(hosts)

    def on(self, h: int) -> list[Plain]:
        return [job for job in self.jobs if job.is_there and job.host == h]

    def division(self, h: int, jobs: Sequence[Plain], as_others: Plain | None = None) -> dict[Plain, int]:
        """Divide a host; those with a claim have "the requested processors", if all others have one."""

        def asks(job: Plain) -> bool:
            in_trial = job.state == "trial" and self.asks_in_trial
            return (job.claims or job.is_long or in_trial) and job is not as_others

        jobs = sorted(jobs, key=lambda job: job.number)
        first, rest = [j for j in jobs if asks(j)], [j for j in jobs if not asks(j)]
        parts = equally([j.size for j in first], self.hosts[h][0] - len(rest))
        found = dict(zip(first, parts, strict=True))
        parts = equally([j.size for j in rest], self.hosts[h][0] - sum(found.values()))
        return found | dict(zip(rest, parts, strict=True))

    def imagine(self) -> None:
        """See how many processors each late job would have "had it been scheduled when it arrived"."""
        for job in self.jobs:
            job.rate = 0
            if job.state == "running" and job.claims:
                job.rate = self.division(job.host or 0, self.on(job.host or 0), job)[job]
            elif job.late and job.ghost is not None and job.state in ("trial", "waiting"):
                others = [other for other in self.on(job.ghost) if other is not job]
                if len(others) < self.hosts[job.ghost][0]:
                    job.rate = self.division(job.ghost, [*others, job], job)[job]

    def holds(self, job: Plain) -> int:
        return min(job.memory, self.quantum_memory) if job.state == "trial" else job.memory

    def where(self, size: int, memory: int) -> int | None:
        """Return the host on which a job is placed, sentence by sentence."""
        able = [
            h
            for h, (processors, total) in enumerate(self.hosts)
            if sum(self.holds(j) for j in self.on(h)) + memory <= total and len(self.on(h)) < processors
        ]
        unallocated = {h: self.hosts[h][0] - sum(j.processors for j in self.on(h)) for h in able}
        if roomy := [h for h in able if unallocated[h] >= size]:
            return min(roomy, key=lambda h: (unallocated[h], h))

        def ratio(h: int) -> Fraction:
            extra = sum(max(j.processors - j.rate, 0) for j in self.on(h) if j.claims)
            return Fraction(self.hosts[h][0] - extra, sum(j.size for j in self.on(h)) + size)

        return min(able, key=lambda h: (-ratio(h), h), default=None)

    def settle(self, h: int) -> None:
        """Divide a host, or let new jobs "execute on unallocated processors" until MinInterval is over."""
        jobs = self.on(h)
        if self.now == self.repartitioned[h] or self.now >= self.repartitioned[h] + self.min_interval:
            for job in jobs:
                job.claims = job.claims and not job.has_caught_up
            parts = self.division(h, jobs)
            if any(job.processors not in (0, parts[job]) for job in jobs):
                self.repartitioned[h] = self.now
            self.put_off[h] = inf
        else:
            parts = {job: job.processors for job in jobs}
            free = self.hosts[h][0] - sum(parts.values())
            for job in sorted(jobs, key=lambda job: job.number):
                if job.processors == 0:
                    parts[job] = min(job.size, free)
                    free -= parts[job]
            self.put_off[h] = self.repartitioned[h] + self.min_interval
        for job in jobs:
            job.processors = parts[job]
            if job.processors:
                job.first = self.now if job.first is None else job.first
                if job.state == "trial" and job.first_in_trial is None:
                    job.first_in_trial = self.now
                if job.state == "running" and job.first_in_full is None:
                    job.first_in_full = self.now
        self.imagine()

    def begin(self, job: Plain, h: int) -> None:
        """Schedule a job for its full execution."""
        job.state, job.host, job.placed = "running", h, self.now
        job.claims = job.late and job.done < job.would
        self.settle(h)

    def arrive(self, job: Plain) -> None:
        h = self.where(job.size, job.memory)
        if h is not None:
            self.begin(job, h)
            return
        job.late, job.ghost = True, self.where(job.size, 0)
        h = self.where(job.size, min(job.memory, self.quantum_memory))
        job.state = "waiting"
        self.imagine()
        if h is not None:
            job.state, job.host = "trial", h
            self.settle(h)

    def exceeds(self, job: Plain) -> bool:
        return job.used > self.quantum_memory

    def events_of(self, job: Plain) -> list[tuple[Any, Callable[[], None]]]:
        """Return when something happens to a job if nothing else does."""
        if job.state == "to come":
            return [(job.submit, lambda: self.arrive(job))]
        found: list[tuple[Any, Callable[[], None]]] = []
        if job.processors:
            ends = self.now + (job.work - job.done) / job.processors
            stopped = job.state == "trial" and self.exceeds(job)
            found.append((ends, lambda: self.stop(job) if stopped else self.finish(job)))
        if job.state == "trial" and job.first_in_trial is not None:
            found.append((job.first_in_trial + self.quantum, lambda: self.stop(job)))
        if job.state == "running" and not job.is_long and job.first_in_full is not None:
            found.append((job.first_in_full + self.long_after, lambda: self.become_long(job)))
        if job.state == "running" and job.claims and not job.has_caught_up and job.processors > job.rate:
            gain = job.processors - job.rate
            found.append((self.now + (job.would - job.done) / gain, lambda: self.catch_up(job)))
        return found

    def finish(self, job: Plain) -> None:
        job.state, job.end, job.processors = "over", self.now, 0
        self.after_leaving(job)

    def stop(self, job: Plain) -> None:
        """The quantum is over."""
        job.state, job.processors = "waiting", 0
        if self.exceeds(job) or not self.keep_quantum:
            job.done = Fraction(0)
        self.after_leaving(job)

    def after_leaving(self, job: Plain) -> None:
        assert job.host is not None
        self.settle(job.host)
        for waiting in [one for one in self.jobs if one.state == "waiting"]:
            h = self.where(waiting.size, waiting.memory)
            if h is not None:
                self.begin(waiting, h)

    def catch_up(self, job: Plain) -> None:
        job.has_caught_up = True
        self.settle(job.host or 0)

    def become_long(self, job: Plain) -> None:
        job.is_long, job.claims = True, False
        self.settle(job.host or 0)

    def run(self) -> None:
        while any(job.state != "over" for job in self.jobs):
            events = [event for job in self.jobs if job.state != "over" for event in self.events_of(job)]
            events += [(when, lambda h=h: self.settle(h)) for h, when in enumerate(self.put_off)]
            then, happens = min(events, key=lambda event: event[0])
            had = {job: (job.host, job.processors) for job in self.jobs if job.processors}
            for job in self.jobs:
                job.done += job.processors * (then - self.now)
                job.would += job.rate * (then - self.now)
            before, self.now = self.now, then
            if then > before:
                for job, (h, processors) in had.items():
                    job.pieces.append((h or 0, before, then, processors))
            happens()


def joined(pieces: Sequence[tuple[Any, Any, Any, Any]]) -> list[tuple[Any, Any, Any, Any]]:
    """Return (host, begin, end, processors) pieces without the joints at which nothing changes."""
    found: list[tuple[Any, Any, Any, Any]] = []
    for h, begin, end, processors in pieces:
        if found and found[-1][0] == h and found[-1][2:] == (begin, processors):
            found[-1] = (h, found[-1][1], end, processors)
        else:
            found.append((h, begin, end, processors))
    return found

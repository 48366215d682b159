"""Backfilling with immediate service again, slow and plain, from the text of Chiang and Vernon (2001).

The clock goes on by one tick at a time, and every job counts the ticks that it got: nothing is looked up in a
list of events, no end is computed beforehand, and free processors are counted each time from the running
jobs. Which jobs start and which are reserved comes from the twin of the plain backfills.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any, NamedTuple

from backfill_twin import Backfill as Plain
from backfill_twin import Interval


class Demand(NamedTuple):
    """What is asked for at one moment: ticks, processors, memory."""

    requested: float
    size: int
    memory: float


@dataclass
class Job:
    """A job; times in ticks."""

    number: int
    submit: int
    runtime: int
    requested: int
    size: int
    memory: int
    used: int
    phase: str = "to come"  # then waiting, quantum, running, preempted, done
    host: int = -1
    ran: int = 0  # of its execution, after a quantum that was lost
    uninterrupted: int = 0
    counted: int = 0  # of a quantum that was not lost
    spent: int = 0  # in its quantum
    back: int = 0  # when a preempted job expects its processors again
    preempted_by: Job | None = None
    was_preempted: bool = False
    bypassed: int = 0
    first: float = inf
    began: float = inf
    end: float = inf
    pieces: list[list[int]] = field(default_factory=list)

    @property
    def asked(self) -> int:
        """The request that its execution counts with."""
        return self.requested - self.counted if self.requested > self.counted else self.requested


@dataclass
class Backfill(Plain):
    """Backfilling (section 2.2) with a quantum for each newcomer (2.4), or on free processors (4.3)."""

    jobs: Sequence[Job] = ()
    served: Any = None  # how a quantum is given, by its keys
    quantum: int = 0
    ten_minutes: int = 0

    def __post_init__(self) -> None:
        self.waiting: list[Job] = []

    def here(self, h: int, *phases: str) -> list[Job]:
        return [job for job in self.jobs if job.host == h and job.phase in phases]

    def lent(self, job: Job) -> float:
        return min(self.served.memory, job.memory)

    def of_no_job(self, job: Job) -> int:
        """Processors that a quantum takes beyond the processors of the jobs preempted for it."""
        return max(0, job.size - sum(victim.size for victim in self.jobs if victim.preempted_by is job))

    def exceeds(self, job: Job) -> bool:
        return job.memory > self.served.memory and job.used > self.served.memory

    def free(self, h: int) -> int:
        taken = sum(job.size for job in self.here(h, "running", "preempted"))
        return self.hosts[h].processors - taken - sum(map(self.of_no_job, self.here(h, "quantum")))

    def free_memory(self, h: int) -> float:
        taken = sum(job.memory for job in self.here(h, "running", "preempted"))
        return self.hosts[h].memory - taken - sum(map(self.lent, self.here(h, "quantum")))

    def plan(self, h: int, now: int) -> list[Interval]:
        plan = [(now, now + job.asked - job.ran, job.size, job.memory) for job in self.here(h, "running")]
        plan += [
            (now, job.back + max(0, job.asked - job.ran), job.size, job.memory)
            for job in self.here(h, "preempted")
        ]
        plan += [
            (now, now - job.spent + self.quantum, self.of_no_job(job), self.lent(job))
            for job in self.here(h, "quantum")
        ]
        return plan

    def demand(self, job: Job) -> Demand:
        return Demand(job.asked, job.size, job.memory)

    def has_room(self, h: int, size: int, memory: float) -> bool:
        return self.free(h) >= size and self.free_memory(h) >= memory

    def begin(self, job: Job, h: int, now: int, phase: str = "running") -> None:
        self.waiting.remove(job)
        job.phase, job.host, job.first = phase, h, min(job.first, now)
        job.began = now if phase == "running" else inf
        job.uninterrupted = 0
        job.pieces.append([h, now, now])

    def wait(self, job: Job) -> None:
        job.phase = "waiting"
        self.waiting.append(job)

    def look(self, now: int, newcomers: Sequence[Job]) -> None:
        """Let a pass of the backfill be followed by what is served at once or soon."""
        order, reserved = self.a_pass(now)
        preempting, leaves = self.served.kind == "preempt", self.served.beyond_memory == "leaves"
        for job in order:
            if job.phase == "waiting" and not job.pieces and not (leaves and self.exceeds(job)):
                if preempting and job in newcomers:
                    self.serve_at_once(job, now)
                elif not preempting:
                    self.serve_soon(job, reserved, now)

    def serve_soon(self, job: Job, reserved: Sequence[list[Interval]], now: int) -> None:
        demand = Demand(self.quantum, job.size, self.lent(job))
        able = [
            (self.free(h), h)
            for h in range(len(self.hosts))
            if self.has_room(h, demand.size, demand.memory)
            if not self.served.keep_promises or self.harmless(h, demand, reserved[h], now)
        ]
        if able:
            self.serve(job, min(able)[1], now, [])

    def serve_at_once(self, job: Job, now: int) -> None:
        numbers = [h for h in range(len(self.hosts)) if self.free_memory(h) >= self.lent(job)]
        idle = [(self.free(h), h) for h in numbers if self.free(h) >= job.size]
        if idle:
            self.serve(job, min(idle)[1], now, [])
            return
        choices = []
        for h in numbers:
            eligible = [
                (self.slowdown(other, now), other.number)
                for other in self.here(h, "running")
                if other.uninterrupted >= self.ten_minutes and other.ran < other.runtime - other.counted
            ]
            chosen: list[Job] = []
            found = self.free(h)
            for _, number in sorted(eligible):
                if found >= job.size:
                    break
                chosen.append(self.jobs[number])
                found += chosen[-1].size
            if found >= job.size:
                choices.append((found - job.size, h, chosen))
        if choices:
            _, h, chosen = min(choices, key=lambda choice: choice[:2])
            self.serve(job, h, now, chosen)

    def slowdown(self, job: Job, now: int) -> float:
        """Total time in the system so far, divided by the total runtime so far."""
        return (now - job.submit) / (job.counted + job.ran)

    def serve(self, job: Job, h: int, now: int, chosen: Sequence[Job]) -> None:
        self.begin(job, h, now, "quantum")
        self.held = [other for other in self.held if other is not job]
        for victim in chosen:
            victim.phase, victim.preempted_by, victim.was_preempted = "preempted", job, True
            victim.back = now + self.quantum

    def over(self, job: Job, now: int) -> bool:
        if job.phase == "quantum":
            return job.spent == min(self.quantum, job.runtime)
        return job.phase == "running" and job.ran == job.runtime - job.counted

    def finish(self, job: Job, now: int) -> None:
        if job.phase == "running":
            job.phase, job.end = "done", now
            return
        for victim in self.jobs:
            if victim.preempted_by is job:
                victim.preempted_by = None
                victim.phase, victim.uninterrupted = "running", 0
                victim.pieces.append([victim.host, now, now])
        if job.spent == job.runtime and not self.exceeds(job):
            job.phase, job.end = "done", now
        else:
            self.wait(job)
            if self.served.keep_quantum and not self.exceeds(job):
                job.counted = job.spent

    def tick(self, now: int) -> None:
        """Let one tick go by; it ends now."""
        for job in self.jobs:
            if job.phase in ("running", "quantum"):
                job.pieces[-1][2] = now
            if job.phase == "running":
                job.ran += 1
                job.uninterrupted += 1
            elif job.phase == "quantum":
                job.spent += 1

    def check(self) -> None:
        """Processors that work and memory that is taken are there."""
        for h, host in enumerate(self.hosts):
            assert sum(job.size for job in self.here(h, "running", "quantum")) <= host.processors
            assert self.free(h) >= 0
            assert self.free_memory(h) >= 0

    def run(self, ties: str) -> None:
        now = 0
        while any(job.phase != "done" for job in self.jobs):
            newcomers = [job for job in self.jobs if job.submit == now]
            if ties == "instant":
                ended = [job for job in self.jobs if self.over(job, now)]
                for job in ended:
                    self.finish(job, now)
                for job in newcomers:
                    self.wait(job)
                if ended or newcomers:
                    self.look(now, newcomers)
            else:
                for job in newcomers:
                    self.wait(job)
                    self.look(now, [job])
                for job in self.jobs:
                    if self.over(job, now):
                        self.finish(job, now)
                        self.look(now, [])
            self.check()
            now += 1
            self.tick(now)

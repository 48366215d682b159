"""The gang scheduler once more, in SimPy: first fit, shared alternation, slot unification.

Written as SimPy's own examples are, and no slower than it has to be: a process for the stream of arrivals,
one for each user, and one for each job, which waits for its own end and is interrupted when its run fraction
changes, and only then. Sets of PEs are integers used as bit masks, which is not what one would write first.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable
from dataclasses import dataclass, field
from typing import Any

import simpy

Waiting = Generator[simpy.Event, object, None]


@dataclass(frozen=True)
class Session:
    """A user who submits a job once for each runtime, each time when the one before has ended."""

    submit: float
    size: int
    runtimes: tuple[float, ...]


@dataclass(eq=False)
class Slot:
    """A row of the Ousterhout matrix: the PEs that its jobs take, as a bit mask."""

    taken: int = 0
    jobs: list[Job] = field(default_factory=list)


class Job:
    """A job in the system; its process works off its runtime at a rate that others can change."""

    def __init__(self, scheduler: GangScheduler, slot: Any, pes: Any, size: int, runtime: float) -> None:
        self.slot = slot
        self.pes = pes
        self.size = size
        self.left = runtime
        self.fraction = 1.0
        self._scheduler = scheduler
        self.process = scheduler.env.process(self._run())

    def _run(self) -> Waiting:
        env = self._scheduler.env
        while self.left > 0:
            since, fraction = env.now, self.fraction
            try:
                yield env.timeout(self.left / fraction)
                self.left = 0.0
            except simpy.Interrupt:
                self.left -= (env.now - since) * fraction
        self._scheduler.remove(self)


class GangScheduler:
    """Packs jobs into slots; between events each slot has an equal share of the time."""

    def __init__(self, env: simpy.Environment, n_pes: int) -> None:
        self.env = env
        self.n_pes = n_pes
        self.slots: list[Slot] = []
        self.jobs: list[Job] = []
        self.unifications = 0
        # Integrals over time: of used slots, of jobs, of the slots in which they run, of PEs at work.
        self.slot_time = self.job_time = self.job_slot_time = self.work = 0.0
        self._observed = env.now

    def add(self, size: int, runtime: float) -> simpy.Process:
        """Map a job to the first slot with enough free PEs, on its free PEs in serial order, and start it."""
        self.observe()
        slot = next((slot for slot in self.slots if self.n_pes - slot.taken.bit_count() >= size), None)
        if slot is None:
            slot = Slot()
            self.slots.append(slot)
        free = ~slot.taken & ((1 << self.n_pes) - 1)
        pes = 0
        for _ in range(size):
            lowest = free & -free
            pes |= lowest
            free ^= lowest
        job = Job(self, slot, pes, size, runtime)
        slot.taken |= pes
        slot.jobs.append(job)
        self.jobs.append(job)
        self.share(newcomer=job)
        return job.process

    def remove(self, job: Job) -> None:
        """Free a job's PEs; close its slot if it is empty now, else unite it if that is possible."""
        self.observe()
        slot = job.slot
        self.jobs.remove(job)
        slot.jobs.remove(job)
        slot.taken ^= job.pes
        if not slot.jobs:
            self.slots.remove(slot)
        else:
            self.unite(slot)
        self.share()

    def unite(self, slot: Slot) -> None:
        """Merge a slot with the first other one whose PEs are disjoint from its own."""
        other = next(
            (other for other in self.slots if other is not slot and not other.taken & slot.taken), None
        )
        if other is None:
            return
        low, high = sorted((slot, other), key=self.slots.index)
        for job in high.jobs:
            job.slot = low
        low.jobs += high.jobs
        low.taken |= high.taken
        self.slots.remove(high)
        self.unifications += 1

    def observe(self) -> None:
        """Bring the integrals up to now; called before anything changes."""
        elapsed = self.env.now - self._observed
        self._observed = self.env.now
        self.slot_time += elapsed * len(self.slots)
        self.job_time += elapsed * len(self.jobs)
        fraction = size_fraction = 0.0
        for job in self.jobs:
            fraction += job.fraction
            size_fraction += job.fraction * job.size
        self.job_slot_time += elapsed * fraction * len(self.slots)
        self.work += elapsed * size_fraction

    def share(self, newcomer: Job | None = None) -> None:
        """Give each job its run fraction, and interrupt those whose fraction has changed.

        A job runs in its own slot and in every other whose jobs leave its PEs free.
        """
        taken = [slot.taken for slot in self.slots]
        for job in self.jobs:
            fraction = (1 + sum(not job.pes & others for others in taken)) / len(taken)
            if fraction != job.fraction:
                job.fraction = fraction
                if job is not newcomer:  # it has not started to wait yet
                    job.process.interrupt()


@dataclass(frozen=True)
class Measured:
    """Response times in order of submission (NaN for jobs that have not ended), and the metrics by name."""

    responses: list[float]
    metrics: dict[str, float]


def simulate(
    sessions: Iterable[Session], n_pes: int, n_jobs: int, kind: type[GangScheduler] = GangScheduler
) -> Measured:
    """Simulate from an empty machine until `n_jobs` jobs have ended; `sessions` has to last that long."""
    env = simpy.Environment()
    scheduler = kind(env, n_pes)
    responses: list[float] = []
    slowdowns: list[float] = []
    enough = env.event()

    def user(session: Session) -> Waiting:
        for runtime in session.runtimes:
            submitted, number = env.now, len(responses)
            responses.append(math.nan)
            yield scheduler.add(session.size, runtime)
            responses[number] = env.now - submitted
            slowdowns.append(responses[number] / runtime)
            if len(slowdowns) == n_jobs:
                enough.succeed()
                return

    def arrivals() -> Waiting:
        for session in sessions:
            yield env.timeout(session.submit - env.now)
            env.process(user(session))

    env.process(arrivals())
    env.run(until=enough)
    metrics = {
        "slowdown": sum(slowdowns) / n_jobs,
        "unifications": scheduler.unifications / n_jobs,
        "slots_per_job": scheduler.job_slot_time / scheduler.job_time,
        "utilization": scheduler.work / (n_pes * env.now),
        "used_slots": scheduler.slot_time / env.now,
        "jobs_in_system": scheduler.job_time / env.now,
    }
    return Measured(responses, metrics)

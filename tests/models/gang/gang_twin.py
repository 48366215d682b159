"""The gang scheduler once more, slow and obvious: what the kernel in `models.gang` is checked against.

Written from Feitelson 1996 and the readings of it alone. After every event all slots in which a job runs and
all run fractions are found anew from their definitions. Times may be floats or, where ties matter, fractions;
nothing here rounds a fraction.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from gang_twin_schemes import SCHEMES, Job, Slot

Time = float | Fraction
Rerun = Callable[[Time, int, int, int], Time]


class Session(NamedTuple):
    """A user who submits a job `runs` times, each run when the one before has ended.

    Each asks for so much time, and for so much memory (KB) on each PE.
    """

    gap: Time
    size: int
    runtime: Time
    runs: int = 1
    key: int = 0
    requested: Time = math.nan
    memory: int = 0


@dataclass(eq=False, kw_only=True)
class Run(Job):
    """A run of a session as the scheduler knows it; `index` counts the runs before it."""

    session: Session
    session_number: int
    index: int
    runtime: Time
    submitted: Time
    remaining: Time
    slot_time: Time = 0


def running(slots: list[Slot], alternation: str, precedence: str) -> list[list[Job]]:
    """Return, for each slot, the jobs that run in it: those mapped to it and those of other slots."""
    order = {
        "arrival": lambda job: job.number,
        "largest": lambda job: (-job.size, job.number),
        "smallest": lambda job: (job.size, job.number),
    }[precedence]
    if alternation == "none":
        return [list(slot.jobs) for slot in slots]
    everywhere = sorted((job for slot in slots for job in slot.jobs), key=order)
    rows = []
    for slot in slots:
        row = list(slot.jobs)
        busy = slot.taken
        for job in everywhere:
            if job.pes.isdisjoint(busy) and job not in slot.jobs:
                row.append(job)
                if alternation == "exclusive":
                    busy |= job.pes
        rows.append(row)
    return rows


class Twin:
    """The scheduler; keyword arguments as in `policies.Rules` and `simulation.Measured` of `models.gang`.

    Attributes
    ----------
    responses : dict of int to time
        Response time of each job that has ended.
    batches : list of dict of str to time
        Metrics of the batches that have ended.
    batch_jobs : list of list of int
        Numbers of the jobs in each of them, in order of termination.
    pieces : dict of int to list of (begin, end, processors)
        When each job ran and on how many processors effectively, as long as that number was the same.
    run_fractions : set of (int, int)
        All pairs (slots in which a job ran, used slots) that occurred.
    """

    def __init__(
        self,
        scheme: str,
        parameters: Mapping,
        n_pes: int,
        sessions: Iterable[Session],
        *,
        alternation: str = "shared",
        precedence: str = "arrival",
        unification: bool = True,
        ties: str = "instant",
        batch_size: int = 1000,
        measured: range = range(2**62),
        n_measured: int = 2**62,
        measured_until: Time = math.inf,
        rerun: Rerun = lambda runtime, size, key, run: runtime,
    ) -> None:
        self.place, self.parameters, self.n_pes = SCHEMES[scheme], parameters, n_pes
        self.alternation, self.precedence = alternation, precedence
        self.unification, self.migrating = unification, scheme == "migration"
        self.ends_first = {"instant": True, "event": False}[ties]
        self.batch_size, self.rerun = batch_size, rerun
        self.measured, self.left, self.measured_until = measured, n_measured, measured_until
        self.slots: list[Slot] = []
        self.sessions = iter(sessions)
        self.coming = next(self.sessions, None)
        self.now: Time = 0
        self.last_session: Time = 0
        self.due: Run | None = None
        self.submitted = self.arrived = 0
        self.responses: dict[int, Time] = {}
        self.ended: list[Run] = []
        self.unions: list[bool] = []
        self.intervals: list[tuple[Time, int, int, int, Time]] = []
        self.batches: list[dict[str, Time]] = []
        self.batch_jobs: list[list[int]] = []
        self.pieces: dict[int, list[tuple[Time, Time, Time]]] = {}
        self.run_fractions: set[tuple[int, int]] = set()

    @property
    def jobs(self) -> list[Run]:
        return sorted((job for slot in self.slots for job in slot.jobs), key=lambda job: job.number)

    def run_slots(self) -> dict[Run, int]:
        """Return the number of slots in which each job runs, in order of submission."""
        rows = running(self.slots, self.alternation, self.precedence)
        n_rows = Counter(job for row in rows for job in row)
        return {job: n_rows[job] for job in self.jobs}

    def occupancy(self) -> list[list[int]]:
        """Return the matrix as `Simulation.occupancy` does."""
        rows = [[-1] * self.n_pes for _ in self.slots]
        for row, slot in zip(rows, self.slots, strict=True):
            for job in slot.jobs:
                for pe in job.pes:
                    row[pe] = job.number
        return rows

    def run(self, until: Time = math.inf, n_batches: float = math.inf) -> None:
        """Go on to a time, to the end of a batch, or until the last job has ended."""
        while len(self.batches) < n_batches and self.step(until):
            pass

    def step(self, until: Time = math.inf) -> bool:
        """Carry out the next event if there is one by then."""
        if self.due:
            before, self.due = self.due, None
            index, session = before.index + 1, before.session
            runtime = self.rerun(before.runtime, session.size, session.key, index)
            self.submit(session, before.session_number, index, runtime)
            return True
        k, used = self.run_slots(), len(self.slots)
        ends = [(self.now + job.remaining * used / k[job], job.number, job) for job in k]
        end, _, first = min(ends, default=(math.inf, 0, None))
        arrival = self.last_session + self.coming.gap if self.coming else math.inf
        time = min(end, arrival)
        if time == math.inf or time > until:
            return False
        elapsed = time - self.now
        for job in k:
            job.remaining -= elapsed * k[job] / used
            job.slot_time += elapsed * k[job]
            self.run_fractions.add((k[job], used))
            self.note(job, self.now, time, job.size * k[job] / used)
        counted = max(min(time, self.measured_until) - self.now, 0)
        if self.arrived > self.measured.start or self.measured.start == 0:
            work = sum(counted * job.size * k[job] / used for job in k)
            self.intervals.append((counted, used, sum(k.values()), len(k), work))
        self.now = time
        if end < arrival or (end == arrival and self.ends_first):
            self.terminate(first)
        else:
            session, self.last_session = self.coming, time
            self.coming = next(self.sessions, None)
            if self.arrived == self.measured.start:
                self.unions = []
            self.arrived += 1
            self.submit(session, self.arrived - 1, 0, session.runtime)
        return True

    def note(self, job: Run, begin: Time, end: Time, processors: Time) -> None:
        """Lengthen the last piece of a job, or add one."""
        pieces = self.pieces.setdefault(job.number, [])
        if begin == end:
            return
        if pieces and pieces[-1][1:] == (begin, processors):
            begin = pieces.pop()[0]
        pieces.append((begin, end, processors))

    def submit(self, session: Session, session_number: int, index: int, runtime: Time) -> None:
        job = Run(
            number=self.submitted,
            size=session.size,
            session=session,
            session_number=session_number,
            index=index,
            runtime=runtime,
            submitted=self.now,
            remaining=runtime,
        )
        self.submitted += 1
        if self.migrating:
            self.remap([*self.jobs, job])
        else:
            self.map(job)

    def map(self, job: Run) -> None:
        index, job.pes, job.controller, side = self.place(self.n_pes, self.slots, job.size, self.parameters)
        if index == len(self.slots):
            self.slots.append(Slot(side=side))
        self.slots[index].jobs.append(job)

    def remap(self, jobs: list[Run]) -> None:
        """Map all jobs anew, the largest first (section 2.5)."""
        self.slots = []
        for job in sorted(jobs, key=lambda job: (-job.size, job.number)):
            self.map(job)

    def terminate(self, job: Run) -> None:
        slot = next(slot for slot in self.slots if job in slot.jobs)
        n_before, was_alone = len(self.slots), slot.jobs == [job]
        slot.jobs.remove(job)
        if self.migrating:
            self.remap(self.jobs)
            united = len(self.slots) < n_before and not was_alone  # footnote 4
        else:
            united = bool(self.unification and slot.jobs and self.unite(slot))
            self.slots = [slot for slot in self.slots if slot.jobs]
        self.responses[job.number] = self.now - job.submitted
        self.unions.append(united)
        if job.session_number in self.measured:
            self.ended.append(job)
            self.left -= 1
            if len(self.ended) == self.batch_size or self.left == 0:
                self.end_batch()
        if job.index + 1 < job.session.runs:
            self.due = job

    def unite(self, slot: Slot) -> bool:
        """Unite a slot that has lost a job with the first other one on disjoint PEs, if there is one."""
        partner = next((s for s in self.slots if s is not slot and not s.taken & slot.taken), None)
        if partner is None:
            return False
        lower, higher = sorted((slot, partner), key=self.slots.index)
        lower.jobs += higher.jobs
        higher.jobs = []
        return True

    def end_batch(self) -> None:
        elapsed, slot_time, job_slot_time, job_time, work = (
            sum(column)
            for column in zip(
                *((t, t * used, t * total_k, t * n, work) for t, used, total_k, n, work in self.intervals),
                strict=True,
            )
        )
        responses = [self.responses[job.number] for job in self.ended]
        slots = [job.slot_time / r for job, r in zip(self.ended, responses, strict=True)]
        self.batches.append(
            {
                "jobs": len(self.ended),
                "response_time": sum(responses) / len(responses),
                "slowdown": sum(r / job.runtime for r, job in zip(responses, self.ended, strict=True))
                / len(responses),
                "unifications": sum(self.unions) / len(self.unions),
                "slots_per_job": job_slot_time / job_time if job_time else math.nan,
                "slots_per_job_over_jobs": sum(slots) / len(slots),
                "utilization": work / (self.n_pes * elapsed) if elapsed else math.nan,
                "used_slots": slot_time / elapsed if elapsed else math.nan,
                "jobs_in_system": job_time / elapsed if elapsed else math.nan,
            }
        )
        self.batch_jobs.append([job.number for job in self.ended])
        self.ended, self.unions, self.intervals = [], [], []

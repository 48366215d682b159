"""Gang scheduling with a bound once more, slow and obvious: what `models.gang.queueing` is checked against.

Written from Zhang, Franke, Moreira and Sivasubramaniam (2003), Feitelson (1996) and the readings of them that
the documentation states. Time is time: no virtual clock. Whether a job finds room is asked of sets of PEs, by
brute force, and what the matrix will look like is made anew for every question. Only the packing schemes
(`gang_twin_schemes`) and the rule of foreign slots (`gang_twin.running`) are those of the other twin.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field

from gang_twin import Session, Time, running
from gang_twin_schemes import SCHEMES, Job, Placement, Slot


@dataclass(eq=False, kw_only=True)
class Run(Job):
    """A run of a session: `number` counts the jobs that entered before it, `name` those submitted before."""

    name: int
    session: Session
    index: int
    submitted: Time
    runtime: Time
    left: Time
    start: Time = math.nan
    slot_time: Time = 0

    @property
    def requested_left(self) -> Time:
        """What is left of its request, on dedicated PEs."""
        return max(self.session.requested - (self.runtime - self.left), 0)


@dataclass
class Shown(Slot):
    """A slot as a packing scheme is shown it: some of its PEs are taken without a job."""

    blocked: set[int] = field(default_factory=set)

    @property
    def taken(self) -> set[int]:
        return self.blocked.union(*(job.pes for job in self.jobs))


class BoundedTwin:
    """The scheduler; keyword arguments as in `policies.Rules`, memory in KB of each PE.

    Attributes
    ----------
    starts, ends : dict of int to time
        Of each job, by its number in order of submission.
    slot_seconds, job_slot_seconds, matrix_seconds, system_seconds, work : time
        Used slots, slots of all jobs, jobs in the matrix, jobs in the system, work done: integrals over time.
    run_fractions : set of (int, int)
        All pairs (slots in which a job ran, used slots) that occurred.
    waits : dict of int to time
    passed : int
        Jobs that entered while an earlier one waited.
    stayed : int
        Ends after which jobs that migrate were not mapped anew, as they would have needed more room.
    moved_on : int
        Jobs that were refused the slot that the scheme chose, and given another.
    lacked : int
        Questions for room, some of whose PEs had too little memory.
    """

    def __init__(
        self,
        scheme: str,
        parameters: Mapping,
        n_pes: int,
        sessions: Sequence[Session],
        *,
        alternation: str,
        precedence: str,
        unification: bool,
        ties: str,
        slots_limit: float,
        queue: str,
        memory: float,
        lost: Time,
        kill: bool,
    ) -> None:
        self.scheme, self.parameters, self.n_pes = scheme, parameters, n_pes
        self.place, self.migrating = SCHEMES[scheme], scheme == "migration"
        self.alternation, self.precedence, self.unification = alternation, precedence, unification
        self.instant, self.limit, self.backfills = ties == "instant", slots_limit, queue == "backfill"
        self.memory, self.lost, self.kill = memory, lost, kill
        submit = [sum(session.gap for session in sessions[: i + 1]) for i in range(len(sessions))]
        self.coming = list(zip(submit, sessions, strict=True))
        self.now: Time = 0
        self.slots: list[Slot] = []
        self.queue: list[Run] = []
        self.again: Run | None = None
        self.look_due = False
        self.submitted = self.entered = 0
        self.starts: dict[int, Time] = {}
        self.ends: dict[int, Time] = {}
        self.slot_averages: dict[int, Time] = {}
        self.slot_seconds = self.job_slot_seconds = self.matrix_seconds = self.system_seconds = self.work = 0
        self.waits: dict[int, Time] = {}
        self.run_fractions: set[tuple[int, int]] = set()
        self.passed = self.stayed = self.moved_on = self.lacked = 0

    # Time goes on.

    @property
    def jobs(self) -> list[Run]:
        return [job for slot in self.slots for job in slot.jobs]

    @property
    def slots_each(self) -> dict[Run, int]:
        """The number of slots in which each job runs."""
        rows = running(self.slots, self.alternation, self.precedence)
        n_rows = Counter(job for row in rows for job in row)
        return {job: n_rows[job] for job in self.jobs}

    def run(self, until: Time = math.inf) -> None:
        while self.step(until):
            pass

    def step(self, until: Time) -> bool:
        if self.again:
            before, self.again = self.again, None
            self.submit(before.session, before.index + 1)
            return True
        k = self.slots_each
        share = (1 - self.lost if len(self.slots) > 1 else 1) / max(len(self.slots), 1)
        ends = [(self.now + job.left / (k[job] * share), job.name, job) for job in k]
        end, _, first = min(ends, default=(math.inf, 0, None))
        arrival = self.coming[0][0] if self.coming else math.inf
        time = min(end, arrival)
        if self.look_due and (time > self.now or not self.instant):
            self.look_due = False
            self.look()
            return True
        if time == math.inf or time > until:
            return False
        elapsed = time - self.now
        for job in k:
            job.left -= elapsed * k[job] * share
            job.slot_time += elapsed * k[job]
            self.run_fractions.add((k[job], len(self.slots)))
            self.work += elapsed * k[job] * share * job.size
        self.slot_seconds += elapsed * len(self.slots)
        self.job_slot_seconds += elapsed * sum(k.values())
        self.matrix_seconds += elapsed * len(k)
        self.system_seconds += elapsed * (len(k) + len(self.queue))
        self.now = time
        if first is not None and (end < arrival or (end == arrival and self.instant)):
            self.end(first)
        else:
            self.submit(self.coming.pop(0)[1], 0)
        return True

    def submit(self, session: Session, index: int) -> None:
        runtime = min(session.runtime, session.requested) if self.kill else session.runtime
        job = Run(
            number=-1, size=session.size, name=self.submitted, session=session, index=index,
            submitted=self.now, runtime=runtime, left=runtime,
        )  # fmt: skip
        self.submitted += 1
        if self.queue:
            self.look_due |= self.backfills
            self.queue.append(job)
        elif not self.enters(job):
            self.queue.append(job)

    def end(self, job: Run) -> None:
        slot = next(slot for slot in self.slots if job in slot.jobs)
        slot.jobs.remove(job)
        self.ends[job.name] = self.now
        stay = self.now - job.start
        self.slot_averages[job.name] = job.slot_time / stay if stay else 1
        if self.migrating:
            mapped = self.all_mapped(self.in_order())
            if mapped is None:
                self.stayed += 1
            else:
                self.adopt(mapped)
        elif self.unification and slot.jobs:
            others = [s for s in self.slots if s is not slot and not s.taken & slot.taken]
            if others:
                lower, higher = sorted((slot, others[0]), key=self.slots.index)
                lower.jobs, higher.jobs = lower.jobs + higher.jobs, []
        self.slots = [slot for slot in self.slots if slot.jobs]
        self.look_due |= bool(self.queue)
        if job.index + 1 < job.session.runs:
            self.again = job

    # Room now.

    def in_use(self, jobs: Sequence[Job]) -> list[float]:
        """Return the memory that jobs take on each PE."""
        used = [0] * self.n_pes
        for job in jobs:
            for pe in job.pes:
                used[pe] += job.session.memory
        return used

    def lacking(self, job: Run, jobs: Sequence[Job]) -> set[int]:
        """Return the PEs that have too little memory for one more job."""
        used = self.in_use(jobs)
        found = {pe for pe in range(self.n_pes) if used[pe] + job.session.memory > self.memory}
        self.lacked += bool(found)
        return found

    def in_order(self) -> list[Run]:
        return sorted(self.jobs, key=lambda job: job.number)

    def all_mapped(self, jobs: Sequence[Run]) -> list[Slot] | None:
        """Map copies of jobs anew, in order of entering among equals; None if that takes too much."""
        slots: list[Slot] = []
        for job in sorted(jobs, key=lambda job: -job.size):
            found = self.place(self.n_pes, slots, job.size, self.parameters)
            if found.slot == len(slots):
                slots.append(Slot())
            mapped = copy(job)
            mapped.pes = found.pes
            slots[found.slot].jobs.append(mapped)
        all_jobs = [job for slot in slots for job in slot.jobs]
        remembers = max(self.in_use(all_jobs), default=0) <= self.memory
        self.lacked += not remembers
        return slots if remembers and len(slots) <= self.limit else None

    def adopt(self, mapped: list[Slot]) -> None:
        """Let jobs be where their copies are."""
        jobs = {job.name: job for job in self.jobs}
        self.slots = [Slot([jobs[c.name] for c in slot.jobs], slot.side) for slot in mapped]
        for slot in mapped:
            for mapped_job in slot.jobs:
                jobs[mapped_job.name].pes = mapped_job.pes

    def placement(self, job: Run, full: Sequence[Slot] = ()) -> Placement | None:
        """Return where the scheme puts a job now; some slots are shown to it as full."""
        lacking = self.lacking(job, self.jobs)
        everywhere = set(range(self.n_pes))
        shown: list[Slot] = [
            Shown(slot.jobs, slot.side, everywhere if slot in full else lacking) for slot in self.slots
        ]
        found = self.place(self.n_pes, shown, job.size, self.parameters)
        if found.slot < len(shown):
            return found
        if len(shown) >= self.limit:
            return None
        if not lacking:
            return found
        opened = Shown([], found.side, lacking)
        again = self.place(self.n_pes, [*shown, opened], job.size, self.parameters)
        return again._replace(side=found.side) if again.slot <= len(shown) else None

    def enters(self, job: Run) -> bool:
        """Let a job enter if there is room for it."""
        if self.migrating:
            mapped = self.all_mapped([*self.in_order(), job])
            if mapped is None:
                return False
            self.begin(job)
            self.slots.append(Slot([job]))  # only for now
            self.adopt(mapped)
            return True
        found = self.placement(job)
        if found is not None:
            self.put(job, found)
        return found is not None

    def put(self, job: Run, found: Placement) -> None:
        self.begin(job)
        job.pes, job.controller = found.pes, found.controller
        if found.slot == len(self.slots):
            self.slots.append(Slot(side=found.side))
        self.slots[found.slot].jobs.append(job)

    def begin(self, job: Run) -> None:
        job.number, job.start = self.entered, self.now
        self.entered += 1
        self.starts[job.name] = self.now
        self.waits[job.name] = self.now - job.submitted

    # The queue.

    def look(self) -> None:
        while self.queue and self.enters(self.queue[0]):
            self.queue.pop(0)
        if not self.backfills or len(self.queue) < 2:
            return
        head, *others = self.queue
        # What is left of requests, times the slots in use, as if those came one after the other.
        factor = len(self.slots) / (1 - self.lost if len(self.slots) > 1 else 1)
        expected = {job.name: job.requested_left * factor for job in self.jobs}
        shadow = next(
            end for end in sorted(set(expected.values())) if self.fits_then(head, self.there(expected, end))
        )
        for job in others:
            expected[job.name] = job.session.requested * factor
            if self.passes(job, head, expected, shadow):
                self.passed += 1
                self.queue.remove(job)

    def there(self, expected: Mapping[int, Time], shadow: Time) -> list[list[Run]]:
        """Return the jobs of each slot that are still there after the shadow."""
        return [[job for job in slot.jobs if expected[job.name] > shadow] for slot in self.slots]

    def passes(self, job: Run, head: Run, expected: Mapping[int, Time], shadow: Time) -> bool:
        """Let a job enter if there is room for it beside those there and, then, beside the first."""
        gone_by_then = expected[job.name] <= shadow
        if self.migrating:
            if not gone_by_then:
                there = [each for row in self.there(expected, shadow) for each in row]
                there = [*sorted(there, key=lambda each: each.number), job, head]
                if self.all_mapped(there) is None:
                    return False
            return self.enters(job)
        full: list[Slot] = []
        while True:
            found = self.placement(job, full)
            if found is None:
                return False
            if not gone_by_then:
                rows = [*self.there(expected, shadow), []][: max(len(self.slots), found.slot + 1)]
                tried = copy(job)
                tried.pes = found.pes
                rows[found.slot] = [*rows[found.slot], tried]
                if not self.fits_then(head, rows):
                    if found.slot == len(self.slots):
                        return False
                    full.append(self.slots[found.slot])
                    continue
            self.moved_on += bool(full)
            self.put(job, found)
            return True

    def fits_then(self, head: Run, rows: Sequence[Sequence[Run]]) -> bool:
        """Return, by brute force, whether the scheme can place the head in a matrix of these jobs."""
        there = [job for row in rows for job in row]
        if self.migrating:
            return self.all_mapped([*sorted(there, key=lambda job: job.number), head]) is not None
        usable = set(range(self.n_pes)) - self.lacking(head, there)
        new = [[]] if len(rows) < self.limit else []
        for row in [*rows, *new]:
            free = usable - {pe for job in row for pe in job.pes}
            if self.scheme == "buddy":
                width = 1 << (head.size - 1).bit_length()
                if any(free.issuperset(range(a, a + width)) for a in range(0, self.n_pes, width)):
                    return True
            elif len(free) >= head.size:
                return True
        return False

    # What can be looked at.

    def occupancy(self) -> list[list[int]]:
        rows = [[-1] * self.n_pes for _ in self.slots]
        for row, slot in zip(rows, self.slots, strict=True):
            for job in slot.jobs:
                for pe in job.pes:
                    row[pe] = job.name
        return rows

    def run_slots(self) -> dict[int, int]:
        return {job.name: k for job, k in self.slots_each.items()}

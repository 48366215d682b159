"""The gang scheduler once more, slow and obvious: what the kernel in `models.gang` is checked against.

Written from Feitelson (1996), Zhang, Franke, Moreira and Sivasubramaniam (2003) and the readings of them that
the documentation states. There is no virtual clock: after every event the slots in which each job runs are
found again from their definitions, and whether a job fits is found from sets of PEs, by brute force. Times
may be floats or, where ties matter, fractions.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

from gang_twin_schemes import SCHEMES, Job, Placement, Slot

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
    """A run of a session: `number` counts the jobs that entered before it, `name` those submitted before."""

    name: int
    session: Session
    session_number: int
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


def running(slots: list[Slot], alternation: str, precedence: str) -> list[list[Job]]:
    """Return, for each slot, the jobs that run in it: the jobs mapped to it, and jobs of other slots."""
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
    """The scheduler of a case, whose fields are as in `policies.Rules` and `packing.driver.Measured`.

    Memory is in KB of each PE; `lost` is the part of a slice that a switch takes.

    Attributes
    ----------
    starts, ends, responses : dict of int to time
        Of each job, by its number in order of submission.
    batches : list of dict of str to time
        Metrics of the batches that have ended.
    batch_jobs : list of list of int
        Numbers of the jobs in each of them, in order of termination.
    pieces : dict of int to list of (begin, end, processors)
        When each job ran and on how many processors effectively, as long as that number was the same.
    run_fractions : set of (int, int)
        All pairs (slots in which a job ran, used slots) that occurred.
    seen : Counter
        How often a job entered while an earlier one waited (``passed``), jobs that migrate were not mapped
        again after an end, as they would have needed more slots or memory (``stayed``), a job was refused the
        slot that the scheme chose (``moved on``), and some PEs had too little memory (``lacked``).
    """

    def __init__(
        self, case: Any, n_measured: int = 2**62, rerun: Rerun = lambda runtime, size, key, run: runtime
    ) -> None:
        self.scheme, self.parameters, self.n_pes = case.scheme, case.parameters, case.n_pes
        self.place, self.migrating = SCHEMES[case.scheme], case.scheme == "migration"
        self.alternation, self.precedence, self.unification = (
            case.alternation,
            case.precedence,
            case.unification,
        )
        self.instant, self.backfills, self.kill = case.ties == "instant", case.queue == "backfill", case.kill
        self.limit = math.inf if case.slots_limit is None else case.slots_limit
        self.memory = math.inf if case.memory is None else case.memory
        self.lost = case.switch_cost / case.slice if case.slice else 0
        self.rerun = rerun
        self.batch_size, self.measured, self.to_measure = case.batch_size, case.measured, n_measured
        self.measured_until = case.measured_until
        self.sessions = iter(case.sessions)
        self.coming = next(self.sessions, None)
        self.now: Time = 0
        self.last_session: Time = 0
        self.slots: list[Slot] = []
        self.queue: list[Run] = []
        self.again: Run | None = None
        self.look_due = False
        self.submitted = self.entered = self.arrived = 0
        self.starts: dict[int, Time] = {}
        self.ends: dict[int, Time] = {}
        self.responses: dict[int, Time] = {}
        self.ended: list[Run] = []
        self.unions: list[bool] = []
        self.intervals: list[tuple[Time, int, int, int, int, Time]] = []
        self.batches: list[dict[str, Time]] = []
        self.batch_jobs: list[list[int]] = []
        self.pieces: dict[int, list[tuple[Time, Time, Time]]] = {}
        self.run_fractions: set[tuple[int, int]] = set()
        self.seen: Counter[str] = Counter()

    # Time passes.

    @property
    def jobs(self) -> list[Run]:
        return [job for slot in self.slots for job in slot.jobs]

    @property
    def useful(self) -> Time:
        """The part of each slice that is not lost to a switch."""
        return 1 - self.lost if len(self.slots) > 1 else 1

    @property
    def slots_each(self) -> dict[Run, int]:
        """The number of slots in which each job runs."""
        rows = running(self.slots, self.alternation, self.precedence)
        n_rows = Counter(job for row in rows for job in row)
        return {job: n_rows[job] for job in self.jobs}

    def run(self, until: Time = math.inf, n_batches: float = math.inf) -> None:
        """Continue to a time, to the end of a batch, or until the last job has ended."""
        while len(self.batches) < n_batches and self.step(until):
            pass

    def step(self, until: Time = math.inf) -> bool:
        """Carry out the next event if there is one by then."""
        if self.again:
            before, self.again = self.again, None
            index, session = before.index + 1, before.session
            runtime = self.rerun(before.runtime, session.size, session.key, index)
            self.submit(session, before.session_number, index, runtime)
            return True
        k, used, useful = self.slots_each, len(self.slots), self.useful
        ends = [(self.now + job.left * used / (k[job] * useful), job.name, job) for job in k]
        end, _, first = min(ends, default=(math.inf, 0, None))
        arrival = self.last_session + self.coming.gap if self.coming else math.inf
        time = min(end, arrival)
        if self.look_due and (time > self.now or not self.instant):
            self.look_due = False
            self.look()
            return True
        if time == math.inf or time > until:
            return False
        elapsed = time - self.now
        for job in k:
            job.left -= elapsed * k[job] * useful / used
            job.slot_time += elapsed * k[job]
            self.run_fractions.add((k[job], used))
            self.note(job, self.now, time, job.size * k[job] * useful / used)
        counted = max(min(time, self.measured_until) - self.now, 0)
        if self.arrived > self.measured.start or self.measured.start == 0:
            work = sum(counted * job.size * k[job] * useful / used for job in k)
            self.intervals.append((counted, used, sum(k.values()), len(k), len(self.queue), work))
        self.now = time
        if first is not None and (end < arrival or (end == arrival and self.instant)):
            self.end(first)
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
        pieces = self.pieces.setdefault(job.name, [])
        if begin == end:
            return
        if pieces and pieces[-1][1:] == (begin, processors):
            begin = pieces.pop()[0]
        pieces.append((begin, end, processors))

    def submit(self, session: Session, session_number: int, index: int, runtime: Time) -> None:
        runtime = min(runtime, session.requested) if self.kill else runtime
        job = Run(
            number=-1, size=session.size, name=self.submitted, session=session, session_number=session_number,
            index=index, submitted=self.now, runtime=runtime, left=runtime,
        )  # fmt: skip
        self.submitted += 1
        if self.queue:
            self.look_due |= self.backfills
            self.queue.append(job)
        elif not self.enters(job):
            self.queue.append(job)

    def end(self, job: Run) -> None:
        slot = next(slot for slot in self.slots if job in slot.jobs)
        n_before, was_alone = len(self.slots), slot.jobs == [job]
        slot.jobs.remove(job)
        self.ends[job.name], self.responses[job.name] = self.now, self.now - job.submitted
        if self.migrating:
            mapped = self.all_mapped(self.in_order())
            if mapped is None:
                self.seen["stayed"] += 1
            else:
                self.adopt(mapped)
        else:
            united = bool(self.unification and slot.jobs and self.unite(slot))
        self.slots = [slot for slot in self.slots if slot.jobs]
        if self.migrating:
            united = len(self.slots) < n_before and not was_alone  # footnote 4
        self.unions.append(united)
        self.look_due |= bool(self.queue)
        if job.session_number in self.measured:
            self.ended.append(job)
            self.to_measure -= 1
            if len(self.ended) == self.batch_size or self.to_measure == 0:
                self.end_batch()
        if job.index + 1 < job.session.runs:
            self.again = job

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
        rows = [(t, t * used, t * k, t * n, t * m, work) for t, used, k, n, m, work in self.intervals]
        elapsed, slot_time, job_slot_time, job_time, waiting, work = map(sum, zip(*rows, strict=True))
        jobs, n = self.ended, len(self.ended)
        responses = [self.responses[job.name] for job in jobs]
        stays = [self.ends[job.name] - job.start for job in jobs]
        slots = [job.slot_time / stay if stay else 1 for job, stay in zip(jobs, stays, strict=True)]
        self.batches.append(
            {
                "jobs": n,
                "wait": sum(job.start - job.submitted for job in jobs) / n,
                "response_time": sum(responses) / n,
                "slowdown": sum(r / job.runtime for r, job in zip(responses, jobs, strict=True)) / n,
                "unifications": sum(self.unions) / len(self.unions),
                "slots_per_job": job_slot_time / job_time if job_time else math.nan,
                "slots_per_job_over_jobs": sum(slots) / n,
                "utilization": work / (self.n_pes * elapsed) if elapsed else math.nan,
                "used_slots": slot_time / elapsed if elapsed else math.nan,
                "jobs_in_system": (job_time + waiting) / elapsed if elapsed else math.nan,
            }
        )
        self.batch_jobs.append([job.name for job in jobs])
        self.ended, self.unions, self.intervals = [], [], []

    # Which slots a job may have now.

    def in_use(self, jobs: Sequence[Job]) -> list[float]:
        """Return the memory that jobs take on each PE."""
        used = [0] * self.n_pes
        for job in jobs:
            for pe in job.pes:
                used[pe] += job.session.memory
        return used

    def lacking(self, job: Run, jobs: Sequence[Job]) -> set[int]:
        """Return the PEs that have too little memory for one more job."""
        if self.memory == math.inf:
            return set()
        used = self.in_use(jobs)
        found = {pe for pe in range(self.n_pes) if used[pe] + job.session.memory > self.memory}
        self.seen["lacked"] += bool(found)
        return found

    def in_order(self) -> list[Run]:
        return sorted(self.jobs, key=lambda job: job.number)

    def all_mapped(self, jobs: Sequence[Run]) -> list[Slot] | None:
        """Map copies of all jobs from scratch, in order of entering among equals; None if they do not fit."""
        slots: list[Slot] = []
        for job in sorted(jobs, key=lambda job: -job.size):
            found = self.place(self.n_pes, slots, job.size, self.parameters)
            if found.slot == len(slots):
                slots.append(Slot())
            mapped = copy(job)
            mapped.pes = found.pes
            slots[found.slot].jobs.append(mapped)
        all_jobs = [job for slot in slots for job in slot.jobs]
        fits = self.memory == math.inf or max(self.in_use(all_jobs), default=0) <= self.memory
        self.seen["lacked"] += not fits
        return slots if fits and len(slots) <= self.limit else None

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

    # The queue.

    def look(self) -> None:
        while self.queue and self.enters(self.queue[0]):
            self.queue.pop(0)
        if not self.backfills or len(self.queue) < 2:
            return
        head, *others = self.queue
        # What is left of requests, times the slots in use, as if those came one after the other.
        factor = len(self.slots) / self.useful
        expected = {job.name: job.requested_left * factor for job in self.jobs}
        shadow = next(
            end for end in sorted(set(expected.values())) if self.fits_then(head, self.there(expected, end))
        )
        for job in others:
            expected[job.name] = job.session.requested * factor
            if self.passes(job, head, expected, shadow):
                self.seen["passed"] += 1
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
            self.seen["moved on"] += bool(full)
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

    # What is compared.

    def occupancy(self) -> list[list[int]]:
        rows = [[-1] * self.n_pes for _ in self.slots]
        for row, slot in zip(rows, self.slots, strict=True):
            for job in slot.jobs:
                for pe in job.pes:
                    row[pe] = job.name
        return rows

    def run_slots(self) -> dict[int, int]:
        return {job.name: k for job, k in self.slots_each.items()}

"""The backfilling schedulers again, slow and plain: every question is answered from a list of intervals.

Shares no code and no data structure with the kernels. What a job occupies is a list of (start, end, size,
memory); whether something fits is asked at every instant at which that list changes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any

CORRECTIONS = [60, 300, 900, 1800, *(3600 * hours for hours in (1, 2, 5, 10, 20, 50, 100))]


@dataclass(eq=False)
class Job:
    """A job and what became of it; `runtime` is what it runs, `requested` what it is scheduled by."""

    number: int
    submit: float
    runtime: float
    requested: float
    size: int
    memory: float = 0.0
    start: float | None = None
    host: int | None = None
    end: float = inf
    bypassed: int = 0
    limit: float = 0.0  # what it requests, if `requested` is a prediction
    corrections: int = 0

    @property
    def outlives(self) -> float:
        """When it will have run for longer than it is expected to, inf if never."""
        until = inf if self.start is None else self.start + self.requested
        return until if until < min(self.end, (self.start or 0) + self.limit) else inf


@dataclass(frozen=True)
class Host:
    processors: int
    memory: float = inf


Interval = tuple[float, float, int, float]


def fits(host: Host, taken: Sequence[Interval], start: float, job: Job) -> bool:
    """Whether a job can hold its processors and memory from `start` for its requested time."""
    end = start + job.requested
    meanwhile = [interval for interval in taken if interval[0] < end and start < interval[1]]
    for instant in [start, *(a for a, _, _, _ in meanwhile if start < a)]:
        here = [(size, memory) for a, b, size, memory in meanwhile if a <= instant < b]
        if sum(size for size, _ in here) + job.size > host.processors:
            return False
        if sum(memory for _, memory in here) + job.memory > host.memory:
            return False
    return True


def earliest(host: Host, taken: Sequence[Interval], now: float, job: Job) -> float:
    """Return the first instant from which a job fits, inf where it never does."""
    instants = sorted({now, *(b for _, b, _, _ in taken if b > now)})
    return next((t for t in instants if fits(host, taken, t, job)), inf)


@dataclass
class Backfill:
    """Jobs in order of priority; the first `reservations` that must wait hold a start time (section 2.2).

    `reservations` is inf or a number; -1 means that no job overtakes a waiting one (FCFS). Once that many
    hold one, the rest go in the order of `backfill_order`, if there is one.
    """

    hosts: Sequence[Host]
    reservations: float = 1
    priority: Callable[[Job, float], float] = lambda job, now: 0.0
    sticky: bool = False
    backfill_order: Callable[[Job, float], float] | None = None
    waiting: list[Job] = field(default_factory=list)
    running: list[Job] = field(default_factory=list)
    held: list[Job] = field(default_factory=list)
    promises: list[tuple[float, Job, float]] = field(default_factory=list)
    down: Sequence[tuple[float, float]] = ()

    def submit(self, job: Job) -> None:
        self.waiting.append(job)

    def end(self, job: Job) -> None:
        self.running.remove(job)

    def next_start(self) -> float:
        return min([inf, *(end for _, end in self.down), *(job.outlives for job in self.running)])

    def tick(self, now: float) -> None:
        """Forget downtimes that are over, correct predictions; every pass computes starts from scratch."""
        self.down = [(begin, end) for begin, end in self.down if end > now]
        for job in self.running:
            if job.outlives <= now:
                added = [*CORRECTIONS, inf][job.corrections]
                job.requested, job.corrections = min(job.requested + added, job.limit), job.corrections + 1

    def free(self, h: int) -> int:
        return self.hosts[h].processors - sum(job.size for job in self.running if job.host == h)

    def demand(self, job: Job) -> Any:
        """Return what a job asks for: time, processors, memory."""
        return job

    def plan(self, h: int, now: float) -> list[Interval]:
        """Return what runs on a host; a job beyond its request holds nothing any more."""
        here = [job for job in self.running if job.host == h and job.start is not None]
        return [(job.start, job.start + job.requested, job.size, job.memory) for job in here]

    def has_room(self, h: int, size: int, memory: float) -> bool:
        taken = sum(job.memory for job in self.running if job.host == h)
        return size <= self.free(h) and memory + taken <= self.hosts[h].memory

    def harmless(self, h: int, demand: Any, reserved: Sequence[Interval], now: float) -> bool:
        """Return whether no reservation is postponed, according to requested times."""
        if not reserved or now + demand.requested <= min(a for a, _, _, _ in reserved):
            return True
        return fits(self.hosts[h], [*self.plan(h, now), *reserved], now, demand)

    def begin(self, job: Job, h: int, now: float) -> None:
        job.start, job.host, job.end = now, h, now + job.runtime
        self.waiting.remove(job)
        self.running.append(job)

    def a_pass(self, now: float) -> tuple[list[Job], list[list[Interval]]]:
        """Start and reserve; return the jobs in their order, and what is reserved on each host."""
        order = sorted(self.waiting, key=lambda job: (-self.priority(job, now), job.number))
        if self.sticky:
            order = [j for j in self.held if j in order] + [j for j in order if j not in self.held]
        reserved: list[list[Interval]] = [
            [(begin, end, host.processors, host.memory) for begin, end in self.down] for host in self.hosts
        ]
        numbers = range(len(self.hosts))
        holders: list[Job] = []
        rest = list(order)
        reordered = self.backfill_order is None
        while rest:
            if not reordered and len(holders) == self.reservations:
                rest.sort(key=lambda job: (-self.backfill_order(job, now), job.number))
                reordered = True
            job = rest.pop(0)
            demand = self.demand(job)
            able = [
                (self.free(h), h)
                for h in numbers
                if self.has_room(h, demand.size, demand.memory) and self.harmless(h, demand, reserved[h], now)
            ]
            if able:
                self.begin(job, min(able)[1], now)
                for other in order[: order.index(job)]:
                    other.bypassed += other in self.waiting
                continue
            if self.reservations == -1:
                break
            if len(holders) < self.reservations:
                taken = [[*self.plan(h, now), *reserved[h]] for h in numbers]
                given = [(earliest(self.hosts[h], taken[h], now, demand), self.free(h), h) for h in numbers]
                when, _, h = min(given)
                if when < inf:
                    reserved[h].append((when, when + demand.requested, demand.size, demand.memory))
                    self.promises.append((now, job, when))
                holders.append(job)
        self.held = holders
        return order, reserved


@dataclass
class Conservative:
    """Every job has a reservation; at an end the waiting jobs are placed again, one by one, as submitted."""

    hosts: Sequence[Host]
    plan: dict[int, tuple[float, int, Job]] = field(default_factory=dict)
    running: list[Job] = field(default_factory=list)
    fresh: list[Job] = field(default_factory=list)
    promises: list[tuple[float, Job, float]] = field(default_factory=list)
    compress: bool = False
    down: Sequence[tuple[float, float]] = ()

    def submit(self, job: Job) -> None:
        self.fresh.append(job)

    def end(self, job: Job) -> None:
        self.running.remove(job)
        self.compress = True

    def next_start(self) -> float:
        return min((start for start, _, _ in self.plan.values()), default=inf)

    def tick(self, now: float) -> None:
        """Start the jobs whose time has come."""
        for number in sorted(self.plan):
            start, host, job = self.plan[number]
            if start <= now:
                job.start, job.host, job.end = now, host, now + job.runtime
                self.running.append(job)
                del self.plan[number]

    def place(self, job: Job, now: float) -> tuple[float, int]:
        """Return the earliest start with all others where they are, and its host."""
        found = []
        for h, host in enumerate(self.hosts):
            here = [j for j in self.running if j.host == h]
            taken = [(j.start, j.start + j.requested, j.size, j.memory) for j in here if j.start is not None]
            taken += [(begin, end, host.processors, host.memory) for begin, end in self.down]
            for start, at, other in self.plan.values():
                if at == h and other is not job:
                    taken.append((start, start + other.requested, other.size, other.memory))
            free = host.processors - sum(j.size for j in here)
            found.append((earliest(host, taken, now, job), free, h))
        start, _, h = min(found)
        return start, h

    def a_pass(self, now: float) -> None:
        if self.compress:
            for number in sorted(self.plan):
                before, _, job = self.plan[number]
                start, h = self.place(job, now)
                if start < before:
                    self.plan[number] = (start, h, job)
        self.compress = False
        for job in self.fresh:
            start, h = self.place(job, now)
            self.plan[job.number] = (start, h, job)
            self.promises.append((now, job, start))
        self.fresh = []


def simulate(jobs: Sequence[Job], scheduler: Backfill | Conservative, ties: str = "instant") -> None:
    """Run all jobs to their ends, and write start, host and end into them.

    Ties: ``instant`` is all ends, then all submissions, then one pass; ``event`` is a pass after each,
    submissions first, ends in the order of the jobs' numbers.
    """
    queue = sorted(jobs, key=lambda job: (job.submit, job.number))
    while True:
        now = min(
            min((job.end for job in scheduler.running), default=inf),
            queue[0].submit if queue else inf,
            scheduler.next_start(),
        )
        if now == inf:
            return
        scheduler.tick(now)
        ending = sorted((job for job in scheduler.running if job.end == now), key=lambda job: job.number)
        coming = [job for job in queue if job.submit == now]
        del queue[: len(coming)]
        if ties == "instant" or not (ending or coming):
            for job in ending:
                scheduler.end(job)
            for job in coming:
                scheduler.submit(job)
            scheduler.a_pass(now)
            continue
        for happens, these in ((scheduler.submit, coming), (scheduler.end, ending)):
            for job in these:
                happens(job)
                scheduler.a_pass(now)
                scheduler.tick(now)

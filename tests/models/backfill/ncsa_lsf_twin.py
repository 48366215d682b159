"""The NCSA-LSF policy again, slow and plain, written from section 2.1 of Chiang and Vernon 2001.

Nothing is kept between passes but which jobs wait, run and have a special reservation: which fit, which are
barred and which bound is reached is computed each time, and passes are repeated until no job starts.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import inf
from typing import Any


@dataclass(eq=False)
class Job:
    """A job and what became of it; `size_class` and `time_class` are its job class of Table 1."""

    number: int
    submit: float
    runtime: float
    size: int
    memory: float
    size_class: str
    time_class: str
    user: int = 0
    start: float | None = None
    host: int | None = None
    end: float = inf


@dataclass
class Host:
    """A row of Table 2: classes that it takes, in order of priority, and bounds on some of them."""

    processors: int
    memory: float
    sizes: Sequence[str]
    limits: Mapping[str, int]


@dataclass
class Lsf:
    hosts: Sequence[Host]
    policy: Any  # rules by their keys: Tables 1 and 2, and the readings
    waiting: list[Job] = field(default_factory=list)
    running: list[Job] = field(default_factory=list)
    reserved: dict[int, Job] = field(default_factory=dict)
    """Host -> the job with a special reservation on it."""
    log: list[tuple[float, str, Job, int]] = field(default_factory=list)
    """(when, "starts" or "reserves", job, host)."""

    freed: set[int] = field(default_factory=set)
    """Hosts on which jobs have ended since the last pass."""

    def submit(self, job: Job) -> None:
        self.waiting.append(job)

    def end(self, job: Job) -> None:
        self.running.remove(job)
        self.freed.add(job.host)

    def next_start(self) -> float:
        return inf

    def tick(self, now: float) -> None:
        """Nothing happens at times of its own."""

    def free(self, h: int) -> int:
        return self.hosts[h].processors - sum(job.size for job in self.running if job.host == h)

    def fits(self, h: int, job: Job) -> bool:
        memory = self.hosts[h].memory - sum(other.memory for other in self.running if other.host == h)
        return job.size <= self.free(h) and job.memory <= memory

    def could_run_on(self, h: int, job: Job) -> bool:
        """Whether it would fit on the host if nothing else ran there."""
        return job.size <= self.hosts[h].processors and job.memory <= self.hosts[h].memory

    def bound_is_reached(self, h: int, size_class: str) -> bool:
        executing = [job for job in self.running if job.host == h and job.size_class == size_class]
        return len(executing) >= self.hosts[h].limits.get(size_class, inf)

    def is_barred(self, job: Job) -> bool:
        """By a limit that has nothing to do with a host; a job with a reservation counts as running."""
        counted = [*self.running, *self.reserved.values()]
        of_time_class = sum(other.time_class == job.time_class for other in counted)
        of_user = sum(other.user == job.user for other in counted)
        return of_time_class >= self.policy.system_limits.get(job.time_class, inf) or of_user >= (
            self.policy.user_limit or inf
        )

    def by_time(self, size_class: str) -> Iterator[Job]:
        """Go through the waiting jobs of a size class: time class priority, then first come, first served."""
        for equals in self.policy.time_order:
            yield from [j for j in self.waiting if j.size_class == size_class and j.time_class in equals]

    def start(self, job: Job, h: int, now: float) -> None:
        if job in self.waiting:
            self.waiting.remove(job)
        job.start, job.host, job.end = now, h, now + job.runtime
        self.running.append(job)
        self.log.append((now, "starts", job, h))

    def after_termination(self, h: int, now: float) -> None:
        """Start the job with the host's special reservation, or find an overdue job."""
        if h in self.reserved:
            if self.fits(h, self.reserved[h]):
                self.start(self.reserved.pop(h), h, now)
            else:
                return
        for size_class in self.hosts[h].sizes:
            if self.bound_is_reached(h, size_class):
                continue
            for job in self.by_time(size_class):
                overdue = now - job.submit > self.policy.reserve_wait[job.time_class]
                if overdue and self.could_run_on(h, job) and not self.is_barred(job):
                    if self.fits(h, job):
                        self.start(job, h, now)
                    else:
                        self.waiting.remove(job)
                        self.reserved[h] = job
                        self.log.append((now, "reserves", job, h))
                    return

    def assign_free_resources(self, h: int, now: float) -> bool:
        """Give a host's free processors and memory to waiting jobs; return whether any started."""
        started = False
        for size_class in self.hosts[h].sizes:
            for job in self.by_time(size_class):
                if self.bound_is_reached(h, size_class):
                    break
                if self.fits(h, job) and not self.is_barred(job):
                    self.start(job, h, now)
                    started = True
            if self.bound_is_reached(h, size_class):
                continue
            for job in self.by_time(size_class):
                holds_back = self.policy.barred_hold_back or not self.is_barred(job)
                if holds_back and self.could_run_on(h, job):
                    return started
        return started

    def a_pass(self, now: float) -> None:
        for h in sorted(self.freed):
            self.after_termination(h, now)
        self.freed = set()
        started = True
        while started:
            started = False
            turns = list(range(len(self.hosts)))
            if self.policy.host_order == "fullest":
                turns.sort(key=lambda h: (self.free(h), h))
            for h in turns:
                if h not in self.reserved:
                    started |= self.assign_free_resources(h, now)


def held_idle(scheduler: Lsf) -> list[tuple[int, int, float, float, int]]:
    """Return (job, host, begin, end, idle processors): what was kept idle for special reservations."""
    found = []
    jobs = [job for _, what, job, _ in scheduler.log if what == "starts"]
    for when, what, job, h in scheduler.log:
        if what != "reserves" or job.start is None:
            continue
        here = [other for other in jobs if other.host == h and other.start is not None]
        ends = {other.end for other in here if when < other.end < job.start}
        instants = sorted({when, job.start} | ends)
        for begin, end in pairwise(instants):
            # All that runs on the host in this piece ran when the reservation was made: no job starts since.
            busy = sum(o.size for o in here if o.start is not None and o.start <= begin < o.end)
            if busy < scheduler.hosts[h].processors:
                found.append((job.number, h, begin, end, scheduler.hosts[h].processors - busy))
    return sorted(found)

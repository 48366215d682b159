"""Spatial equipartitioning again, slow and plain (Chiang and Vernon 2001, sections 2.5 and 4.4).

Shares no code and no data structure with the kernels: processors are dealt out one at a time, every host's
state is computed from its jobs, and all events are searched for again at each step. Times may be floats or
fractions.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any


@dataclass(eq=False)
class Job:
    """A job, what it has done and where; `lack` is the processing time it missed for want of memory."""

    number: int
    submit: Any
    runtime: Any
    size: int
    memory: float
    used: float
    standing: str = "plain"  # or trial, catching, caught, long
    left: Any = 0
    processors: int = 0
    since: Any = 0
    start: Any = None
    trial_began: Any = None
    began: Any = None
    end: Any = None
    host: int | None = None
    placed: Any = None
    lack: Any = 0
    share: int = 0
    share_since: Any = 0
    virtual_host: int | None = None
    pieces: list[tuple[int, Any, Any, int]] = field(default_factory=list)


@dataclass(frozen=True)
class Policy:
    """Keys of conf/policy/backfill/_eq_spatial.yaml; `quantum_memory` in the unit of the jobs' memory."""

    min_interval: Any = 0
    long_after: Any = inf
    quantum: Any = 60
    quantum_memory: float = 1
    catch_up: bool = True
    odd_processors: str = "first"
    waiting: str = "first_fit"
    quantum_processors: str = "share"
    keep_quantum: bool = False
    ties: str = "instant"


@dataclass(eq=False)
class Host:
    processors: int
    memory: float
    jobs: list[Job] = field(default_factory=list)
    last: Any = -inf
    timer: Any = inf

    @property
    def unallocated(self) -> int:
        return self.processors - sum(job.processors for job in self.jobs)

    @property
    def asked(self) -> int:
        return sum(job.size for job in self.jobs)

    @property
    def extra(self) -> int:
        """Processors given to jobs that catch up, beyond what they would have as all others."""
        late = [job for job in self.jobs if job.standing in ("catching", "caught")]
        return sum(max(job.processors - job.share, 0) for job in late)


def deal(order: Sequence[Job], budget: int) -> dict[Job, int]:
    """Deal processors out one at a time, in turns, to jobs that ask for more."""
    dealt = dict.fromkeys(order, 0)
    while budget and any(dealt[job] < job.size for job in order):
        for job in order:
            if budget and dealt[job] < job.size:
                dealt[job] += 1
                budget -= 1
    return dealt


class EqSpatial:
    """The whole system; `run` goes from event to event."""

    def __init__(self, jobs: Sequence[Job], hosts: Sequence[Host], policy: Policy) -> None:
        self.jobs, self.hosts, self.policy = list(jobs), list(hosts), policy
        self.queue: list[Job] = []
        self.late: list[Job] = []
        self.now: Any = 0
        for job in self.jobs:
            job.left = job.size * job.runtime

    def partition(self, jobs: Sequence[Job], processors: int, plain: Job | None = None) -> dict[Job, int]:
        """Divide a host: first the jobs that have what they ask for, as long as every other one has one."""
        order = sorted(jobs, key=lambda job: job.number, reverse=self.policy.odd_processors == "last")
        favoured = {"catching", "caught", "long"}
        if self.policy.quantum_processors == "requested":
            favoured.add("trial")
        first = [job for job in order if job.standing in favoured and job is not plain]
        others = [job for job in order if job not in first]
        dealt = deal(first, processors - len(others))
        return dealt | deal(others, processors - sum(dealt.values()))

    def find_host(self, size: int, memory: float) -> int | None:
        """Return where a job is placed: the fullest host with the processors, else the largest ratio."""
        able = [
            number
            for number, host in enumerate(self.hosts)
            if memory <= self.free_memory(host) and len(host.jobs) < host.processors
        ]
        roomy = [number for number in able if self.hosts[number].unallocated >= size]
        if roomy:
            return min(roomy, key=lambda number: self.hosts[number].unallocated)
        best, most = None, (-1, 1)
        for number in able:
            host = self.hosts[number]
            ratio = (host.processors - host.extra, host.asked + size)
            if ratio[0] * most[1] > most[0] * ratio[1]:
                best, most = number, ratio
        return best

    def held(self, job: Job) -> float:
        return min(job.memory, self.policy.quantum_memory) if job.standing == "trial" else job.memory

    def free_memory(self, host: Host) -> float:
        return host.memory - sum(self.held(job) for job in host.jobs)

    def give(self, job: Job, number: int, processors: int) -> None:
        if processors == job.processors:
            return
        if job.processors and self.now > job.since:
            job.pieces.append((number, job.since, self.now, job.processors))
            job.left = max(job.left - job.processors * (self.now - job.since), 0)
        if job.start is None:
            job.start = self.now
        if job.standing == "trial":
            job.trial_began = self.now if job.trial_began is None else job.trial_began
        elif job.began is None:
            job.began = self.now
        job.since, job.processors = self.now, processors

    def finish(self, job: Job) -> Any:
        return job.since + job.left / job.processors if job.processors else inf

    def turn(self, job: Job) -> Any:
        """Return when a job's standing changes."""
        if job.standing == "trial":
            if job.trial_began is None:
                return inf
            over = job.trial_began + self.policy.quantum
            return min(over, self.finish(job)) if self.exceeds(job) else over
        turns = inf
        if job.standing != "long" and job.began is not None:
            turns = job.began + self.policy.long_after
        if job.standing == "catching" and job.processors > job.share:
            turns = min(turns, job.share_since + job.lack / (job.processors - job.share))
        return turns

    def exceeds(self, job: Job) -> bool:
        return job.used > self.policy.quantum_memory

    def settle(self, number: int) -> None:
        """Divide a host again if it may be, and compute what the late jobs would have there."""
        host, policy = self.hosts[number], self.policy
        if host.last == self.now or self.now >= host.last + policy.min_interval:
            for job in host.jobs:
                if job.standing == "caught":
                    job.standing = "plain"
            before = {job: job.processors for job in host.jobs}
            wanted = self.partition(host.jobs, host.processors)
            self.note_lack(host, wanted)
            if any(before[job] and before[job] != wanted[job] for job in host.jobs):
                host.last = self.now
            for job in host.jobs:
                self.give(job, number, wanted[job])
            host.timer = inf
        else:
            wanted = {job: job.processors for job in host.jobs}
            free = host.unallocated
            for job in sorted(host.jobs, key=lambda job: job.number):
                if not job.processors:
                    wanted[job] = min(job.size, free)
                    free -= wanted[job]
            self.note_lack(host, wanted)
            for job in host.jobs:
                self.give(job, number, wanted[job])
            host.timer = host.last + policy.min_interval
        for job in self.late:
            if job.virtual_host == number:
                self.note_virtual_host(job)

    def note_lack(self, host: Host, wanted: dict[Job, int]) -> None:
        """Account for what those catching up have caught up, before their processors or shares change."""
        for job in host.jobs:
            if job.standing not in ("catching", "caught"):
                continue
            share = self.partition(host.jobs, host.processors, plain=job)[job]
            if (share, wanted[job]) != (job.share, job.processors):
                job.lack = max(job.lack - (job.processors - job.share) * (self.now - job.share_since), 0)
                job.share, job.share_since = share, self.now

    def note_virtual_host(self, job: Job) -> None:
        """Account for what a job has missed that has no memory, before its imagined share changes."""
        host = self.hosts[job.virtual_host]
        jobs = [*(other for other in host.jobs if other is not job), job]
        share = self.partition(jobs, host.processors, plain=job)[job] if len(jobs) <= host.processors else 0
        if share != job.share:
            job.lack = job.lack + job.share * (self.now - job.share_since)
            job.share, job.share_since = share, self.now

    def place(self, job: Job) -> bool:
        """Place a job for its full execution, if some host has the memory."""
        number = self.find_host(job.size, job.memory)
        if number is None:
            return False
        if job in self.late:
            self.late.remove(job)
            if self.policy.catch_up:
                job.lack = job.lack + job.share * (self.now - job.share_since)
                job.share, job.share_since = 0, self.now
                if job.lack > 0:
                    job.standing = "catching"
        job.placed = self.now
        self.enter(job, number)
        return True

    def enter(self, job: Job, number: int) -> None:
        job.host = number
        self.hosts[number].jobs.append(job)
        self.settle(number)

    def submit(self, job: Job) -> None:
        if not (self.policy.waiting == "fcfs" and self.queue) and self.place(job):
            return
        self.late.append(job)
        if self.policy.catch_up:
            job.share_since = self.now
            job.virtual_host = self.find_host(job.size, 0)
            if job.virtual_host is not None:
                self.note_virtual_host(job)
        number = None
        if self.policy.quantum:
            number = self.find_host(job.size, min(job.memory, self.policy.quantum_memory))
        if number is None:
            self.queue.append(job)
        else:
            job.standing = "trial"
            self.enter(job, number)

    def leave(self, job: Job) -> None:
        self.give(job, job.host, 0)
        self.hosts[job.host].jobs.remove(job)

    def act(self, job: Job) -> int:
        """Let the job whose event this is end, or change its standing; return its host."""
        number = job.host
        if self.finish(job) == self.now and not (job.standing == "trial" and self.exceeds(job)):
            self.leave(job)
            job.end = self.now
            if job in self.late:
                self.late.remove(job)
        elif job.standing == "trial":
            self.leave(job)
            job.standing = "plain"
            work = job.size * job.runtime
            if self.exceeds(job) or not self.policy.keep_quantum:
                job.left = work
            job.lack = job.lack - (work - job.left)
            self.queue = sorted([*self.queue, job], key=lambda job: job.number)
        elif job.began + self.policy.long_after == self.now:
            job.standing = "long"
        else:
            job.standing = "caught"
        return number

    def event(self, job: Job) -> Any:
        return min(self.finish(job), self.turn(job))

    def serve_queue(self) -> None:
        for job in list(self.queue):
            if self.place(job):
                self.queue.remove(job)
            elif self.policy.waiting == "fcfs":
                break

    def check(self) -> None:
        """Raise where more is used than there is, or a job has more than it asked for."""
        for host in self.hosts:
            assert host.unallocated >= 0
            assert self.free_memory(host) >= 0
            assert all(job.processors <= job.size for job in host.jobs)

    def run(self) -> None:
        instant = self.policy.ties == "instant"
        to_come = list(self.jobs)
        while True:
            running = [job for host in self.hosts for job in host.jobs]
            events = [self.event(job) for job in running] + [host.timer for host in self.hosts]
            events += [to_come[0].submit] if to_come else []
            self.now = min(events, default=inf)
            if self.now == inf:
                return
            submitted = bool(to_come) and to_come[0].submit == self.now
            touched = set()
            acted = 0
            if instant or not submitted:
                due = sorted((job for job in running if self.event(job) == self.now), key=lambda j: j.number)
                for job in due if instant else due[:1]:
                    touched.add(self.act(job))
                    acted += 1
            if instant or not (acted or submitted):
                touched |= {n for n, host in enumerate(self.hosts) if host.timer == self.now}
            for number in sorted(touched):
                self.settle(number)
            self.serve_queue()
            while to_come and to_come[0].submit == self.now:
                self.submit(to_come.pop(0))
                if not instant:
                    break
            self.check()

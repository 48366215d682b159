"""A slow and obvious twin of the simulation of partitioned machines: jobs are objects, and moves are events.

It knows nothing of tables or of the compiled policies. Rates come from `step_time` or from a speed-up in
plain Python, partitions and threads' places from the geometry in plain Python, and what a move costs is
counted thread by thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import count
from math import inf

from folding_twin import Folding, Move

from models.topology.mesh import Rectangle

admissions = count()


def rest(seconds: float) -> float:
    """Return what is left of a time, without crumbs too small to move the clock."""
    return seconds if seconds > 1e-10 else 0.0


@dataclass(frozen=True)
class Share:
    """What a job has: processors, and the work that a job does on them in a second."""

    processors: float
    rate: Callable[[Job], float]


@dataclass(eq=False)
class Job:
    """A job; `wait`, `pause` and `next_rate` are what lies before it, in this order."""

    number: int
    job_class: int
    size: int
    work: float
    arrival: float
    runtime: float = 0.0
    left: float = 0.0
    rate: float = 0.0
    wait: float = 0.0
    pause: float = 0.0
    next_rate: float = 0.0
    admitted: int = 0
    start: float | None = None
    share: Share | None = None

    @property
    def speed(self) -> float:
        if self.wait > 0:
            return self.rate
        return 0.0 if self.pause > 0 else self.next_rate

    @property
    def next_change(self) -> float:
        """Seconds until it ends, stops or goes on."""
        end = self.left / self.speed if self.speed > 0 else inf
        if self.wait > 0:
            return min(end, self.wait)
        return self.pause if self.pause > 0 else end

    def work_for(self, seconds: float) -> None:
        self.left -= seconds * self.speed
        if self.wait > 0:
            self.wait = rest(self.wait - seconds)
        elif self.pause > 0:
            self.pause = rest(self.pause - seconds)

    def move(self, wait: float, pause: float, share: Share) -> None:
        """Go on for some time, stand still for some time, then work at another rate."""
        if self.wait > 0:
            self.wait = wait
        elif self.pause == 0:
            self.rate, self.wait = self.next_rate, wait
        self.pause += pause
        self.share, self.next_rate = share, share.rate(self)

    def begin(self, now: float, wait: float, share: Share) -> None:
        self.start = now if self.start is None else self.start
        self.share, self.next_rate = share, share.rate(self)
        self.wait, self.pause, self.admitted = 0.0, wait, next(admissions)


@dataclass
class Shares:
    """A policy under which rates and costs depend on the position only.

    Parameters
    ----------
    share : callable, (jobs, position) -> Share
    seconds : callable, (jobs before, position before, jobs after, position after) -> seconds of a move
    """

    share: Callable[[int, int], Share]
    seconds: Callable[[int, int, int, int], float]
    jobs: list[Job] = field(default_factory=list)

    def arrive(self, job: Job, now: float) -> None:
        before = len(self.jobs)
        pauses = [self.seconds(before, i, before + 1, i) for i in range(before)]
        for i, (other, pause) in enumerate(zip(self.jobs, pauses, strict=True)):
            other.move(0.0, pause, self.share(before + 1, i))
        self.jobs.append(job)
        ready = max((other.wait + other.pause for other in self.jobs[:before]), default=0.0)
        job.begin(now, ready, self.share(before + 1, before))

    def depart(self, job: Job, now: float) -> None:
        before = len(self.jobs)
        freed = self.jobs.index(job)
        self.jobs[freed] = self.jobs[-1]
        self.jobs.pop()
        for i, other in enumerate(self.jobs):
            came_from = before - 1 if i == freed else i
            pause = self.seconds(before, came_from, before - 1, i)
            other.move(0.0, pause, self.share(before - 1, i))

    def rotate(self, now: float) -> None:
        pass

    def replace(self, old: Job, new: Job) -> None:
        self.jobs[self.jobs.index(old)] = new


@dataclass
class Fold:
    """Folding, with the partitions that `folding_twin` gives and the costs of section 5.2.1.

    Parameters
    ----------
    rows, columns : int
    share : callable, (height, width) -> Share
    charged : bool
        Whether arrivals and departures cost time; rotations always do.
    data, code : int
        Bytes of a thread.
    """

    rows: int
    columns: int
    share: Callable[[int, int], Share]
    charged: bool
    data: int = 4194304
    code: int = 524288
    jobs: list[Job] = field(default_factory=list)
    names: dict[Job, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.geometry = Folding(self.rows, self.columns)

    def arrive(self, job: Job, now: float) -> None:
        *others, last = self.geometry.arrive(self.name(job))
        assert not others
        self.jobs.append(job)
        moves = [move for move in last if move.before is not None]
        self.carry_out([moves], self.charged)
        ready = max((self.job(move).wait + self.job(move).pause for move in moves), default=0.0)
        (partition,) = (move.after for move in last if move.before is None)
        job.begin(now, ready, self.share(partition.height, partition.width))

    def depart(self, job: Job, now: float) -> None:
        steps = self.geometry.depart(self.names[job])
        self.jobs.remove(job)
        if len(self.jobs) == 1:
            steps = steps[-1:]  # from wherever it is, the other job unfolds to the whole machine
        moves = [[move for move in step if move.after and self.job(move) is not job] for step in steps]
        del self.names[job]
        self.carry_out(moves, self.charged)

    def rotate(self, now: float) -> None:
        self.carry_out(self.geometry.rotate() if self.jobs else [], True)

    def replace(self, old: Job, new: Job) -> None:
        self.jobs[self.jobs.index(old)] = new
        self.names[new] = self.names.pop(old)

    def name(self, job: Job) -> int:
        """Name a job for the geometry: a job that takes over a partition takes over the name."""
        self.names[job] = job.number
        return job.number

    def job(self, move: Move) -> Job:
        return next(job for job, name in self.names.items() if name == move.job)

    def carry_out(self, steps: list[list[Move]], charged: bool) -> None:
        for step in steps:
            folded = [move for move in step if move.before.n_processors > move.after.n_processors]
            for move in folded:
                self.move(move, 0.0, charged * self.seconds(move.before, self.data))
            for move in step:
                if move.before.n_processors < move.after.n_processors:
                    givers = [self.job(other) for other in folded if overlap(other.before, move.after)]
                    wait = max((giver.wait + giver.pause for giver in givers), default=0.0)
                    self.move(move, wait, charged * self.seconds(move.after, self.data + self.code))
                elif move.before.n_processors == move.after.n_processors:
                    self.move(move, 0.0, charged * 2 * self.seconds(move.after, self.data + self.code))

    def move(self, move: Move, wait: float, pause: float) -> None:
        self.job(move).move(wait, pause, self.share(move.after.height, move.after.width))

    def seconds(self, large: Rectangle, size: int) -> float:
        """Return the time for half of the threads, as many at once as the narrower side is long."""
        return self.rows * self.columns / 2 * size / (200 * 2**20) / min(large.height, large.width)


def overlap(a: Rectangle, b: Rectangle) -> bool:
    rows = min(a.top + a.height, b.top + b.height) - max(a.top, b.top)
    columns = min(a.left + a.width, b.left + b.width) - max(a.left, b.left)
    return rows > 0 and columns > 0


Policy = Shares | Fold
"""What jobs get; `jobs` are those in memory, in the order of their positions."""


@dataclass
class Twin:
    """The simulation itself.

    Parameters
    ----------
    policy : Policy
    coming : iterable of (gap, class, work, size, runtime on that size)
    limit, interval, overhead, rotation, per_job, batch_size : as the simulation has them
    """

    policy: Policy
    coming: Iterable[tuple[float, int, float, int, float]]
    limit: int
    interval: float = inf
    overhead: float = 0.0
    rotation: float = inf
    per_job: bool = False
    batch_size: int = 1000
    now: float = 0.0
    rotated: float = 0.0
    n_looks: int = 1
    queue: list[Job] = field(default_factory=list)
    responses: dict[int, float] = field(default_factory=dict)
    starts: dict[int, float] = field(default_factory=dict)
    held: dict[int, float] = field(default_factory=dict)  # processor-seconds of each job
    ended: list[Job] = field(default_factory=list)
    batches: list[list[float]] = field(default_factory=list)
    job_time: float = 0.0
    held_time: float = 0.0
    begun: float = 0.0  # delivered to jobs that had not ended as the batch began
    batch_start: float = 0.0

    def run(self) -> None:
        """Simulate until all jobs have ended."""
        arrivals = iter(self.coming)
        number, arrival = 0, 0.0
        next_job = next(arrivals, None)
        while next_job is not None or self.policy.jobs:
            due = arrival + next_job[0] if next_job is not None else inf
            changes = [self.now + job.next_change for job in self.policy.jobs]
            look = self.n_looks * self.interval if self.interval < inf else inf
            period = self.rotation * (max(1, len(self.policy.jobs)) if self.per_job else 1)
            rotate_at = max(self.now, self.rotated + period)
            then = min([due, look, rotate_at, *changes])
            for job in self.policy.jobs:
                job.work_for(then - self.now)
                held = job.share.processors * (then - self.now)
                self.held[job.number] = self.held.get(job.number, 0.0) + held
                self.held_time += held
            self.job_time += (len(self.policy.jobs) + len(self.queue)) * (then - self.now)
            self.now = then
            done = [job for job in self.policy.jobs if job.left <= 1e-9 * job.work and then in changes]
            if done:
                self.end(min(done, key=lambda job: job.number))
            elif due == then and next_job is not None:
                _, job_class, work, size, runtime = next_job
                job = Job(number, job_class, size, work, then, runtime, left=work)
                arrival, number, next_job = due, number + 1, next(arrivals, None)
                if len(self.policy.jobs) < self.limit:
                    self.policy.arrive(job, then)
                else:
                    self.queue.append(job)
            elif look == then:
                self.n_looks += 1
                self.swap()
            elif rotate_at == then:
                self.rotated = then
                self.policy.rotate(then)

    def end(self, job: Job) -> None:
        self.responses[job.number] = self.now - job.arrival
        self.starts[job.number] = job.start
        self.ended.append(job)
        if self.queue:
            self.take_over(job, self.queue.pop(0), 0.0)
        else:
            self.policy.depart(job, self.now)
        if len(self.ended) == self.batch_size:
            self.close_batch()

    def swap(self) -> None:
        """Give the places of those longest in memory to all that wait, as far as there are places."""
        longest = sorted(self.policy.jobs, key=lambda job: job.admitted)
        swapped = longest[: len(self.queue)]
        newcomers, self.queue = self.queue[: len(swapped)], self.queue[len(swapped) :] + swapped
        for old, new in zip(swapped, newcomers, strict=True):
            self.take_over(old, new, self.overhead)

    def take_over(self, old: Job, new: Job, wait: float) -> None:
        new.begin(self.now, wait, old.share)
        self.policy.replace(old, new)

    def close_batch(self) -> None:
        sums = []
        for job_class in (0, 1):
            times = [
                (self.responses[job.number], job.work) for job in self.ended if job.job_class == job_class
            ]
            ratios = [time / work for time, work in times]
            sums += [len(times), sum(time for time, _ in times), sum(ratios), sum(r * r for r in ratios)]
        in_system = [*self.policy.jobs, *self.queue]
        begun = sum((1 - job.left / job.work) * job.size * job.runtime for job in in_system)
        length = self.now - self.batch_start
        self.batches.append([*sums, self.job_time, self.held_time, begun - self.begun, length])
        self.begun = begun
        self.ended, self.job_time, self.held_time, self.batch_start = [], 0.0, 0.0, self.now

"""Fixed slices in plain Python, written from docs/production_gang_slices.md before the engines.

It looks at every slice, whether anything can change in it or not, keeps PEs as sets, and each job as an
object.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Job:
    number: int
    submit: float
    runtime: float
    size: int
    user: int
    priority: int = 0
    after: int = -1
    think: float = 0.0
    memory: int = 0  # KB a processor
    most: int = 0  # processors that it may have
    phase: int = 0
    left: float = 0.0  # s at its full size, of the phase
    has: int = 0
    wants: int = 0
    on: bool = False
    since: float = 0.0
    start: float | None = None
    end: float | None = None
    last: int = -1  # slice
    slices: int = 0
    stops: int = 0
    pes: set[int] = field(default_factory=set)
    layout: dict[int, int] = field(default_factory=dict)  # host -> CPUs
    tickets: set[int] = field(default_factory=set)
    rate: float = 0.0

    @property
    def uses(self) -> int:
        return min(self.has, self.wants)

    def on_host(self, n: int) -> dict[int, int]:
        found = {}
        for host in sorted(self.layout):
            if (k := min(n, self.layout[host])) > 0:
                found[host] = k
            n -= k
        return found


class Twin:
    """What both systems have in common; `decide` returns the jobs that run in a slice."""

    def __init__(self, jobs: list[Job], rules: dict[str, Any], phases: list[tuple[float, float]]) -> None:
        self.jobs, self.rules, self.phases = jobs, rules, phases
        self.pieces: list[tuple[int, int, float, float, float]] = []
        self.switches: list[tuple[int, int, float, float, float]] = []
        self.active: list[Job] = []
        self.waiting: list[Job] = []
        self.pending = [job for job in jobs if job.after < 0]
        self.k = 0
        self.speed_up = rules.get("delivered", 1.0)

    # -- a job's progress
    def phase_processors(self, job: Job) -> int:
        share = self.phases[job.phase][1]
        return min(max(1, math.floor(share * job.size + 0.5)), job.most)

    def speed(self, job: Job) -> float:
        return job.uses / job.size * self.speed_up

    def due(self, job: Job) -> float:
        return job.since + job.left / self.speed(job)

    def begin_phase(self, job: Job) -> None:
        job.left = self.phases[job.phase][0] * job.runtime
        job.wants = self.phase_processors(job)

    def places(self, job: Job, n: int) -> dict[int, int]:
        return job.on_host(n)

    def note(self, job: Job, now: float) -> None:
        if now > job.since:
            for host, n in self.places(job, job.uses).items():
                self.pieces.append((job.number, host, job.since, now, n))
            if job.start is None:
                job.start = job.since

    def settle(self, job: Job, now: float) -> None:
        self.note(job, now)
        job.left -= (now - job.since) * self.speed(job)
        job.since = now

    def finish_phase(self, job: Job, now: float) -> None:
        self.note(job, now)
        job.since = now
        job.phase += 1
        if job.phase == len(self.phases):
            job.on = False
            job.end = now
            self.active.remove(job)
            self.leave(job)
            self.answer(job, now)
            return
        self.begin_phase(job)
        if self.rules["adapts"] and job.wants < job.has:
            self.shrink(job, job.wants)

    def answer(self, job: Job, now: float) -> None:
        for other in self.jobs:
            if other.after == job.number:
                other.submit = now + other.think
                self.pending.append(other)

    # -- time
    def next_instant(self) -> float:
        times = [self.k * self.rules["slice"]]
        times += [self.due(job) for job in self.active if job.on]
        times += [job.submit for job in self.pending]
        return min(times)

    def submitted(self, job: Job, now: float) -> None:
        self.waiting.append(job)

    def run(self) -> Twin:
        while self.pending or self.waiting or self.active or self.others():
            now = self.next_instant()
            self.instant(now)
            if now == self.k * self.rules["slice"]:
                self.boundary(now)
                self.k += 1
            self.after_instant(now)
        return self

    def others(self) -> bool:
        return False

    def instant(self, now: float) -> None:
        while True:
            over = [job for job in self.active if job.on and self.due(job) <= now]
            if over:
                self.finish_phase(min(over, key=lambda job: job.number), now)
                continue
            come = [job for job in self.pending if job.submit <= now]
            if not come:
                return
            first = min(come, key=lambda job: (job.submit, job.number))
            self.pending.remove(first)
            self.submitted(first, now)

    def after_instant(self, now: float) -> None:
        pass

    def boundary(self, now: float) -> None:
        for job in sorted(self.active, key=lambda job: job.number):
            n = self.wish(job)
            if n > job.has:
                if job.on:
                    self.settle(job, now)
                self.grow(job, n)
        self.admit(now)
        chosen = self.decide(now)
        stopped = [job for job in self.active if job.on and job not in chosen]
        for job in stopped:
            self.settle(job, now)
            job.on = False
            job.stops += 1
        for job in chosen:
            if not job.on:
                job.on = True
                pays = any(self.meet(job, other) for other in stopped)
                job.since = now + (self.rules["switch"] if pays else 0.0)
                if pays and self.rules["switch"] > 0:
                    for host, n in self.places(job, self.loses(job)).items():
                        self.switches.append((job.number, host, now, job.since, n))
            job.last = self.k
            job.slices += 1

    def wish(self, job: Job) -> int:
        return job.wants if self.rules["adapts"] else job.most

    def loses(self, job: Job) -> int:
        return job.has

    # -- hooks
    def admit(self, now: float) -> None: ...
    def decide(self, now: float) -> list[Job]: ...
    def meet(self, job: Job, other: Job) -> bool: ...
    def grow(self, job: Job, n: int) -> None: ...
    def shrink(self, job: Job, n: int) -> None: ...
    def leave(self, job: Job) -> None: ...


class Tc2000(Twin):
    def __init__(self, jobs, rules, phases, processors: int) -> None:
        super().__init__(jobs, rules, phases)
        self.processors = processors
        self.had: dict[int, int] = {}
        self.given: dict[int, set[int]] = {}
        for job in jobs:
            job.most = job.size

    def places(self, job: Job, n: int) -> dict[int, int]:
        return {0: n}

    def crowd(self, pe: int) -> int:
        return sum(pe in job.pes for job in self.active)

    def grow(self, job: Job, n: int) -> None:
        free = sorted(set(range(self.processors)) - job.pes, key=lambda pe: (self.crowd(pe), pe))
        job.pes |= set(free[: n - job.has])
        job.has = n
        self.given[job.number] = set(job.pes)

    def shrink(self, job: Job, n: int) -> None:
        full = sorted(job.pes, key=lambda pe: (-self.crowd(pe), -pe))
        job.pes -= set(full[: job.has - n])
        job.has = n

    def user(self, job: Job) -> int:
        return {"user": job.user, "job": job.number, "none": 0}[self.rules["fair_share"]]

    def admit(self, now: float) -> None:
        for job in sorted(self.waiting, key=lambda job: (job.submit, job.number)):
            users = {self.user(other) for other in self.active}
            mine = self.user(job)
            self.had.setdefault(mine, 0)
            if users and mine not in users:
                self.had[mine] = max(self.had[mine], min(self.had[user] for user in users))
            self.begin_phase(job)
            if self.rules["placement"] == "blocks":
                self.take_block(job, self.wish(job))
            else:
                self.grow(job, self.wish(job))
            self.active.append(job)
        self.waiting = []

    def take_block(self, job: Job, n: int) -> None:
        step = 2 ** math.ceil(math.log2(n))
        blocks = [range(b, b + n) for b in range(0, self.processors, step) if b + n <= self.processors]
        block = min(blocks, key=lambda pes: (sum(map(self.crowd, pes)), pes[0]))
        job.pes = set(block)
        job.has = n
        self.given[job.number] = set(job.pes)

    def decide(self, now: float) -> list[Job]:
        def key(job: Job):
            if job.slices < self.rules["newcomer_slices"]:
                return (0, 0, job.last, job.number)
            had = 0 if self.rules["fair_share"] == "none" else self.had[self.user(job)]
            return (1, had, job.last, job.number)

        taken: set[int] = set()
        chosen = []
        for job in sorted(self.active, key=key):
            if not job.pes & taken:
                taken |= job.pes
                chosen.append(job)
        for job in chosen:
            self.had[self.user(job)] += job.has
        return chosen

    def meet(self, job: Job, other: Job) -> bool:
        return bool(job.pes & other.pes)


class Alpha(Twin):
    def __init__(self, jobs, rules, phases, processors: list[int], memory: list[float]) -> None:
        super().__init__(jobs, rules, phases)
        self.processors = processors
        self.gang = [n - rules["reserved"] for n in processors]
        self.room = [kb * rules["memory_room"] for kb in memory]
        self.capacity = list(self.room)
        self.free: list[Job] = []  # jobs that are not gang scheduled, and are there
        self.free_waiting: list[Job] = []
        self.changed = False
        self.issued = self.revoked = 0
        self.now = 0.0
        bits = max((rules["frame"] - 1).bit_length(), 1)
        self.ranks = sorted(range(rules["frame"]), key=lambda s: int(format(s, f"0{bits}b")[::-1], 2))
        for job in jobs:
            job.most = min(job.size, sum(self.gang)) if self.is_gang(job) else job.size
            job.memory = -(-job.memory // job.most)

    def is_gang(self, job: Job) -> bool:
        return job.size >= self.rules["gang_from"]

    def loses(self, job: Job) -> int:
        return job.uses  # the class scheduler gives others the rest

    # -- jobs that are not gang scheduled
    def others(self) -> bool:
        return bool(self.free or self.free_waiting)

    def host_of(self, job: Job) -> int:
        return next(iter(job.layout))

    def next_instant(self) -> float:
        times = [self.now + job.left / job.rate for job in self.free if job.rate > 0]
        return min([super().next_instant(), *times])

    def submitted(self, job: Job, now: float) -> None:
        (self.waiting if self.is_gang(job) else self.free_waiting).append(job)

    def instant(self, now: float) -> None:
        for job in self.free:
            job.left -= job.rate * (now - self.now)
        self.now = now
        for job in [job for job in self.free if job.rate > 0 and job.left <= 1e-9 * max(job.runtime, 1)]:
            self.note_free(job, now)
            job.end = now
            self.free.remove(job)
            self.leave(job)
            self.answer(job, now)
        super().instant(now)
        while self.free_waiting:
            job = min(self.free_waiting, key=lambda job: (job.submit, job.number))
            hosts = [
                h
                for h, n in enumerate(self.processors)
                if n >= job.size and self.room[h] >= job.memory * job.size
            ]
            if not hosts:
                break
            busy = [
                sum(o.size for o in self.free if self.host_of(o) == h) for h in range(len(self.processors))
            ]
            host = min(hosts, key=lambda h: ((busy[h] + job.size) / self.processors[h], h))
            self.free_waiting.remove(job)
            job.layout = {host: job.size}
            self.room[host] -= job.memory * job.size
            job.left, job.rate, job.since = job.runtime, -1.0, now
            self.free.append(job)

    def after_instant(self, now: float) -> None:
        for h, n in enumerate(self.processors):
            here = [job for job in self.free if self.host_of(job) == h]
            if not here:
                continue
            gangs = sum(job.on_host(job.uses).get(h, 0) for job in self.active if job.on)
            rate = min(1.0, (n - gangs) / sum(job.size for job in here))
            for job in here:
                if job.rate != rate:
                    self.note_free(job, now)
                    job.rate, job.since = rate, now

    def note_free(self, job: Job, now: float) -> None:
        if now > job.since and job.rate > 0:
            self.pieces.append((job.number, self.host_of(job), job.since, now, job.size * job.rate))
            if job.start is None:
                job.start = job.since

    # -- gangs
    def leave(self, job: Job) -> None:
        for host, n in job.layout.items():
            self.room[host] += n * job.memory
        self.changed = True

    def grow(self, job: Job, n: int) -> None:
        job.has = n
        self.changed = True

    shrink = grow

    def committed(self, h: int) -> int:
        return sum(job.on_host(job.has).get(h, 0) for job in self.active)

    def alone(self, job: Job, h: int) -> bool:
        return self.gang[h] >= job.most and self.capacity[h] >= job.memory * job.most

    def admit(self, now: float) -> None:
        for job in sorted(self.waiting, key=lambda job: (job.submit, job.number)):
            layout = self.place(job)
            if layout is None:
                return
            self.waiting.remove(job)
            job.layout = layout
            for host, n in layout.items():
                self.room[host] -= n * job.memory
            self.begin_phase(job)
            self.active.append(job)
            self.grow(job, self.wish(job))

    def place(self, job: Job) -> dict[int, int] | None:
        hosts = range(len(self.gang))
        able = [h for h in hosts if self.alone(job, h)]
        if able:
            able = [h for h in able if self.room[h] >= job.memory * job.most]
            wants = self.wish_at_first(job)
            if not able:
                return None
            return {min(able, key=lambda h: ((self.committed(h) + wants) / self.gang[h], h)): job.most}
        rest, layout = job.most, {}
        for h in sorted(
            hosts, key=lambda h: (self.committed(h) / self.gang[h] if self.gang[h] else math.inf, h)
        ):
            k = min(rest, self.gang[h])
            if job.memory:
                k = min(k, int(self.room[h] // job.memory))
            if k > 0:
                layout[h] = k
                rest -= k
        return layout if rest == 0 else None

    def wish_at_first(self, job: Job) -> int:
        return self.phase_processors(job) if self.rules["adapts"] else job.most

    def decide(self, now: float) -> list[Job]:
        if self.changed:
            self.issue()
            self.changed = False
        used = [0] * len(self.gang)
        slot = self.k % self.rules["frame"]
        chosen = [job for job in self.active if slot in job.tickets]
        for job in chosen:
            for h, n in job.on_host(job.has).items():
                used[h] += n
        order = sorted(self.active, key=lambda job: (-job.priority, job.last, job.number))
        local = [job for job in order if not self.spanned(job)]
        more = [job for job in order if self.spanned(job) and job not in chosen]
        for job in local + more:
            mine = job.on_host(job.has)
            if all(used[h] + n <= self.gang[h] for h, n in mine.items()):
                for h, n in mine.items():
                    used[h] += n
                chosen.append(job)
        return chosen

    def spanned(self, job: Job) -> dict[int, int]:
        """Return the CPUs that a job has that spans computers, nothing of another."""
        if any(self.alone(job, h) for h in range(len(self.gang))):
            return {}
        return job.on_host(job.has)

    def issue(self) -> None:
        frame = self.rules["frame"]
        full = [[0] * len(self.gang) for _ in range(frame)]
        for job in sorted(self.active, key=lambda job: (-job.priority, job.number)):
            mine = self.spanned(job)
            if not mine:
                continue
            shall = frame
            for h in mine:
                there = [(other.priority, other.on_host(other.has).get(h, 0)) for other in self.active]
                above = sum(n for priority, n in there if priority > job.priority)
                equal = sum(n for priority, n in there if priority == job.priority)
                g = self.gang[h]
                if above >= g:
                    shall = 0
                elif above + equal > g:
                    shall = min(shall, max(1, frame * (g - above) // equal))

            def has_room(s: int, mine=mine) -> bool:
                return all(full[s][h] + n <= self.gang[h] for h, n in mine.items())

            had = set(job.tickets)
            kept: list[int] = []
            for s in self.ranks:
                if s in had and len(kept) < shall and has_room(s):
                    kept.append(s)
            self.revoked += len(had) - len(kept)
            while len(kept) < shall:
                able = [s for s in self.ranks if s not in kept and has_room(s)]
                if not able:
                    break
                kept.append(min(able, key=lambda s: (sum(full[s][h] for h in mine), self.ranks.index(s))))
                self.issued += 1
            job.tickets = set(kept)
            for s in kept:
                for h, n in mine.items():
                    full[s][h] += n

    def meet(self, job: Job, other: Job) -> bool:
        return bool(job.on_host(job.has).keys() & other.on_host(other.has).keys())

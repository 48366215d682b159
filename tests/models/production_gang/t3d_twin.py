"""The Cray T3D's schedulers again, slow and plain, from the paper and the rules alone.

Shares no code and no data structure with the engine. Who owns a node is asked of all residencies, and what
happens next of all jobs; a machine is a box of coordinates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import inf, isnan, prod
from typing import Any

DAY = 86_400.0
Node = tuple[int, ...]


@dataclass
class Job:
    """A job and what becomes of it; times in seconds."""

    number: int
    submit: float
    runtime: float
    processors: int
    requested: float = float("nan")
    user: int = 0
    job_class: str | None = None
    after: int = -1
    think: float = 0.0

    size: int = 0
    state: str = "unknown"  # queued, new, assigned, loading, running, leaving, disk, suspended, ended
    admitted: float | None = None
    on_top: bool = False
    since: float = 0.0
    wire: int | None = None
    left: float = 0.0
    run_since: float = 0.0
    start: float | None = None
    end: float | None = None
    pieces: list[tuple[float, float]] = field(default_factory=list)
    preempted: int = 0
    stay: Stay | None = None


@dataclass
class Stay:
    """A residency: from the moment a job was assigned nodes until they are free of its memory."""

    job: Job
    corner: Node
    nodes: frozenset[Node]
    wire: int
    assigned: float
    ready: float
    begins: float
    stops: float = inf
    gone: float = inf


class Box:
    """The nodes of a machine: a torus, its blocks and its neighbours."""

    def __init__(self, machine: Mapping[str, Any]) -> None:
        sides = [int(side) for side in str(machine["torus"]).split("x")]
        self.per_node = int(machine.get("node_processors", 1))
        sides[0] //= self.per_node
        self.sides = tuple(sides)
        self.places = machine.get("places", "aligned")
        self.nodes = list(product(*(range(side) for side in self.sides)))  # along the last dimension first
        self.shapes = {prod(self.sides): self.sides}  # nodes -> sides of a block
        shape = list(self.sides)
        while prod(shape) > 1:
            longest = max(shape)
            which = max(dimension for dimension, side in enumerate(shape) if side == longest)
            shape[which] //= 2
            self.shapes[prod(shape)] = tuple(shape)

    def number(self, node: Node) -> int:
        return self.nodes.index(node)

    def block(self, corner: Node, shape: Sequence[int]) -> frozenset[Node]:
        spans = [[(c + i) % n for i in range(s)] for c, s, n in zip(corner, shape, self.sides, strict=True)]
        return frozenset(product(*spans))

    def corners(self, n_nodes: int) -> Iterator[Node]:
        shape = self.shapes[n_nodes]
        step = {"aligned": shape, "half": [max(side // 2, 1) for side in shape], "any": [1] * len(shape)}[
            self.places
        ]
        for node in self.nodes:
            if all(
                c == 0 if s == n else c % every == 0
                for c, s, n, every in zip(node, shape, self.sides, step, strict=True)
            ):
                yield node

    def neighbours(self, node: Node) -> list[Node]:
        """Return six nodes (four on a torus of two dimensions), some of them the same on short sides."""
        found = []
        for dimension, side in enumerate(self.sides):
            for step in (1, -1):
                moved = list(node)
                moved[dimension] = (moved[dimension] + step) % side
                found.append(tuple(moved))
        return found

    def buddy(self, corner: Node, n_nodes: int) -> frozenset[Node]:
        """Return the aligned block of `n_nodes` nodes that contains a node."""
        shape = self.shapes[n_nodes]
        return self.block(tuple(c - c % s for c, s in zip(corner, shape, strict=True)), shape)


class Twin:
    """One run; `machine` and `policy` are resolved YAML files, `clock` the seconds since Monday at time 0."""

    def __init__(
        self, jobs: Sequence[Job], machine: Mapping[str, Any], policy: Mapping[str, Any], clock: float = 0.0
    ) -> None:
        self.box, self.policy, self.clock, self.jobs = Box(machine), policy, clock, list(jobs)
        self.wires = int(machine.get("barrier_wires", 4))
        self.strict = machine.get("wire_neighbours", "forbidden") == "forbidden"
        self.stays: list[Stay] = []
        self.now = 0.0
        self.usage: dict[int, float] = {}
        self.moved_until = 0.0  # of one channel for all images
        self.greedy: set[int] = set()  # users of a high nice value
        given = [str(text).split() for text in policy["commands"]]
        self.commands = sorted((float(words[0][:-1]), place, *words[1:]) for place, words in enumerate(given))
        for job in self.jobs:
            job.size = self.box.per_node
            while job.size < job.processors:
                job.size *= 2
            job.left = job.runtime
            if job.job_class is None:
                job.job_class = self._class_by_rule(job)

    # What the clock and the policy say

    def _class_by_rule(self, job: Job) -> str:
        rule = self.policy["unclassified"]
        if rule != "by_limits":
            return str(rule)
        limits = self.policy["interactive_limits"]
        small = job.processors <= limits["processors"] and self.asked(job) <= limits["hours"] * 3600
        return "interactive" if small else "production"

    def asked(self, job: Job) -> float:
        return job.runtime if isnan(job.requested) else job.requested

    def weekend(self) -> bool:
        return int((self.clock + self.now) // DAY) % 7 >= 5

    def prime(self) -> bool:
        hours = self.policy["prime_time"]
        hour = ((self.clock + self.now) % DAY) / 3600
        return bool(hours["from"] <= hour < hours["until"] and (hours["weekends"] or not self.weekend()))

    def at_this_hour(self, value: Any, otherwise: float) -> float:
        if isinstance(value, Mapping):
            value = value["prime" if self.prime() else "night"]
        return otherwise if value is None else float(value)

    def effective(self, job: Job) -> str:
        if job.user in self.greedy and self.policy["classes"][job.job_class]["preemptable"]:
            return "standby"
        return job.job_class

    def rule(self, job: Job, key: str, otherwise: float = inf) -> float:
        return self.at_this_hour(self.policy["classes"][self.effective(job)][key], otherwise)

    def is_batch(self, job: Job) -> bool:
        return bool(self.policy["classes"][job.job_class]["batch"])

    def urgent(self, job: Job) -> bool:
        return self.now - job.since >= self.rule(job, "max_wait")

    def queue(self, job: Job) -> Mapping[str, Any]:
        for queue in self.policy["queues"]:
            hours = queue["hours"]
            if job.size <= queue["processors"] and (hours is None or self.asked(job) <= hours * 3600):
                return dict(queue)
        return {"name": None, "run_limit": None, "open": "always"}

    # Who is where

    def owner(self, node: Node) -> Job | None:
        for job in self.jobs:
            if job.state in ("assigned", "loading", "running") and node in job.stay.nodes:
                return job
        return None

    def leaving_until(self, node: Node) -> float:
        return max((stay.gone for stay in self.stays if node in stay.nodes and stay.gone < inf), default=-inf)

    def owners(self) -> list[Job]:
        return [job for job in self.jobs if job.state in ("assigned", "loading", "running")]

    # Admission

    def admit(self) -> None:
        queued = sorted(
            (job for job in self.jobs if job.state == "queued"), key=lambda job: (job.submit, job.number)
        )
        there = [job for job in self.jobs if job.admitted is not None and job.state != "ended"]
        drained: set[str] = set()  # names of queues; a job that no queue fits is in one of its own
        everything = False
        for job in queued:
            all_of_them = sum(other.size for other in there)
            fits = all_of_them + job.size <= self.at_this_hour(self.policy["aggregate_limit"], inf)
            if self.is_batch(job):
                queue = self.queue(job)
                if everything or queue["name"] in drained:
                    continue
                day = int((self.clock + self.now) // DAY) % 7  # from Monday, 0, on
                on_weekend = 5 <= day < 5 + int(self.policy.get("weekend_days", 2))
                is_open = {"always": True, "night": not self.prime(), "weekend": on_weekend}[queue["open"]]
                if not is_open:
                    continue
                of_queue = sum(
                    other.size
                    for other in there
                    if self.is_batch(other) and self.queue(other)["name"] == queue["name"]
                )
                batch = [other for other in there if self.is_batch(other)]
                within = sum(other.size for other in batch if not other.on_top)
                in_all = sum(other.size for other in batch)
                run_limit = self.at_this_hour(queue["run_limit"], inf)
                batch_limit = self.at_this_hour(self.policy["batch_limit"], inf)
                queue_fits = of_queue + job.size <= run_limit
                over = self.policy["oversubscribe"]
                on_top = (
                    over is not None and not self.prime() and over["from"] <= job.size <= over["processors"]
                )
                job.on_top = on_top and in_all + job.size <= over["processors"]
                fits = fits and queue_fits and (job.on_top or within + job.size <= batch_limit)
                ever = job.size <= run_limit and (on_top or job.size <= batch_limit)
                if ever and not fits:
                    after = self.policy["drain_after"]
                    if after is not None and self.now - job.submit >= after:
                        drained |= set() if queue_fits else {queue["name"]}
                        everything = everything or queue_fits
            if fits:
                job.state, job.admitted, job.since = "new", self.now, self.now
                there.append(job)

    # Placing

    def place(self) -> None:
        waiting = [job for job in self.jobs if job.state in ("new", "disk")]
        by_size = self.policy["order"] == "largest"

        def rank(job: Job) -> tuple[float, ...]:
            size = -job.size if by_size else 0
            on_disk = self.policy.get("location", "ignored")
            late = {"ignored": False, "disk_last": job.state == "disk", "disk_first": job.state != "disk"}[
                on_disk
            ]
            return -self.rule(job, "priority"), not self.urgent(job), late, size, job.since, job.number

        for job in sorted(waiting, key=rank):
            cls = self.effective(job)
            held = sum(other.size for other in self.owners() if self.effective(other) == cls)
            if held + job.size > self.rule(job, "processor_limit"):
                continue
            choice = self.free_place(job)
            if choice is None and self.policy["preemptive"]:
                choice = self.place_with_victims(job)
            if choice is not None:
                self.assign(job, *choice)
            elif self.policy["blocking"] == "always" or (
                self.policy["blocking"] == "urgent" and self.urgent(job)
            ):
                return

    def wire_for(self, job: Job, nodes: frozenset[Node], victims: Sequence[Job]) -> tuple[int, int] | None:
        """Return the wire that a job takes at a place, and how many others have it; None if there is none.

        Jobs on disk keep theirs.
        """
        others = [owner for owner in self.owners() if owner not in victims]
        taken = set()
        if self.strict:
            around = {near for node in nodes for near in self.box.neighbours(node)} - nodes
            for owner in others:
                if owner.stay.nodes & around:
                    taken.add(owner.wire)
        able = [job.wire] if job.wire is not None else range(self.wires)
        having = [other.wire for other in self.jobs if other is not job and other.state != "ended"]
        users = [(having.count(wire), wire) for wire in able if wire not in taken]
        if not users:
            return None
        n_owners, wire = min(users)
        return wire, n_owners

    def alike(self, job: Job, nodes: frozenset[Node], victims: Sequence[Job]) -> int:
        cls, found = self.effective(job), 0
        for node in nodes:
            for near in self.box.neighbours(node):
                if near not in nodes:
                    owner = self.owner(near)
                    found += owner is not None and owner not in victims and self.effective(owner) == cls
        return found

    def free_place(self, job: Job) -> tuple[Node, int, list[Job], float] | None:
        n_nodes, found = job.size // self.box.per_node, []
        for index, corner in enumerate(self.box.corners(n_nodes)):
            nodes = self.box.block(corner, self.box.shapes[n_nodes])
            if any(self.owner(node) is not None for node in nodes):
                continue
            wire = self.wire_for(job, nodes, [])
            if wire is None:
                continue
            ready = max(self.now, *(self.leaving_until(node) for node in nodes))
            fit = n_nodes
            for larger in sorted(self.box.shapes):
                if larger >= n_nodes and all(
                    self.owner(node) is None for node in self.box.buddy(corner, larger)
                ):
                    fit = larger
            found.append(
                ((ready, fit, -self.alike(job, nodes, []), wire[1], index), (corner, wire[0], [], ready))
            )
        return min(found, key=lambda each: each[0])[1] if found else None

    def is_victim(self, other: Job, job: Job) -> bool:
        lower, mine = self.rule(other, "priority"), self.rule(job, "priority")
        rules = self.policy["classes"]
        return (
            other.state == "running"
            and rules[self.effective(other)]["preemptable"]
            and (lower < mine or (lower == mine and self.urgent(job)))
            and (
                self.now >= other.run_since + other.size * self.rule(other, "do_not_disturb", 0.0)
                or not rules[self.effective(job)]["heeds_slices"]
            )
        )

    def place_with_victims(self, job: Job) -> tuple[Node, int, list[Job], float] | None:
        n_nodes, found = job.size // self.box.per_node, []
        for index, corner in enumerate(self.box.corners(n_nodes)):
            nodes = self.box.block(corner, self.box.shapes[n_nodes])
            there = {owner.number: owner for node in nodes if (owner := self.owner(node)) is not None}
            victims = [there[number] for number in sorted(there)]
            if not victims or not all(self.is_victim(other, job) for other in victims):
                continue
            wire = self.wire_for(job, nodes, victims)
            if wire is None:
                continue
            if self.policy.get("channel") == "shared":
                seconds = sum(other.size * self.policy["swap_out"] for other in victims)
                ready = max(self.now, self.moved_until) + seconds
            else:
                written = [self.now + other.size * self.policy["swap_out"] for other in victims]
                ready = max(self.now, *written, *(self.leaving_until(node) for node in nodes))
            key = (
                max(self.rule(other, "priority") for other in victims),
                sum(other.size for other in victims),
                ready,
                len(victims),
                -self.alike(job, nodes, victims),
                wire[1],
                index,
            )
            found.append((key, (corner, wire[0], victims, ready)))
        return min(found, key=lambda each: each[0])[1] if found else None

    def assign(self, job: Job, corner: Node, wire: int, victims: Sequence[Job], ready: float) -> None:
        nodes = self.box.block(corner, self.box.shapes[job.size // self.box.per_node])
        for other in sorted(victims, key=lambda other: self.first_from(corner, other, nodes)):
            self.stop(other)
        begins = self.moved(ready, job.size * self.policy["swap_in"]) if job.state == "disk" else ready
        job.wire, job.state = wire, "assigned"
        job.stay = Stay(job, corner, nodes, wire, self.now, ready, begins)
        self.stays.append(job.stay)

    def stop(self, job: Job) -> None:
        """Take a running job's nodes away; its image is written to disk."""
        if self.now > job.run_since:
            job.pieces.append((job.run_since, self.now))
        job.left -= self.now - job.run_since
        job.state, job.since = "leaving", self.now
        job.preempted += 1
        job.stay.stops = self.now
        job.stay.gone = self.moved(self.now, job.size * self.policy["swap_out"])

    def first_from(self, corner: Node, other: Job, nodes: frozenset[Node]) -> Node:
        """Return the first node of a job in a block, counted from the block's corner on."""
        sides = self.box.sides
        return min(
            tuple((n - c) % side for n, c, side in zip(node, corner, sides, strict=True))
            for node in nodes & other.stay.nodes
        )

    def moved(self, ready: float, seconds: float) -> float:
        """Return when an image that is ready has been moved."""
        if self.policy.get("channel") != "shared":
            return ready + seconds
        queue = max(ready, self.moved_until)
        self.moved_until = queue + seconds
        return self.moved_until

    # Time

    def happen(self) -> bool:
        """Carry out all events of this instant; return whether there were any."""
        anything = False
        for job in self.jobs:
            stay = job.stay
            if job.state == "running" and job.run_since + job.left <= self.now:
                self.end(job)
            elif job.state == "leaving" and stay is not None and stay.gone <= self.now:
                job.state = "disk"
            elif job.state == "assigned" and stay is not None and stay.begins <= self.now:
                job.state, job.run_since = "running", self.now
                job.start = self.now if job.start is None else job.start
            elif job.state == "unknown" and self.submission(job) <= self.now:
                job.state, job.submit = "queued", self.submission(job)
            else:
                continue
            anything = True
        return anything

    def obey(self) -> bool:
        """Carry out what operators have asked for until now, in s; return whether anything was done."""
        anything, there = False, [job for job in self.jobs if job.state != "unknown"]
        there.sort(key=lambda job: (job.submit, job.number))
        for command in [command for command in self.commands if command[0] <= self.now]:
            what, job, classes = command[2], None, self.policy["classes"]
            if int(command[3]) <= len(there):
                job = there[int(command[3]) - 1]
                if job.state in ("assigned", "leaving"):
                    continue  # a switch is not interrupted: again when it is over
            self.commands.remove(command)
            if job is None or job.state in ("queued", "ended"):
                continue
            anything = True
            if what == "suspend" and classes[job.job_class]["preemptable"]:
                if job.state == "running":
                    self.stop(job)
                    self.commands.insert(0, command)
                else:
                    job.state = "suspended"
            elif what == "resume" and job.state == "suspended":
                job.state, job.since = "new" if job.stay is None else "disk", self.now
            elif what == "kill":
                if job.state == "running":
                    self.end(job)
                job.state, job.end = "ended", self.now
            elif what == "class":
                limit = classes[command[4]]["processor_limit"]
                both = limit.values() if isinstance(limit, Mapping) else [limit]
                if any(most is None or job.size <= most for most in both):
                    job.job_class = command[4]
        return anything

    def end(self, job: Job) -> None:
        if self.now > job.run_since:
            job.pieces.append((job.run_since, self.now))
        job.state, job.end, job.left = "ended", self.now, 0.0
        job.stay.stops = job.stay.gone = self.now

    def submission(self, job: Job) -> float:
        if job.after < 0:
            return job.submit
        before = self.jobs[job.after].end
        return inf if before is None else before + job.think

    def next_of(self, job: Job) -> float:
        """Return when a job will be submitted, if it is not yet; all others wait for something now."""
        return self.submission(job) if job.state == "unknown" else self.now

    def set_nice_values(self, since: float) -> None:
        """Let users of more than their share have a high nice value until the next check."""
        nice = self.policy["nice"]
        decay = 2 ** (-nice["every"] / nice["half_life"])
        for user in {job.user for job in self.jobs}:
            had = 0.0
            for job in self.jobs:
                if job.user == user:
                    pieces = [*job.pieces]
                    if job.state == "running":
                        pieces.append((job.run_since, self.now))
                    had += job.size * sum(max(end - max(begin, since), 0.0) for begin, end in pieces)
            self.usage[user] = self.usage.get(user, 0.0) * decay + had
        here = {job.user for job in self.jobs if job.state not in ("unknown", "ended")}
        mean = sum(self.usage[user] for user in here) / len(here) if here else 0.0
        self.greedy = {user for user, had in self.usage.items() if here and had > nice["above"] * mean}

    def next_times(self) -> Iterator[float]:
        for job in self.jobs:
            if job.state == "unknown":
                yield self.submission(job)
            elif job.state == "assigned":
                yield job.stay.begins
            elif job.state == "running":
                yield job.run_since + job.left
                yield job.run_since + job.size * self.rule(job, "do_not_disturb", 0.0)
            elif job.state == "leaving":
                yield job.stay.gone
            if job.state in ("new", "disk", "leaving"):
                yield job.since + self.rule(job, "max_wait")
        yield from (command[0] for command in self.commands)
        midnight = (self.clock + self.now) // DAY * DAY - self.clock
        hours = self.policy["prime_time"]
        for day in (midnight, midnight + DAY):
            yield from (day, day + hours["from"] * 3600, day + hours["until"] * 3600)
        if self.policy["nice"]["above"] is not None:
            every = self.policy["nice"]["every"]
            yield (self.now // every + 1) * every

    def run(self) -> Twin:
        """Run all jobs to their ends; `AssertionError` if they do not come to them."""
        nice, last_check, quiet_since = self.policy["nice"], 0.0, 0.0
        self.now = min(job.submit for job in self.jobs)
        while any(job.state != "ended" for job in self.jobs):
            queued = sum(job.state == "queued" for job in self.jobs)
            if any(job.state not in ("queued", "ended") and self.next_of(job) < inf for job in self.jobs):
                quiet_since = self.now
            assert self.now < quiet_since + 15 * DAY, f"{queued} jobs wait for ever"
            is_due = nice["above"] is not None and self.now > 0 and self.now % nice["every"] == 0
            self.happen()
            while self.obey():
                self.happen()
            if is_due:
                self.set_nice_values(last_check)
                last_check = self.now
            for _ in range(1000):
                stops = sum(job.preempted for job in self.jobs)
                self.admit()
                self.place()
                preempting = sum(job.preempted for job in self.jobs) > stops
                if not self.happen() and not preempting:
                    break
            else:
                raise AssertionError(f"no end at {self.now}")
            self.now = min((time for time in self.next_times() if time > self.now), default=inf)
        return self

"""Are the laws of the T3D kept? Asked of who had which nodes when, with no word from the scheduler.

`violations` takes the residencies, the jobs, the machine and the rules, and returns every law that is broken,
as ``law: what happened``. It shares no code with the engine; where it cannot know what was possible (a job
that was not the first in a pass), it lets the scheduler be right.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise, product
from math import inf, prod
from typing import Any, Protocol

import numpy as np

CLASSES = ("express", "interactive", "debug", "production", "benchmark", "standby")
EXPRESS = 0
DAY = 86_400.0
NEARLY = 1e-6
"""Seconds by which sums may be off that are added up in another order."""


class Stays(Protocol):
    """Residencies, arrays of one length in order of assignment; see `Checker`."""

    job: np.ndarray
    corner: np.ndarray
    wire: np.ndarray
    assigned: np.ndarray
    ready: np.ndarray
    begins: np.ndarray
    stops: np.ndarray
    gone: np.ndarray


class JobsThere(Protocol):
    """Jobs in order of submission: ``size`` is the processors they had, ``memory`` KB of the whole job."""

    submit: np.ndarray
    runtime: np.ndarray
    requested: np.ndarray
    size: np.ndarray
    memory: np.ndarray
    job_class: Any


class Geometry:
    """The machine's nodes, its blocks of every size, and their neighbours."""

    def __init__(self, machine: Mapping[str, Any]) -> None:
        sides = [int(side) for side in str(machine["torus"]).split("x")]
        self.per_node = int(machine["node_processors"])
        self.sides = (sides[0] // self.per_node, *sides[1:])
        self.n_nodes = prod(self.sides)
        self.numbers = np.arange(self.n_nodes).reshape(self.sides)
        self.near = np.stack(
            [
                np.roll(self.numbers, -step, axis).ravel()
                for axis in range(len(self.sides))
                for step in (1, -1)
            ],
            axis=1,
        )
        self.shapes: dict[int, tuple[int, ...]] = {}
        shape = list(self.sides)
        while True:
            self.shapes[prod(shape)] = tuple(shape)
            if prod(shape) == 1:
                break
            longest = max(range(len(shape)), key=lambda axis: (shape[axis], axis))
            shape[longest] //= 2
        self.places: dict[int, dict[int, np.ndarray]] = {
            size: dict(self._places(shape, machine["places"])) for size, shape in self.shapes.items()
        }
        self.around = {
            size: {corner: np.setdiff1d(self.near[nodes], nodes) for corner, nodes in places.items()}
            for size, places in self.places.items()
        }

    def _places(self, shape: tuple[int, ...], how: str) -> Iterator[tuple[int, np.ndarray]]:
        for corner in product(*(range(side) for side in self.sides)):
            allowed = True
            for at, side, whole in zip(corner, shape, self.sides, strict=True):
                every = {"aligned": side, "half": max(side // 2, 1), "any": 1}[how]
                allowed &= at == 0 if side == whole else at % every == 0
            if allowed:
                spans = [
                    (at + np.arange(side)) % whole
                    for at, side, whole in zip(corner, shape, self.sides, strict=True)
                ]
                yield int(self.numbers[corner]), self.numbers[np.ix_(*spans)].ravel()


class Checker:
    """One run, as its residencies tell it.

    Parameters
    ----------
    stays : Stays
        ``job`` is the position in `jobs`, ``corner`` a number of a node.
    jobs : JobsThere
    machine, policy : mapping
        Resolved YAML files; of a policy with high nice values only what does not depend on them is looked at.
    admitted : ndarray of float, shape (n_jobs,), seconds
    clock : float
        Seconds since Monday, 0:00, at time 0.
    """

    def __init__(
        self,
        stays: Stays,
        jobs: JobsThere,
        machine: Mapping[str, Any],
        policy: Mapping[str, Any],
        admitted: np.ndarray,
        clock: float = 0.0,
    ) -> None:
        self.stays, self.jobs, self.machine, self.policy = stays, jobs, machine, policy
        self.admitted, self.clock = admitted, clock
        self.box = Geometry(machine)
        self.names = [CLASSES[number] for number in jobs.job_class]
        self.of_job: list[list[int]] = [[] for _ in range(len(jobs.size))]
        for stay in np.lexsort((np.arange(len(stays.job)), stays.assigned)):
            self.of_job[stays.job[stay]].append(int(stay))
        self.end = np.array([stays.stops[own[-1]] if own else inf for own in self.of_job])
        self.plain = policy["nice"]["above"] is None
        self.found: list[str] = []

    def say(self, law: str, what: str) -> None:
        self.found.append(f"{law}: {what}")

    # What the policy says at a moment

    def is_weekend(self, now: float) -> bool:
        return int((self.clock + now) // DAY) % 7 >= 5

    def is_prime(self, now: float) -> bool:
        hours, hour = self.policy["prime_time"], (self.clock + now) % DAY / 3600
        return bool(
            hours["from"] <= hour < hours["until"] and (hours["weekends"] or not self.is_weekend(now))
        )

    def at(self, value: Any, now: float, otherwise: float = inf) -> float:
        if isinstance(value, Mapping):
            value = value["prime" if self.is_prime(now) else "night"]
        return otherwise if value is None else float(value)

    def rule(self, job: int, key: str, now: float, otherwise: float = inf) -> float:
        return self.at(self.policy["classes"][self.names[job]][key], now, otherwise)

    def flag(self, job: int, key: str) -> bool:
        return bool(self.policy["classes"][self.names[job]][key])

    def since(self, stay: int) -> float:
        """Return from when on the job of a residency waited for it."""
        job = int(self.stays.job[stay])
        before = [
            other
            for other in self.of_job[job]
            if other != stay and self.stays.stops[other] <= self.stays.assigned[stay]
        ]
        return float(max((self.stays.stops[other] for other in before), default=self.admitted[job]))

    # The laws

    def all(self) -> list[str]:
        self.jobs_fit()
        if not self.found:  # the others look at places
            self.work_is_done_and_switches_are_paid()
            self.nodes_and_wires()
            self.preemptions()
            self.express_at_once()
            self.admissions()
        return self.found

    def jobs_fit(self) -> None:
        """Sizes that there are, at places that there are, with memory that a node has."""
        limit = self.machine.get("memory_gb_per_processor")
        for job, size in enumerate(self.jobs.size.tolist()):
            nodes, rest = divmod(size, self.box.per_node)
            if rest or nodes not in self.box.shapes:
                self.say("shape", f"job {job} has {size} processors")
                continue
            if limit is not None and self.jobs.memory[job] / size > limit * 2**20:
                self.say("memory", f"job {job} has {self.jobs.memory[job] / size:.0f} KB for each processor")
            for stay in self.of_job[job]:
                if int(self.stays.corner[stay]) not in self.box.places[nodes]:
                    self.say(
                        "place", f"job {job} of {size} processors begins at node {self.stays.corner[stay]}"
                    )
                if not 0 <= self.stays.wire[stay] < self.machine["barrier_wires"]:
                    self.say("wires", f"job {job} has wire {self.stays.wire[stay]}")

    def work_is_done_and_switches_are_paid(self) -> None:
        """All work is done once; every image is written and read in full; the wire stays the same."""
        stays = self.stays
        for job, own in enumerate(self.of_job):
            if not own:
                self.say("work", f"job {job} never runs")
                continue
            done = sum(stays.stops[stay] - stays.begins[stay] for stay in own)
            if abs(done - self.jobs.runtime[job]) > NEARLY * max(1.0, self.jobs.runtime[job]):
                self.say("work", f"job {job} runs for {done} s of {self.jobs.runtime[job]}")
            if len({int(stays.wire[stay]) for stay in own}) > 1:
                self.say("wire moved", f"job {job} has wires {[int(stays.wire[stay]) for stay in own]}")
            if stays.assigned[own[0]] < max(self.admitted[job], self.jobs.submit[job]):
                self.say("times", f"job {job} has nodes before it is submitted and admitted")
            size = self.jobs.size[job]
            for number, stay in enumerate(own):
                times = [
                    stays.assigned[stay],
                    stays.ready[stay],
                    stays.begins[stay],
                    stays.stops[stay],
                    stays.gone[stay],
                ]
                if any(later < earlier for earlier, later in pairwise(times)):
                    self.say("times", f"residency {stay} of job {job} is {times}")
                read = 0.0 if number == 0 else size * self.policy["swap_in"]
                written = 0.0 if number == len(own) - 1 else size * self.policy["swap_out"]
                if abs(stays.begins[stay] - stays.ready[stay] - read) > NEARLY:
                    self.say(
                        "switch",
                        f"job {job} is read in {stays.begins[stay] - stays.ready[stay]} s, not {read}",
                    )
                if abs(stays.gone[stay] - stays.stops[stay] - written) > NEARLY:
                    self.say(
                        "switch",
                        f"job {job} is written in {stays.gone[stay] - stays.stops[stay]} s, not {written}",
                    )
                if number and stays.assigned[stay] < stays.gone[own[number - 1]]:
                    self.say("switch", f"job {job} has nodes again before its image was written")

    def nodes_and_wires(self) -> None:
        """One owner a node, no image overwritten, no wire in two jobs side by side, limits of the classes."""
        stays, n_nodes = self.stays, self.box.n_nodes
        last = np.full(n_nodes, -1)  # residency that had a node last
        image_until = np.full(n_nodes, -inf)
        active: list[int] = []
        strict = self.machine["wire_neighbours"] == "forbidden"
        for stay in np.lexsort((np.arange(len(stays.job)), stays.assigned)).tolist():
            job, now = int(stays.job[stay]), float(stays.assigned[stay])
            nodes = int(self.jobs.size[job]) // self.box.per_node
            here = self.box.places[nodes][int(stays.corner[stay])]
            active = [other for other in active if stays.stops[other] > now]
            twice = {int(other) for other in last[here] if other >= 0 and stays.stops[other] > now}
            for other in sorted(twice):
                self.say("owned twice", f"at {now} jobs {stays.job[other]} and {job}")
            if image_until[here].max() > stays.ready[stay]:
                self.say(
                    "image",
                    f"job {job} is ready at {stays.ready[stay]}, an image leaves later",
                )
            if strict:
                beside = {
                    int(other)
                    for other in last[self.box.around[nodes][int(stays.corner[stay])]]
                    if other >= 0
                }
                for other in sorted(beside):
                    if stays.stops[other] > now and stays.wire[other] == stays.wire[stay]:
                        self.say(
                            "wires",
                            f"at {now} neighbours {stays.job[other]} and {job} have one",
                        )
            if self.plain:
                held = sum(
                    int(self.jobs.size[stays.job[other]])
                    for other in active
                    if self.names[stays.job[other]] == self.names[job]
                )
                if held + self.jobs.size[job] > self.rule(job, "processor_limit", now):
                    self.say("processor limit", f"at {now} of {self.names[job]} with job {job}")
            last[here] = stay
            image_until[here] = np.maximum(image_until[here], stays.gone[stay])
            active.append(stay)

    def preemptions(self) -> None:
        """Whoever is preempted may be, after its least time, and for somebody who may do it."""
        stays = self.stays
        by_time: dict[float, list[int]] = {}
        for stay, now in enumerate(stays.assigned.tolist()):
            by_time.setdefault(now, []).append(stay)
        for job, own in enumerate(self.of_job):
            for stay in own[:-1]:
                now = float(stays.stops[stay])
                if not self.policy["preemptive"] or not self.flag(job, "preemptable"):
                    self.say("not preemptable", f"job {job}, {self.names[job]}, is preempted at {now}")
                here = set(self.nodes_of(stay).tolist())
                takers = [
                    other
                    for other in by_time.get(now, [])
                    if stays.job[other] != job and not here.isdisjoint(self.nodes_of(other).tolist())
                ]
                if not takers:
                    self.say("for nobody", f"job {job} is preempted at {now}, and nobody takes its nodes")
                if not self.plain or not takers:
                    continue
                mine = self.rule(job, "priority", now)
                able = []
                for other in takers:
                    taker = int(stays.job[other])
                    theirs = self.rule(taker, "priority", now)
                    urgent = now - self.since(other) >= self.rule(taker, "max_wait", now) - NEARLY
                    if theirs > mine or (theirs == mine and urgent):
                        able.append(taker)
                if not able:
                    self.say(
                        "priority",
                        f"job {job} is preempted at {now} for jobs {[int(stays.job[o]) for o in takers]}",
                    )
                least = self.jobs.size[job] * self.rule(job, "do_not_disturb", now, 0.0)
                ran = now - stays.begins[stay]
                if able and ran < least - NEARLY and all(self.flag(taker, "heeds_slices") for taker in able):
                    self.say("slice", f"job {job} is preempted after {ran} s of {least}")

    def nodes_of(self, stay: int) -> np.ndarray:
        size = int(self.jobs.size[self.stays.job[stay]]) // self.box.per_node
        return self.box.places[size][int(self.stays.corner[stay])]

    def express_at_once(self) -> None:
        """An express job has nodes at once, unless every place has something that cannot be moved."""
        if not self.plain or not self.policy["preemptive"]:
            return
        stays, strict = self.stays, self.machine["wire_neighbours"] == "forbidden"
        for job in np.flatnonzero(np.asarray(self.jobs.job_class) == EXPRESS).tolist():
            now = float(self.admitted[job])
            if self.policy["aggregate_limit"] is None and now != self.jobs.submit[job]:
                self.say("express", f"job {job} is admitted at {now}, submitted at {self.jobs.submit[job]}")
            if not self.of_job[job] or stays.assigned[self.of_job[job][0]] <= now:
                continue
            size = int(self.jobs.size[job])
            held = sum(
                int(self.jobs.size[other])
                for other in set(stays.job[(stays.assigned <= now) & (stays.stops >= now)].tolist())
                if self.names[other] == "express"
            )
            if held + size > self.rule(job, "processor_limit", now) or self._may_be_blocked(job, now):
                continue
            owners = [
                self._owners((stays.assigned < now) & (stays.stops >= now)),
                self._owners((stays.assigned <= now) & (stays.stops > now)),
            ]
            nodes = size // self.box.per_node
            for corner, here in self.box.places[nodes].items():
                if all(
                    self._is_open_to(job, owner, here, self.box.around[nodes][corner], now, strict)
                    for owner in owners
                ):
                    self.say(
                        "express",
                        f"job {job} of {size} processors waits at {now}, and could be at node {corner}",
                    )
                    break

    def _may_be_blocked(self, job: int, now: float) -> bool:
        """Tell whether another job waits that may go before and let nobody pass."""
        if self.policy["blocking"] == "never":
            return False
        return any(
            self.admitted[other] <= now < self.end[other]
            and self.rule(other, "priority", now) >= self.rule(job, "priority", now)
            and not any(self.stays.assigned[stay] <= now < self.stays.stops[stay] for stay in own)
            for other, own in enumerate(self.of_job)
            if other != job
        )

    def _owners(self, these: np.ndarray) -> np.ndarray:
        owner = np.full(self.box.n_nodes, -1)
        for stay in np.flatnonzero(these):
            owner[self.nodes_of(int(stay))] = stay
        return owner

    def _is_open_to(
        self, job: int, owner: np.ndarray, here: np.ndarray, around: np.ndarray, now: float, strict: bool
    ) -> bool:
        """Tell whether a job could surely have a place, with these owners of all nodes."""
        inside = {int(stay) for stay in owner[here] if stay >= 0}
        for stay in inside:
            other = int(self.stays.job[stay])
            least = self.jobs.size[other] * self.rule(other, "do_not_disturb", now, 0.0)
            if (
                not self.flag(other, "preemptable")
                or not self.stays.begins[stay] < now
                or not self.rule(other, "priority", now) < self.rule(job, "priority", now)
                or (self.flag(job, "heeds_slices") and now < self.stays.begins[stay] + least)
            ):
                return False
        if not strict:
            return True
        beside = {
            int(self.stays.wire[stay]) for stay in owner[around] if stay >= 0 and int(stay) not in inside
        }
        return len(beside) < int(self.machine["barrier_wires"])

    def admissions(self) -> None:
        """No queue is served while it is closed, and no limit of the batch system is exceeded."""
        over = self.policy["oversubscribe"]
        queues = [self._queue(job) for job in range(len(self.names))]
        batch = [self.flag(job, "batch") for job in range(len(self.names))]
        there: list[int] = []
        on_top: set[int] = set()
        for job in np.lexsort((np.arange(len(self.names)), self.jobs.submit, self.admitted)).tolist():
            now, size = float(self.admitted[job]), int(self.jobs.size[job])
            if now < self.jobs.submit[job]:
                self.say("admission", f"job {job} is admitted at {now}, before it is submitted")
            there = [other for other in there if self.end[other] > now]
            if sum(int(self.jobs.size[other]) for other in there) + size > self.at(
                self.policy["aggregate_limit"], now
            ):
                self.say("aggregate limit", f"at {now} with job {job}")
            there.append(job)
            if not batch[job]:
                continue
            queue, others = queues[job], [other for other in there if batch[other] and other != job]
            in_all = sum(int(self.jobs.size[other]) for other in others)
            within = sum(int(self.jobs.size[other]) for other in others if other not in on_top)
            if queue is not None:
                is_open = {"always": True, "night": not self.is_prime(now), "weekend": self.is_weekend(now)}[
                    queue["open"]
                ]
                if not is_open:
                    self.say("queue closed", f"job {job} is admitted at {now}")
                same = sum(int(self.jobs.size[other]) for other in others if queues[other] is queue)
                if same + size > self.at(queue["run_limit"], now):
                    self.say("run limit", f"at {now} of {queue['name']} with job {job}")
            if (
                over is not None
                and not self.is_prime(now)
                and size >= over["from"]
                and in_all + size <= over["processors"]
            ):
                on_top.add(job)
            elif within + size > self.at(self.policy["batch_limit"], now):
                self.say("batch limit", f"at {now} with job {job}")

    def _queue(self, job: int) -> Mapping[str, Any] | None:
        requested = self.jobs.requested[job]
        asked = self.jobs.runtime[job] if np.isnan(requested) else requested
        for queue in self.policy["queues"]:
            if self.jobs.size[job] <= queue["processors"] and (
                queue["hours"] is None or asked <= queue["hours"] * 3600
            ):
                found: Mapping[str, Any] = queue
                return found
        return None


def violations(
    stays: Stays,
    jobs: JobsThere,
    machine: Mapping[str, Any],
    policy: Mapping[str, Any],
    admitted: np.ndarray,
    clock: float = 0.0,
) -> list[str]:
    """Return every law that is broken, see `Checker`."""
    return Checker(stays, jobs, machine, policy, admitted, clock).all()

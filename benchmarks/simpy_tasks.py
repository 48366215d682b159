"""Tasks that block under gang scheduling, in SimPy as one would first write it: a process for each task.

Gang scheduling and Concurrent Gang without priorities, first fit, owners return at once, messages in a ring
that meet no others. Lengths of statements are handed in, the same as the kernel draws.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Any

import simpy

Steps = Sequence[tuple[Sequence[float], str, float]]
"""Of a task: seconds of local statements, kind of the blocking one after them ("" for none), its seconds."""


NO_TASK = object()
"""In place of the last task of a PE whose switch was interrupted."""


@dataclass(frozen=True, eq=False)
class Arrival:
    """A job: its submission, and the steps of each of its tasks."""

    submit: float
    steps: Sequence[Steps]


@dataclass
class Pe:
    """A processing element: its tasks, the running one, the last one, and the owner of the slot."""

    tasks: list[Task] = field(default_factory=list)
    running: Task | None = None
    last: object = None
    owner: Task | None = None
    switched: float = 0.0  # when the switch to the running task is over


class Task:
    """A task of a job on a PE."""

    def __init__(self, machine: Machine, job: Job, index: int, pe: Pe) -> None:
        self.machine, self.job, self.index, self.pe = machine, job, index, pe
        self.ready = True
        self.dispatched = -1.0
        self.go = machine.env.event()
        self.cost = 0.0
        self.inbox = simpy.Store(machine.env)
        self.process = machine.env.process(self.life(job.arrival.steps[index]))

    def life(self, steps: Steps) -> Generator[simpy.Event, Any, None]:
        """Go through all statements."""
        env, pe = self.machine.env, self.pe
        messages = 0
        for statements, kind, length in steps:
            for seconds in statements:
                left = seconds
                while left > 0:
                    if pe.running is not self:
                        yield self.go
                    begin = env.now + self.cost
                    try:
                        yield env.timeout(self.cost + left)
                        left = 0.0
                    except simpy.Interrupt:
                        left -= max(env.now - begin, 0.0)
                    self.cost = 0.0
            event = None
            if kind == "io":
                event = env.timeout(length)
            elif kind == "synchronization" and len(self.job.tasks) > 1:
                event = self.job.barrier(length)
            elif kind == "communication" and len(self.job.tasks) > 1:
                messages += 1
                if messages % 2:
                    receiver = self.job.tasks[(self.index + 1) % len(self.job.tasks)]
                    env.process(self.machine.carry(self, receiver))
                elif self.inbox.items:
                    yield self.inbox.get()
                else:
                    event = self.inbox.get()
            if event is not None:
                self.machine.leave(self)
                yield event
                self.machine.enter(self)
        self.machine.end(self)


class Job:
    """A job: its tasks in a row of the trace diagram."""

    def __init__(self, machine: Machine, arrival: Arrival, row: list[Task | None], pes: list[int]) -> None:
        self.machine, self.arrival, self.row = machine, arrival, row
        self.alive = len(pes)
        self.there = 0
        self.opens = machine.env.event()
        self.tasks: list[Task] = []
        for index, pe in enumerate(pes):
            self.tasks.append(Task(machine, self, index, machine.pes[pe]))
            row[pe] = self.tasks[-1]

    def barrier(self, latency: float) -> simpy.Event:
        """Return the event for which a task waits at the barrier."""
        event = self.opens
        self.there += 1
        if self.there == len(self.tasks):
            self.there = 0
            self.opens = self.machine.env.event()
            self.machine.env.process(self.open(event, latency))
        return event

    def open(self, event: simpy.Event, latency: float) -> Generator[simpy.Event, Any, None]:
        """Let the barrier open for all."""
        yield self.machine.env.timeout(latency)
        event.succeed()


class Machine:
    """PEs under a clock signal, and the front end that packs jobs into rows by first fit."""

    def __init__(
        self, n_pes: int, slice_: float, switch: float, fills: bool, delay: Callable[[int, int], float]
    ) -> None:
        self.env = simpy.Environment()
        self.pes = [Pe() for _ in range(n_pes)]
        self.rows: list[list[Task | None]] = []
        self.current: list[Task | None] | None = None
        self.position = -1
        self.slice, self.switch, self.fills, self.delay = slice_, switch, fills, delay
        self.ends: dict[Arrival, float] = {}
        self.number = {id(pe): i for i, pe in enumerate(self.pes)}

    def run(self, arrivals: Sequence[Arrival], until: float) -> list[float | None]:
        """Simulate, and return the end of each job that ends."""
        self.env.process(self.front_end(arrivals))
        self.env.process(self.clock())
        self.env.run(until)
        return [self.ends.get(arrival) for arrival in arrivals]

    def front_end(self, arrivals: Sequence[Arrival]) -> Generator[simpy.Event, Any, None]:
        """Map jobs as they come."""
        for arrival in arrivals:
            yield self.env.timeout(arrival.submit - self.env.now)
            size = len(arrival.steps)
            row = next((row for row in self.rows if row.count(None) >= size), None)
            if row is None:
                row = [None] * len(self.pes)
                self.rows.append(row)
                if len(self.rows) == 1:
                    self.current, self.position = row, 0
            job = Job(self, arrival, row, [pe for pe, task in enumerate(row) if task is None][:size])
            for task in job.tasks:
                task.pe.tasks.append(task)
                if row is self.current:
                    task.pe.owner = task
                self.decide(task.pe)

    def clock(self) -> Generator[simpy.Event, Any, None]:
        """Tell all PEs of the next slot, slice by slice."""
        number = 0
        while True:
            number += 1
            yield self.env.timeout(number * self.slice - self.env.now)
            if self.rows:
                self.position = (self.position + 1) % len(self.rows)
                self.current = self.rows[self.position]
                for i, pe in enumerate(self.pes):
                    owner = self.current[i]
                    pe.owner = owner if owner in pe.tasks else None
                    self.decide(pe, fresh=True)

    def decide(self, pe: Pe, fresh: bool = False) -> None:
        """Let a PE run its slot's owner, or perhaps another task."""
        if pe.owner is not None and pe.owner.ready:
            chosen: Task | None = pe.owner
        elif pe.running is not None and not fresh:
            return
        elif self.fills:
            ready = [task for task in pe.tasks if task.ready]
            chosen = min(ready, key=lambda task: task.dispatched, default=None)
        else:
            chosen = None
        if chosen is pe.running:
            return
        if pe.running is not None:
            stopped, pe.running = pe.running, None
            if self.env.now < pe.switched:
                pe.last = NO_TASK  # the switch was interrupted
            stopped.go = self.env.event()
            stopped.process.interrupt()
        if chosen is not None:
            chosen.cost = self.switch if pe.last not in (None, chosen) else 0.0
            pe.switched = self.env.now + chosen.cost
            pe.running = pe.last = chosen
            chosen.dispatched = self.env.now
            chosen.go.succeed()

    def leave(self, task: Task) -> None:
        """Take a task that blocks off its PE."""
        task.ready = False
        task.go = self.env.event()
        task.pe.running = None
        self.decide(task.pe)

    def enter(self, task: Task) -> None:
        """Let a task that has woken have its PE when that decides so."""
        task.ready = True
        self.decide(task.pe)

    def end(self, task: Task) -> None:
        """Take a task that has ended off its PE, and its job out of the diagram with the last one."""
        pe, job = task.pe, task.job
        pe.tasks.remove(task)
        pe.running = None
        if pe.owner is task:
            pe.owner = None
        job.alive -= 1
        job.row[self.number[id(pe)]] = None
        if job.alive == 0:
            self.ends[job.arrival] = self.env.now
            if all(other is None for other in job.row):
                position = next(i for i, row in enumerate(self.rows) if row is job.row)
                del self.rows[position]
                if position <= self.position:
                    self.position -= 1
        self.decide(pe)

    def carry(self, sender: Task, receiver: Task) -> Generator[simpy.Event, Any, None]:
        """Bring a message to its receiver."""
        yield self.env.timeout(self.delay(self.number[id(sender.pe)], self.number[id(receiver.pe)]))
        receiver.inbox.put(self.env.now)

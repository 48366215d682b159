"""A slow and obvious twin of Concurrent Gang: jobs, tasks and PEs are objects, a program is a list of steps.

It is written from the paper (Silva and Scherson 1999) and from the rules of the family, without
tables or compiled code. Only what has to agree with the family bit by bit is common to both: the order of
what happens at one instant, and how times are computed (a stretch ends at its beginning plus what is left
of it, a preempted task has computed for the time since its beginning, signals come at multiples of a slice).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import ceil, floor, inf
from typing import Any, NamedTuple

BUSY, SWITCHING, EMPTY = "busy", "switching", "empty"
IO, COMMUNICATION, SYNCHRONIZATION, INELIGIBLE = "io", "communication", "synchronization", "ineligible"
CAUSES = (IO, COMMUNICATION, SYNCHRONIZATION)
"""What a task waits for in its program; an idle PE shows the cause of its slot's owner."""
STATES = (BUSY, SWITCHING, EMPTY, *CAUSES)


def eligible(phase: Any, size: int) -> int:
    """Return how many tasks of a job take part in a phase, the first ones."""
    return ceil(phase.tasks * size)


@dataclass(frozen=True)
class Draws:
    """Random numbers as pure functions; `step` counts the special statements that a task has begun before.

    Parameters
    ----------
    stretch : callable, (key, task, step, statements) -> seconds
        Time of `statements` local statements; `step` is the step of the special statement after them.
    service : callable, (key, task, step) -> seconds
        Of an I/O statement.
    statements : callable, (key, task, step, mean) -> int
        How many local statements there are.
    shift : callable, (key, exchange, size) -> int
        How far messages go under random partners, from 1 to size - 1.
    """

    stretch: Callable[[int, int, int, int], float]
    service: Callable[[int, int, int], float]
    statements: Callable[[int, int, int, int], int]
    shift: Callable[[int, int, int], int]


class Segment(NamedTuple):
    """What a PE does for some time."""

    begin: float
    end: float
    state: str


class Grade(NamedTuple):
    """Grades of membership of a task from a signal on."""

    time: float
    io: float
    computation: float


class Step(NamedTuple):
    """Local statements (their mean), and then a special one."""

    statements: int
    kind: str


class Stretch(NamedTuple):
    """A time of computing that no special statement ends."""

    seconds: float


def plan(phase: Any, runtime: float, seconds: float) -> list[Step | Stretch]:
    """Return the steps of a phase, as many as fit into its time, and the rest of that time."""
    work = phase.share * runtime
    kinds = [COMMUNICATION] * phase.communication + [IO] * phase.io
    kinds += [SYNCHRONIZATION] * phase.synchronization
    if not kinds:
        return [Stretch(work)]
    m = len(kinds)

    def step(s: int) -> Step:
        return Step((s + 1) * phase.local // m - s * phase.local // m, kinds[s % m])

    full = floor(work / (phase.local * seconds))
    rest = work - full * phase.local * seconds
    steps: list[Step | Stretch] = [step(s) for s in range(full * m)]
    s = 0
    while step(s).statements * seconds <= rest:
        rest -= step(s).statements * seconds
        steps.append(step(s))
        s += 1
    return [*steps, Stretch(rest)] if rest > 0 else steps


def route(sides: tuple[int, ...], source: int, target: int) -> list[tuple[int, int, int]]:
    """Return the links of a message on a torus as (PE, dimension, direction), the first dimension first.

    The shorter way round; where both are equally long, forward if the coordinates of both ends, but the
    target's in this dimension, have an even sum.
    """

    def coordinates(pe: int) -> list[int]:
        found = []
        for side in reversed(sides):
            found.append(pe % side)
            pe //= side
        return found[::-1]

    at, to = coordinates(source), coordinates(target)
    total = sum(at) + sum(to)
    links = []
    for dimension, side in enumerate(sides):
        ahead, behind = (to[dimension] - at[dimension]) % side, (at[dimension] - to[dimension]) % side
        forward = ahead < behind or (ahead == behind and (total - to[dimension]) % 2 == 0)
        while at[dimension] != to[dimension]:
            pe = 0
            for coordinate, length in zip(at, sides, strict=True):
                pe = pe * length + coordinate
            links.append((pe, dimension, 0 if forward else 1))
            at[dimension] = (at[dimension] + (1 if forward else -1)) % side
    return links


@dataclass(eq=False)
class Job:
    """A job; `start` is the instant of the first dispatch of any of its tasks."""

    number: int
    submit: float
    size: int
    runtime: float
    key: int
    phases: Sequence[Any]
    plans: list[list[Step | Stretch]]
    tasks: list[Task] = field(default_factory=list)
    row: int | None = None
    start: float | None = None
    end: float | None = None
    at_barrier: dict[int, float] = field(default_factory=dict)
    at_boundary: int = 0
    messages: dict[tuple[int, int], float] = field(default_factory=dict)
    receivers: dict[tuple[int, int], Task] = field(default_factory=dict)

    def eligible(self, phase: int) -> int:
        """Return how many tasks take part in a phase; after the last one all go on, to their end."""
        return eligible(self.phases[phase], self.size) if phase < len(self.phases) else self.size

    def has_boundary(self, phase: int) -> bool:
        """Return whether all tasks meet after a phase: not all take part in it, or in the next one."""
        return self.eligible(phase) < self.size or self.eligible(phase + 1) < self.size


@dataclass(eq=False)
class Task:
    """A task on its PE. It waits for `cause` since `since`, or is ready, or runs."""

    job: Job
    number: int
    pe: Pe
    phase: int = 0
    at: int = 0
    left: float = 0.0
    statement: str | None = None
    steps: int = 0
    communications: int = 0
    cause: str | None = None
    since: float = 0.0
    held: str | None = None
    ended: bool = False
    turn: tuple[float, int] = (-inf, 0)
    waits: dict[str, float] = field(default_factory=lambda: dict.fromkeys((*CAUSES, INELIGIBLE), 0.0))
    touched: bool = False
    in_slice: dict[str, float] = field(default_factory=lambda: dict.fromkeys((BUSY, *CAUSES), 0.0))
    measures: list[tuple[float, float]] = field(default_factory=list)
    grades: list[Grade] = field(default_factory=list)


@dataclass(eq=False)
class Pe:
    """A PE. Its running task computes (or spins) from `begin` on; before that it is being switched to."""

    number: int
    tasks: list[Task] = field(default_factory=list)
    running: Task | None = None
    last: Task | None = None
    interrupted: bool = False
    begin: float = 0.0
    quantum_end: float = inf
    expired: bool = False
    timeline: list[Segment] = field(default_factory=list)
    shown: str = EMPTY
    shown_since: float = 0.0
    switched: float = -inf
    switching_until: float = -inf

    def stretch_end(self) -> float:
        """Return when the running task has computed what is left of its stretch; never, if it spins."""
        if self.running is None or self.running.cause is not None:
            return inf
        return self.begin + self.running.left

    def timer(self) -> float:
        return min(self.stretch_end(), self.quantum_end if self.running else inf)

    def show(self, now: float, state: str, switched: float = -inf) -> None:
        """Be in a state from now on, but in the state of switching until `switched`."""
        if state == self.shown and max(switched, self.switched) <= now:
            return
        self.add(self.shown_since, min(self.switched, now), SWITCHING)
        self.add(max(self.shown_since, self.switched), now, self.shown)
        self.shown, self.shown_since, self.switched = state, now, switched

    def add(self, begin: float, end: float, state: str) -> None:
        if end > begin:
            self.timeline.append(Segment(begin, end, state))


class Simulation:
    """The machine and all that is on it."""

    def __init__(self, jobs: list[Job], settings: Any, draws: Draws, until: float) -> None:
        self.settings, self.draws, self.until = settings, draws, until
        self.jobs = jobs
        self.to_come = list(jobs)
        self.present: list[Job] = []
        self.pes = [Pe(number) for number in range(settings.n_pes)]
        self.rows: list[list[Task | None]] = []
        self.row, self.void = 0, False
        self.now, self.fresh, self.slice_begin, self.n_signals = 0.0, False, 0.0, 0
        self.owners: list[Task] = []
        self.n_turns = 0
        self.held_up = False
        self.marked: set[int] = set()
        self.wakes: list[tuple[float, int, int]] = []
        n_disks = settings.n_pes if isinstance(settings.disks, str) else settings.disks or 0
        self.disks = [0.0] * n_disks
        self.links: dict[tuple[int, int, int], float] = {}

    # What happens, in its order.

    def run(self) -> None:
        while (now := self.next_event()) <= self.until:
            self.now, self.fresh = now, False
            while self.happens_now():
                pass
            for pe in self.pes:
                if pe.running is None:
                    pe.show(now, self.idle(pe))

    def next_signal(self) -> float:
        return (self.n_signals + 1) * self.settings.slice if self.settings.coordinated else inf

    def next_event(self) -> float:
        arrival = self.next_arrival()
        wake = self.wakes[0][0] if self.wakes else inf
        return min(arrival, wake, self.next_signal(), *(pe.timer() for pe in self.pes))

    def next_arrival(self) -> float:
        """Return when the next job comes, or tries again; never, while it can find no room."""
        return max(self.to_come[0].submit, self.now) if self.to_come and not self.held_up else inf

    def happens_now(self) -> bool:
        """Carry out the next event of this instant, or let PEs decide; return whether there was one."""
        for pe in self.pes:
            if pe.timer() == self.now:
                if pe.stretch_end() == self.now:
                    self.end_stretch(pe)
                else:
                    pe.quantum_end, pe.expired = inf, True
                    self.marked.add(pe.number)
                return True
        if self.wakes and self.wakes[0][0] == self.now:
            _, job, task = heapq.heappop(self.wakes)
            self.wake(self.jobs[job].tasks[task])
        elif self.next_arrival() == self.now:
            self.arrive(self.to_come[0])
        elif self.next_signal() == self.now:
            self.signal()
        elif self.marked:
            deciding, self.marked = sorted(self.marked), set()
            for number in deciding:
                if self.settings.coordinated:
                    self.decide(self.pes[number])
                else:
                    self.decide_alone(self.pes[number])
        else:
            return False
        return True

    # The trace diagram.

    def arrive(self, job: Job) -> None:
        """Put a job into the first row with enough free PEs, in ascending order."""
        with_room = [row for row, cells in enumerate(self.rows) if cells.count(None) >= job.size]
        row = with_room[0] if with_room else len(self.rows)
        self.held_up = row >= self.settings.slots_limit
        if self.held_up:
            return
        self.to_come.pop(0)
        if not self.present and self.settings.coordinated:
            self.n_signals = max(self.n_signals, floor(self.now / self.settings.slice))
        if not with_room:
            self.rows.append([None] * self.settings.n_pes)
            if row == 0:
                self.row, self.void = 0, False
        free = [q for q, task in enumerate(self.rows[row]) if task is None]
        self.present.append(job)
        job.row = row
        for number, q in enumerate(free[: job.size]):
            task = Task(job, number, self.pes[q])
            job.tasks.append(task)
            self.rows[row][q] = task
            self.pes[q].tasks.append(task)
            self.marked.add(q)
            if self.settings.arrivals == "at_once" and row == self.row and not self.void:
                self.owners.append(task)
        for task in job.tasks:
            if task.number < job.eligible(0):
                self.go_on(task)
            else:
                self.wait(task, INELIGIBLE)

    def unmap(self, job: Job) -> None:
        """Take a job out of its row, and close the row if no other job is in it."""
        row = job.row
        self.present.remove(job)
        job.row = None
        self.rows[row] = [None if task and task.job is job else task for task in self.rows[row]]
        self.held_up = False
        if any(self.rows[row]):
            return
        del self.rows[row]
        if row == self.row:
            self.void = True
        if row <= self.row:
            self.row -= 1
        for other in self.present:
            if other.row is not None and other.row > row:
                other.row -= 1
        self.marked.update(range(self.settings.n_pes))

    def owner(self, pe: Pe) -> Task | None:
        """Return the task on a PE of the row whose turn it is."""
        if self.void or not self.rows or not self.settings.coordinated:
            return None
        task = self.rows[self.row][pe.number]
        return task if task in self.owners and not task.ended else None

    def signal(self) -> None:
        """The global clock: grades first, then the turn of the next row."""
        self.n_signals += 1
        self.fresh = True
        self.measure()
        if self.rows:
            self.row, self.void = (self.row + 1) % len(self.rows), False
        self.owners = [task for task in self.rows[self.row] if task] if self.rows and not self.void else []
        for task in self.owners:
            task.held = None
        self.marked.update(range(self.settings.n_pes))

    # Grades and priorities (Section 2.1 and equation 1).

    def computed(self, pe: Pe) -> None:
        """Count what the running task of a PE has computed in this slice, up to now."""
        if pe.running and pe.running.cause is None:
            pe.running.in_slice[BUSY] += max(self.now - max(pe.begin, self.slice_begin), 0.0)

    def waited(self, task: Task) -> None:
        """Count what a task has waited in this slice, up to now."""
        if task.cause in CAUSES:
            task.in_slice[task.cause] += self.now - max(task.since, self.slice_begin)

    def measure(self) -> None:
        """Grade the tasks that were scheduled in the slice that ends."""
        for pe in self.pes:
            self.computed(pe)
        for task in [task for job in self.present for task in job.tasks if not task.ended]:
            self.waited(task)
            seconds = task.in_slice
            total = seconds[BUSY] + seconds[IO] + seconds[COMMUNICATION] + seconds[SYNCHRONIZATION]
            scheduled = {
                "scheduled": task.touched or seconds[BUSY] > 0 or task in self.owners,
                "ran": seconds[BUSY] > 0,
                "owned": task in self.owners,
            }[self.settings.measured]
            if scheduled and total > 0:
                task.measures = [*task.measures, (seconds[IO] / total, seconds[BUSY] / total)][
                    -self.settings.window :
                ]
                io, computation = 0.0, 0.0
                for measure in task.measures:
                    io, computation = io + measure[0], computation + measure[1]
                n = len(task.measures)
                task.grades.append(Grade(self.now, io / n, computation / n))
            task.touched = False
            task.in_slice = dict.fromkeys(seconds, 0.0)
        self.slice_begin = self.now

    def priority(self, task: Task) -> float:
        if not task.grades:
            return self.settings.newcomer_priority
        return max(self.settings.alpha * task.grades[-1].io, task.grades[-1].computation)

    # Decisions.

    def decide(self, pe: Pe) -> None:
        """Choose the task of a PE between two signals, or at one."""
        if pe.running and pe.running.cause and self.fresh:
            self.preempt(pe)
        owner, running = self.owner(pe), pe.running
        if owner and owner.cause is None and not owner.held:
            if running is not owner and (running is None or self.fresh or self.settings.returns == "at_once"):
                self.dispatch(pe, owner)
            return
        chosen = self.choose(pe)
        if running and not self.fresh:
            preempts = self.settings.local_preemption and self.settings.local == "priority"
            if preempts and chosen and self.priority(chosen) > self.priority(running):
                self.dispatch(pe, chosen)
        elif chosen is None:
            self.preempt(pe)
        elif chosen is not running:
            self.dispatch(pe, chosen)

    def choose(self, pe: Pe) -> Task | None:
        """Return the local task scheduler's choice of those that could run, the running one included."""
        ready = [task for task in pe.tasks if task.cause is None]
        if self.settings.local == "none":
            return None
        if self.settings.local == "round_robin":
            return min(ready, key=lambda task: (task.turn, task.job.number), default=None)
        return min(
            (task for task in ready if self.priority(task) > self.settings.beta),
            key=lambda task: (-self.priority(task), task.turn, task.job.number),
            default=None,
        )

    def decide_alone(self, pe: Pe) -> None:
        """Choose the task of a PE without coordination: round robin, at the end of a quantum."""
        if pe.running and not pe.expired:
            return
        ready = [
            task
            for task in pe.tasks
            if task is not pe.running and (task.cause is None or self.spins(task, task.cause))
        ]
        if ready:
            self.dispatch(pe, min(ready, key=lambda task: (task.turn, task.job.number)))
        elif pe.running:
            pe.quantum_end, pe.expired = self.now + self.quantum, False

    def has_turn(self, task: Task) -> None:
        """Put a task behind all others of its PE in round robin."""
        self.n_turns += 1
        task.turn = (self.now, self.n_turns)

    @property
    def quantum(self) -> float:
        return self.settings.slice if self.settings.quantum is None else self.settings.quantum

    def dispatch(self, pe: Pe, task: Task) -> None:
        self.preempt(pe)
        seconds = 0.0
        free = pe.last is None and self.settings.first_load == "free"
        if not free and (pe.last is not task or pe.interrupted):
            seconds = self.settings.context_switch
            if self.fresh and self.settings.central_cost > 0:
                seconds += self.settings.central_cost * self.settings.n_pes
        pe.running, pe.last, pe.interrupted = task, task, False
        pe.begin = pe.switching_until = self.now + seconds
        if not self.settings.coordinated:
            begin = pe.begin if self.settings.quantum_from == "computing" else self.now
            pe.quantum_end = begin + self.quantum
        if self.settings.turns != "local" or task is not self.owner(pe):
            self.has_turn(task)
        task.touched = True
        if task.job.start is None:
            task.job.start = self.now
        pe.show(self.now, task.cause or BUSY, pe.begin)

    def preempt(self, pe: Pe) -> None:
        task = pe.running
        if task is None:
            return
        self.computed(pe)
        if task.cause is None:
            task.left -= max(self.now - pe.begin, 0.0)
        self.release(pe)
        if self.settings.turns == "ready":
            self.has_turn(task)

    def release(self, pe: Pe) -> None:
        if self.now < pe.switching_until:
            pe.interrupted = True
        pe.running, pe.quantum_end, pe.expired = None, inf, False

    def idle(self, pe: Pe) -> str:
        """Return what an idle PE waits for."""
        if self.settings.coordinated and self.settings.idle_cause == "owner":
            task = self.owner(pe)
        else:
            waiting = [task for task in pe.tasks if task.cause in CAUSES]
            task = max(waiting, key=lambda task: (task.turn, task.job.number), default=None)
        cause = (task.cause or task.held) if task else None
        return cause if cause in CAUSES else EMPTY

    # What tasks do.

    def go_on(self, task: Task) -> None:
        """Take a task that waits for nothing to its next stretch, to a boundary of phases, or to its end."""
        job = task.job
        while task.phase < len(job.plans) and task.at == len(job.plans[task.phase]):
            if not job.has_boundary(task.phase):
                task.phase, task.at = task.phase + 1, 0
            elif not self.crosses(task):
                return
        if task.phase == len(job.plans):
            self.end(task)
            return
        step = job.plans[task.phase][task.at]
        task.at += 1
        if isinstance(step, Stretch):
            task.left, task.statement = step.seconds, None
        else:
            n = 0
            if step.statements:
                n = self.draws.statements(job.key, task.number, task.steps, step.statements)
            task.left = self.draws.stretch(job.key, task.number, task.steps, n)
            if step.kind != IO:
                task.left += self.settings.overhead
            task.statement = step.kind
        if task.pe.running is task:
            task.pe.begin = max(task.pe.begin, self.now)
            task.pe.show(self.now, BUSY, task.pe.begin)

    def end_stretch(self, pe: Pe) -> None:
        task = pe.running
        self.computed(pe)
        pe.begin, task.left = self.now, 0.0
        if task.statement is None or self.executes(task, task.statement):
            self.go_on(task)

    def executes(self, task: Task, statement: str) -> bool:
        """Begin a special statement; return whether the task continues at once."""
        step = task.steps
        task.steps += 1
        if statement == IO:
            done = self.served(task, self.draws.service(task.job.key, task.number, step))
            self.wait(task, IO)
            self.wake_at(task, done)
            return False
        if statement == SYNCHRONIZATION:
            return self.passes_barrier(task)
        exchange, receives = divmod(task.communications, 2)
        task.communications += 1
        size = task.job.eligible(task.phase)
        if size == 1:
            return True
        if receives:
            return self.receives(task, exchange)
        self.send(task, exchange, (task.number + self.shift(task.job, exchange, size)) % size)
        return True

    def served(self, task: Task, service: float) -> float:
        """Return when an I/O statement is done, on the disk that is free first."""
        if not self.disks:
            return self.now + service
        disk = task.pe.number
        if self.settings.disks != "per_pe":
            disk = min(range(len(self.disks)), key=lambda index: (self.disks[index], index))
        self.disks[disk] = max(self.now, self.disks[disk]) + service
        return self.disks[disk]

    def shift(self, job: Job, exchange: int, size: int) -> int:
        """Return how many tasks farther on the receiver of an exchange is."""
        if self.settings.partners == "random":
            return self.draws.shift(job.key, exchange, size)
        if self.settings.partners == "all_to_all":
            return 1 + exchange % (size - 1)
        return -1 if self.settings.partners == "neighbours" and exchange % 2 else 1

    def send(self, task: Task, exchange: int, receiver: int) -> None:
        """Send a message, whose head goes on from link to link as each is free, its bytes behind it."""
        job = task.job
        links = route(self.settings.sides, task.pe.number, job.tasks[receiver].pe.number)
        transfer = self.settings.message_bytes / self.settings.bandwidth
        if self.settings.link_contention:
            head = self.now
            for link in links:
                head = max(head, self.links.get(link, 0.0))
                self.links[link] = head + transfer
                head += self.settings.link_latency
            arrived = head + transfer
        else:
            arrived = self.now + len(links) * self.settings.link_latency + transfer
        job.messages[exchange, receiver] = arrived
        waiting = job.receivers.pop((exchange, receiver), None)
        if waiting:
            self.wake_at(waiting, arrived)

    def receives(self, task: Task, exchange: int) -> bool:
        arrived = task.job.messages.get((exchange, task.number))
        if arrived is not None and arrived <= self.now:
            return True
        self.wait(task, COMMUNICATION)
        if arrived is not None:
            self.wake_at(task, arrived)
        else:
            task.job.receivers[exchange, task.number] = task
        return False

    def passes_barrier(self, task: Task) -> bool:
        job = task.job
        size, latency = job.eligible(task.phase), self.settings.barrier_latency
        if size == 1 and self.settings.alone == "passes":
            return True
        job.at_barrier[task.number] = self.now
        last = len(job.at_barrier) == size
        if not last or latency > 0:
            self.wait(task, SYNCHRONIZATION)
        if last:
            arrivals, job.at_barrier = job.at_barrier, {}
            for number in arrivals:
                if job.tasks[number].cause:
                    self.wake_at(job.tasks[number], self.now + latency)
        return task.cause is None

    def crosses(self, task: Task) -> bool:
        """Come to a boundary of phases where all tasks meet; return whether the task continues at once.

        The last one opens it: those that take part in the next phase wake, the others wait until its end.
        """
        job, phase = task.job, task.phase
        job.at_boundary += 1
        if job.at_boundary < job.eligible(phase):
            self.wait(task, SYNCHRONIZATION)
            return False
        job.at_boundary = 0
        job.messages.clear()
        for each in job.tasks:
            each.phase, each.at, each.communications = phase + 1, 0, 0
            if each.number >= job.eligible(phase + 1):
                self.awake(each)
                self.wait(each, INELIGIBLE)
            elif each is not task:
                self.wake_at(each, self.now)
        return task.cause is None

    def spins(self, task: Task, cause: str) -> bool:
        """Return whether a task keeps its PE while it waits: outside its own slot."""
        own = self.settings.coordinated and self.owner(task.pe) is task
        return not own and self.settings.waits == "spin" and cause in (COMMUNICATION, SYNCHRONIZATION)

    def wait(self, task: Task, cause: str) -> None:
        """Let a task wait from now on; unless it spins, its PE is free."""
        pe = task.pe
        if self.settings.returns == "at_signal" and self.owner(pe) is task is pe.running:
            task.held = cause
        task.cause, task.since = cause, self.now
        if pe.running is not task:
            return
        if self.spins(task, cause):
            pe.show(self.now, cause, pe.begin)
        else:
            self.release(pe)
            self.marked.add(pe.number)

    def wake_at(self, task: Task, time: float) -> None:
        heapq.heappush(self.wakes, (time, task.job.number, task.number))

    def awake(self, task: Task) -> None:
        """End the wait of a task."""
        if task.cause is None:
            return
        self.waited(task)
        task.waits[task.cause] += self.now - task.since
        task.cause = None

    def wake(self, task: Task) -> None:
        self.awake(task)
        if self.settings.turns == "ready":
            self.has_turn(task)
        self.marked.add(task.pe.number)
        self.go_on(task)

    def end(self, task: Task) -> None:
        """End a task, and with the last one its job."""
        job, pe = task.job, task.pe
        task.ended = True
        pe.tasks.remove(task)
        self.marked.add(pe.number)
        if pe.running is task:
            self.release(pe)
        if self.settings.cells == "task":
            self.rows[job.row][pe.number] = None
            self.held_up = False
        if all(each.ended for each in job.tasks):
            job.end = self.now
            self.unmap(job)

    def finish(self) -> None:
        """Cut everything that goes on at the end of the run, and collect it by job, PE, or (job, task)."""
        self.now = self.until
        for pe in self.pes:
            pe.show(self.until, "over")
        tasks = [task for job in self.jobs for task in job.tasks]
        for task in tasks:
            self.awake(task)
        self.totals = dict.fromkeys(STATES, 0.0)
        for segment in [segment for pe in self.pes for segment in pe.timeline]:
            self.totals[segment.state] += segment.end - segment.begin
        self.waits = {(task.job.number, task.number): task.waits for task in tasks}
        self.grades = {(task.job.number, task.number): task.grades for task in tasks}


def run(
    jobs: Sequence[tuple[float, int, float, int]],
    phases: Sequence[Any],
    settings: Any,
    draws: Draws,
    until: float,
) -> Simulation:
    """Run jobs, each (submit, size, runtime, key) and in the order of submission, up to an instant.

    What happens at that instant is counted; all jobs have the same phases. The settings are keys of the
    policy, the machine and ``workload.statements``, and the sides of the torus.
    """
    waiting = []
    for number, (submit, size, runtime, key) in enumerate(jobs):
        plans = [plan(phase, runtime, settings.seconds) for phase in phases]
        waiting.append(Job(number, submit, size, runtime, key, phases, plans))
    simulation = Simulation(waiting, settings, draws, until)
    simulation.run()
    simulation.finish()
    return simulation

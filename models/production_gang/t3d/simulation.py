"""One simulation of the T3D, from Python: feeds the engine, and reads off what became of the jobs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf

import numpy as np

from models.arrays import Floats, Ints
from models.jobs.calendar import DAY
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.jobs.schedule import Pieces, Schedule
from models.jobs.stream import Stream
from models.jobs.trace import Trace
from models.point import Point
from models.production_gang.systems import Levels, Run, clock_of
from models.production_gang.t3d import engine, state
from models.production_gang.t3d.clock import BOUNDARIES_A_DAY
from models.production_gang.t3d.nodes import Hardware, Partitions, partitions
from models.production_gang.t3d.rules import Rules, told_of
from models.production_gang.t3d.state import (
    N_CLOCKS,
    N_COUNTS,
    N_LEVELS,
    N_REAL,
    N_RESIDENCIES,
    N_TIMES,
    N_WHOLE,
    NONE,
    Constants,
    Parameters,
    Record,
    Settings,
    System,
    Torus,
    Users,
    Work,
)

FIRST_RESIDENCIES, FIRST_LEVELS = 2, 8
"""Room for so many of each job at first, and for twice as many whenever that does not do."""


@dataclass(frozen=True, eq=False)
class Residencies:
    """Times that jobs had nodes; every array has the shape (n_residencies,), in order of assignment.

    Parameters
    ----------
    job : ndarray of int
        Position in the schedule.
    corner : ndarray of int
        Node where its partition begins; its shape is that of its size.
    wire : ndarray of int
    assigned, ready, begins, stops, gone : ndarray of float, seconds
        When it got the nodes; when the last image had left them; when its own was there, so that it ran; when
        it ended or was preempted; when its image had left.
    """

    job: Ints
    corner: Ints
    wire: Ints
    assigned: Floats
    ready: Floats
    begins: Floats
    stops: Floats
    gone: Floats


@dataclass(frozen=True, eq=False)
class Detail:
    """What only the T3D can tell of a run.

    Parameters
    ----------
    hardware : Hardware
    residencies : Residencies
    admitted : ndarray of float, shape (n_jobs,), seconds
        When the gang scheduler was told of each job.
    """

    hardware: Hardware
    residencies: Residencies
    admitted: Floats


def run(point: Point, opened: Stream | Trace, jobs: Jobs, machine: Machine) -> Run:
    """Run all jobs to their ends.

    Parameters
    ----------
    point : Point
    opened : Stream or Trace
        Where the jobs come from: it may know at what time of the week.
    jobs : Jobs
        In order of submission, as it would be if nobody waited for an answer.
    machine : Machine

    Raises
    ------
    ValueError
        With one line, if a job can never run.
    """
    rules = Rules.of(point.policy)
    hardware = Hardware.of(point.machine, machine.total)
    told_of(jobs, rules, hardware, machine.total, point.machine)
    clock = clock_of(opened)
    system = _system(jobs, rules, hardware, clock)
    while (status := engine.advance(system)) == engine.NO_ROOM:
        system = _enlarged(system)
    if status == engine.STUCK:
        left = int(system.settings.n_jobs - system.counts[state.N_ENDED])
        raise ValueError(
            f"{point}: {left:,} of {len(jobs):,} jobs wait for ever, since their queue never opens or no "
            "limit lets them in; look at policy.queues, their hours and limits"
        )
    return _read_off(system, jobs, machine, hardware, clock)


def _system(jobs: Jobs, rules: Rules, hardware: Hardware, clock: float) -> System:
    n_jobs, n_nodes = len(jobs), hardware.n_nodes
    at = partitions(hardware.sides, hardware.places)
    users, user = np.unique(jobs.user, return_inverse=True) if jobs.user is not None else (np.zeros(0), None)
    settings = Settings(
        n_jobs, n_nodes, hardware.node_processors, hardware.n_wires, int(hardware.wires_may_meet),
        int(rules.preemptive), rules.order, rules.blocking, int(rules.prime_time.weekends),
        len(rules.queues), len(users),
    )  # fmt: skip
    costs = Constants(
        rules.swap_out, rules.swap_in, rules.prime_time.begin, rules.prime_time.end, clock,
        float(rules.oversubscribe[0]), float(rules.oversubscribe[1]), rules.aggregate_limit,
        rules.drain_after, rules.nice.above, rules.nice.every, rules.nice.half_life,
    )  # fmt: skip
    counts = np.zeros(N_COUNTS, np.int64)
    counts[state.PERIOD] = 1
    clocks = np.zeros(N_CLOCKS)
    counts[state.BOUNDARY], clocks[state.NEXT_BOUNDARY] = _last_boundary(rules, clock)
    clocks[state.NEXT_TICK] = rules.nice.every if rules.nice.above < inf else inf
    heap_room = 2 * (engine.ROOM_A_NODE * n_nodes + engine.ROOM_A_JOB * n_jobs)
    work = Work(
        _whole(jobs, rules, hardware, user), _real(jobs),
        np.zeros(n_jobs, np.int64), np.zeros(n_jobs, np.int64), np.zeros(n_jobs, np.int64),
        np.zeros((heap_room, 3), np.int64), np.zeros(heap_room), np.full(n_jobs, NONE),
    )  # fmt: skip
    residencies = FIRST_RESIDENCIES * (n_jobs + n_nodes)
    levels = FIRST_LEVELS * n_jobs + 64
    return System(
        settings,
        costs,
        _torus(at, n_nodes),
        _parameters(rules),
        work,
        Users(*(np.zeros(len(users)) for _ in range(2)), *(np.zeros(len(users), np.int64) for _ in range(2))),
        Record(
            np.zeros((residencies, 3), np.int64), np.zeros((residencies, N_TIMES)),
            np.zeros(levels), np.zeros((levels, 3), np.int64),
        ),
        counts,
        clocks,
        np.zeros(2 * hardware.n_wires, np.int64),
        np.zeros(max(len(rules.queues), 1)),
        np.zeros(8),
        np.zeros(state.N_AROUND),
    )  # fmt: skip


def _torus(at: Partitions, n_nodes: int) -> Torus:
    free = np.concatenate([np.full(n_nodes >> level, 1 << level) for level in range(at.n_levels)] + [[0]])
    return Torus(
        at.first, at.corner, at.nodes, at.node_of, at.border, at.border_of, at.leaf,
        np.full(n_nodes, NONE), np.full(n_nodes, -inf), free,
    )  # fmt: skip


def _parameters(rules: Rules) -> Parameters:
    n_classes = len(rules.classes.switches)
    queues = np.zeros((max(len(rules.queues), 1), state.N_QUEUE_FIELDS))
    for number, queue in enumerate(rules.queues):
        queues[number] = (*queue.run_limit, queue.open)
    numbers = rules.classes.numbers.reshape(2 * n_classes, -1)
    return Parameters(numbers, rules.classes.switches, queues, np.array(rules.batch_limit))


def _whole(jobs: Jobs, rules: Rules, hardware: Hardware, user: Ints | None) -> np.ndarray:
    size = hardware.rounded(jobs.size)
    whole = np.full((len(jobs), N_WHOLE), NONE)
    whole[:, state.LEVEL] = np.log2(size // hardware.node_processors).astype(np.int64)
    whole[:, state.PROCESSORS] = size
    whole[:, state.CLASS] = rules.classes_of(jobs)
    if user is not None:
        whole[:, state.USER] = user
    whole[:, state.QUEUE] = rules.queues_of(jobs, size)
    whole[:, state.STATE] = state.TO_COME
    whole[:, state.STOPS] = 0
    whole[:, state.IS_CHILD] = 0
    if jobs.after is not None:
        children = np.flatnonzero(jobs.after >= 0)
        whole[children, state.IS_CHILD] = 1
        for child in children[::-1].tolist():
            parent = jobs.after[child]
            whole[child, state.SIBLING] = whole[parent, state.CHILD]
            whole[parent, state.CHILD] = child
    return whole


def _real(jobs: Jobs) -> np.ndarray:
    real = np.full((len(jobs), N_REAL), np.nan)
    real[:, state.SUBMIT] = jobs.submit
    real[:, state.LEFT] = jobs.runtime
    if jobs.after is not None:
        real[:, state.THINK] = 0.0 if jobs.think is None else jobs.think
    return real


def _last_boundary(rules: Rules, clock: float) -> tuple[int, float]:
    """Return the number of the last boundary not after time 0, and its time."""
    seconds = (0.0, rules.prime_time.begin, rules.prime_time.end)
    day, second = divmod(clock, DAY)
    which = max(which for which, begins in enumerate(seconds) if begins <= second)
    return int(day) * BOUNDARIES_A_DAY + which, float(day * DAY + seconds[which] - clock)


def _enlarged(system: System) -> System:
    """Return the system with twice the room for events and for what is written down."""
    work, record = system.work, system.record
    work = work._replace(heap=_twice(work.heap), heap_time=_twice(work.heap_time))
    return system._replace(work=work, record=Record(*(_twice(column) for column in record)))


def _twice(values: np.ndarray) -> np.ndarray:
    return np.concatenate([values, np.zeros_like(values)])


def _read_off(system: System, jobs: Jobs, machine: Machine, hardware: Hardware, clock: float) -> Run:
    """Return the run, with its jobs in order of their submission."""
    whole, real = system.work.whole, system.work.real
    order = np.lexsort((np.arange(len(jobs)), real[:, state.SUBMIT]))
    position = np.empty(len(jobs), np.int64)
    position[order] = np.arange(len(jobs))
    whole, real = whole[order], real[order]
    submit, start, end = (real[:, column].copy() for column in (state.SUBMIT, state.START, state.END))
    as_ran = replace(
        jobs.part(order),
        submit=submit,
        size=whole[:, state.PROCESSORS].copy(),
        job_class=whole[:, state.CLASS].copy(),
    )
    preemptions = whole[:, state.STOPS].copy()
    n = system.counts[N_RESIDENCIES]
    row, times = system.record.residency[:n], system.record.times[:n]
    at = partitions(hardware.sides, hardware.places)
    residencies = Residencies(
        position[row[:, 0]],
        at.corner[row[:, 1]],
        row[:, 2].copy(),
        *(times[:, i].copy() for i in range(N_TIMES)),
    )
    ran = residencies.stops > residencies.begins
    runs = residencies.job[ran]
    made = Schedule(
        as_ran,
        machine,
        start=start,
        end=end,
        host=np.zeros(len(jobs), np.int64),
        waited=np.where(preemptions > 0, end - submit - as_ran.runtime, start - submit),
        preempted=preemptions > 0,
        pieces=Pieces(
            runs,
            np.zeros(len(runs), np.int64),
            residencies.begins[ran],
            residencies.stops[ran],
            as_ran.size[runs],
        ),
    )
    detail = Detail(hardware, residencies, real[:, state.ADMITTED].copy())
    return Run(made, _levels(system, machine.total), preemptions, clock, detail)


def _levels(system: System, total: int) -> Levels:
    n = system.counts[N_LEVELS]
    time, level = system.record.level_time[:n].copy(), system.record.level[:n]
    running, switching, reason = level.T
    idle = (total - running - switching).astype(np.float64)
    return Levels(
        time,
        switching.astype(np.float64),
        np.where(reason == state.PACKING, idle, 0.0),
        np.where(reason == state.LIMITS, idle, 0.0),
    )

"""One simulation of the T3D: from jobs and rules to the engine's system, and from there to a run."""

from dataclasses import dataclass, replace
from math import inf

import numpy as np

from models.arrays import Floats, Ints
from models.counting import counted
from models.jobs.calendar import DAY
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.jobs.schedule import Pieces
from models.jobs.stream import Stream
from models.jobs.trace import Trace
from models.kernels import standstill
from models.point import Point
from models.production_gang.systems import (
    Levels,
    Run,
    as_they_ran,
    clock_of,
    link_children,
    order_of_submission,
    twice,
)
from models.production_gang.t3d import engine, state
from models.production_gang.t3d.clock import BOUNDARIES_A_DAY
from models.production_gang.t3d.commands import without_effect
from models.production_gang.t3d.nodes import Hardware, partitions
from models.production_gang.t3d.periods import HOUR, NIGHT
from models.production_gang.t3d.placing import N_CRITERIA
from models.production_gang.t3d.rules import Rules, adjustments
from models.production_gang.t3d.state import NONE, Settings, System, Torus

FIRST_RESIDENCIES, FIRST_LEVELS = 2, 8
"""Initial number of records per job; it is doubled whenever they are full."""


@dataclass(frozen=True, eq=False)
class Detail:
    """Results that only the T3D has.

    Parameters
    ----------
    hardware : Hardware
    residencies : recarray of `state.RESIDENCY`, in order of assignment
        Times at which a job (by its position in the schedule) was assigned nodes; the last image had left
        them; its own image was loaded, so that it ran; it ended or was preempted; its image had left. Its
        partition begins at the node `corner`, and its shape follows from its size.
    admitted : ndarray of float, shape (n_jobs,), seconds
        When each job was admitted to the gang scheduler.
    commands : recarray of `commands.COMMAND`, in order of time
        Operators' commands; `job` is the position in the schedule.
    """

    hardware: Hardware
    residencies: np.recarray
    admitted: Floats
    commands: np.recarray


def run(point: Point, opened: Stream | Trace, jobs: Jobs, machine: Machine, pieces: bool = True) -> Run:
    """Run all jobs to their ends; ``ValueError`` with one line if one of them can never run.

    `opened` may have a time of the week; `pieces` are few, and are always recorded.
    """
    rules = Rules.of(point.policy)
    hardware = Hardware.of(point.machine, machine.total)
    adjustments(jobs, rules, hardware, machine.total, point.machine)
    clock = clock_of(opened)
    hour, first = point.workload.get("stands_at"), (clock, 0.0)
    if hour is not None:  # the clock at time 0, and how long it stays there
        first = hour * HOUR, float(jobs.submit.max(initial=0.0))
    system = _system(jobs, rules, hardware, *first)
    while (status := engine.advance(system)) == engine.FULL:
        system = system._replace(
            events=twice(system.events), residencies=twice(system.residencies), levels=twice(system.levels)
        )
    standstill.check(system.state[0], len(jobs))
    if status == engine.STUCK:
        left = int(len(jobs) - system.state["n_ended"][0])
        raise ValueError(
            f"{point}: {counted(left, 'job', 'waits', of=len(jobs))} for ever, because no queue opens or "
            "no limit admits any more; change the hours or limits in policy.queues"
        )
    return _run(system, jobs, machine, hardware, clock)


def _system(jobs: Jobs, rules: Rules, hardware: Hardware, clock: float, stands: float) -> System:
    n_jobs, n_nodes, n_queues = len(jobs), hardware.n_nodes, len(rules.queues)
    users, user = np.unique(jobs.user, return_inverse=True) if jobs.user is not None else (np.zeros(0), NONE)
    settings = Settings(
        n_jobs, n_nodes, hardware.node_processors, hardware.barrier_wires,
        hardware.wire_neighbours == "allowed", rules.preemptive, bool(rules.order), rules.blocking,
        rules.location, bool(rules.channel), rules.prime_time.weekends, rules.weekend_days, n_queues,
        rules.swap_out, rules.swap_in, rules.prime_time.begin, rules.prime_time.end, clock - stands,
        float(rules.oversubscribe[0]), float(rules.oversubscribe[1]), rules.aggregate_limit,
        rules.drain_after, rules.nice.above, rules.nice.every, rules.nice.half_life,
    )  # fmt: skip
    submitted, queued, waiting, residents = np.zeros((4, n_jobs), np.int64)
    scalars = np.zeros(1, state.STATE)
    scalars["period"] = NIGHT
    scalars["boundary"], scalars["next_boundary"] = _last_boundary(rules, clock)
    scalars["next_tick"] = rules.nice.every if rules.nice.above < inf else inf
    n_commands = scalars["n_events"] = len(rules.commands)
    n_events = engine.EVENTS_A_NODE * n_nodes + engine.EVENTS_A_JOB * n_jobs + n_commands
    events = np.zeros(2 * n_events, state.EVENT)
    # Sorted by time, so they form a heap.
    events["time"][:n_commands], events["kind"][:n_commands] = rules.commands["time"], state.Kind.COMMAND
    events["job"][:n_commands] = np.arange(n_commands)
    return System(
        settings,
        _torus(hardware),
        rules.classes.ravel(),
        np.array([queue.run_limit for queue in rules.queues], np.float64).ravel(),
        np.array(rules.batch_limit),
        np.array([queue.open for queue in rules.queues], np.int64),
        np.zeros(n_queues + 1),
        _table(jobs, rules, hardware, user),
        submitted,
        queued,
        waiting,
        residents,
        rules.commands,
        events,
        np.zeros(len(users), state.USER),
        np.zeros(FIRST_RESIDENCIES * (n_jobs + n_nodes), state.RESIDENCY),
        np.zeros(FIRST_LEVELS * n_jobs + 64, state.LEVEL),
        np.zeros(hardware.barrier_wires, np.int64),
        np.zeros(state.N_CLASSES),
        np.zeros(N_CRITERIA),
        np.zeros(N_CRITERIA),
        scalars,
    )


def _torus(hardware: Hardware) -> Torus:
    n_nodes = hardware.n_nodes
    halves = [np.full(n_nodes >> level, 1 << level) for level in range(n_nodes.bit_length())]
    places = partitions(hardware.sides, hardware.places)
    return Torus(places, np.full(n_nodes, NONE), np.full(n_nodes, -inf), np.concatenate([*halves, [0]]))


def _table(jobs: Jobs, rules: Rules, hardware: Hardware, user: Ints | int) -> np.ndarray:
    table = np.zeros(len(jobs), state.JOB)
    size = hardware.rounded(jobs.size)
    table["submit"], table["left"], table["start"], table["end"] = jobs.submit, jobs.runtime, np.nan, np.nan
    table["level"] = np.log2(size // hardware.node_processors).astype(np.int64)
    table["processors"], table["user"] = size, user
    table["job_class"], table["queue"] = rules.job_classes(jobs), rules.queues_of(jobs, size)
    for field in ("wire", "place", "residency", "first_child", "sibling", "victim_of"):
        table[field] = NONE
    link_children(table, jobs)
    table["is_child"] = jobs.after is not None and jobs.after >= 0
    return table


def _last_boundary(rules: Rules, clock: float) -> tuple[int, float]:
    """Return the number of the last boundary not after time 0, and its time."""
    seconds = (0.0, rules.prime_time.begin, rules.prime_time.end)
    day, second = divmod(clock, DAY)
    which = max(which for which, begins in enumerate(seconds) if begins <= second)
    return int(day) * BOUNDARIES_A_DAY + which, float(day * DAY + seconds[which] - clock)


def _run(system: System, jobs: Jobs, machine: Machine, hardware: Hardware, clock: float) -> Run:
    """Return the run, with its jobs in order of their submission."""
    scalars = system.state[0]
    order, position = order_of_submission(system.jobs["submit"])
    table = {name: system.jobs[name][order] for name in state.JOB.names or ()}
    submit, end, killed = table["submit"], table["end"], table["state"] == state.JobState.KILLED
    start = np.where(np.isnan(table["start"]), end, table["start"])  # a job that never ran gets its end
    stops = table["stops"] - killed
    as_ran = as_they_ran(
        jobs, order, position, submit=submit, size=table["processors"], job_class=table["job_class"]
    )
    if killed.any():
        as_ran = replace(as_ran, runtime=as_ran.runtime - np.where(killed, table["left"], 0.0))
    residencies = system.residencies[: scalars["n_residencies"]].view(np.recarray)
    residencies["job"] = position[residencies["job"]]
    commands = system.commands.view(np.recarray)
    commands["job"] = np.where(commands["job"] >= 0, position[commands["job"]], NONE)
    ran = residencies[residencies["stops"] > residencies["begins"]]
    pieces = Pieces(
        ran["job"].copy(), np.zeros(len(ran), np.int64), ran["begins"].copy(), ran["stops"].copy(),
        as_ran.size[ran["job"]],
    )  # fmt: skip
    return Run(
        as_ran,
        machine,
        start=start,
        end=end,
        host=np.zeros(len(jobs), np.int64),
        waited=np.where(stops > 0, end - submit - as_ran.runtime, start - submit),
        preempted=stops > 0,
        pieces=pieces,
        levels=_levels(system.levels[: scalars["n_levels"]], machine.total),
        preemptions=stops,
        clock=clock,
        notes=tuple(without_effect(commands, end)),
        unmeasured=as_ran.runtime == 0 if killed.any() else None,
        cancelled=killed,
        detail=Detail(hardware, residencies, table["admitted"], commands),
    )


def _levels(levels: np.ndarray, total: int) -> Levels:
    idle = (total - levels["running"] - levels["switching"]).astype(np.float64)
    packing, limits = (
        np.where(levels["reason"] == reason, idle, 0.0) for reason in (state.Idle.PACKING, state.Idle.LIMITS)
    )
    return Levels(levels["time"].copy(), levels["switching"].astype(np.float64), packing, limits)

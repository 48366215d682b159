"""Tasks that block under Concurrent Gang: CPU time of a run, against SimPy.

The kernel and SimPy simulate the same tasks; a test compares the ends of all jobs. The model in SimPy
processes every statement, the kernel only the blocking ones.
"""

from __future__ import annotations

from functools import partial
from math import log
from statistics import median

from benchmarks import points
from benchmarks.measure import cpu_seconds, in_turn, median_ratio
from benchmarks.record import Cell, Findings, Table, Target
from benchmarks.simpy_tasks import Arrival, Machine, Steps
from models import concurrent_gang
from models.concurrent_gang import model
from models.concurrent_gang.policies import Hardware, Rules
from models.jobs.stream import Stream
from models.point import Point
from models.streams import stream
from models.workloads import open_workload
from models.workloads.redrawn import uniform
from models.workloads.statements import BLOCKING, Statements, draws
from sweep.executors.work import point

WORKLOADS = ("io_intensive", "computation_intensive", "communication_intensive", "synchronization_intensive")
BASELINES = {"concurrent_gang/gang": False, "concurrent_gang_rr": True}
"""Policies that SimPy has as well -> whether local schedulers fill holes."""

HORIZON = 40_000.0
MOST_SECONDS, TIMES_FASTER = 2.0, 100.0


def run(quick: bool) -> Findings:
    """Time whole runs, and events alone against SimPy."""
    concurrent_gang.FAMILY.warm_up()
    rounds = 1 if quick else 3
    shrink = 10 if quick else 1
    rows: list[list[Cell]] = []
    ratios: list[float] = []
    slowest = 0.0
    for policy, fills in BASELINES.items():
        for workload in WORKLOADS:
            given = at(policy, workload, HORIZON / shrink)
            actions = {
                "whole": partial(_seconds, given),
                "events": partial(_event_seconds, given),
                "SimPy": partial(_simpy_seconds, given, fills),
            }
            taken = in_turn(actions, rounds)
            ratios.append(median_ratio(taken["SimPy"], taken["events"]))
            slowest = max(slowest, median(taken["whole"]))
            rows.append([policy, workload, *(median(each) for each in taken.values()), ratios[-1]])
    title = f"{HORIZON / shrink:,.0f} s of 16 PEs: CPU seconds of a run, and of its events only"
    columns = ["scheduler", "workload", "run", "events", "SimPy", "times faster"]
    return Findings(
        [Table(title, columns, rows)],
        [
            Target("40,000 s of 16 PEs, slowest", slowest, MOST_SECONDS, "s"),
            Target("faster than SimPy, least", min(ratios), TIMES_FASTER, "times", at_least=True),
        ],
    )


def at(policy: str, workload: str, horizon: float) -> Point:
    """Return a point of the experiment; messages meet no others, as SimPy has it."""
    (task,) = points.tasks(
        "+experiment=concurrent_gang",
        f"grid.policy=[{policy}]",
        f"grid.workload=[{workload}]",
        "grid.machine=[torus4x4]",
        f"grid.horizon=[{horizon}]",
        "machine.torus=null",
        "machine.processors=16",
        "machine.link_contention=false",
        "replications=1",
        "batch_size=1000",
    )
    return point(task, concurrent_gang.FAMILY)


def in_simpy(at: Point, fills: bool) -> tuple[Machine, list[Arrival]]:
    """Return the machine and the jobs of a point as the model in SimPy takes them."""
    rules, hardware = Rules.of(at.policy), Hardware.of(at.machine)
    statements = Statements.of(at.workload)
    opened = open_workload(at)
    assert isinstance(opened, Stream)
    assert rules.horizon is not None
    first = next(opened.chunks())
    keys = stream(at.seed, "statements").integers(0, 1 << 62, len(first)).tolist()
    jobs = zip(first.submit.tolist(), first.size.tolist(), first.runtime.tolist(), keys, strict=True)
    arrivals = [
        Arrival(submit, [steps_of(statements, runtime, key, task) for task in range(size)])
        for submit, size, runtime, key in jobs
        if submit < rules.horizon
    ]
    transfer = statements.message_bytes / hardware.bandwidth

    def delay(source: int, target: int) -> float:
        return hardware.torus.distance(source, target) * hardware.link_latency + transfer

    return Machine(hardware.torus.n_processors, rules.slice, hardware.context_switch, fills, delay), arrivals


def steps_of(statements: Statements, runtime: float, key: int, task: int) -> Steps:
    """Return what a task does, with the lengths that the kernel draws."""
    (phase,) = statements.phases
    seconds = statements.seconds
    if not phase.steps:
        n = max(int(runtime / seconds), 1)
        return [([runtime / n] * n, "", 0.0)]
    found: list[tuple[list[float], str, float]] = []
    ((n, kind),) = phase.steps
    for step in range(int(runtime // (n * seconds))):
        drawn = draws.statements(key, step, float(n)) if statements.spacing == "random" else n
        length = statements.barrier_latency
        if BLOCKING[kind] == "io":
            length = statements.io_time * draws.service(key, task, step)
        of_step = draws.key_of(key, task, step)
        lengths = [-seconds * log(uniform(of_step, i + 1)) for i in range(drawn)]
        found.append((lengths, BLOCKING[kind], length))
    rest = runtime - len(found) * n * seconds
    return [*found, ([rest], "", 0.0)] if rest > 0 else found


def _seconds(at: Point) -> float:
    return cpu_seconds(lambda: model.simulate(at))


def _event_seconds(at: Point) -> float:
    simulation = model.prepare(at)
    horizon = Rules.of(at.policy).horizon
    assert horizon is not None
    simulation.run(1, until=0.0)  # the jobs are drawn beforehand, as they are for SimPy
    return cpu_seconds(lambda: simulation.run(1, until=horizon))


def _simpy_seconds(at: Point, fills: bool) -> float:
    # Drawn beforehand: the comparison is of the two simulations, not of what feeds them.
    machine, arrivals = in_simpy(at, fills)
    horizon = Rules.of(at.policy).horizon
    assert horizon is not None
    return cpu_seconds(lambda: machine.run(arrivals, horizon))

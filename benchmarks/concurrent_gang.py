"""Tasks that block under Concurrent Gang: CPU time of a run, against SimPy.

The kernel and SimPy simulate the same tasks; a test compares the ends of all jobs. The model in SimPy is
timed twice: *by statement*, as one would first write it, with an event for every local statement; and *by
stretch*, like for like, with one for all local statements before a blocking one, as the kernel has it. Its
jobs and all their lengths are drawn beforehand. The kernel is timed with jobs drawn beforehand (its events),
and as a whole run, in which it draws its jobs and makes its metrics.
"""

from functools import partial
from math import log
from statistics import median

from benchmarks import points
from benchmarks.measure import cpu_seconds, in_turn, median_ratio
from benchmarks.record import Cell, Findings, Table, Target
from benchmarks.simpy_tasks import Arrival, Machine, Steps
from models import concurrent_gang
from models.concurrent_gang import model
from models.concurrent_gang.policies import Hardware, rules_of
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
MOST_SECONDS, LIKE_FOR_LIKE, WHOLE = 2.0, 20.0, 50.0
"""Seconds of a whole run; least ratios of events by stretch, and of a whole run to SimPy by statement."""


def run(quick: bool) -> Findings:
    """Time whole runs, and events alone against SimPy."""
    concurrent_gang.FAMILY.warm_up()
    rounds = 1 if quick else 3
    shrink = 10 if quick else 1
    rows: list[list[Cell]] = []
    like_for_like: list[float] = []
    whole: list[float] = []
    slowest = 0.0
    for policy, fills in BASELINES.items():
        for workload in WORKLOADS:
            given = at(policy, workload, HORIZON / shrink)
            actions = {
                "whole": partial(_seconds, given),
                "events": partial(_event_seconds, given),
                "by stretch": partial(_simpy_seconds, given, fills, True),
                "by statement": partial(_simpy_seconds, given, fills, False),
            }
            taken = in_turn(actions, rounds)
            like_for_like.append(median_ratio(taken["by stretch"], taken["events"]))
            whole.append(median_ratio(taken["by statement"], taken["whole"]))
            slowest = max(slowest, median(taken["whole"]))
            seconds = (median(each) for each in taken.values())
            rows.append([policy, workload, *seconds, like_for_like[-1], whole[-1]])
    title = f"{HORIZON / shrink:,.0f} s of 16 PEs: CPU seconds of a run, of its events only, and of SimPy's"
    columns = [
        "scheduler", "workload", "run", "events", "SimPy, by stretch", "by statement", "by stretch / events",
        "by statement / run",
    ]  # fmt: skip
    return Findings(
        [Table(title, columns, rows)],
        [
            Target("40,000 s of 16 PEs, slowest", slowest, MOST_SECONDS, "s"),
            Target(
                "events, least SimPy by stretch", min(like_for_like), LIKE_FOR_LIKE, "times", at_least=True
            ),
            Target("whole run, least SimPy by statement", min(whole), WHOLE, "times", at_least=True),
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


def in_simpy(at: Point, fills: bool, by_stretch: bool = False) -> tuple[Machine, list[Arrival]]:
    """Return the machine and the jobs of a point as the model in SimPy takes them."""
    rules, hardware = rules_of(at.policy), Hardware.of(at.machine)
    statements = Statements.of(at.workload)
    opened = open_workload(at)
    assert isinstance(opened, Stream)
    assert rules.horizon is not None
    first = next(opened.chunks())
    keys = stream(at.seed, "statements").integers(0, 1 << 62, len(first)).tolist()
    jobs = zip(first.submit.tolist(), first.size.tolist(), first.runtime.tolist(), keys, strict=True)
    arrivals = [
        Arrival(submit, [steps_of(statements, runtime, key, task, by_stretch) for task in range(size)])
        for submit, size, runtime, key in jobs
        if submit < rules.horizon
    ]
    transfer = statements.message_bytes / hardware.bandwidth

    def delay(source: int, target: int) -> float:
        return hardware.torus.distance(source, target) * hardware.link_latency + transfer

    return Machine(hardware.torus.n_processors, rules.slice, hardware.context_switch, fills, delay), arrivals


def steps_of(statements: Statements, runtime: float, key: int, task: int, by_stretch: bool = False) -> Steps:
    """Return what a task does, with the lengths that the kernel draws; a stretch may be one statement."""
    (phase,) = statements.phases
    seconds = statements.seconds
    if not phase.steps:
        n = 1 if by_stretch else max(int(runtime / seconds), 1)
        return [([runtime / n] * n, "", 0.0)]
    found: list[tuple[list[float], str, float]] = []
    ((n, kind),) = phase.steps
    for step in range(int(runtime // (n * seconds))):
        drawn = draws.statements(key, draws.OF_JOB, step, float(n)) if statements.spacing == "random" else n
        length = statements.barrier_latency
        if BLOCKING[kind] == "io":
            length = statements.io_time * draws.service(key, task, step)
        of_step = draws.key_of(key, task, step)
        lengths = [-seconds * log(uniform(of_step, i + 1)) for i in range(drawn)]
        found.append(([sum(lengths)] if by_stretch else lengths, BLOCKING[kind], length))
    rest = runtime - len(found) * n * seconds
    return [*found, ([rest], "", 0.0)] if rest > 0 else found


def _seconds(at: Point) -> float:
    return cpu_seconds(lambda: model.simulate(at))


def _event_seconds(at: Point) -> float:
    simulation = model.prepare(at)
    horizon = rules_of(at.policy).horizon
    assert horizon is not None
    simulation.run(1, until=0.0)  # the jobs are drawn beforehand, as they are for SimPy
    return cpu_seconds(lambda: simulation.run(1, until=horizon))


def _simpy_seconds(at: Point, fills: bool, by_stretch: bool) -> float:
    # Drawn beforehand: the comparison is of the two simulations, not of what feeds them.
    machine, arrivals = in_simpy(at, fills, by_stretch)
    horizon = rules_of(at.policy).horizon
    assert horizon is not None
    return cpu_seconds(lambda: machine.run(arrivals, horizon))

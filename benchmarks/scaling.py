"""How cost grows: with jobs, the length of the queue, processors, hosts, and tasks.

Only CPU time is measured, so that other users of the machine matter little.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from statistics import median

import numpy as np

from benchmarks import points
from benchmarks.measure import cpu_seconds, exponent, in_turn
from benchmarks.points import PROCESSORS, policies, stream
from benchmarks.record import Cell, Findings, Table
from models import gang
from models.backfill.engine import schedule
from models.backfill.rules import Rules
from models.gang import model
from models.jobs.jobs import Jobs
from models.jobs.machine import UNLIMITED_KB, Machine, pool
from sweep.executors.work import point
from sweep.plan.task import Task

JOBS = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000)
QUEUES = (30, 100, 300, 1_000, 3_000, 10_000)
PES = (128, 512, 2_048, 8_192)
HOSTS = (1, 2, 4, 8, 16, 32, 64)
PER_HOST = 16
SPREAD_JOBS = 20_000
TASKS = (1_000, 3_000, 10_000, 30_000, 100_000)
MOST_SECONDS = 10.0
"""A line ends at the first length that takes longer, or would."""

WARM_UP_JOBS = 500

Costs = dict[str, dict[int, float]]
"""Line -> x -> seconds of CPU time."""


def run(quick: bool) -> Findings:
    """Time everything on ever more."""
    rounds, cut = (1, -2) if quick else (3, None)
    found = Findings()
    backfills = policies("easy", "sjf_backfill", "conservative")
    machine = pool(PROCESSORS)

    for name in backfills:  # loaded beforehand
        schedule(burst(machine, 10), machine, backfills[name])
    on_pool = {name: partial(_schedule, stream, machine, rules) for name, rules in backfills.items()}
    kinds: dict[str, Callable[[int], float]] = {**on_pool, "gang, first fit": partial(_gang, "first_fit")}
    _grown(
        found, "jobs", "all jobs of a stream at load 0.8, 128 processors", kinds, JOBS[:cut], rounds, False
    )

    at_once = {name: partial(_schedule, burst, machine, rules) for name, rules in backfills.items()}
    _grown(
        found, "jobs at once", "a job, where all of them wait at once", at_once, QUEUES[:cut], rounds, True
    )

    schemes = ("first_fit", "buddy", "migration")
    wider: dict[str, Callable[[int], float]] = {
        f"gang, {name}": partial(_of_machine, name) for name in schemes
    } | {"easy": partial(_wide, backfills["easy"])}
    _grown(found, "processors", "a job, at load 0.7 to 0.8", wider, PES[:cut], rounds, True, jobs=_few)

    spread = {name: partial(_spread, backfills[name]) for name in ("easy", "sjf_backfill")}
    _grown(
        found,
        "hosts",
        "a job, hosts of 16 processors",
        spread,
        HOSTS[:cut],
        rounds,
        True,
        jobs=lambda hosts: SPREAD_JOBS,
    )

    _grown(found, "tasks", "a plan, by its tasks", {"plan": _plan}, TASKS[:cut], rounds, False)
    return found


def _grown(
    found: Findings,
    x: str,
    title: str,
    lines: dict[str, Callable[[int], float]],
    lengths: Sequence[int],
    rounds: int,
    each: bool,
    jobs: Callable[[int], int] = int,
) -> None:
    """Add a table of the costs of some lines at ever greater lengths, with their exponents."""
    costs: Costs = {}
    for name, measured in lines.items():
        costs[name] = {}
        for n in lengths:
            before = costs[name]
            costs[name][n] = median(in_turn({0: partial(measured, n)}, rounds)[0])
            if before[n] * 5 > MOST_SECONDS:
                break
    unit = "µs of CPU time" if each else "s of CPU time"
    rows: list[list[Cell]] = []
    for name, taken in costs.items():
        cost = {n: 1e6 * taken[n] / jobs(n) if each else taken[n] for n in taken}
        upper = list(cost)[len(cost) // 2 - 1 :]  # without the start
        rows.append([name, *(cost.get(n) for n in lengths), exponent(upper, [cost[n] for n in upper])])
    found.tables.append(Table(f"{x}: {unit} for {title}", [x, *map(str, lengths), "exponent"], rows))


def _schedule(drawn: Callable[[Machine, int], Jobs], machine: Machine, rules: Rules, n: int) -> float:
    jobs = drawn(machine, n)
    return cpu_seconds(lambda: schedule(jobs, machine, rules))


def burst(machine: Machine, n_waiting: int) -> Jobs:
    """Return jobs that are all submitted at 0: the queue is that long, and half as long on average."""
    return replace(stream(machine, n_waiting), submit=np.zeros(n_waiting))


def _few(processors: int) -> int:
    """Return jobs that are timed on a machine: larger ones have more jobs at a time, which cost more."""
    return max(2_000, 2_000_000 // processors)


def _wide(rules: Rules, processors: int) -> float:
    return _schedule(stream, pool(processors), rules, _few(processors))


def _spread(rules: Rules, hosts: int) -> float:
    names = tuple(f"host{i}" for i in range(hosts))
    machine = Machine(names, np.full(hosts, PER_HOST), np.full(hosts, UNLIMITED_KB))
    return _schedule(stream, machine, rules, SPREAD_JOBS)


def _task(scheme: str, load: float, n_jobs: int, *more: str) -> Task:
    (task,) = points.tasks(
        *points.FIG_8,
        f"policy={scheme}",
        f"grid.load=[{load}]",
        f"batch_size={WARM_UP_JOBS}",
        f"batches={max(1, n_jobs // WARM_UP_JOBS)}",
        *more,
    )
    return task


def _gang(scheme: str, n: int) -> float:
    task = _task(scheme, 0.8, n)
    points.simulate(task)
    return cpu_seconds(lambda: points.simulate(task))


def _of_machine(scheme: str, processors: int) -> float:
    """Return what the event loop takes for as many jobs as are timed, after the warm-up."""
    n_jobs = _few(processors)
    task = _task(scheme, 0.7, n_jobs, f"machine.processors={processors}")
    simulation = model.prepare(point(task, gang.FAMILY))
    simulation.run(1)
    before = simulation.n_terminated
    seconds = cpu_seconds(lambda: simulation.run(1 + max(1, n_jobs // WARM_UP_JOBS)))
    return seconds * n_jobs / (simulation.n_terminated - before)


def _plan(n: int) -> float:
    overrides = ("+experiment=packing", "grid.load=[0.5]", "grid.alternation=[shared]", "exclude=[]")
    study = (*overrides, "grid.unification=[true]", f"replications={n // 8}")
    return cpu_seconds(lambda: points.expanded(*study))

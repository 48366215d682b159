"""Gang scheduling with a bound: what it costs where it never binds, and how fast levels with a queue are.

With more slots allowed than are ever used the engine does the same with and without the bound, bit for bit;
both simulate the same jobs in turn, so that the ratio is what the bound itself costs.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from statistics import median

from benchmarks import points
from benchmarks.measure import cpu_seconds, median_ratio
from benchmarks.record import Cell, Findings, Table, Target
from models import gang
from models.gang import model
from models.point import Point
from sweep.executors.work import point as point_of

MANY = 5000
"""Slots that no load of the study uses."""

LEAST_SPEED = 0.9
LEVELS = (1, 2, 3, 5)
WHERE = ("grid.alternation=[exclusive]", "workload.estimates=exact", "exclude=[]")
LOADS, FEW_LOADS = "grid.load=[0.3,0.5,0.7,0.8,0.9]", "grid.load=[0.5,0.8]"


def run(quick: bool) -> Findings:
    """Time points of Fig. 8 with and without a bound in turn, then small levels with both queues."""
    gang.FAMILY.warm_up()
    rounds = 1 if quick else 3
    overrides = (*WHERE, *((FEW_LOADS, "batches=6") if quick else (LOADS,)))
    study = [point_of(task, gang.FAMILY) for task in points.tasks(*points.FIG_8, *overrides)]
    model.simulate(bounded(study[0], MANY, "backfill"))  # what the first call loads is no part of it
    kinds = ("without", "fcfs", "backfill")
    seconds: dict[tuple[str, str], list[float]] = defaultdict(list)
    n_jobs: dict[str, int] = defaultdict(int)
    for turn in range(rounds):
        for point in study:
            for kind in kinds:
                chosen = point if kind == "without" else bounded(point, MANY, kind)
                seconds[scheme_of(point), kind].append(cpu_seconds(lambda p=chosen: model.simulate(p)))
            if turn == 0:
                n_jobs[scheme_of(point)] += model.simulate(point).jobs
    rows: list[list[Cell]] = []
    speeds = []
    for scheme, jobs in n_jobs.items():
        taken = {kind: seconds[scheme, kind] for kind in kinds}
        ratios = [median_ratio(taken["without"], taken[kind]) for kind in kinds[1:]]
        speeds += ratios
        rows.append([scheme, sum(taken["without"]) / rounds / jobs * 1e6, *ratios])
    findings = Findings()
    findings.tables.append(
        Table(
            "A bound that never binds: speed over that without a bound",
            ["scheme", "µs/job without", "queue fcfs", "queue backfill"],
            rows,
        )
    )
    findings.targets.append(
        Target("speed with a bound over without, median", median(speeds), LEAST_SPEED, "x", at_least=True)
    )
    findings.tables.append(waiting(study, quick))
    return findings


def waiting(study: list[Point], quick: bool) -> Table:
    """Return CPU times of levels that make jobs wait, at a load of 0.8."""
    rows: list[list[Cell]] = []
    for point in study:
        if point.load != 0.8:
            continue
        row: list[Cell] = [scheme_of(point)]
        for queue in ("fcfs", "backfill"):
            for level in LEVELS[-1:] if quick else LEVELS:
                chosen = bounded(point, level, queue)
                jobs = model.simulate(chosen).jobs
                row.append(cpu_seconds(lambda p=chosen: model.simulate(p)) / jobs * 1e6)
        rows.append(row)
    levels = LEVELS[-1:] if quick else LEVELS
    names = [f"{queue} {level}" for queue in ("fcfs", "backfill") for level in levels]
    return Table("Levels that make jobs wait, load 0.8: µs/job", ["scheme", *names], rows)


def bounded(point: Point, level: int, queue: str) -> Point:
    """Return a point with a multiprogramming level and a queue."""
    return replace(point, policy={**point.policy, "slots_limit": level, "queue": queue})


def scheme_of(point: Point) -> str:
    """Return the name of a point's packing scheme."""
    return str(point.policy["name"])

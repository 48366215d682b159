"""Partitioned machines: what a simulated job costs, and how the analyses grow with the mesh and the jobs."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from statistics import median

from benchmarks import points
from benchmarks.measure import cpu_seconds, in_turn
from benchmarks.record import Cell, Findings, Table, Target
from models.partitioning import FAMILY
from models.partitioning.static import birth_death, efficiency
from models.point import Batches
from sweep.executors.work import point
from sweep.plan.task import Task

MESHES = (16, 64, 256, 1024)
"""Sides of square meshes."""

JOBS = (16, 256, 4095)
POINT_S, CHAIN_S = 1.0, 2.0
ONE_BATCH = Batches(size=1, warmup=0, checkpoints=(1,))


def run(quick: bool) -> Findings:
    """Time points of Fig. 5.8, the chains of Figs. 5.6 and 5.7, and efficiency preservation as it grows."""
    FAMILY.warm_up()
    simulated, slowest = _simulation(1 if quick else 3)
    chain = cpu_seconds(_chains)
    return Findings(
        tables=[simulated, _growth(1 if quick else 3)],
        targets=[
            Target("slowest point of Fig. 5.8", slowest, POINT_S, "s of CPU"),
            Target("birth-death grid of Figs. 5.6 and 5.7", chain, CHAIN_S, "s of CPU"),
        ],
    )


def _simulation(rounds: int) -> tuple[Table, float]:
    """Time every policy at one mix, to the precision of the experiment."""
    tasks = points.tasks("+experiment=partitioning", "grid.short_fraction=[0.5,0.95]")
    actions = {
        (task.point.policy["name"], task.point.workload["short_fraction"]): partial(_simulate, task)
        for task in tasks
    }
    found = in_turn(actions, rounds)
    rows: list[list[Cell]] = []
    slowest = 0.0
    for (name, fraction), runs in found.items():
        seconds = median(run[0] for run in runs)
        slowest = max(slowest, seconds)
        rows.append([f"{name}, p = {fraction:g}", runs[0][1], seconds, seconds / runs[0][1] * 1e6])
    title = "Simulation at load 0.5, stopped at a 90 % interval of 5 % width"
    return Table(title, ["point", "jobs", "CPU s", "us a job"], rows), slowest


def _simulate(task: Task) -> tuple[float, int]:
    """Return CPU seconds and jobs of a point."""
    jobs = 0

    def work() -> None:
        nonlocal jobs
        jobs = FAMILY.simulate(point(task, FAMILY)).jobs

    return cpu_seconds(work), jobs


def _chains() -> None:
    for task in points.tasks("+experiment=birth_death"):
        birth_death.FAMILY.simulate(replace(task.point, batches=ONE_BATCH))


def _growth(rounds: int) -> Table:
    """Time efficiency preservation on meshes up to 1024 x 1024 and up to 4095 jobs, balanced threads."""
    rows: list[list[Cell]] = []
    for name in ("equi", "equi_plus", "fold_20"):
        for side in MESHES:
            costs: list[Cell] = []
            for jobs in JOBS:
                if jobs > side * side:
                    costs.append(None)
                    continue
                (task,) = points.tasks(
                    "+experiment=efficiency_preservation", f"policy={name}", "grid.workload=[spmd]",
                    "grid.delta=[0.0]", f"grid.jobs=[{jobs}]", f"machine.mesh={side}x{side}",
                )  # fmt: skip
                costs.append(median(_milliseconds(task) for _ in range(rounds)))
            rows.append([f"{name}, {side} x {side}", *costs])
    columns = ["policy and mesh", *(f"{jobs:,} jobs" for jobs in JOBS)]
    return Table("Efficiency preservation of a point, ms of CPU", columns, rows)


def _milliseconds(task: Task) -> float:
    point = replace(task.point, batches=ONE_BATCH)
    return 1e3 * cpu_seconds(lambda: efficiency.FAMILY.simulate(point))

"""Livermore's Cray T3D: CPU time of fifteen months, and its growth with jobs and processors."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from benchmarks import points
from benchmarks.measure import cpu_seconds, in_turn
from benchmarks.record import Cell, Findings, Table, Target
from models import production_gang
from models.jobs import machine as machines
from models.jobs.jobs import Jobs
from models.jobs.trace import Trace
from models.point import Point
from models.production_gang import model
from models.production_gang.t3d import simulation
from models.workloads import open_workload
from sweep.executors.work import point

SCHEDULERS = ("llnl_gang", "djm", "unicos_max")
WEEKS = (3, 12, 48)
TORI = ("16x4x4", "16x8x8", "32x16x8", "32x16x32", "64x32x32")
"""256 to 65,536 processors; the work and all limits grow with them."""

FEW = 8000
"""Jobs on the larger machines."""

MOST_SECONDS = 5.0


def run(quick: bool) -> Findings:
    """Time whole points, drawing and measuring included; then the engine alone, growing."""
    production_gang.FAMILY.warm_up()
    rounds = 1 if quick else 3
    given = {policy: at(policy, months=2 if quick else 15) for policy in SCHEDULERS}
    taken = in_turn({policy: partial(_seconds, its) for policy, its in given.items()}, rounds)
    rows: list[list[Cell]] = [[policy, median(seconds)] for policy, seconds in taken.items()]
    slowest = max(median(seconds) for seconds in taken.values())
    return Findings(
        [
            Table("months of the T3D: CPU seconds of a point", ["scheduler", "s"], rows),
            _growth_in_jobs(rounds, WEEKS[:2] if quick else WEEKS),
            _growth_in_processors(rounds, TORI[:2] if quick else TORI),
        ],
        [Target("fifteen months of the T3D, slowest scheduler", slowest, MOST_SECONDS, "s")],
    )


def at(policy: str, **keys: Any) -> Point:
    """Return a point of the T3D; keys of the workload."""
    (task,) = points.tasks(
        "+experiment=llnl_t3d",
        f"grid.policy=[production_gang/{policy}]",
        "grid.workload=[t3d]",
        "replications=1",
        *(f"workload.{key}={'null' if value is None else value}" for key, value in keys.items()),
    )
    return point(task, production_gang.FAMILY)


def grown(given: Point, opened: Trace, times: int) -> Jobs:
    """Return the jobs of so many replications together, all submitted beforehand."""
    parts = [opened.jobs.part(slice(None))]
    for copy in range(1, times):
        other = open_workload(replace(given, seed=(*given.seed, copy)))
        assert isinstance(other, Trace)
        parts.append(other.jobs.part(slice(None)))
    jobs = Jobs.concatenated(parts)
    return jobs.part(np.argsort(jobs.submit, kind="stable"))


def _seconds(given: Point) -> float:
    return cpu_seconds(lambda: model.simulate(given))


def _engine_seconds(given: Point, opened: Trace, jobs: Jobs) -> float:
    machine = machines.of(given.machine)
    return cpu_seconds(lambda: simulation.run(given, opened, jobs, machine))


def _growth_in_jobs(rounds: int, weeks: tuple[int, ...]) -> Table:
    rows: list[list[Cell]] = []
    for n in weeks:
        given = at("llnl_gang", months=None, weeks=n, growth=0)
        opened = open_workload(given)
        assert isinstance(opened, Trace)
        taken = [_engine_seconds(given, opened, opened.jobs) for _ in range(rounds)]
        rows.append([n, len(opened.jobs), 1e6 * median(taken) / len(opened.jobs)])
    return Table("growth with jobs: the engine alone", ["weeks", "jobs", "µs a job"], rows)


def _growth_in_processors(rounds: int, tori: tuple[str, ...]) -> Table:
    rows: list[list[Cell]] = []
    for torus in tori:
        given = at("llnl_gang", months=None, weeks=3, growth=0)
        opened = open_workload(given)
        assert isinstance(opened, Trace)
        processors = machines.of({"torus": torus}).total
        times = processors // machines.of(given.machine).total
        given = replace(
            given, machine={**given.machine, "torus": torus}, policy=_with_limits(given.policy, times)
        )
        jobs = grown(given, opened, times).part(slice(FEW))
        taken = [_engine_seconds(given, opened, jobs) for _ in range(rounds)]
        rows.append([processors, len(jobs), 1e6 * median(taken) / len(jobs)])
    return Table("growth with processors: the engine alone", ["processors", "jobs", "µs a job"], rows)


def _with_limits(policy: Any, times: int) -> dict[str, Any]:
    """Return a policy whose limits are so many times as large."""
    limits = policy["oversubscribe"]
    return {
        **policy,
        "batch_limit": policy["batch_limit"] * times,
        "oversubscribe": {**limits, "processors": limits["processors"] * times},
        "queues": [
            {**queue, "run_limit": None if queue["run_limit"] is None else queue["run_limit"] * times}
            for queue in policy["queues"]
        ],
        "classes": {
            name: {
                **its,
                "processor_limit": None if its["processor_limit"] is None else its["processor_limit"] * times,
            }
            for name, its in policy["classes"].items()
        },
    }

"""CPU time a job against the number of PEs and against the load, for each scheme.

Sizes scale with the machine as the workload model has it (up to the whole machine), so a larger machine also
holds more jobs at a time; larger machines simulate fewer of them. Only the event loop is timed, not the
set-up, which a short run would otherwise be full of.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from statistics import median

import numpy as np

from benchmarks import points
from benchmarks.measure import in_turn
from benchmarks.record import Findings, Table
from models import gang
from sweep.plan.task import Task

JOBS = {128: 20_000, 512: 20_000, 2048: 10_000, 8192: 4_000, 65536: 1_000}
"""PEs -> jobs that are timed, after as many as a batch before them."""

LOADS = (0.3, 0.5, 0.7, 0.8, 0.9, 0.95)
MIDDLE_LOAD = 0.7
WARM_UP_JOBS = 500


def run(quick: bool) -> Findings:
    """Time all schemes on all machines, then at all loads, in turn."""
    gang.FAMILY.warm_up()
    rounds = 1 if quick else 3
    shrink = 10 if quick else 1
    return Findings(tables=[_against_pes(rounds, shrink), _against_load(rounds, shrink)])


def _against_pes(rounds: int, shrink: int) -> Table:
    actions = {
        (task.point.policy["name"], n_pes): partial(_us_a_job, task)
        for n_pes, jobs in JOBS.items()
        for task in _tasks(jobs // shrink, f"grid.load=[{MIDDLE_LOAD}]", f"machine.processors={n_pes}")
    }
    us = {key: median(taken) for key, taken in in_turn(actions, rounds).items()}
    rows = []
    for scheme in dict.fromkeys(scheme for scheme, _ in us):
        costs = [us[scheme, n_pes] for n_pes in JOBS]
        steepest = max(exponent(x, y) for x, y in zip(pairwise(JOBS), pairwise(costs), strict=True))
        rows.append([scheme, *costs, exponent(list(JOBS), costs), steepest])
    return Table(
        f"CPU time a job against PEs at load {MIDDLE_LOAD}, microseconds; fitted exponent, and the steepest",
        ["scheme", *(f"{n_pes:,} PEs" for n_pes in JOBS), "exponent", "steepest"],
        rows,
    )


def _against_load(rounds: int, shrink: int) -> Table:
    tasks = _tasks(JOBS[128] // shrink, f"grid.load=[{','.join(map(str, LOADS))}]")
    actions = {(task.point.policy["name"], task.point.load): partial(_us_a_job, task) for task in tasks}
    us = {key: median(taken) for key, taken in in_turn(actions, rounds).items()}
    jobs = {(task.point.policy["name"], task.point.load): _jobs_in_system(task) for task in tasks}
    rows = []
    for scheme in dict.fromkeys(scheme for scheme, _ in us):
        costs = [us[scheme, load] for load in LOADS]
        in_system = [jobs[scheme, load] for load in LOADS]
        rows.append([scheme, *costs, in_system[-1], exponent(in_system, costs)])
    return Table(
        "CPU time a job against load on 128 PEs, microseconds; fitted exponent against jobs in the system",
        ["scheme", *map(str, LOADS), f"jobs at {LOADS[-1]}", "exponent"],
        rows,
    )


def _tasks(jobs: int, *overrides: str) -> list[Task]:
    return points.tasks(
        *points.FIG_8,
        "warmup=1",
        f"batch_size={WARM_UP_JOBS}",
        f"batches={-(-jobs // WARM_UP_JOBS)}",
        *overrides,
    )


def _us_a_job(task: Task) -> float:
    """Return microseconds of CPU time for each job after the warm-up."""
    simulation = points.prepare(task)
    simulation.run(task.measurement.warmup)
    before, start = simulation.n_terminated, time.process_time()
    simulation.run(task.measurement.warmup + task.measurement.checkpoints[-1])
    return (time.process_time() - start) / (simulation.n_terminated - before) * 1e6


def _jobs_in_system(task: Task) -> float:
    """Return the mean number of jobs in the system."""
    simulation = points.prepare(task)
    simulation.run(task.measurement.warmup + task.measurement.checkpoints[-1])
    return float(np.nanmean(simulation.batches.jobs_in_system))


def exponent(x: Sequence[float], y: Sequence[float]) -> float:
    """Return the exponent b of the power law y ~ x^b, fitted by least squares to the logarithms.

    Examples
    --------
    >>> round(exponent([1, 10, 100], [3, 30, 300]), 6)
    1.0
    """
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])

"""The kernels against the same model in SimPy, written twice, on identical jobs.

All simulate first fit under shared alternation from the first arrival on and report the same numbers: a test
compares the response times job by job, and all metrics. Each gets its jobs from the same code, which draws
them once and keeps them, as in a study all of whose loads contend with the same jobs; it simulates and
measures them. The kernel also tells percentiles and maxima. A second table says what its time goes to, and
what jobs take that are drawn anew.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import chain, islice
from statistics import median
from typing import cast

import numpy as np

from benchmarks import points
from benchmarks.measure import cpu_seconds, in_turn, median_ratio
from benchmarks.record import Cell, Findings, Table, Target
from benchmarks.simpy_by_the_book import MatrixScheduler
from benchmarks.simpy_model import GangScheduler, Measured, Session, simulate
from models import gang, workloads
from models.dotted import imported
from models.gang import model
from models.gang.recording import Recorder
from models.gang.state import ARRIVED
from models.jobs.stream import Stream
from models.workloads import feitelson1996
from models.workloads.repetition import same_runtime
from sweep.executors.work import point
from sweep.plan.task import Task

COLUMNS = ("submit", "size", "runtime", "runs", "key")
LOADS = (0.3, 0.5, 0.7, 0.9, 0.95)
TARGET = 200.0
SIMPY_JOBS = 2_000
ROUNDS_OF_PARTS = 9
"""A part takes some milliseconds: the least of so many tells it."""

BASELINES = {"by the book": MatrixScheduler, "with bit masks": GangScheduler}
"""Two models in SimPy: as one would first write it, and with sets of PEs as bit masks."""


def run(quick: bool) -> Findings:
    """Time all at several loads; the kernel has more jobs to do, or the clock would hardly tick."""
    gang.FAMILY.warm_up()
    rounds = 1 if quick else 5
    rows: list[list[Cell]] = []
    ratios: dict[str, list[float]] = {name: [] for name in BASELINES}
    totals = dict.fromkeys([*BASELINES, "kernel"], 0.0)
    parts: list[list[Cell]] = []
    for task in tasks(LOADS, jobs=10 * SIMPY_JOBS):
        points.simulate(task)
        parts.append([str(task.point.load), *_parts_us(task)])
        actions = {name: partial(_simpy_us, task, SIMPY_JOBS, kind) for name, kind in BASELINES.items()}
        taken = in_turn({**actions, "kernel": partial(_kernel_us, task)}, rounds)
        for name, times in taken.items():
            totals[name] += median(times)
        for name in BASELINES:
            ratios[name].append(median_ratio(taken[name], taken["kernel"]))
            us, kernel_us = median(taken[name]), median(taken["kernel"])
            rows.append([str(task.point.load), name, us, kernel_us, ratios[name][-1]])
    together = totals["by the book"] / totals["kernel"]
    return Findings(
        [
            Table(
                "First fit, shared alternation, 128 PEs: CPU time a job, microseconds",
                ["load", "in SimPy", "SimPy", "kernel", "times faster"],
                rows,
            ),
            Table(
                f"The kernel's part of it, {10 * SIMPY_JOBS:,} jobs: CPU time a job, microseconds",
                ["load", *PARTS],
                parts,
            ),
        ],
        [
            Target("faster than SimPy by the book, all loads", together, TARGET, "times", at_least=True),
        ],
        [f"{name}, least of the loads: {min(ratios[name]):.0f} times faster" for name in BASELINES],
    )  # fmt: skip


def tasks(loads: tuple[float, ...], jobs: int) -> list[Task]:
    """Return one task for each load, about so many jobs long, without a warm-up."""
    return points.tasks(
        *points.FIG_8,
        "policy=first_fit",
        f"grid.load=[{','.join(map(str, loads))}]",
        "warmup=0",
        "batches=1",
        f"batch_size={jobs}",
    )


def session_list(task: Task, count: int) -> list[Session]:
    """Return the first sessions of a task, just as the kernel gets them."""
    stream = workloads.open_workload(task.point)
    assert isinstance(stream, Stream)
    rows = (
        zip(*(getattr(chunk, name).tolist() for name in COLUMNS), strict=True) for chunk in stream.chunks()
    )
    rerun = cast("Callable[..., float]", same_runtime if stream.rerun is None else imported(stream.rerun))
    found = []
    for submit, size, runtime, runs, key in islice(chain.from_iterable(rows), count):
        runtimes = [runtime]
        for run in range(1, runs):
            runtimes.append(rerun(runtimes[-1], size, key, run, stream.rerun_parameters))
        found.append(Session(submit, size, tuple(runtimes)))
    return found


def kernel_measures(task: Task) -> Measured:
    """Run the kernel for one batch and return what the SimPy model measures."""
    at = point(task, gang.FAMILY)
    recorder = Recorder()
    simulation = model.prepare(at, recorder=recorder)
    simulation.run(1)
    ended = recorder.ended(simulation.n_submitted)
    responses = np.full(simulation.n_submitted, np.nan)
    responses[ended.number] = ended.end - ended.submit
    metrics = {name: float(values[0]) for name, values in simulation.batches._asdict().items()}
    metrics["slowdown"] = float(points.simulate(task).metrics["slowdown"][0])
    return Measured(responses.tolist(), metrics)


def _simpy_us(task: Task, jobs: int, kind: type[GangScheduler]) -> float:
    n_pes = task.point.machine["processors"]
    return cpu_seconds(lambda: simulate(session_list(task, jobs), n_pes, jobs, kind)) / jobs * 1e6


def _kernel_us(task: Task) -> float:
    return cpu_seconds(lambda: points.simulate(task)) / task.measurement.jobs * 1e6


PARTS = ("jobs at hand", "set-up", "events", "measures", "jobs drawn anew")


def _parts_us(task: Task) -> list[float]:
    """Return microseconds a job of the kernel's parts, see `PARTS`."""

    def simulate_only() -> None:
        points.prepare(task).run(1)

    # Sessions as many as arrive; those of a chunk that is begun are drawn to its end, as they are in a run.
    started = points.prepare(task)
    started.run(1)
    n_sessions = int(started.system.counts[ARRIVED])

    def draw() -> None:
        stream = workloads.open_workload(task.point)
        assert isinstance(stream, Stream)
        drawn = 0
        for chunk in stream.chunks():
            drawn += len(chunk)
            if drawn >= n_sessions:
                return

    def draw_anew() -> None:
        feitelson1996.kept_sessions.cache_clear()
        draw()

    actions = {
        "drawing": draw,
        "set-up": lambda: points.prepare(task),
        "unmeasured": simulate_only,
        "all": lambda: points.simulate(task),
        "drawing anew": draw_anew,
    }
    taken = in_turn({name: partial(cpu_seconds, action) for name, action in actions.items()}, ROUNDS_OF_PARTS)
    us = {name: min(times) / task.measurement.jobs * 1e6 for name, times in taken.items()}
    events = us["unmeasured"] - us["drawing"] - us["set-up"]
    return [us["drawing"], us["set-up"], events, us["all"] - us["unmeasured"], us["drawing anew"]]

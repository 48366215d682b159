"""Gang scheduling against the same model in SimPy, on identical jobs.

Both simulate first fit under shared alternation from the first arrival on and report the same numbers: a test
compares the response times job by job, and all metrics. Jobs are drawn by the same code, once for all loads.
The kernel also reports percentiles and maxima.
"""

from collections.abc import Callable
from functools import partial
from itertools import chain, islice
from statistics import median
from typing import cast

import numpy as np

from benchmarks import points
from benchmarks.measure import cpu_seconds, in_turn, median_ratio
from benchmarks.record import Cell, Findings, Table, Target
from benchmarks.simpy_model import GangScheduler, Measured, Session, simulate
from models import gang, workloads
from models.dotted import imported
from models.gang import model
from models.gang.recording import Recorder
from models.jobs.stream import Stream
from models.workloads.repetition import same_runtime
from sweep.executors.work import point
from sweep.plan.task import Task

COLUMNS = ("submit", "size", "runtime", "runs", "key")
LOADS = (0.3, 0.5, 0.7, 0.9, 0.95)
TARGET = 60.0
SIMPY_JOBS = 2_000


def run(quick: bool) -> Findings:
    """Time all at several loads; the kernel has more jobs to do, or the clock would hardly tick."""
    gang.FAMILY.warm_up()
    rounds = 1 if quick else 5
    rows: list[list[Cell]] = []
    for task in tasks(LOADS, jobs=10 * SIMPY_JOBS):
        points.simulate(task)
        taken = in_turn({"SimPy": partial(_simpy_us, task), "kernel": partial(_kernel_us, task)}, rounds)
        ratio = median_ratio(taken["SimPy"], taken["kernel"])
        rows.append([str(task.point.load), median(taken["SimPy"]), median(taken["kernel"]), ratio])
    title = "First fit, shared alternation, 128 PEs: CPU time a job, microseconds"
    least = min(float(str(row[-1])) for row in rows)
    return Findings(
        [Table(title, ["load", "SimPy", "kernel", "times faster"], rows)],
        [Target("faster than SimPy, least of the loads", least, TARGET, "times", at_least=True)],
    )


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


def _simpy_us(task: Task) -> float:
    n_pes, jobs = task.point.machine["processors"], SIMPY_JOBS
    return cpu_seconds(lambda: simulate(session_list(task, jobs), n_pes, jobs, GangScheduler)) / jobs * 1e6


def _kernel_us(task: Task) -> float:
    return cpu_seconds(lambda: points.simulate(task)) / task.measurement.jobs * 1e6

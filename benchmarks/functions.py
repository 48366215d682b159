"""What a task costs beyond its function, which takes 1 ms, on two workers: here, and in other frameworks.

Joblib and submitit are measured where they are installed. Two runs of different length are compared, so that
the start of workers is left out.
"""

import os
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from benchmarks.record import Cell, Findings, Table, Target

WORKERS, FUNCTION_S, TARGET_MS = 2, 0.001, 1.0
SHORT = 1 / 5
"""The shorter run, as a share of the longer."""


def busy(n: int) -> float:
    """Take 1 ms."""
    time.sleep(FUNCTION_S)
    return float(n)


def sampled(n: int, *, rng: object) -> float:
    """Take 1 ms, as a model."""
    return busy(n)


def run(quick: bool) -> Findings:
    """Run each framework with a few and with many tasks."""
    n = 4000 if quick else 10000
    ways: dict[str, tuple[Callable[[int], float], int]] = {
        "this project": (_here, n),
        "Dask": (_dask, n),
        "joblib": (_joblib, n),
        "submitit, local": (_submitit, 10),
    }
    rows: list[list[Cell]] = []
    beyond: dict[str, float] = {}
    for name, (way, tasks) in ways.items():
        with suppress(ImportError):
            few = int(SHORT * tasks)
            way(few)  # joblib keeps its workers
            seconds = (way(tasks) - way(few)) / (tasks - few)
            beyond[name] = 1000 * (WORKERS * seconds - FUNCTION_S)
            rows.append([name, tasks, beyond[name], FUNCTION_S / (WORKERS * seconds)])
    columns = ["framework", "tasks", "ms a task beyond its function", "share of the workers' time in it"]
    table = Table(f"A function of 1 ms on {WORKERS} workers", columns, rows)
    target = Target("a task beyond its function", beyond["this project"], TARGET_MS, "ms")
    return Findings([table], [target])


def _here(n: int) -> float:
    from sweep.notebook.study import Study

    with tempfile.TemporaryDirectory() as folder:
        study = Study(
            sampled, grid={"n": [1]}, metrics={"v": "1"}, replications=n, output=folder,
            executor={"name": "dask", "workers": WORKERS},
        )  # fmt: skip
        start = time.perf_counter()
        study.run(progress=False)
        return time.perf_counter() - start


def _dask(n: int) -> float:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        start = time.perf_counter()
        client.gather(client.map(busy, range(n)))
        return time.perf_counter() - start


def _joblib(n: int) -> float:
    from joblib import Parallel, delayed  # type: ignore[import-not-found] # optional

    start = time.perf_counter()
    Parallel(n_jobs=WORKERS)(map(delayed(busy), range(n)))
    return time.perf_counter() - start


def _submitit(n: int) -> float:
    from submitit import AutoExecutor  # type: ignore[import-not-found] # optional

    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        for _ in range(n // WORKERS):  # a process for each job, as many at a time as there are workers
            executor = AutoExecutor(Path(folder), cluster="local")
            for job in [executor.submit(partial(busy, os.getpid())) for _ in range(WORKERS)]:
                job.result()
        return time.perf_counter() - start

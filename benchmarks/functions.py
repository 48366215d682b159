"""What a task costs beyond its function, which takes 1 ms, on two workers: here, and with Dask by itself.

Two runs of different length are compared, so that the start of workers is left out.
"""

import tempfile
import time

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
    """Run each with a few and with many tasks."""
    n = 4000 if quick else 10000
    few = int(SHORT * n)
    rows: list[list[Cell]] = []
    beyond: dict[str, float] = {}
    for name, way in {"this project": _here, "Dask": _dask}.items():
        seconds = (way(n) - way(few)) / (n - few)
        beyond[name] = 1000 * (WORKERS * seconds - FUNCTION_S)
        rows.append([name, n, beyond[name], FUNCTION_S / (WORKERS * seconds)])
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

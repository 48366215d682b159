"""What executors add to the kernels: a start, and their share of the CPU with tasks of 1 ms and of 20 ms.

Each executor runs two studies of the same tasks, one several times as large as the other. What the larger one
takes more is what tasks cost once everything runs; what the smaller one takes beyond that is the start.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil
import xarray as xr

from benchmarks import points, timed_gang
from benchmarks.measure import cpu_seconds
from benchmarks.record import Cell, Findings, Table, Target
from benchmarks.watch import is_grandchild, is_rank, is_root, watch
from models import gang

SHARE_TARGET = 0.98
"""What remains is messages and records. All that is not inside a family's `simulate` counts as executors',
reading the clock around it as well (some 5 µs a task)."""

WORKERS = 2
BATCHES = 10
POINTS = 16
"""Of the grid: eight schemes, two loads."""

GRID = (*points.FIG_8, "grid.load=[0.5,0.7]", f"batches={BATCHES}", "policy.family=benchmarks.timed_gang")


@dataclass(frozen=True)
class Way:
    """How a study is run on an executor."""

    settings: Sequence[str]
    is_worker: Callable[[psutil.Process, psutil.Process], bool]
    launcher: Sequence[str] = ()


def ways(workers: int = WORKERS) -> dict[str, Way]:
    """Return the executors that there are on this machine, with so many workers where they can have them."""
    here = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    found = {
        "serial": Way(("executor=serial",), is_root),
        "dask": Way(("executor=dask", f"executor.workers={workers}"), is_grandchild),
    }
    if mpiexec := shutil.which("mpiexec", path=here):
        found["mpi"] = Way(("executor=mpi",), is_rank, (mpiexec, "-n", str(workers + 1)))
    return found


def run(quick: bool) -> Findings:
    """Measure every executor with short and with longer tasks."""
    gang.FAMILY.warm_up()
    findings = Findings()
    sizes = {0.001: (63, 500), 0.02: (6, 40)} if quick else {0.001: (125, 1250), 0.02: (12, 100)}
    load_average = os.getloadavg()[0]
    for task_s, (few, many) in sizes.items():
        size = batch_size(task_s)
        rows: list[list[Cell]] = []
        ms = 0.0
        for name, way in ways().items():
            small, large = (_study(way, size, replications) for replications in (few, many))
            kernels, workers, others, wall, tasks = large - small
            ms, share = 1000 * kernels / tasks, kernels / workers
            start = small[1] + small[2] - small[4] / tasks * (workers + others)
            start_wall = small[3] - small[4] / tasks * wall
            rows.append([name, tasks, share, kernels / (workers + others), kernels / wall, start_wall, start])
            if name != "serial":
                what = f"{name}: workers' CPU in simulations, tasks of {ms:.2g} ms"
                findings.targets.append(Target(what, share, SHARE_TARGET, "", at_least=True))
        columns = ["executor", "tasks", "share of workers' CPU", "share of all CPU", "cores in simulations"]
        columns += ["start, wall s", "start, CPU s"]
        findings.tables.append(Table(f"Tasks of {ms:.2g} ms, {WORKERS} workers", columns, rows))
    note = f"load average before: {load_average:.1f}; wall clocks mean little if others were at work"
    findings.notes.append(note)
    return findings


def batch_size(task_s: float) -> int:
    """Return jobs in a batch such that a task takes about so long."""
    sizes = (20, 500)
    seconds = []
    for size in sizes:
        tasks = points.tasks(*GRID[:-1], "replications=3", f"batch_size={size}")
        points.simulate(tasks[0])  # what the first call loads is no part of it
        seconds.append(cpu_seconds(lambda todo=tasks: [points.simulate(task) for task in todo]) / len(tasks))
    # A part of a task's time is the same for any number of jobs.
    slope = (seconds[1] - seconds[0]) / (sizes[1] - sizes[0])
    return max(1, round(sizes[0] + (task_s - seconds[0]) / slope))


def _study(way: Way, batch_size: int, replications: int) -> np.ndarray:
    """Return CPU seconds (simulations, workers, other processes), wall seconds, and the number of tasks."""
    with tempfile.TemporaryDirectory(prefix="benchmark-") as output:
        overrides = (f"batch_size={batch_size}", f"replications={replications}", f"output={output}")
        command = ["-m", "sweep", *GRID, *way.settings, *overrides]
        watched = watch(command, way.launcher, way.is_worker)
        with xr.open_dataset(Path(output) / "packing.nc") as results:
            kernels = float(results[timed_gang.METRIC].sum())
    return np.array([kernels, watched.workers_cpu, watched.other_cpu, watched.wall, POINTS * replications])

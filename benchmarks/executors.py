"""What executors add to simulations: a start, and their share of the time with tasks of 1 ms and of 20 ms.

Each executor runs two studies of the same tasks, one several times as large as the other. What the larger one
takes more is what tasks cost once everything runs; what the smaller one takes beyond that is the start. The
time that each task took is in the dataset.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import xarray as xr

from benchmarks import points
from benchmarks.measure import cpu_seconds, python
from benchmarks.record import Cell, Findings, Table, Target
from models import gang

SHARE_TARGET = 0.9
"""Of the workers' time in simulations; what remains is messages, records, and the process that deals out."""

WORKERS = 2
POINTS = 16
"""Of the grid: eight schemes, two loads."""

GRID = (*points.FIG_8, "grid.load=[0.5,0.7]", "batches=10", "capacity=0")


@dataclass(frozen=True)
class Way:
    """How a study is run on an executor."""

    settings: Sequence[str]
    workers: int = WORKERS
    launcher: Sequence[str] = ()


def ways() -> dict[str, Way]:
    """Return the executors that there are on this machine."""
    here = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    found = {
        "serial": Way(("executor=serial",), workers=1),
        "dask": Way(("executor=dask", f"executor.workers={WORKERS}")),
    }
    if mpiexec := shutil.which("mpiexec", path=here):
        found["mpi"] = Way(("executor=mpi",), launcher=(mpiexec, "-n", str(WORKERS + 1)))
    return found


def run(quick: bool) -> Findings:
    """Measure every executor with short and with longer tasks."""
    gang.FAMILY.warm_up()
    findings = Findings()
    sizes = {0.02: (2, 12)} if quick else {0.001: (125, 1250), 0.02: (12, 100)}
    load_average = os.getloadavg()[0]
    for task_s, (few, many) in sizes.items():
        size = batch_size(task_s)
        rows: list[list[Cell]] = []
        ms = 0.0
        for name, way in ways().items():
            small, large = (_study(way, size, replications) for replications in (few, many))
            simulated, wall, tasks = large - small
            ms, share = 1000 * simulated / tasks, simulated / wall / way.workers
            rows.append([name, tasks, share, small[1] - small[2] * wall / tasks])
            if name != "serial":
                what = f"{name}: share of the workers' time, tasks of {ms:.2g} ms"
                findings.targets.append(Target(what, share, SHARE_TARGET, "", at_least=True))
        columns = ["executor", "tasks", "share of the workers' time in simulations", "start, s"]
        findings.tables.append(Table(f"Tasks of {ms:.2g} ms, {WORKERS} workers", columns, rows))
    note = f"load average before: {load_average:.1f}; these clocks mean little if others were at work"
    findings.notes.append(note)
    return findings


def batch_size(task_s: float) -> int:
    """Return jobs in a batch such that a task takes about so long."""
    sizes = (20, 500)
    seconds = []
    for size in sizes:
        tasks = points.tasks(*GRID, "replications=3", f"batch_size={size}")
        points.simulate(tasks[0])  # what the first call loads is no part of it
        seconds.append(cpu_seconds(lambda todo=tasks: [points.simulate(task) for task in todo]) / len(tasks))
    # A part of a task's time is the same for any number of jobs.
    slope = (seconds[1] - seconds[0]) / (sizes[1] - sizes[0])
    return max(1, round(sizes[0] + (task_s - seconds[0]) / slope))


def _study(way: Way, batch_size: int, replications: int) -> np.ndarray:
    """Return the seconds of all simulations, those of the command, and the number of tasks."""
    with tempfile.TemporaryDirectory(prefix="benchmark-") as output:
        overrides = (f"batch_size={batch_size}", f"replications={replications}", f"output={output}")
        took = python("-m", "sweep", *GRID, *way.settings, *overrides, launcher=way.launcher)
        with xr.open_dataset(Path(output) / "packing.nc") as results:
            simulated = float(results.seconds.sum())
    return np.array([simulated, took, POINTS * replications])

"""The sweep around the kernels: a large plan, what is left of it, and its dataset.

The results are synthetic but written by the workers' own writer.
"""

import shutil
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from benchmarks import points
from benchmarks.measure import in_fresh_process, peak_memory
from benchmarks.record import Cell, Findings, Table, Target
from models.gang import FAMILY
from sweep.plan.data import MEASURES
from sweep.store import dataset, state
from sweep.store.folder import Folder
from sweep.store.records import Finished
from sweep.store.shards import Shard

TARGETS_S = {
    100_000: {"expand": 0.5, "find what is left": 0.5, "gather": 6.0},
    1_000_000: {"expand": 4.0, "find what is left": 4.0, "gather": 60.0},
}
"""By number of tasks, with which all three grow."""

GATHER_MB = {100_000: 600.0, 1_000_000: 2000.0}
"""Most memory that gathering may take. The values of 100,000 tasks alone are 460 MB, of a million ten times
as much: no more than a block of them is held at a time."""

MESSAGE = 50
"""Tasks in a message, about what 75 ms of work come to."""


def run(quick: bool) -> Findings:
    """Measure each step of large plans in a process of its own."""
    FAMILY.warm_up()
    findings = Findings()
    with tempfile.TemporaryDirectory(prefix="benchmark-") as made:
        for tasks in [10_000] if quick else TARGETS_S:
            _large_plan(findings, Path(made) / f"{tasks}", tasks)
            shutil.rmtree(Path(made) / f"{tasks}")
    return findings


def _large_plan(findings: Findings, folder: Path, tasks: int) -> None:
    rows: list[list[Cell]] = []
    took: dict[str, float] = {}
    in_fresh_process(_write_shards, folder, tasks)
    megabytes = sum(file.stat().st_size for file in Folder(folder, "packing").shards.iterdir()) / 1e6
    peak = 0.0
    for what in ("expand", "find what is left", "gather"):
        took[what], peak = in_fresh_process(_measured, what, folder, tasks)
        rows.append([what, took[what], peak])
    title = f"A plan of {tasks:,} tasks, 9 of 10 done ({megabytes:,.0f} MB of logs)"
    findings.tables.append(Table(title, ["step", "CPU s", "peak MB"], rows))
    for what, limit in TARGETS_S.get(tasks, {}).items():
        findings.targets.append(Target(f"{what}, {tasks:,} tasks", took[what], limit, "s"))
    if tasks in GATHER_MB:
        findings.targets.append(Target(f"gather, {tasks:,} tasks, memory", peak, GATHER_MB[tasks], "MB"))


def overrides(tasks: int) -> list[str]:
    """Return a grid of `tasks` tasks: 8 schemes x 125 loads x replications, and no overload runs."""
    loads = ",".join(f"{load:.4f}" for load in np.linspace(0.1, 0.97, 125))
    return [*points.FIG_8, f"grid.load=[{loads}]", f"replications={tasks // 1000}", "capacity=0"]


def _measured(what: str, folder: Path, tasks: int) -> tuple[float, float]:
    """Return the CPU seconds of a step, and the peak memory of this process."""
    start = time.process_time()
    study = points.expanded(*overrides(tasks))
    found, expected = len(study.ids), tasks
    if what != "expand":
        results, start = Folder(folder, "packing"), time.process_time()
        read = state.read(study, results)
        if what == "gather":
            dataset.write(read, results.dataset)
        else:
            found, expected = len(read.left()), tasks // 10
    seconds = time.process_time() - start
    if found != expected:
        raise RuntimeError(f"{what}: {found} tasks, not {expected}")
    return seconds, peak_memory()


def _write_shards(folder: Path, tasks: int) -> None:
    """Log results of nine tasks in ten, in messages as workers do."""
    study = points.expanded(*overrides(tasks))
    results = Folder(folder, "packing")
    results.create()
    shard = Shard(results.shards)
    done = (id_ for number, id_ in enumerate(study.ids) if number % 10)
    made = records(done, study.longest.checkpoints[-1])
    while message := list(islice(made, MESSAGE)):
        shard.append(message)


def records(ids: Iterator[str], n_batches: int) -> Iterator[Finished]:
    """Yield synthetic results, as large as real ones."""
    metrics = FAMILY.measured(MEASURES)
    values = np.random.default_rng(1).gamma(4.0, 0.5, (len(metrics), n_batches))
    layout = tuple((metric.name, n_batches) for metric in metrics)
    for id_ in ids:
        yield Finished(id_, 0.1, 31_000, False, n_batches, layout, values.tobytes())

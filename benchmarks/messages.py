"""What messages cost the process that hands them out, and whether a model of it tells studies not seen.

Studies with one worker and with two, with messages of several sizes and tasks of two lengths;
`benchmarks.fleet` has the model. Costs are CPU time; what a study takes by the clock can only be told where
nobody else is at work on the machine.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

import xarray as xr

from benchmarks import timed_gang
from benchmarks.executors import GRID, POINTS, Way, batch_size, ways
from benchmarks.fleet import A_WORKER_S, COLUMNS, COSTS, POOR, Fitted, Study, row
from benchmarks.record import Cell, Findings, Table, Target
from models import gang

WORKERS = (1, 2)
MESSAGES_S = (0.02, 0.05, 0.2)
TASKS_S = (0.001, 0.02)


def run(quick: bool) -> Findings:
    """Run the studies of both executors, fit, and tell each study by the others."""
    gang.FAMILY.warm_up()
    work_s, messages_s = (2.0, MESSAGES_S[::2]) if quick else (6.0, MESSAGES_S)
    sizes = {task_s: batch_size(task_s) for task_s in TASKS_S}
    cores = os.cpu_count() or 1
    findings = Findings()
    load_average = os.getloadavg()[0]
    for name in A_WORKER_S:
        if name not in ways():
            continue
        studies: dict[str, Study] = {}
        for task_s, message_s, workers in product(TASKS_S, messages_s, WORKERS):
            replications = max(2, round(work_s / task_s / POINTS))
            of = f"{1000 * task_s:g} ms, {message_s:g} s, {workers}"
            studies[of] = _study(ways(workers)[name], sizes[task_s], replications, message_s)
        found = Fitted.of(list(studies.values()), A_WORKER_S[name])
        told = found.held_out(cores)
        rows: list[list[Cell]] = [
            [of, *row(study), main / study.main, wall / study.wall]
            for (of, study), (main, wall) in zip(studies.items(), told, strict=True)
        ]
        findings.tables.append(
            Table(
                f"{name}: studies by tasks, messages, workers; last what the others tell, over what it was",
                ["study", *COLUMNS, "main told", "wall told"],
                rows,
            )
        )
        findings.tables.append(
            Table(
                f"Costs under {name}, with 95 % intervals",
                ["", "value", "half-width"],
                [[what, *found.interval(number)] for what, number in COSTS.items()],
            )
        )
        findings.notes.append(f"{name}: {found.verdict(cores)}")
        for what, error in zip(("CPU time of the one process", "time"), found.errors(cores), strict=True):
            findings.targets.append(Target(f"{name}: {what}, told by other studies: error", error, POOR, ""))
    findings.notes.append(
        f"load average before: {load_average:.1f}; where others work, walls are not to be told"
    )
    return findings


def _study(way: Way, size: int, replications: int, message_s: float) -> Study:
    with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
        account, output = Path(folder) / "account.json", Path(folder) / "results"
        overrides = (f"batch_size={size}", f"replications={replications}", f"output={output}")
        command = [
            *way.launcher,
            sys.executable,
            "-m",
            "benchmarks.message_study",
            str(account),
            str(message_s),
        ]
        ran = subprocess.run([*command, *GRID, *way.settings, *overrides], capture_output=True, text=True)
        if ran.returncode:
            last = (ran.stderr.strip().splitlines() or ["(no message)"])[-1]
            raise RuntimeError(f"{' '.join(command)} ended with status {ran.returncode}: {last}")
        with xr.open_dataset(output / "packing.nc") as results:
            work = float(results[timed_gang.METRIC].sum())
        return Study(**json.loads(account.read_text(encoding="utf-8")), work=work)

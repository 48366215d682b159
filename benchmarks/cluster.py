"""Slurm at scale: submit, status and gather of 100,000 tasks, hundreds of elements at once, and growth.

The elements are fake: they write synthetic results, but into the logs and with the writer of real ones.
Status and gather read what they left; submit hands over to a throw-away Slurm that starts nothing.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import multiprocessing
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import cast
from unittest import mock

from benchmarks import points
from benchmarks.measure import cpu_seconds, in_fresh_process, peak_memory
from benchmarks.record import Cell, Findings, Table, Target
from benchmarks.whole_sweep import overrides, records
from slurm import record, submission
from slurm.daemons import missing
from slurm.outline import USABLE
from slurm.share import Logs
from slurm.testcluster import TestCluster
from sweep import cli
from sweep.plan.plan import Plan
from sweep.store import state
from sweep.store.costs import Costs, keys
from sweep.store.folder import Folder
from sweep.store.shards import Shard

TASKS = 100_000
TARGETS_S = {"submit": 10.0, "status": 2.0, "gather": 20.0}
MEMORY_TARGET_MB = 1000.0
FILES_TARGET = 1000.0
TASK_S = 20.0
"""Predicted time of a task: 100,000 of them are more than the elements that leave few files can take."""

MESSAGE = 50
"""Tasks in a message."""

WRITERS = 4
"""Processes that play elements."""

FAR = (10_000, 10_000_000)
"""Elements and tasks to which growth is extrapolated."""

NODE_MB = 64_000.0
"""Memory of a large node."""


@dataclass(frozen=True)
class Taken:
    """What a command took in a process of its own: CPU seconds, and most memory in MB."""

    cpu_s: float
    memory_mb: float
    said: str


def run(quick: bool) -> Findings:
    """Measure a large sweep, then a smaller one, and extrapolate."""
    findings = Findings()
    if text := missing():
        findings.notes.append(f"nothing was measured: {text}")
        return findings
    tasks = TASKS // 10 if quick else TASKS
    with tempfile.TemporaryDirectory(prefix="benchmark-") as made, _idle_cluster(Path(made)):
        large = _life(Path(made) / "large", tasks)
        small = None if quick else _life(Path(made) / "small", tasks // 4)
        findings.tables.append(_table(tasks, large))
        findings.tables.append(_at_once(Path(made) / "many", tasks))
    for step, target in TARGETS_S.items():
        findings.targets.append(Target(f"{step}, {tasks:,} tasks", large.steps[step].cpu_s, target, "s"))
    findings.targets.append(
        Target("gather, peak memory", large.steps["gather"].memory_mb, MEMORY_TARGET_MB, "MB")
    )
    findings.targets.append(Target("files", large.files, FILES_TARGET, ""))
    if small is not None:  # a line through two small sizes says nothing
        _extrapolate(findings, small, large)
    return findings


@dataclass(frozen=True)
class Life:
    """A sweep from submission to dataset."""

    tasks: int
    elements: int
    steps: dict[str, Taken]
    files: float
    log_mb: float


@contextmanager
def _idle_cluster(place: Path) -> Iterator[None]:
    """Have a Slurm that takes jobs and starts none."""
    with TestCluster(nodes=1, cpus=1) as cluster:
        cluster.slurm.update(partitionname="main", state="down")
        with mock.patch.dict(os.environ, {**cluster.env, "XDG_CACHE_HOME": str(place)}):
            yield


def _arguments(folder: Path, tasks: int) -> list[str]:
    where = ["executor=slurm", "slurm=testcluster", 'executor.time="4:00:00"', f"output={folder}"]
    return [*overrides(tasks), *where]


def _life(folder: Path, tasks: int) -> Life:
    given = _arguments(folder, tasks)
    steps = {"expand": in_fresh_process(_expand, given)}
    in_fresh_process(_predict, given)
    steps["submit"] = in_fresh_process(_command, given)
    made = next(submission.submissions(Folder(folder, "packing")))
    in_fresh_process(_write, folder, given, range(made.n_elements), 10)
    steps["status"] = in_fresh_process(_command, [*given, "action=status"])
    steps["gather"] = in_fresh_process(_command, [*given, "action=gather"])
    in_fresh_process(_command, [*given, "action=cancel"])
    sizes = [file.stat().st_size for file in Folder(folder, "packing").shards.iterdir()]
    # A log of Slurm's and a record for each element, as a cluster that runs them would leave.
    files = sum(path.is_file() for path in folder.rglob("*")) + 2 * made.n_elements
    return Life(tasks, made.n_elements, steps, files, sum(sizes) / 1e6)


def _command(arguments: Sequence[str]) -> Taken:
    """Run ``python -m sweep`` here."""
    start, said = time.process_time(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        status = cli.main(arguments)
    if status:
        raise RuntimeError(f"python -m sweep {' '.join(arguments)}: status {status}: {said.getvalue()}")
    return Taken(time.process_time() - start, peak_memory(), said.getvalue())


def _expand(arguments: Sequence[str]) -> Taken:
    """Do what every element begins with; the first time loads what the others find loaded."""

    def start() -> None:
        submission.digest(points.expanded(*arguments))

    return Taken(min(cpu_seconds(start) for _ in range(3)), peak_memory(), "")


def _predict(arguments: Sequence[str]) -> None:
    """Have costs measured, so that there are as many elements as files allow."""
    plan, costs = points.expanded(*arguments), Costs()
    key = keys(plan)
    for number in range(0, len(plan.ids), plan.replications):
        costs.add(key(number), TASK_S / plan.longest.jobs)
    costs.save()


def _write(folder: Path, arguments: Sequence[str], elements: Sequence[int], skip: int) -> int:
    """Play elements: log all but one in `skip` of their tasks, a message of each element in turn."""
    plan = points.expanded(*arguments)
    results = Folder(folder, "packing")
    made = next(submission.submissions(results))
    packed = submission.read_packing(made.path)
    waiting = {}
    for element in elements:
        (log,) = Logs(results, f"slurm-{made.job}-{element:05d}").names(1)
        numbers = packed.share(element)
        ids = (plan.ids[number] for number in numbers.tolist() if number % skip or skip == 1)
        waiting[element] = (Shard(results.shards, log), records(ids, plan.longest.checkpoints[-1]))
    messages = 0
    while waiting:
        for element, (shard, rest) in list(waiting.items()):
            if message := list(islice(rest, MESSAGE)):
                shard.append(message)
                messages += 1
            else:
                del waiting[element]
    return messages


def _at_once(folder: Path, tasks: int) -> Table:
    """Let hundreds of elements write while somebody asks for the status and gathers, again and again."""
    given = _arguments(folder, tasks)
    in_fresh_process(_command, given)
    plan, results = points.expanded(*given), Folder(folder, "packing")
    made = next(submission.submissions(results))
    shares = [range(first, made.n_elements, WRITERS) for first in range(WRITERS)]
    seen, gathers, start = [0], 0, time.perf_counter()
    with ProcessPoolExecutor(WRITERS, mp_context=multiprocessing.get_context("spawn")) as writers:
        running = [writers.submit(_write, folder, given, share, 1) for share in shares]
        while not all(one.done() for one in running):
            seen.append(_done(plan, results))
            if seen[-1]:
                in_fresh_process(_command, [*given, "action=gather"])
                gathers += 1
        messages = sum(one.result() for one in running)
    took = time.perf_counter() - start
    said = in_fresh_process(_command, [*given, "action=gather"]).said
    in_fresh_process(_command, [*given, "action=cancel"])
    if sorted(seen) != seen or f"{tasks} of {tasks} tasks are in it" not in said:
        raise RuntimeError(f"results were lost: {seen}, {said.splitlines()[-1]}")
    rows: list[list[Cell]] = [[made.n_elements, messages, took, len(seen) - 1, gathers]]
    columns = ["elements", "messages", "wall s", "looks meanwhile", "gathered meanwhile"]
    return Table(f"Elements that write at once, {WRITERS} processes: nothing lost", columns, rows)


def _done(plan: Plan, results: Folder) -> int:
    return len(state.read(plan, results).done)


def _table(tasks: int, life: Life) -> Table:
    rows: list[list[Cell]] = [[step, taken.cpu_s, taken.memory_mb] for step, taken in life.steps.items()]
    title = (
        f"{tasks:,} tasks in {life.elements} elements, 9 of 10 done ({life.log_mb:,.0f} MB of logs, "
        f"{life.files:.0f} files)"
    )
    return Table(title, ["step", "CPU s", "peak MB"], rows)


def _extrapolate(findings: Findings, small: Life, large: Life) -> None:
    """Draw a line through two sizes, for each step, and see where it leads and what it breaks on its way."""
    elements, tasks = FAR
    rows: list[list[Cell]] = []
    breaks: list[tuple[float, str]] = []
    for step, taken in large.steps.items():
        cpu = _Line(small.tasks, small.steps[step].cpu_s, large.tasks, taken.cpu_s)
        memory = _Line(small.tasks, small.steps[step].memory_mb, large.tasks, taken.memory_mb)
        rows.append([step, cpu.at(tasks), memory.at(tasks) / 1e3])
        limits = [(memory, NODE_MB, f"{NODE_MB / 1e3:.0f} GB of a node")]
        if step in TARGETS_S:
            limits.append((cpu, TARGETS_S[step], f"{TARGETS_S[step]:g} s"))
        if step == "gather":
            limits.append((memory, MEMORY_TARGET_MB, f"{MEMORY_TARGET_MB / 1e3:g} GB"))
        breaks += [(line.where(limit), f"{step} needs more than {words}") for line, limit, words in limits]
    expand = cast("tuple[str, float, float]", rows[0])
    findings.tables += [
        Table(
            f"Extrapolated to {tasks:,} tasks ({large.log_mb / large.tasks * tasks / 1e3:,.0f} GB of logs)",
            ["step", "CPU s", "peak GB"],
            rows,
        ),
        Table(
            "What breaks first, as the number of tasks grows",
            ["what", "tasks"],
            [[what, f"{number:,.0f}"] for number, what in sorted(breaks)],
        ),
    ]
    findings.notes += [
        f"each of {elements:,} elements expands the whole plan: at {tasks:,} tasks that is "
        f"{expand[1] * elements / 3600:,.0f} core-hours, and {expand[2]:.1f} GB an element, before the first "
        "of them runs",
        f"{elements:,} elements leave at most {3 * elements:,} files; a status reads their records in "
        f"{_read_records(elements):.2g} s of CPU time, and asks Slurm once",
        f"Slurm's own default holds 10,000 jobs of all users (MaxJobCount): beyond {USABLE:.0%} of what it "
        "says, elements become longer instead of more",
    ]


@dataclass(frozen=True)
class _Line:
    """Through two points."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def slope(self) -> float:
        return (self.y1 - self.y0) / (self.x1 - self.x0)

    def at(self, x: float) -> float:
        return self.y1 + self.slope * (x - self.x1)

    def where(self, y: float) -> float:
        """Return where it reaches a value, infinity if it never does."""
        return self.x1 + (y - self.y1) / self.slope if self.slope > 0 else math.inf


def _read_records(elements: int) -> float:
    """Return the CPU seconds that it takes to read what became of so many elements."""
    with tempfile.TemporaryDirectory(prefix="benchmark-") as made:
        (Path(made) / "elements").mkdir()
        start = {"started": 1.0, "job": "1_1", "host": "node", "cores": 1, "attempt": 1}
        lines = [json.dumps(event) for event in (start, {"ended": 2.0, "why": "done", "report": ""})]
        for element in range(elements):
            record.file(Path(made), element).write_text("\n".join(lines) + "\n")
        return cpu_seconds(lambda: record.read_all(Path(made)))

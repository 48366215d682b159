"""A share of a plan, run on this node with all the cores that the job owns."""

import os
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from slurm.submission import Submission
from slurm.watch import MESSAGE_S, Watch
from sweep import executors
from sweep.executors.bundles import Bundles
from sweep.plan.data import Plan
from sweep.run import execute, warm_up
from sweep.store.costs import Costs
from sweep.store.folder import Folder
from sweep.store.reader import heads
from sweep.store.state import State

CORES_A_LOG = 16
"""Workers that share a log: with one message a second each, they hardly ever wait for it."""

MAX_LOGS = 4
"""Logs of an element, so that 100,000 tasks leave fewer than a thousand files."""


@dataclass(frozen=True)
class Logs:
    """The logs of a share: their names are unique, on whatever node it ran."""

    folder: Folder
    prefix: str

    def names(self, cores: int) -> list[str]:
        """Return the logs for workers of this node; a log to which two nodes append would not be safe."""
        return [f"{self.prefix}-{socket.gethostname()}-{number}" for number in range(n_logs(cores))]

    def files(self) -> list[Path]:
        """Return the logs that exist."""
        return sorted(self.folder.shards.glob(f"{self.prefix}-*.jsonl"))

    def tried(self) -> tuple[set[str], set[str]]:
        """Return the identities of tasks that are done, and of those that failed and are not done."""
        done: set[str] = set()
        failed: set[str] = set()
        for head in heads(self.folder.shards, f"{self.prefix}-*.jsonl"):
            (failed if head.failed else done).add(head.id)
        return done, failed - done


def logs_of(submission: Submission, element: int) -> Logs:
    """Return the logs of an element's share."""
    return Logs(Folder(Path(submission.output), ""), f"slurm-{submission.job}-{element:05d}")


def n_logs(cores: int) -> int:
    """Return how many logs the workers of an element share."""
    return min(MAX_LOGS, -(-cores // CORES_A_LOG))


def own_cores() -> int:
    """Return the cores that this job owns on this node."""
    granted = os.environ.get("SLURM_CPUS_PER_TASK") or os.environ.get("SLURM_CPUS_ON_NODE") or ""
    usable = executors.available_cores()
    return min(usable, int(granted)) if granted.isdecimal() and int(granted) else usable


def run(plan: Plan, numbers: Iterable[int], logs: Logs, cores: int, watch: Watch) -> None:
    """Run tasks until none is left, or `watch` stops them; `RunError` if results cannot be written, or all
    workers are lost."""
    warm_up(plan, Console(quiet=True))
    costs = Costs()
    bundles: Bundles = Bundles(
        plan,
        numbers,
        costs,
        logs.folder.shards,
        MESSAGE_S,
        workers=lambda: cores,
        more=lambda: watch.more(bundles),
        logs=logs.names(cores),
    )
    settings = {"name": "serial"} if cores == 1 else {"name": "dask", "workers": cores}
    executor = executors.create(settings, [*plan.families])
    assert not isinstance(executor, executors.Detached)
    # There is no progress output: Slurm's log is for errors, and is removed if it is empty.
    execute(plan, Console(quiet=True), State(plan), bundles, executor, costs)

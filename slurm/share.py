"""A share of a plan, run on this node with all the cores that the job owns."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from slurm.compiling import compile_once
from slurm.submission import Submission
from slurm.watch import MESSAGE_S, Watch
from sweep import executors
from sweep.executors.bundles import Bundles
from sweep.plan.plan import Plan
from sweep.run import execute
from sweep.store.costs import Costs
from sweep.store.folder import Folder
from sweep.store.reader import Reader
from sweep.store.state import State

CORES_A_LOG = 16
"""Workers that take turns at one log: at a message a second each they hardly ever wait."""

MAX_LOGS = 4
"""Logs of an element: 100,000 tasks shall leave fewer than a thousand files."""


@dataclass(frozen=True)
class Logs:
    """The logs of a share: names that no other share has, on whatever node it ran.

    Parameters
    ----------
    folder : Folder
    prefix : str
        Of the share.
    """

    folder: Folder
    prefix: str

    def names(self, cores: int) -> list[str]:
        """Return the logs for workers of this node: on one that two nodes write, appending is not safe."""
        return [f"{self.prefix}-{socket.gethostname()}-{number}" for number in range(n_logs(cores))]

    def files(self) -> list[Path]:
        """Return the logs that there are."""
        return sorted(self.folder.shards.glob(f"{self.prefix}-*.jsonl"))

    def size(self) -> int:
        """Return the bytes in the logs, which grow with every task that was run."""
        return sum(path.stat().st_size for path in self.files())

    def tried(self) -> tuple[set[str], set[str]]:
        """Return the identities of tasks that are done, and of those that failed and are not."""
        done: set[str] = set()
        failed: set[str] = set()
        for head in Reader(self.folder.shards, f"{self.prefix}-*.jsonl").heads():
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
    told = os.environ.get("SLURM_CPUS_PER_TASK") or os.environ.get("SLURM_CPUS_ON_NODE") or ""
    usable = executors.available_cores()
    return min(usable, int(told)) if told.isdecimal() and int(told) else usable


def rounds(cores: int) -> int:
    """Return how many messages a worker has before it at a time."""
    if cores == 1:
        return 1
    from sweep.executors.bundles import OUTSTANDING

    return OUTSTANDING


def run(plan: Plan, numbers: Iterable[int], logs: Logs, cores: int, watch: Watch) -> None:
    """Run tasks until none is left, or `watch` says that it is enough.

    Raises
    ------
    RunError
        If results cannot be written, or all workers are lost.
    """
    compile_once(plan)
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
    preloads = [family.preload_module for family in plan.families.values() if family.preload_module]
    executor = executors.create(settings, [*plan.families, *preloads])
    assert not isinstance(executor, executors.Detached)
    # Quiet: a log of Slurm's holds what went wrong, and is removed where it is empty.
    execute(plan, Console(quiet=True), State(plan), bundles, executor, costs)

"""``python -m benchmarks.message_study FILE SECONDS ...``: a sweep whose messages are counted.

Runs ``python -m sweep ...`` with so many seconds of work in a message. What that takes from its first
tasks to its last results is written to the file as JSON: `benchmarks.fleet.Study` without the simulations.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil

from benchmarks.watch import is_grandchild, is_rank
from schedsweep.terminal import guarded
from sweep import cli
from sweep.executors import bundles, dask, mpi
from sweep.plan.task import Bundle, Result
from sweep.store.collect import Collection


class Account:
    """What a run takes, from when its workers are there."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._messages = self._tasks = 0
        self._begun: dict[str, float] | None = None

    def counted(self, bundles: Iterator[Bundle]) -> Iterator[Bundle]:
        """Yield bundles and count them; the second is not asked for before everybody is there."""
        for bundle in bundles:
            yield bundle
            self._messages += 1
            self._tasks += len(bundle.tasks)
            if self._begun is None:
                self._begun = _now()

    def close(self, workers: int) -> None:
        """Write the account."""
        begun, ended = self._begun, _now()
        assert begun is not None
        taken = {name: ended[name] - begun[name] for name in ended}
        start = begun["wall"] - psutil.Process().create_time()
        said = {"workers": workers, "messages": self._messages, "tasks": self._tasks, "start": start} | taken
        self._file.write_text(json.dumps(said), encoding="utf-8")


def _now() -> dict[str, float]:
    times = [worker.cpu_times() for worker in _workers()]
    return {
        "wall": time.time(),
        "main": time.process_time(),
        "workers_cpu": sum(each.user + each.system for each in times),
    }


def _workers() -> list[psutil.Process]:
    """Return the workers' processes: grandchildren under Dask, the other ranks under MPI."""
    me = psutil.Process()
    if below := [each for each in me.children(recursive=True) if is_grandchild(each, me)]:
        return below
    parent = me.parent()
    return [] if parent is None else [each for each in parent.children() if is_rank(each, parent)]


def main(arguments: Sequence[str]) -> int:
    """Run a study, and return its exit status."""
    file, seconds, *rest = arguments
    account = Account(Path(file))
    dask.Executor.message_s = mpi.MESSAGE_S = bundles.LEAST_S = float(seconds)  # to the end, too
    # The dataset has its share of the time (`sweep.store.collect`), and is none of a message's.
    Collection.write_if_due = lambda self: None  # type: ignore[method-assign]
    for executor in (dask.Executor, mpi.Executor):
        executor.run = _counted(executor.run, account)  # type: ignore[method-assign]
    return cli.main(rest)


def _counted(run: Any, account: Account) -> Any:
    def counted(self: Any, given: Iterator[Bundle]) -> Iterator[list[Result]]:
        yield from run(self, account.counted(given))
        account.close(self.workers)

    return counted


if __name__ == "__main__":
    sys.exit(guarded(main, sys.argv[1:]))

"""A model of an executor with more workers than there are cores here, after what two of them cost.

One process hands out messages, one after the other; each takes it some time, and a little more for each
task in it. Workers spend part of their time on other things than simulations. All three are read off the
benchmark `executors`, which has short and longer tasks: what the one process takes for a second of
simulations is

    r(t) = message / (work in a message) + task / t

with tasks of t seconds, and the two task lengths give both numbers.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sweep.executors.bundles import MESSAGE_S

MESSAGE_WORK_S = {"dask": MESSAGE_S, "mpi": MESSAGE_S}
"""Seconds of work in a message, see `message_s` of the executors."""


@dataclass(frozen=True)
class Executor:
    """What an executor costs.

    Parameters
    ----------
    message_s, task_s : float
        Seconds that the one process takes for a message, and for each task in it.
    share : float
        Of the workers' CPU time, that in simulations.
    work_s : float
        Seconds of simulations that a message is to have.
    start_s : float
        Seconds until all workers are there.
    """

    message_s: float
    task_s: float
    share: float
    work_s: float
    start_s: float

    def per_message(self, task_s: float) -> tuple[int, float]:
        """Return the tasks in a message and what the one process takes for it."""
        n = max(1, round(self.work_s / task_s))
        return n, self.message_s + n * self.task_s

    def most_workers(self, task_s: float) -> float:
        """Return how many workers the one process can keep busy with tasks of so many seconds."""
        n, taken = self.per_message(task_s)
        return 1 + n * task_s / self.share / taken

    def makespan(self, task_s: float, tasks: int, workers: int) -> float:
        """Return the seconds to the last result, message by message. O(messages log workers)."""
        n, taken = self.per_message(task_s)
        idle = [0.0] * min(workers, -(-tasks // n))
        free = last = 0.0
        while tasks > 0:
            now = min(n, tasks)
            tasks -= now
            free = max(free, heapq.heappop(idle)) + taken
            end = free + now * task_s / self.share
            last = max(last, end)
            heapq.heappush(idle, end)
        return self.start_s + last


def fitted(tables: Sequence[Mapping[str, Any]]) -> dict[str, Executor]:
    """Return the executors that the tables of the benchmark `executors` have, the first with short tasks."""
    short, longer = ({row[0]: row for row in table["rows"]} for table in tables)
    lengths = [float(table["title"].split()[2]) / 1e3 for table in tables]
    found = {}
    for name, work_s in MESSAGE_WORK_S.items():
        if name not in short or name not in longer:
            continue
        r = [1 / row[3] - 1 / row[2] for row in (short[name], longer[name])]
        task = max(0.0, (r[0] - r[1]) / (1 / lengths[0] - 1 / lengths[1]))
        message = work_s * max(0.0, r[1] - task / lengths[1])
        found[name] = Executor(message, task, longer[name][2], work_s, longer[name][5])
    return found

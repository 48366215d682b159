"""Which tasks of a plan are done, according to the logs of a results folder."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sweep.plan.data import Plan
from sweep.plan.identity import ASKED
from sweep.store import reader, records
from sweep.store.costs import Costs, keys
from sweep.store.folder import Folder
from sweep.store.reader import Line
from sweep.store.records import Failed

LEFT, DONE, FAILED, EXCLUDED = range(4)
"""Values of the dataset's variable ``state``."""


@dataclass
class State:
    """The tasks of a plan by their state.

    Parameters
    ----------
    done : dict of str to float
        Identity -> seconds that the task took.
    failed : dict of str to Line
        Identity -> the latest record of each task that raised an exception and has not been done since.
    lines : dict of str to Line
        Identity -> the record of each task that is done.
    stale : int
        Results from another version of the code, of the plan's tasks that are not done.
    damaged : int
        Damaged records of tasks that are not done, as far as can be seen.
    """

    plan: Plan
    done: dict[str, float] = field(default_factory=dict)
    failed: dict[str, Line] = field(default_factory=dict)
    lines: dict[str, Line] = field(default_factory=dict, repr=False)
    stale: int = 0
    damaged: int = 0

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Task number by identity; the first number if several points are the same simulation."""
        ids = self.plan.ids
        return dict(zip(reversed(ids), reversed(range(len(ids))), strict=True))

    @property
    def total(self) -> int:
        """Simulations in the plan."""
        return len(self.numbers)

    def left(self) -> list[int]:
        """Return the numbers of the tasks to run, including failed ones."""
        return sorted(number for id_, number in self.numbers.items() if id_ not in self.done)

    def measured(self) -> Costs:
        """Return the costs of simulations, as measured by the tasks that are done and by earlier studies."""
        costs, key = Costs(), keys(self.plan)
        points: dict[int, list[float]] = defaultdict(list)
        for id_, seconds in self.done.items():
            points[self.plan.first(self.numbers[id_])].append(seconds)
        for number, taken in points.items():
            costs.add(key(number), np.array(taken) / self.plan.measurement(number).jobs)
        return costs


def read(plan: Plan, folder: Folder) -> State:
    """Return the state of a plan's tasks; no number of a result is parsed."""
    state = State(plan)
    numbers, ids = state.numbers, plan.ids
    others: set[str] = set()
    damaged: list[str | None] = []
    for line, data in reader.scan(folder.shards):
        if (head := records.head(data)) is None:
            damaged.append(found[1].decode() if (found := records.HEAD.match(data)) else None)
        elif (number := numbers.get(head.id)) is None:
            if not head.failed:
                others.add(head.id[:ASKED])
        else:
            id_ = ids[number]  # the plan's own string: a million copies would take 70 MB
            if head.failed:
                state.failed[id_] = line
            else:
                state.done[id_] = head.seconds
                state.lines[id_] = line
    for id_ in state.failed.keys() & state.done.keys():
        del state.failed[id_]
    left = numbers.keys() - state.done.keys()
    state.stale = len({id_[:ASKED] for id_ in left} & others)
    state.damaged = sum(id_ is None or id_ in left for id_ in damaged) if left else 0
    return state


def failures(state: State) -> Iterator[Failed]:
    """Yield the latest record of each failed task."""
    for record in reader.read(state.failed.values()):
        if isinstance(record, Failed):
            yield record

"""What of a plan is done, as the logs of a results folder tell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from sweep.bundles import keys
from sweep.costs import Costs
from sweep.folder import Folder
from sweep.plan import Plan
from sweep.shards import Failed, Reader

LEFT, DONE, FAILED, EXCLUDED = range(4)
"""Values of the dataset's variable ``state``."""


@dataclass
class State:
    """Tasks of a plan by what became of them.

    Parameters
    ----------
    plan : Plan
    done : dict of str to float
        Identity -> seconds it took.
    failed : set of str
        Identities of tasks that raised and have not been done since.
    """

    plan: Plan
    done: dict[str, float] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Task number by identity; the first where several points mean the same simulation."""
        return {self.plan.ids[number]: number for number in reversed(range(len(self.plan.ids)))}

    @property
    def total(self) -> int:
        """Simulations in the plan."""
        return len(self.numbers)

    def left(self) -> list[int]:
        """Return the numbers of tasks to run, failed ones among them."""
        return sorted(number for id_, number in self.numbers.items() if id_ not in self.done)

    def measure(self, costs: Costs) -> None:
        """Tell `costs` what the done tasks took."""
        key = keys(self.plan)
        for id_, seconds in self.done.items():
            costs.add(key(self.numbers[id_]), seconds / self.plan.measurement.jobs)


def read(plan: Plan, folder: Folder) -> State:
    """Find out what is done, without parsing any result: seconds for 100,000 tasks."""
    state = State(plan)
    numbers = state.numbers
    for head in Reader(folder.shards).heads():
        if head.id not in numbers:
            continue
        if head.failed:
            state.failed.add(head.id)
        else:
            state.done[head.id] = head.seconds
    state.failed -= state.done.keys()
    return state


def failures(state: State, folder: Folder) -> Iterator[Failed]:
    """Yield the latest record of each failed task."""
    records = {
        record.id: record
        for record in Reader(folder.shards).records()
        if isinstance(record, Failed) and record.id in state.failed
    }
    yield from records.values()

"""What of a plan is done, as the logs of a results folder tell."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sweep.plan.plan import ASKED, Plan
from sweep.store.costs import Costs, keys
from sweep.store.expected import Expected
from sweep.store.folder import Folder
from sweep.store.index import Index
from sweep.store.reader import Place, Reader
from sweep.store.shards import Failed

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
    stale : int
        Results of tasks of the plan that are not done, by another version of the code.
    damaged : int
        Records that are not what was written, of tasks that are not done, as far as can be told.
    index : Index, optional
        What was found in the logs; not of a plan of which nothing is known yet.
    """

    plan: Plan
    done: dict[str, float] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)
    stale: int = 0
    damaged: int = 0
    index: Index | None = field(default=None, repr=False, compare=False)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Task number by identity; the first where several points mean the same simulation."""
        ids = self.plan.ids
        return dict(zip(reversed(ids), reversed(range(len(ids))), strict=True))

    @property
    def total(self) -> int:
        """Simulations in the plan."""
        return len(self.numbers)

    def left(self) -> list[int]:
        """Return the numbers of tasks to run, failed ones among them."""
        if not self.done:
            return sorted(self.numbers.values())
        return sorted(number for id_, number in self.numbers.items() if id_ not in self.done)

    def damage(self, folder: Folder) -> str:
        """Return in words how many records of a folder are damaged."""
        records = f"{self.damaged:,} record{'s' * (self.damaged > 1)}"
        are = "is" if self.damaged == 1 else "are"
        return f"{records} in {folder.shards} {are} not what was written (damaged or torn)"

    def measure(self, costs: Costs) -> None:
        """Tell `costs` what the done tasks took."""
        key, replications = keys(self.plan), self.plan.replications
        points: dict[int, list[float]] = defaultdict(list)
        for id_, seconds in self.done.items():
            points[self.numbers[id_] // replications].append(seconds)
        for point, taken in points.items():
            number = point * replications
            costs.add(key(number), np.array(taken) / self.plan.measurement(number).jobs)


def read(plan: Plan, folder: Folder) -> State:
    """Find out what is done, without parsing any result."""
    index = Index(folder.shards)
    state = State(plan, index=index)
    numbers, ids, done = state.numbers, plan.ids, state.done
    others: set[str] = set()
    reader = Reader(folder.shards, index=index, admits=Expected(plan, numbers.get).admits)
    heads = ((some.ids, some.failed, some.seconds) for _, added in reader.entries() for some in added)
    for some in heads:
        for id_, failed, seconds in zip(*some, strict=True):
            if (number := numbers.get(id_)) is None:
                if not failed:
                    others.add(id_)
            elif failed:
                state.failed.add(id_)
            else:
                done[ids[number]] = seconds  # the plan's own text: a million copies would be 70 MB
    state.failed -= state.done.keys()
    # Of a million tasks these sets take a while, and mostly there is nothing to look for.
    if (others or reader.damaged) and (left := numbers.keys() - state.done.keys()):
        state.stale = len({id_[:ASKED] for id_ in left} & {id_[:ASKED] for id_ in others})
        state.damaged = sum(id_ is None or id_ in left for id_ in reader.damaged)
    return state


def failures(state: State, folder: Folder) -> Iterator[Failed]:
    """Yield the latest record of each failed task."""
    if not state.failed:
        return
    found: dict[str, Failed] = {}
    reader = Reader(folder.shards, index=state.index)
    for log, added in reader.entries():
        failed = (
            Place(log, offset, length)
            for some in added
            for id_, is_one, _, offset, length in zip(*some, strict=True)
            if is_one and id_ in state.failed
        )
        with suppress(FileNotFoundError):  # merged meanwhile: what was in it is in one that is new
            found |= {record.id: record for record in reader.at(failed) if isinstance(record, Failed)}
    yield from found.values()

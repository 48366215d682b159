"""What results of a plan have to look like: asked of lines that no checksum protects."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from models.family import Family
from sweep.plan.plan import Plan
from sweep.store import backlogs
from sweep.store.shards import Failed, Record


class Expected:
    """What the family of each task declares.

    Parameters
    ----------
    plan : Plan
    number : callable
        Returns the number of a task by its identity, None for one that is not in the plan.
    """

    def __init__(self, plan: Plan, number: Callable[[str], int | None]) -> None:
        self._plan = plan
        self._number = number
        self._declared: dict[str, dict[str, int]] = {}

    def admits(self, record: Record) -> bool:
        """Whether a record can be what was written; of tasks that are not in the plan nobody knows."""
        if isinstance(record, Failed):
            return True
        try:
            if record.backlog is not None:
                backlogs.decoded(record.backlog)
        except (ValueError, TypeError, KeyError):
            return False
        number = self._number(record.id)
        if number is None:
            return True
        package = self._plan.variant("policy", number).parameters["family"]
        declared = self._of(self._plan.families[package])
        as_declared = {name: record.batches * n for name, n in declared.items()}
        return (
            dict(record.metrics) == as_declared
            and record.batches <= self._plan.measurement(number).checkpoints[-1]
        )

    def _of(self, family: Family) -> Mapping[str, int]:
        """Return how many values a batch has of each metric."""
        if family.package not in self._declared:
            measures = self._plan.measures
            coords = family.coordinates(measures)
            self._declared[family.package] = {
                metric.name: math.prod(len(coords[dim]) for dim in metric.dims)
                for metric in family.measured(measures)
            }
        return self._declared[family.package]

"""Facts for the head of a report, from the plan: the logs, the assumptions, the logs' own measures.

They are stored in the dataset, so that a report needs nothing else: as JSON in the attribute ``facts``, and,
where a log recorded waits, as variables ``recorded_NAME`` beside the metrics of the same names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from models import workloads
from models.arrays import Floats
from models.jobs import recorded, waiting
from models.jobs.measures import Measures
from models.jobs.recorded import PREFIX
from models.jobs.trace import Trace
from models.point import Point
from sweep.config import canonical
from sweep.config.settings import GROUPS
from sweep.errors import SweepError
from sweep.plan import checks, families, grid
from sweep.plan.data import Plan

OF_JOBS = ("workload", "machine")
"""Groups whose files determine the jobs, under any policy."""


@lru_cache(maxsize=1)
def of(plan: Plan) -> Facts:
    """Return the facts of a plan, cached because several parts of a dataset need them."""
    return Facts(plan)


class Facts:
    """The facts of a plan; logs are read on demand, and once.

    Attributes
    ----------
    faults : list of str
        Errors of logs that could not be read, one line each: their recorded waits are missing.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self.faults: list[str] = []
        targets = grid.targets(plan.settings)
        self._axes = {
            group: [group, *(axis for axis, target in targets.items() if target.sets(group))]
            for group in OF_JOBS
        }

    def attribute(self) -> Mapping[str, Any]:
        """Return the content of the attribute ``facts``.

        Returns
        -------
        dict
            ``described``, group -> name -> plain words; ``logs``, of every log and machine a mapping with
            ``at`` (its values on axes that have several), ``jobs``, ``processors``, ``waits`` (how many jobs
            have one), ``waiting`` (shares of it by cause, `models.jobs.waiting`) and what
            `models.jobs.trace.Origin` has; ``notes``, the other notes of the run; ``faults``, as above;
            ``validated``, the software beside which its models were compared.
        """
        logs: list[dict[str, Any]] = []
        notes: list[str] = []
        try:
            notes = list(checks.notes(self._plan))
        except SweepError as error:  # a log that has been removed since: its results remain
            self._report(error)
        for place, trace, _ in self._logs:
            if trace.origin is None:
                continue
            values = {axis: self._plan.axes[axis] for axis in place}
            of_origin = asdict(trace.origin)
            reported = of_origin.pop("reported")
            notes = [note for note in notes if note not in reported]
            logs.append(
                {
                    "at": {
                        axis: canonical.word(values[axis][i])
                        for axis, i in place.items()
                        if len(values[axis]) > 1 or axis in OF_JOBS
                    },
                    "jobs": trace.n_measured,
                    "processors": trace.machine.total,
                    "waiting": waiting.explained(trace),
                    "waits": 0 if trace.waited is None else int((~np.isnan(trace.waited)).sum()),
                    **of_origin,
                }
            )
        described = {group: dict(self._plan.described.get(group, {})) for group in GROUPS}
        validated = [text for family in self._plan.families.values() for text in family.validated]
        return {
            "described": described, "logs": logs, "notes": notes, "faults": self.faults,
            "validated": validated,
        }  # fmt: skip

    def _report(self, error: Exception) -> None:
        if (line := str(error)) not in self.faults:
            self.faults.append(line)

    @cached_property
    def _logs(self) -> list[tuple[dict[str, int], Trace, Point]]:
        """Each log on each machine: its place on their axes, its jobs, and the point."""
        plan, found = self._plan, []
        loads = plan.axes["load"]
        measured = plan.measurements[loads.index(None)] if None in loads else plan.longest
        columns = np.stack([plan.choices[group] for group in OF_JOBS], axis=1)
        systems, first = np.unique(columns, axis=0, return_index=True)
        for each, at in zip(systems.tolist(), first.tolist(), strict=True):
            place: dict[str, int] = {}
            for group, number in zip(OF_JOBS, each, strict=True):
                axes = self._axes[group]
                where = np.unravel_index(number, [len(plan.axes[axis]) for axis in axes])
                place |= {axis: int(i) for axis, i in zip(axes, where, strict=True)}
            workload, machine = (
                plan.variants[group][number].parameters for group, number in zip(OF_JOBS, each, strict=True)
            )
            policy = plan.variants["policy"][plan.choices["policy"][at]].parameters
            point = Point(policy, workload, machine, None, measured.batches, measures=plan.measures)
            try:
                trace = (families.find(policy["family"]).open_log or workloads.open_log)(point)
            except (ValueError, OSError) as error:
                self._report(error)
                continue
            if trace is not None:
                found.append((place, trace, point))
        return found

    @cached_property
    def recorded(self) -> Mapping[str, tuple[tuple[str, ...], Floats, dict[str, str]]]:
        """Return dimensions, values and attributes of each variable that logs recorded, by batch."""
        plan = self._plan
        measured = [
            (place, recorded.measure(trace, point.batches, Measures.of(plan.measures)))
            for place, trace, point in self._logs
        ]
        dims = [axis for axis in plan.axes if any(axis in axes for axes in self._axes.values())]
        shape = [len(plan.axes[axis]) for axis in dims]
        found = {}
        for name, metric in plan.metrics.items():
            those = [(place, values[name]) for place, values in measured if name in values]
            if not those:
                continue
            own = those[0][1].shape[1:]
            filled = np.full((*shape, plan.longest.checkpoints[-1], *own), np.nan)
            for place, values in those:
                filled[tuple(place[axis] for axis in dims)][: len(values)] = values
            attributes = {"units": metric.unit, "long_name": f"{metric.long_name}, as the log recorded it"}
            if metric.weight in plan.metrics:
                attributes["weight"] = f"{PREFIX}{metric.weight}"
            found[f"{PREFIX}{name}"] = ((*dims, "batch", *metric.dims), filled, attributes)
        return found

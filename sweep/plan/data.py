"""A study as plain data: its axes, its points and its tasks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import Any

import numpy as np

from models import workloads
from models.counting import counted
from models.family import Family, Metric
from models.point import Parameters, Point
from sweep.config import canonical
from sweep.config.settings import GROUPS, Config, Settings
from sweep.errors import SweepError
from sweep.plan import families
from sweep.plan.task import Measurement, Task, seed
from sweep.plan.variants import Variant

MEASURES: Parameters = {"bound": 10.0, "groups": {}}
"""The default of `Plan.measures`, which is left out of a task's identity."""


@dataclass(frozen=True, eq=False)
class Plan:
    """Axes, points and tasks of a study.

    Task number t is replication t % replications of a point; after them come the tasks of `overload`.

    Parameters
    ----------
    axes : dict of str to tuple
        Axis -> values, in the dataset's order.
    points : ndarray of int, shape (n_points,)
        Flat positions in the grid of those axes; the rest of the grid is excluded.
    variants : dict of str to list of Variant
        By group: policy, workload, machine.
    choices : dict of str to ndarray of int, shape (n_points,)
        By group, the variant of each point; for load, the position on its axis.
    families, metrics, coords : dict
        What the policies' families declare, see `sweep.plan.families.Declared`.
    measurements : tuple of Measurement
        How long the points at each load are measured.
    measures : dict
        How jobs are measured, see `models.jobs.measures`: ``bound`` in seconds, ``groups``, name -> file, and
        ``of_jobs``, dotted names of a user's measures, if there are any.
    sources : dict of str to str
        Module -> hash of the code that it stands for, see `sweep.plan.sources`.
    ids : list of str
        Identity of every task; not unique where points mean the same simulation.
    asked : Config
        The config from which it was expanded; it gives the same plan in any process.
    adapted : bool
        Whether the number of replications is the default.
    described : dict of str to dict
        By group, what each policy, workload and machine is, in plain words.
    hidden : tuple of str
        Axes of one value that the dataset omits: policy, load and so on in a study of a program.
    overload : Plan, optional
        The overload runs of each curve (all axes but the load), as a study of their own at one load.
    """

    settings: Settings
    axes: dict[str, tuple[Any, ...]]
    points: np.ndarray
    variants: dict[str, list[Variant]]
    choices: dict[str, np.ndarray]
    families: dict[str, Family]
    metrics: dict[str, Metric]
    coords: dict[str, list[object]]
    measurements: tuple[Measurement, ...]
    measures: Parameters
    sources: dict[str, str]
    ids: list[str] = field(repr=False)
    asked: Config = field(repr=False)
    adapted: bool = False
    described: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    hidden: tuple[str, ...] = ()
    overload: Plan | None = field(default=None, repr=False)

    def _repr_html_(self) -> str:
        """The axes with their values, for notebooks."""
        rows = (
            f"<tr><th style='text-align:left'>{escape(axis)}</th><td>{len(values)}</td>"
            f"<td style='text-align:left'>{escape(', '.join(map(str, values)))}</td></tr>"
            for axis, values in self.axes.items()
            if axis not in self.hidden
        )
        head = (
            "<tr><th style='text-align:left'>axis</th><th></th><th style='text-align:left'>values</th></tr>"
        )
        title = (
            f"<b>{escape(self.settings.name)}</b>: {counted(len(self.points), 'point')} × "
            f"{counted(self.replications, 'replication')} = {counted(len(self.ids), 'simulation')}"
        )
        return f"<div>{title}<table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table></div>"

    @property
    def replications(self) -> int:
        """Independent runs of every point."""
        assert self.settings.replications is not None  # `expand` has decided
        return self.settings.replications

    @property
    def n_cells(self) -> int:
        """Tasks of the grid, without the tasks of `overload`."""
        return len(self.points) * self.replications

    def place(self, number: int) -> tuple[Plan, int]:
        """Return the plan that a task belongs to, this one or `overload`, and its number there."""
        if self.overload is None or number < self.n_cells:
            return self, number
        return self.overload, number - self.n_cells

    def first(self, number: int) -> int:
        """Return the number of the first replication of a task's point."""
        plan, there = self.place(number)
        return number - there % plan.replications

    @cached_property
    def longest(self) -> Measurement:
        """The measurement with the most batches."""
        return max(self.measurements, key=lambda one: one.checkpoints[-1])

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Length of each axis."""
        return tuple(len(values) for values in self.axes.values())

    @property
    def headline(self) -> str:
        """The metric of tables and stopping."""
        return self.settings.precision.metric or families.headline(self.families.values())

    @property
    def is_cut(self) -> bool:
        """Whether some policy's run ends at a horizon, so that it is one batch whatever was requested."""
        return any(one.parameters.get("horizon") is not None for one in self.variants["policy"])

    @cached_property
    def deterministic(self) -> str | None:
        """A workload whose replications would be copies under some policy; None if all differ."""
        for policy, workload, machine in self.systems():
            if not self.is_stochastic(policy, workload, machine):
                return str(self.variants["workload"][workload].parameters["name"])
        return None

    def needing(self, package: str) -> list[Point]:
        """Return a point of each policy of a family with each workload and machine that occur with it."""
        points = (self._point(*system) for system in self.systems())
        return [point for point in points if point.policy["family"] == package]

    def systems(self) -> list[list[int]]:
        """Return the policies, workloads and machines that occur together."""
        found: list[list[int]] = np.unique(self._columns(), axis=0).tolist()
        return found

    def _columns(self) -> np.ndarray:
        return np.stack([self.choices[group] for group in GROUPS], axis=1)

    @property
    def endless(self) -> np.ndarray:
        """Which points have overload runs, bool, shape (n_points,)."""
        return self._where(self._has_overload).flat[self.points]

    def is_stochastic(self, policy: int, workload: int, machine: int) -> bool:
        point = self._point(policy, workload, machine)
        return not _is_met(lambda one: not self._family(one).is_stochastic(one), point)

    def _family(self, point: Point) -> Family:
        return self.families[point.policy["family"]]

    def _has_overload(self, point: Point) -> bool:
        """Whether a system can be overloaded for as long as needed; a log ends."""
        return bool(self._family(point).delivered) and not workloads.ends(point.workload)

    def _point(self, policy: int, workload: int, machine: int) -> Point:
        return Point(
            self.variants["policy"][policy].parameters,
            self.variants["workload"][workload].parameters,
            self.variants["machine"][machine].parameters,
        )

    @property
    def delivered(self) -> str:
        """The metric of delivered work; empty if no family has one."""
        return next((family.delivered for family in self.families.values() if family.delivered), "")

    @cached_property
    def loads(self) -> np.ndarray:
        """The load of each point, NaN where none is given, in the shape of the grid."""
        axis = np.array([np.nan if load is None else load for load in self.axes["load"]])
        lengths = [-1 if name == "load" else 1 for name in self.axes]
        return np.broadcast_to(axis.reshape(lengths), self.shape)

    @cached_property
    def controlled(self) -> np.ndarray:
        """Where the offered work equals the load on average, so that it is a control variate; bool."""
        found = self._where(
            lambda point: point.workload.get("load_reference") == "expected" and self._has_overload(point)
        )
        return found & np.isfinite(self.loads)

    @cached_property
    def exact(self) -> np.ndarray:
        """Where a point is solved, so that one batch is the exact value; bool, in the shape of the grid."""
        if not any(family.solves for family in self.families.values()):
            return np.zeros(self.shape, dtype=bool)
        return self._where(lambda point: self._family(point).is_exact(point))

    @cached_property
    def solved(self) -> np.ndarray:
        """Where a point is solved, even for random inputs: no run begins with an empty machine; bool."""
        return self._where(lambda point: self._family(point).solves)

    def _where(self, holds: Callable[[Point], bool]) -> np.ndarray:
        """Return where a condition on policy, workload and machine holds; bool, in the shape of the grid."""
        found = np.zeros(self.shape, dtype=bool)
        # Once for each system and not for each point: a grid of 100,000 points may have a dozen systems.
        each, which = np.unique(self._columns(), axis=0, return_inverse=True)
        met = [_is_met(holds, self._point(*system)) for system in each.tolist()]
        found.flat[self.points] = np.array(met)[which.ravel()]
        return found

    def measurement(self, number: int) -> Measurement:
        """Return how long task `number` is measured."""
        plan, number = self.place(number)
        return plan.measurements[plan.choices["load"][number // plan.replications]]

    def task(self, number: int) -> Task:
        """Return task `number` as plain data."""
        owner, there = self.place(number)
        if owner is not self:
            return owner.task(there)
        point, replication = divmod(number, self.replications)
        policy, workload, machine = (
            self.variants[group][self.choices[group][point]].parameters for group in GROUPS
        )
        where = np.unravel_index(self.points[point], self.shape)
        at = {axis: values[i] for (axis, values), i in zip(self.axes.items(), where, strict=True)}
        stream, family = workload["name"], policy["family"]
        if self.settings.is_program:
            stream = canonical.text([at[axis] for axis in self.settings.seed_by])
            family = self.families[family]
        return Task(
            id=self.ids[number],
            family=family,
            point=Point(
                policy,
                workload,
                machine,
                self.axes["load"][self.choices["load"][point]],
                self.measurement(number).batches,
                seed(self.settings.seed, stream, replication),
                self.measures,
            ),
            measurement=self.measurement(number),
            at={axis: value for axis, value in at.items() if axis not in self.hidden},
            replication=replication,
        )


def _is_met(condition: Callable[[Point], bool], point: Point) -> bool:
    """Whether a point meets a condition; false if it cannot be simulated: `checks.notes` raises why."""
    try:
        return condition(point)
    except SweepError:
        raise
    except Exception:
        return False

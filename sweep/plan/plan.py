"""A study expanded: its points, its tasks, and the identity of each task.

A task's identity has two parts: a hash of the canonical JSON of its scientific config, and a hash of its code
(`sweep.plan.sources`) with the family's version. So a result of earlier code is recognised: its first part is
that of a task, its second part is not. Points share most of the text, so it is joined from fragments made
once for each policy, workload, machine and load: 100,000 tasks take about a second. Two points that mean the
same simulation (an axis that sets a key which one of the policies has not) have the same identity, and it is
run once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from html import escape
from typing import Any

import numpy as np

from models import workloads
from models.family import OVERLOAD, OVERLOAD_BATCHES, Family, Metric
from models.point import Parameters, Point
from sweep.config.settings import GROUPS, MSER, Config, Precision, Settings, at_load
from sweep.errors import SweepError, one_line, unknown
from sweep.plan import canonical, families, grid, partitions, sources
from sweep.plan.remedies import Lacking
from sweep.plan.task import Measurement, Stopping, Task, seed
from sweep.plan.variants import KeyAxis, Variant, build
from sweep.statistics import MIN_REPLICATIONS

MEASURES: Parameters = {"bound": 10.0, "groups": {}}
"""What `Plan.measures` is where nothing is set; it then has no part in a task's identity."""

LENGTH = 20
"""Hexadecimal digits of an identity."""

ASKED = 14
"""How many of them are of the config; the others are of the code."""

MOST_TASKS = 2_000_000
"""Tasks of a study: more would take minutes to list, and gigabytes to hold."""

OF_TASKS = ("state", "saturated", "seconds")
OF_METRIC = ("_mean", "_ci", "_lag1")
"""Variables that every dataset has, and what is added to the name of a metric."""

MANY_CHECKS = 2000
"""Above this number of combinations, loads are checked with one policy, workload and machine only."""


@dataclass(frozen=True)
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
    measurements : tuple of Measurement
        How long the points at each load are measured.
    measures : dict
        How jobs are measured, see `models.jobs.measures`: ``bound`` in seconds, and ``groups``, name -> file.
    sources : dict of str to str
        Module -> hash of the code that it stands for, see `sweep.plan.sources`.
    ids : list of str
        Identity of every task; not unique where points mean the same simulation.
    adapted : bool
        The number of replications is the default.
    described : dict of str to dict
        By group, what each policy, workload and machine is, in plain words.
    asked : Config, optional
        What it was expanded from.
    overload : Plan, optional
        The overload runs of each curve (all axes but the load), as a study of their own at one load.
    """

    settings: Settings
    axes: dict[str, tuple[Any, ...]]
    points: np.ndarray
    variants: dict[str, list[Variant]]
    choices: dict[str, np.ndarray]
    measurements: tuple[Measurement, ...]
    measures: Parameters
    sources: dict[str, str]
    ids: list[str] = field(repr=False)
    adapted: bool = False
    described: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    asked: Config | None = field(default=None, repr=False)
    overload: Plan | None = field(default=None, repr=False)

    def _repr_html_(self) -> str:
        """The axes with their values, for notebooks."""
        rows = (
            f"<tr><th style='text-align:left'>{escape(axis)}</th><td>{len(values)}</td>"
            f"<td style='text-align:left'>{escape(', '.join(map(str, values)))}</td></tr>"
            for axis, values in self.axes.items()
        )
        head = (
            "<tr><th style='text-align:left'>axis</th><th></th><th style='text-align:left'>values</th></tr>"
        )
        title = (
            f"<b>{escape(self.settings.name)}</b>: {len(self.points):,} points × "
            f"{self.replications} replications = {len(self.ids):,} simulations"
        )
        return f"<div>{title}<table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table></div>"

    @property
    def replications(self) -> int:
        """Independent runs of every point."""
        assert self.settings.replications is not None  # `expand` has decided
        return self.settings.replications

    @property
    def n_cells(self) -> int:
        """Tasks of the grid, without those of `overload`."""
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
        """Of the measurements, that of most batches."""
        return max(self.measurements, key=lambda one: one.checkpoints[-1])

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Length of each axis."""
        return tuple(len(values) for values in self.axes.values())

    @cached_property
    def families(self) -> dict[str, Family]:
        """Families of the policies by package name, in order of appearance."""
        packages = [policy.parameters["family"] for policy in self.variants["policy"]]
        return {package: families.find(package) for package in packages}

    @cached_property
    def metrics(self) -> dict[str, Metric]:
        """All metrics by name, the headline first."""
        return families.metrics(self.families.values(), self.measures)

    @property
    def headline(self) -> str:
        """The metric of tables and stopping."""
        return self.settings.precision.metric or families.headline(self.families.values())

    @property
    def is_cut(self) -> bool:
        """Whether some policy's run is cut at a horizon, and so is one batch whatever is asked for."""
        return any(one.parameters.get("horizon") is not None for one in self.variants["policy"])

    @cached_property
    def deterministic(self) -> str | None:
        """A workload of which replications would be copies, under some policy; None if there is none."""
        for policy, workload, machine in self._systems():
            if not self._is_stochastic(policy, workload, machine):
                return str(self.variants["workload"][workload].parameters["name"])
        return None

    def needing(self, package: str) -> list[Point]:
        """Return a point of each policy of a family with each workload and machine that occur with it."""
        points = (self._point(*system) for system in self._systems())
        return [point for point in points if point.policy["family"] == package]

    def _systems(self) -> list[list[int]]:
        """Return the policies, workloads and machines that occur together."""
        found: list[list[int]] = np.unique(self._columns(), axis=0).tolist()
        return found

    def _columns(self) -> np.ndarray:
        return np.stack([self.choices[group] for group in GROUPS], axis=1)

    @property
    def endless(self) -> np.ndarray:
        """Which points have overload runs, bool, shape (n_points,)."""
        return self._where(_has_overload).flat[self.points]

    def _is_stochastic(self, policy: int, workload: int, machine: int) -> bool:
        point = self._point(policy, workload, machine)
        return not _is_met(lambda one: not families.find(one.policy["family"]).is_stochastic(one), point)

    def _point(self, policy: int, workload: int, machine: int) -> Point:
        return Point(
            self.variants["policy"][policy].parameters,
            self.variants["workload"][workload].parameters,
            self.variants["machine"][machine].parameters,
        )

    @property
    def delivered(self) -> str:
        """The metric that is the work delivered, empty where no family has one."""
        return next((family.delivered for family in self.families.values() if family.delivered), "")

    @cached_property
    def loads(self) -> np.ndarray:
        """The load of each point, NaN where none is given, in the shape of the grid."""
        axis = np.array([np.nan if load is None else load for load in self.axes["load"]])
        lengths = [-1 if name == "load" else 1 for name in self.axes]
        return np.broadcast_to(axis.reshape(lengths), self.shape)

    @cached_property
    def controlled(self) -> np.ndarray:
        """Where the work that is offered is the load on average, so that it is a control variate; bool."""
        found = self._where(
            lambda point: point.workload.get("load_reference") == "expected" and _has_overload(point)
        )
        return found & np.isfinite(self.loads)

    @cached_property
    def exact(self) -> np.ndarray:
        """Where a point is solved, and one batch is the exact value; bool, in the shape of the grid."""
        if not any(family.solves for family in self.families.values()):
            return np.zeros(self.shape, dtype=bool)
        return self._where(lambda point: families.find(point.policy["family"]).is_exact(point))

    def _where(self, holds: Callable[[Point], bool]) -> np.ndarray:
        """Return where something holds of policy, workload and machine; bool, in the shape of the grid."""
        found = np.zeros(self.shape, dtype=bool)
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
        return Task(
            id=self.ids[number],
            family=policy["family"],
            point=Point(
                policy,
                workload,
                machine,
                self.axes["load"][self.choices["load"][point]],
                self.measurement(number).batches,
                seed(self.settings.seed, workload["name"], replication),
                self.measures,
            ),
            measurement=self.measurement(number),
            at={axis: values[i] for (axis, values), i in zip(self.axes.items(), where, strict=True)},
            replication=replication,
        )

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Notes of the families on every combination, see `check`."""
        return tuple(self.check())

    def check(self) -> list[str]:
        """Let the families check every combination before anything runs; return their notes, each once.

        Raises
        ------
        SweepError
            With one line: all for which the families cannot simulate some combination, and what helps.
        """
        columns = np.stack([*(self.choices[group] for group in GROUPS), self.choices["load"]], axis=1)
        combinations = np.unique(columns, axis=0)
        if len(combinations) > MANY_CHECKS:
            systems = np.unique(columns[:, :3], axis=0, return_index=True)[1]
            loads = np.unique(columns[:, 3], return_index=True)[1]
            combinations = columns[np.union1d(systems, loads)]
        found: dict[int, Sequence[str]] = {}
        lacking = Lacking(self.replications)
        # Workload by workload, so that the jobs that a model keeps serve all policies.
        for number in np.lexsort(combinations.T[[0, 3, 2, 1]]).tolist():
            *systems, load = combinations[number].tolist()
            policy, workload, machine = (
                self.variants[group][i].parameters for group, i in zip(GROUPS, systems, strict=True)
            )
            family = families.find(policy["family"])
            point = Point(
                policy, workload, machine, self.axes["load"][load], self.measurements[load].batches,
                measures=self.measures,
            )  # fmt: skip
            found[number] = lacking.check(family, point)
        lacking.refuse()
        of_plan = [*self._note_on_replications(), *self._note_on_exclusion()]
        notes = dict.fromkeys([*partitions.notes(self.asked, self.settings), *of_plan])
        for number in sorted(found):
            notes |= dict.fromkeys(found[number])
        return list(notes)

    def _note_on_exclusion(self) -> list[str]:
        """Return a line where values of an axis are in no point, as the experiment excludes them."""
        where = np.unravel_index(self.points, self.shape)
        lost = [
            f"{axis} {value}"
            for (axis, values), places in zip(self.axes.items(), where, strict=True)
            for value in np.delete(np.array(values, dtype=object), places)
        ]
        if not lost:
            return []
        return [f"left out by zip or exclude of the experiment: {', '.join(lost)}; exclude=[] runs them"]

    def _note_on_replications(self) -> list[str]:
        """Return a line where one replication is run by default, as a workload is deterministic."""
        if not self.adapted or self.deterministic is None or self.exact.flat[self.points].all():
            return []
        line = f"one replication: workload {self.deterministic} is deterministic"
        if any(self._is_stochastic(*system) for system in self._systems()):
            line += f"; stochastic points would get {MIN_REPLICATIONS} in an experiment of their own"
        return [line]


def expand(config: Config) -> Plan:
    """Expand a study."""
    settings = partitions.expanded(config)
    axes = grid.axes(settings)
    points = grid.points(axes, settings)
    targets = grid.targets(settings)
    variants, choices = {}, {}
    where = dict(zip(axes, np.unravel_index(points, [len(values) for values in axes.values()]), strict=True))
    for group in GROUPS:
        mine = [
            KeyAxis(
                axis,
                target.key,
                grid.set_by(axis, axes[axis], settings, group),
                axis in config.for_others,
                grid.set_by(axis, grid.unused(axis, axes[axis], settings), settings, group),
            )
            for axis, target in targets.items()
            if target.sets(group)
        ]
        variants[group] = build(group, config.files[group], getattr(settings, group), mine, config.logs)
        sizes = [len(axes[group]), *(len(axis.values) for axis in mine)]
        choices[group] = np.ravel_multi_index(
            [where[name] for name in (group, *(a.name for a in mine))], sizes
        )
    choices["load"] = where["load"]
    for policy in variants["policy"]:
        if not isinstance(policy.parameters.get("family"), str):
            raise SweepError(f"policy {policy.parameters['name']} names no family: add family: models.NAME")
    measures = {"bound": settings.measures.bound, "groups": dict(config.groups)}
    plan = Plan(
        settings, axes, points, variants, choices, _measurements(settings, axes), measures, {}, [],
        described=config.described, asked=config,
    )  # fmt: skip
    try:
        _check_metrics(plan)
    except ValueError as error:  # a group of jobs that is none
        raise SweepError(one_line(error)) from None
    if plan.exact.flat[points].all():
        # Whatever was asked for: a solution is one value.
        settings = replace(settings, batches=1, batch_size=None, warmup=0, precision=Precision())
    if settings.replications is None:
        settings = replace(settings, replications=MIN_REPLICATIONS if plan.deterministic is None else 1)
        plan = replace(plan, adapted=True)
    plan = replace(plan, settings=settings, measurements=_measurements(settings, axes))
    if (n_tasks := len(points) * plan.replications) > MOST_TASKS:
        raise SweepError(
            f"{n_tasks:,} tasks ({len(points):,} points x {plan.replications:,} replications): a study "
            f"has at most {MOST_TASKS:,}; give fewer replications or axis values, or split it into several"
        )
    plan.ids.extend(_ids(plan))
    overload = _overload(plan)
    if overload is None:
        return plan
    overload.ids.extend(_ids(overload))
    return replace(plan, overload=overload, ids=[*plan.ids, *overload.ids])


def _is_met(condition: Callable[[Point], bool], point: Point) -> bool:
    """Whether a point meets a condition; one that cannot be simulated does not: `Plan.check` raises why."""
    try:
        return condition(point)
    except SweepError:
        raise
    except Exception:
        return False


def _has_overload(point: Point) -> bool:
    """Whether a system can be offered more than it can deliver for as long as needed; a log ends."""
    return bool(families.find(point.policy["family"]).delivered) and not workloads.ends(point.workload)


def _overload(plan: Plan) -> Plan | None:
    """Return the overload runs of the curves of a plan that can have them, without identities."""
    settings = plan.settings
    if not settings.capacity or not isinstance(settings.batch_size, int) or set(plan.axes["load"]) == {None}:
        return None
    axes = {**plan.axes, "load": (OVERLOAD,)}
    where = dict(zip(plan.axes, np.unravel_index(plan.points, plan.shape), strict=True))
    where["load"] = np.zeros(len(plan.points), dtype=np.int64)
    shape = [len(values) for values in axes.values()]
    points, first = np.unique(np.ravel_multi_index(list(where.values()), shape), return_index=True)
    kept = plan.endless[first]
    if not kept.any():
        return None
    choices = {name: column[first[kept]] for name, column in plan.choices.items()}
    choices["load"] = np.zeros(int(kept.sum()), dtype=np.int64)
    settings = replace(
        settings, replications=settings.capacity, batches=OVERLOAD_BATCHES, warmup=0, precision=Precision()
    )
    length = Measurement(settings.batch_size, 0, (OVERLOAD_BATCHES,), overloaded=True)
    return replace(
        plan, settings=settings, axes=axes, points=points[kept], choices=choices, measurements=(length,),
        measures=MEASURES, ids=[], overload=None,
    )  # fmt: skip


def _measurements(settings: Settings, axes: Mapping[str, Sequence[Any]]) -> tuple[Measurement, ...]:
    mser = settings.warmup == MSER
    precision = settings.precision
    stopping = None
    if precision.relative is not None:
        stopping = Stopping(precision.relative, settings.confidence, precision.metric, mser)
    return tuple(
        Measurement(
            settings.batch_size,
            0 if mser else at_load(settings.warmup, load),
            settings.checkpoints(load),
            stopping,
        )
        for load in axes["load"]
    )


def _check_metrics(plan: Plan) -> None:
    metric = plan.settings.precision.metric
    if metric is not None and metric not in plan.metrics:
        raise SweepError(f"precision.metric: {unknown('metric', metric, plan.metrics)}")
    coords = families.coords(plan.families.values(), plan.measures)
    taken = {*OF_TASKS, *(f"{name}{part}" for name in plan.metrics for part in ("", *OF_METRIC))}
    for axis in plan.axes:
        if axis in taken:
            raise SweepError(f"axes.{axis}: {axis} is a variable of the dataset; give the axis another name")
    for name, declared in plan.metrics.items():
        for dim in declared.dims:
            if dim not in coords or dim in plan.axes or dim in ("replication", "batch"):
                raise SweepError(
                    f"metric {name}: its dimension {dim!r} has no coordinates, or an axis has its name; give "
                    "the axis, or the dim of the groups of jobs, another one"
                )


def _content(plan: Plan, load: float | None) -> Mapping[str, Any]:
    """Return the part of a task's identity that all tasks at a load share."""
    settings = plan.settings
    precision = settings.precision
    stopping = None
    if precision.relative is not None:
        # Only then does the confidence level decide where a run ends.
        stopping = {
            "relative": precision.relative,
            "metric": precision.metric,
            "confidence": settings.confidence,
        }
    return {
        "batch_size": settings.batch_size,
        "checkpoints": list(settings.checkpoints(load)),
        "stopping": stopping,
        "warmup": at_load(settings.warmup, load),
        **({"overloaded": True} if plan.measurements[0].overloaded else {}),
        **({} if plan.measures == MEASURES else {"measures": plan.measures}),
    }


def _ids(plan: Plan) -> Iterator[str]:
    """Yield the identity of each task: keys in sorted order, so that the joined text is canonical JSON."""
    shared = [canonical.text(_content(plan, load)) for load in plan.axes["load"]]
    code = _codes(plan)
    for *system, at in zip(*(plan.choices[name].tolist() for name in (*GROUPS, "load")), strict=True):
        policy, workload, machine = (plan.variants[group][i] for group, i in zip(GROUPS, system, strict=True))
        family, load = policy.parameters["family"], plan.axes["load"][at]
        before = (
            f'{{"family":{canonical.text(family)},"load":{canonical.text(load)},"machine":{machine.text},'
            f'"policy":{policy.text},"replication":'
        )
        after = f',"seed":{plan.settings.seed},"statistics":{shared[at]},"workload":{workload.text}}}'
        for replication in range(plan.replications):
            digest = hashlib.sha256(f"{before}{replication}{after}".encode()).hexdigest()
            yield digest[:ASKED] + code(system[0], system[1])


def runs_planned_code(task: Task, family: Family) -> bool:
    """Return whether the code that a task runs with in this process is that of its identity."""
    policy, workload = task.point.policy, task.point.workload
    parts = {task.family: sources.of_family(family)} | sources.of_named(policy)
    parts |= sources.of_workload(str(workload.get("model"))) | sources.of_named(workload)
    if task.measurement.stopping is not None:
        parts |= {"sweep.statistics": sources.of_statistics()}
    return sources.hashed(family.version, parts, LENGTH - ASKED) == task.id[ASKED:]


def _codes(plan: Plan) -> Callable[[int, int], str]:
    """Return the last part of identities, by policy and workload; fill in `Plan.sources`."""
    sources.look_again()
    by_family = {package: {package: sources.of_family(family)} for package, family in plan.families.items()}
    stopping = (
        {} if plan.settings.precision.relative is None else {"sweep.statistics": sources.of_statistics()}
    )
    policies = [
        (plan.families[package].version, by_family[package] | sources.of_named(policy.parameters))
        for policy in plan.variants["policy"]
        for package in [policy.parameters["family"]]
    ]
    by_model = {
        model: sources.of_workload(model)
        for model in {str(workload.parameters.get("model")) for workload in plan.variants["workload"]}
    }
    workloads = [
        by_model[str(workload.parameters.get("model"))] | sources.of_named(workload.parameters)
        for workload in plan.variants["workload"]
    ]
    for each in (*(parts for _, parts in policies), *workloads, stopping):
        plan.sources.update(each)

    @cache
    def code(policy: int, workload: int) -> str:
        version, parts = policies[policy]
        return sources.hashed(version, parts | workloads[workload] | stopping, LENGTH - ASKED)

    return code

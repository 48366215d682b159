"""Checks of a plan before anything runs, and the notes on it."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from models.counting import counted
from models.point import Point
from sweep.config.settings import GROUPS, REPLICATIONS
from sweep.errors import SweepError, unknown
from sweep.plan import families, grid, partitions
from sweep.plan.data import Plan
from sweep.plan.remedies import Lacking
from sweep.statistics import MIN_REPLICATIONS

OF_TASKS = ("state", "saturated", "seconds", "family", "offered_load")
OF_METRIC = ("_mean", "_ci", "_lag1")
"""Variables that every dataset has, and suffixes of a metric's name."""

MOST_TASKS = 2_000_000
"""Maximum of tasks in a study: more would take minutes to list, and gigabytes of memory."""

MANY_CHECKS = 2000
"""Above this number of combinations, loads are checked with one policy, workload and machine only, so that
the plan of a large grid takes seconds."""


@lru_cache(maxsize=1)  # a run prints and records them
def notes(plan: Plan) -> tuple[str, ...]:
    """Let the families check every combination before anything runs; return their notes without repetitions.

    Raises
    ------
    SweepError
        With one line: all reasons why the families cannot simulate some combination, and the remedies.
    """
    # Axes that set no key of these groups repeat the same combination: each is checked once.
    columns = np.stack([*(plan.choices[group] for group in GROUPS), plan.choices["load"]], axis=1)
    combinations = np.unique(columns, axis=0)
    if len(combinations) > MANY_CHECKS:
        systems = np.unique(columns[:, :3], axis=0, return_index=True)[1]
        loads = np.unique(columns[:, 3], return_index=True)[1]
        combinations = columns[np.union1d(systems, loads)]
    found: dict[int, Sequence[str]] = {}
    lacking = Lacking(plan.replications)
    # Workload by workload, so that all policies share the jobs that a model caches.
    for number in np.lexsort(combinations.T[[0, 3, 2, 1]]).tolist():
        *systems, load = combinations[number].tolist()
        policy, workload, machine = (
            plan.variants[group][i].parameters for group, i in zip(GROUPS, systems, strict=True)
        )
        family = families.find(policy["family"])
        point = Point(
            policy, workload, machine, plan.axes["load"][load], plan.measurements[load].batches,
            measures=plan.measures,
        )  # fmt: skip
        found[number] = lacking.check(family, point)
    lacking.refuse()
    of_plan = [*_note_on_replications(plan), *_note_on_exclusion(plan)]
    lines = dict.fromkeys([*partitions.notes(plan.asked, plan.settings), *of_plan])
    for number in sorted(found):
        lines |= dict.fromkeys(found[number])
    return tuple(lines)


def _note_on_exclusion(plan: Plan) -> list[str]:
    """Return a line if no point has some axis values, because the experiment excludes them."""
    lost = [
        f"{axis} {value}"
        for axis, places in grid.where(plan.axes, plan.points).items()
        for value in np.delete(np.array(plan.axes[axis], dtype=object), places)
    ]
    if not lost:
        return []
    return [f"left out by zip or exclude of the experiment: {', '.join(lost)}; exclude=[] runs them"]


def _note_on_replications(plan: Plan) -> list[str]:
    """Return a line if one replication is run by default, because a workload is deterministic."""
    if not plan.adapted or plan.deterministic is None or plan.exact.flat[plan.points].all():
        return []
    line = f"one replication: workload {plan.deterministic} is deterministic"
    if any(plan.is_stochastic(*system) for system in plan.systems()):
        line += f"; stochastic points would get {MIN_REPLICATIONS} in a separate experiment"
    return [line]


def refuse(plan: Plan) -> None:
    """Raise `SweepError` for an unknown metric, if an axis and a metric would have the same name in the
    dataset, if a plan has too few replications for ``keep=``, or too many tasks."""
    metric, replications = plan.settings.precision.metric, plan.settings.replications or 1
    if metric is not None and metric not in plan.metrics:
        raise SweepError(f"precision.metric: {unknown('metric', metric, plan.metrics)}")
    taken = {*OF_TASKS, *(f"{name}{part}" for name in plan.metrics for part in ("", *OF_METRIC))}
    for axis in plan.axes:
        if axis in taken:
            raise SweepError(f"axes.{axis}: {axis} is a variable of the dataset; give the axis another name")
    for name, declared in plan.metrics.items():
        for dim in declared.dims:
            if dim not in plan.coords or dim in plan.axes or dim in ("replication", "batch"):
                raise SweepError(
                    f"metric {name}: its dimension {dim!r} has no coordinates, or an axis has its name; give "
                    "the axis, or the dim of the groups of jobs, another one"
                )
    if plan.settings.keep == REPLICATIONS and replications < MIN_REPLICATIONS:
        raise SweepError(
            f"keep={REPLICATIONS} with replications={replications}: intervals of fewer than "
            f"{MIN_REPLICATIONS} replications are made from batches; give more, or keep=batches"
        )
    if (n_tasks := len(plan.points) * replications) > MOST_TASKS:
        raise SweepError(
            f"{n_tasks:,} tasks ({counted(len(plan.points), 'point')} x "
            f"{counted(replications, 'replication')}): a study has at most {MOST_TASKS:,}; "
            "give fewer replications or axis values, or split it into several"
        )

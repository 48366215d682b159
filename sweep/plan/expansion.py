"""From the config of a study to its plan."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from models.family import OVERLOAD, OVERLOAD_BATCHES
from sweep.config.settings import GROUPS, MSER, REPLICATIONS, Config, Precision, Settings, at_load
from sweep.errors import SweepError, one_line
from sweep.plan import checks, families, grid, identity, partitions, programs
from sweep.plan.data import MEASURES, Plan
from sweep.plan.narrowed import narrowed
from sweep.plan.task import Measurement, Stopping
from sweep.plan.variants import build
from sweep.statistics import MIN_REPLICATIONS

MOST_TASKS = 2_000_000
"""Tasks of a study: more would take minutes to list, and gigabytes to hold."""


def expand(config: Config) -> Plan:
    """Expand a study."""
    asked, (config, hidden) = config, programs.expanded(narrowed(config))
    settings = partitions.expanded(config)
    axes = grid.axes(settings)
    points = grid.points(axes, settings)
    variants, choices = {}, {}
    where = dict(zip(axes, np.unravel_index(points, [len(values) for values in axes.values()]), strict=True))
    for group in GROUPS:
        mine = grid.key_axes(group, axes, settings, config.for_others)
        variants[group] = build(group, config.files[group], getattr(settings, group), mine, config.logs)
        sizes = [len(axes[group]), *(len(axis.values) for axis in mine)]
        choices[group] = np.ravel_multi_index(
            [where[name] for name in (group, *(a.name for a in mine))], sizes
        )
    choices["load"] = where["load"]
    for policy in variants["policy"]:
        if not isinstance(policy.parameters.get("family"), str):
            raise SweepError(f"policy {policy.parameters['name']} names no family: add family: models.NAME")
    families.refuse_unread((policy.parameters for policy in variants["policy"]), config.typed)
    measures: dict[str, Any] = {"bound": settings.measures.bound, "groups": dict(config.groups)}
    if settings.measures.of_jobs:
        measures["of_jobs"] = list(settings.measures.of_jobs)
    # A batch job plans from what is kept: a program as it was given, as its policies exist in this process
    # alone; else the narrowed study, which no longer needs the files that the experiment itself names.
    plan = Plan(
        settings, axes, points, variants, choices, _measurements(settings, axes), measures, {}, [],
        asked if hidden or config.settings.is_program else config, described=config.described, hidden=hidden,
    )  # fmt: skip
    # Before `exact`, which calls the families with points and needs valid groups of jobs.
    try:
        checks.refuse_names(plan)
    except ValueError as error:  # a group of jobs that does not exist
        raise SweepError(one_line(error)) from None
    if plan.exact.flat[points].all():
        # Whatever was requested: a solution is one value, so other settings would only change identities.
        settings = replace(settings, batches=1, batch_size=None, warmup=0, precision=Precision())
    if settings.replications is None:
        settings = replace(settings, replications=MIN_REPLICATIONS if plan.deterministic is None else 1)
        plan = replace(plan, adapted=True)
    plan = replace(plan, settings=settings, measurements=_measurements(settings, axes))
    if settings.keep == REPLICATIONS and plan.replications < MIN_REPLICATIONS:
        raise SweepError(
            f"keep={REPLICATIONS} with replications={plan.replications}: intervals of fewer than "
            f"{MIN_REPLICATIONS} replications are made from batches; give more, or keep=batches"
        )
    if (n_tasks := len(points) * plan.replications) > MOST_TASKS:
        raise SweepError(
            f"{n_tasks:,} tasks ({len(points):,} points x {plan.replications:,} replications): a study "
            f"has at most {MOST_TASKS:,}; give fewer replications or axis values, or split it into several"
        )
    # Last, as identities contain the number of batches and the stopping rule decided above.
    plan.ids.extend(identity.ids(plan))
    overload = _overload(plan)
    if overload is None:
        return plan
    overload.ids.extend(identity.ids(overload))
    return replace(plan, overload=overload, ids=[*plan.ids, *overload.ids])


def _overload(plan: Plan) -> Plan | None:
    """Return the overload runs of the curves of a plan that can have them, without identities."""
    settings = plan.settings
    if not settings.capacity or not isinstance(settings.batch_size, int) or set(plan.axes["load"]) == {None}:
        return None
    # The grid with its axis of loads collapsed to one: the first point of each curve stands for the curve.
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

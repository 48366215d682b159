"""From the config of a study to its plan."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from models.family import OVERLOAD, OVERLOAD_BATCHES
from sweep.config.settings import MSER, Config, Precision, Settings, at_load
from sweep.plan import checks, families, identity, partitions, programs
from sweep.plan.data import MEASURES, Plan
from sweep.plan.grid import Grid
from sweep.plan.narrowed import narrowed
from sweep.plan.task import Measurement, Stopping
from sweep.plan.variants import of_grid
from sweep.statistics import MIN_REPLICATIONS


def expand(asked: Config) -> Plan:
    """Expand a study: its grid, its variants, how long each point is measured, and all identities."""
    kept = narrowed(asked)  # what a batch job plans from: it may lack files that only the rest names
    config, hidden = programs.expanded(kept)
    config = partitions.expanded(config)
    settings = config.settings
    found = Grid.of(settings, config.for_others)
    variants, choices = of_grid(found, config)
    measures: dict[str, Any] = {"bound": settings.measures.bound, "groups": dict(config.groups)}
    if settings.measures.of_jobs:
        measures["of_jobs"] = list(settings.measures.of_jobs)
    declared = families.declared([one.parameters for one in variants["policy"]], measures, config.typed)
    plan = Plan(
        settings, found.axes, found.points, variants, choices, *declared, (), measures, {}, [], kept,
        described=config.described, hidden=hidden,
    )  # fmt: skip
    plan = _measured(plan)
    checks.refuse(plan)
    plan = replace(plan, overload=_overload(plan, found.where))
    return identity.identified(plan)  # last, as identities contain the lengths and the stopping rule


def _measured(plan: Plan) -> Plan:
    """Return a plan with lengths of runs and a number of replications that its points allow."""
    settings, adapted = plan.settings, plan.settings.replications is None
    if plan.exact.flat[plan.points].all():
        # Whatever was requested: a solution is a single value, so other settings would only change
        # identities.
        settings = replace(settings, batches=1, batch_size=None, warmup=0, precision=Precision())
    if adapted:
        settings = replace(settings, replications=MIN_REPLICATIONS if plan.deterministic is None else 1)
    lengths = tuple(_measurement(settings, load) for load in plan.axes["load"])
    return replace(plan, settings=settings, measurements=lengths, adapted=adapted)


def _overload(plan: Plan, where: Mapping[str, np.ndarray]) -> Plan | None:
    """Return the overload runs of a plan's curves, where possible, without identities."""
    settings = plan.settings
    if not settings.capacity or not isinstance(settings.batch_size, int) or set(plan.axes["load"]) == {None}:
        return None
    # The grid with its axis of loads collapsed to one: the first point of each curve stands for the curve.
    axes = {**plan.axes, "load": (OVERLOAD,)}
    where = {**where, "load": np.zeros(len(plan.points), dtype=np.int64)}
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


def _measurement(settings: Settings, load: float | None) -> Measurement:
    mser, precision = settings.warmup == MSER, settings.precision
    stopping = None
    if precision.relative is not None:
        stopping = Stopping(precision.relative, settings.confidence, precision.metric, mser)
    warmup = 0 if mser else at_load(settings.warmup, load)
    return Measurement(settings.batch_size, warmup, settings.checkpoints(load), stopping)

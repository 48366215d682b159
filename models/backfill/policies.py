"""Backfilling policies, read from their YAML files and checked. Loads no kernel."""

from __future__ import annotations

import importlib
from collections.abc import Sequence

from models import workloads
from models.backfill import judging
from models.backfill.priority.rules import QUEUE
from models.backfill.rules import Rules
from models.jobs.machine import refuse_spanning
from models.jobs.trace import Trace
from models.point import Parameters, Point

DISCIPLINES = {
    "fcfs": "models.backfill.priority.rules.Priority",
    "backfill": "models.backfill.priority.rules.Priority",
    "conservative": "models.backfill.conservative.rules.Conservative",
    "ncsa_lsf": "models.backfill.ncsa_lsf.rules.NcsaLsf",
    "eq_spatial": "models.backfill.eq_spatial.rules.EqSpatial",
}
"""``policy.discipline`` -> the rules, of a part of the family. Any other dotted name will do as well."""

WITH_A_QUEUE = ("fcfs", "backfill")
"""Disciplines that say themselves what they make of ``policy.backfill_order``."""

ALWAYS = (
    "models.backfill.priority.orders.waiting",
    "models.backfill.priority.orders.learned",
    "models.backfill.priority.orders.smallest",
    "models.backfill.model",
    "models.jobs.order_statistics",
)
"""Modules whose kernels every run needs, or that take no time to compile."""

WITH_IMMEDIATE_SERVICE = "models.backfill.immediate.rules.WithImmediateService"
"""The rules of discipline ``backfill`` with a quantum for newcomers."""

FIRST_JOBS = 1000
"""Jobs of an endless stream that are looked at before anything runs."""


def rules_of(policy: Parameters) -> Rules:
    """Return the rules of a policy's YAML file.

    Raises
    ------
    ValueError
        With one line that says what is allowed.
    """
    discipline = policy.get("discipline", "(none)")
    name = DISCIPLINES.get(discipline, discipline)
    if policy.get("immediate") is not None:
        if discipline != "backfill":
            raise ValueError(
                f"policy.immediate goes with discipline backfill, and this is {discipline}; set it to null"
            )
        name = WITH_IMMEDIATE_SERVICE
    order = policy.get("backfill_order", QUEUE)
    if order != QUEUE and discipline in DISCIPLINES and discipline not in WITH_A_QUEUE:
        told = getattr(order, "__name__", order)
        raise ValueError(
            f"policy.backfill_order={told} goes with discipline backfill, where jobs pass those that hold a "
            f"start, and this is {discipline}; set it to {QUEUE}"
        )
    module, _, kind = str(name).rpartition(".")
    try:
        rules: type[Rules] = getattr(importlib.import_module(module), kind)
    except (ImportError, ValueError, AttributeError) as error:
        why = f" and cannot be imported ({error})" if "." in str(discipline) else ""
        raise ValueError(
            f"policy {policy.get('name', '')} has discipline {discipline}, which models.backfill does not "
            f"know{why}; allowed: {', '.join(DISCIPLINES)} (see conf/policy/backfill/_backfill.yaml), or the "
            "dotted name of a subclass of models.backfill.rules.Rules"
        ) from None
    return rules.of(policy)


def check(point: Point) -> Sequence[str]:
    """Look at one combination before anything runs, see `models.family.Family.check`."""
    rules = rules_of(point.policy)
    opened = workloads.open_workload(point)
    refuse_spanning(opened.machine, point.machine, point.policy)
    ends = isinstance(opened, Trace)
    jobs = opened.jobs if isinstance(opened, Trace) else opened.first(FIRST_JOBS)
    judging.check(opened.name, jobs, opened.machine, rules, point)
    told = (f"{opened.name}: {note}" for note in judging.notes(jobs, rules)) if ends else ()
    return [*opened.notes, *told]


def is_stochastic(point: Point) -> bool:
    """Tell whether replications differ: the schedulers draw no random numbers."""
    return workloads.is_stochastic(point.workload)


def kernels(point: Point) -> set[str]:
    """Return the modules whose kernels a point needs, see `models.family.Family.needed`."""
    return {f"{rules_of(point.policy).package}.schedules", *ALWAYS}

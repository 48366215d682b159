"""Backfilling on space-shared machines: FCFS, EASY, conservative, and by priority (Chiang and Vernon 2001).

The family's declaration loads no kernel, so that a plan can be made and checked at once.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence

from models.backfill.rules import Rules
from models.family import Family, Parameters, exported_by, simulated_by
from models.jobs import machine as machines
from models.jobs.groups import GROUPS
from models.jobs.measures import METRICS
from models.kernels import cache as kernel_cache
from models.workloads.sources import Source, module_of

FIRST_JOBS = 100
"""Jobs of an endless stream that are looked at before anything runs."""


simulate = simulated_by("models.backfill.model")


def check(policy: Parameters, workload: Parameters, machine: Parameters, load: float | None) -> Sequence[str]:
    """Look at one combination before anything runs, see `models.family.Check`."""
    rules = Rules.of(policy)
    module = module_of(workload)
    if module.ENDLESS:
        notes: Sequence[str] = module.check(workload, machine, load)
        jobs = module.draw(workload, machines.of(machine), load, FIRST_JOBS, (0,))
        rules.check(jobs, machines.of(machine))
        return notes
    source: Source = module.open_source(workload, machine, load, (0,))
    rules.check(source.jobs, source.machine)
    name = source.log.name if source.log else workload.get("name", "")
    return [*source.notes, *(f"{name}: {note}" for note in source.jobs.notes(rules))]


def chance(policy: Parameters, workload: Parameters, machine: Parameters) -> bool:
    """Tell whether replications differ: the schedulers draw no random numbers."""
    return bool(module_of(workload).has_chance(workload))


def warm_up() -> None:
    """Compile every kernel; where all are in the cache, none is loaded."""
    kernel_cache.complete(__name__, load)


def load() -> None:
    """Load every kernel; those that are not in the cache are compiled."""
    importlib.import_module("models.backfill.model")


FAMILY = Family(
    name="backfilling",
    version=2,
    metrics=METRICS,
    simulate=simulate,
    check=check,
    warm_up=warm_up,
    coords={dim: group.labels for dim, group in GROUPS.items()},
    chance=chance,
    preload="models.backfill.preload",
    export=exported_by("models.backfill.model"),
)

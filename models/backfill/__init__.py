"""Backfilling on space-shared machines: FCFS, EASY, conservative, and by priority (Chiang and Vernon 2001).

The family's declaration loads no kernel, so that a plan can be made and checked at once.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence

from models import kernel_cache
from models.backfill import machine as machines
from models.backfill import synthetic
from models.backfill.log import open_log
from models.backfill.measures import METRICS, RANGES
from models.backfill.rules import Rules
from models.family import Family, Parameters, simulated_by

WORKLOADS = ("swf", "synthetic")


simulate = simulated_by("models.backfill.model")


def check(policy: Parameters, workload: Parameters, machine: Parameters, load: float | None) -> Sequence[str]:
    """Look at one combination before anything runs, see `models.family.Check`."""
    rules = Rules.of(policy)
    model = workload.get("model")
    if model not in WORKLOADS:
        raise ValueError(
            f"workload {workload.get('name', '')} has model {model}, which holds no requested times; "
            f"models.backfill takes {', '.join(WORKLOADS)}"
        )
    if model == "synthetic":
        synthetic.check(workload, machines.of(machine), load)
        return []
    opened = open_log(workload, machine, load)
    return [*opened.notes, *(f"{opened.log.name}: {note}" for note in opened.jobs.notes(rules))]


def chance(policy: Parameters, workload: Parameters, machine: Parameters) -> bool:
    """Tell whether replications differ: the schedulers draw no random numbers, and a log has none."""
    return workload.get("model") == "synthetic"


def warm_up() -> None:
    """Compile every kernel; where all are in the cache, none is loaded."""
    kernel_cache.complete(__name__, load)


def load() -> None:
    """Load every kernel; those that are not in the cache are compiled."""
    importlib.import_module("models.backfill.model")


FAMILY = Family(
    name="backfilling",
    version=1,
    metrics=METRICS,
    simulate=simulate,
    check=check,
    warm_up=warm_up,
    coords={"runtime_range": RANGES},
    chance=chance,
    preload="models.backfill.preload",
)

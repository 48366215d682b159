"""Backfilling policies, read from their YAML files and checked. Loads no kernel."""

from __future__ import annotations

from collections.abc import Sequence

from models import workloads
from models.backfill import judging
from models.backfill.rules import Rules
from models.jobs.trace import Trace
from models.point import Point

FIRST_JOBS = 100
"""Jobs of an endless stream that are looked at before anything runs."""


def check(point: Point) -> Sequence[str]:
    """Look at one combination before anything runs, see `models.family.Family.check`."""
    rules = Rules.of(point.policy)
    opened = workloads.open_workload(point)
    ends = isinstance(opened, Trace)
    jobs = opened.jobs if isinstance(opened, Trace) else opened.first(FIRST_JOBS)
    judging.check(jobs, opened.machine, rules, point)
    told = (f"{opened.name}: {note}" for note in judging.notes(jobs, rules)) if ends else ()
    return [*opened.notes, *told]


def has_chance(point: Point) -> bool:
    """Tell whether replications differ: the schedulers draw no random numbers."""
    return workloads.has_chance(point.workload)

"""Backfilling as the sweep sees it: a point in, batches or a schedule out."""

from dataclasses import replace
from functools import partial

from models import workloads
from models.backfill import FAMILY, engine
from models.backfill.policies import rules_of
from models.family import Outcome
from models.jobs import outcomes
from models.jobs.schedule import Schedule
from models.point import Point


def simulate(point: Point) -> Outcome:
    """Simulate one point in one replication, see `models.family.Family.simulate`."""
    return outcomes.simulate(FAMILY, point, workloads.open_workload(point), _run(point))


def schedule(point: Point) -> Schedule:
    """Return the schedule that `simulate` measures; the last checkpoint is the length of a stream."""
    made = outcomes.schedule(point, workloads.open_workload(point), _run(point))
    return replace(made, notes=(str(rules_of(point.policy)),))


def _run(point: Point) -> outcomes.Run:
    return partial(engine.schedule, rules=rules_of(point.policy))

"""Livermore's gang schedulers for the sweep: a point in, batches or a schedule out."""

from functools import partial

from models import workloads
from models.family import Outcome
from models.jobs import outcomes
from models.point import Point
from models.production_gang import FAMILY
from models.production_gang.measuring import of_run
from models.production_gang.policies import simulation_of
from models.production_gang.systems import Run


def simulate(point: Point) -> Outcome:
    """Simulate one point in one replication, see `models.family.Family.simulate`."""
    opened = workloads.open_workload(point)
    run = partial(simulation_of(point.policy).run, point, opened, pieces=False)
    return outcomes.simulate(FAMILY, point, opened, run, of_run)


def schedule(point: Point) -> Run:
    """Return the schedule that `simulate` measures; the last checkpoint ends a stream."""
    opened = workloads.open_workload(point)
    made = outcomes.schedule(point, opened, partial(simulation_of(point.policy).run, point, opened))
    assert isinstance(made, Run)
    return made

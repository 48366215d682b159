"""Livermore's gang schedulers for the sweep: a point in, batches or a schedule out."""

from __future__ import annotations

from collections.abc import Mapping

from models import workloads
from models.arrays import Floats
from models.family import Outcome
from models.jobs import outcomes
from models.jobs.division import Division
from models.jobs.jobs import Jobs
from models.jobs.machine import Machine
from models.jobs.schedule import Schedule
from models.jobs.stream import Stream
from models.jobs.trace import Trace
from models.point import Point
from models.production_gang import FAMILY
from models.production_gang.measuring import of_run
from models.production_gang.policies import simulation_of
from models.production_gang.systems import Run


class Runs:
    """Runs the jobs of a point, and keeps the last run: a schedule is not all of it."""

    def __init__(self, point: Point, opened: Stream | Trace) -> None:
        self._point, self._opened = point, opened
        self.last: Run | None = None

    def schedule(self, jobs: Jobs, machine: Machine) -> Schedule:
        """Run all jobs to their ends."""
        self.last = simulation_of(self._point.policy).run(self._point, self._opened, jobs, machine)
        return self.last.schedule

    def measured(self, made: Schedule, division: Division, edges: Floats) -> Mapping[str, Floats]:
        """Return what the family measures itself, of the last run."""
        assert self.last is not None
        assert self.last.schedule is made
        return of_run(self.last, division, edges)


def simulate(point: Point) -> Outcome:
    """Simulate one point in one replication, see `models.family.Family.simulate`."""
    opened = workloads.open_workload(point)
    runs = Runs(point, opened)
    return outcomes.simulate(FAMILY, point, opened, runs.schedule, runs.measured)


def schedule(point: Point) -> Schedule:
    """Return the schedule that `simulate` measures; the last checkpoint ends a stream."""
    return run(point).schedule


def run(point: Point) -> Run:
    """Return all that is known of the run that `simulate` measures."""
    opened = workloads.open_workload(point)
    runs = Runs(point, opened)
    made = outcomes.schedule(point, opened, runs.schedule)
    assert runs.last is not None
    return Run(made, runs.last.levels, runs.last.preemptions, runs.last.clock, runs.last.detail)
